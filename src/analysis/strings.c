/* An open-addressing hash table of strings, at most half full. */
#include "analysis/strings.h"

#include "base/hash.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1024 };

static uint32_t *slot_of(const struct strings *strings, const char *text) {
  uint32_t mask = strings->slot_count - 1, at = (uint32_t)hash_mix(hash_bytes(text, strlen(text))) & mask;
  while (strings->slots[at] && strcmp(strings->text[strings->slots[at] - 1], text)) at = (at + 1) & mask;
  return &strings->slots[at];
}

static bool widen(struct strings *strings) {
  struct strings wider = *strings;
  wider.slot_count = strings->slot_count * 2;
  wider.capacity = wider.slot_count / 2;
  wider.slots = calloc(wider.slot_count, sizeof *wider.slots);
  if (!wider.slots) return false;
  wider.text = realloc(strings->text, wider.capacity * sizeof *wider.text);
  if (!wider.text) {
    free(wider.slots);
    return false;
  }
  for (uint32_t i = 0; i < wider.count; i++) *slot_of(&wider, wider.text[i]) = i + 1;
  free(strings->slots);
  *strings = wider;
  return true;
}

/* ---- shared ---- */

struct strings *strings_create(void) {
  struct strings *strings = malloc(sizeof *strings);
  if (!strings) return NULL;
  *strings = (struct strings){.slot_count = FIRST_SLOTS, .capacity = FIRST_SLOTS / 2};
  strings->slots = calloc(strings->slot_count, sizeof *strings->slots);
  strings->text = calloc(strings->capacity, sizeof *strings->text);
  char *empty = strdup("");
  if (strings->slots && strings->text && empty) {
    strings->text[strings->count++] = empty;
    *slot_of(strings, "") = 1;
    return strings;
  }
  free(empty);
  strings_free(strings);
  return NULL;
}

void strings_free(struct strings *strings) {
  if (!strings) return;
  for (uint32_t i = 0; i < strings->count; i++) free(strings->text[i]);
  free(strings->text);
  free(strings->slots);
  free(strings);
}

bool strings_find(const struct strings *strings, const char *text, uint32_t *number) {
  uint32_t slot = *slot_of(strings, text);
  if (slot) *number = slot - 1;
  return slot != 0;
}

uint32_t strings_intern(struct strings *strings, const char *text) {
  uint32_t *slot = slot_of(strings, text);
  if (*slot) return *slot - 1;
  if (strings->count == strings->capacity) {
    if (!widen(strings)) return 0;
    slot = slot_of(strings, text);
  }
  char *copy = strdup(text);
  if (!copy) return 0;
  strings->text[strings->count++] = copy;
  *slot = strings->count;
  return strings->count - 1;
}
/* SPDX-License-Identifier: MIT */
