/* What a trace is to its readers, whatever wrote it: the run, the kind of heap, the events,
 * and the stacks, modules and places that the events name.
 *
 * A format implements struct source_format. Nothing above this part knows which one it reads. The
 * vocabulary of events is that of Winnow's own traces (trace/event.h); a format that cannot tell
 * something leaves it out, or 0.
 *
 * A source is read once, from the first event to the last. Stacks and modules have numbers from 1
 * on, which never change meaning; their counts grow while events are read. One thread uses a source
 * at a time. */
#ifndef SOURCES_SOURCE_H
#define SOURCES_SOURCE_H

#include "trace/event.h"
#include <winnow/status.h>

/* Which heap the samples are of. */
enum source_heap {
  SOURCE_HEAP_UNKNOWN,  /* the part of the trace that says it is damaged */
  SOURCE_HEAP_MALLOC,   /* blocks are freed by the program */
  SOURCE_HEAP_COLLECTED /* blocks are born young or old, may be promoted, and are found dead by a collector */
};

struct source;

struct source_format {
  void (*close)(struct source *source);
  bool (*next)(struct source *source, struct trace_event *event);
  const struct trace_run *(*run)(const struct source *source);
  enum source_heap (*heap)(const struct source *source);
  const struct trace_damage *(*damage)(const struct source *source);
  uint32_t (*stack_count)(const struct source *source);
  struct trace_node (*stack)(const struct source *source, uint32_t number);
  uint32_t (*module_count)(const struct source *source);
  const struct trace_module *(*module)(const struct source *source, uint32_t number);
  bool (*place)(const struct source *source, uint32_t module, uint64_t offset, struct trace_place *place);
  double (*position)(const struct source *source);
};

/* A format's own struct begins with this one. */
struct source {
  const struct source_format *format;
};

/* Opens a file of any format that is known. Sets wn_last_error on failure. */
wn_status source_open(const char *path, struct source **source);
static inline void source_close(struct source *source) { source->format->close(source); }

/* False at the end of the file. Texts in the event, and title and name of the run, are valid until
 * the next call. */
static inline bool source_next(struct source *source, struct trace_event *event) {
  return source->format->next(source, event);
}

/* If the part that tells of the run is damaged, only rate and word_bytes are known; the rest is 0
 * or empty. */
static inline const struct trace_run *source_run(const struct source *source) {
  return source->format->run(source);
}
static inline enum source_heap source_heap(const struct source *source) {
  return source->format->heap(source);
}
static inline const struct trace_damage *source_damage(const struct source *source) {
  return source->format->damage(source);
}

/* The greatest number. */
static inline uint32_t source_stack_count(const struct source *source) {
  return source->format->stack_count(source);
}
static inline struct trace_node source_stack(const struct source *source, uint32_t number) {
  return source->format->stack(source, number);
}
static inline uint32_t source_module_count(const struct source *source) {
  return source->format->module_count(source);
}
/* Valid until the next event is read. */
static inline const struct trace_module *source_module(const struct source *source, uint32_t number) {
  return source->format->module(source, number);
}

/* What is at an offset of a language's module. False if it has no name. */
static inline bool source_place(const struct source *source, uint32_t module, uint64_t offset,
                                struct trace_place *place) {
  return source->format->place(source, module, offset, place);
}

/* How much of the file is read, from 0 to 1. */
static inline double source_position(const struct source *source) { return source->format->position(source); }

#endif
/* SPDX-License-Identifier: MIT */
