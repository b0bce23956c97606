/* The last hand on a trace. */
#include "trace/finish.h"

#include "base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void read_all(struct trace_reader *reader, struct trace_totals *totals) {
  struct trace_event event;
  while (trace_reader_next(reader, &event)) totals->samples += event.kind == TRACE_SAMPLE;
  totals->damage = *trace_reader_damage(reader);
}

/* Damaged chunks count as used: somebody may still save something from them. */
static wn_status cut_tail(int descriptor, const char *path, uint64_t end, struct trace_totals *totals) {
  struct stat found;
  if (fstat(descriptor, &found)) return error_set(WN_EIO, "cannot examine %s: %s", path, strerror(errno));
  totals->file_bytes = (uint64_t)found.st_size;
  if (totals->damage.out_of_memory || end >= totals->file_bytes) return WN_OK;
  if (ftruncate(descriptor, (off_t)end))
    return error_set(WN_EIO, "cannot shorten %s: %s", path, strerror(errno));
  totals->file_bytes = end;
  return WN_OK;
}

static wn_status finish_locked(int descriptor, const char *path, struct trace_totals *out) {
  struct trace_reader *reader;
  wn_status status = trace_reader_open(path, &reader);
  if (status) return status;
  struct trace_totals totals = {0};
  read_all(reader, &totals);
  uint64_t end = trace_reader_used_end(reader);
  trace_reader_close(reader);
  status = cut_tail(descriptor, path, end, &totals);
  if (!status) *out = totals;
  return status;
}

/* ---- shared ---- */

wn_status trace_finish(const char *path, struct trace_totals *out) {
  int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0) return error_set(WN_EIO, "cannot open %s: %s", path, strerror(errno));
  wn_status status;
  if (flock(descriptor, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
    status = error_set(WN_EBUSY, "%s is still being written", path);
  } else {
    status = finish_locked(descriptor, path, out);
  }
  close(descriptor);
  return status;
}
/* SPDX-License-Identifier: MIT */
