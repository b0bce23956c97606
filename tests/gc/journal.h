/* A heap for a test, and a journal of what was called in it. */
#ifndef TESTS_GC_JOURNAL_H
#define TESTS_GC_JOURNAL_H

#include "gc/blocks.h"

#include <winnow/memprof.h>

enum { JOURNAL_LINES = 64 };

struct journal {
  wn_heap *heap;
  wn_domain *domain;
  long lines[JOURNAL_LINES];
  size_t count;
};

/* What a finaliser of the tests gets. */
struct entry {
  struct journal *journal;
  long line;
};

static inline void journal_open(struct journal *journal, const wn_heap_options *options) {
  *journal = (struct journal){0};
  assert_int_equal(wn_heap_open(options, &journal->heap), WN_OK);
  assert_int_equal(wn_domain_attach(journal->heap, &journal->domain), WN_OK);
}

static inline void journal_close(struct journal *journal) {
  assert_int_equal(wn_gc_verify(journal->domain, stderr), WN_OK);
  assert_int_equal(wn_domain_detach(journal->domain), WN_OK);
  assert_int_equal(wn_heap_close(journal->heap), WN_OK);
}

static inline void journal_write(struct journal *journal, long line) {
  assert_true(journal->count < JOURNAL_LINES);
  journal->lines[journal->count++] = line;
}

/* Finalisers that write their line. */
static inline void write_first(wn_domain *domain, wn_ref value, void *context) {
  const struct entry *entry = context;
  (void)domain, (void)value;
  journal_write(entry->journal, entry->line);
}
static inline void write_last(wn_domain *domain, void *context) {
  const struct entry *entry = context;
  (void)domain;
  journal_write(entry->journal, entry->line);
}

static inline void register_first(struct journal *of, struct entry *entry, wn_ref value) {
  assert_int_equal(wn_gc_finalise(of->domain, write_first, entry, value), WN_OK);
}
static inline void register_last(struct journal *of, struct entry *entry, wn_ref value) {
  assert_int_equal(wn_gc_finalise_last(of->domain, write_last, entry, value), WN_OK);
}

/* A value that is dead at once. */
static inline void dead_first(struct journal *of, struct entry *entry) {
  WN_SCOPE(of->domain);
  register_first(of, entry, block_of(of->domain, entry->line));
}
static inline void dead_last(struct journal *of, struct entry *entry) {
  WN_SCOPE(of->domain);
  register_last(of, entry, block_of(of->domain, entry->line));
}

#define ASSERT_JOURNAL(journal, ...)                                              \
  do {                                                                            \
    const long expected_lines[] = {__VA_ARGS__};                                  \
    assert_int_equal((journal)->count, sizeof expected_lines / sizeof(long));     \
    assert_memory_equal((journal)->lines, expected_lines, sizeof expected_lines); \
  } while (0)

#endif
/* SPDX-License-Identifier: MIT */
