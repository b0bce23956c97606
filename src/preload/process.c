/* How a process starts its profile by the environment, and what it does at fork, exec and exit.
 *
 * The variables are those of settings/settings.def.
 *
 * Unless children are followed, the first process takes these variables, and our entry in
 * LD_PRELOAD, out of its environment again, so that programs that it starts run as if we were not
 * there. A forked child that is not followed forgets the trace and goes on unprofiled; it frees
 * sampled blocks that it inherited like any others.
 *
 * EXEC: the process that `winnow record` started is recorded through all programs that it becomes
 * by exec. Each next program gets the variables again, and writes a trace of its own beside the
 * first; `winnow record` tells the traces apart at the end. A program does not get the variables if
 * it cannot be recorded (base/image.h), or if it could not reach the library or the trace any more;
 * then the trace says so. Where children are followed, the same is done for each program that a
 * child executes.
 *
 * FOLDER: WINNOW_TRACE ends with a slash where more than one program can be recorded: `winnow record`
 * asks so always. Each program then writes a new file in that folder (trace/chunk_file.h); the records of
 * process numbers, parents, exec and ends tell afterwards how they belong together.
 *
 * OVER: most children are copies of their parent that become another program at once. The copy's
 * trace says nothing, so the next program of the process writes over it instead of a new file; so it
 * does over any trace that has too little to say anything (is_worth_keeping).
 *
 * A failure in this file is reported once, in one line on standard error, and the program goes on
 * unprofiled.
 *
 * UNLOCKED: the first allocation may be made by a thread that holds a lock of the C library;
 * setenv, for one, allocates under the lock of the environment. So `start` only reads the
 * environment, and the work that may take such locks (`settle`) waits for our constructor. Until
 * then only the recorder notices a fork (OURS in recorder.c).
 *
 * At exit nothing is torn down: other exit handlers go on allocating and freeing, and their calls
 * are recorded.
 */
#include "preload/process.h"

#include "base/check.h"
#include "base/error.h"
#include "base/kept_file.h"
#include "base/metadata.h"
#include "base/os.h"
#include "base/utf8.h"
#include "preload/commands.h"
#include "preload/cost.h"
#include "preload/environment.h"
#include "preload/exec.h"
#include "preload/exit_calls.h"
#include "preload/info_calls.h"
#include "preload/interpreters.h"
#include "preload/late_python.h"
#include "preload/limits.h"
#include "preload/malloc_host.h"
#include "preload/map_calls.h"
#include "preload/mappings.h"
#include "preload/pagemap.h"
#include "preload/python_objects.h"
#include "preload/question.h"
#include "preload/real.h"
#include "preload/stacks.h"
#include "record/recorder.h"
#include "settings/settings.h"
#include "trace/bound.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

/* 64 KiB in words. bash, for one, allocates 6 kB between fork and exec. */
enum { COPY_WORDS = 8192 };

/* Written once by the thread that starts, or by a forked child while it is alone. */
static struct recorder *_Atomic recorder;
static wn_profile *profile;
static pid_t recorded_pid;
static bool realloc_zero_frees = true;
static bool following;
static bool is_copy; /* a forked child that has executed no program */
static struct {
  char path[PATH_MAX];                  /* WINNOW_TRACE */
  char over[PATH_MAX];                  /* OVER: the trace to write over; empty: none */
  struct control_sampling first, usual; /* usual: of a start that says nothing else */
  uint64_t seed;
  uint64_t bound_bytes;
  uint32_t depth;
  bool python_allocator;
} settings;

static bool has_host, requested, wanted; /* found by start, read by settle */
static bool settled;                     /* the loader has called our constructor */
static _Atomic(bool) filtered;           /* process_may_be_filtered */
static bool follower;                    /* not the first process */

static struct cgroup group; /* of the program when its recording began */

static _Thread_local uint8_t forking; /* forks under way; they nest where a signal handler forks */
static _Thread_local bool loading;    /* our constructor is under way */

static _Atomic(int) state; /* 0 not started, 1 starting, 2 started; the starter alone moves it on */

static void warn(const char *what, const char *detail) {
  char line[512];
  snprintf(line, sizeof line - 1, "winnow: %s%s%s; going on unprofiled", what, *detail ? ": " : "", detail);
  utf8_make_plain(line);
  strcat(line, "\n");
  os_write_all(2, line, strlen(line));
}

static void tell_briefly(const char *what) {
  char line[256];
  snprintf(line, sizeof line - 1, "winnow: %s; its callstacks have C functions only", what);
  utf8_make_plain(line);
  strcat(line, "\n");
  os_write_all(2, line, strlen(line));
}

static bool names_folder(void) {
  size_t length = strlen(settings.path);
  return length && settings.path[length - 1] == '/';
}

/* Reads the variables. False if nothing is to be recorded. Reports a wrong value on standard
 * error. */
static bool read_settings(void) {
  struct settings asked = settings_initial();
  enum setting wrong = settings_read(&asked, environment_variable);
  requested = wrong < SETTINGS || asked.of[SETTING_TRACE].given;
  if (wrong < SETTINGS) {
    char complaint[SETTING_COMPLAINT_BYTES];
    setting_complain_of_variable(complaint, wrong, environment_variable(setting_rows[wrong].variable));
    warn(complaint, "");
  }
  if (wrong < SETTINGS || !requested) return false;
  strcpy(settings.path, asked.of[SETTING_TRACE].text);
  settings.first.rate = asked.of[SETTING_RATE].fraction;
  settings.first.budget = asked.of[SETTING_BUDGET].fraction;
  settings.usual = settings.first;
  if (!(settings.usual.rate > 0)) settings.usual.rate = settings_initial().of[SETTING_RATE].fraction;
  if (asked.of[SETTING_ASLEEP].whole) settings.first = (struct control_sampling){0, 0};
  settings.depth = (uint32_t)asked.of[SETTING_DEPTH].whole;
  settings.python_allocator = asked.of[SETTING_PYTHON_ALLOCATOR].whole;
  settings.seed = settings_seed(&asked);
  ASSERT(setting_rows[SETTING_MAX_TRACE].least == TRACE_BOUND_LEAST);
  settings.bound_bytes = trace_bound_trace_most(asked.of[SETTING_MAX_TRACE].whole);
  uint64_t follow = asked.of[SETTING_FOLLOW].whole;
  pid_t first = (pid_t)asked.of[SETTING_PID].whole;
  following = follow != SETTING_FOLLOW_NONE;
  if (following && !names_folder()) {
    warn("WINNOW_FOLLOW records several programs, so WINNOW_TRACE must be a folder, with a slash at its end",
         "");
    return false;
  }
  if (asked.of[SETTING_OVER].given && names_folder())
    snprintf(settings.over, sizeof settings.over, "%s%s", settings.path, asked.of[SETTING_OVER].text);
  follower = follow > SETTING_FOLLOW_FIRST || (first && first != getpid());
  return follow != SETTING_FOLLOW_UNRECORDED;
}

/* Freed pages of the region that no block takes during this interval go back to the system.
 * Faulting as many pages in again as the region keeps at most (KEPT of runs.c) takes one or two
 * hundredths of the interval. */
#define IDLE_INTERVAL ((uint64_t)1000 * 1000 * 1000)

static void give_back_idle(void) {
  static _Atomic(uint64_t) due;
  uint64_t now = os_monotonic_ns(), then = atomic_load_explicit(&due, memory_order_relaxed);
  if (now >= then && atomic_compare_exchange_strong_explicit(&due, &then, now + IDLE_INTERVAL,
                                                             memory_order_relaxed, memory_order_relaxed))
    region_give_back_idle();
}

/* Looks at all of our own pages at the end, when the last such look is a thousand times as long ago
 * as it took, and before a forked child is measured for the first time: what it has of its parent's
 * blocks is not the recorder's. Looks at new ones when there are many. */
static void look_at_own(bool now) {
  static _Atomic(uint64_t) due;
  uint64_t began = os_monotonic_ns();
  bool all = now || began >= atomic_load_explicit(&due, memory_order_relaxed);
  metadata_of_others(info_held_bytes(true));
  if (process_is_filtered() || (!all && !metadata_look_is_due())) return;
  metadata_look(pagemap_private, all);
  if (all) atomic_store_explicit(&due, question_next(began, os_monotonic_ns()), memory_order_relaxed);
}

static bool process_measure(uint64_t rss_bytes, bool last) {
  struct host_visit visit = host_enter(); /* at the end of the program the caller is not within host_enter */
  struct cost_work work = cost_work_begin();
  stacks_look();
  bool complete = mappings_measure(rss_bytes, last);
  look_at_own(last);
  if (!last) give_back_idle();
  cost_work_end(work);
  commands_publish();
  host_leave(visit);
  return complete;
}

/* Not before the loader is done, and not in a child of vfork. */
static void process_ask(struct recorder_answer *answer, bool last) {
  if (!settled || forking || process_is_filtered() || !process_is_recorded()) return;
  struct host_visit visit = host_enter();
  struct cost_work work = cost_work_begin();
  question_ask(answer, cost_processor_ns(), last);
  cost_work_end(work);
  host_leave(visit);
}

/* A child of vfork has the counts of its parent, but a processor time of its own. */
static void spent(uint64_t *cost, uint64_t *processor) {
  if (getpid() != recorded_pid) return;
  struct cost taken = cost_until_now();
  *processor = cost_processor_ns();
  *cost = taken.sampling_ns + taken.other_ns;
  if (*cost > *processor) *cost = *processor; /* AFTERWARDS (cost.c) says too much at high rates */
}

/* A signal handler's own stack may be too small for it. */
static bool look_at_group(struct cgroup_state *found) {
  stack_t stack;
  if (process_is_filtered() || sigaltstack(NULL, &stack) || stack.ss_flags & SS_ONSTACK) return false;
  struct cost_work work = cost_work_begin();
  bool known = cgroup_look(&group, found);
  cost_work_end(work);
  return known;
}

/* STRAY: a child that was made without our fork handlers, by clone, _Fork or a bare system call, is
 * not recorded: the locks of threads that it does not have may be taken. If children are to be
 * followed, it says so. A fork under way calls the handlers of other libraries first, and those may
 * allocate. */
static void tell_of_stray(void) {
  static _Atomic(bool) told;
  char what[128];
  if (!following || forking || atomic_exchange_explicit(&told, true, memory_order_relaxed)) return;
  snprintf(what, sizeof what, "process %d was made by clone or a system call, not by fork", (int)getpid());
  warn(what, "");
}

/* A filter may be older than the program. */
static bool inherits_filter(void) {
  struct kept_file status = {.path = "/proc/self/status", .descriptor = -1};
  uint64_t mode;
  return !kept_file_number(&status, "\nSeccomp:", 10, &mode) || mode;
}

static void start_recording(void) {
  struct recorder_options options = {
      .path = settings.path,
      .heap = "malloc",
      .rate = settings.first.rate,
      .seed = settings.seed,
      .stack_depth = settings.depth,
      .bound_bytes = settings.bound_bytes,
      .callstacks = host_callstacks(),
      .thread = host_thread_number,
      .trial_rate = host_trial_rate,
      .measure = process_measure,
      .ask = process_ask,
      .spent = spent,
      .group = look_at_group,
      .stray = tell_of_stray,
  };
  struct recorder *opened;
  struct recorder_options over = options;
  over.path = settings.over;
  if ((!*over.path || recorder_open(&over, &opened)) && recorder_open(&options, &opened)) {
    warn("cannot record", error_text());
    return;
  }
  wn_memprof_options sampling = {settings.first.rate, settings.depth, settings.seed};
  wn_tracker tracker = recorder_tracker(opened);
  if (host_start(&sampling, &tracker, true, &profile)) {
    recorder_forget(opened);
    warn("cannot start the profile", error_text());
    return;
  }
  recorded_pid = getpid();
  if (inherits_filter()) commands_may_be_filtered();
  cost_processor_ns();                   /* counts from now on */
  if (!is_copy) cgroup_find(&group, ""); /* a forked child is in its parent's */
  pagemap_open();
  question_open();
  atomic_store_explicit(&recorder, opened, memory_order_release);
  if (!commands_begin(opened, profile, &settings.first, &settings.usual, settings.bound_bytes) &&
      !(settings.first.rate > 0))
    warn("no control file can be created beside the trace, so no command can start sampling", "");
}

/* A filter may end a process that removes a file. */
static void end_commands(void) {
  if (!process_is_filtered() && process_is_recorded()) commands_end();
}

static void at_exit(int status, void *unused) {
  (void)unused;
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  if (active) interpreters_end(), recorder_exit(active, status);
  end_commands();
}

static void process_before_fork(void) {
  forking++;
  host_before_fork();
}

static void process_in_parent(void) {
  host_after_fork(false);
  forking--;
}

static void record_in_child(struct recorder *parents) {
  atomic_store_explicit(&recorder, NULL, memory_order_release);
  recorder_forget(parents);
  commands_forget(true);
  pagemap_close();
  question_close();
  host_stop();
  host_discard(profile);
  if (!following) return;
  follower = is_copy = true;
  *settings.over = 0;
  start_recording();
  struct recorder *own = atomic_load_explicit(&recorder, memory_order_relaxed);
  if (!own) return;
  mappings_inherit();
  question_inherit();
  look_at_own(true);
  recorder_memory(own); /* what the parent left to it, before it changes */
}

/* Runs in a forked child, whose only thread this is, in a copy of the memory. The trace is its
 * parent's. */
static void process_in_child(void) {
  struct program_errors saved = program_errors_save();
  host_after_fork(true);
  struct recorder *parents = atomic_load_explicit(&recorder, memory_order_acquire);
  interpreters_fork_child();
  if (parents) record_in_child(parents);
  forking--;
  program_errors_restore(saved);
}

/* Whether a trace is left as it is when the process becomes another program. The memory of a copy is its
 * parent's. */
static bool is_worth_keeping(const struct recorder *active) {
  return recorder_is_worth_a_file(active, is_copy ? settings.first.rate * COPY_WORDS : 0,
                                  is_copy ? 0 : os_peak_bytes());
}

/* Examines a program that this process or a child of it executes, and decides which of our
 * variables the program finds. `ours` is this process's recorder if this process becomes the
 * program, and NULL if a child does. */
static struct inherited inherited_by(struct image *image, int folder, const char *found,
                                     char *const *environment, const struct recorder *ours) {
  struct inherited inherited = {.kind = INHERITED_AS_IT_IS};
  *image = (struct image){.kind = IMAGE_UNREADABLE};
  if (found) image_examine(folder, found, image);
  bool first = ours && !follower, own_malloc = image->kind == IMAGE_OWN_MALLOC;
  bool given = !first || environment_is_of_record();
  if (environment_asks_otherwise(environment)) return inherited;
  if (image->kind == IMAGE_GOOD && given && !environment_is_in_reach()) image->kind = IMAGE_OUT_OF_REACH;
  if (following && image_is_harmed(image->kind)) {
    inherited.kind = INHERITED_NONE;
  } else if (given && (image->kind == IMAGE_GOOD || (following && own_malloc))) {
    inherited.kind = INHERITED_RECORDED;
    inherited.follow = own_malloc ? SETTING_FOLLOW_UNRECORDED
                       : first    ? SETTING_FOLLOW_FIRST
                                  : SETTING_FOLLOW_CHILD;
    if (ours && !own_malloc && names_folder() && !is_worth_keeping(ours))
      inherited.over = strrchr(recorder_path(ours), '/') + 1;
  }
  return inherited;
}

/* Where the malloc lies that the program calls by its name. */
enum malloc_owner { MALLOC_OF_PROGRAM, MALLOC_OF_LIBRARY, MALLOC_OURS };

static enum malloc_owner owner_of_malloc(Dl_info *info) {
  Dl_info program;
  const void *program_headers = (const void *)getauxval(AT_PHDR);
  if (!dladdr((const void *)program_calls.malloc, info) || !dladdr(program_headers, &program) ||
      info->dli_fbase == program.dli_fbase)
    return MALLOC_OF_PROGRAM;
  return info->dli_fbase == (const void *)__ehdr_start ? MALLOC_OURS : MALLOC_OF_LIBRARY;
}

static void tell_of_own_malloc(void) {
  char path[256], what[400];
  Dl_info info;
  long length = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  switch (owner_of_malloc(&info)) {
  case MALLOC_OURS: /* it is, but other code runs in its place */
    warn("a tool that runs the program, such as valgrind, replaces malloc; to record, run it without", "");
    return;
  case MALLOC_OF_LIBRARY:
    snprintf(what, sizeof what, "%.300s is loaded first and brings its own malloc; to record, load it later",
             info.dli_fname);
    break;
  case MALLOC_OF_PROGRAM:
    snprintf(what, sizeof what, "%s brings its own malloc; to record it, link it without",
             length > 0 ? path : "the program");
  }
  warn(what, "");
}

/* UNLOCKED */
static void start_process(void) {
  real_resolve();
  wanted = read_settings();
  if (wanted && !process_calls_our_malloc()) {
    tell_of_own_malloc();
    wanted = false;
  }
  realloc_zero_frees = real_realloc_zero_frees();
  has_host = host_open();
  if (!has_host) {
    if (wanted) warn("no memory for the profiler", "");
    return;
  }
  if (wanted) start_recording();
}

/* UNLOCKED */
static void start_within_limits(void) {
  struct program_errors saved = program_errors_save();
  limits_before_reserving();
  start_process();
  limits_after_reserving();
  program_errors_restore(saved);
}

static void tell_of_code(const struct callstack_place *place) {
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  if (active) recorder_code(active, place);
}

static void look_for_interpreter(void) {
  char reason[INTERPRETER_REASON_BYTES];
  const struct python *python;
  bool known = interpreters_find(host_callstacks(), &python, tell_of_code, reason);
  if (!known) tell_briefly(reason);
  if (python && settings.python_allocator) python_objects_begin(python);
  late_python_begin(settings.python_allocator, known ? tell_briefly : NULL);
}

/* Does the work that may take locks, once, when the profile has started. */
static void process_settle(void) {
  if (!has_host) return;
  exec_resolve();
  exit_calls_resolve();
  info_calls_resolve();
  map_calls_resolve();
  stacks_resolve();
  question_resolve();
  settled = true;
  pthread_atfork(process_before_fork, process_in_parent, process_in_child);
  if (!requested) return;
  environment_keep();
  if (following)
    environment_mark_followers();
  else
    environment_clean();
  if (wanted) look_for_interpreter();
  if (wanted) on_exit(at_exit, NULL);
}

__attribute__((constructor)) static void start_at_load(void) {
  loading = true;
  host_hits(0);
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
    process_settle();
  }
}

bool process_realloc_zero_frees(void) { return realloc_zero_frees; }

bool process_is_recording(void) { return atomic_load_explicit(&recorder, memory_order_acquire) != NULL; }

struct recorder *process_recorder(void) {
  return atomic_load_explicit(&recorder, memory_order_acquire);
}

uint32_t process_stack_depth(void) { return settings.depth; }

void process_lost_block(void) {
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  if (active) recorder_lost(active, 1);
}

void process_becomes(struct becoming *becoming, int folder, const char *path, const char *found,
                     char *const *environment) {
  struct program_errors saved = program_errors_save();
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  bool ours = active && getpid() == recorded_pid; /* not a child of vfork */
  *becoming = (struct becoming){0};
  if (!ours && !following) return;
  struct image image;
  becoming->inherited = inherited_by(&image, folder, found, environment, ours ? active : NULL);
  bool surely = image.kind >= IMAGE_STATIC; /* a file of another kind may fail to execute at all */
  if (active && found && image.kind != IMAGE_GOOD && (ours || surely))
    recorder_unrecorded(active, getpid(), image.kind, image.path);
  if (ours) interpreters_end(), becoming->number = recorder_exec(active, path ? path : "");
  program_errors_restore(saved);
}

void process_stays(const struct becoming *becoming) {
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  if (becoming->number && active) recorder_exec_failed(active, becoming->number);
}

bool process_is_recorded(void) {
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  return active && recorder_is_ours(active) && getpid() == recorded_pid;
}

void process_leaves(void) {
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  if (active) interpreters_end(), recorder_leaves(active);
  end_commands();
}

/* After this, nothing here makes a system call that the C library would not make, but for what an
 * exec takes. Other threads may still be in a callback of the profile; those finish. */
void process_is_confined(void) {
  struct recorder *active = process_is_recorded() ? atomic_exchange(&recorder, NULL) : NULL;
  if (!active) return;
  struct host_visit visit = host_enter();
  warn("the program forbids itself system calls that recording makes (seccomp)", "");
  recorder_stop(active);
  commands_forget(false);
  pagemap_close();
  question_close();
  host_confine(profile);
  host_leave(visit);
}

void process_may_be_filtered(void) {
  atomic_store_explicit(&filtered, true, memory_order_relaxed);
  commands_may_be_filtered();
}

bool process_is_filtered(void) { return atomic_load_explicit(&filtered, memory_order_relaxed); }

bool process_follows(void) { return following; }

void process_spawns(struct inherited *inherited, const char *found, char *const *environment,
                    struct image *image) {
  *inherited = inherited_by(image, AT_FDCWD, found, environment, NULL);
}

void process_spawned(const struct image *image, pid_t pid) {
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  if (active && image->kind >= IMAGE_STATIC) recorder_unrecorded(active, pid, image->kind, image->path);
}

void process_thread_ends(void) {
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  if (active) {
    recorder_thread_ends(active);
    recorder_memory(active); /* while the thread's stack is still mapped */
  }
  stacks_thread_ends();
}

void process_modules_changed(void) {
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  if (active) recorder_modules_changed(active);
}
/* SPDX-License-Identifier: MIT */
