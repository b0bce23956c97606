/* The control file of a recording: one page that the recorded process and commands share.
 *
 * The recorded process creates the file beside its trace, readable and writable for its user alone, and
 * maps it. A command opens it, and asks for another rate of sampling; 0 stops sampling. The process looks
 * at one word of the page now and then, when an allocation takes the slow path, and does what is asked.
 * It has no thread, no signal handler and no socket for this.
 *
 * What is asked is a rate, for a time or for ever; or a budget, by which the process changes the rate
 * itself, beginning with that one.
 *
 * A command asks:                              A thread of the process:
 *   1. locks the file (flock);                   1. sets `busy`; if that was set, another thread does it;
 *   2. stores rate and time for the next number; 2. reads `asked`; if that is `done`, there is nothing to do;
 *   3. increments `asked`.                       3. reads its rate and time, and samples by them;
 *                                                4. stores `rate`, `until_ns`, `done`, and clears `busy`.
 *
 * Even and odd numbers have a place each. So a command that is killed before its third step has asked for
 * nothing: what it stored stands beside the request before it, and the next command writes over that. Two
 * commands ask one after the other, and the last one's rate holds. A thread that is slow in its third step
 * may read the rate of a later number; that number is left to the next look of any thread, which finds
 * that rate in effect. A request for the sampling in effect is done, but it is no change: the trace does
 * not record it. tests/models/control.pml proves it.
 *
 * TIMED. What is asked may end after a time, which begins as the process does it: a process that allocates
 * little looks late. `until_ns`, if it is not 0, is the time of the monotonic clock at which the process
 * sets the rate to 0 by itself, so no command has to live until then.
 *
 * CUT. Another program may make the file shorter. A load or store of the page would then end the process
 * by SIGBUS, whatever was looked at before. So the process accesses the page by system calls that copy a
 * word of its own memory, and fail where there is none; from then on nothing can be asked. Where a filter
 * may end the process for these calls, or the system lacks them, it does load and store (`direct`).
 *
 * FORKED. A signal handler may interrupt the thread in any step, and fork; in the child the thread goes on
 * with the page that it had. So in the child, which is `alone`, memory of its own takes the place of the
 * parent's page, and what was claimed of another page changes nothing.
 *
 * The counts of the page are for `winnow status`; the process stores them when it measures its memory. */
#ifndef TRACE_CONTROL_H
#define TRACE_CONTROL_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTROL_ENDING ".control"

enum { CONTROL_VERSION = 3, CONTROL_BYTES = 4096, CONTROL_PATH_MOST = PATH_MAX + sizeof CONTROL_ENDING };

/* How blocks are sampled. */
struct control_sampling {
  double rate;   /* 0: nothing is sampled */
  double budget; /* the part of the processor time that recording may take: the rate begins so, and
                  * follows the load; 0: it is constant */
};

struct control_counts {
  _Atomic(uint64_t) time_ns;     /* of the monotonic clock, when these were stored */
  _Atomic(uint64_t) samples;     /* sampled blocks so far */
  _Atomic(uint64_t) live;        /* of them still allocated */
  _Atomic(uint64_t) lost;        /* records and blocks that are missing from the trace */
  _Atomic(uint64_t) trace_bytes; /* of the file */
  _Atomic(uint64_t) cost_ns;     /* processor time spent on recording, in all threads */
};

struct control_page {
  /* Written before the file has its name; constant afterwards. */
  unsigned char magic[8];
  uint32_t version, pid;
  uint64_t began_ns, began_wall_ns; /* the monotonic and the wall clock, at time 0 of the trace */
  struct control_sampling usual;    /* of a start that names none */
  /* Written by commands. */
  _Alignas(64) _Atomic(uint64_t) asked;
  struct control_asked {
    _Atomic(double) rate, budget;
    _Atomic(uint64_t) duration_ns; /* 0: for ever */
  } of[2];                         /* of the number asked, and of the next one: by the number modulo 2 */
  /* Written by the process. */
  _Alignas(64) _Atomic(uint64_t) done;
  _Atomic(double) rate, budget; /* now */
  _Atomic(uint64_t) until_ns;
  _Alignas(64) struct control_counts counts;
};

extern const unsigned char control_magic[8];

/* The length of the trace's name in the name of its control file, or in that of one which is being made;
 * 0: it is another name. */
size_t control_name_of(const char *name);

/* The process's side. Zeros are a recording without a control file. */
struct control {
  struct control_page *_Atomic page;
  _Atomic(bool) busy;           /* a thread looks, or does what is asked */
  _Atomic(bool) direct;         /* CUT */
  _Atomic(uint64_t) done;       /* the number of the request that was done last */
  _Atomic(uint64_t) until_ns;   /* TIMED; 0: none */
  _Atomic(double) rate, budget; /* now */
  char path[CONTROL_PATH_MOST]; /* empty: there is no file to remove */
};

/* Creates the file of the trace at `trace_path`, of a process that samples so at first. False: it
 * could not be created, and nothing can be asked. Neither allocates nor takes a lock. */
bool control_create(struct control *control, const char *trace_path, const struct control_sampling *first,
                    const struct control_sampling *usual);

/* Whether there is anything to look at: a page, or a time that may be over. */
static inline bool control_is_open(struct control *control) {
  return atomic_load_explicit(&control->page, memory_order_relaxed) ||
         atomic_load_explicit(&control->until_ns, memory_order_relaxed);
}

/* What is to be done: the caller samples so, if that `changes` anything, and then calls control_done. */
struct control_request {
  struct control_page *page;
  uint64_t number, until_ns;
  struct control_sampling sampling;
  bool changes;
  bool timed; /* it is the end of a time, and no command asks */
};

/* Claims what is asked, until control_done. False: nothing is, or another thread does it. */
bool control_claim(struct control *control, struct control_request *request);
void control_done(struct control *control, const struct control_request *request);

/* The process changes the rate by itself. While it does, it holds the page as if it did what is
 * asked: control_hold is false if a thread does that. */
bool control_hold(struct control *control);
void control_set_rate(struct control *control, double rate);
void control_let_go(struct control *control);

/* Stores counts of the page. */
void control_publish(struct control *control, const struct control_counts *counts);

/* control_remove: the process ends: nothing can be asked any more, and the file goes.
 * control_forget leaves the file where it is. Both are async-signal-safe. */
void control_remove(struct control *control);
void control_forget(struct control *control, bool alone);

#endif
/* SPDX-License-Identifier: MIT */
