/* What a trace tells: the run, its modules and the events, as the writer takes them and the reader
 * gives them. */
#ifndef TRACE_EVENT_H
#define TRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of the programs that one process was: so many sampled words more or less tell nothing. */
enum { TRACE_FEW_HITS = 16 };

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
  /* What the process called itself last, as far as the trace was read; empty: as it began. */
  struct trace_text title; /* what it wrote over its arguments */
  struct trace_text name;  /* of its first thread */
};

enum { TRACE_BUILD_ID_MAX = 32 };

/* A file mapped into the process. Generation tells apart two mappings of one file at one
 * address. */
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
  uint64_t peak_bytes;    /* the largest resident size so far, by the kernel's count; 0: it was not asked */
  uint64_t complete;      /* 1: what the program mapped itself was measured just before (map_touched) */
  uint64_t own_bytes;     /* of the private ones about so many are the recorder's */
};

/* What the program mapped by mmap, mremap or sbrk itself. */
enum trace_map_kind {
  TRACE_MAP_ANONYMOUS,
  TRACE_MAP_FILE,
  TRACE_MAP_SHARED, /* anonymous, or memory that has only the form of a file, and shared with others */
  TRACE_MAP_BREAK,  /* by moving the end of the data segment */
  TRACE_MAP_STACK,  /* for a thread's stack */
  TRACE_MAP_KINDS
};

struct trace_map {
  uint64_t time_ns;
  uint32_t thread;
  uint32_t stack;
  uint64_t mapping; /* its number, which never comes again */
  uint8_t kind;     /* enum trace_map_kind; later versions may add to it */
  uint64_t bytes;
};

struct trace_map_size {
  uint64_t time_ns;
  uint32_t thread;
  uint64_t mapping;
  uint64_t bytes; /* 0: it is gone */
};

struct trace_map_touched {
  uint64_t time_ns;
  uint32_t thread;
  uint64_t mapping;
  uint64_t bytes; /* that were resident then */
  uint64_t files; /* of these, of a file or shared */
};

enum trace_loss_reason {
  TRACE_LOSS_CALLER,  /* the recorder could not follow a block */
  TRACE_LOSS_STREAMS, /* more threads wrote at once than there are streams */
  TRACE_LOSS_SPACE,   /* the file could not grow */
  TRACE_LOSS_STACK, /* no record is lost, but one has an empty stack, since its own needs more than a chunk */
  TRACE_LOSS_REASONS
};

/* Why the file could not grow. */
enum trace_loss_cause {
  TRACE_CAUSE_UNKNOWN,
  TRACE_CAUSE_DISK,      /* the disk was full */
  TRACE_CAUSE_QUOTA,     /* the user's part of it was */
  TRACE_CAUSE_FILE_SIZE, /* a limit on the size of files */
  TRACE_CAUSE_MEMORY,    /* the address space was exhausted */
  TRACE_CAUSE_FILE,      /* the file could not be opened again, or an error of the device */
  TRACE_CAUSES
};

/* "the disk was full", for any number. */
const char *trace_cause_name(unsigned cause);

/* The same in a word or two: "disk". */
const char *trace_cause_word(unsigned cause);

/* So many records are missing since the last report for the same reason. */
struct trace_loss {
  uint64_t time_ns;
  uint32_t thread;
  uint8_t reason; /* enum trace_loss_reason; later versions may add to it */
  uint64_t count;
  uint8_t cause; /* of TRACE_LOSS_SPACE: enum trace_loss_cause; later versions may add to it */
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

/* What the process is called now: programs write over their arguments, and name their first thread.
 */
struct trace_title {
  uint64_t time_ns;
  uint32_t thread;
  struct trace_text title, name; /* as in trace_run */
};

/* A process became a program that cannot be recorded. If it is the process of the trace, then
 * only if END is an exec. */
struct trace_unrecorded {
  uint64_t time_ns;
  uint32_t thread;
  uint64_t pid;
  uint8_t reason; /* enum image_kind of base/image.h; later versions may add to it */
  struct trace_text path;
};

struct trace_end {
  uint64_t time_ns;
  uint32_t thread;
  uint8_t kind; /* enum trace_end_kind; later versions may add to it */
  int32_t code;
  uint64_t peak_bytes; /* as that of memory, of the whole life */
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

/* What counts is what happened since the heap was opened, and was settled by then: so a record that
 * is missing takes nothing away. */
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
  TRACE_DOMAIN,
  TRACE_TITLE,
  TRACE_UNRECORDED,
  TRACE_MAP,
  TRACE_MAP_SIZE,
  TRACE_MAP_TOUCHED
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
    struct trace_title title;
    struct trace_unrecorded unrecorded;
    struct trace_map map;
    struct trace_map_size map_size;
    struct trace_map_touched map_touched;
    struct trace_promote promote;
    struct trace_collection collection;
    struct trace_pause pause;
    struct trace_domain domain;
  };
};

#endif
/* SPDX-License-Identifier: MIT */
