/* The file under a writer. */
#include "trace/chunk_file.h"

#include "base/error.h"
#include "base/os.h"
#include "trace/chunk.h"
#include "trace/event.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  /* Of the chunks that there are, one in so many gets space in advance, but no more than so many at
   * a time. trace_finish gives back what is left over. */
  GROWTH_PART = 4,
  GROWTH_CHUNKS = 16,
  /* After a failure, one attempt in so many asks the system again. */
  REFUSALS = 64,
  /* fallocate gives up when a signal arrives; a profiler's timer must not starve it for ever. */
  INTERRUPTIONS = 100,
  /* Descriptors of the program are small numbers; ours keeps away from them. */
  HIGH_DESCRIPTOR = 900,
  PERMISSIONS = 07777,
  /* To create or open a file that others create and remove meanwhile. */
  ATTEMPTS = 10,
  /* For a name in a folder: so many traces of one process number may begin in one millisecond. */
  NAME_ATTEMPTS = 1000,
  LOCK_ATTEMPTS = 200,
  LOCK_PAUSE_NS = 1000 * 1000,
  HELD_BYTES = 4096
};

/* ---- the descriptor ---- */

/* A trace tells much of a program: what is created is the user's alone, and no symbolic link leads
 * elsewhere. */
static int chunk_file_raw_open(const char *path, int flags) {
  return (int)syscall(SYS_openat, AT_FDCWD, path,
                      flags | O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW, S_IRUSR | S_IWUSR);
}

static void raw_close(int descriptor) { syscall(SYS_close, descriptor); }

/* Moves a descriptor out of the program's way, if the limit allows. */
static int chunk_file_raised(int descriptor) {
  int high = fcntl(descriptor, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
  if (high < 0) return descriptor;
  raw_close(descriptor);
  return high;
}

static bool chunk_file_examine(const struct chunk_file *file, int descriptor, struct stat *found) {
  return descriptor >= 0 && !fstat(descriptor, found) && found->st_dev == file->device &&
         found->st_ino == file->inode;
}

static bool chunk_file_is_ours(const struct chunk_file *file, int descriptor) {
  struct stat found;
  return chunk_file_examine(file, descriptor, &found);
}

/* A descriptor of our file, opened again if need be, and what the file is now; -1 if it cannot be
 * had. */
static int descriptor_and_state(struct chunk_file *file, struct stat *found) {
  int descriptor = atomic_load_explicit(&file->descriptor, memory_order_relaxed);
  if (atomic_load_explicit(&file->closed, memory_order_relaxed)) return -1;
  if (chunk_file_examine(file, descriptor, found)) return descriptor;
  int again = chunk_file_raw_open(file->path, 0);
  if (again < 0) return -1;
  again = chunk_file_raised(again);
  /* The lock needs no renewal: it lives as long as `held`, which the old descriptor made. */
  if (chunk_file_examine(file, again, found) &&
      atomic_compare_exchange_strong_explicit(&file->descriptor, &descriptor, again, memory_order_relaxed,
                                              memory_order_relaxed))
    return again;
  raw_close(again);
  return -1;
}

static int descriptor_of(struct chunk_file *file) {
  struct stat found;
  return descriptor_and_state(file, &found);
}

/* CUT: a descriptor of our file, -1 if it cannot be had or if the file was found shorter. The load
 * pairs with chunk_file_raise_to: the file had the size before. */
static int descriptor_of_whole(struct chunk_file *file) {
  struct stat found;
  uint64_t size = atomic_load_explicit(&file->size, memory_order_acquire);
  int descriptor = descriptor_and_state(file, &found);
  if (descriptor < 0 || (uint64_t)found.st_size >= size) return descriptor;
  atomic_store_explicit(&file->cut, true, memory_order_relaxed);
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

static void chunk_file_raise_to(_Atomic(uint64_t) *mark, uint64_t value) {
  uint64_t seen = atomic_load_explicit(mark, memory_order_relaxed);
  while (seen < value && !atomic_compare_exchange_weak_explicit(mark, &seen, value, memory_order_release,
                                                                memory_order_relaxed)) {}
}

/* False, with errno, if a system call cannot be tried for space up to `end`. */
static bool may_grow(struct chunk_file *file, uint64_t end, int *descriptor) {
  bool allowed = end <= ceiling_of(file);
  *descriptor = allowed ? descriptor_of_whole(file) : -1;
  if (*descriptor < 0) errno = allowed ? EBADF : EFBIG;
  return *descriptor >= 0;
}

static bool chunk_file_allocate(struct chunk_file *file, int descriptor, uint64_t from, uint64_t to) {
  for (int i = 0; i < INTERRUPTIONS; i++) {
    if (!syscall(SYS_fallocate, descriptor, 0, from, to - from)) {
      chunk_file_raise_to(&file->size, to);
      return true;
    }
    if (errno != EINTR) return false;
  }
  return false;
}

/* Gives space to the chunk that ends at `end`, and to some after it if the ceiling and the disk
 * allow. */
static bool chunk_file_grow(struct chunk_file *file, int descriptor, uint64_t end) {
  uint64_t from = end - CHUNK_BYTES, more = from / CHUNK_BYTES / GROWTH_PART;
  uint64_t far = end + (more < GROWTH_CHUNKS ? more : GROWTH_CHUNKS) * CHUNK_BYTES;
  if (far > ceiling_of(file)) far = end;
  bool grown = chunk_file_allocate(file, descriptor, from, far);
  if (!grown && far != end && errno != EOPNOTSUPP) {
    far = end;
    grown = chunk_file_allocate(file, descriptor, from, far);
  }
  if (grown) chunk_file_raise_to(&file->allocated, far);
  return grown;
}

static bool write_zeros(struct chunk_file *file, int descriptor, uint64_t from, uint64_t to) {
  static const unsigned char zeros[4096];
  while (from < to) {
    long written = syscall(SYS_pwrite64, descriptor, zeros, sizeof zeros - from % sizeof zeros, from);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    from += (uint64_t)written;
  }
  chunk_file_raise_to(&file->size, to);
  return true;
}

/* The space that a chunk begins with. */
static uint32_t first_space(bool small) {
  size_t page = os_page_bytes();
  return !small || page > CHUNK_BYTES ? CHUNK_BYTES : (uint32_t)page;
}

/* With fallocate a chunk gets its space first and its owner afterwards, so that a failure takes no
 * number. */
static bool take_allocated(struct chunk_file *file, bool small, struct taken_chunk *chunk) {
  uint64_t next = atomic_load_explicit(&file->next, memory_order_relaxed);
  int descriptor;
  do {
    uint64_t from = next * CHUNK_BYTES;
    chunk->space = CHUNK_BYTES;
    if (from + CHUNK_BYTES <= atomic_load_explicit(&file->allocated, memory_order_acquire)) continue;
    chunk->space = first_space(small);
    if (!may_grow(file, from + chunk->space, &descriptor)) return false;
    if (!(chunk->space < CHUNK_BYTES ? chunk_file_allocate(file, descriptor, from, from + chunk->space)
                                     : chunk_file_grow(file, descriptor, from + CHUNK_BYTES)))
      return false;
  } while (!atomic_compare_exchange_weak_explicit(&file->next, &next, next + 1, memory_order_relaxed,
                                                  memory_order_relaxed));
  chunk->sequence = next;
  return true;
}

/* Space for a part of a chunk that is the caller's. */
static bool chunk_file_fill(struct chunk_file *file, int descriptor, uint64_t from, uint64_t to) {
  if (atomic_load_explicit(&file->can_allocate, memory_order_relaxed)) {
    if (chunk_file_allocate(file, descriptor, from, to)) return true;
    if (errno != EOPNOTSUPP && errno != ENOSYS) return false;
    atomic_store_explicit(&file->can_allocate, false, memory_order_relaxed);
  }
  return write_zeros(file, descriptor, from, to);
}

/* Zeros must be written by the chunk's only owner, lest they fall on records; and under a bound
 * space must be allocated by it, lest it falls on a chunk that was dropped meanwhile. */
static bool take_owned(struct chunk_file *file, bool small, struct taken_chunk *chunk,
                       struct dropped_chunks *dropped) {
  uint64_t next = atomic_load_explicit(&file->next, memory_order_relaxed);
  int descriptor;
  chunk->space = first_space(small);
  if (!may_grow(file, next * CHUNK_BYTES + chunk->space, &descriptor) ||
      !disk_bound_make_room(&file->bound, descriptor, chunk->space, dropped))
    return false;
  chunk->sequence = atomic_fetch_add_explicit(&file->next, 1, memory_order_relaxed);
  uint64_t from = chunk->sequence * CHUNK_BYTES, to = from + chunk->space;
  bool filled = may_grow(file, to, &descriptor) && chunk_file_fill(file, descriptor, from, to);
  disk_bound_has_grown(&file->bound, chunk->space);
  return filled;
}

static bool take_chunk_file(struct chunk_file *file, bool small, struct taken_chunk *chunk,
                            struct dropped_chunks *dropped) {
  bool bound = file->bound.most_bytes;
  if (!bound && atomic_load_explicit(&file->can_allocate, memory_order_relaxed)) {
    if (take_allocated(file, small, chunk)) return true;
    if (errno != EOPNOTSUPP && errno != ENOSYS) return false;
    atomic_store_explicit(&file->can_allocate, false, memory_order_relaxed);
  }
  return take_owned(file, small, chunk, dropped);
}

static bool extend_chunk_file(struct chunk_file *file, const struct taken_chunk *chunk, uint32_t space,
                              struct dropped_chunks *dropped) {
  uint64_t begin = chunk->sequence * CHUNK_BYTES, more = space - chunk->space;
  int descriptor;
  if (!may_grow(file, begin + space, &descriptor) ||
      !disk_bound_make_room(&file->bound, descriptor, more, dropped))
    return false;
  bool extended = chunk_file_fill(file, descriptor, begin + chunk->space, begin + space);
  disk_bound_has_grown(&file->bound, more);
  return extended;
}

static enum trace_loss_cause chunk_file_cause_of(int error) {
  switch (error) {
  case ENOSPC: return TRACE_CAUSE_DISK;
  case EDQUOT: return TRACE_CAUSE_QUOTA;
  case EFBIG: return TRACE_CAUSE_FILE_SIZE;
  case ENOMEM: return TRACE_CAUSE_MEMORY;
  case ENOBUFS: return TRACE_CAUSE_BOUND;
  default: return TRACE_CAUSE_FILE;
  }
}

static void note_refusal(struct chunk_file *file) {
  atomic_store_explicit(&file->cause, (uint8_t)chunk_file_cause_of(errno), memory_order_relaxed);
  atomic_store_explicit(&file->refusals, REFUSALS, memory_order_relaxed);
}

static bool chunk_file_refused(struct chunk_file *file) {
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

/* Whether the file may be written: a file that is no trace is not emptied because a variable names
 * it. */
static bool is_empty_or_trace(int descriptor) {
  unsigned char begin[sizeof chunk_magic];
  ssize_t length = syscall(SYS_pread64, descriptor, begin, sizeof begin, 0);
  return !length || (length == (ssize_t)sizeof begin && !memcmp(begin, chunk_magic, sizeof begin));
}

/* A reader takes the lock for a moment, to see whether the file is being written, or to cut it
 * (trace_finish): so a writer that finds the lock taken waits for a while. */
static bool chunk_file_take_lock(int descriptor) {
  const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
  for (int i = 0; i < LOCK_ATTEMPTS; i++) {
    if (!flock(descriptor, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) return true;
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
  }
  return false;
}

static wn_status fail_to_open(const char *path) {
  if (errno == ELOOP) return error_set(WN_EINVAL, "%s is a symbolic link; choose another name", path);
  return error_set(WN_EIO, "cannot write %s: %s", path, strerror(errno));
}

/* FOLDER: completes a path that ends with a slash. `attempt` is part of the name. False: it is too long. */
static bool name_in_folder(char path[PATH_MAX], size_t length, uint64_t attempt) {
  size_t room = PATH_MAX - length;
  uint64_t milliseconds = os_wall_ns() / 1000000 + attempt;
  return (size_t)snprintf(path + length, room, "%d.%llu" CHUNK_FILE_ENDING, (int)getpid(),
                          (unsigned long long)milliseconds) < room;
}

static wn_status create_in_folder(struct chunk_file *file, const char *path, int *descriptor) {
  size_t length =
      (size_t)(strrchr(file->path, '/') - file->path) + 1; /* without the name of an earlier attempt */
  for (uint64_t i = 0; i < NAME_ATTEMPTS; i++) {
    if (!name_in_folder(file->path, length, i)) return error_set(WN_EINVAL, "%s: the name is too long", path);
    *descriptor = chunk_file_raw_open(file->path, O_CREAT | O_EXCL);
    if (*descriptor >= 0) return WN_OK;
    if (errno != EEXIST) break;
  }
  return fail_to_open(path);
}

/* Creates the file; or opens it, if it is there already and may be opened. `fresh`: it was created
 * here. */
static wn_status chunk_file_open_file(struct chunk_file *file, const char *path, int *descriptor,
                                      bool *fresh) {
  *fresh = true;
  if (path[strlen(path) - 1] == '/') return create_in_folder(file, path, descriptor);
  for (int i = 0; i < ATTEMPTS; i++) {
    *descriptor = chunk_file_raw_open(file->path, O_CREAT | O_EXCL);
    *fresh = *descriptor >= 0;
    if (*fresh) return WN_OK;
    if (errno != EEXIST) break;
    *descriptor = chunk_file_raw_open(file->path, 0);
    if (*descriptor >= 0) return WN_OK;
    if (errno != ENOENT) break; /* else it went meanwhile */
  }
  return fail_to_open(path);
}

/* Whether a file that was there already is a trace of ours, or empty and ours. The names of traces
 * can be guessed, and in a folder that all may write to, another user may have put a file there
 * that is not ours, or a link to another file. */
static wn_status check_ours(const char *path, int descriptor, const struct stat *found) {
  if (found->st_uid != geteuid())
    return error_set(WN_EINVAL, "%s belongs to another user; choose another name", path);
  if (found->st_nlink != 1) return error_set(WN_EINVAL, "%s has other names too; choose another name", path);
  if (!is_empty_or_trace(descriptor))
    return error_set(WN_EINVAL, "%s exists and is not a trace; choose another name", path);
  return WN_OK;
}

/* Takes the lock of a file, and describes it. */
static wn_status lock_file(const char *path, int descriptor, bool fresh, struct stat *found) {
  if (fstat(descriptor, found)) return error_set(WN_EIO, "cannot examine %s: %s", path, strerror(errno));
  if (!S_ISREG(found->st_mode)) return error_set(WN_EINVAL, "%s is not a file; a trace needs one", path);
  if (!chunk_file_take_lock(descriptor))
    return error_set(WN_EBUSY, "%s is being written by another program; choose another name", path);
  if (fstat(descriptor, found)) return error_set(WN_EIO, "cannot examine %s: %s", path, strerror(errno));
  return fresh ? WN_OK : check_ours(path, descriptor, found);
}

/* Takes the lock and empties the file: safe, since no other writer has the lock. A file that other
 * users could read becomes private. */
static wn_status claim_file(struct chunk_file *file, const char *path, int descriptor, bool fresh) {
  struct stat found;
  wn_status status = lock_file(path, descriptor, fresh, &found);
  if (status) return status;
  mode_t private = found.st_mode & (S_IRUSR | S_IWUSR);
  if (private != (found.st_mode & PERMISSIONS) && fchmod(descriptor, private))
    return error_set(WN_EIO, "cannot make %s private: %s", path, strerror(errno));
  if (found.st_size && ftruncate(descriptor, 0))
    return error_set(WN_EIO, "cannot empty %s: %s", path, strerror(errno));
  file->device = found.st_dev;
  file->inode = found.st_ino;
  return WN_OK;
}

/* Whether the name was taken from the file between its opening and its claim: `winnow record`
 * removes traces under their lock (folder.c in cli/record), so a writer that waited for the lock may find
 * the file so. */
static bool chunk_file_has_no_name(int descriptor) {
  struct stat found;
  return !fstat(descriptor, &found) && !found.st_nlink;
}

static wn_status open_and_claim(struct chunk_file *file, const char *path, int *descriptor, bool *fresh) {
  *descriptor = -1;
  *fresh = false;
  if (!path[0] || !make_absolute(file, path)) return error_set(WN_EINVAL, "the trace has no usable path");
  for (int i = 0;; i++) {
    wn_status status = chunk_file_open_file(file, path, descriptor, fresh);
    if (status) return status;
    status = claim_file(file, path, *descriptor, *fresh);
    bool again = i < ATTEMPTS && chunk_file_has_no_name(*descriptor);
    if (!again && !status) return WN_OK;
    raw_close(*descriptor);
    if (!again) return status;
  }
}

/* ---- shared ---- */

wn_status chunk_file_open(struct chunk_file *file, const char *path, uint64_t limit_bytes) {
  int descriptor;
  bool fresh;
  wn_status status = open_and_claim(file, path, &descriptor, &fresh);
  if (status) return status;
  file->fresh = fresh;
  file->limit_bytes = limit_bytes;
  file->bound = (struct disk_bound){0};
  void *held = mmap(NULL, HELD_BYTES, PROT_NONE, MAP_SHARED, descriptor, 0);
  atomic_init(&file->held, held == MAP_FAILED ? NULL : held);
  atomic_init(&file->descriptor, chunk_file_raised(descriptor));
  atomic_init(&file->can_allocate, true);
  atomic_init(&file->next, 0);
  atomic_init(&file->allocated, 0);
  atomic_init(&file->size, 0);
  atomic_init(&file->cut, false);
  atomic_init(&file->cause, TRACE_CAUSE_UNKNOWN);
  atomic_init(&file->refusals, 0);
  return WN_OK;
}

wn_status chunk_file_check(const char *path) {
  struct stat found;
  int descriptor = chunk_file_raw_open(path, 0);
  if (descriptor < 0) return fail_to_open(path);
  wn_status status = lock_file(path, descriptor, false, &found);
  raw_close(descriptor);
  return status;
}

bool chunk_file_bind(struct chunk_file *file, uint64_t bound_bytes) {
  return disk_bound_create(&file->bound, bound_bytes, &file->next, file->device, file->inode);
}

bool chunk_file_take(struct chunk_file *file, bool small, struct taken_chunk *chunk,
                     struct dropped_chunks *dropped) {
  if (chunk_file_refused(file)) return false;
  int saved = errno;
  bool taken = take_chunk_file(file, small, chunk, dropped);
  if (!taken) note_refusal(file);
  errno = saved;
  return taken;
}

bool chunk_file_extend(struct chunk_file *file, struct taken_chunk *chunk, struct dropped_chunks *dropped) {
  if (chunk->space == CHUNK_BYTES || chunk_file_refused(file)) return false;
  int saved = errno;
  uint32_t space = chunk->space < CHUNK_BYTES / 2 ? 2 * chunk->space : CHUNK_BYTES;
  bool extended = extend_chunk_file(file, chunk, space, dropped);
  if (extended)
    chunk->space = space;
  else
    note_refusal(file);
  errno = saved;
  return extended;
}

void chunk_file_give_back(struct chunk_file *file, uint64_t sequence) {
  int saved = errno;
  int descriptor = descriptor_of(file);
  if (descriptor >= 0) disk_bound_give_back(&file->bound, descriptor, sequence);
  errno = saved;
}

void *chunk_file_map(struct chunk_file *file, uint64_t sequence) {
  int saved = errno;
  int descriptor = descriptor_of(file);
  void *chunk = MAP_FAILED;
  if (descriptor < 0)
    errno = EBADF;
  else
    chunk = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
                 (off_t)(sequence * CHUNK_BYTES));
  if (chunk == MAP_FAILED)
    atomic_store_explicit(&file->cause, (uint8_t)chunk_file_cause_of(errno), memory_order_relaxed);
  errno = saved;
  return chunk == MAP_FAILED ? NULL : chunk;
}

bool chunk_file_is_whole(struct chunk_file *file, bool look) {
  if (look) {
    int saved = errno;
    descriptor_of_whole(file);
    errno = saved;
  }
  return !atomic_load_explicit(&file->cut, memory_order_relaxed);
}

static int take_descriptor(struct chunk_file *file) {
  atomic_store_explicit(&file->closed, true, memory_order_relaxed);
  void *held = atomic_exchange_explicit(&file->held, NULL, memory_order_relaxed);
  if (held) munmap(held, HELD_BYTES);
  int descriptor = atomic_exchange_explicit(&file->descriptor, -1, memory_order_relaxed);
  return chunk_file_is_ours(file, descriptor) ? descriptor : -1;
}

void chunk_file_close(struct chunk_file *file) {
  int saved = errno;
  int descriptor = take_descriptor(file);
  if (descriptor >= 0) raw_close(descriptor);
  errno = saved;
}

void chunk_file_free(struct chunk_file *file) { disk_bound_destroy(&file->bound); }

void chunk_file_give_up(struct chunk_file *file) {
  int saved = errno;
  if (file->fresh) unlink(file->path);
  errno = saved;
  chunk_file_close(file);
}

void chunk_file_cut_and_close(struct chunk_file *file, uint64_t end) {
  int saved = errno;
  int descriptor = take_descriptor(file);
  if (descriptor >= 0) syscall(SYS_ftruncate, descriptor, end); /* what is left over may stay, if it must */
  if (descriptor >= 0) raw_close(descriptor);
  errno = saved;
}
/* SPDX-License-Identifier: MIT */
