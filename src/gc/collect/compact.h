/* Compaction: moves blocks of the major heap together, and gives the memory between them back.
 *
 * It runs at the end of a cycle, or on request, inside the stop of a minor collection: the phase is
 * IDLE, minor heaps are empty, and all is swept. So each block has the one colour that is left, and
 * all that holds addresses is the table of visitors (visitors.h) and the fields of blocks.
 *   1. PLAN       chooses the pools and chunks that are to become empty (evacuation.h).
 *   2. EVACUATE   copies their blocks, and leaves the new address in each old header.
 *   3. UPDATE     visits every field of every block, and every place of the visitors, and follows
 *                 old addresses.
 *   4. END        gives back the memory that the blocks have left.
 *
 * Pinned blocks stay (pins.h; STAYS of evacuation.h), and so does a block for whose copy there is no
 * memory. Large blocks
 * have mappings of their own, and need not move.
 *
 * DUE. The overhead is what chunks in use and large blocks have beyond what is live. When a cycle
 * has ended, and the overhead is at least max_overhead percent of what is live, a compaction comes by
 * itself. If it would gain no chunk, it does nothing, and does not count. What overhead it leaves, by
 * pins, or by medium blocks that do not fit together, does not count for the next one. With
 * max_overhead 0 each cycle ends with one. Beyond the heap's limit (PRESSURE of limit.h) it comes
 * from LIMIT_OVERHEAD percent on, unless max_overhead says that none comes by itself.
 *
 * WASTE. A heap that has become smaller has more free memory than it allocates in a cycle, and keeps
 * it as long as single blocks live in all of its chunks. It is wasteful when the overhead is more
 * than the allowance (A of PACE, without LIMIT) by a WASTE_PART-th of max_overhead. When
 * WASTE_CYCLES of them in a row have ended so, a compaction comes, too: a heap that grows again at
 * once needs none. By the defaults that is beyond 2.7 times what is live, and before the next such
 * compaction the program has allocated more words than the last one moved.
 *
 * WORKERS. The leader offers steps 2 and 3 to the threads that wait (SHARED COLLECTION of
 * safepoint.h). A step has a number of tasks: a pool or chunk to evacuate, a chunk to update.
 *
 *   leader                                      another worker
 *   1. sets up the tasks, then sets `open`      1. increments `active`
 *   2. takes tasks until none is left           2. reads `open`; if it is set, takes tasks until none
 *   3. clears `open`                               is left
 *   4. waits until `active` is 0                3. decrements `active`
 *
 * All steps are sequentially consistent. A worker that reads `open` before the leader clears it has
 * incremented `active` before, so the leader waits for it. A later one takes no task. Each worker
 * copies into pools of its own domain. It can leave one of each class partly filled, so `workers`
 * allows no more of them than make that little; in step 3 no more than there is work for.
 * tests/models/compact.pml explores it. */
#ifndef GC_COLLECT_COMPACT_H
#define GC_COLLECT_COMPACT_H

#include "gc/store/evacuation.h"

struct wn_domain;
struct wn_heap;

enum compaction_step { STEP_EVACUATE, STEP_UPDATE, STEPS_SHARED };

struct compaction {
  /* Written by the leader while `open` is not set. */
  struct evacuation evacuation;
  enum compaction_step step;
  unsigned workers; /* besides the leader */
  /* Of the step. */
  _Atomic(bool) open;
  _Atomic(unsigned) active;
  _Atomic(size_t) next; /* task */
  /* Of the compaction. */
  _Atomic(size_t) moved_words;
  _Atomic(size_t) shared_tasks[STEPS_SHARED]; /* that other workers than the leader did, for tests */
  size_t overhead_left;     /* DUE: words, by the last compaction; lower if there are fewer now */
  unsigned wasteful_cycles; /* WASTE: in a row */
};

/* DUE and WASTE. Called when a cycle has ended. `allowance`: A of PACE without LIMIT, in words. */
bool compact_is_due(struct wn_heap *heap, size_t allowance);

/* Compacts. `requested`: counts as a compaction even if nothing is to be gained. */
void compact(struct wn_heap *heap, struct wn_domain *leader, bool requested);

/* In the child of a fork: as minor_lose_workers. */
void compact_lose_workers(struct wn_heap *heap);

/* WORKERS: called by a thread of a domain that waits for the leader. */
void compact_join(struct wn_domain *domain);

#endif
/* SPDX-License-Identifier: MIT */
