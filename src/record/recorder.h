/* The recorder: a profile whose callbacks write a trace. The only part that knows both profiles and
 * traces. */
#pragma once

#include "base/cgroup.h"
#include "base/image.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <winnow/memprof.h>
#include <winnow/status.h>

struct callstacks;
struct callstack_place;
struct recorder;

/* What an allocator told of itself: the members of struct trace_memory (trace/events.def). */
enum recorder_allocator { RECORDER_NOT_ASKED, RECORDER_GLIBC, RECORDER_JEMALLOC, RECORDER_TCMALLOC };
struct recorder_answer {
  enum recorder_allocator asked;
  uint64_t in_use_bytes, free_bytes;
};

/* Where the types of blocks come from: there are none; from the tag and the name of custom blocks;
 * or, of blocks that are neither custom nor weak, from the language, by recorder_type. */
enum recorder_types { RECORDER_NO_TYPES, RECORDER_TYPES_OF_TAGS, RECORDER_TYPES_OF_LANGUAGE };

struct recorder_options {
  const char *path;    /* a file, or with a slash at its end a folder (FOLDER in trace/chunk_file.h) */
  const char *heap;    /* what kind of heap: "malloc" or "winnow" */
  const char *context; /* what the program says about this run; NULL: nothing */
  double rate;
  uint64_t seed;
  uint32_t stack_depth;
  uint64_t bound_bytes; /* most disk space of the trace's file; 0: no bound */
  bool generations;     /* the heap has a minor and a major heap */
  enum recorder_types types;
  /* RECORDER_TYPES_OF_TAGS: what the language calls blocks of a tag; NULL, or it returns NULL: nothing.
   * Called in the middle of an allocation, only if the trace does not have the name. */
  const char *(*tag_name)(unsigned tag, void *context);
  void *tag_context;

  /* The heap's table of code addresses, and a function that returns the calling thread's number in
   * the trace; no other thread ever has that number. */
  struct callstacks *callstacks;
  uint32_t (*thread)(wn_domain *domain);

  /* The rate of the trials of the block that the calling thread reports (RATES of memprof/host.h).
   * NULL: it is always `rate`. */
  double (*trial_rate)(void);

  /* Called when the recorder measures the process's memory: measures what the program mapped
   * itself. True if all of that was measured. `last`: the program ends. NULL: the heap's host does
   * not know what the program maps. */
  bool (*measure)(uint64_t rss_bytes, bool last);

  /* Called when the recorder measures the process's memory in a call of malloc or realloc, or at
   * exit: asks the allocator below what it holds. Leaves `*answer` as it is if nothing was asked. NULL:
   * it is never asked. */
  void (*ask)(struct recorder_answer *answer, bool last);

  /* Called when the recorder measures the process's memory: the processor time, in nanoseconds, that
   * recording has taken so far, and that of the whole process. Leaves both as they are if it does not
   * know. NULL: nobody knows. */
  void (*spent)(uint64_t *cost_ns, uint64_t *processor_ns);

  /* Called when the recorder measures the process's memory for the first and for the last time, and
   * in between at most once a second: what the process's memory control group reports. False: it is
   * not known. NULL: nobody knows. */
  bool (*group)(struct cgroup_state *state);

  /* Called for each block that is sampled in a forked child (recorder_is_ours). NULL: nothing is
   * called. */
  void (*stray)(void);
};

/* Creates the trace. A recorder writes one file. Nothing here allocates through malloc or takes a
 * lock that the program can hold. On failure wn_last_error says why, and no file is left open. */
wn_status recorder_open(const struct recorder_options *options, struct recorder **recorder);

/* The callbacks to start a profile with. Several threads may call them at once. */
wn_tracker recorder_tracker(struct recorder *recorder);

/* False in a forked child, also after the bare system call, if the system can mark that (Linux
 * 4.14). The trace is the parent's, and the child must not wait for a lock, since the thread that
 * holds it may not exist here. */
bool recorder_is_ours(const struct recorder *recorder);

/* Writes to the trace how many sampled blocks could not be followed. */
void recorder_lost(struct recorder *recorder, uint64_t blocks);

/* How many records and blocks the trace lacks so far, and how large its file is. */
uint64_t recorder_lost_records(const struct recorder *recorder);
uint64_t recorder_trace_bytes(const struct recorder *recorder);

/* Times of the trace: now, and when the chunk was begun, and sealed, that was dropped last; 0: none
 * was. */
struct recorder_drop {
  uint64_t now_ns, begun_ns, sealed_ns;
};
struct recorder_drop recorder_last_drop(struct recorder *recorder);

/* Whether the trace is worth a file of its own when the process becomes another program: it has at
 * least TRACE_FEW_HITS and at least `least_hits` sampled words, or a record of another process
 * (recorder_unrecorded), or the program had TRACE_FEW_BYTES of resident memory, `resident_bytes`. No more
 * than 65536 sampled words are counted. */
bool recorder_is_worth_a_file(const struct recorder *recorder, double least_hits, uint64_t resident_bytes);

/* The number in the trace of a block with this metadata; 0: its birth is not recorded. */
uint64_t recorder_block_of(void *metadata);

/* Writes the type of a block that the language has told, at a time of the monotonic clock. `name`
 * returns what the language calls the type, or NULL; it is called only if the trace does not have
 * that name yet. */
struct recorder_type {
  void *metadata; /* of the block */
  unsigned type;
  uint64_t ns;
};
void recorder_type(struct recorder *recorder, const struct recorder_type *type,
                   const char *(*name)(unsigned type, void *context), void *context);

/* The whole path of the trace; constant, the recorder's. */
const char *recorder_path(const struct recorder *recorder);

/* Called when the process's memory is about to change much: measures it, if a measurement is
 * due. */
void recorder_memory(struct recorder *recorder);

/* Called when the rate of sampling has changed: writes that. */
enum recorder_rate_cause { /* enum trace_rate_cause */
                           RECORDER_RATE_ASKED,
                           RECORDER_RATE_TIMED,
                           RECORDER_RATE_BUDGET
};
void recorder_rate(struct recorder *recorder, double rate, enum recorder_rate_cause cause);

/* How the program mapped memory. */
enum recorder_map_kind {
  RECORDER_MAP_ANONYMOUS,
  RECORDER_MAP_FILE,
  RECORDER_MAP_SHARED, /* anonymous, and shared with child processes */
  RECORDER_MAP_BREAK,  /* by moving the end of the data segment */
  RECORDER_MAP_STACK,  /* a thread's stack: the C library's, or the kernel's for the first thread */
  RECORDER_MAP_ARENA   /* of WN_SOURCE_PYTHON, for small blocks */
};
void recorder_map(struct recorder *recorder, uint64_t mapping, enum recorder_map_kind kind, uint64_t bytes,
                  const wn_callstack *stack);
void recorder_map_size(struct recorder *recorder, uint64_t mapping, uint64_t bytes);
/* `bytes` are resident; `files` of them belong to a file or are shared. */
void recorder_map_touched(struct recorder *recorder, uint64_t mapping, uint64_t bytes, uint64_t files);

/* Code in no module that stacks which were written have: which function is at the place's address,
 * and since when. */
void recorder_code(struct recorder *recorder, const struct callstack_place *place);

/* Called after dlclose: writes which modules were unloaded. */
void recorder_modules_changed(struct recorder *recorder);

/* Called when the calling thread ends: writes its name, which cannot change any more. */
void recorder_thread_ends(struct recorder *recorder);

/* The state of a collected heap. Numbers of words include headers. Counts begin when the heap is
 * opened. */
struct recorder_heap {
  uint64_t minor_words, promoted_words, direct_words; /* direct: of blocks born in the major heap */
  uint64_t minor_collections, major_cycles;
  uint64_t heap_words, live_words; /* of the major heap; words that the last cycle found live */
  uint64_t domains;
};
enum recorder_collection { RECORDER_MINOR, RECORDER_MAJOR, RECORDER_NEITHER };
enum recorder_pause { RECORDER_PAUSE_MINOR, RECORDER_PAUSE_SLICE, RECORDER_PAUSE_STOP, RECORDER_PAUSES };

/* Called when a collection ended that took `ns` nanoseconds, and with RECORDER_NEITHER at the begin
 * and at the end of the trace. Writes the state of the heap, but not after each of many minor
 * collections. `ask` fills in the state; it is called only if a record is written. Two threads must
 * not call this at once. */
void recorder_collection(struct recorder *recorder, wn_domain *domain, enum recorder_collection kind,
                         uint64_t ns, void (*ask)(void *context, struct recorder_heap *heap), void *context);

/* Called when a domain's pause of `ns` nanoseconds ends. `number` is the domain's. Any thread may
 * call it. */
void recorder_pause(struct recorder *recorder, wn_domain *domain, uint64_t number, enum recorder_pause kind,
                    uint64_t ns);

/* Writes that a domain begins or ends. */
void recorder_domain(struct recorder *recorder, uint64_t number, bool begins);

/* Writes the pauses that recorder_pause has only counted. The caller makes sure that no domain
 * runs. */
void recorder_pauses_end(struct recorder *recorder);

/* Write the last records and the END record: recorder_exit when the program ends by exit(status),
 * recorder_stop when profiling is stopped. Later events are still written, since other exit
 * handlers go on freeing. */
void recorder_exit(struct recorder *recorder, int status);
void recorder_stop(struct recorder *recorder);

/* Called when the program leaves by _exit: measures it for the last time. It writes no END record:
 * `winnow record` knows how the program ended. Async-signal-safe. */
void recorder_leaves(struct recorder *recorder);

/* Writes that a process, this one or one that it started, becomes a program that cannot be
 * recorded. If it is this process, the record counts only if an exec follows and succeeds. May be
 * called in a child of vfork. */
void recorder_unrecorded(struct recorder *recorder, pid_t pid, enum image_kind reason, const char *path);

/* recorder_exec, before an exec: writes that the process became another program, with `path` as the
 * program named it. If the exec fails, recorder_exec_failed with the number that recorder_exec
 * returned takes that back. */
unsigned recorder_exec(struct recorder *recorder, const char *path);
void recorder_exec_failed(struct recorder *recorder, unsigned number);

/* Frees the recorder and closes the trace. The caller makes sure that no callback runs, and that
 * none will. */
void recorder_close(struct recorder *recorder);

/* Called in a forked child: leaves the trace to the parent, and writes nothing any more. */
void recorder_forget(struct recorder *recorder);
/* SPDX-License-Identifier: MIT */
