/* winnow record: runs a program with libwinnow-malloc preloaded, finishes its traces, and ends as
 * the program did.
 *
 * It starts the program only if the program can be recorded (program.h), and reserves the output
 * file before. The options and variables are those of settings/settings.def. After the run it
 * completes the trace, chooses among the traces of programs that the process became by exec
 * (chain.h), joins those of its children (children.h), and prints what was written and what is
 * missing.
 *
 * While the program runs, signals of the terminal reach it directly, so this process ignores them;
 * it passes SIGTERM and SIGHUP on.
 */
#include "cli/command.h"

#include "analysis/query/query.h"
#include "base/os.h"
#include "cli/ascii.h"
#include "cli/chain.h"
#include "cli/children.h"
#include "cli/heaps_of_file.h"
#include "cli/hints.h"
#include "cli/left_behind.h"
#include "cli/program.h"
#include "cli/text.h"
#include "cli/trace_table.h"
#include "cli/unrecorded.h"
#include "settings/settings.h"
#include "trace/chunk_file.h"
#include "trace/finish.h"
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct recording {
  struct settings settings;
  char output[PATH_MAX], whole_output[PATH_MAX]; /* the file as the user names it, and with its whole path */
  char rate[32];                                 /* the value of --rate that --every stands for */
  char library[PATH_MAX];
  char program[PATH_MAX];
  char **argv;              /* the command line of the program */
  const char *called;       /* the program as the user named it */
  const char *allocator;    /* an allocator in it besides malloc; NULL: none is known */
  struct timespec prepared; /* when the output was last changed, before the program ran */
};

/* What is known of the program after it has ended. */
struct ending {
  int wait_status;
  struct work work;
  struct left_behind left;
};

static volatile sig_atomic_t child;

static bool follows(const struct recording *recording) {
  return recording->settings.of[SETTING_FOLLOW].whole;
}

static bool is_quiet(const struct recording *recording) {
  return recording->settings.of[SETTING_QUIET].whole;
}

static void pass_on(int signal) {
  int saved = errno;
  if (child) kill((pid_t)child, signal);
  errno = saved;
}

/* ---- the command line ---- */

/* Sets the rate by --every BYTES. */
static bool set_every(struct recording *recording, const char *text) {
  double bytes, least = (double)setting_rows[SETTING_EVERY].least;
  if (!query_bytes(text, &bytes) || bytes < least || bytes > (double)setting_rows[SETTING_EVERY].most)
    return false;
  snprintf(recording->rate, sizeof recording->rate, "%.17g", 8 / bytes);
  return setting_set(&recording->settings, SETTING_RATE, recording->rate) &&
         setting_set(&recording->settings, SETTING_EVERY, text);
}

static int parse_option(struct recording *recording, enum setting setting) {
  const char *text = setting_rows[setting].argument ? optarg : "1";
  struct settings *settings = &recording->settings;
  if ((setting == SETTING_RATE || setting == SETTING_EVERY) && settings->of[SETTING_RATE].given)
    return fail_usage("record", "--rate and --every set the same value; give only one of them");
  if (setting == SETTING_EVERY ? set_every(recording, text) : setting_set(settings, setting, text)) return 0;
  char complaint[SETTING_COMPLAINT_BYTES];
  setting_complain_of_option(complaint, setting, text);
  return fail_usage("record", "%s", complaint);
}

/* The options as getopt needs them. */
struct known {
  struct option options[SETTINGS + 1];
  char letters[2 * SETTINGS + 3];
};

static void make_known(struct known *known) {
  struct option *option = known->options;
  char *letters = stpcpy(known->letters, "+:");
  for (const struct setting_row *row = setting_rows; row < setting_rows + SETTINGS; row++) {
    if (!row->option) continue;
    *option++ =
        (struct option){row->option, row->argument ? required_argument : no_argument, NULL, row->letter};
    *letters++ = row->letter;
    if (row->argument) *letters++ = ':';
  }
  *option = (struct option){0};
  *letters = 0;
}

static enum setting setting_of(int letter) {
  enum setting setting = 0;
  while (setting_rows[setting].letter != letter) setting++;
  return setting;
}

static int parse(struct recording *recording, int argc, char **argv) {
  struct known known;
  int option;
  make_known(&known);
  recording->settings = settings_initial();
  opterr = 0; /* fail_option prints the message */
  while ((option = getopt_long(argc, argv, known.letters, known.options, NULL)) != -1) {
    bool wrong = option == '?' || option == ':';
    int code = wrong ? fail_option("record", option, argv, known.options)
                     : parse_option(recording, setting_of(option));
    if (code) return code;
  }
  if (optind == argc)
    return fail_usage("record", "which program? usage: winnow record [OPTION...] -- PROGRAM [ARGUMENT...]");
  recording->argv = argv + optind;
  return 0;
}

/* ---- running ---- */

/* Finds the preloaded library, by its soname: in src/preload of a build tree, or in the library folder of
 * the installation. */
static bool find_library(char path[PATH_MAX]) {
  static const char *const places[] = {"/../preload/" WN_LIBRARY, "/" WN_LIBDIR "/" WN_LIBRARY,
                                       "/../lib/" WN_LIBRARY};
  char self[PATH_MAX], candidate[PATH_MAX + 64];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return false;
  self[length] = 0;
  *strrchr(self, '/') = 0;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    snprintf(candidate, sizeof candidate, "%s%s", self, places[i]);
    if (realpath(candidate, path)) return true;
  }
  return false;
}

/* The program may change its working folder, so it gets the whole path of the trace. */
static bool complete_output(struct recording *recording) {
  char folder[PATH_MAX] = "";
  bool whole = *recording->output == '/';
  if (!whole && !getcwd(folder, sizeof folder)) return false;
  return snprintf(recording->whole_output, sizeof recording->whole_output, "%s%s%s", folder, whole ? "" : "/",
                  recording->output) <= SETTING_NAME_MOST;
}

static void default_output(struct recording *recording) {
  const char *name =
      strrchr(recording->program, '/') ? strrchr(recording->program, '/') + 1 : recording->program;
  snprintf(recording->output, sizeof recording->output, "winnow.%.200s.%d.trace", name, (int)getpid());
}

static void set_preload(const struct recording *recording) {
  const char *others = getenv("LD_PRELOAD");
  char *list = malloc(strlen(recording->library) + (others ? strlen(others) : 0) + 2);
  if (!list) _exit(127);
  sprintf(list, "%s%s%s", recording->library, others && *others ? ":" : "", others && *others ? others : "");
  setenv("LD_PRELOAD", list, 1);
}

/* Sets the variables for the program to this recording's settings, whatever the environment had
 * before. */
static void set_environment(const struct recording *recording) {
  struct settings settings = recording->settings;
  char pid[24], began[24];
  snprintf(pid, sizeof pid, "%d", (int)getpid());
  snprintf(began, sizeof began, "%llu", (unsigned long long)os_wall_ns());
  set_preload(recording);
  setting_set(&settings, SETTING_TRACE, recording->whole_output);
  setting_set(&settings, SETTING_PID, pid);
  setting_set(&settings, SETTING_BEGAN, began);
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
static void run_by_shell(const struct recording *recording) {
  size_t count = 0;
  while (recording->argv[count]) count++;
  char **argv = calloc(count + 2, sizeof *argv), shell[] = "/bin/sh";
  if (argv && program_is_plain_script(recording->program)) {
    argv[0] = shell;
    argv[1] = (char *)recording->program;
    memcpy(argv + 2, recording->argv + 1, count * sizeof *argv); /* including the NULL */
    execv(shell, argv);
  }
  errno = ENOEXEC;
}

static int run(const struct recording *recording, struct ending *ending) {
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
    set_environment(recording);
    execv(recording->program, recording->argv);
    if (errno == ENOEXEC) run_by_shell(recording);
    int error = errno;
    fputs("winnow: cannot run ", stderr);
    text_name(stderr, recording->program);
    fprintf(stderr, ": %s\n", strerror(error));
    _exit(error == ENOENT ? 127 : 126);
  }
  child = pid;
  for (int i = 0; i < 4; i++) sigaction(signals[i], i < 2 ? &passing : &ignoring, &old[i]);
  sigprocmask(SIG_SETMASK, &mask, NULL);
  siginfo_t ended;
  while (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {}
  if (!is_quiet(recording) && !follows(recording)) ending->left = left_behind_find(pid, recording->library);
  ending->work = children_work(pid, &ending->wait_status);
  child = 0;
  for (int i = 0; i < 4; i++) sigaction(signals[i], &old[i], NULL);
  return 0;
}

/* Ends this process as the program ended. */
static int pass_status(int wait_status) {
  if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
  int signal_number = WTERMSIG(wait_status);
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core); /* a core file of the program must not be replaced */
  signal(signal_number, SIG_DFL);
  raise(signal_number);
  return 128 + signal_number;
}

/* How much of the traces is read only to tell them apart: about a second of work and 150 MB of
 * memory. (By /usr/bin/time, winnow info took 2.2 s for 57 MB of traces, and 290 MB of memory for
 * one of 14 MB.) */
static const struct trace_table_limits children_limits = {
    .lines = 10, .file_bytes = 8 << 20, .all_bytes = 32 << 20};

/* Prints how to look at a trace. */
static void say_how_to_look(const char *path) {
  fputs("in a browser: ", stderr);
  text_word(stderr, command_called());
  fputs(" view ", stderr);
  text_file(stderr, path);
  fputs("; now: ", stderr);
  text_word(stderr, command_called());
  fputs(" report ", stderr);
  text_file(stderr, path);
  fputc('\n', stderr);
}

/* Prints the overview of the program's own trace and those of its children; and how to look at the
 * one that allocated most, unless that is the program's own, of which this was said. */
static void say_which_is_which(const char *output, const struct children *children) {
  const char **paths = calloc(children->count + 1, sizeof *paths), *most;
  if (!paths) return;
  paths[0] = output;
  for (size_t i = 0; i < children->count; i++) paths[i + 1] = children->paths[i];
  trace_table_print(stderr, paths, children->count + 1, &children_limits, &most);
  if (most && most != output) {
    fputs("winnow: most was allocated in ", stderr);
    text_name(stderr, most);
    fputs("; ", stderr);
    say_how_to_look(most);
  }
  free(paths);
}

/* Prints why records are missing and what to do about it. `what` is incomplete: "the trace is". */
static void say_loss(const char *what, uint64_t lost, unsigned cause) {
  const char *advice = cause == TRACE_CAUSE_FILE_SIZE ? "raise the limit (ulimit -f)"
                       : cause == TRACE_CAUSE_MEMORY  ? "raise the limit (ulimit -v)"
                                                      : "make room, or write to another disk (-o)";
  if (lost && cause)
    fprintf(stderr, "winnow: %s, so %s incomplete; %s, or record less (--rate)\n", trace_cause_name(cause),
            what, advice);
}

static void finish_children(const struct recording *recording, struct unrecorded *unrecorded) {
  struct children children = children_finish(recording->output, unrecorded);
  if (children.traces && !is_quiet(recording)) {
    fprintf(stderr, "winnow: wrote %zu more %s, of %s that the program started: ", children.traces,
            children.traces == 1 ? "trace" : "traces", children.processes == 1 ? "a process" : "processes");
    text_name(stderr, recording->output);
    fputs(".*\n", stderr);
  }
  say_loss(is_quiet(recording) ? "some traces of children are" : "some of these are", children.lost,
           children.loss_cause);
  if (children.count && !is_quiet(recording)) {
    say_which_is_which(recording->output, &children);
    children_say_all(&children, recording->output);
  }
  children_free(&children);
}

/* How the program ended, for a trace without an end record: no exit handler wrote one. */
static struct trace_end end_of(const struct ending *ending) {
  int wait_status = ending->wait_status;
  bool by_signal = WIFSIGNALED(wait_status);
  return (struct trace_end){.time_ns = os_monotonic_ns(),
                            .kind = by_signal ? TRACE_END_SIGNAL : TRACE_END_LEFT,
                            .code = by_signal ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status),
                            .peak_bytes = ending->work.peak_bytes};
}

/* A longer command line is cut. */
enum { COMMAND_MOST = 400 };

static void say_how_to_trace_its_heap(const struct recording *recording) {
  size_t taken = 0;
  const struct setting_value *rate = &recording->settings.of[SETTING_RATE];
  fprintf(stderr, "%s=heap.trace", setting_rows[SETTING_TRACE].variable);
  if (rate->given) fprintf(stderr, " %s=%g", setting_rows[SETTING_RATE].variable, rate->fraction);
  for (size_t i = 0; recording->argv[i]; i++) {
    taken += strlen(recording->argv[i]);
    fputc(' ', stderr);
    if (taken > COMMAND_MOST) {
      fputs("...", stderr);
      break;
    }
    text_word(stderr, recording->argv[i]);
  }
}

/* Prints that the program has a collected heap, if it has. `program` is the recorded program: the
 * one that was started, or one that it became. */
static void say_if_it_collects(const struct recording *recording, const char *program) {
  enum collected collected = collected_in_file(program, NULL, 0);
  if (collected == COLLECTED_NONE) return;
  fputs("winnow: ", stderr);
  text_name(stderr, recording->called);
  fprintf(stderr, " has %s, whose blocks are not in this trace of malloc; ", collected_heap_name(collected));
  if (collected_asks(collected)) {
    fputs("to trace that heap: ", stderr);
    say_how_to_trace_its_heap(recording);
  } else {
    fputs(collected_advice(collected), stderr);
  }
  fputc('\n', stderr);
}

static void say_if_it_allocates_otherwise(const struct recording *recording) {
  if (!recording->allocator) return;
  fputs("winnow: ", stderr);
  text_name(stderr, recording->called);
  fprintf(stderr, " has another allocator linked in besides malloc (%s); its blocks are not in this trace\n",
          recording->allocator);
}

static void say_what_was_written(const struct chain_link *link) {
  const struct trace_totals *totals = &link->totals;
  char size[32], samples[64];
  uint64_t lost = totals->damage.records_lost;
  fputs("winnow: wrote ", stderr);
  text_name(stderr, link->path);
  fprintf(stderr, " (%s, %s", text_number_of(samples, (double)totals->samples, "sample"),
          text_bytes(size, (double)totals->file_bytes));
  if (lost) fprintf(stderr, "; %s lost", text_number_of(samples, (double)lost, "record"));
  fputs("); ", stderr);
  say_how_to_look(link->path);
  say_loss("the trace is", lost, totals->damage.loss_cause);
}

/* Removes the reserved file if it is empty. False: it is not empty, or cannot be removed. */
static bool remove_empty(const char *path) {
  struct stat status;
  if (lstat(path, &status)) return true;
  return S_ISREG(status.st_mode) && !status.st_size && !unlink(path);
}

/* What another process did to the reserved file: "was removed"; "was emptied", if it is empty, but was
 * written since; NULL: nothing that can be seen. */
static const char *harm_done(const struct recording *recording) {
  struct stat status;
  const struct timespec *since = &recording->prepared;
  if (lstat(recording->output, &status)) return errno == ENOENT ? "was removed" : NULL;
  bool written = status.st_mtim.tv_sec != since->tv_sec || status.st_mtim.tv_nsec != since->tv_nsec;
  return S_ISREG(status.st_mode) && !status.st_size && written ? "was emptied" : NULL;
}

/* `status`: why no trace was completed. */
static void say_nothing_was_recorded(const struct recording *recording, wn_status status) {
  const char *harm = harm_done(recording);
  bool nothing = remove_empty(recording->output);
  fputs(nothing && harm                   ? "winnow: nothing is left of the trace: "
        : nothing || status == WN_EFORMAT ? "winnow: nothing was recorded: "
                                          : "winnow: the trace is written, but could not be checked: ",
        stderr);
  text_name(stderr, !nothing ? wn_last_error() : harm ? recording->output : recording->called);
  if (nothing)
    fprintf(stderr, " %s", harm ? harm : "did not run with winnow's library, or could not create a trace");
  if (nothing && harm) fputs(" by another process", stderr);
  fputc('\n', stderr);
}

static void say_result(const struct recording *recording, const struct ending *ending,
                       struct unrecorded *unrecorded) {
  ascii_if_locale_asks(&stderr);
  struct exec_chain chain;
  struct trace_end end = end_of(ending);
  struct progress progress;
  struct trace_finishing finishing = {.end = &end,
                                      .resident_before = os_peak_bytes(), /* of this program, before exec */
                                      .progress = is_quiet(recording) ? NULL : progress_show,
                                      .context = &progress};
  progress_begin(&progress, "Completing the trace");
  wn_status status = chain_finish(&chain, recording->output, recording->called, &finishing, unrecorded);
  progress_end(&progress);
  if (status ==
      WN_EBUSY) { /* a process that does not write the trace has it open: it must not be truncated */
    if (!is_quiet(recording)) {
      fputs("winnow: wrote ", stderr);
      text_name(stderr, recording->output);
      fputs(", which a process that the program left behind keeps open\n", stderr);
    }
  } else if (status) {
    say_nothing_was_recorded(recording, status);
  } else if (is_quiet(recording)) {
    const struct trace_damage *damage = &chain.links[chain.main].totals.damage;
    say_loss("the trace is", damage->records_lost, damage->loss_cause);
  } else {
    char program[PATH_MAX];
    const struct chain_link *main = &chain.links[chain.main];
    say_what_was_written(main);
    chain_say(&chain);
    if (!chain.main) {
      say_if_it_allocates_otherwise(recording);
      say_if_it_collects(recording, recording->program);
    } else if (main->name && program_find(main->name, program)) {
      say_if_it_collects(recording, program);
    }
  }
  chain_free(&chain);
}

/* Whether the processes that were not recorded did enough work to mention. In a short run it must
 * be nearly all: wrapper scripts start a few programs before they become the intended one. */
static bool others_worked(const struct work *work) {
  bool most = work->childrens >= work->own, nearly_all = work->childrens >= 4 * work->own;
  return (most && work->childrens >= 0.1) || (nearly_all && work->own + work->childrens >= 0.02);
}

/* Prints that other processes did most of the work, as for a script: the trace of the process
 * itself then says little. */
static void say_if_others_worked(const struct recording *recording, const struct work *work) {
  char childrens[32], all[32];
  if (follows(recording) || is_quiet(recording) || !others_worked(work)) return;
  fputs("winnow: processes that ", stderr);
  text_name(stderr, recording->called);
  fprintf(stderr,
          " started used %s of the %s of processor time; they are not in its trace, and --follow-children "
          "records them too\n",
          text_time(childrens, (uint64_t)(work->childrens * 1e9)),
          text_time(all, (uint64_t)((work->own + work->childrens) * 1e9)));
}

/* Prints that processes go on running, such as daemons. */
static void say_if_others_go_on(const struct recording *recording, const struct left_behind *left) {
  if (!left->count) return;
  fputs("winnow: ", stderr);
  text_name(stderr, recording->called);
  fprintf(stderr, " left %zu %s running (", left->count, left->count == 1 ? "process" : "processes");
  text_name(stderr, left->names);
  fprintf(stderr, "); %s not in its trace, and --follow-children records %s too\n",
          left->count == 1 ? "it is" : "they are", left->count == 1 ? "it" : "them");
}

/* Prints that a shell ran the program, if that may be why it failed. These are the exit codes of
 * shells that do not find a command or do not understand the script. */
static void say_if_a_shell_ran_it(const struct recording *recording, int wait_status) {
  int code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0;
  if ((code != 2 && code != 126 && code != 127) || is_quiet(recording) ||
      !program_is_plain_script(recording->program))
    return;
  const char *interpreter = hint_interpreter(recording->program);
  fputs("winnow: ", stderr);
  text_word(stderr, recording->program);
  fputs(" names no interpreter in its first line, so /bin/sh ran it", stderr);
  if (interpreter) {
    fprintf(stderr, "; to run it by another interpreter: %s ", interpreter);
    text_word(stderr, recording->program);
  }
  fputc('\n', stderr);
}

/* Reserves the output file for as long as this process lives, empties it, and checks that it can be
 * written. */
static int prepare_output(struct recording *recording) {
  const char *path = recording->output;
  struct stat prepared;
  int reserved;
  bool was_there = !access(path, F_OK);
  if (chunk_file_reserve(path, &reserved)) return fail_job("%s", wn_last_error());
  if (!chain_begin(path) && !chunk_file_prepare(path)) {
    if (!stat(path, &prepared)) recording->prepared = prepared.st_mtim;
    return 0;
  }
  if (!was_there) remove_empty(path);
  return fail_job("%s", wn_last_error());
}

static int prepare(struct recording *recording) {
  recording->called = recording->argv[0];
  if (!program_find(recording->argv[0], recording->program)) return program_fail_to_find(recording->argv);
  if (recording->settings.of[SETTING_TRACE].given)
    strcpy(recording->output, recording->settings.of[SETTING_TRACE].text);
  else
    default_output(recording); /* named after the script, not its interpreter */
  for (int i = 0; i < 4 && program_through_env(recording->program, &recording->argv); i++) {}
  int code = program_check(recording->program, &recording->allocator);
  if (code) return code;
  if (!find_library(recording->library))
    return fail_job(WN_LIBRARY " is missing; is winnow installed completely?");
  if (strpbrk(recording->library, ": "))
    return fail_job("%s cannot be preloaded, since its path has a blank or a colon; install winnow elsewhere",
                    recording->library);
  if (!complete_output(recording)) return fail_job("the name of the output is too long");
  return prepare_output(recording);
}

/* ---- shared ---- */

void record_print_options(FILE *out) {
  for (const struct setting_row *row = setting_rows; row < setting_rows + SETTINGS; row++) {
    char names[40];
    if (!row->option) continue;
    snprintf(names, sizeof names, "-%c, --%s %s", row->letter, row->option,
             row->argument ? row->argument : "");
    fprintf(out, "  %-23s%s", names, row->help);
    if (row->argument && row->initial) fprintf(out, "; default %s", row->initial);
    fputc('\n', out);
  }
}

int command_record(int argc, char **argv) {
  static struct recording recording;
  struct ending ending = {0};
  struct unrecorded unrecorded = {0};
  int code = parse(&recording, argc, argv);
  if (!code) code = prepare(&recording);
  if (code) return code;
  if (follows(&recording)) children_begin(recording.output);
  code = run(&recording, &ending);
  if (code) return remove_empty(recording.output), code;
  say_result(&recording, &ending, &unrecorded);
  say_if_others_worked(&recording, &ending.work);
  say_if_others_go_on(&recording, &ending.left);
  say_if_a_shell_ran_it(&recording, ending.wait_status);
  if (follows(&recording)) finish_children(&recording, &unrecorded);
  if (follows(&recording) && !is_quiet(&recording)) unrecorded_say(&unrecorded);
  unrecorded_free(&unrecorded);
  return pass_status(ending.wait_status);
}
/* SPDX-License-Identifier: MIT */
