/* The strings in the order of their numbers, and an index of them. */
#include "analysis/load/strings.h"

#include "base/array.h"
#include "base/hash.h"
#include <stdlib.h>
#include <string.h>

static uint64_t strings_hash_of(const char *text) { return hash_mix(hash_bytes(text, strlen(text))); }

/* The index has the numbers plus 1. */
static uint32_t find_strings(const struct strings *strings, const char *text, uint64_t hash) {
  struct index_walk walk = {.hash = hash};
  uint32_t found;
  while ((found = index_next(&strings->by_text, &walk)))
    if (!strcmp(strings->text[found - 1], text)) break;
  return found;
}

static bool strings_add(struct strings *strings, const char *text, uint64_t hash) {
  char *copy = strdup(text);
  bool room = copy && array_reserve(&strings->text, &strings->capacity, (size_t)strings->count + 1,
                                    sizeof *strings->text);
  if (!room || !index_add(&strings->by_text, hash, strings->count + 1)) return free(copy), false;
  strings->text[strings->count++] = copy;
  return true;
}

/* ---- shared ---- */

struct strings *strings_create(void) {
  struct strings *strings = calloc(1, sizeof *strings);
  if (strings && strings_add(strings, "", strings_hash_of(""))) return strings;
  strings_free(strings);
  return NULL;
}

void strings_free(struct strings *strings) {
  if (!strings) return;
  for (uint32_t i = 0; i < strings->count; i++) free(strings->text[i]);
  free(strings->text);
  free(strings->by_text.slots);
  free(strings);
}

bool strings_find(const struct strings *strings, const char *text, uint32_t *number) {
  uint32_t found = find_strings(strings, text, strings_hash_of(text));
  if (found) *number = found - 1;
  return found != 0;
}

uint32_t strings_intern(struct strings *strings, const char *text) {
  uint64_t hash = strings_hash_of(text);
  uint32_t found = find_strings(strings, text, hash);
  if (found) return found - 1;
  return strings_add(strings, text, hash) ? strings->count - 1 : 0;
}
/* SPDX-License-Identifier: MIT */
