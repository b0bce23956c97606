/* Chooses the format of a file by its first bytes. */
#include "sources/source.h"

#include "base/error.h"
#include "base/hash.h"
#include "sources/dhat_profile.h"
#include "sources/heaptrack_trace.h"
#include "sources/inflated.h"
#include "sources/memory_bound.h"
#include "sources/memtrace_trace.h"
#include "sources/pprof_profile.h"
#include "sources/winnow_trace.h"
#include "trace/chunk.h"
#include "trace/stamp.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BYTES = 512 };

/* ZEROS: a trace of Winnow that was cut before its header was written, which its reader says. */
enum format { WINNOW, ZEROS, MEMTRACE, DHAT, PPROF, HEAPTRACK, COMPRESSED, TEXT, JEMALLOC, UNKNOWN };

static bool is_compressed(const unsigned char *bytes, size_t count) {
  static const unsigned char gzip[] = {0x1f, 0x8b}, zstandard[] = {0x28, 0xb5, 0x2f, 0xfd};
  return (count >= sizeof gzip && !memcmp(bytes, gzip, sizeof gzip)) ||
         (count >= sizeof zstandard && !memcmp(bytes, zstandard, sizeof zstandard));
}

/* The text that gperftools, and Go with debug=1 write. */
static bool is_text(const unsigned char *bytes, size_t count) {
  static const char heap[] = "heap profile: ";
  return count >= sizeof heap - 1 && !memcmp(bytes, heap, sizeof heap - 1);
}

static bool is_jemalloc(const unsigned char *bytes, size_t count) {
  static const char heap[] = "heap_v2/";
  return count >= sizeof heap - 1 && !memcmp(bytes, heap, sizeof heap - 1);
}

static enum format format_of(const unsigned char *bytes, size_t count) {
  if (count >= sizeof chunk_magic && !memcmp(bytes, chunk_magic, sizeof chunk_magic)) return WINNOW;
  if (count && !bytes[0] && !memcmp(bytes, bytes + 1, count - 1)) return ZEROS;
  if (memtrace_trace_begins(bytes, count)) return MEMTRACE;
  if (dhat_profile_begins((const char *)bytes, count)) return DHAT;
  if (pprof_profile_begins(bytes, count)) return PPROF;
  if (heaptrack_trace_begins((const char *)bytes, count)) return HEAPTRACK;
  if (is_text(bytes, count)) return TEXT;
  if (is_jemalloc(bytes, count)) return JEMALLOC;
  return is_compressed(bytes, count) ? COMPRESSED : UNKNOWN;
}

/* What a compressed file holds; COMPRESSED: nothing that is read. */
static enum format format_within(const char *path) {
  unsigned char bytes[FIRST_BYTES];
  struct inflated *file;
  if (inflated_open(path, &file)) return COMPRESSED;
  enum format format = format_of(bytes, (size_t)inflated_read(file, bytes, sizeof bytes));
  inflated_close(file);
  return format == PPROF || format == HEAPTRACK ? format : COMPRESSED;
}

/* Reads the beginning of a file. Nothing of what is no file that can be read. */
static size_t first_bytes(const char *path, unsigned char bytes[FIRST_BYTES]) {
  struct stat found;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0) return 0;
  ssize_t count =
      fstat(descriptor, &found) || !S_ISREG(found.st_mode) ? 0 : pread(descriptor, bytes, FIRST_BYTES, 0);
  close(descriptor);
  return count > 0 ? (size_t)count : 0;
}

static enum format format_of_file(const char *path) {
  unsigned char bytes[FIRST_BYTES];
  size_t count = first_bytes(path, bytes);
  enum format format = count ? format_of(bytes, count) : UNKNOWN;
  return format == COMPRESSED ? format_within(path) : format;
}

/* Says why a compressed file cannot be read. */
static wn_status refuse_compressed(const char *path) {
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

/* Says why a file is in no format that is read. */
static wn_status refuse_unknown(const char *path) {
  unsigned char bytes[FIRST_BYTES];
  size_t count = first_bytes(path, bytes);
  if (memtrace_trace_begins_big(bytes, count))
    return error_set(WN_EFORMAT, "%s is a Memtrace trace of a big-endian machine, which cannot be read",
                     path);
  return error_set(WN_EFORMAT,
                   "%s is not a Winnow trace, nor one of Memtrace, nor a heap profile of DHAT, heaptrack or "
                   "pprof; winnow record makes a trace",
                   path);
}

/* What no other reader knows is left to Winnow's own, which also says what is wrong with a file that cannot
 * be read. */
static wn_status open_own(const char *path, struct source **source) {
  wn_status error = winnow_trace_open(path, source);
  return error == WN_EINVAL ? refuse_unknown(path) : error;
}

static wn_status open_format(const char *path, struct source **source) {
  switch (format_of_file(path)) {
  case MEMTRACE: return memtrace_trace_open(path, source);
  case DHAT: return dhat_profile_open(path, source);
  case PPROF: return pprof_profile_open(path, source);
  case HEAPTRACK: return heaptrack_trace_open(path, source);
  case COMPRESSED: return refuse_compressed(path);
  case TEXT:
    return error_set(WN_EINVAL,
                     "%s is a heap profile as text, such as gperftools writes: convert it by "
                     "'go tool pprof -proto -output=NEW PROGRAM FILE', and give the new file",
                     path);
  case JEMALLOC:
    return error_set(WN_EINVAL,
                     "%s is a heap profile of jemalloc as text, which is not read; go tool pprof "
                     "does not convert it either, and jeprof reads it",
                     path);
  default: return open_own(path, source);
  }
}

/* ---- shared ---- */

uint64_t source_file_stamp(const char *path) {
  struct stat found;
  if (stat(path, &found)) return 0;
  uint64_t stamp = hash_combine((uint64_t)found.st_size, (uint64_t)found.st_mtim.tv_sec);
  stamp = hash_combine(stamp, (uint64_t)found.st_mtim.tv_nsec);
  return stamp ? stamp : 1;
}

bool source_is_memtrace(const char *path) { return format_of_file(path) == MEMTRACE; }

bool source_begins(const char *path) {
  enum format format = format_of_file(path);
  return format == WINNOW || format == ZEROS || format == MEMTRACE;
}

wn_status source_open(const char *path, struct source **source) {
  memory_bound_begin(memory_bound_file_bytes(path));
  wn_status error = memory_bound_end(open_format(path, source));
  return error == WN_EINVAL ? WN_EFORMAT : error; /* it is the file, and no argument, that is wrong */
}

uint64_t source_stamp(const char *path) {
  enum format format = format_of_file(path);
  return format == WINNOW || format == ZEROS || format == TEXT || format == JEMALLOC || format == UNKNOWN
             ? trace_stamp(path)
             : source_file_stamp(path);
}
/* SPDX-License-Identifier: MIT */
