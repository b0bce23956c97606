/* Copies a trace that may be growing. A copy gets its name when it is whole; an older file stays
 * until then. */
#include "cli/snapshot.h"

#include "base/error.h"
#include "base/os.h"
#include "cli/command.h"
#include "cli/history_file.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/recordings.h"
#include "cli/text.h"
#include "compact/compact.h"
#include "trace/copy.h"
#include "trace/finish.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Whether the trace is still written is looked at so often. */
#define LOOK_NS ((uint64_t)200 * 1000 * 1000)

/* Writes what stands for the letter after a percent sign; false: the letter has no meaning. */
static bool write_part(FILE *out, char letter, int pid, unsigned number) {
  time_t now = time(NULL);
  struct tm parts;
  char text[32] = "";
  switch (letter) {
  case '%': fputc('%', out); return true;
  case 'p': fprintf(out, "%d", pid); return true;
  case 'n': fprintf(out, "%u", number); return true;
  case 't':
    if (localtime_r(&now, &parts)) strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
    fputs(text, out);
    return true;
  default: return false;
  }
}

/* NULL: the pattern is wrong, or there is not enough memory. */
static char *snapshot_name_of(const char *pattern, int pid, unsigned number) {
  char *name = NULL;
  size_t size;
  FILE *out = open_memstream(&name, &size);
  bool right = out;
  for (const char *at = pattern; right && *at; at++) {
    if (*at == '%')
      right = write_part(out, *++at, pid, number);
    else
      fputc(*at, out);
    if (!*at) break;
  }
  if (out) fclose(out);
  if (right) return name;
  free(name);
  return NULL;
}

/* The copy of a trace whose program goes on ends as one whose recording was stopped. */
static wn_status snapshot_complete(const char *path) {
  struct trace_end end = {.time_ns = os_monotonic_ns(), .kind = TRACE_END_STOP};
  struct trace_finishing finishing = {.end = &end};
  struct trace_totals totals;
  return trace_finish_with(path, &finishing, &totals);
}

/* What the copy takes the place of. */
static wn_status check_target(const char *path, const char *name) {
  struct stat source, target;
  if (lstat(name, &target)) return WN_OK;
  if (!S_ISREG(target.st_mode)) return error_set(WN_EINVAL, "%s is no file; choose another name", name);
  if (!stat(path, &source) && source.st_dev == target.st_dev && source.st_ino == target.st_ino)
    return error_set(WN_EINVAL, "%s is the trace itself; choose another name", name);
  return WN_OK;
}

/* `goes_on`: a process writes the trace. */
static wn_status copy_to(const char *path, const char *name, bool goes_on) {
  struct output output;
  wn_status status = check_target(path, name);
  if (!status) status = output_open(&output, name);
  if (status) return status;
  output_make_private(&output);
  status =
      history_exists(path) ? compact_copy(path, output_temporary()) : trace_copy(path, fileno(output.file));
  if (!status && goes_on) status = snapshot_complete(output_temporary());
  if (!status) return output_finish(&output);
  output_abandon(&output);
  return status;
}

static bool snapshot_is_gone(const char *path) {
  struct stat found;
  return stat(path, &found) && (errno == ENOENT || errno == ENOTDIR);
}

/* `again`: a copy was taken before. If the program has ended since then, the recorder may have
 * given its trace the name that the user chose: nothing is left to copy, and nothing is wrong. */
static int take_one(const struct recording_process *process, const char *pattern, unsigned number,
                    bool again) {
  char *name = snapshot_name_of(pattern, (int)process->pid, number), size[32];
  struct stat found;
  if (!name) return fail_usage("dump", "--output %s: behind %% stand t, p, n or %%", pattern);
  wn_status status = copy_to(process->path, name, process->pid != 0);
  if (!status && !stat(name, &found)) {
    printf("wrote %s, a trace of now (%s)\n", name, text_bytes(size, (double)found.st_size));
    fflush(stdout);
  }
  free(name);
  return !status || (again && snapshot_is_gone(process->path)) ? 0 : fail_job("%s", wn_last_error());
}

/* False: the process writes it no longer, since it ended or became another program. */
static bool snapshot_wait_for(const char *path, uint64_t ns) {
  uint64_t end = os_monotonic_ns() + ns;
  for (uint64_t now; (now = os_monotonic_ns()) < end && input_is_growing(path);) {
    uint64_t left = end - now < LOOK_NS ? end - now : LOOK_NS;
    nanosleep(&(struct timespec){.tv_sec = (time_t)(left / 1000000000), .tv_nsec = (long)(left % 1000000000)},
              NULL);
  }
  return input_is_growing(path);
}

static bool has_part(const char *pattern, char letter) {
  for (const char *at = strchr(pattern, '%'); at && at[1]; at = strchr(at + 2, '%'))
    if (at[1] == letter) return true;
  return false;
}

/* ---- shared ---- */

int snapshot_take(const char *name, const struct recordings *found, const char *pattern, uint64_t every_ns) {
  const struct recording_process none = {.path = (char *)name}, *first = name ? &none : found->items;
  size_t count = name ? 1 : found->count;
  if (!strcmp(pattern, "-")) return fail_usage("dump", "--output -: a trace is written to a file");
  if (every_ns && !has_part(pattern, 't') && !has_part(pattern, 'n'))
    return fail_usage(
        "dump", "with --loop the name of --output has %%t, the time, or %%n, a number, such as x-%%t.trace");
  if (every_ns && (name || count > 1))
    return fail_usage("dump", "--loop is for one process that records: give its number or its trace");
  if (count > 1 && !has_part(pattern, 'p') && !has_part(pattern, 'n'))
    return fail_usage("dump",
                      "there are %zu traces to copy: the name of --output needs %%p, the process, or %%n, a "
                      "number, such as x-%%p.trace",
                      count);
  int code = 0;
  unsigned number = 1;
  for (size_t i = 0; i < count && !code; i++) code = take_one(&first[i], pattern, number++, false);
  while (!code && every_ns && snapshot_wait_for(first->path, every_ns))
    code = take_one(first, pattern, number++, true);
  return code;
}
/* SPDX-License-Identifier: MIT */
