/* The recorder: a profile whose callbacks write a trace. The only part that knows both profiles and
 * traces. */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include "base/image.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <winnow/memprof.h>
#include <winnow/status.h>

struct callstacks;
struct recorder;

struct recorder_options {
  const char *path;
  const char *heap; /* what kind of heap: "malloc" or "winnow" */
  double rate;
  uint64_t seed;
  uint32_t stack_depth;
  bool generations; /* blocks are born in a minor heap, or else in the major one */

  /* A trace that was written then or later (since 1970) is another process's: WN_EBUSY. 0: none
   * is. */
  uint64_t taken_since_ns;

  /* Of the heap: its interned callstacks, and the calling thread's number in the trace, which never
   * comes again. */
  struct callstacks *callstacks;
  uint32_t (*thread)(wn_domain *domain);

  /* Called where the process's memory is measured: to measure what the program mapped itself. True
   * if that was done. `last`: the program ends. NULL: there is nothing of that. */
  bool (*measure)(uint64_t rss_bytes, bool last);
};

/* Creates the trace. One recorder is one file; nothing here allocates through malloc or takes a
 * lock that the program can hold. On failure wn_last_error tells why and no file is left open. */
wn_status recorder_open(const struct recorder_options *options, struct recorder **recorder);

/* The callbacks to start a profile with. They may be called from any thread at once. */
wn_tracker recorder_tracker(struct recorder *recorder);

/* False in a forked child, however it was forked, where the system can tell (Linux 4.14): the trace
 * is the parent's, and no lock may be waited for, since a thread that holds it may not be here. */
bool recorder_is_ours(const struct recorder *recorder);

/* A sampled block could not be followed: it is counted in the trace. */
void recorder_lost(struct recorder *recorder, uint64_t blocks);

/* Whether the trace is worth a file beside that of the program which the process becomes: it has
 * TRACE_FEW_HITS sampled words and `least_hits` of them, of which 65536 are counted; or it tells of
 * another process, by recorder_unrecorded. */
bool recorder_is_worth_a_file(const struct recorder *recorder, double least_hits);

/* The process's memory is about to change much: measures it, if the last time is some while ago. */
void recorder_memory(struct recorder *recorder);

/* What the program maps itself. */
enum recorder_map_kind {
  RECORDER_MAP_ANONYMOUS,
  RECORDER_MAP_FILE,
  RECORDER_MAP_SHARED, /* anonymous, and shared with other processes */
  RECORDER_MAP_BREAK,  /* by moving the end of the data segment */
  RECORDER_MAP_STACK   /* a thread's stack: the C library's, or the kernel's for the first thread */
};
void recorder_map(struct recorder *recorder, uint64_t mapping, enum recorder_map_kind kind, uint64_t bytes,
                  uint32_t stack);
void recorder_map_size(struct recorder *recorder, uint64_t mapping, uint64_t bytes);
/* `files`: how many of the bytes were of a file or shared. */
void recorder_map_touched(struct recorder *recorder, uint64_t mapping, uint64_t bytes, uint64_t files);

/* Modules may have been unloaded (after dlclose). */
void recorder_modules_changed(struct recorder *recorder);

/* The calling thread ends: only now its name is sure. */
void recorder_thread_ends(struct recorder *recorder);

/* How a collected heap lives. What is counted, words with headers, counts since the heap was
 * opened. */
struct recorder_heap {
  uint64_t minor_words, promoted_words, direct_words; /* direct: of blocks that were born in the major heap */
  uint64_t minor_collections, major_cycles;
  uint64_t heap_words, live_words; /* of the major heap; that the last cycle found live */
  uint64_t domains;
};
enum recorder_collection { RECORDER_MINOR, RECORDER_MAJOR, RECORDER_NEITHER };
enum recorder_pause { RECORDER_PAUSE_MINOR, RECORDER_PAUSE_SLICE, RECORDER_PAUSE_STOP, RECORDER_PAUSES };

/* A collection ended after so many nanoseconds, or (RECORDER_NEITHER) the trace is at one of its
 * ends. `ask` tells how the heap is; it is called only if something is written, which is not so for
 * each of many minor collections. Never by two threads at once. */
void recorder_collection(struct recorder *recorder, wn_domain *domain, enum recorder_collection kind,
                         uint64_t ns, void (*ask)(void *context, struct recorder_heap *heap), void *context);

/* A domain, which has this number, stood still until now. Any thread. */
void recorder_pause(struct recorder *recorder, wn_domain *domain, uint64_t number, enum recorder_pause kind,
                    uint64_t ns);

/* A domain begins, or ends. */
void recorder_domain(struct recorder *recorder, uint64_t number, bool begins);

/* Writes what recorder_pause has counted and not written. No domain runs. */
void recorder_pauses_end(struct recorder *recorder);

/* The program ends by exit(status), or profiling is stopped: writes what is left to say. Events
 * after it are still written, since other exit handlers go on freeing. */
void recorder_exit(struct recorder *recorder, int status);
void recorder_stop(struct recorder *recorder);

/* The program leaves by _exit: measures it a last time. How it ends is for others to say.
 * Async-signal-safe. */
void recorder_leaves(struct recorder *recorder);

/* A process, this one or one that it started, becomes a program that cannot be recorded. Of this
 * process it holds if an exec follows and does not fail. May be called in a child of vfork. */
void recorder_unrecorded(struct recorder *recorder, pid_t pid, enum image_kind reason, const char *path);

/* Before an exec, `path` as the program named it: from here on the trace says that the process
 * became another program. When the exec failed, recorder_exec_failed with the number returned takes
 * that back. */
unsigned recorder_exec(struct recorder *recorder, const char *path);
void recorder_exec_failed(struct recorder *recorder, unsigned number);

/* Gives everything back. No callback runs any more, nor will. */
void recorder_close(struct recorder *recorder);

/* In a forked child: the trace stays the parent's, nothing is written any more. */
void recorder_forget(struct recorder *recorder);

#endif
/* SPDX-License-Identifier: MIT */
