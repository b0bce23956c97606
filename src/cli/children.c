/* Finds the traces of child processes and joins them by process.
 *
 * A file belongs to an earlier run if it existed before with the same inode and the same
 * modification time. Comparing that time with a clock would not be reliable: file systems round
 * times to clock ticks or seconds, and a server uses its own clock.
 *
 * In the order of `compare` the files of one child are adjacent, its first trace first. Without
 * memory, files are left as they are.
 */
#include "cli/children.h"

#include "base/os.h"
#include "cli/chain.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/load.h"
#include "cli/text.h"
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

struct file {
  char *path;
  size_t own;  /* the length of the part of the path that is the name of the child's first trace */
  long number; /* after ".exec"; -1: this is the first trace */
  dev_t device;
  ino_t inode;
  struct timespec date;
  bool fresh; /* new, or rewritten */
};

struct files {
  glob_t found;
  struct file *files; /* in the order of `compare`; NULL: none */
  size_t count;
};

static struct files earlier;

/* Finds the files whose names begin with OUTPUT, a dot and a digit. Characters in OUTPUT that glob
 * would interpret are escaped. */
static bool find(const char *output, glob_t *found) {
  char pattern[2 * PATH_MAX + 8], *to = pattern;
  for (const char *from = output; *from; from++) {
    if (strchr("*?[]\\", *from)) *to++ = '\\';
    *to++ = *from;
  }
  strcpy(to, ".[0-9]*");
  return !glob(pattern, 0, NULL, found);
}

static const char *name_in(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* The number after ".exec", as Winnow writes it; -1: there is no ".exec"; -2: anything else. */
static long number_of(const char *end) {
  char again[24];
  if (!*end) return -1;
  if (strncmp(end, ".exec", 5) || strlen(end) > 8) return -2;
  long number = strtol(end + 5, NULL, 10);
  snprintf(again, sizeof again, ".exec%ld", number);
  return number >= 0 && number < EXEC_CHAIN_MOST && !strcmp(again, end) ? number : -2;
}

/* Describes a file. False if it does not exist, is a symbolic link, or has another kind of name. */
static bool look_at(char *path, const char *output, struct file *file) {
  struct stat status;
  /* glob may write slashes differently than `output`, so compare only the last component. */
  const char *numbers = name_in(path) + strlen(name_in(output)) + 1;
  const char *end = numbers + strspn(numbers, "0123456789-");
  long number = number_of(end);
  if (number < -1 || lstat(path, &status) || S_ISLNK(status.st_mode)) return false;
  *file = (struct file){.path = path,
                        .own = (size_t)(end - path),
                        .number = number,
                        .device = status.st_dev,
                        .inode = status.st_ino,
                        .date = status.st_mtim};
  return true;
}

static bool are_of_one_child(const struct file *one, const struct file *other) {
  return one->own == other->own && !memcmp(one->path, other->path, one->own);
}

static int compare(const void *one, const void *other) {
  const struct file *a = one, *b = other;
  int order = memcmp(a->path, b->path, a->own < b->own ? a->own : b->own);
  if (order) return order;
  if (a->own != b->own) return a->own < b->own ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}

static bool is_earlier(const struct file *file) {
  const struct file *old =
      earlier.files ? bsearch(file, earlier.files, earlier.count, sizeof *file, compare) : NULL;
  return old && old->device == file->device && old->inode == file->inode &&
         old->date.tv_sec == file->date.tv_sec && old->date.tv_nsec == file->date.tv_nsec;
}

static void list(struct files *files, const char *output) {
  *files = (struct files){.files = NULL};
  if (!find(output, &files->found)) return;
  files->files = calloc(files->found.gl_pathc, sizeof *files->files);
  for (size_t i = 0; files->files && i < files->found.gl_pathc; i++) {
    struct file *file = &files->files[files->count];
    if (!look_at(files->found.gl_pathv[i], output, file)) continue;
    file->fresh = !is_earlier(file);
    files->count++;
  }
  if (files->files) qsort(files->files, files->count, sizeof *files->files, compare);
}

static void forget(struct files *files) {
  free(files->files);
  if (files->found.gl_pathv) globfree(&files->found);
  *files = (struct files){.files = NULL};
}

/* ---- one child ---- */

static void add_loss(struct children *children, const struct trace_damage *damage) {
  children->lost += damage->records_lost;
  if (damage->loss_cause) children->loss_cause = damage->loss_cause;
}

/* Adds the files of a chain, and takes ownership of their paths. `children->paths` has room. */
static void add_links(struct children *children, struct exec_chain *chain) {
  bool any = false;
  for (size_t i = 0; i < chain->count; i++) {
    struct chain_link *link = &chain->links[i];
    if (!link->path) continue;
    bool is_trace = !link->status || link->status == WN_EBUSY;
    if (!link->status) add_loss(children, &link->totals.damage);
    children->traces += is_trace;
    any |= is_trace;
    children->paths[children->count++] = link->path;
    link->path = NULL;
  }
  children->processes += any;
}

/* Removes the later traces of a child of an earlier run that had the same process number. */
static void remove_old(const char *first, const struct file *files, size_t count) {
  bool begun_anew = files[0].number < 0 && files[0].fresh;
  for (size_t i = 0; begun_anew && i < count; i++)
    if (!files[i].fresh && files[i].number >= 0) chain_remove_old(first, (size_t)files[i].number);
}

/* The numbers of a child's new files. Only `winnow record` itself gives a file the number 0, so a
 * new one is not the child's. */
static uint64_t numbers_of(const struct file *files, size_t count) {
  uint64_t numbers = 0;
  for (size_t i = 0; i < count; i++)
    if (files[i].fresh && files[i].number)
      numbers |= UINT64_C(1) << (files[i].number < 0 ? 0 : files[i].number);
  return numbers;
}

static void finish_child(struct children *children, const struct file *files, size_t count,
                         struct unrecorded *unrecorded) {
  struct exec_chain chain;
  uint64_t numbers = numbers_of(files, count);
  char *first = numbers ? strndup(files[0].path, files[0].own) : NULL;
  if (!first) return;
  remove_old(first, files, count);
  chain_join(&chain, first, numbers, unrecorded);
  const struct chain_link *last = &chain.links[chain.count - 1];
  if (!last->status) unrecorded_count_own(unrecorded, &last->totals);
  add_links(children, &chain);
  chain_free(&chain);
  free(first);
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

/* ---- the command that shows all ---- */

/* Whether a trace is of this recording: of the program, of one that it became (chain_begin has removed
 * earlier ones), or of a child. */
static bool is_one_of(const struct children *children, const char *output, const char *path) {
  size_t length = strlen(output);
  if (!strncmp(path, output, length) && number_of(path + length) >= 0) return true;
  for (size_t i = 0; i < children->count; i++)
    if (load_is_same_file(children->paths[i], path)) return true;
  return load_is_same_file(output, path);
}

static void say_command(const char *name, const char *pattern) {
  text_word(stderr, command_called());
  fprintf(stderr, " %s ", name);
  text_word(stderr, pattern);
}

/* ---- shared ---- */

void children_begin(const char *output) { list(&earlier, output); }

struct children children_finish(const char *output, struct unrecorded *unrecorded) {
  struct children children = {0};
  struct files files;
  list(&files, output);
  children.paths = calloc(files.count + 1, sizeof *children.paths);
  for (size_t i = 0, next; children.paths && i < files.count; i = next) {
    for (next = i + 1; next < files.count && are_of_one_child(&files.files[i], &files.files[next]);) next++;
    finish_child(&children, &files.files[i], next - i, unrecorded);
  }
  forget(&files);
  forget(&earlier);
  return children;
}

void children_say_all(const struct children *children, const char *output) {
  char *pattern;
  struct inputs inputs;
  if (strpbrk(output, "*?[\\") || asprintf(&pattern, "%s*", output) < 0) return;
  const char *one = pattern;
  if (!inputs_open(&inputs, &one, 1)) {
    size_t others = 0;
    for (size_t i = 0; i < inputs.count; i++) others += !is_one_of(children, output, inputs.names[i]);
    fputs("winnow: all of them together: ", stderr);
    say_command("report", pattern);
    fputs("; in a browser: ", stderr);
    say_command("view", pattern);
    if (others)
      fprintf(stderr, "; %zu of these traces %s of another recording", others, others == 1 ? "is" : "are");
    fputc('\n', stderr);
    inputs_close(&inputs);
  }
  free(pattern);
}

void children_free(struct children *children) {
  for (size_t i = 0; i < children->count; i++) free(children->paths[i]);
  free(children->paths);
}

struct work children_work(pid_t pid, int *wait_status) {
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
/* SPDX-License-Identifier: MIT */
