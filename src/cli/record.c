/* winnow record: runs a program with libwinnow-malloc preloaded, and passes on how it ended.
 *
 * Nothing of the program is touched before it is known that it can be recorded: a statically linked program ignores the
 * preload, and so does one that gains privileges; a script is as good as its interpreter, which is /bin/sh if it names none.
 *
 * While the program runs, signals of the terminal reach it directly, so we ignore them; SIGTERM and SIGHUP are passed on.
 */
#include "cli/command.h"

#include "analysis/query.h"
#include "base/os.h"
#include "cli/children.h"
#include "cli/overview.h"
#include "cli/text.h"
#include "trace/chunk.h"
#include "trace/finish.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

struct recording {
  char output[PATH_MAX], whole_output[PATH_MAX]; /* as the user knows it, and as the program needs it */
  bool output_given, follow, quiet;
  int rate_given; /* by --rate or --every */
  double rate;
  long depth;
  char seed[24];
  char library[PATH_MAX];
  char program[PATH_MAX];
  char **argv; /* of the program */
};

static volatile sig_atomic_t child;

static void pass_on(int signal) {
  int saved = errno;
  if (child) kill((pid_t)child, signal);
  errno = saved;
}

/* ---- the command line ---- */

static bool parse_number(const char *text, double least, double most, double *number) {
  char *end;
  *number = strtod(text, &end);
  return *text && !*end && *number >= least && *number <= most;
}

static bool parse_seed(const char *text, char seed[24]) {
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 0);
  if (!*text || *text == '-' || *end || errno) return false;
  snprintf(seed, 24, "%llu", value);
  return true;
}

static int parse_option(struct recording *recording, int option) {
  double number;
  switch (option) {
  case 'o':
    if (!*optarg) return fail_usage("record", "the name of the output is empty");
    if (strlen(optarg) + 24 > sizeof recording->output)
      return fail_usage("record", "the name of the output is too long");
    strcpy(recording->output, optarg);
    recording->output_given = true;
    return 0;
  case 'r':
    if (recording->rate_given++)
      return fail_usage("record", "--rate and --every say the same; give one of them");
    if (!parse_number(optarg, 0, 1, &recording->rate))
      return fail_usage("record", "--rate %s: it must be a number from 0 to 1, such as 1e-4", optarg);
    return 0;
  case 'e':
    if (recording->rate_given++)
      return fail_usage("record", "--rate and --every say the same; give one of them");
    if (!query_bytes(optarg, &number) || number < 8)
      return fail_usage("record", "--every %s: it must be a size of at least 8 bytes, such as 512K", optarg);
    recording->rate = 8 / number;
    return 0;
  case 'd':
    if (!parse_number(optarg, 0, 1024, &number) || number != floor(number))
      return fail_usage("record", "--stack-depth %s: it must be a whole number from 0 to 1024", optarg);
    recording->depth = (long)number;
    return 0;
  case 's':
    if (!parse_seed(optarg, recording->seed))
      return fail_usage("record", "--seed %s: it must be a whole number", optarg);
    return 0;
  case 'f': recording->follow = true; return 0;
  default: recording->quiet = true; return 0;
  }
}

static int parse(struct recording *recording, int argc, char **argv) {
  static const struct option options[] = {
      {"output", required_argument, NULL, 'o'}, {"rate", required_argument, NULL, 'r'},
      {"every", required_argument, NULL, 'e'},  {"stack-depth", required_argument, NULL, 'd'},
      {"seed", required_argument, NULL, 's'},   {"follow-children", no_argument, NULL, 'f'},
      {"quiet", no_argument, NULL, 'q'},        {0}};
  int option;
  opterr = 0; /* one line is enough, and it is ours */
  while ((option = getopt_long(argc, argv, "+:o:r:e:d:s:fq", options, NULL)) != -1) {
    bool wrong = option == '?' || option == ':';
    int code = wrong ? fail_option("record", option, argv, options) : parse_option(recording, option);
    if (code) return code;
  }
  if (optind == argc)
    return fail_usage("record", "which program? usage: winnow record [OPTION...] -- PROGRAM [ARGUMENT...]");
  recording->argv = argv + optind;
  return 0;
}

/* ---- what can be recorded ---- */

static bool is_program(const char *path) {
  struct stat status;
  return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK);
}

/* Finds a program as execvp does. */
static bool find_program(const char *name, char path[PATH_MAX]) {
  if (strchr(name, '/')) {
    snprintf(path, PATH_MAX, "%s", name);
    return is_program(path);
  }
  const char *folders = getenv("PATH");
  if (!folders) folders = "/usr/local/bin:/usr/bin:/bin";
  while (*folders) {
    size_t length = strcspn(folders, ":");
    snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, folders, length ? "/" : "", name);
    if (is_program(path)) return true;
    folders += length + (folders[length] == ':');
  }
  return false;
}

/* The interpreter that a script names in its first line. */
static bool find_interpreter(const char *begin, size_t length, char path[PATH_MAX]) {
  size_t at = 2;
  while (at < length && (begin[at] == ' ' || begin[at] == '\t')) at++;
  size_t end = at;
  while (end < length && !strchr(" \t\n", begin[end])) end++;
  snprintf(path, PATH_MAX, "%.*s", (int)(end - at), begin + at);
  return end > at;
}

/* The program that a first line "#!/usr/bin/env NAME" means; env's options and settings are left to env. */
static bool names_by_env(const char *begin, size_t length, char name[PATH_MAX]) {
  static const char *const envs[] = {"/usr/bin/env ", "/bin/env "};
  size_t at = 2;
  while (at < length && begin[at] == ' ') at++;
  for (size_t i = 0; i < sizeof envs / sizeof *envs; i++) {
    size_t taken = strlen(envs[i]);
    if (length - at < taken || memcmp(begin + at, envs[i], taken)) continue;
    const char *word = begin + at + taken, *end = memchr(word, '\n', length - at - taken);
    if (!end || end == word || end - word >= 256) return false;
    snprintf(name, PATH_MAX, "%.*s", (int)(end - word), word);
    return !strpbrk(name, " \t\r=\\") && *name != '-';
  }
  return false;
}

/* A script that names its interpreter through env is started as env would start it: env would execute the interpreter,
 * which then is a program that the recorded one executed, and those are left alone. */
static bool through_env(struct recording *recording) {
  char begin[256], name[PATH_MAX], found[PATH_MAX];
  int fd = open(recording->program, O_RDONLY | O_CLOEXEC), count = 0;
  ssize_t length = fd < 0 ? -1 : pread(fd, begin, sizeof begin, 0);
  if (fd >= 0) close(fd);
  if (length < 3 || memcmp(begin, "#!", 2) || !names_by_env(begin, (size_t)length, name) ||
      !find_program(name, found))
    return false;
  while (recording->argv[count]) count++;
  char **argv = calloc((size_t)count + 2, sizeof *argv);
  if (!argv) return false;
  argv[0] = strdup(name);
  argv[1] = strdup(recording->program);
  memcpy(argv + 2, recording->argv + 1, (size_t)count * sizeof *argv); /* with the NULL */
  recording->argv = argv;
  strcpy(recording->program, found);
  return argv[0] && argv[1];
}

/* Whether an ELF file asks for the dynamic loader. */
static bool is_dynamic(int fd, const Elf64_Ehdr *header) {
  for (unsigned i = 0; i < header->e_phnum; i++) {
    Elf64_Phdr segment;
    off_t at = (off_t)(header->e_phoff + (uint64_t)i * header->e_phentsize);
    if (pread(fd, &segment, sizeof segment, at) != (ssize_t)sizeof segment) return false;
    if (segment.p_type == PT_INTERP) return true;
  }
  return false;
}

static int check_privileges(const char *path, const struct stat *status) {
  bool gains = (status->st_mode & S_ISUID && status->st_uid != geteuid()) ||
               (status->st_mode & S_ISGID && status->st_gid != getegid()) ||
               (geteuid() && getxattr(path, "security.capability", NULL, 0) > 0);
  if (!gains) return 0;
  return fail_job("%s gains privileges when it starts (set-uid, set-gid or capabilities), so the system "
                  "ignores the preload; "
                  "run winnow as the user it becomes",
                  path);
}

/* What the system does not know how to run and a shell would: text without an interpreter's name. */
static bool is_plain_script(const char *begin, ssize_t length) {
  return length >= 0 && !(length > 1 && !memcmp(begin, "#!", 2)) && !memchr(begin, 0, (size_t)length);
}

static int check_program(const char *path, int depth) {
  union {
    Elf64_Ehdr elf;
    char text[256];
  } begin;
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail_job("cannot read %s: %s", path, strerror(errno));
  ssize_t length = pread(fd, &begin, sizeof begin, 0);
  bool elf = length >= (ssize_t)sizeof begin.elf && !memcmp(begin.elf.e_ident, ELFMAG, SELFMAG);
  bool native = elf && begin.elf.e_ident[EI_CLASS] == ELFCLASS64;
  bool dynamic = native && is_dynamic(fd, &begin.elf);
  bool readable = !fstat(fd, &status);
  close(fd);
  if (elf && !native) return fail_job("%s is a 32-bit program; only 64-bit programs can be recorded", path);
  if (elf && !dynamic)
    return fail_job(
        "%s is statically linked, so its malloc cannot be replaced; link it dynamically to record it", path);
  int code = elf && readable ? check_privileges(path, &status) : 0;
  char interpreter[PATH_MAX];
  if (!elf && length > 2 && !memcmp(begin.text, "#!", 2) && depth < 4 &&
      find_interpreter(begin.text, (size_t)length, interpreter))
    return check_program(interpreter, depth + 1);
  if (!elf && depth < 4 && is_plain_script(begin.text, length)) return check_program("/bin/sh", depth + 1);
  return code;
}

/* The library stands beside us in a build tree, or in ../lib/winnow of the place where we are installed. */
static bool find_library(char path[PATH_MAX]) {
  static const char *const places[] = {"/../preload/libwinnow-malloc.so",
                                       "/../" WN_LIBDIR "/libwinnow-malloc.so",
                                       "/../lib/libwinnow-malloc.so"};
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

/* ---- running ---- */

/* The program may change its folder, so it gets the trace's whole name. */
static bool complete_output(struct recording *recording) {
  char folder[PATH_MAX] = "";
  bool whole = *recording->output == '/';
  if (!whole && !getcwd(folder, sizeof folder)) return false;
  return snprintf(recording->whole_output, sizeof recording->whole_output, "%s%s%s", folder, whole ? "" : "/",
                  recording->output) < (int)sizeof recording->whole_output - 24;
}

static void default_output(struct recording *recording) {
  const char *name =
      strrchr(recording->program, '/') ? strrchr(recording->program, '/') + 1 : recording->program;
  snprintf(recording->output, sizeof recording->output, "winnow.%.200s.%d.trace", name, (int)getpid());
}

static void set_environment(const struct recording *recording) {
  char number[40];
  const char *others = getenv("LD_PRELOAD");
  char *list = malloc(strlen(recording->library) + (others ? strlen(others) : 0) + 2);
  if (!list) _exit(127);
  sprintf(list, "%s%s%s", recording->library, others && *others ? ":" : "", others && *others ? others : "");
  setenv("LD_PRELOAD", list, 1);
  setenv("WINNOW_TRACE", recording->whole_output, 1);
  snprintf(number, sizeof number, "%.17g", recording->rate);
  setenv("WINNOW_RATE", number, 1);
  snprintf(number, sizeof number, "%ld", recording->depth);
  setenv("WINNOW_DEPTH", number, 1);
  snprintf(number, sizeof number, "%d", (int)getpid());
  setenv("WINNOW_PID", number, 1);
  if (*recording->seed) setenv("WINNOW_SEED", recording->seed, 1);
  if (recording->follow) setenv("WINNOW_FOLLOW", "1", 1);
}

/* As execvp and every shell: a file in no format that the system knows is a script of /bin/sh, if it is text. */
static void run_by_shell(const struct recording *recording) {
  char begin[256];
  size_t count = 0;
  int fd = open(recording->program, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : pread(fd, begin, sizeof begin, 0);
  while (recording->argv[count]) count++;
  char **argv = calloc(count + 2, sizeof *argv), shell[] = "/bin/sh";
  if (argv && is_plain_script(begin, length)) {
    argv[0] = shell;
    argv[1] = (char *)recording->program;
    memcpy(argv + 2, recording->argv + 1, count * sizeof *argv); /* with the NULL */
    execv(shell, argv);
  }
  errno = ENOEXEC;
}

static int run(const struct recording *recording, int *wait_status) {
  struct sigaction passing = {.sa_handler = pass_on, .sa_flags = SA_RESTART},
                   ignoring = {.sa_handler = SIG_IGN}, old[4];
  static const int signals[4] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
  fflush(NULL);
  pid_t pid = fork();
  if (pid < 0) return fail_job("cannot start a process: %s", strerror(errno));
  if (!pid) {
    set_environment(recording);
    execv(recording->program, recording->argv);
    if (errno == ENOEXEC) run_by_shell(recording);
    fprintf(stderr, "winnow: cannot run %s: %s\n", recording->program, strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
  }
  child = pid;
  for (int i = 0; i < 4; i++) sigaction(signals[i], i < 2 ? &passing : &ignoring, &old[i]);
  while (waitpid(pid, wait_status, 0) < 0 && errno == EINTR) {}
  child = 0;
  for (int i = 0; i < 4; i++) sigaction(signals[i], &old[i], NULL);
  return 0;
}

/* Ends as the program did. */
static int pass_status(int wait_status) {
  if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
  int signal_number = WTERMSIG(wait_status);
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core); /* the program's own core file, if any, must not be replaced by ours */
  signal(signal_number, SIG_DFL);
  raise(signal_number);
  return 128 + signal_number;
}

/* What may be read only to tell the traces apart: a second or so of work, and of memory some ten times a file. */
static const struct overview_limits children_limits = {
    .lines = 10, .file_bytes = 16 << 20, .all_bytes = 64 << 20};

/* The program's own trace is one of them. */
static void say_which_is_which(const char *output, const struct children *children) {
  const char **paths = calloc(children->count + 1, sizeof *paths);
  if (!paths) return;
  paths[0] = output;
  for (size_t i = 0; i < children->count; i++) paths[i + 1] = children->paths[i];
  overview_print(stderr, paths, children->count + 1, &children_limits);
  free(paths);
}

static void finish_children(const struct recording *recording) {
  struct children children = children_finish(recording->output);
  if (children.count && !recording->quiet) {
    fprintf(stderr, "winnow: wrote %zu more, of %s started: %s.*\n", children.count,
            children.count == 1 ? "a process that it" : "processes that it", recording->output);
    say_which_is_which(recording->output, &children);
  }
  children_free(&children);
}

/* How the program ended, for a trace that does not say: exit handlers would have said it. */
static struct trace_end ending(int wait_status) {
  bool by_signal = WIFSIGNALED(wait_status);
  return (struct trace_end){.time_ns = os_monotonic_ns(),
                            .kind = by_signal ? TRACE_END_SIGNAL : TRACE_END_LEFT,
                            .code = by_signal ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status)};
}

static void say_if_it_became_another(const struct recording *recording, const struct trace_totals *totals) {
  if (recording->follow || !totals->damage.complete || totals->end.kind != TRACE_END_EXEC) return;
  bool known = *totals->became;
  fprintf(stderr, "winnow: %s became another program%s", recording->argv[0], known ? " (" : "");
  text_plain(stderr, totals->became, strlen(totals->became));
  fprintf(stderr, "%s by exec; --follow-children records that too\n", known ? ")" : "");
}

static void say_result(const struct recording *recording, int wait_status) {
  struct trace_totals totals;
  char size[32], samples[64];
  struct trace_end end = ending(wait_status);
  struct progress progress;
  struct trace_finishing finishing = {
      .end = &end, .progress = recording->quiet ? NULL : progress_show, .context = &progress};
  progress_begin(&progress, "Completing the trace");
  wn_status status = trace_finish_with(recording->output, &finishing, &totals);
  progress_end(&progress);
  if (status ==
      WN_EBUSY) { /* it inherited the file by a bare system call; it writes nothing, but we must not cut */
    if (!recording->quiet)
      fprintf(stderr, "winnow: wrote %s, which a process that the program left behind keeps open\n",
              recording->output);
    return;
  }
  if (status) {
    fprintf(stderr, "winnow: nothing was recorded: %s\n", wn_last_error());
    return;
  }
  if (recording->quiet) return;
  uint64_t lost = totals.damage.records_lost;
  fprintf(stderr, "winnow: wrote %s (%s, %s", recording->output,
          text_number_of(samples, (double)totals.samples, "sample"),
          text_bytes(size, (double)totals.file_bytes));
  if (lost) fprintf(stderr, "; %s lost", text_number_of(samples, (double)lost, "record"));
  fputs("); now: ", stderr);
  text_word(stderr, command_called());
  fputs(" report ", stderr);
  text_word(stderr, recording->output);
  fputc('\n', stderr);
  say_if_it_became_another(recording, &totals);
}

/* Empties the file that the trace will be written to. What is no trace of ours is not overwritten, nor is a trace that
 * another program is writing. */
static int prepare_output(const char *path) {
  unsigned char begin[sizeof chunk_magic];
  struct stat status;
  int code = 0, fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return fail_job("cannot write %s: %s", path, strerror(errno));
  ssize_t length = pread(fd, begin, sizeof begin, 0);
  if (fstat(fd, &status) || !S_ISREG(status.st_mode))
    code = fail_job("%s is not a file; a trace needs one", path);
  else if (length && (length < (ssize_t)sizeof begin || memcmp(begin, chunk_magic, sizeof begin)))
    code = fail_job("%s exists and is not a trace; choose another name", path);
  else if (flock(fd, LOCK_EX | LOCK_NB))
    code = fail_job("%s is being written by another program; choose another name", path);
  else if (ftruncate(fd, 0))
    code = fail_job("cannot write %s: %s", path, strerror(errno));
  close(fd);
  return code;
}

static int fail_to_find(const char *name) {
  struct stat status;
  if (!strchr(name, '/'))
    return fail_job("there is no program '%s' in the search path%s%s%s", name, is_program(name) ? "; ./" : "",
                    is_program(name) ? name : "", is_program(name) ? " is one" : "");
  if (stat(name, &status)) return fail_job("there is no program '%s': %s", name, strerror(errno));
  if (S_ISDIR(status.st_mode)) return fail_job("%s is a directory, not a program", name);
  return fail_job("%s cannot be run: %s", name,
                  S_ISREG(status.st_mode) ? "it is not executable" : "it is not a file");
}

static int prepare(struct recording *recording) {
  if (!find_program(recording->argv[0], recording->program)) return fail_to_find(recording->argv[0]);
  if (!recording->output_given)
    default_output(recording); /* named for the script, not for what interprets it */
  for (int i = 0; i < 4 && through_env(recording); i++) {}
  int code = check_program(recording->program, 0);
  if (code) return code;
  if (!find_library(recording->library))
    return fail_job("libwinnow-malloc.so is missing; is winnow installed completely?");
  if (strpbrk(recording->library, ": "))
    return fail_job("%s cannot be preloaded, since its path has a blank or a colon; install winnow elsewhere",
                    recording->library);
  if (!complete_output(recording)) return fail_job("the name of the output is too long");
  return prepare_output(recording->output);
}

/* ---- shared ---- */

int command_record(int argc, char **argv) {
  static struct recording recording = {.rate = 1e-4, .depth = 512};
  int wait_status = 0, code = parse(&recording, argc, argv);
  if (!code) code = prepare(&recording);
  if (!code && recording.follow) children_begin(recording.output);
  if (!code) code = run(&recording, &wait_status);
  if (code) return code;
  say_result(&recording, wait_status);
  if (recording.follow) finish_children(&recording);
  return pass_status(wait_status);
}
/* SPDX-License-Identifier: MIT */
