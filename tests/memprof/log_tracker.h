/* A tracker that writes a letter for each callback, checks that each metadata pointer comes back
 * exactly once and of the right kind, and can do something inside a callback. */
#ifndef TESTS_MEMPROF_LOG_TRACKER_H
#define TESTS_MEMPROF_LOG_TRACKER_H

#include "support/test.h"

#include "support/toy_heap.h"
#include <stdlib.h>
#include <string.h>

/* Letters: a A alloc_minor alloc_major, p promote, d D dealloc_minor dealloc_major, r resize, x
 * drop, R release. */
struct log {
  char text[256];
  size_t length;
  char act_at;                                     /* on this letter ... */
  void (*act)(struct log *log, wn_domain *domain); /* ... this is done, inside the callback */
  char null_at;                                    /* on this letter the callback returns NULL */
  wn_profile *profile;
  int outstanding; /* metadata in the engine's hands */
  int nested;
  uint64_t alloc_minor, alloc_major, samples, words;
  wn_allocation last;
};

struct mark {
  char kind; /* 'm' or 'M' */
};

static inline void log_event(struct log *log, wn_domain *domain, char letter) {
  assert_int_equal(log->nested, 0); /* callbacks of one thread never nest */
  if (log->length + 1 < sizeof log->text) log->text[log->length++] = letter;
  log->text[log->length] = 0;
  if (log->act && log->act_at == letter) {
    log->nested++;
    log->act(log, domain);
    log->nested--;
  }
}

static inline void *log_mark(struct log *log, char letter, char kind) {
  if (log->null_at == letter) return NULL;
  struct mark *mark = malloc(sizeof *mark);
  mark->kind = kind;
  log->outstanding++;
  return mark;
}

static inline void log_take(struct log *log, void *metadata, char kind) {
  struct mark *mark = metadata;
  if (kind) assert_int_equal(mark->kind, kind);
  log->outstanding--;
  free(mark);
}

static inline void log_allocation(struct log *log, const wn_allocation *allocation) {
  assert_true(allocation->n_samples >= 1 && allocation->n_samples <= allocation->trials);
  log->samples += allocation->n_samples;
  log->words += allocation->trials;
  log->last = *allocation;
}

static inline void *log_alloc_minor(wn_domain *domain, const wn_allocation *allocation, void *context) {
  log_allocation(context, allocation);
  ((struct log *)context)->alloc_minor++;
  log_event(context, domain, 'a');
  return log_mark(context, 'a', 'm');
}

static inline void *log_alloc_major(wn_domain *domain, const wn_allocation *allocation, void *context) {
  log_allocation(context, allocation);
  ((struct log *)context)->alloc_major++;
  log_event(context, domain, 'A');
  return log_mark(context, 'A', 'M');
}

static inline void *log_promote(wn_domain *domain, void *minor, void *context) {
  log_take(context, minor, 'm');
  log_event(context, domain, 'p');
  return log_mark(context, 'p', 'M');
}

static inline void log_dealloc_minor(wn_domain *domain, void *minor, void *context) {
  log_take(context, minor, 'm');
  log_event(context, domain, 'd');
}

static inline void log_dealloc_major(wn_domain *domain, void *major, void *context) {
  log_take(context, major, 'M');
  log_event(context, domain, 'D');
}

static inline void *log_resize(wn_domain *domain, void *metadata, const wn_allocation *allocation,
                               void *context) {
  char kind = ((struct mark *)metadata)->kind;
  log_take(context, metadata, 0);
  ((struct log *)context)->last = *allocation;
  log_event(context, domain, 'r');
  return log_mark(context, 'r', kind);
}

static inline void log_drop(void *metadata, void *context) {
  struct log *log = context;
  log_take(log, metadata, 0);
  if (log->length + 1 < sizeof log->text) log->text[log->length++] = 'x';
  log->text[log->length] = 0;
}

static inline void log_release(void *context) {
  struct log *log = context;
  assert_int_equal(log->outstanding, 0);
  if (log->length + 1 < sizeof log->text) log->text[log->length++] = 'R';
  log->text[log->length] = 0;
}

static inline wn_tracker log_tracker(struct log *log) {
  return (wn_tracker){.alloc_minor = log_alloc_minor,
                      .alloc_major = log_alloc_major,
                      .promote = log_promote,
                      .dealloc_minor = log_dealloc_minor,
                      .dealloc_major = log_dealloc_major,
                      .drop = log_drop,
                      .context = log,
                      .resize = log_resize,
                      .release = log_release};
}

static inline wn_status log_start(struct log *log, wn_domain *domain, double rate) {
  wn_memprof_options options = {.sampling_rate = rate, .callstack_size = 7, .seed = 42};
  wn_tracker tracker = log_tracker(log);
  return wn_memprof_start(domain, &options, &tracker, &log->profile);
}

#endif
/* SPDX-License-Identifier: MIT */
