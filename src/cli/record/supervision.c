/* Compacts traces in child processes, and waits for these and for the program at once. */
#include "cli/record/supervision.h"

#include "base/array.h"
#include "base/os.h"
#include "cli/history_file.h"
#include "cli/record/folder.h"
#include "cli/record/step_back.h"
#include "cli/text.h"
#include "compact/compact.h"
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS ((uint64_t)1000000000)

/* A look follows so soon on one that found a trace to compact, and twice as late each time on
 * others, up to a second. */
#define SOON_NS (SECOND_NS / 16)

/* PAUSES: so long a trace is left alone whose compaction failed, or moved nothing: every chunk of
 * it still had a writer. */
#define PAUSE_FAILED_NS  (60 * SECOND_NS)
#define PAUSE_UNMOVED_NS (10 * SECOND_NS)

struct supervision_pause {
  char *path;
  uint64_t until_ns; /* after a compaction that moved something: its end */
};

/* What a compaction reports to its parent. */
struct supervision_outcome {
  wn_status status;
  bool moved;
  char error[sizeof((struct supervision *)0)->error];
};

/* ---- the process that compacts ---- */

/* It ends by itself, so signals for the program and its group do not concern it. */
static void ignore_signals(void) {
  static const int signals[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_IGN);
}

static void compact_and_exit(const struct supervision *supervision) {
  struct supervision_outcome *outcome = supervision->outcome;
  struct compact_result result = {0};
  ignore_signals();
  step_back();
  outcome->status = compact_trace(supervision->path, supervision->max_bytes, &result);
  outcome->moved = result.chunks > 0;
  if (outcome->status) snprintf(outcome->error, sizeof outcome->error, "%s", wn_last_error());
  _exit(0);
}

/* ---- its parent ---- */

static bool make_outcome(struct supervision *supervision) {
  if (supervision->outcome) return true;
  void *shared =
      mmap(NULL, sizeof *supervision->outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared != MAP_FAILED) supervision->outcome = shared;
  return supervision->outcome;
}

static void supervision_note_failure(struct supervision *supervision, const char *error) {
  if (!supervision->failures++) snprintf(supervision->error, sizeof supervision->error, "%s", error);
}

static struct supervision_pause *supervision_pause_of(const struct supervision *supervision,
                                                      const char *path) {
  for (size_t i = 0; i < supervision->pause_count; i++)
    if (!strcmp(supervision->pauses[i].path, path)) return &supervision->pauses[i];
  return NULL;
}

/* Without memory the trace has no pause. */
static void set_pause(struct supervision *supervision, const char *path, uint64_t ns) {
  struct supervision_pause *pause = supervision_pause_of(supervision, path),
                           fresh = {.path = pause ? NULL : strdup(path)};
  if (fresh.path &&
      ARRAY_ADD(supervision->pauses, supervision->pause_count, supervision->pause_capacity, fresh))
    pause = &supervision->pauses[supervision->pause_count - 1];
  else
    free(fresh.path);
  if (pause) pause->until_ns = os_monotonic_ns() + ns;
}

/* 0: it was not compacted yet. */
static uint64_t pause_end(const struct supervision *supervision, const char *path) {
  const struct supervision_pause *pause = supervision_pause_of(supervision, path);
  return pause ? pause->until_ns : 0;
}

static void supervision_start(struct supervision *supervision, const char *path) {
  if (!make_outcome(supervision) || !(supervision->path = strdup(path))) {
    supervision_note_failure(supervision, "not enough memory");
    set_pause(supervision, path, PAUSE_FAILED_NS);
    return;
  }
  *supervision->outcome = (struct supervision_outcome){0};
  fflush(NULL);
  pid_t pid = fork();
  if (!pid) compact_and_exit(supervision);
  if (pid > 0) {
    supervision->pid = pid;
    return;
  }
  supervision_note_failure(supervision, strerror(errno));
  set_pause(supervision, path, PAUSE_FAILED_NS);
  free(supervision->path);
  supervision->path = NULL;
}

/* What the compaction did that has ended. Another process that compacts the trace is no failure. */
static void note_outcome(struct supervision *supervision, int wait_status) {
  const struct supervision_outcome *outcome = supervision->outcome;
  char killed[64];
  if (!WIFEXITED(wait_status)) {
    snprintf(killed, sizeof killed, "its process was ended by signal %d", WTERMSIG(wait_status));
    supervision->killed += WTERMSIG(wait_status) == SIGKILL;
    supervision_note_failure(supervision, killed);
    set_pause(supervision, supervision->path, PAUSE_FAILED_NS);
  } else if (outcome->status && outcome->status != WN_EBUSY) {
    supervision_note_failure(supervision, outcome->error);
    set_pause(supervision, supervision->path, PAUSE_FAILED_NS);
  } else {
    set_pause(supervision, supervision->path, outcome->moved ? 0 : PAUSE_UNMOVED_NS);
  }
}

/* `options`: WNOHANG: if it has ended. */
static void supervision_collect(struct supervision *supervision, int options) {
  int wait_status = 0;
  pid_t waited = 0;
  if (!supervision->pid) return;
  while ((waited = waitpid(supervision->pid, &wait_status, options)) < 0 && errno == EINTR) {}
  if (!waited) return;
  if (waited > 0) note_outcome(supervision, wait_status);
  supervision->pid = 0;
  free(supervision->path);
  supervision->path = NULL;
}

/* The trace in the folder that is due and was compacted least recently, so that none waits for
 * ever; from malloc. NULL: none. */
static char *find_due(const struct supervision *supervision, const char *folder) {
  char *found = NULL, *path;
  uint64_t first_ns = os_monotonic_ns(), end_ns;
  DIR *all = opendir(folder);
  for (struct dirent *entry; all && (entry = readdir(all));) {
    if (!folder_is_trace_name(entry->d_name) || asprintf(&path, "%s/%s", folder, entry->d_name) < 0) continue;
    if ((end_ns = pause_end(supervision, path)) < first_ns && compact_is_due(path, supervision->max_bytes)) {
      free(found);
      found = path;
      first_ns = end_ns;
    } else {
      free(path);
    }
  }
  if (all) closedir(all);
  return found;
}

/* Returns whether a compaction runs. */
static bool supervision_look(struct supervision *supervision, const char *folder) {
  char *path = supervision->pid ? NULL : find_due(supervision, folder);
  if (path) supervision_start(supervision, path);
  free(path);
  return supervision->pid;
}

/* ---- waiting ---- */

static bool supervision_has_ended(pid_t program) {
  siginfo_t ended = {.si_pid = 0};
  return waitid(P_PID, (id_t)program, &ended, WEXITED | WNOHANG | WNOWAIT) ? errno != EINTR
                                                                           : ended.si_pid != 0;
}

/* Until a child has ended, a signal was passed on, or so much time has passed. SIGCHLD is blocked. */
static void wait_for_child(uint64_t ns) {
  sigset_t ended;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  sigtimedwait(&ended, NULL,
               &(struct timespec){.tv_sec = (time_t)(ns / SECOND_NS), .tv_nsec = (long)(ns % SECOND_NS)});
}

static void supervise(struct supervision *supervision, pid_t program, const char *folder) {
  sigset_t ended, mask;
  uint64_t interval_ns = SECOND_NS, next_ns = os_monotonic_ns() + interval_ns;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &ended, &mask);
  while (!supervision_has_ended(program)) {
    uint64_t now = os_monotonic_ns();
    supervision_collect(supervision, WNOHANG);
    if (now >= next_ns) {
      interval_ns = supervision_look(supervision, folder) ? SOON_NS
                    : interval_ns < SECOND_NS             ? 2 * interval_ns
                                                          : SECOND_NS;
      next_ns = now + interval_ns;
    }
    wait_for_child(next_ns - now);
  }
  sigprocmask(SIG_SETMASK, &mask, NULL);
  supervision_collect(supervision, 0);
}

/* ---- shared ---- */

void supervision_wait(struct supervision *supervision, pid_t program, const char *folder) {
  siginfo_t ended;
  if (supervision->max_bytes)
    supervise(supervision, program, folder);
  else
    while (waitid(P_PID, (id_t)program, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {}
}

void supervision_complete(struct supervision *supervision, const char *path) {
  if (!supervision->max_bytes || history_disk_bytes(path) <= supervision->max_bytes) return;
  supervision_start(supervision, path);
  supervision_collect(supervision, 0);
}

void supervision_say(const struct supervision *supervision) {
  char number[64], most[32];
  if (!supervision->failures) return;
  fprintf(stderr, "winnow: compaction to %s failed", text_bytes(most, (double)supervision->max_bytes));
  if (supervision->failures > 1)
    fprintf(stderr, " %s", text_number_of(number, (double)supervision->failures, "time"));
  fputs(": ", stderr);
  text_name(stderr, supervision->error);
  fputc('\n', stderr);
}

void supervision_free(struct supervision *supervision) {
  for (size_t i = 0; i < supervision->pause_count; i++) free(supervision->pauses[i].path);
  free(supervision->pauses);
  if (supervision->outcome) munmap(supervision->outcome, sizeof *supervision->outcome);
}
/* SPDX-License-Identifier: MIT */
