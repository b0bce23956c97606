/* Marking the data of ephemerons.
 *
 * An ephemeron has *conditions*: the block itself, and those of its keys that are not empty. Its
 * data are to be marked when all its conditions are. A round begins when nothing is left to mark
 * (ephemerons_mark):
 *   1. The data of each ephemeron whose conditions are met are marked.
 *   2. Each other ephemeron waits for one of its conditions that is not marked: a table leads from
 *      that block to the ephemerons that wait for it.
 *   3. Marking goes on. While the round lasts (`watching`), a marker that has marked a block looks
 *      it up in the table. Each ephemeron that waited for it waits for its next condition, or else
 *      its data are marked, and looked up in turn.
 *
 * Each condition is waited for at most once, and looked up once, so that the work is linear in the
 * number of ephemerons and of blocks, in whatever order the ephemerons of a chain depend on each
 * other. Only of an ephemeron of many keys the work can be their square, since each condition that
 * is met has it look at its keys from the first on.
 *
 * RECHECK. Step 3 may miss an ephemeron: one marker marks a block, and looks it up, just before
 * another marker puts an ephemeron there; a barrier marks a block and does not look it up; or a
 * program that stores new keys meanwhile makes the table too full. So the next round checks all
 * ephemerons again. Marking has ended when a round finds nothing.
 * tests/models/ephemeron.pml explores it. */
#ifndef GC_COLLECT_EPHEMERON_H
#define GC_COLLECT_EPHEMERON_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <winnow/value.h>

struct marker;
struct wn_heap;

/* A block that is waited for; its key is 0 while the slot is free. */
struct awaited {
  _Atomic(wn_value) block;
  uint32_t first; /* of the ephemerons that wait for it: place + 1 in weak.blocks, or 0 */
};

struct ephemerons {
  _Atomic(bool) watching;
  /* A hash table, and by ephemeron the next one in its list. Changed under weak.lock; markers find
   * a block without it. */
  struct awaited *table;
  uint32_t *next;
  size_t capacity, used; /* slots of the table */
  size_t count;          /* ephemerons that `next` has room for */
  size_t examined;       /* how often the conditions of an ephemeron were checked, ever; for tests */
};

/* Begins a round. The world is stopped, and nothing is left to mark. True if the marker got data to
 * mark. */
bool ephemerons_mark(struct wn_heap *heap, struct marker *marker);

/* Step 3: called for each block that a marker has marked while `watching`. */
void ephemerons_marked(struct wn_heap *heap, struct marker *marker, wn_value block);

/* Ends the round. The world is stopped. */
void ephemerons_end(struct wn_heap *heap);

#endif
/* SPDX-License-Identifier: MIT */
