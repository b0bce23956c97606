/* The traces of the programs that one process was, one after another by exec.
 *
 * The first is FILE itself, the others are FILE.exec1, FILE.exec2 and so on (EXEC in
 * preload/process.c). At the end FILE is to be the trace of the program that did the work: the last
 * one, unless another one has clearly allocated more, by twice and a few samples. A trace of
 * another program that allocated a tenth of that or more is kept beside it, that of the first
 * program as FILE.exec0. The rest are removed: a wrapper's few samples are in nobody's way then. */
#ifndef CLI_CHAIN_H
#define CLI_CHAIN_H

#include "cli/unrecorded.h"
#include "trace/event.h"
#include "trace/finish.h"
#include <stdbool.h>
#include <stddef.h>

enum { EXEC_CHAIN_MOST = 41 };

struct chain_link {
  char *path;       /* where the trace is now; NULL: it was removed, or there was none to read */
  const char *name; /* the program's, as it was asked for; NULL: not known */
  struct trace_totals totals;
};

struct exec_chain {
  struct chain_link links[EXEC_CHAIN_MOST];
  size_t count, main;              /* links[main] is FILE now */
  struct unrecorded_program after; /* what the last link became, without a record of it */
};

/* Removes what an earlier run has left under such names, if it is traces. Removes nothing, and fails
 * with WN_EBUSY and its reason as wn_last_error, if one of them is still written: by a program that
 * outlived its recording. The caller has reserved `output`. */
wn_status chain_begin(const char *output);

/* When the process has ended: finishes all traces and gives them their names. `first` is the name
 * of the program that was started. What the traces tell of other processes that were not recorded
 * goes to `unrecorded`. Fails if not even the first trace can be read, with the reason as
 * wn_last_error. */
wn_status chain_finish(struct exec_chain *chain, const char *output, const char *first,
                       const struct trace_finishing *finishing, struct unrecorded *unrecorded);

/* The trace of what the process of a trace became by exec, `end_ns` after its trace began, if it lies
 * beside that one under such a name, also while the recording goes on. NULL: none. The caller frees
 * it. */
char *chain_next(const char *path, const struct trace_run *run, uint64_t end_ns);

/* Says which program the trace is of, if the process was more than one. */
void chain_say(const struct exec_chain *chain);
void chain_free(struct exec_chain *chain);

#endif
/* SPDX-License-Identifier: MIT */
