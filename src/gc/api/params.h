/* The table of parameters, and their text: WINNOW_PARAMS and options.text.
 *
 *   text:   item , item ...        nothing at all is no item
 *   item:   name  or  name = number     a name alone is 1
 *   name:   a letter or a name of the table; the last of two equal ones counts
 *   number: digits, or 0x and digits, then k, M or G (2^10, 2^20, 2^30) or nothing
 *
 * Strict: anything else is an error that says at which byte (the first is 1) and what was expected,
 * and nothing of the text is applied. OCaml's letters b c e p t R W have no meaning here and are
 * refused like any unknown name. */
#ifndef GC_API_PARAMS_H
#define GC_API_PARAMS_H

#include "gc/collect/nursery.h"
#include "gc/domains/heap.h"

/* P(letter, name, least, most, what it is). These are in wn_gc_get and wn_gc_set, and their
 * defaults in WN_GC_CONTROL_DEFAULTS: */
#define GC_CONTROLS(P)                                                                                   \
  P('s', minor_heap_size, MINOR_WORDS_LEAST, 1L << 25, "words of each minor heap")                       \
  P('i', major_heap_increment, 0, 1L << 40, "growth of the heap, in percent up to 1000, above in words") \
  P('o', space_overhead, 1, 1000000, "garbage that the heap may hold, in percent of what is live")       \
  P('v', verbose, 0, 0x7ff, "bits of what is told on standard error")                                    \
  P('O', max_overhead, 0, 1000000, "free memory that starts a compaction, in percent of what is live")   \
  P('l', stack_limit, 64, 1L << 30, "handle slots of a thread")                                          \
  P('a', allocation_policy, POLICY_NEXT_FIT, POLICY_BEST_FIT, "how free runs are searched")              \
  P('w', window_size, 1, 50, "slices over which work is smoothed")                                       \
  P('M', custom_major_ratio, 1, 1000000, "external memory to heap, in percent")                          \
  P('m', custom_minor_ratio, 1, 1000000, "external memory to minor heap, in percent")                    \
  P('n', custom_minor_max_size, 0, 1L << 40, "external bytes that a young block may have")

/* These are set when the heap is opened. Letter 0: none. All are 0 unless asked
 * for, but for huge_pages, domains and cgroup. */
#define GC_SETTINGS(P)                                                                            \
  P('d', domains, 1, DOMAINS_MOST, "domains that the heap can have at a time")                    \
  P('h', initial_heap, 0, 1L << 40, "words of the major heap that are there at once")             \
  P('H', huge_pages, 0, 1, "whether the system is asked for huge pages")                          \
  P(0, helpers, 0, 64, "threads that mark and sweep")                                             \
  P(0, soft_limit, 0, INT64_MAX, "bytes of the major heap that the collector tries to keep")      \
  P(0, cgroup, 0, 1, "whether the limits of the process's control groups are limits of the heap") \
  P('V', verify, 0, 1, "whether the heap is verified after each collection")                      \
  P(0, every, 0, INT64_MAX, "stress: a collection at each so many slow allocations")              \
  P(0, polls, 0, INT64_MAX, "stress: a collection at each so many polls and other calls")         \
  P(0, compact, 0, INT64_MAX, "stress: a compaction of all blocks at each so many of all these")  \
  P(0, delays, 0, 1, "stress: random pauses between steps of protocols, where checks are on")     \
  P(0, fail_at, 0, INT64_MAX, "stress: the request of memory that fails")                         \
  P(0, mark_stack, 0, 1L << 30, "stress: entries of a mark stack")                                \
  P(0, move_all, 0, 1, "stress: a compaction moves all blocks that are not pinned")

struct params {
  wn_gc_control control;
  long domains, initial_heap, huge_pages;
  long helpers; /* below 0: IDLE PROCESSORS of helpers.h; a text cannot say that */
  long soft_limit, cgroup, verify, every, polls, compact, delays, fail_at, mark_stack, move_all;
};

struct parameter {
  char letter;
  const char *name;
  size_t offset; /* in struct params */
  long least, most;
  const char *what;
};

/* Those of GC_CONTROLS come first. */
enum { CONTROLS = 11, PARAMETERS = CONTROLS + 14 };
extern const struct parameter parameters[PARAMETERS];

static inline long *parameter_in(struct params *params, const struct parameter *parameter) {
  return (long *)((char *)params + parameter->offset);
}

/* `control` begins struct params, so that a row's offset serves for both. */
static inline long *control_field(wn_gc_control *control, const struct parameter *parameter) {
  return (long *)((char *)control + parameter->offset);
}

/* WN_EINVAL, and the parameter and its range in wn_last_error, if a value is out of range. */
wn_status params_check(const wn_gc_control *control);

/* Applies a text. WN_EINVAL, and nothing applied, if it is wrong. The message calls the text
 * `source`. */
wn_status params_parse(const char *text, const char *source, struct params *params);

#endif
/* SPDX-License-Identifier: MIT */
