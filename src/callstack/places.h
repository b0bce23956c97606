/* Places in the programs of a language. On callstacks, a frame of the language is a place.
 *
 * A place is a function, a file and a line; of code that a runtime made it has the address, too. It
 * has a number, by which it stands on a stack, among native frames (FRAME_PLACE of stack.h). All
 * places are in one module, which has the language's name for a path and lies at PLACES_BASE, where
 * no code does. Code that compares or encodes stacks treats all frames alike; code that shows a
 * stack looks up the places' names.
 *
 * KEYS: a caller that would enter a place often may note its number under a key, a hash of all from
 * which the place follows, and then finds it without the place's texts and without the lock. Two
 * different places have one key with a probability of 2^-64. A slot has the key mixed with the
 * number, and the number: of what two threads wrote at the same time, the two do not agree.
 *
 * Equal places have one number. Records and texts never move and are never freed, so they are read
 * without a lock: a record is written before the count that covers it is published. */
#ifndef CALLSTACK_PLACES_H
#define CALLSTACK_PLACES_H

#include "base/lock.h"
#include "callstack/modules.h"
#include "callstack/texts.h"
#include <winnow/callstack.h>

enum {
  PLACES_MOST = (1 << 24) - 1,
  PLACES_CHUNKS = 24,
  PLACES_KEYED = 1024,    /* numbers that are found by keys */
  PLACE_TEXT_MOST = 1000, /* bytes of a function's or a file's name; the rest is cut off */
};

struct callstack_place;

struct place {
  /* Written before the record is published; constant afterwards. */
  const char *function, *file; /* never NULL */
  uint32_t line, first_column, last_column;
  uint64_t address, since_ns;
  uint64_t hash;
};

struct places {
  /* Set by places_create; constant afterwards. */
  struct modules *modules;
  const char *language;
  struct lock lock; /* of rank PLACES */
  /* Published with release: numbers 1 to count are there. Chunk k holds twice as many as the one
   * before. */
  _Atomic(uint32_t) count;
  _Atomic(struct place *) chunk[PLACES_CHUNKS];
  /* The number of the places' module; 0 before the first place. It is set before a place is
   * published. */
  _Atomic(uint32_t) module;
  /* KEYS. Written by any thread. */
  struct {
    _Atomic(uint64_t) mixed;
    _Atomic(uint32_t) number;
  } keyed[PLACES_KEYED];
  /* Only under the lock: a hash table of places' numbers, where 0 is an empty slot; and memory for
   * texts. */
  uint32_t *slots;
  uint32_t slot_count;
  struct texts texts;
};

/* `language` is the path of the places' module. */
void places_create(struct places *places, struct modules *modules, const char *language);
void places_destroy(struct places *places);

/* The number of a place, entered if it is new. 0 if there is no memory for it, or if no number is
 * left; wn_last_error says which. */
wn_place places_enter(struct places *places, const struct callstack_place *place);

/* The number that was noted under a key; 0: none, or another key's has its slot. */
wn_place places_known(const struct places *places, uint64_t key);
void places_note(struct places *places, uint64_t key, wn_place number);

/* NULL if there is no place of that number. */
const struct place *places_get(const struct places *places, uint64_t number);

#endif
/* SPDX-License-Identifier: MIT */
