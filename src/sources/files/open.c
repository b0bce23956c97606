/* Selects the format of a file by its first bytes. */
#include "sources/files/open.h"

#include "base/error.h"
#include "base/open_file.h"
#include "sources/memory_bound.h"
#include "sources/profiles/inflated.h"
#include "sources/profiles/profiles.h"
#include "sources/traces/memtrace_trace.h"
#include "sources/traces/winnow_trace.h"
#include "trace/stamp.h"
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BYTES = 512 };

static bool begins_with(const unsigned char *bytes, size_t count, const void *first, size_t length) {
  return count >= length && !memcmp(bytes, first, length);
}

/* ---- formats that are known and not read ---- */

static bool open_is_compressed(const unsigned char *bytes, size_t count) {
  static const unsigned char gzip[] = {0x1f, 0x8b}, zstandard[] = {0x28, 0xb5, 0x2f, 0xfd};
  return begins_with(bytes, count, gzip, sizeof gzip) ||
         begins_with(bytes, count, zstandard, sizeof zstandard);
}

static wn_status refuse_compressed(const char *path, struct source **source) {
  (void)source;
  unsigned char bytes[FIRST_BYTES];
  struct inflated *file;
  wn_status error = inflated_open(path, &file);
  if (error) return error;
  inflated_read(file, bytes, sizeof bytes);
  const char *fault = inflated_fault(file);
  error = fault ? error_set(WN_EINVAL, "%s is a damaged compressed file: %s", path, fault)
                : error_set(WN_EINVAL,
                            "%s is compressed, but holds neither a heap profile for pprof nor "
                            "what heaptrack writes",
                            path);
  inflated_close(file);
  return error;
}

/* The text that gperftools, and Go with debug=1 write. */
static bool open_is_text(const unsigned char *bytes, size_t count) {
  return begins_with(bytes, count, "heap profile: ", 14);
}

static wn_status refuse_text(const char *path, struct source **source) {
  (void)source;
  return error_set(WN_EINVAL,
                   "%s is a heap profile as text, such as gperftools writes: convert it by "
                   "'go tool pprof -proto -output=NEW PROGRAM FILE', and give the new file",
                   path);
}

static bool is_jemalloc(const unsigned char *bytes, size_t count) {
  return begins_with(bytes, count, "heap_v2/", 8);
}

static wn_status refuse_jemalloc(const char *path, struct source **source) {
  (void)source;
  return error_set(WN_EINVAL,
                   "%s is a heap profile of jemalloc as text, which is not read; go tool pprof "
                   "does not convert it either, and jeprof reads it",
                   path);
}

static wn_status refuse_big_endian(const char *path, struct source **source) {
  (void)source;
  return error_set(WN_EFORMAT, "%s is a Memtrace trace of a big-endian machine, which cannot be read", path);
}

/* ---- the formats ---- */

/* Traits of a format. */
enum {
  IS_TRACE = 1, /* written while a program runs, and not a profile of it */
  INFLATES = 2  /* `open` reads compressed files, too */
};

struct file_format {
  bool (*begins)(const unsigned char *bytes, size_t count); /* its first bytes, inflated */
  wn_status (*open)(const char *path, struct source **source);
  unsigned traits;
};

/* A file is of the first format of this list whose `begins` accepts its first bytes. open_unknown
 * names the formats for users. */
static const struct file_format formats[] = {
    {winnow_trace_begins, winnow_trace_open, IS_TRACE},
    {memtrace_trace_begins, memtrace_trace_open, IS_TRACE},
    {memtrace_trace_begins_big, refuse_big_endian, 0},
    {heap_snapshot_begins, heap_snapshot_open, 0},
    {dhat_profile_begins, dhat_profile_open, 0},
    {pprof_profile_begins, pprof_profile_open, INFLATES},
    {heaptrack_trace_begins, heaptrack_trace_open, INFLATES},
    {open_is_text, refuse_text, 0},
    {is_jemalloc, refuse_jemalloc, 0},
    {open_is_compressed, refuse_compressed, 0},
};

/* NULL: none. */
static const struct file_format *format_of(const unsigned char *bytes, size_t count) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (formats[i].begins(bytes, count)) return &formats[i];
  return NULL;
}

/* The format of what a compressed file holds; NULL: nothing that is read. */
static const struct file_format *format_within(const char *path) {
  unsigned char bytes[FIRST_BYTES];
  struct inflated *file;
  if (inflated_open(path, &file)) return NULL;
  const struct file_format *format = format_of(bytes, (size_t)inflated_read(file, bytes, sizeof bytes));
  inflated_close(file);
  return format && format->traits & INFLATES ? format : NULL;
}

/* Reads the beginning of a file, and returns how many bytes that was: 0 if it is no regular file,
 * or cannot be read. */
static size_t first_bytes(const char *path, unsigned char bytes[FIRST_BYTES]) {
  struct stat found;
  int descriptor = open_file(path);
  if (descriptor < 0) return 0;
  ssize_t count =
      fstat(descriptor, &found) || !S_ISREG(found.st_mode) ? 0 : pread(descriptor, bytes, FIRST_BYTES, 0);
  close(descriptor);
  return count > 0 ? (size_t)count : 0;
}

static const struct file_format *format_of_file(const char *path) {
  unsigned char bytes[FIRST_BYTES];
  size_t count = first_bytes(path, bytes);
  const struct file_format *format = count ? format_of(bytes, count) : NULL;
  if (!format || format->begins != open_is_compressed) return format;
  const struct file_format *within = format_within(path);
  return within ? within : format;
}

/* Winnow's own reader says what is wrong with a file that cannot be read. */
static wn_status open_unknown(const char *path, struct source **source) {
  wn_status error = winnow_trace_open(path, source);
  return error != WN_EINVAL ? error
                            : error_set(WN_EFORMAT,
                                        "%s is not a Winnow trace, nor one of Memtrace, nor a heap snapshot, "
                                        "nor a heap profile of "
                                        "DHAT, heaptrack or pprof; winnow record makes a trace",
                                        path);
}

/* ---- shared ---- */

bool source_is_memtrace(const char *path) {
  const struct file_format *format = format_of_file(path);
  return format && format->open == memtrace_trace_open;
}

bool source_is_trace(const char *path) {
  const struct file_format *format = format_of_file(path);
  return format && format->traits & IS_TRACE;
}

bool source_is_snapshot(const char *path) {
  const struct file_format *format = format_of_file(path);
  return format && format->open == heap_snapshot_open;
}

wn_status source_open(const char *path, struct source **source) {
  memory_bound_begin(memory_bound_file_bytes(path));
  const struct file_format *format = format_of_file(path);
  wn_status error = memory_bound_end(format ? format->open(path, source) : open_unknown(path, source));
  return error == WN_EINVAL ? WN_EFORMAT : error; /* it is the file, and no argument, that is wrong */
}

uint64_t source_stamp(const char *path) {
  const struct file_format *format = format_of_file(path);
  return format && format->open != winnow_trace_open ? source_file_stamp(path) : trace_stamp(path);
}
/* SPDX-License-Identifier: MIT */
