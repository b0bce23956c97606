/* What a trace tells: the run, its modules and the events, as the writer takes them and the reader gives them. */
#ifndef TRACE_EVENT_H
#define TRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes that may hold anything. From a reader, a NUL byte stands behind them. */
struct trace_text {
  const char *bytes;
  uint32_t length;
};

static inline struct trace_text trace_text_of(const char *string) {
  return (struct trace_text){.bytes = string, .length = (uint32_t)strlen(string)};
}

struct trace_run {
  struct trace_text command; /* each argument followed by a NUL byte, as in /proc/self/cmdline */
  struct trace_text host;
  struct trace_text heap;    /* "malloc" or "winnow" */
  struct trace_text version; /* of the Winnow that wrote it */
  uint32_t pid;
  uint32_t parent_pid;
  uint64_t seed;
  double rate; /* the probability of a sample, for each word */
  uint32_t stack_depth;
  uint8_t word_bytes;
  uint64_t wall_ns;      /* wall clock at time 0 of the trace, since 1970 */
  uint64_t monotonic_ns; /* monotonic clock at time 0 of the trace */
};

enum { TRACE_BUILD_ID_MAX = 32 };

/* A file mapped into the process. Generation tells apart two mappings of one file at one address. */
struct trace_module {
  uint64_t base; /* lowest mapped address */
  uint64_t bias; /* what the loader added to the file's addresses; an offset counts from here */
  uint64_t size;
  uint32_t generation;
  uint8_t build_id_bytes; /* 0: none */
  uint8_t build_id[TRACE_BUILD_ID_MAX];
  struct trace_text path;
};

/* Where the module of a language's places lies: no code does. Its offsets are numbers of places. */
#define TRACE_LANGUAGE_BASE ((uint64_t)1 << 62)
static inline bool trace_is_language(const struct trace_module *module) {
  return module->base == TRACE_LANGUAGE_BASE;
}

/* What a frame in such a module is called. */
struct trace_place {
  struct trace_text function, file;
  uint32_t line; /* 0: unknown */
};

/* Every event begins with these two. Time counts from the start of the run. */
struct trace_at {
  uint64_t time_ns;
  uint32_t thread;
};

enum trace_source { TRACE_SOURCE_NORMAL, TRACE_SOURCE_MARSHAL, TRACE_SOURCE_CUSTOM };

struct trace_sample {
  uint64_t time_ns;
  uint32_t thread;
  uint32_t stack;
  uint64_t block; /* a number of its own for each sampled block; near the number before, for short records */
  uint64_t size;  /* in bytes */
  uint64_t words; /* how many words had a trial; malloc_words(size) unless the block is unusual */
  uint64_t n_samples;
  uint8_t source; /* enum trace_source; later versions may add to it */
  bool major;     /* a collected heap's block that was not born in the minor heap */
  bool grown; /* realloc grew an unsampled block of previous_size bytes, and the new words took the samples */
  uint64_t previous_size;
};

struct trace_free {
  uint64_t time_ns;
  uint32_t thread;
  uint64_t block;
};

struct trace_resize {
  uint64_t time_ns;
  uint32_t thread;
  uint32_t stack;
  uint64_t block;
  uint64_t size;
  uint64_t words; /* how many words had a trial in the block's life so far */
};

struct trace_unmap {
  uint64_t time_ns;
  uint32_t thread;
  uint32_t module;
};

struct trace_thread_name {
  uint64_t time_ns;
  uint32_t thread;
  struct trace_text name;
};

struct trace_memory {
  uint64_t time_ns;
  uint32_t thread;
  uint64_t rss_bytes;
  uint64_t private_bytes; /* resident, and neither of a file nor shared */
};

enum trace_loss_reason {
  TRACE_LOSS_CALLER,  /* the recorder could not follow a block */
  TRACE_LOSS_STREAMS, /* more threads wrote at once than there are streams */
  TRACE_LOSS_SPACE,   /* the file could not grow */
  TRACE_LOSS_STACK, /* no record is lost, but one has an empty stack, since its own needs more than a chunk */
  TRACE_LOSS_REASONS
};

/* So many records are missing since the last report for the same reason. */
struct trace_loss {
  uint64_t time_ns;
  uint32_t thread;
  uint8_t reason; /* enum trace_loss_reason; later versions may add to it */
  uint64_t count;
};

enum trace_end_kind {
  TRACE_END_EXIT,   /* code is the exit status */
  TRACE_END_SIGNAL, /* code is the signal */
  TRACE_END_EXEC,   /* the process became another program */
  TRACE_END_STOP,   /* profiling was stopped; the program went on */
  TRACE_END_LEFT    /* code is the exit status, but no exit handler ran: _exit, quick_exit, or a bare exec */
};

/* The process asks to become another program. It did if the trace's END says so. */
struct trace_exec {
  uint64_t time_ns;
  uint32_t thread;
  struct trace_text path; /* as the program named it; empty if it did not */
};

struct trace_end {
  uint64_t time_ns;
  uint32_t thread;
  uint8_t kind; /* enum trace_end_kind; later versions may add to it */
  int32_t code;
};

/* What a collected heap tells of itself. */

struct trace_promote {
  uint64_t time_ns;
  uint32_t thread;
  uint64_t block;
};

enum trace_collection_kind {
  TRACE_COLLECTION_MINOR,
  TRACE_COLLECTION_MAJOR, /* a whole cycle */
  TRACE_COLLECTION_NONE   /* the trace begins, or ends */
};

/* What counts is what happened since the heap was opened, and was settled by then: so a record that is missing takes
 * nothing away. */
struct trace_collection {
  uint64_t time_ns; /* of the end */
  uint32_t thread;
  uint8_t kind; /* enum trace_collection_kind; later versions may add to it */
  uint64_t ns;  /* from its begin; in a minor one the world was stopped so long */
  uint64_t minor_words, promoted_words, direct_words; /* direct: born in the major heap; headers included */
  uint64_t minor_collections, major_cycles;
  uint64_t heap_words; /* of the major heap */
  uint64_t live_words; /* that the last cycle found; 0 before */
  uint64_t domains;
};

enum trace_pause_kind {
  TRACE_PAUSE_MINOR, /* the domain stopped the others, and collected */
  TRACE_PAUSE_SLICE, /* it marked or swept */
  TRACE_PAUSE_STOP,  /* it waited for another that had stopped the world */
  TRACE_PAUSES
};

struct trace_pause {
  uint64_t time_ns; /* of its end */
  uint32_t thread;
  uint64_t domain;
  uint8_t kind; /* enum trace_pause_kind; later versions may add to it */
  uint64_t ns;
  uint64_t count, total_ns; /* of this kind, in all domains, since the trace began, this one included */
};

enum trace_domain_what { TRACE_DOMAIN_BEGINS, TRACE_DOMAIN_ENDS };

struct trace_domain {
  uint64_t time_ns;
  uint32_t thread;
  uint64_t domain; /* its number, which never comes again */
  uint8_t what;    /* enum trace_domain_what; later versions may add to it */
};

/* The number of each record kind in the file. */
enum trace_record {
#define TRACE_EVENT(NAME, type, EVENT, number, framing, fields) TRACE_RECORD_##NAME = number,
#define TRACE_DEFINITION(NAME, number, framing)                 TRACE_RECORD_##NAME = number,
#include "trace/events.def"
};

enum trace_kind {
  TRACE_SAMPLE = 1,
  TRACE_FREE,
  TRACE_RESIZE,
  TRACE_UNMAP,
  TRACE_THREAD_NAME,
  TRACE_MEMORY,
  TRACE_LOSS,
  TRACE_END,
  TRACE_EXEC,
  TRACE_PROMOTE,
  TRACE_COLLECTION,
  TRACE_PAUSE,
  TRACE_DOMAIN
};

struct trace_event {
  enum trace_kind kind;
  union {
    struct trace_at at; /* good for every kind */
    struct trace_sample sample;
    struct trace_free free;
    struct trace_resize resize;
    struct trace_unmap unmap;
    struct trace_thread_name thread_name;
    struct trace_memory memory;
    struct trace_loss loss;
    struct trace_end end;
    struct trace_exec exec;
    struct trace_promote promote;
    struct trace_collection collection;
    struct trace_pause pause;
    struct trace_domain domain;
  };
};

#endif
/* SPDX-License-Identifier: MIT */
