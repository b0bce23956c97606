/* One toy heap with one domain and one log, for tests of the engine. */
#ifndef TESTS_MEMPROF_ROOM_H
#define TESTS_MEMPROF_ROOM_H

#include "memprof/log_tracker.h"

/* One heap, one domain, one log. */
struct room {
  struct toy_heap *heap;
  wn_domain *domain;
  struct log log;
};

static inline struct room *room_open(double rate) {
  struct room *room = calloc(1, sizeof *room);
  room->heap = toy_open(TOY_BLOCKS);
  room->domain = toy_domain(room->heap, NULL);
  assert_int_equal(log_start(&room->log, room->domain, rate), WN_OK);
  return room;
}

static inline void room_close(struct room *room) {
  toy_domain_end(room->domain);
  toy_close(room->heap);
  assert_int_equal(room->log.outstanding, 0);
  free(room);
}

static inline wn_memprof_count counts_of(wn_profile *profile) {
  wn_memprof_count count;
  wn_memprof_counts(profile, &count);
  assert_true(count.allocs_minor ==
              count.promotes + count.dealloc_minor + count.live_minor + count.dropped_minor);
  assert_true(count.promotes + count.allocs_major ==
              count.dealloc_major + count.live_major + count.dropped_major);
  return count;
}

static inline int born(struct room *room, size_t words) {
  int number = toy_alloc(room->domain, words);
  wn_memprof_drain(room->domain);
  return number;
}

static inline void minor(struct room *room) {
  toy_minor(room->domain);
  wn_memprof_drain(room->domain);
}

static inline void major(struct room *room) {
  toy_major(room->heap, &room->domain, 1);
  wn_memprof_drain(room->domain);
}

#define assert_log(room, expected) assert_string_equal((room)->log.text, expected)

#endif
/* SPDX-License-Identifier: MIT */
