/* The file under a writer. */
#include "trace/chunk_file.h"

#include "base/error.h"
#include "trace/chunk.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  /* Chunks that get space at a time, to save system calls. trace_finish gives back what is left over. */
  GROWTH_CHUNKS = 16,
  /* After a failure, one attempt in so many asks the system again. */
  REFUSALS = 64,
  /* fallocate gives up when a signal arrives; a profiler's timer must not starve it for ever. */
  INTERRUPTIONS = 100,
  /* Descriptors of the program are small numbers; ours keeps away from them. */
  HIGH_DESCRIPTOR = 900
};

/* ---- the descriptor ---- */

static int raw_open(const char *path, int flags) {
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
}

static void raw_close(int descriptor) { syscall(SYS_close, descriptor); }

/* Moves a descriptor out of the program's way, if the limit allows. */
static int raised(int descriptor) {
  int high = fcntl(descriptor, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
  if (high < 0) return descriptor;
  raw_close(descriptor);
  return high;
}

static bool is_ours(const struct chunk_file *file, int descriptor) {
  struct stat found;
  return descriptor >= 0 && !fstat(descriptor, &found) && found.st_dev == file->device &&
         found.st_ino == file->inode;
}

/* A descriptor of our file, opened again if need be; -1 if it cannot be had. */
static int descriptor_of(struct chunk_file *file) {
  int descriptor = atomic_load_explicit(&file->descriptor, memory_order_relaxed);
  if (atomic_load_explicit(&file->closed, memory_order_relaxed)) return -1;
  if (is_ours(file, descriptor)) return descriptor;
  int again = raw_open(file->path, 0);
  if (again < 0) return -1;
  again = raised(again);
  /* The lock needs no renewal: it lives as long as a mapping of the file made through the old descriptor. */
  if (is_ours(file, again) &&
      atomic_compare_exchange_strong_explicit(&file->descriptor, &descriptor, again, memory_order_relaxed,
                                              memory_order_relaxed))
    return again;
  raw_close(again);
  return -1;
}

/* ---- space ---- */

static uint64_t ceiling_of(const struct chunk_file *file) {
  uint64_t ceiling = file->limit_bytes ? file->limit_bytes : UINT64_MAX;
  struct rlimit limit;
  if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < ceiling)
    ceiling = limit.rlim_cur;
  return ceiling;
}

static void raise_to(_Atomic(uint64_t) *mark, uint64_t value) {
  uint64_t seen = atomic_load_explicit(mark, memory_order_relaxed);
  while (seen < value && !atomic_compare_exchange_weak_explicit(mark, &seen, value, memory_order_release,
                                                                memory_order_relaxed)) {}
}

static bool allocate(int descriptor, uint64_t from, uint64_t to) {
  for (int i = 0; i < INTERRUPTIONS; i++) {
    if (!syscall(SYS_fallocate, descriptor, 0, from, to - from)) return true;
    if (errno != EINTR) return false;
  }
  return false;
}

/* Gives space up to `end` at least, and to the chunks after it if the ceiling and the disk allow. */
static bool grow(struct chunk_file *file, int descriptor, uint64_t end, uint64_t ceiling) {
  uint64_t from = end - CHUNK_BYTES;
  uint64_t far = from + (uint64_t)GROWTH_CHUNKS * CHUNK_BYTES;
  if (far > ceiling) far = end;
  bool grown = allocate(descriptor, from, far);
  if (!grown && far != end && errno != EOPNOTSUPP) {
    far = end;
    grown = allocate(descriptor, from, far);
  }
  if (grown) raise_to(&file->allocated, far);
  return grown;
}

static bool write_zeros(int descriptor, uint64_t from) {
  static const unsigned char zeros[4096];
  for (uint64_t at = from; at < from + CHUNK_BYTES;) {
    long written = syscall(SYS_pwrite64, descriptor, zeros, sizeof zeros - at % sizeof zeros, at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += (uint64_t)written;
  }
  return true;
}

/* With fallocate a chunk gets its space first and its owner afterwards, so that a failure takes no number. */
static bool take_allocated(struct chunk_file *file, uint64_t *sequence) {
  uint64_t next = atomic_load_explicit(&file->next, memory_order_relaxed);
  do {
    uint64_t end = (next + 1) * CHUNK_BYTES;
    if (end <= atomic_load_explicit(&file->allocated, memory_order_acquire)) continue;
    uint64_t ceiling = ceiling_of(file);
    int descriptor = end <= ceiling ? descriptor_of(file) : -1;
    if (descriptor < 0) {
      errno = end <= ceiling ? EBADF : EFBIG;
      return false;
    }
    if (!grow(file, descriptor, end, ceiling)) return false;
  } while (!atomic_compare_exchange_weak_explicit(&file->next, &next, next + 1, memory_order_relaxed,
                                                  memory_order_relaxed));
  *sequence = next;
  return true;
}

/* Zeros must be written by the chunk's only owner, lest they fall on records. */
static bool take_written(struct chunk_file *file, uint64_t *sequence) {
  uint64_t next = atomic_load_explicit(&file->next, memory_order_relaxed);
  if ((next + 1) * CHUNK_BYTES > ceiling_of(file)) return false;
  int descriptor = descriptor_of(file);
  if (descriptor < 0) return false;
  next = atomic_fetch_add_explicit(&file->next, 1, memory_order_relaxed);
  *sequence = next;
  return (next + 1) * CHUNK_BYTES <= ceiling_of(file) && write_zeros(descriptor, next * CHUNK_BYTES);
}

static bool take(struct chunk_file *file, uint64_t *sequence) {
  if (atomic_load_explicit(&file->can_allocate, memory_order_relaxed)) {
    if (take_allocated(file, sequence)) return true;
    if (errno != EOPNOTSUPP && errno != ENOSYS) return false;
    atomic_store_explicit(&file->can_allocate, false, memory_order_relaxed);
  }
  return take_written(file, sequence);
}

static bool refused(struct chunk_file *file) {
  unsigned left = atomic_load_explicit(&file->refusals, memory_order_relaxed);
  if (!left) return false;
  atomic_store_explicit(&file->refusals, left - 1, memory_order_relaxed);
  return true;
}

/* ---- opening ---- */

static bool make_absolute(struct chunk_file *file, const char *path) {
  size_t length = 0;
  if (path[0] != '/') {
    if (!getcwd(file->path, sizeof file->path - 1)) return false;
    length = strlen(file->path);
    file->path[length++] = '/';
  }
  size_t rest = strlen(path);
  if (length + rest >= sizeof file->path) return false;
  memcpy(file->path + length, path, rest + 1);
  return true;
}

/* Whether the file may be written: nobody's letter is emptied because a variable names it. */
static bool is_empty_or_trace(int descriptor) {
  unsigned char begin[sizeof chunk_magic];
  ssize_t length = syscall(SYS_pread64, descriptor, begin, sizeof begin, 0);
  return !length || (length == (ssize_t)sizeof begin && !memcmp(begin, chunk_magic, sizeof begin));
}

/* Empties the file, which is safe only because nobody else holds its lock. */
static wn_status claim_file(struct chunk_file *file, int descriptor) {
  struct stat found;
  if (fstat(descriptor, &found))
    return error_set(WN_EIO, "cannot examine %s: %s", file->path, strerror(errno));
  if (!S_ISREG(found.st_mode)) return error_set(WN_EINVAL, "%s is not a regular file", file->path);
  if (flock(descriptor, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
    return error_set(WN_EBUSY, "%s is being written by another program", file->path);
  if (!is_empty_or_trace(descriptor)) return error_set(WN_EINVAL, "%s exists and is not a trace", file->path);
  if (ftruncate(descriptor, 0)) return error_set(WN_EIO, "cannot empty %s: %s", file->path, strerror(errno));
  file->device = found.st_dev;
  file->inode = found.st_ino;
  return WN_OK;
}

/* ---- shared ---- */

wn_status chunk_file_open(struct chunk_file *file, const char *path, bool exclusive, uint64_t limit_bytes) {
  if (!path[0] || !make_absolute(file, path)) return error_set(WN_EINVAL, "the trace has no usable path");
  int descriptor = raw_open(file->path, O_CREAT | (exclusive ? O_EXCL : 0));
  if (descriptor < 0) return error_set(WN_EIO, "cannot create %s: %s", file->path, strerror(errno));
  wn_status status = claim_file(file, descriptor);
  if (status) {
    raw_close(descriptor);
    return status;
  }
  file->limit_bytes = limit_bytes;
  atomic_init(&file->descriptor, raised(descriptor));
  atomic_init(&file->can_allocate, true);
  atomic_init(&file->next, 0);
  atomic_init(&file->allocated, 0);
  atomic_init(&file->refusals, 0);
  return WN_OK;
}

bool chunk_file_take(struct chunk_file *file, uint64_t *sequence) {
  if (refused(file)) return false;
  int saved = errno;
  bool taken = take(file, sequence);
  if (!taken) atomic_store_explicit(&file->refusals, REFUSALS, memory_order_relaxed);
  errno = saved;
  return taken;
}

void *chunk_file_map(struct chunk_file *file, uint64_t sequence) {
  int saved = errno;
  int descriptor = descriptor_of(file);
  void *chunk = MAP_FAILED;
  if (descriptor >= 0)
    chunk = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
                 (off_t)(sequence * CHUNK_BYTES));
  errno = saved;
  return chunk == MAP_FAILED ? NULL : chunk;
}

static int take_descriptor(struct chunk_file *file) {
  atomic_store_explicit(&file->closed, true, memory_order_relaxed);
  int descriptor = atomic_exchange_explicit(&file->descriptor, -1, memory_order_relaxed);
  return is_ours(file, descriptor) ? descriptor : -1;
}

void chunk_file_close(struct chunk_file *file) {
  int saved = errno;
  int descriptor = take_descriptor(file);
  if (descriptor >= 0) raw_close(descriptor);
  errno = saved;
}

void chunk_file_cut_and_close(struct chunk_file *file) {
  int saved = errno;
  int descriptor = take_descriptor(file);
  uint64_t end = atomic_load_explicit(&file->next, memory_order_relaxed) * CHUNK_BYTES;
  if (descriptor >= 0 && end < atomic_load_explicit(&file->allocated, memory_order_relaxed))
    syscall(SYS_ftruncate, descriptor, end); /* what is left over may stay, if it must */
  if (descriptor >= 0) raw_close(descriptor);
  errno = saved;
}
/* SPDX-License-Identifier: MIT */
