/* The traces of the programs that one process was, one after another by exec.
 *
 * The first trace is FILE itself, the others are FILE.exec1, FILE.exec2 and so on (EXEC and CHAIN
 * in preload/process.c). When the process has ended, FILE shall be the trace of the main program,
 * the one that did the work: the last program, unless another one allocated clearly more (more than
 * twice as much, and a few samples more). The trace of any other program that allocated at least a
 * tenth of that is kept; that of the first program is then FILE.exec0. All other traces are
 * removed, so that the few samples of a wrapper script do not distract.
 *
 * FILE is OUTPUT of `winnow record`, or the name of the first trace of a followed child
 * (children.h).
 *
 * OTHERS' FILES: the names of traces can be guessed, so a file of another program or user may have
 * such a name. A file is removed only if it is a trace or empty, belongs to this user, and no
 * process writes it (its lock is free). No file is overwritten: a trace whose new name is taken
 * gets the next free number, or keeps its name. A process may open a trace that is being removed:
 * it notices this under the lock and creates the file again (chunk_file.c).
 */
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
  char *path;       /* the present path of the file; NULL: it was removed */
  const char *name; /* the program, as the exec named it; NULL: not known */
  wn_status status; /* of reading the trace; if that failed, there are no totals */
  struct trace_totals totals;
};

struct exec_chain {
  struct chain_link links[EXEC_CHAIN_MOST];
  size_t count, main;              /* links[main] is the main program; its trace becomes FILE */
  struct unrecorded_program after; /* the program without a trace that the last one became */
};

/* Whether a link has a trace that could be read. */
static inline bool chain_has(const struct exec_chain *chain, size_t link) {
  return chain->links[link].path && !chain->links[link].status;
}

/* Removes the traces that an earlier run left under such names. If one of them is still being
 * written, by a program that outlived its recording, removes nothing and fails with WN_EBUSY;
 * wn_last_error says why. The caller has reserved `output`. */
wn_status chain_begin(const char *output);

/* Finishes all traces after the process has ended, chooses the main program and renames the files.
 * `first` is the name of the program that was started. Programs of other processes that were not
 * recorded, as the traces report them, are added to `unrecorded`. Fails if no trace can be read;
 * wn_last_error says why. */
wn_status chain_finish(struct exec_chain *chain, const char *output, const char *first,
                       const struct trace_finishing *finishing, struct unrecorded *unrecorded);

/* The same for a process that may still run. Its first trace is `file`. The bits of `numbers` say
 * which files are its own: bit 0 is `file`, bit N is `file`.execN; at least one bit is set.
 * Finishes each trace that can be finished. If the process still writes one of them (a status is
 * WN_EBUSY), all keep their names: the process may become more programs, and the names keep the
 * order of their traces. */
void chain_join(struct exec_chain *chain, const char *file, uint64_t numbers, struct unrecorded *unrecorded);

/* Removes FILE.execN if an earlier run left it and no process writes it. */
void chain_remove_old(const char *file, size_t number);

/* The path of the trace of the program that the process of a trace became by exec, `end_ns` after
 * its trace began. The trace must have one of the names above; the recording may still go on. NULL:
 * none. The caller frees it. */
char *chain_next(const char *path, const struct trace_run *run, uint64_t end_ns);

/* Prints which program the trace is of, if the process was more than one. */
void chain_say(const struct exec_chain *chain);
void chain_free(struct exec_chain *chain);

#endif
/* SPDX-License-Identifier: MIT */
