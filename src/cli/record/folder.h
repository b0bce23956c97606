/* The folder in which the programs of a recording write their traces.
 *
 * While `winnow record` runs, FILE is a folder, since the program may become others by exec, and its
 * children may be recorded too. The traces in it have names that no two processes share (FOLDER in
 * trace/chunk_file.h). Their records tell which process wrote each, when, and how it ended.
 *
 * KEPT. When the program has ended, traces that tell nothing are removed:
 * - of the programs that one process was, one after another by exec: that of a program that allocated less
 *   than a tenth of what another one of them did, or that has only a few samples (such as a wrapper script),
 *   if it also had less than a tenth of the resident memory of another one, or little;
 * - that of a process that has only a few samples and little resident memory, unless all such
 *   traces together have more than a twentieth of all samples; without any sample it is removed all
 *   the same. The trace of a program that was ended by a signal is kept, and one that is damaged or
 *   has lost records, or that has a history. One trace is always kept. If no more than one is, and
 *   no process writes it, FILE becomes that file; otherwise it remains a folder. It does also if
 *   its name was given with a slash at its end.
 *
 * OTHERS' FILES. A folder that exists is used if it has nothing but traces of this user's that no process
 * writes; they are removed. So is a file with the name FILE, if it is such a trace.
 *
 * LIVING. A trace is removed under its lock, if it is still what was read. A process that has become
 * another program may be about to write over the trace (OVER in preload/process.c): as long as it
 * lives, its trace counts as being written.
 *
 * HISTORIES. The history of a trace (cli/history_file.h) is moved and removed with it.
 *
 * LOCK. `winnow record` holds a lock of the folder (flock) until it ends: a second recording is refused,
 * and a reader knows that traces may still come.
 */
#pragma once

#include "cli/record/unrecorded.h"
#include "trace/finish.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct folder_trace {
  char *path;       /* NULL: removed */
  char *program;    /* the first argument of its command line; NULL: not known */
  wn_status status; /* of reading it. WN_EBUSY: a process writes it; if it failed, there are no totals */
  bool is_first;    /* of the process that `winnow record` started */
  bool continues;   /* of the same process as the trace before, after an exec */
  uint32_t pid;
  uint64_t began_ns; /* by the monotonic clock */
  struct trace_totals totals;
  /* How a runtime of the program tells the names that the trace lacks; NULL: none does. */
  const char *nameless;
  struct unrecorded_program after; /* what the program tried to become and could not be recorded */
};

struct folder {
  char *path;  /* FILE, without a slash at its end */
  bool stays;  /* FILE is to be a folder */
  bool exists; /* FILE is a folder */
  int lock;
  /* Each process's in the order in which they began, those of the process that was started first. */
  struct folder_trace *traces;
  size_t count;
  size_t main; /* the trace of the program that did the work, of that process; or another one that is kept */
  size_t kept, processes; /* the number of traces that are kept, and of processes that wrote them */
  size_t removed;         /* traces of processes that allocated next to nothing */
  const char *harm; /* what another process did to the only trace: "was removed"; NULL: nothing is known */
};

/* Whether a file in the folder has the name of a trace. */
bool folder_is_trace_name(const char *name);

/* Makes the folder, and removes what an earlier recording left under that name. WN_EBUSY: another recording
 * has it, or a program writes a trace there. Sets wn_last_error. The text remains the caller's. */
wn_status folder_begin(struct folder *folder, const char *output);

/* Finishes all traces after process `pid` has ended, and decides what is kept. Programs that were not
 * recorded, as the traces report them, are added to `unrecorded`. WN_EFORMAT: there is no trace, and the
 * folder is removed. WN_EIO: the folder cannot be read. wn_last_error says why. */
wn_status folder_finish(struct folder *folder, pid_t pid, const struct trace_finishing *finishing,
                        struct unrecorded *unrecorded);

/* Removes the folder if it is empty: no program was started. */
void folder_abandon(struct folder *folder);
void folder_free(struct folder *folder);
/* SPDX-License-Identifier: MIT */
