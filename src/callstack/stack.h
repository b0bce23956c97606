/* Callstacks as values, and the store of those that are kept.
 *
 * A callstack is an array of frames, the outermost first, so that two stacks which begin alike have
 * a common prefix. A frame is a number: an index of the table of code addresses (pcs.h), or
 * FRAME_PLACE and the number of a language's place (places.h). Numbers and what they mean never
 * change while the context lives.
 *
 * LIVES. A capture writes the stack into the thread's memo (memo.h), or, if the memo is in use,
 * into a slot of the store. The capturing thread releases the stack before long: until then no
 * other capture uses the memo. A stack that must live longer is kept: callstack_keep moves it to a
 * slot. Slots are of several sizes and are used again, so the store's memory is that of the stacks
 * that were kept at one time. It does not depend on how many different stacks a program has. */
#ifndef CALLSTACK_STACK_H
#define CALLSTACK_STACK_H

#include "base/slots.h"
#include <stdbool.h>
#include <winnow/callstack.h>

struct callstacks;

/* Deeper stacks keep their innermost frames. */
enum { CALLSTACK_DEPTH_MOST = 1024 };

#define FRAME_PLACE (UINT32_C(1) << 31)

/* CUT. Where a stack has more frames than were asked for, its outermost frame is this mark: the
 * address CALLSTACK_CUT in no module, to which nothing returns. The functions of winnow/callstack.h
 * leave the mark out. */
#define FRAME_CUT     FRAME_PLACE
#define CALLSTACK_CUT 1
enum { CALLSTACK_FRAMES_MOST = CALLSTACK_DEPTH_MOST + 1 };

/* Where a stack lies: nowhere, if it is the empty one; in a memo; or in a slot of the class from
 * STACK_IN_STORE on. */
enum { STACK_IS_EMPTY, STACK_IN_MEMO, STACK_IN_STORE };

struct wn_callstack {
  struct callstacks *owner;
  const uint32_t *frame; /* outermost first */
  uint32_t count;
  uint32_t where;
  /* In the store: the slot's number, and how often the stack must still be released. */
  uint32_t number;
  _Atomic(uint32_t) references;
};

/* Class c has slots for STACK_FIRST << c frames and the mark of CUT. */
enum { STACK_CLASSES = 8, STACK_FIRST = 8 };
_Static_assert(STACK_FIRST << (STACK_CLASSES - 1) == CALLSTACK_DEPTH_MOST,
               "the last class has room for each");

struct stack_store {
  struct slots classes[STACK_CLASSES];
};

/* At most `most` stacks of each class at one time. */
void stack_store_open(struct stack_store *store, size_t most);
void stack_store_close(struct stack_store *store);

/* A stack of `count` frames, which the caller writes to `*frames`. NULL if there is no memory. */
struct wn_callstack *stack_store_take(struct stack_store *store, size_t count, uint32_t **frames);
void stack_store_give(struct stack_store *store, struct wn_callstack *stack);

/* How many stacks are in the store. Only while no thread keeps or releases one. */
size_t stack_store_count(const struct stack_store *store);

#endif
/* SPDX-License-Identifier: MIT */
