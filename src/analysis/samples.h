/* A trace as columns: what every question is asked of. */
#ifndef ANALYSIS_SAMPLES_H
#define ANALYSIS_SAMPLES_H

#include "analysis/estimate.h"
#include "analysis/heap_life.h"
#include "analysis/mapped.h"
#include "sources/source.h"
#include <stdbool.h>
#include <stddef.h>
#include <winnow/status.h>

#define STILL_ALIVE UINT64_MAX

/* Where a collected heap's block was born. OUTSIDE: it stands for memory that is not in the heap.
 * NONE: no collected heap. */
enum area { AREA_NONE, AREA_MINOR, AREA_MAJOR, AREA_OUTSIDE };

#define NEVER UINT64_MAX

/* One stretch of a sampled block's life during which its size did not change. A block that realloc
 * never touched has one row; each resize ends a row and begins the next, which keeps the block
 * number.
 *
 * OWNER: a realloc that makes a block larger allocates it anew, all of it, whether it moves or not;
 * from then on the block belongs to that call. One that makes it smaller changes its size alone. So
 * no function holds more than it has allocated. */
struct row {
  uint64_t block;
  uint64_t begin_ns, end_ns; /* end: freed or resized then; STILL_ALIVE when the trace ended first */
  uint64_t born_ns;          /* of the block; of its first row */
  uint64_t died_ns;          /* of the block; STILL_ALIVE if it was never freed */
  uint64_t size;             /* bytes, as the program asked for them */
  bool call;          /* a call allocated: the block was born or grew; false where it was made smaller */
  uint64_t allocated; /* by that call: all of `size`, or 0 */
  uint64_t words;     /* words that had a trial so far */
  double probability; /* of being in the sample by now */
  struct dependence bytes_by; /* how `allocated` counts beside the block's other calls (see samples.c) */
  struct dependence call_by;  /* and how the call does */
  uint32_t stack;             /* of the call that made it so large, or larger */
  uint32_t thread;            /* of the trace; that of the call */
  uint64_t promoted_ns;       /* of the block: when it moved to the major heap; NEVER */
  double life_words;          /* of the block: what was allocated while it lived (WORDS CLOCK) */
  uint8_t source;
  uint8_t area;       /* enum area */
  uint8_t next_cycle; /* enum next_cycle, of a promoted block */
  bool first, last;   /* of its block's rows */
};

/* One measurement of the process. */
struct memory_point {
  uint64_t time_ns, rss_bytes, private_bytes;
  uint64_t peak_bytes; /* the largest resident size until then, by the kernel's count; 0: not asked */
  bool complete;       /* what the program mapped itself was measured too */
  uint64_t own_bytes;  /* of the private ones about so many are the recorder's */
};

struct thread_name {
  uint32_t thread;
  char *name;
  uint64_t time_ns; /* when it was read: the last one counts */
};

struct samples {
  struct source *source; /* owned: the run, stacks and modules */
  struct row *rows;      /* ordered by begin_ns */
  size_t row_count;
  struct memory_point *memory; /* ordered by time */
  size_t memory_count;
  struct thread_name *threads;
  size_t thread_count;
  double word_bytes;
  bool collected;          /* the heap is a collected one */
  struct heap_life life;   /* if so */
  struct mapped mapped;    /* what the program mapped itself */
  uint64_t end_ns;         /* the last event */
  uint64_t sampled_blocks; /* sampled when they were allocated or grew */
  uint64_t promotions;     /* of sampled blocks */
  uint64_t unmatched;      /* frees, resizes and promotions whose block is unknown: their record was lost */
  bool ended;              /* an end record stands in the trace */
  struct trace_end end;    /* if so */
  char *became;            /* the program that it asked to become by exec, last; NULL: none, or not known */
};

/* Called now and then while a trace is read, with the share that is done, 0 to 1. */
typedef void samples_progress(double done, void *context);

/* Reads a whole trace. wn_last_error tells what is wrong with it. */
wn_status samples_load(const char *path, samples_progress *progress, void *context, struct samples **samples);

/* The same of a source that is open, which it owns from then on, also if it fails. `name` is for
 * messages. */
wn_status samples_read(struct source *source, const char *name, samples_progress *progress, void *context,
                       struct samples **samples);
void samples_free(struct samples *samples);

/* Fills in what depends on the whole life of a block. rows[0..count) are all its rows, in order;
 * size, call, allocated, words, end_ns and promoted_ns are known, and bytes_by.growth, but of the
 * first row only if it was sampled as it grew. */
void samples_finish_block(struct row *rows, size_t count, double rate);

/* The name of a thread of the trace, or "thread N" written to `buffer`. */
const char *samples_thread_name(const struct samples *samples, uint32_t thread, char buffer[32]);

#endif
/* SPDX-License-Identifier: MIT */
