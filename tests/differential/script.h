/* What both halves of this program know of scripts. README.md has the language. */
#ifndef TESTS_DIFFERENTIAL_SCRIPT_H
#define TESTS_DIFFERENTIAL_SCRIPT_H

#include <stdint.h>
#include <stdio.h>

enum {
  REGISTERS = 16,
  SLOTS = 4, /* for profiles */
  ARGUMENTS = 5,
  /* A block of the script is known by its words, which are in this range. Smaller ones, and much
   * larger ones, are the interpreters' own. */
  LEAST_WORDS = 24,
  MOST_WORDS = 1024,
  GROUP_WORDS = 30, /* blocks of groups have less, all others have as many or more */
};

enum kind { KIND_BIRTH, KIND_PROMOTION, KIND_DEATH, KINDS, KIND_FINALISER = KINDS };

enum action {
  DO_NOTHING,
  DO_REFUSE, /* of a finaliser: put the value on the shelf */
  DO_ALLOCATE,
  DO_MINOR,
  DO_FULL,
  DO_RAISE,
  DO_STOP,
  DO_DISCARD,
};

/* Writes the script of a seed. */
void script_generate(FILE *out, uint64_t seed);

#endif
/* SPDX-License-Identifier: MIT */
