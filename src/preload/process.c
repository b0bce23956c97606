/* From the environment to a profile, through forks, to the end.
 *
 *   WINNOW_TRACE   the trace to write; without it nothing is recorded, and the library waits for wn_malloc_profile_start
 *   WINNOW_RATE    samples per word, 1e-4 if not set
 *   WINNOW_DEPTH   most frames of a callstack
 *   WINNOW_SEED    of the random numbers; drawn from the system if not set
 *   WINNOW_FOLLOW  1: processes started by this one are recorded too, each to WINNOW_TRACE with its process number added;
 *                  2: the same, and this process is such a one
 *   WINNOW_PID     set by `winnow record`: the process that the trace is for
 *
 * The first process takes these, and our entry in LD_PRELOAD, out of its environment again unless children are followed,
 * so that programs it starts run as if we were not there. A forked child that is not followed forgets the trace and goes
 * on unprofiled; sampled blocks that it inherited are freed like any others.
 *
 * Whatever fails here is told once, in one line on standard error, and the program goes on unprofiled.
 *
 * UNLOCKED: the first allocation may be made by whoever holds a lock of the C library; setenv, for one, allocates under the
 * lock of the environment. So what starts the profile only reads the environment, as it is, and all that takes such locks
 * waits for our constructor. Until then a fork is noticed by the recorder alone (OURS in recorder.c).
 *
 * At exit nothing is torn down: other exit handlers go on allocating and freeing, and are recorded.
 */
#include "preload/process.h"

#include "base/error.h"
#include "base/os.h"
#include "preload/exec.h"
#include "preload/limits.h"
#include "preload/malloc_host.h"
#include "preload/real.h"
#include "record/recorder.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* Written once by the thread that starts, or by a forked child while it is alone. */
static struct recorder *_Atomic recorder;
static wn_profile *profile;
static pid_t recorded_pid;
static bool realloc_zero_frees = true;
static bool following;
static struct {
  char path[PATH_MAX];
  size_t base_length; /* of the path as it was given */
  double rate;
  uint64_t seed;
  uint32_t depth;
} settings;

static bool has_host, wanted; /* what start found; for settle */

static _Thread_local bool loading; /* our constructor is under way */

static _Atomic(int) state; /* 0 not started, 1 starting, 2 started; the starter alone moves it on */

static void tell(const char *what, const char *detail) {
  char line[512];
  int length =
      snprintf(line, sizeof line, "winnow: %s%s%s; going on unprofiled\n", what, *detail ? ": " : "", detail);
  if (length > 0) os_write_all(2, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

/* As getenv, which in some C library may take a lock. */
static char *variable(const char *name) {
  size_t length = strlen(name);
  for (char **at = environ; at && *at; at++)
    if (!strncmp(*at, name, length) && (*at)[length] == '=') return *at + length + 1;
  return NULL;
}

static double number_or(const char *name, double otherwise) {
  const char *text = variable(name);
  char *end;
  double value = text ? strtod(text, &end) : 0;
  return text && *text && !*end ? value : otherwise;
}

/* As unsetenv, for which programs have functions of their own: a shell's knows nothing of the environment yet. */
static void remove_variable(const char *name) {
  size_t length = strlen(name);
  char **to = environ;
  for (char **from = environ; from && *from; from++)
    if (strncmp(*from, name, length) || (*from)[length] != '=') *to++ = *from;
  if (to) *to = NULL;
}

/* Takes the library out of LD_PRELOAD, in place: nothing may be allocated here. */
static void leave_preload_list(void) {
  char *list = variable("LD_PRELOAD"), *name = list ? strstr(list, "libwinnow-malloc.so") : NULL;
  if (!name) return;
  char *begin = name, *end = name + strcspn(name, ": ");
  while (begin > list && begin[-1] != ':' && begin[-1] != ' ') begin--;
  if (*end)
    end++;
  else if (begin > list)
    begin--;
  memmove(begin, end, strlen(end) + 1);
  if (!*list) remove_variable("LD_PRELOAD");
}

static void clean_environment(void) {
  static const char *const names[] = {"WINNOW_TRACE", "WINNOW_RATE",   "WINNOW_DEPTH",
                                      "WINNOW_SEED",  "WINNOW_FOLLOW", "WINNOW_PID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) remove_variable(names[i]);
  leave_preload_list();
}

/* What this process executes next must not overwrite its trace. In place, for the same reason as remove_variable. */
static void mark_followers(void) {
  char *value = variable("WINNOW_FOLLOW");
  if (value) strcpy(value, "2");
}

/* The numbers are not parsed again: `winnow record` checked them, and whoever sets them by hand learns it here. */
static bool read_settings(void) {
  const char *path = variable("WINNOW_TRACE");
  if (!path || !*path || strlen(path) + 24 > sizeof settings.path) return false;
  strcpy(settings.path, path);
  settings.base_length = strlen(path);
  settings.rate = number_or("WINNOW_RATE", 1e-4);
  double depth = number_or("WINNOW_DEPTH", 512);
  settings.depth = depth >= 0 && depth < 65536 ? (uint32_t)depth : 65535;
  const char *seed = variable("WINNOW_SEED");
  if (seed)
    settings.seed = strtoull(seed, NULL, 10);
  else
    os_random_bytes(&settings.seed, sizeof settings.seed);
  following = number_or("WINNOW_FOLLOW", 0) != 0;
  return true;
}

/* A process other than the one `winnow record` started writes a file of its own. */
static void name_the_file(bool child) {
  double first = number_or("WINNOW_PID", 0);
  bool follower = child || number_or("WINNOW_FOLLOW", 0) > 1;
  if (!follower && (first == 0 || (pid_t)first == getpid())) return;
  size_t length = strlen(settings.path);
  snprintf(settings.path + length, sizeof settings.path - length, ".%d", (int)getpid());
}

static void start_recording(void) {
  struct recorder_options options = {
      .path = settings.path,
      .heap = "malloc",
      .rate = settings.rate,
      .seed = settings.seed,
      .stack_depth = settings.depth,
      .callstacks = host_callstacks(),
      .thread = host_thread_number,
  };
  struct recorder *opened;
  if (!(settings.rate >= 0 && settings.rate <= 1)) {
    tell("WINNOW_RATE must be from 0 to 1", "");
    return;
  }
  if (recorder_open(&options, &opened)) {
    tell("cannot record", wn_last_error());
    return;
  }
  wn_memprof_options sampling = {settings.rate, settings.depth, settings.seed};
  wn_tracker tracker = recorder_tracker(opened);
  if (host_start(&sampling, &tracker, &profile)) {
    recorder_forget(opened);
    tell("cannot start the profile", wn_last_error());
    return;
  }
  recorded_pid = getpid();
  atomic_store_explicit(&recorder, opened, memory_order_release);
}

static void at_exit(int status, void *unused) {
  (void)unused;
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  if (active) recorder_exit(active, status);
}

static void in_parent(void) { host_after_fork(false); }

/* The child is alone in a copy of the memory, and the trace is its parent's. */
static void in_child(void) {
  host_after_fork(true);
  struct recorder *parents = atomic_load_explicit(&recorder, memory_order_acquire);
  if (!parents) return;
  atomic_store_explicit(&recorder, NULL, memory_order_release);
  recorder_forget(parents);
  host_stop();
  host_discard(profile);
  if (!following) return;
  settings.path[settings.base_length] = 0;
  name_the_file(true);
  start_recording();
}

/* UNLOCKED */
static void start(void) {
  real_resolve();
  wanted = read_settings();
  if (wanted && !process_calls_our_malloc()) {
    tell("the program brings its own malloc", "");
    wanted = false;
  }
  realloc_zero_frees = real_realloc_zero_frees();
  has_host = host_open();
  if (!has_host) {
    if (wanted) tell("no memory for the profiler", "");
    return;
  }
  if (!wanted) return;
  name_the_file(false);
  start_recording();
}

/* UNLOCKED */
static void start_within_limits(void) {
  limits_before_reserving();
  start();
  limits_after_reserving();
}

/* What may take locks, once, when the profile has started. */
static void settle(void) {
  if (!has_host) return;
  exec_resolve();
  pthread_atfork(host_before_fork, in_parent, in_child);
  if (!wanted) return;
  if (following)
    mark_followers();
  else
    clean_environment();
  on_exit(at_exit, NULL);
}

__attribute__((constructor)) static void start_at_load(void) {
  loading = true;
  host_hits();
  loading = false;
}

/* ---- shared ---- */

bool process_is_early(void) { return !environ; }

void process_start(void) {
  int expected = 0;
  if (process_is_early()) return;
  if (!atomic_load_explicit(&state, memory_order_acquire) &&
      atomic_compare_exchange_strong(&state, &expected, 1)) {
    start_within_limits();
    atomic_store_explicit(&state, 2, memory_order_release);
  }
  if (loading) {
    loading = false;
    settle();
  }
}

bool process_realloc_zero_frees(void) { return realloc_zero_frees; }

bool process_is_recording(void) { return atomic_load_explicit(&recorder, memory_order_acquire) != NULL; }

void process_lost_block(void) {
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  if (active) recorder_lost(active, 1);
}

unsigned process_becomes(const char *path) {
  int saved = errno;
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  bool ours = active && getpid() == recorded_pid; /* not a child of vfork */
  unsigned number = ours ? recorder_exec(active, path ? path : "") : 0;
  errno = saved;
  return number;
}

void process_stays(unsigned number) {
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  if (number && active) recorder_exec_failed(active, number);
}

void process_thread_ends(void) {
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  if (active) recorder_thread_ends(active);
}

void process_modules_changed(void) {
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  if (active) recorder_modules_changed(active);
}
/* SPDX-License-Identifier: MIT */
