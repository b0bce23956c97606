/* Keeps a trace below a bound.
 *
 * THE STEPS, each of which leaves a trace that is whole:
 * 1. The chunks to take over are found: those that are sealed, or all if no process has the trace locked.
 *    Nothing is ever added to them.
 * 2. The trace is read with its history, and a new history is written under a name of its own, and
 *    synchronised with the disk.
 *    If a chunk has gone meanwhile, which the recorder took out at its bound, all begins again with the newer
 *    half of the chunks: the oldest ones go first.
 * 3. It is renamed to be the history. Before, readers find the chunks; afterwards, they pass over them, since
 *    the history says that it has them.
 * 4. The chunks become holes, but for chunk 0, which tells what file this is. Readers that may still have the
 *    history before are waited for (trace/history.h); without them, or killed here, the next
 *    compaction makes the holes.
 *
 * What is read in step 2 may say more than step 1 saw: chunks that are written meanwhile are read too, since
 * the sample of a block may stand in one of them, whose free is taken over. */
#include "compact/compact.h"

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/os.h"
#include "compact/rewrite.h"
#include "trace/chunk.h"
#include "trace/reader.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  TRIES = 4,          /* to get below the bound */
  HALVES = 6,         /* tries with newer chunks */
  SECONDS_TO_WAIT = 5 /* for readers */
};

struct compacting {
  const char *path;
  int descriptor;
  struct stat found;
  char *history, *fresh; /* paths */
  uint64_t capacity, run_id, run_seed;
  uint64_t *chunks; /* to take over */
  size_t chunk_count, chunk_capacity;
  unsigned halves; /* so often only the newer half is taken */
};

/* ---- step 1 ---- */

static wn_status read_header(const struct compacting *job, struct chunk_header *header) {
  bool good = os_read_at(job->descriptor, header, sizeof *header, 0) == sizeof *header &&
              !memcmp(header->magic, chunk_magic, sizeof chunk_magic) && header->version <= TRACE_VERSION &&
              header->capacity_log2 >= CHUNK_LOG2_LEAST && header->capacity_log2 <= CHUNK_LOG2_MOST;
  return good ? WN_OK
              : error_set(WN_EINVAL, "%s is no trace of Winnow, or its begin is damaged; it is not compacted",
                          job->path);
}

/* The first chunk from here on that is not within a hole. */
static uint64_t behind_hole(const struct compacting *job, uint64_t chunk) {
  off_t data = lseek(job->descriptor, (off_t)(chunk * job->capacity), SEEK_DATA);
  if (data < 0) return errno == ENXIO ? UINT64_MAX / job->capacity : chunk;
  uint64_t found = (uint64_t)data / job->capacity;
  return found > chunk ? found : chunk;
}

/* Whether the process of the trace may still write to it: whether it has the file mapped, if that can be
 * seen, or else whether it lives. */
static bool process_may_write(const struct compacting *job, uint32_t pid) {
  char path[40], *line = NULL;
  size_t room = 0;
  unsigned long inode;
  bool mapped = false;
  snprintf(path, sizeof path, "/proc/%u/maps", pid);
  FILE *maps = fopen(path, "re");
  if (!maps) return errno != ENOENT && (!kill((pid_t)pid, 0) || errno == EPERM);
  while (!mapped && getline(&line, &room, maps) > 0)
    mapped = sscanf(line, "%*s %*s %*s %*s %lu", &inode) == 1 && inode == job->found.st_ino;
  free(line);
  fclose(maps);
  return mapped;
}

/* Whether no process writes the trace. A program that closes all descriptors loses the lock until its recorder
 * opens the trace again, so the process is asked for too. */
static wn_status is_closed(struct compacting *job, bool *closed) {
  struct trace_reader *reader;
  bool locked = flock(job->descriptor, LOCK_EX | LOCK_NB);
  wn_status status = trace_reader_open(job->path, &reader);
  if (status) return status;
  const struct trace_run *run = trace_reader_run(reader);
  job->run_seed = hash_combine(hash_combine(run->seed, run->pid), run->monotonic_ns);
  *closed = !locked && (!run->pid || !process_may_write(job, run->pid));
  trace_reader_close(reader);
  return WN_OK;
}

static bool find_chunks(struct compacting *job, bool closed) {
  unsigned char *chunk = malloc(job->capacity);
  uint64_t size = (uint64_t)job->found.st_size;
  bool done = chunk;
  for (uint64_t i = 0; done && (i = behind_hole(job, i)) * job->capacity < size; i++) {
    size_t count = job->capacity;
    uint32_t used = 0;
    uint64_t until;
    if (chunk_read(job->descriptor, chunk, i * job->capacity, &count, &used) != CHUNK_WHOLE) continue;
    if (closed || chunk_is_sealed(chunk, used, &until))
      done = ARRAY_ADD(job->chunks, job->chunk_count, job->chunk_capacity, i);
  }
  free(chunk);
  size_t left = job->chunk_count >> job->halves;
  if (left) memmove(job->chunks, job->chunks + job->chunk_count - left, left * sizeof *job->chunks);
  job->chunk_count = left;
  return done;
}

/* Those that were taken over before are found again if no hole was made of them. */
static void pass_over(struct compacting *job, const struct replaced *before) {
  size_t kept = 0;
  for (size_t i = 0; i < job->chunk_count; i++)
    if (!replaced_has(before, job->chunks[i])) job->chunks[kept++] = job->chunks[i];
  job->chunk_count = kept;
}

/* ---- steps 2 and 3 ---- */

static uint64_t disk_bytes(const char *path) {
  struct stat found;
  return stat(path, &found) ? 0 : (uint64_t)found.st_blocks * 512;
}

static uint64_t file_bytes(const char *path) {
  struct stat found;
  return stat(path, &found) ? 0 : (uint64_t)found.st_size;
}

/* Writes again with fewer records as long as the history is too large. */
static wn_status write_history(struct compacting *job, struct rewrite *rewrite, uint64_t most_bytes) {
  double bytes = (double)job->chunk_count * (double)job->capacity + (double)file_bytes(job->history);
  double most = (double)most_bytes * (double)(rewrite->block_records + 1) / (bytes + 1);
  wn_status status = WN_OK;
  for (int i = 0; i < TRIES && !status; i++) {
    status = rewrite_write(rewrite, (size_t)most, job->fresh);
    uint64_t size = file_bytes(job->fresh);
    if (status || size <= most_bytes) break;
    most *= 0.9 * (double)most_bytes / (double)size;
  }
  return status;
}

/* Whether all chunks are there that were read. The program's recorder takes the oldest ones out of a trace
 * that has reached its bound; what was read of such a chunk may be nothing. */
static bool are_there(const struct compacting *job) {
  struct chunk_header header;
  for (size_t i = 0; i < job->chunk_count; i++)
    if (os_read_at(job->descriptor, &header, sizeof header, job->chunks[i] * job->capacity) < sizeof header ||
        !header.commit)
      return false;
  return true;
}

static bool sync_folder(const char *path) {
  char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
  if (slash) slash[slash == folder] = 0;
  int descriptor = folder ? open(slash ? folder : ".", O_RDONLY | O_CLOEXEC | O_DIRECTORY) : -1;
  bool done = descriptor >= 0 && !fsync(descriptor);
  if (descriptor >= 0) close(descriptor);
  free(folder);
  return done;
}

/* Gives the new history to the user of the trace, and lets it take the place of the one before. */
static wn_status replace_history(const struct compacting *job) {
  struct stat now;
  int descriptor = open(job->fresh, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  bool done = descriptor >= 0 &&
              (!geteuid() ? !fchown(descriptor, job->found.st_uid, job->found.st_gid) : true) &&
              !fsync(descriptor);
  int why = errno;
  if (descriptor >= 0) close(descriptor);
  if (done && (stat(job->path, &now) || now.st_ino != job->found.st_ino || now.st_dev != job->found.st_dev)) {
    unlink(job->fresh);
    return error_set(WN_EIO, "%s was replaced by another file while it was compacted", job->path);
  }
  if (done && rename(job->fresh, job->history)) done = false, why = errno;
  if (done) return sync_folder(job->history), WN_OK;
  unlink(job->fresh);
  return error_set(WN_EIO, "cannot write %s: %s", job->history, strerror(why));
}

/* ---- step 4 ---- */

static wn_status make_holes(const struct compacting *job, const struct replaced *ranges) {
  if (!history_lock_for_holes(job->descriptor, SECONDS_TO_WAIT))
    return WN_OK; /* the next compaction does it */
  bool done = true;
  for (size_t i = 0; done && i < ranges->count; i++) {
    uint64_t first = ranges->ranges[i].first ? ranges->ranges[i].first : 1, end = ranges->ranges[i].last + 1;
    if (end > first)
      done = !fallocate(job->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        (off_t)(first * job->capacity), (off_t)((end - first) * job->capacity));
  }
  int why = errno;
  history_unlock(job->descriptor);
  return done ? WN_OK : error_set(WN_EIO, "cannot make holes in %s: %s", job->path, strerror(why));
}

/* ---- all ---- */

/* Other draws for each process and each time that its trace is compacted. */
static uint64_t draws_of(const struct compacting *job) {
  uint64_t seed = hash_combine(job->run_seed, file_bytes(job->history));
  return hash_combine(seed, job->chunk_count ? job->chunks[job->chunk_count - 1] : 0);
}

/* Steps 2 to 4. `*again`: a chunk is gone; nothing was changed. */
static wn_status take_over(struct compacting *job, struct rewrite *rewrite, uint64_t most, bool *again) {
  struct replaced ranges = {0};
  wn_status status = rewrite_read(rewrite);
  if (status) return status;
  pass_over(job, &rewrite->before);
  rewrite->chunk_count = job->chunk_count;
  if (job->chunk_count || file_bytes(job->history) > most) {
    status = write_history(job, rewrite, most);
    *again = !status && !are_there(job);
    if (*again) unlink(job->fresh);
    if (status || *again) return status;
    status = replace_history(job);
  }
  if (!status && !rewrite_ranges(rewrite, &ranges))
    status = error_set(WN_ENOMEM, "not enough memory to compact %s", job->path);
  if (!status) status = make_holes(job, &ranges);
  replaced_destroy(&ranges);
  return status;
}

static wn_status compact_once(struct compacting *job, bool closed, uint64_t max_bytes,
                              struct compact_result *result, bool *again) {
  job->chunk_count = 0;
  if (!find_chunks(job, closed)) return error_set(WN_ENOMEM, "not enough memory to compact %s", job->path);
  struct rewrite rewrite = {
      .path = job->path, .run_id = job->run_id, .chunks = job->chunks, .chunk_count = job->chunk_count};
  rewrite.seed = draws_of(job);
  wn_status status = take_over(job, &rewrite, trace_bound_history_most(max_bytes), again);
  result->chunks = job->chunk_count;
  result->samples_before = rewrite.samples;
  result->samples_after = rewrite.samples_left;
  rewrite_destroy(&rewrite);
  return status;
}

static wn_status compact_locked(struct compacting *job, uint64_t max_bytes, struct compact_result *result) {
  struct chunk_header header;
  bool closed, again = true;
  wn_status status = read_header(job, &header);
  if (!status) status = is_closed(job, &closed);
  if (status) return status;
  job->capacity = (uint64_t)1 << header.capacity_log2;
  job->run_id = header.run_id;
  unlink(job->fresh);
  for (; !status && again && job->halves < HALVES; job->halves++) {
    again = false;
    status = compact_once(job, closed, max_bytes, result, &again);
  }
  if (again) result->chunks = 0;
  return status;
}

/* ---- shared ---- */

bool compact_is_due(const char *path, uint64_t max_bytes) {
  return disk_bytes(path) >= trace_bound_trace_due(max_bytes);
}

wn_status compact_trace(const char *path, uint64_t max_bytes, struct compact_result *result) {
  struct compacting job = {.path = path,
                           .history = history_path(path, HISTORY_ENDING),
                           .fresh = history_path(path, HISTORY_NEW),
                           .descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW)};
  wn_status status;
  *result = (struct compact_result){0};
  if (job.descriptor < 0 || fstat(job.descriptor, &job.found))
    status = error_set(WN_EIO, "cannot open %s: %s", path, strerror(errno));
  else if (!S_ISREG(job.found.st_mode))
    status = error_set(WN_EINVAL, "%s is not a regular file", path);
  else if (!job.history || !job.fresh)
    status = error_set(WN_ENOMEM, "not enough memory to compact %s", path);
  else if (!history_lock_for_compacting(job.descriptor))
    status = error_set(WN_EBUSY, "%s is being compacted by another process", path);
  else {
    result->bytes_before = disk_bytes(path) + disk_bytes(job.history);
    status = compact_locked(&job, max_bytes, result);
    result->bytes_after = disk_bytes(path) + disk_bytes(job.history);
  }
  if (job.descriptor >= 0) close(job.descriptor);
  free(job.history);
  free(job.fresh);
  free(job.chunks);
  return status;
}

wn_status compact_copy(const char *path, const char *target) {
  struct rewrite rewrite = {.path = path, .all = true};
  wn_status status = rewrite_read(&rewrite);
  if (!status) status = rewrite_write(&rewrite, SIZE_MAX, target);
  rewrite_destroy(&rewrite);
  return status;
}
/* SPDX-License-Identifier: MIT */
