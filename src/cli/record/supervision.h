/* Keeps the traces of a recording below their bound while the program runs.
 *
 * `winnow record` looks at the traces once a second, more often while they grow fast. It compacts
 * one that is due (compact/compact.h) in a process of its own, one at a time: a failure there, or a
 * lack of memory, ends only that process. The process runs at a low priority, and is the first that
 * the system kills for memory. A trace whose compaction failed, or moved nothing, is left alone for
 * a while (PAUSES in supervision.c). */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct supervision_outcome;
struct supervision_pause;

/* All zeros: traces without a bound. */
struct supervision {
  uint64_t max_bytes;                  /* that each trace may take; 0: there is no bound */
  pid_t pid;                           /* of the compaction that runs; 0: none */
  char *path;                          /* the trace that it compacts */
  struct supervision_outcome *outcome; /* in memory that it shares */
  struct supervision_pause *pauses;
  size_t pause_count, pause_capacity;
  size_t failures;
  size_t killed;   /* compactions that ended by SIGKILL */
  char error[512]; /* why the first one failed */
};

/* Waits until a child process has ended, and leaves it to be waited for. Keeps the traces in the
 * folder below their bound meanwhile. Afterwards no compaction runs. */
void supervision_wait(struct supervision *supervision, pid_t program, const char *folder);

/* Compacts a trace that no process writes, if it takes more than the bound. */
void supervision_complete(struct supervision *supervision, const char *path);

/* Prints that compactions failed, if any did. */
void supervision_say(const struct supervision *supervision);
void supervision_free(struct supervision *supervision);
/* SPDX-License-Identifier: MIT */
