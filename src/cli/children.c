/* A file is of an earlier run if it was there before and is still the same file, of the same date. Comparing its date with
 * a clock would not do: files are dated in steps of a clock's tick or of seconds, and on a server by the server's clock.
 */
#include "cli/children.h"

#include "trace/finish.h"
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* OUTPUT and a dot with digits, whatever OUTPUT has in it. */
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
  if (number[strspn(number, "0123456789")] || stat(path, &status)) return false;
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

struct children children_finish(const char *output) {
  struct children children = {0};
  struct trace_totals totals;
  glob_t found;
  if (find(output, &found)) {
    children.paths = calloc(found.gl_pathc, sizeof *children.paths);
    for (size_t i = 0; children.paths && i < found.gl_pathc; i++) {
      if (!is_new(found.gl_pathv[i], output)) continue;
      wn_status status = trace_finish(found.gl_pathv[i], &totals); /* what is wrong, its reader will say */
      children.traces += !status || status == WN_EBUSY;
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

bool children_work(pid_t pid, struct work *work) {
  char path[64], text[1024] = "";
  unsigned long long times[4];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *file = fopen(path, "re");
  size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file) fclose(file);
  text[length] = 0;
  const char *behind = strrchr(text, ')'); /* the program's name, whatever it is */
  double ticks = (double)sysconf(_SC_CLK_TCK);
  if (!behind || ticks <= 0 ||
      sscanf(behind + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu", &times[0],
             &times[1], &times[2], &times[3]) != 4)
    return false;
  *work = (struct work){(double)(times[0] + times[1]) / ticks, (double)(times[2] + times[3]) / ticks};
  return true;
}
/* SPDX-License-Identifier: MIT */
