/* The traces of the programs that one process was, one after another by exec.
 *
 * The first is FILE itself, the others are FILE.exec1, FILE.exec2 and so on (EXEC and CHAIN in
 * preload/process.c). At the end FILE is to be the trace of the program that did the work: the last
 * one, unless another one has clearly allocated more, by twice and a few samples. A trace of
 * another program that allocated a tenth of that or more is kept beside it, that of the first
 * program as FILE.exec0. The rest are removed: a wrapper's few samples are in nobody's way then.
 *
 * FILE is OUTPUT of `winnow record`, or the name of the first trace of a child that is followed
 * (children.h).
 *
 * OTHERS' FILES: names of traces can be guessed, so any file may have such a name. A file is
 * removed only if it is a trace or empty, is this user's, and is not written (its lock is free).
 * No file is overwritten: a trace whose new name is taken gets the next number that is free, or
 * keeps its name. A process may open a trace that is being removed: it finds that out under the
 * lock, and creates the file again (chunk_file.c). */
#ifndef CLI_CHAIN_H
#define CLI_CHAIN_H

#include "cli/unrecorded.h"
#include "trace/event.h"
#include "trace/finish.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXEC_CHAIN_MOST = 41 };

struct chain_link {
  char *path;       /* where the file is now; NULL: it was removed */
  const char *name; /* the program's, as it was asked for; NULL: not known */
  wn_status status; /* of reading it: where that failed, there are no totals */
  struct trace_totals totals;
};

struct exec_chain {
  struct chain_link links[EXEC_CHAIN_MOST];
  size_t count, main;              /* links[main] is FILE now */
  struct unrecorded_program after; /* what the last link became, without a record of it */
};

/* Whether a link has a trace that could be read. */
static inline bool chain_has(const struct exec_chain *chain, size_t link) {
  return chain->links[link].path && !chain->links[link].status;
}

/* Removes what an earlier run has left under such names, if it is traces. Removes nothing, and
 * fails with WN_EBUSY and its reason as wn_last_error, if one of them is still written: by a
 * program that outlived its recording. The caller has reserved `output`. */
wn_status chain_begin(const char *output);

/* When the process has ended: finishes all traces and gives them their names. `first` is the name
 * of the program that was started. What the traces tell of other processes that were not recorded
 * goes to `unrecorded`. Fails if not even the first trace can be read, with the reason as
 * wn_last_error. */
wn_status chain_finish(struct exec_chain *chain, const char *output, const char *first,
                       const struct trace_finishing *finishing, struct unrecorded *unrecorded);

/* The same for a process that may live on, whose first trace is `file`. The bits of `numbers`
 * say which files are its own: bit 0 `file`, bit N `file`.execN; there is one at least. Each is
 * finished that can be. If the process writes one of them (a status is WN_EBUSY), all keep their
 * names: the process may become more programs, and its traces are in their order then. */
void chain_join(struct exec_chain *chain, const char *file, uint64_t numbers, struct unrecorded *unrecorded);

/* Removes FILE.execN if an earlier run has left it and nobody writes it. */
void chain_remove_old(const char *file, size_t number);

/* The trace of what the process of a trace became by exec, `end_ns` after its trace began, if it
 * lies beside that one under such a name, also while the recording goes on. NULL: none. The
 * caller frees it. */
char *chain_next(const char *path, const struct trace_run *run, uint64_t end_ns);

/* Says which program the trace is of, if the process was more than one. */
void chain_say(const struct exec_chain *chain);
void chain_free(struct exec_chain *chain);

#endif
/* SPDX-License-Identifier: MIT */
