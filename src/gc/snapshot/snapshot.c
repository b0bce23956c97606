/* Taking a snapshot of the heap.
 *
 * STOP. The world stops, and a minor collection empties the minor heaps: so all blocks are in the
 * store. The leader writes the roots, since the hook walk_roots is code of the program's, which may
 * wait for a lock. Then it makes a copy of the process, and the world goes on.
 *
 * COPY. The copy writes the blocks, and ends. It has the memory as it was in the stop, and no other
 * thread. The system call is made directly: the handlers of fork() would end the heap's other
 * threads (api/fork.c), and those of the program might do anything. Its exit signal is 0, so that
 * neither the program's wait functions nor a handler of SIGCHLD learn of it; signals stay blocked
 * in it. It takes no memory and no lock, since threads that it does not have may hold them. Its
 * exit status is the errno of a failure. Where it cannot be made, or is killed, the blocks are
 * written in the stop, or the snapshot fails.
 *
 * DEAD. A cycle may be under way. Its garbage is written as well, as far as its fields can be read:
 * not what marking has left when it ended, since that may lead to memory that was freed. The reader
 * follows the roots, and so finds what is reachable. */
#include "base/array.h"
#include "base/error.h"
#include "base/metadata.h"
#include "base/os.h"
#include "gc/collect/collector.h"
#include "gc/domains/caller.h"
#include "gc/domains/debug.h"
#include "gc/domains/safepoint.h"
#include "gc/events/hooks.h"
#include "gc/snapshot/holders.h"
#include "gc/snapshot/samples.h"
#include "gc/snapshot/types.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <winnow/snapshot.h>

/* Exit statuses of the copy, besides those of errno. */
enum { COPY_ENDED = -1, COPY_DONE = 255 };

/* Memory with blocks: a chunk, or a large block. */
struct extent {
  uintptr_t at;
  const struct chunk *chunk; /* NULL: a large block */
};

struct snapshot {
  struct wn_heap *heap;
  struct extent *extents;
  size_t extent_count, extent_capacity;
  struct types types;
  struct snapshot_writer writer;
  char name[4096], temporary[4096 + 32];
};

/* ---- blocks ---- */

static void write_edges(struct snapshot *of, struct type *type, wn_value block, size_t words) {
  for (size_t i = 0; i < words; i++) {
    wn_value value = field_load((const wn_value *)block + i);
    if (value & 1 || value == WEAK_EMPTY) continue;
    if (i < NAMED_FIELDS) type->fields |= UINT64_C(1) << i;
    snapshot_edge(&of->writer, i, value);
  }
}

static void write_custom(struct snapshot *of, wn_value block, size_t words) {
  const struct custom *custom = (const struct custom *)block;
  snapshot_block(&of->writer, block,
                 &(struct snapshot_block){.shape = SHAPE_CUSTOM,
                                          .type = types_of_custom(&of->types, custom->ops),
                                          .words = words,
                                          .outside = custom_external(custom)});
}

static void write_block(struct snapshot *of, const wn_value *at) {
  const struct wn_heap *heap = of->heap;
  wn_value header = *at, block = (wn_value)(at + 1);
  size_t words = header_words(header);
  if (header_colour(header) == COLOUR_FREE) return;
  if (heap_phase(heap) == PHASE_SWEEP && header_colour(header) != heap_live_colour(heap)) return; /* DEAD */
  if (header_tag(header) == WN_TAG_CUSTOM) {
    write_custom(of, block, words);
    return;
  }
  bool weak = header_tag(header) == WN_TAG_WEAK, scanned = header_is_scanned(header);
  struct type *type = types_of_block(&of->types, block);
  struct snapshot_block record = {.shape = weak      ? SHAPE_WEAK
                                           : scanned ? SHAPE_SCANNED
                                                     : SHAPE_RAW,
                                  .type = type->id,
                                  .words = words};
  if (heap->hooks.describe && !weak) record.description = heap->hooks.describe(block, heap->hooks.context);
  snapshot_block(&of->writer, block, &record);
  if (weak || scanned) write_edges(of, type, block, words);
}

static void write_pool(struct snapshot *of, struct pool *pool) {
  size_t words = class_words[pool->class];
  for (wn_value *at = pool_first(pool); at < pool_end(pool);) {
    bool free = header_colour(*at) == COLOUR_FREE;
    if (!free) write_block(of, at);
    at += free ? header_extent(*at) : words;
  }
}

static void write_chunk(struct snapshot *of, const struct chunk *chunk) {
  if (chunk->use == CHUNK_MEDIUM)
    for (wn_value *at = medium_first(chunk); at < medium_end(chunk); at += medium_extent_at(at))
      write_block(of, at);
  else
    for (unsigned unit = 0; unit < CHUNK_UNITS; unit++)
      if (chunk->used >> unit & 1) write_pool(of, (struct pool *)(chunk->base + (size_t)unit * UNIT_BYTES));
}

static void write_blocks(struct snapshot *of) {
  for (size_t i = 0; i < of->extent_count && !of->writer.error; i++)
    if (of->extents[i].chunk)
      write_chunk(of, of->extents[i].chunk);
    else
      write_block(of, &((struct large *)of->extents[i].at)->header);
  types_write(&of->types, &of->writer);
  snapshot_end(&of->writer);
}

static void synchronise(struct snapshot *of) {
  if (!of->writer.error && fsync(of->writer.descriptor) && errno != EINVAL) of->writer.error = errno;
}

/* ---- what there is to write ---- */

static int by_address(const void *a, const void *b) {
  const struct extent *one = a, *other = b;
  return (one->at > other->at) - (one->at < other->at);
}

static bool add_extent(struct snapshot *of, const void *at, const struct chunk *chunk) {
  return ARRAY_ADD(of->extents, of->extent_count, of->extent_capacity, (struct extent){(uintptr_t)at, chunk});
}

static bool add_large(struct snapshot *of, struct large *large) {
  for (; large; large = large->next)
    if (!add_extent(of, large, NULL)) return false;
  return true;
}

/* Under the lock of the chunks, since a helper that is paused may still touch one. */
static bool find_extents(struct snapshot *of) {
  struct store *store = &of->heap->store;
  bool added = add_large(of, store->medium.large) && add_large(of, store->medium.unswept_large);
  lock_acquire(&store->chunks.lock, LOCK_RANK_CHUNKS);
  for (size_t i = 0; added && i < store->chunks.count; i++) {
    const struct chunk *chunk = &store->chunks.table[i];
    if (chunk->use == CHUNK_POOLS || chunk->use == CHUNK_MEDIUM) added = add_extent(of, chunk->base, chunk);
  }
  lock_release(&store->chunks.lock, LOCK_RANK_CHUNKS);
  if (added) array_sort(of->extents, of->extent_count, sizeof *of->extents, by_address);
  return added;
}

/* ---- COPY ---- */

/* Ends with the program, and keeps none of its files, sockets and locks open. */
static void leave_program(const struct snapshot *of, pid_t program) {
  const struct rlimit none = {0, 0};
  unsigned file = (unsigned)of->writer.descriptor;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != program) syscall(SYS_exit_group, 0);
  if (file) syscall(SYS_close_range, 0U, file - 1, 0U);
  syscall(SYS_close_range, file + 1, ~0U, 0U);
  setrlimit(RLIMIT_CORE, &none);
  setpriority(PRIO_PROCESS, 0, 19);
}

static _Noreturn void run_copy(struct snapshot *of, pid_t program) {
  leave_program(of, program);
  write_blocks(of);
  synchronise(of);
  syscall(SYS_exit_group, of->writer.error ? of->writer.error : COPY_DONE);
  for (;;) {}
}

/* The copy's process number; below 0: there is none, and the blocks are to be written in the
 * stop. */
static long make_copy(struct snapshot *of) {
  sigset_t all, before;
  pid_t program = getpid();
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  long copy = syscall(SYS_clone, 0UL, NULL, NULL, NULL, 0UL);
  if (!copy) run_copy(of, program);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return copy;
}

/* Returns an errno, or 0; COPY_ENDED: a signal ended the copy, or a hook did. */
static int wait_for_copy(long copy) {
  int status;
  while (waitpid((pid_t)copy, &status, __WALL) < 0)
    if (errno != EINTR) return errno;
  if (!WIFEXITED(status) || !WEXITSTATUS(status)) return COPY_ENDED;
  return WEXITSTATUS(status) == COPY_DONE ? 0 : WEXITSTATUS(status);
}

/* ---- STOP ---- */

static wn_status take(struct wn_domain *domain, struct snapshot *of) {
  struct wn_heap *heap = domain->heap;
  long copy = -1;
  while (!world_stop(domain, STOP_REQUEST)) {}
  major_collect_stopped(domain, COLLECT_MINOR);
  helpers_pause(heap);
  domains_flush_pools(heap);
  bool found = find_extents(of) && holders_write(heap, &of->writer);
  if (found) samples_write(heap, &of->writer);
  if (found && (copy = make_copy(of)) < 0) write_blocks(of);
  helpers_resume(heap);
  world_release(domain);
  if (!found) return error_set(WN_ENOMEM, "heap snapshot: no memory for its tables");
  domain_suspend(domain);
  if (copy > 0)
    of->writer.error = wait_for_copy(copy);
  else
    synchronise(of);
  domain_resume(domain);
  if (!of->writer.error) return WN_OK;
  return error_set(WN_EIO, "heap snapshot: %s: %s", of->name,
                   of->writer.error == COPY_ENDED ? "the copy of the process that wrote it was ended"
                                                  : strerror(of->writer.error));
}

/* ---- the file ---- */

static wn_status failed(const char *path, const char *why) {
  return error_set(WN_EIO, "heap snapshot: %s: %s", path, why);
}

/* The name of the file: where a symbolic link leads. Only a file is replaced. */
static wn_status find_name(struct snapshot *of, const char *path) {
  struct stat status;
  char *target = NULL;
  if (!stat(path, &status)) {
    if (!S_ISREG(status.st_mode)) return failed(path, "it is no regular file");
    target = realpath(path, NULL);
  }
  snprintf(of->name, sizeof of->name, "%s", target ? target : path);
  free(target);
  return WN_OK;
}

/* Snapshots at one time, of several threads or of processes with one number, have files of their
 * own. */
static int open_temporary(struct snapshot *of) {
  static _Atomic(unsigned) next;
  int descriptor;
  do {
    snprintf(of->temporary, sizeof of->temporary, "%s.%ld-%u.part", of->name, (long)getpid(),
             atomic_fetch_add(&next, 1));
    descriptor = open(of->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  return descriptor;
}

static wn_status open_file_of(struct snapshot *of, const char *path) {
  wn_status status = find_name(of, path);
  if (status) return status;
  int descriptor = open_temporary(of);
  if (descriptor < 0) return failed(path, strerror(errno));
  const struct snapshot_info info = {(uint64_t)getpid(), os_wall_ns(), program_invocation_short_name,
                                     of->heap->language};
  snapshot_begin(&of->writer, descriptor, &info);
  return WN_OK;
}

static wn_status close_file(struct snapshot *of, wn_status status) {
  close(of->writer.descriptor);
  if (!status && rename(of->temporary, of->name)) status = failed(of->name, strerror(errno));
  if (status) unlink(of->temporary);
  return status;
}

/* What may happen to the calling thread meanwhile. A thread that is cancelled in a system call
 * would leave the file and the copy. A file that is too large for the process makes a signal, which
 * would end it. */
struct shelter {
  int cancellation;
  sigset_t signals;
};

static struct shelter shelter_begin(void) {
  struct shelter shelter;
  sigset_t too_large;
  sigemptyset(&too_large);
  sigaddset(&too_large, SIGXFSZ);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &shelter.cancellation);
  pthread_sigmask(SIG_BLOCK, &too_large, &shelter.signals);
  return shelter;
}

static void shelter_end(const struct shelter *shelter) {
  sigset_t too_large;
  sigemptyset(&too_large);
  sigaddset(&too_large, SIGXFSZ);
  if (!sigismember(&shelter->signals, SIGXFSZ))
    while (sigtimedwait(&too_large, NULL, &(struct timespec){0}) > 0) {}
  pthread_sigmask(SIG_SETMASK, &shelter->signals, NULL);
  pthread_setcancelstate(shelter->cancellation, NULL);
}

static wn_status snapshot(wn_domain *domain, const char *path) {
  struct snapshot *of = metadata_map(sizeof *of);
  if (!of) return error_set(WN_ENOMEM, "heap snapshot: no memory for its tables");
  of->heap = domain->heap;
  types_begin(&of->types, &domain->heap->hooks);
  wn_status status = open_file_of(of, path);
  if (!status) status = close_file(of, take(domain, of));
  free(of->extents);
  metadata_unmap(of, sizeof *of);
  domain_reset_limit(domain);
  return status;
}

/* ---- public ---- */

wn_status wn_heap_snapshot(wn_domain *domain, const char *path) {
  DEBUG_DOMAIN(domain);
  wn_status status = caller_check(domain, "heap snapshot");
  if (status) return status;
  if (hooks_running) return error_set(WN_ESTATE, "heap snapshot: it is called in a hook");
  if (!path || strlen(path) >= sizeof((struct snapshot *)0)->name)
    return error_set(WN_EINVAL, "heap snapshot: %s", path ? "the path is too long" : "the path is NULL");
  struct shelter shelter = shelter_begin();
  status = snapshot(domain, path);
  shelter_end(&shelter);
  return status;
}
/* SPDX-License-Identifier: MIT */
