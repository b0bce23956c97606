/* The interface by which the other parts read a trace, whatever program wrote it: the run, the kind
 * of heap, the events, and the stacks, modules and places that the events name.
 *
 * A format implements struct source_format; the readers do not know which format they read. Events
 * are those of Winnow's own traces (trace/event.h). A format that lacks some information leaves out
 * the event, or writes 0.
 *
 * A source is read once, from the first event to the last. Stacks and modules have numbers from 1
 * on, whose meaning never changes; their counts grow while events are read. One thread uses a
 * source at a time.
 */
#pragma once

#include "trace/event.h"
#include <winnow/status.h>

/* The kind of heap that was sampled. */
enum source_heap {
  SOURCE_HEAP_UNKNOWN,  /* the part of the trace that tells is damaged */
  SOURCE_HEAP_MALLOC,   /* the program frees blocks */
  SOURCE_HEAP_COLLECTED /* blocks are born in the minor or major heap; a collector promotes and frees them */
};

/* The release of a program: the first digits of its build-id. */
enum { RELEASE_DIGITS = 12 };

/* A process of a source that has several (joined.h). */
struct source_process {
  struct trace_run run;             /* its rate is that of its trace; the source's may be lower */
  uint64_t begin_ns;                /* when its recording began, by the clock of the source */
  uint64_t end_ns;                  /* the time of its last event, as far as it was read */
  bool writing;                     /* it still writes its trace */
  bool ended;                       /* the trace has an end record */
  struct trace_end end;             /* that record; its time is of the clock of the source */
  char release[RELEASE_DIGITS + 1]; /* once its part is read; "": not known */
  char *became; /* path of the program that the process tried to exec last; NULL: none or unknown */
};

/* What a file of another tool does not tell, where a reader could compute something nevertheless.
 * All false: it tells everything.
 *
 * TOTALS. A profile knows totals of stacks: so many blocks of so many bytes, and not when which
 * block was allocated and freed. Its run has the rate SOURCE_RATE_TOTALS: each sample stands for
 * `words` equal blocks, a power of two, and nothing is left to chance. Times are moments without a
 * length (enum source_moment). Besides what was allocated in all, such a profile tells what was
 * held at the end, and at the peak unless no_peak. */
struct source_limits {
  bool totals;
  bool no_peak;     /* of totals: it does not tell what was held at the peak */
  bool no_total;    /* of totals: it does not tell what was allocated in all */
  bool no_end;      /* of totals: it does not tell what was held at the end */
  bool no_blocks;   /* of totals: it does not tell the number of blocks: each total is one block */
  bool no_lives;    /* it does not tell which of equal blocks was freed; and those that are totals */
  bool no_threads;  /* it does not tell which threads allocated; and those that are totals */
  bool no_callers;  /* it is a heap snapshot: a frame holds the frames below it, and called nothing */
  uint64_t tick_ns; /* of the clock by which events have their times; 0: it is as fine as they are */
  bool estimated;   /* the numbers are estimates of that tool, and how far they are off is not known */
  const char *note; /* a sentence or more about all this, for people */
};

#define SOURCE_RATE_TOTALS 2.0

enum source_moment { SOURCE_ALLOCATED, SOURCE_PEAK, SOURCE_END, SOURCE_MOMENTS };

struct source;

struct source_format {
  void (*close)(struct source *source);
  bool (*next)(struct source *source, struct trace_event *event); /* NULL: there are no events */
  const struct trace_run *(*run)(const struct source *source);
  enum source_heap (*heap)(const struct source *source);
  const struct trace_damage *(*damage)(const struct source *source);
  uint32_t (*stack_count)(const struct source *source);
  struct trace_node (*stack)(const struct source *source, uint32_t number);
  uint32_t (*module_count)(const struct source *source); /* NULL: no modules */
  const struct trace_module *(*module)(const struct source *source, uint32_t number);
  /* NULL: no places; and all of it has been read. */
  bool (*place)(const struct source *source, uint32_t module, uint64_t offset, struct trace_place *place);
  /* For reused.h, once all events were read; all NULL: no code is made. is_reused: whether what is at
   * the node's address depends on the time. find_owner: replaces module and offset by what a process
   * had there at a time; false without memory. add_node: the number of a node, found or added; 0
   * without memory. */
  bool (*is_reused)(struct source *source, const struct trace_node *node);
  bool (*find_owner)(struct source *source, uint32_t process, uint64_t time_ns, struct trace_node *node);
  uint32_t (*add_node)(struct source *source, struct trace_node node);
  double (*position)(const struct source *source);
  /* NULL: the source has one process. */
  uint32_t (*process_count)(const struct source *source);
  const struct source_process *(*process)(const struct source *source, uint32_t index);
  const struct source_limits *(*limits)(const struct source *source); /* NULL: the format tells all */
};

/* Whether an event stays in a source. */
typedef bool source_keeps(const struct trace_event *event, void *context);

/* A format's own struct begins with this struct. */
struct source {
  const struct source_format *format;
  source_keeps *keeps; /* source_filter; NULL: all events stay */
  void *keeps_context;
  struct trace_run thinned; /* source_set_rate; its rate is 0: there is none */
};

/* A number that tells a file from others, and from what it was before: from its size and time. 0:
 * the file cannot be looked at. */
uint64_t source_file_stamp(const char *path);

static inline void source_close(struct source *source) { source->format->close(source); }

/* Reads the next event. False at the end of the file. Texts in the event, and the title and name of
 * the run, are valid until the next call. */
static inline bool source_next(struct source *source, struct trace_event *event) {
  if (!source->format->next) return false;
  while (source->format->next(source, event))
    if (!source->keeps || source->keeps(event, source->keeps_context)) return true;
  return false;
}

/* From now on the source leaves out some events. The context is needed until the last event is read. */
static inline void source_filter(struct source *source, source_keeps *keeps, void *context) {
  source->keeps = keeps;
  source->keeps_context = context;
}

/* The run. If the part of the trace that describes it is damaged, only rate and word_bytes are
 * known, and the rest is 0 or empty. */
static inline const struct trace_run *source_run(const struct source *source) {
  return source->thinned.rate > 0 ? &source->thinned : source->format->run(source);
}

/* Gives the run another rate, above 0, once all events were read: that of the samples that a reader
 * has retained (thinning.h). */
static inline void source_set_rate(struct source *source, double rate) {
  source->thinned = *source_run(source);
  source->thinned.rate = rate;
}

/* Whether another profiler wrote the trace. Such a trace does not tell how the program ended, nor the
 * sizes and collections of its heap. */
static inline bool source_is_foreign(const struct source *source) {
  return source_run(source)->writer.length;
}

static inline enum source_heap source_heap(const struct source *source) {
  return source->format->heap(source);
}
static inline const struct trace_damage *source_damage(const struct source *source) {
  return source->format->damage(source);
}

/* The numbers of stacks are 1 to this count. */
static inline uint32_t source_stack_count(const struct source *source) {
  return source->format->stack_count(source);
}
static inline struct trace_node source_stack(const struct source *source, uint32_t number) {
  return source->format->stack(source, number);
}
static inline uint32_t source_module_count(const struct source *source) {
  return source->format->module_count ? source->format->module_count(source) : 0;
}
/* The module with a number. Valid until the next event is read. */
static inline const struct trace_module *source_module(const struct source *source, uint32_t number) {
  return source->format->module(source, number);
}

/* The place at an offset of a language's module. False if the trace does not name it. */
static inline bool source_place(const struct source *source, uint32_t module, uint64_t offset,
                                struct trace_place *place) {
  return source->format->place && source->format->place(source, module, offset, place);
}

/* What the file does not tell. Valid as long as the source. */
static inline const struct source_limits *source_limits(const struct source *source) {
  static const struct source_limits none = {.note = ""};
  return source->format->limits ? source->format->limits(source) : &none;
}

/* The fraction of the file that has been read, 0 to 1. */
static inline double source_position(const struct source *source) {
  return source->format->position ? source->format->position(source) : 1;
}

/* The number of processes; and one of several, from 0 on, ordered by begin_ns. */
static inline uint32_t source_process_count(const struct source *source) {
  return source->format->process_count ? source->format->process_count(source) : 1;
}
static inline const struct source_process *source_process(const struct source *source, uint32_t index) {
  return source->format->process(source, index);
}

/* NUMBERS. A thread, block or mapping of process P of N processes has the number N times that in the
 * trace of the process, plus P. */
static inline uint32_t source_process_of(uint32_t thread, uint32_t process_count) {
  return process_count > 1 ? thread % process_count : 0;
}
/* SPDX-License-Identifier: MIT */
