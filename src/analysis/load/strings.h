/* A set of strings, each kept once: equal strings have equal numbers. 0 is the empty string. */
#pragma once

#include "base/index.h"

struct strings {
  char **text; /* index: number */
  uint32_t count;
  size_t capacity;
  struct index by_text;
};

/* NULL if memory is exhausted. */
struct strings *strings_create(void);
void strings_free(struct strings *strings);

/* Copies a string into the set unless it is there, and returns its number. Returns 0, the empty
 * string, if memory is exhausted. */
uint32_t strings_intern(struct strings *strings, const char *text);

/* Looks a string up. False: it is not in the set. */
bool strings_find(const struct strings *strings, const char *text, uint32_t *number);

static inline const char *strings_text(const struct strings *strings, uint32_t number) {
  return strings->text[number];
}
/* SPDX-License-Identifier: MIT */
