/* A trace in memory: one row for each stretch of a sampled block's life, and beside the rows the
 * measurements of the process, the names of its threads, its mappings and, for a collected heap,
 * its collections and pauses. All reports are computed from this. It does not change once it is
 * loaded. */
#pragma once

#include "analysis/load/grown.h"
#include "analysis/load/heap_life.h"
#include "analysis/load/mapped.h"
#include "analysis/load/order.h"
#include "analysis/load/processes.h"
#include "sources/source.h"
#include <stdbool.h>
#include <stddef.h>
#include <winnow/status.h>

struct strings;

#define STILL_ALIVE UINT64_MAX

/* The area in which a collected heap's block was born. OUTSIDE: the block stands for memory that is
 * not in the heap. NONE: the heap is not a collected one. */
enum area { AREA_NONE, AREA_MINOR, AREA_MAJOR, AREA_OUTSIDE };

#define NEVER UINT64_MAX

/* One stretch of a sampled block's life during which its size did not change. A block that realloc
 * never touched has one row; each resize ends a row and begins the next, with the same block
 * number.
 *
 * OWNER: a realloc that makes a block larger counts as allocating all of it anew, whether the block
 * moves or not, and from then on the block belongs to that call. A realloc that makes a block
 * smaller only changes its size. So no function holds more than it has allocated.
 *
 * SMALL: every answer is a few passes over all rows, so the size of a row is the time of an answer.
 * What few rows need is in struct grown; what few passes need is beside the rows.
 */
struct row {
  uint64_t block;
  /* end: when it was freed or resized, or of several processes its own ended (LEFT in processes.h);
   * STILL_ALIVE if the trace ended first */
  uint64_t begin_ns, end_ns;
  uint64_t born_ns;     /* the start of the block's first row */
  uint64_t died_ns;     /* when the block was freed; STILL_ALIVE if it never was */
  uint64_t size;        /* bytes, as the program asked for */
  uint64_t words;       /* the block's words that have had a trial so far */
  double probability;   /* that the block is in the sample by the start of this row; RATES of grown.c */
  uint64_t promoted_ns; /* when the block moved to the major heap, or NEVER */
  uint32_t stack;       /* of the call that last allocated or grew the block */
  uint32_t thread;      /* that made this call: its number in the trace */
  uint32_t grown;       /* its place in struct grown_rows; 0: the row's call is its block's only one */
  uint16_t rate;        /* of the trials of the words that the row adds; an index of samples.rates */
  uint8_t source;
  bool first : 1, last : 1; /* among its block's rows */
  uint8_t area : 2;         /* enum area */
  uint8_t next_cycle : 2;   /* enum next_cycle; for promoted blocks */
  bool call : 1;            /* the row begins with an allocation: the block was born or grew, not shrank */
};
_Static_assert(sizeof(struct row) == 88, "SMALL");

/* One measurement of the process. */
struct memory_point {
  uint64_t time_ns, rss_bytes, private_bytes;
  uint64_t peak_bytes; /* the largest resident size so far, as counted by the kernel; 0: not known */
  bool complete;       /* the program's own mappings were measured too */
  uint64_t own_bytes;  /* about so many of the private bytes are used by the recorder */
  uint8_t asked;       /* which allocator was asked then (enum trace_allocator); if not 0: */
  uint64_t in_use_bytes, free_bytes; /* what its blocks take, and what it keeps free */
  uint64_t cost_ns,
      processor_ns; /* processor time until then: of recording, and of the process; 0: not known */
  uint32_t process; /* while a trace with several is read */
};

/* From this time on a process samples at another rate; 0: not at all. */
struct rate_change {
  uint64_t time_ns;
  double rate;
  uint32_t process;
  uint8_t cause; /* enum trace_rate_cause */
};

struct thread_name {
  uint32_t thread;
  char *name;
  uint64_t time_ns; /* when the recorder read the name; the latest one counts */
};

/* The time of a row. Most passes ask for the rows of some moment, which are few, and need no more of
 * all others. */
struct span {
  uint64_t begin_ns, end_ns;
};

/* How long a block lived, by its last row. */
struct lived {
  uint64_t key; /* its life times 2; one more: it is alive at the end, and has lived so long at least */
  double probability;
  uint32_t row;
};

/* Twice the number of a row; one more: its end. */
typedef uint32_t step_of_row;

struct samples {
  struct source *source; /* owned; has the run, stacks and modules */
  struct row *rows;      /* ordered by begin_ns */
  size_t row_count;
  double *rates; /* that trials had; the first one is that of the run */
  uint16_t rate_count;
  struct rate_change *rate_changes; /* in order of time */
  size_t rate_change_count;
  double rate_share;   /* the part of the trace's rates that samples_thin left; 0: all */
  struct span *asleep; /* when nothing was sampled (asleep.h), in order of time */
  size_t asleep_count;
  double asleep_share; /* of the time of all processes: in which they sampled nothing */
  struct grown_rows grown;
  struct strings *types; /* the names of what blocks are; NULL: the trace does not say */
  uint32_t *row_types;   /* by row: that of its block, 0 if it has none; NULL without `types` */
  double *life_words; /* by row: words that were allocated during the block's life (WORDS CLOCK); or NULL */
  /* Of a loaded trace; NULL if rows are not from a trace. `spans`: by row. `steps`: every birth and end
   * of a row, in order of time, at one time the ends first. `by_life`: the last rows of blocks, by
   * life (row_life_ns), of equal ones the dead first. */
  struct span *spans;
  step_of_row *steps;
  struct lived *by_life;
  size_t step_count, by_life_count;
  struct memory_point *memory; /* ordered by time */
  size_t memory_count;
  struct trace_group *groups; /* what control groups reported, in order of time */
  size_t group_count;
  struct thread_name *threads;
  size_t thread_count;
  double word_bytes;
  struct process *processes;
  uint32_t process_count;  /* at least 1, of a loaded trace */
  bool collected;          /* the heap is a collected one */
  struct heap_life life;   /* of a collected heap */
  struct mapped mapped;    /* the program's own mappings */
  uint64_t end_ns;         /* time of the last event */
  uint64_t sampled_blocks; /* sampled when they were allocated or grew */
  uint64_t cut;            /* of them so many have a callstack that was cut (CUT in trace/event.h) */
  uint64_t promotions;     /* promotions of sampled blocks */
  uint64_t unmatched;      /* frees, resizes, promotions, types of blocks whose sample was lost */
  bool ended;              /* the trace has an end record, that of each process */
  struct trace_end end;    /* that record; of several processes zeros */
  char *became; /* path of the last program that the process tried to exec; NULL: none or unknown */
};

/* Bytes allocated at the start of a row. */
static inline uint64_t row_allocated(const struct row *row) { return row->call ? row->size : 0; }

/* When a row's block was freed; of a block that never was, when its process or the trace ended. */
static inline uint64_t row_died_ns(const struct samples *samples, const struct row *row) {
  if (row->died_ns != STILL_ALIVE) return row->died_ns;
  if (samples->process_count < 2) return samples->end_ns;
  uint64_t end_ns = samples->processes[source_process_of(row->thread, samples->process_count)].end_ns;
  return end_ns == STILL_ALIVE ? samples->end_ns : end_ns;
}

/* How long a row's block lived; at least, if it was never freed. */
static inline uint64_t row_life_ns(const struct samples *samples, const struct row *row) {
  uint64_t died = row_died_ns(samples, row);
  return died > row->born_ns ? died - row->born_ns : 0;
}

/* Whether a row is the last of a block that was never freed: the block was alive when the trace, or
 * its process, ended. */
static inline bool row_is_left(const struct row *row) { return row->last && row->died_ns == STILL_ALIVE; }

static inline bool span_has(const struct span *span, uint64_t time_ns) {
  return span->begin_ns <= time_ns && time_ns < span->end_ns;
}

static inline struct span row_span(const struct samples *samples, const struct row *row) {
  return samples->spans ? samples->spans[row - samples->rows] : (struct span){row->begin_ns, row->end_ns};
}

/* Makes a list of lives, ordered by `keyed`, whose keys are those of struct lived. Frees `keyed`; NULL
 * without memory. */
struct lived *samples_lived(const struct samples *samples, struct keyed *keyed, size_t count);

/* Make `spans` and `steps`. The caller frees the results; NULL without memory. */
struct span *samples_spans(const struct samples *samples);
step_of_row *samples_steps(const struct samples *samples, size_t *count);

/* Called repeatedly while a trace is read. `done`: the fraction that has been read, 0 to 1. */
typedef void samples_progress(double done, void *context);

/* Reads a whole trace. On an error wn_last_error says what is wrong with it. */
wn_status samples_load(const char *path, samples_progress *progress, void *context, struct samples **samples);

/* As samples_load, from an open source. Takes ownership of the source, even on an error. `name` is
 * for messages. */
wn_status samples_read(struct source *source, const char *name, samples_progress *progress, void *context,
                       struct samples **samples);
void samples_free(struct samples *samples);

/* Counts `cut` anew. False without memory. */
bool samples_count_cut(struct samples *samples);

/* Fills in life_words and the orders of rows, once all of the rows is known. False without memory. */
bool samples_complete_lives(struct samples *samples);

/* The rows of blocks that have several, block by block, those of a block in the order of time:
 * block and row. From malloc; NULL without memory. */
struct keyed *samples_resized(const struct samples *samples, size_t *count);

/* For qsort: rows by their begin, those of one time by their block. */
int samples_by_begin(const void *a, const void *b);

/* The number in `types` of what a row's block is; 0: it is not known, or the row is no block's. */
static inline uint32_t samples_type(const struct samples *samples, const struct row *row) {
  size_t number = ((uintptr_t)row - (uintptr_t)samples->rows) / sizeof *row;
  return samples->row_types && number < samples->row_count ? samples->row_types[number] : 0;
}

/* The number of a thread in the trace of its process. */
static inline uint32_t samples_thread_number(const struct samples *samples, uint32_t thread) {
  return samples->process_count > 1 ? thread / samples->process_count : thread;
}

/* The name of a thread of the trace; "thread N", written to `buffer`, if it has none. */
const char *samples_thread_name(const struct samples *samples, uint32_t thread, char buffer[32]);
/* SPDX-License-Identifier: MIT */
