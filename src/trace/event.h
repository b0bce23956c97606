/* What a trace tells: the run, its modules and the events, as the writer takes them and the reader
 * gives them. */
#ifndef TRACE_EVENT_H
#define TRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* So many sampled words more or less, and a program that never had so much resident memory, tell
 * nothing. */
enum { TRACE_FEW_HITS = 16, TRACE_FEW_BYTES = 8 << 20 };

/* The largest amount that a record can have: bytes, words, samples, nanoseconds of a stretch, and
 * numbers of collections. The reader takes a record with a larger one for damage. So a signed
 * 64-bit number holds the difference of two amounts, and a double any sum. */
#define TRACE_AMOUNT_MOST ((uint64_t)1 << 60)

/* Whether a number can be the rate of a sample: 1e-9 to 1. */
static inline bool trace_rate_samples(double rate) { return rate >= 1e-9 && rate <= 1; }

/* The latest time that an event can have: 146 years. */
#define TRACE_TIME_MOST ((uint64_t)1 << 62)

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
  uint64_t wall_ns;          /* wall clock at time 0 of the trace, since 1970 */
  uint64_t monotonic_ns;     /* monotonic clock at time 0 of the trace */
  struct trace_text context; /* what the program says about this run; empty: nothing */
  /* What the process called itself last, as far as the trace was read; empty: as it began. */
  struct trace_text title;  /* what it wrote over its arguments */
  struct trace_text name;   /* of its first thread */
  struct trace_text writer; /* another profiler and the version of its format: "Memtrace 3"; empty: Winnow */
};

enum { TRACE_BUILD_ID_MAX = 32, TRACE_TEXT_MOST = 255 };

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
  uint32_t line;                      /* 0: unknown */
  uint32_t first_column, last_column; /* characters of the line, from 1 on; 0: unknown */
  uint64_t address, since_ns; /* of code in no module: its address, and since when it is there; or 0 */
};

/* A frame of a stack, and its callers. Every reader gives nodes numbers from 1 on, and a caller's
 * node a lower one than its callees', whatever the file says: so each walk to the outermost frame
 * ends. */
struct trace_node {
  uint32_t parent; /* the caller's node; 0: this is an outermost frame */
  uint32_t module; /* 0: the offset is an address */
  uint64_t offset;
};

/* CUT. Where a stack has more frames than the run's stack_depth, its outermost frame is a mark:
 * this offset in no module, to which nothing returns. */
enum { TRACE_CUT = 1 };
static inline bool trace_is_cut(const struct trace_node *node) {
  return !node->parent && !node->module && node->offset == TRACE_CUT;
}

/* Stretches of time, which do not touch and are in order. */
enum { TRACE_TIMES_MOST = 16 };
struct trace_times {
  uint32_t count;
  struct trace_time_range {
    uint64_t from_ns, until_ns;
  } of[TRACE_TIMES_MOST];
};

/* What is missing from what was read so far. */
struct trace_damage {
  uint64_t chunks_read;
  uint64_t chunks_damaged;    /* with bytes that could not be trusted */
  uint64_t bytes_skipped;     /* so many of them */
  uint64_t records_unknown;   /* of kinds that a newer Winnow writes */
  uint64_t records_lost;      /* that the writer could not write */
  uint64_t stacks_lost;       /* samples whose stack was too large to write, or is in a lost part */
  uint64_t times_raised;      /* events whose time was raised, since the wall clock was set back */
  uint64_t chunks_dropped;    /* that the writer took out, since the file had reached its bound */
  struct trace_times dropped; /* when what was in them was recorded; known once all is read */
  uint8_t loss_cause;         /* why records are lost, the last that was told: enum trace_loss_cause */
  bool complete;              /* the program's end was seen */
  bool thinned;       /* a history has left out samples: other records of their blocks may stand alone */
  bool lacks_history; /* there is no history, or an older one, that has what counts as dropped */
  bool out_of_memory; /* this process had too little memory to go on: the rest was not read */
};

/* Whether the trace lacks records of what happened. */
static inline bool trace_is_partial(const struct trace_damage *damage) {
  return damage->records_lost || damage->chunks_damaged || damage->chunks_dropped;
}

/* Every event begins with these two. Time counts from the start of the run. */
struct trace_at {
  uint64_t time_ns;
  uint32_t thread;
};

enum trace_source {
  TRACE_SOURCE_NORMAL,
  TRACE_SOURCE_MARSHAL,
  TRACE_SOURCE_CUSTOM,
  TRACE_SOURCE_EXTERNAL,
  TRACE_SOURCE_PYTHON /* CPython's objects; what the small ones of them lie in is TRACE_MAP_ARENA */
};

/* What the program mapped by mmap, mremap or sbrk itself. */
enum trace_map_kind {
  TRACE_MAP_ANONYMOUS,
  TRACE_MAP_FILE,
  TRACE_MAP_SHARED, /* anonymous, or memory that has only the form of a file, and shared with others */
  TRACE_MAP_BREAK,  /* by moving the end of the data segment */
  TRACE_MAP_STACK,  /* for a thread's stack */
  TRACE_MAP_ARENA,  /* for the small blocks of TRACE_SOURCE_PYTHON */
  TRACE_MAP_KINDS
};

/* Which allocator told what it holds. */
enum trace_allocator { TRACE_NOT_ASKED, TRACE_GLIBC, TRACE_JEMALLOC, TRACE_TCMALLOC };

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
  TRACE_CAUSE_BOUND,     /* the trace had reached its bound, and no chunk could be dropped */
  TRACE_CAUSES
};

/* "the disk was full", for any number. */
const char *trace_cause_name(unsigned cause);

/* The same in a word or two: "disk". */
const char *trace_cause_word(unsigned cause);

/* Why the rate of sampling changes. */
enum trace_rate_cause {
  TRACE_RATE_ASKED, /* by a command */
  TRACE_RATE_TIMED, /* the time is over for which a command asked */
  TRACE_RATE_BUDGET /* the process follows its budget, or the bounds of its memory and its trace */
};

enum trace_end_kind {
  TRACE_END_EXIT,   /* code is the exit status */
  TRACE_END_SIGNAL, /* code is the signal */
  TRACE_END_EXEC,   /* the process became another program */
  TRACE_END_STOP,   /* profiling was stopped; the program went on */
  TRACE_END_LEFT    /* code is the exit status, but no exit handler ran: _exit, quick_exit, or a bare exec */
};

/* Why a signal ended the process, where that is known. */
enum trace_end_cause {
  TRACE_END_BY_ANYTHING,
  TRACE_END_FOR_MEMORY /* the system killed it, for a limit of memory */
};

static inline bool trace_was_killed_for_memory(uint8_t kind, uint8_t cause) {
  return kind == TRACE_END_SIGNAL && cause == TRACE_END_FOR_MEMORY;
}

enum trace_collection_kind {
  TRACE_COLLECTION_MINOR,
  TRACE_COLLECTION_MAJOR, /* a whole cycle */
  TRACE_COLLECTION_NONE   /* the trace begins, or ends */
};

enum trace_pause_kind {
  TRACE_PAUSE_MINOR, /* the domain stopped the others, and collected */
  TRACE_PAUSE_SLICE, /* it marked or swept */
  TRACE_PAUSE_STOP,  /* it waited for another that had stopped the world */
  TRACE_PAUSES
};

enum trace_domain_what { TRACE_DOMAIN_BEGINS, TRACE_DOMAIN_ENDS };

/* The number of each record kind in the file. */
enum trace_record {
#define TRACE_EVENT(NAME, type, EVENT, number, framing, fields) TRACE_RECORD_##NAME = number,
#define TRACE_DEFINITION(NAME, number, framing)                 TRACE_RECORD_##NAME = number,
#include "trace/events.def"
};

/* The structs of all kinds of events, struct trace_sample and so on: events.def. */
#define TRACE_MEMBER(ctype, member) ctype member;
#define TRACE_STRUCT(type, EVENT, WRITER, members) \
  struct trace_##type {                            \
    uint64_t time_ns;                              \
    uint32_t thread;                               \
    members                                        \
  };
#include "trace/events.def"
#undef TRACE_MEMBER

enum trace_kind {
#define TRACE_STRUCT(type, EVENT, WRITER, members) TRACE_##EVENT,
#include "trace/events.def"
};

struct trace_event {
  enum trace_kind kind;
  union {
    struct trace_at at; /* good for every kind */
#define TRACE_STRUCT(type, EVENT, WRITER, members) struct trace_##type type;
#include "trace/events.def"
  };
};

#endif
/* SPDX-License-Identifier: MIT */
