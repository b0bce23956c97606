/* Decides which files can be joined, by their runs alone. */
#include "sources/files/joined.h"

#include "base/error.h"
#include "sources/files/open.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct examined {
  struct joined_part *part;
  struct joined_identity identity;
  enum source_heap heap;
  uint64_t file_bytes;
};

__attribute__((format(printf, 2, 3))) static void refuse(struct joined_part *part, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(part->why, sizeof part->why, format, arguments);
  va_end(arguments);
  part->selected = false;
}

static void joined_parts_examine(struct joined_part *part, struct examined *examined) {
  struct source *source;
  struct stat found;
  *examined = (struct examined){.part = part};
  part->selected = true;
  if (source_open(part->path, &source)) {
    refuse(part, "%s", wn_last_error());
    return;
  }
  const struct trace_run *run = source_run(source);
  examined->identity = joined_identity_of(run);
  examined->heap = source_heap(source);
  if (!stat(part->path, &found)) examined->file_bytes = (uint64_t)found.st_size;
  if (source_limits(source)->no_lives)
    refuse(part,
           "%s does not tell when its blocks were allocated and freed, so it cannot be joined with others",
           part->name);
  else if (!run->wall_ns || examined->heap == SOURCE_HEAP_UNKNOWN)
    refuse(part, "%s does not tell when its process began, so it cannot be joined with others", part->name);
  source_close(source);
}

/* Copies are next to each other, the longest first. */
static int joined_parts_by_identity(const void *a, const void *b) {
  const struct examined *one = a, *other = b;
  if (one->part->selected != other->part->selected) return one->part->selected ? -1 : 1;
  int order = memcmp(&one->identity, &other->identity, sizeof one->identity);
  if (order) return order;
  if (one->file_bytes != other->file_bytes) return one->file_bytes > other->file_bytes ? -1 : 1;
  return (one->part > other->part) - (one->part < other->part);
}

static void refuse_copies(const struct examined *all, size_t count) {
  const struct examined *last = NULL;
  for (size_t i = 0; i < count && all[i].part->selected; i++) {
    if (last && !memcmp(&last->identity, &all[i].identity, sizeof last->identity)) {
      refuse(all[i].part, "%s is the same recording as %s, which is counted once", all[i].part->name,
             last->part->name);
      all[i].part->copy = true;
    } else {
      last = &all[i];
    }
  }
}

/* One heap is of malloc, the other a collected one: their blocks have different fates. */
static wn_status check_heaps(const struct examined *all, size_t count) {
  const struct examined *first = NULL;
  for (size_t i = 0; i < count; i++) {
    if (!all[i].part->selected) continue;
    if (!first) first = &all[i];
    if (first->heap == all[i].heap) continue;
    bool malloc_first = first->heap == SOURCE_HEAP_MALLOC;
    return error_set(WN_EINVAL,
                     "%s is a trace of malloc and %s one of a collected heap: give one kind at a time",
                     malloc_first ? first->part->name : all[i].part->name,
                     malloc_first ? all[i].part->name : first->part->name);
  }
  return WN_OK;
}

/* ---- shared ---- */

struct joined_identity joined_identity_of(const struct trace_run *run) {
  struct joined_identity identity;
  memset(&identity, 0, sizeof identity); /* compared as bytes */
  identity.wall_ns = run->wall_ns;
  identity.monotonic_ns = run->monotonic_ns;
  identity.seed = run->seed;
  identity.pid = run->pid;
  if (run->host.length) snprintf(identity.host, sizeof identity.host, "%s", run->host.bytes);
  return identity;
}

wn_status joined_examine(struct joined_part *parts, size_t count) {
  struct examined *all = calloc(count + 1, sizeof *all);
  if (!all) return error_set(WN_ENOMEM, "not enough memory to look at the traces");
  for (size_t i = 0; i < count; i++) {
    parts[i].copy = false;
    joined_parts_examine(&parts[i], &all[i]);
  }
  qsort(all, count, sizeof *all, joined_parts_by_identity);
  refuse_copies(all, count);
  wn_status error = check_heaps(all, count);
  free(all);
  return error;
}
/* SPDX-License-Identifier: MIT */
