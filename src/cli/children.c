/* A file is of an earlier run if it was there before and is still the same file, of the same date. Comparing its date with
 * a clock would not do: files are dated in steps of a clock's tick or of seconds, and on a server by the server's clock.
 */
#include "cli/children.h"

#include "trace/finish.h"
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

struct file {
  char *path;
  dev_t device;
  ino_t number;
  struct timespec date;
};

static struct {
  glob_t found;
  struct file *files; /* sorted by path; NULL: none */
  size_t count;
} earlier;

/* OUTPUT and a dot with digits, perhaps another number behind a dash, whatever OUTPUT has in it. */
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

/* False for a file that is none, or whose name goes on after the number. */
static bool look_at(char *path, const char *output, struct file *file) {
  struct stat status;
  const char *number = name_in(path) + strlen(name_in(output)) + 1; /* glob may write slashes otherwise */
  if (number[strspn(number, "0123456789-")] || lstat(path, &status) || S_ISLNK(status.st_mode)) return false;
  *file = (struct file){path, status.st_dev, status.st_ino, status.st_mtim};
  return true;
}

static int compare(const void *one, const void *other) {
  return strcmp(((const struct file *)one)->path, ((const struct file *)other)->path);
}

void children_begin(const char *output) {
  if (!find(output, &earlier.found)) return;
  earlier.files = calloc(earlier.found.gl_pathc, sizeof *earlier.files);
  for (size_t i = 0; earlier.files && i < earlier.found.gl_pathc; i++)
    earlier.count += look_at(earlier.found.gl_pathv[i], output, &earlier.files[earlier.count]);
  if (earlier.files) qsort(earlier.files, earlier.count, sizeof *earlier.files, compare);
}

static bool is_new(char *path, const char *output) {
  struct file file;
  if (!look_at(path, output, &file)) return false;
  const struct file *old =
      earlier.files ? bsearch(&file, earlier.files, earlier.count, sizeof file, compare) : NULL;
  return !old || old->device != file.device || old->number != file.number ||
         old->date.tv_sec != file.date.tv_sec || old->date.tv_nsec != file.date.tv_nsec;
}

static void add_loss(struct children *children, const struct trace_damage *damage) {
  children->lost += damage->records_lost;
  if (damage->loss_cause) children->loss_cause = damage->loss_cause;
}

struct children children_finish(const char *output, struct unrecorded *unrecorded) {
  static const struct trace_finishing nothing_more;
  struct children children = {0};
  struct trace_totals totals;
  glob_t found;
  if (find(output, &found)) {
    children.paths = calloc(found.gl_pathc, sizeof *children.paths);
    for (size_t i = 0; children.paths && i < found.gl_pathc; i++) {
      if (!is_new(found.gl_pathv[i], output)) continue;
      wn_status status = unrecorded_finish(unrecorded, found.gl_pathv[i], &nothing_more,
                                           &totals); /* what is wrong, its reader will say */
      if (!status) unrecorded_count_own(unrecorded, &totals);
      children.traces += !status || status == WN_EBUSY;
      if (!status) add_loss(&children, &totals.damage);
      char *path = strdup(found.gl_pathv[i]);
      if (path) children.paths[children.count++] = path;
    }
    globfree(&found);
  }
  free(earlier.files);
  if (earlier.found.gl_pathv) globfree(&earlier.found);
  memset(&earlier, 0, sizeof earlier);
  return children;
}

void children_free(struct children *children) {
  for (size_t i = 0; i < children->count; i++) free(children->paths[i]);
  free(children->paths);
}

struct work children_work(pid_t pid, int *wait_status) {
  struct timespec own = {0};
  struct rusage usage = {0};
  clockid_t clock;
  /* The process's clock stops as it ends, and is gone once it was waited for. */
  bool known = !clock_getcpuclockid(pid, &clock) && !clock_gettime(clock, &own);
  pid_t waited;
  while ((waited = wait4(pid, wait_status, 0, &usage)) < 0 && errno == EINTR) {}
  if (!known || waited != pid) return (struct work){0};
  double seconds = (double)own.tv_sec + (double)own.tv_nsec / 1e9,
         all = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  return (struct work){seconds, all > seconds ? all - seconds : 0};
}
/* SPDX-License-Identifier: MIT */
