/* Random numbers that every language here computes alike: the programs' check sums must agree. */
#ifndef BENCH_HEAP_SEQUENCE_H
#define BENCH_HEAP_SEQUENCE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUM_MASK ((INT64_C(1) << 48) - 1)

/* 31 bits. The state has 48, so that a language with integers of 63 bits gets the same. */
static inline int64_t sequence_next(uint64_t *seed) {
  *seed = (*seed * UINT64_C(0x5DEECE66D) + 11) & (uint64_t)SUM_MASK;
  return (int64_t)(*seed >> 17);
}

#define SPELL_MOST 16
/* Writes "item-" and the digits of a number below 10^9; returns the length, without the final 0. */
static inline size_t sequence_spell(char text[SPELL_MOST], int64_t number) {
  char digits[SPELL_MOST];
  size_t count = 0, length = 5;
  memcpy(text, "item-", 5);
  do {
    digits[count++] = (char)('0' + number % 10);
    number /= 10;
  } while (number);
  while (count) text[length++] = digits[--count];
  text[length] = 0;
  return length;
}

static inline long sequence_argument(int count, char **words, long initial) {
  return count > 1 ? strtol(words[1], NULL, 10) : initial;
}

#endif
/* SPDX-License-Identifier: MIT */
