/* Runs the program with the library preloaded, and ends as it did. While it runs, signals of the terminal
 * reach it directly, so this process ignores them; it passes SIGTERM and SIGHUP on. */
#include "base/os.h"
#include "cli/command.h"
#include "cli/program.h"
#include "cli/record/record.h"
#include "cli/text.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t child;

static void pass_on(int signal) {
  int saved = errno;
  if (child) kill((pid_t)child, signal);
  errno = saved;
}

static void set_preload(const struct record *record) {
  const char *others = getenv("LD_PRELOAD");
  char *list = malloc(strlen(record->library) + (others ? strlen(others) : 0) + 2);
  if (!list) _exit(127);
  sprintf(list, "%s%s%s", record->library, others && *others ? ":" : "", others && *others ? others : "");
  setenv("LD_PRELOAD", list, 1);
}

/* Sets the variables for the program to this recording's settings, whatever the environment had
 * before. */
static void set_environment(const struct record *record) {
  struct settings settings = record->settings;
  char pid[24];
  snprintf(pid, sizeof pid, "%d", (int)getpid());
  set_preload(record);
  setting_set(&settings, SETTING_TRACE, record->whole_output);
  setting_set(&settings, SETTING_PID, pid);
  for (enum setting i = 0; i < SETTINGS; i++) {
    const char *variable = setting_rows[i].variable;
    if (variable && settings.of[i].given)
      setenv(variable, settings.of[i].text, 1);
    else if (variable)
      unsetenv(variable);
  }
}

/* Runs a text file in no format that the system knows by /bin/sh, as execvp and every shell do.
 * Returns if that fails. */
static void run_by_shell(const struct record *record) {
  size_t count = 0;
  while (record->argv[count]) count++;
  char **argv = calloc(count + 2, sizeof *argv), shell[] = "/bin/sh";
  if (argv && program_is_plain_script(record->program)) {
    argv[0] = shell;
    argv[1] = (char *)record->program;
    memcpy(argv + 2, record->argv + 1, count * sizeof *argv); /* including the NULL */
    execv(shell, argv);
  }
  errno = ENOEXEC;
}

/* Whether a process that has ended waited for children: the largest resident size that the kernel
 * reports may then be that of a child. Each child had page faults, which /proc counts separately.
 */
static bool had_children(pid_t pid) {
  char path[40], text[1024];
  unsigned long long faults;
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  const char *name_end = os_read_file(path, text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
  return !name_end || sscanf(name_end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %llu", &faults) != 1 || faults;
}

/* Waits for a process that has ended. All zeros if the system does not give the times. */
static struct work run_wait_for(pid_t pid, int *wait_status) {
  struct timespec own = {0};
  struct rusage usage = {0};
  clockid_t clock;
  /* The clock of the process stops when it ends, and does not exist after the wait. */
  bool known = !clock_getcpuclockid(pid, &clock) && !clock_gettime(clock, &own), alone = !had_children(pid);
  pid_t waited;
  while ((waited = wait4(pid, wait_status, 0, &usage)) < 0 && errno == EINTR) {}
  if (!known || waited != pid) return (struct work){0};
  double seconds = (double)own.tv_sec + (double)own.tv_nsec / 1e9,
         all = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  return (struct work){seconds, all > seconds ? all - seconds : 0,
                       alone ? (uint64_t)usage.ru_maxrss * 1024 : 0};
}

/* ---- shared ---- */

int record_run(struct record *record, struct ending *ending) {
  struct sigaction passing = {.sa_handler = pass_on, .sa_flags = SA_RESTART},
                   ignoring = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL}, old[4], old_child;
  static const int signals[4] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
  sigset_t passed, mask; /* blocked until there is a process to receive them */
  sigemptyset(&passed);
  for (int i = 0; i < 4; i++) sigaddset(&passed, signals[i]);
  fflush(NULL);
  sigaction(SIGCHLD, &usual, &old_child); /* if SIGCHLD is ignored, a wait tells nothing */
  sigprocmask(SIG_BLOCK, &passed, &mask);
  pid_t pid = fork();
  if (pid < 0) {
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return fail_job("cannot start a process: %s", strerror(errno));
  }
  if (!pid) {
    sigprocmask(SIG_SETMASK, &mask, NULL);
    sigaction(SIGCHLD, &old_child, NULL);
    set_environment(record);
    execv(record->program, record->argv);
    if (errno == ENOEXEC) run_by_shell(record);
    int error = errno;
    fputs("winnow: cannot run ", stderr);
    text_name(stderr, record->program);
    fprintf(stderr, ": %s\n", strerror(error));
    _exit(error == ENOENT ? 127 : 126);
  }
  child = pid;
  for (int i = 0; i < 4; i++) sigaction(signals[i], i < 2 ? &passing : &ignoring, &old[i]);
  sigprocmask(SIG_SETMASK, &mask, NULL);
  supervision_wait(&record->supervision, pid, record->folder.path);
  if (!is_quiet(record) && !follows(record)) ending->left = left_behind_find(pid, record->library);
  ending->work = run_wait_for(pid, &ending->wait_status);
  ending->pid = pid;
  child = 0;
  for (int i = 0; i < 4; i++) sigaction(signals[i], &old[i], NULL);
  return 0;
}

int record_pass_status(int wait_status) {
  if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
  int signal_number = WTERMSIG(wait_status);
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core); /* a core file of the program must not be replaced */
  signal(signal_number, SIG_DFL);
  raise(signal_number);
  return 128 + signal_number;
}
/* SPDX-License-Identifier: MIT */
