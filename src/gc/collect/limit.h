/* The limit of a heap, and what is done to keep it.
 *
 * IN FORCE. The limit is the smaller one of
 * - soft_limit_bytes, and
 * - what the control groups of the process leave for this heap (cgroup.h): the bytes that the heap
 *   has touched, and those that the group may still take. What the process has otherwise, and other
 *   processes of the group, makes it smaller. It is at least a GROUP_PART-th of what the group may
 *   use: a heap below that is not what fills the group.
 * It is compared with the heap's size (used_bytes of chunk.h). The files of the groups are read
 * again at a minor collection, at most every READ_NS. A heap without a limit only looks whether it
 * has one. Groups that have no limit when the heap is opened are not looked at again.
 *
 * PRESSURE. The limit presses when PACE of major.h would let the heap grow beyond it, or when the
 * heap is beyond it. Then A is smaller:
 *   1. What a compaction would leave is the live words and the overhead that the last one left (DUE
 *      of compact.h). Beside these the limit leaves some words: A is at most so many. From
 *      the begin of a cycle to its end the program may allocate more than PACE says, since slices
 *      are short. So A / 2, after which a cycle begins, also leaves what was allocated during the
 *      last cycle. A is at least two minor heaps: beyond the limit one cycle follows the other.
 *   2. A cycle that ends beyond the limit gives empty chunks back to the system. When CYCLES of
 *      them in a row have, since the first may have begun before its garbage died, a compaction
 *      follows, where that can gain enough, unless max_overhead rules it out (DUE of compact.h). It
 *      comes once in an excess, and once more after the hook: a heap that soon grows into what it
 *      has given back gains nothing by moving its blocks.
 *   3. A heap that is still beyond is more than the collector can do: the hook over_limit is
 *      called; earlier if its HALF is spent and the heap is beyond the limit by a GROWTH_PART-th.
 * An excess ends with a cycle that ends below the limit.
 *
 * HALF of budget.h. The work under PRESSURE takes from the account of the process. Whether anything is
 * saved there is looked at in each minor collection. While nothing is saved, there is no pressure: no
 * cycle begins because of the limit, and a cycle that has begun goes on at its ordinary pace. What
 * counts are marking, its roots included, sweeping and compaction, by domains and helpers, from the
 * moment when the limit presses to the end of the cycle. So more than half is taken only by
 *   - the slices between two minor collections,
 *   - the rest of a cycle, at its ordinary pace,
 *   - a compaction, which cannot be interrupted,
 * and that must be earned before the collector works more again. Minor collections are the ordinary
 * work of allocation, and do not count.
 *
 * HOOK. The hook is called once in an excess, and again when the heap has grown by a GROWTH_PART-th
 * meanwhile. It is called where finalisers run, on a thread that is in no callback and has nothing
 * to undo, since the hook may leave by longjmp. The first domain that comes to such a place takes
 * the call.
 *
 * The leader of a stopped world writes all but what other comments say. */
#ifndef GC_COLLECT_LIMIT_H
#define GC_COLLECT_LIMIT_H

#include "base/cgroup.h"
#include <stdatomic.h>

struct wn_domain;
struct wn_heap;

struct limit {
  /* Set by limit_open; constant afterwards. */
  size_t soft_bytes; /* soft_limit_bytes; 0: none */
  bool heeds_cgroup; /* otherwise `cgroup` has no level */
  struct cgroup cgroup;

  uint64_t read_ns;      /* when the groups were read */
  _Atomic(size_t) bytes; /* IN FORCE; SIZE_MAX: none */
  _Atomic(size_t) most;  /* PRESSURE: the most words that A may be; SIZE_MAX: it does not press */

  /* Of the excess. */
  unsigned cycles_beyond;  /* PRESSURE: cycles in a row that ended beyond the limit */
  bool compacts;           /* PRESSURE: limit_wants_compaction */
  _Atomic(bool) compacted; /* PRESSURE: a compaction had its turn; limit_tell clears it, too */
  size_t reported_bytes;   /* HOOK: the heap's size at the last call; 0: there was none */

  _Atomic(bool) counts; /* HALF: what the collector does now counts */
  _Atomic(bool) due;    /* HOOK: a call is due; cleared by the thread that makes it */
};

/* Called while the heap is being opened. `heeds_cgroup`: the limits of control groups count. */
void limit_open(struct wn_heap *heap, size_t soft_bytes, bool heeds_cgroup);

/* Called by the leader when a cycle has ended, before a compaction. */
void limit_cycle_ended(struct wn_heap *heap);

/* Called by the leader of each minor collection, before a cycle may begin. `wanted`: A of PACE
 * without the limit, in words. */
void limit_look(struct wn_heap *heap, size_t wanted);

/* IN FORCE, in bytes; 0: none. Any thread. */
size_t limit_bytes(const struct wn_heap *heap);

/* IN FORCE: the bytes by which the heap is below. */
size_t limit_room(const struct wn_heap *heap);

/* PRESSURE: the most words that A may be. */
size_t limit_most(const struct wn_heap *heap);

/* PRESSURE: whether the cycle that ended last is to be followed by a compaction. */
bool limit_wants_compaction(const struct wn_heap *heap);

/* HALF: around work of the collector. limit_clock returns what limit_charge needs: 0 if the work does
 * not count. */
uint64_t limit_clock(const struct wn_heap *heap);
void limit_charge(uint64_t began);

/* HOOK. Called at a safepoint, with nothing left to undo: the hook may leave by longjmp. */
void limit_tell(struct wn_domain *domain);

#endif
/* SPDX-License-Identifier: MIT */
