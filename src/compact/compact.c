/* Keeps a trace below a bound.
 *
 * THE STEPS, each of which leaves a trace that is whole:
 * 1. The chunks to take over are found: those that are sealed, and these are copied (excerpt.h); or
 *    all if no process writes the trace. Nothing is ever added to them.
 * 2. They are read with the history, several times, and a new history is written under a name of
 *    its own, and synchronised with the disk.
 * 3. It is renamed to be the history. Before, readers find the chunks; afterwards, they pass over
 *    them, since the history says that it has them.
 * 4. The mark is written in place of the first of the chunks that is not chunk 0, which tells what
 *    file this is. Then the others become holes. Readers that may still have the history before
 *    are waited for (trace/history.h); if they do not end, or killed here, the next compaction does
 *    it.
 *
 * THE MARK says that a history has taken over chunks up to a number, and all that was recorded
 * until a time. By it readers of a trace that was copied alone, or with an older history, know what
 * is missing. It has no seal, so neither the recorder nor a compactor takes it for a chunk of the
 * recorder's.
 *
 * The program's recorder may take out a chunk in the meantime. It tells so, and a reader finds that
 * the history has the chunk all the same. */
#include "compact/compact.h"

#include "base/array.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/os.h"
#include "compact/excerpt.h"
#include "compact/rewrite.h"
#include "trace/lone_chunk.h"
#include "trace/reader.h"
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  TRIES = 4,           /* to get below the bound */
  SECONDS_TO_WAIT = 5, /* for readers */
  TABLES_PART = 8,     /* of the bound in bytes, for the tables of blocks */
  PATH_BYTES = 32,
  OWN_MAPPING = 128 << 10
};

struct compacting {
  const char *path; /* for people */
  int descriptor;
  struct stat found;
  char *trace, *history, *fresh; /* paths, by which they are opened */
  struct chunk_header header;    /* of chunk 0 */
  uint64_t capacity, run_seed;
  uint64_t chunks; /* that there were at the beginning: a program may write as fast as it is followed */
};

static wn_status compact_no_memory(const struct compacting *job) {
  return error_set(WN_ENOMEM, "not enough memory to compact %s", job->path);
}

/* ---- step 1 ---- */

static wn_status compact_read_header(struct compacting *job) {
  struct chunk_header *header = &job->header;
  bool good = os_read_at(job->descriptor, header, sizeof *header, 0) == sizeof *header &&
              !memcmp(header->magic, chunk_magic, sizeof chunk_magic) && header->version <= TRACE_VERSION &&
              header->capacity_log2 >= CHUNK_LOG2_LEAST && header->capacity_log2 <= CHUNK_LOG2_MOST;
  if (good) job->capacity = (uint64_t)1 << header->capacity_log2;
  return good ? WN_OK
              : error_set(WN_EINVAL, "%s is no trace of Winnow, or its begin is damaged; it is not compacted",
                          job->path);
}

/* Holes in a file that has another name would be missing there: that one has no history. */
static wn_status check_names(const struct compacting *job, const struct stat *found) {
  if (found->st_nlink <= 1) return WN_OK;
  return error_set(
      WN_EINVAL,
      "%s has %lu names (hard links): its old records would be missing under all but this one; copy it",
      job->path, (unsigned long)found->st_nlink);
}

static wn_status check_trace(struct compacting *job) {
  if (job->descriptor < 0 || fstat(job->descriptor, &job->found))
    return error_set(WN_EIO, "cannot open %s: %s", job->path, strerror(errno));
  if (!S_ISREG(job->found.st_mode)) return error_set(WN_EINVAL, "%s is not a regular file", job->path);
  return check_names(job, &job->found);
}

/* Whether no process writes the trace any more: its end is recorded, and none has it locked. (The
 * lock alone does not tell: a program that closes all descriptors loses it until its recorder opens
 * the trace again.) */
static wn_status is_closed(struct compacting *job, bool *closed) {
  struct trace_reader *reader;
  struct trace_event event;
  bool free = !flock(job->descriptor, LOCK_EX | LOCK_NB);
  if (free) flock(job->descriptor, LOCK_UN);
  wn_status status = trace_reader_open(job->trace, &reader);
  if (status) return status;
  const struct trace_run *run = trace_reader_run(reader);
  job->run_seed = hash_combine(hash_combine(run->seed, run->pid), run->monotonic_ns);
  while (free && !trace_reader_damage(reader)->complete && trace_reader_next(reader, &event)) {}
  *closed = free && trace_reader_damage(reader)->complete;
  trace_reader_close(reader);
  return WN_OK;
}

/* ---- steps 2 and 3 ---- */

static uint64_t compact_disk_bytes(const char *path) {
  struct stat found;
  return stat(path, &found) ? 0 : (uint64_t)found.st_blocks * 512;
}

static uint64_t compact_file_bytes(const char *path) {
  struct stat found;
  return stat(path, &found) ? 0 : (uint64_t)found.st_size;
}

/* Writes again with fewer records as long as the history is too large. */
static wn_status write_history(struct compacting *job, struct rewrite *rewrite, uint64_t most_bytes) {
  double bytes =
      (double)rewrite->chunk_count * (double)job->capacity + (double)compact_file_bytes(job->history);
  double most = (double)most_bytes * (double)(rewrite->blocks.records + 1) / (bytes + 1);
  wn_status status = WN_OK;
  for (int i = 0; i < TRIES && !status; i++) {
    status = rewrite_write(rewrite, (size_t)most, job->fresh);
    uint64_t size = compact_file_bytes(job->fresh);
    if (status || size <= most_bytes) break;
    most *= 0.9 * (double)most_bytes / (double)size;
  }
  return status;
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

/* Lets the new history take the place of the one before. */
static wn_status replace_history(const struct compacting *job) {
  struct stat now;
  int descriptor = open(job->fresh, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  bool done = descriptor >= 0 && !fsync(descriptor);
  int why = errno;
  if (descriptor >= 0) close(descriptor);
  if (done &&
      (stat(job->trace, &now) || now.st_ino != job->found.st_ino || now.st_dev != job->found.st_dev)) {
    unlink(job->fresh);
    return error_set(WN_EIO, "%s was replaced by another file while it was compacted", job->path);
  }
  wn_status status = done ? check_names(job, &now) : WN_OK;
  if (status) return unlink(job->fresh), status;
  if (done && rename(job->fresh, job->history)) done = false, why = errno;
  if (done) return sync_folder(job->history), WN_OK;
  unlink(job->fresh);
  return error_set(WN_EIO, "cannot write the history of %s: %s", job->path, strerror(why));
}

/* ---- step 4 ---- */

/* The file may be another run's by now, whose recorder has emptied it: the lock of writers keeps
 * one from beginning here, and one that writes has the run id in its header. */
static bool is_still_of_run(const struct compacting *job) {
  struct chunk_header header;
  return os_read_at(job->descriptor, &header, sizeof header, 0) == sizeof header &&
         header.run_id == job->header.run_id;
}

static bool compact_punch(const struct compacting *job, const struct trace_replaces *range, uint64_t mark,
                          uint64_t chunks) {
  uint64_t first = range->first ? range->first : 1, last = range->last < chunks ? range->last : chunks;
  first += first == mark;
  return first > last ||
         !fallocate(job->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    (off_t)(first * job->capacity), (off_t)((last - first + 1) * job->capacity));
}

/* The chunk with the mark: the first that the history has, of those that may become holes; 0: there
 * is none. */
static uint64_t mark_of(const struct compacting *job, const struct replaced *ranges) {
  for (size_t i = 0; i < ranges->count && job->capacity == CHUNK_BYTES; i++)
    if (ranges->ranges[i].last) return ranges->ranges[i].first ? ranges->ranges[i].first : 1;
  return 0;
}

static bool compact_is_marked(const struct compacting *job, uint64_t mark) {
  unsigned char begin[LONE_BEGIN_BYTES];
  return os_read_at(job->descriptor, begin, sizeof begin, mark * job->capacity + CHUNK_HEADER_BYTES) ==
             sizeof begin &&
         lone_chunk_begins(begin, TRACE_RECORD_REPLACES);
}

/* In place of a chunk that the history has. What was behind the mark's record becomes a hole. */
static bool compact_write_mark(const struct compacting *job, const struct replaced *ranges, uint64_t mark,
                               uint64_t taken_ns) {
  struct chunk_header fields = {.word_bytes = job->header.word_bytes,
                                .sequence = mark,
                                .run_id = job->header.run_id,
                                .rate = job->header.rate};
  struct trace_replaces event = {.time_ns = taken_ns,
                                 .run = job->header.run_id,
                                 .first = ranges->ranges[0].first,
                                 .last = ranges->ranges[ranges->count - 1].last};
  return lone_chunk_write(job->descriptor, &fields, TRACE_RECORD_REPLACES, &event) &&
         !fallocate(job->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    (off_t)(mark * job->capacity) + LONE_BYTES, (off_t)job->capacity - LONE_BYTES);
}

static wn_status make_holes(const struct compacting *job, const struct replaced *ranges, uint64_t taken_ns) {
  struct stat found;
  if (!history_lock_for_holes(job->descriptor, SECONDS_TO_WAIT))
    return WN_OK; /* the next compaction does it */
  bool locked = !flock(job->descriptor, LOCK_EX | LOCK_NB), done = !fstat(job->descriptor, &found);
  uint64_t chunks = done ? (uint64_t)found.st_size / job->capacity : 0, mark = mark_of(job, ranges);
  if (is_still_of_run(job)) {
    if (done && mark && taken_ns) done = compact_write_mark(job, ranges, mark, taken_ns);
    for (size_t i = 0; done && i < ranges->count; i++)
      done = compact_punch(job, &ranges->ranges[i], mark, chunks);
  }
  int why = errno;
  if (locked) flock(job->descriptor, LOCK_UN);
  history_unlock(job->descriptor);
  return done ? WN_OK : error_set(WN_EIO, "cannot make holes in %s: %s", job->path, strerror(why));
}

/* ---- all ---- */

/* Other draws for each process and each time that its trace is compacted. */
static uint64_t draws_of(const struct compacting *job, const struct excerpt *excerpt) {
  uint64_t seed = hash_combine(job->run_seed, compact_file_bytes(job->history));
  return hash_combine(seed, excerpt->chunk_count ? excerpt->chunks[excerpt->chunk_count - 1] : 0);
}

/* Steps 2 to 4. Where nothing is to be taken over, an earlier compaction may have come no further
 * than step 3. */
static wn_status compact_take_over(struct compacting *job, struct rewrite *rewrite, uint64_t most) {
  struct replaced ranges = {0};
  wn_status status = WN_OK;
  if (rewrite->chunk_count || compact_file_bytes(job->history) > most) {
    status = rewrite_read(rewrite);
    if (!status) status = write_history(job, rewrite, most);
    if (!status) status = replace_history(job);
  }
  if (!status && !rewrite_ranges(rewrite, &ranges)) status = compact_no_memory(job);
  uint64_t mark = mark_of(job, &ranges);
  if (!status && !rewrite->taken_ns && mark && !compact_is_marked(job, mark)) status = rewrite_read(rewrite);
  if (!status) status = make_holes(job, &ranges, rewrite->taken_ns);
  replaced_destroy(&ranges);
  return status;
}

static void compact_add_up(struct compact_result *result, const struct rewrite *rewrite) {
  if (!rewrite->chunk_count && !rewrite->samples) return;
  result->chunks += rewrite->chunk_count;
  result->samples_before += rewrite->samples - result->samples_after;
  result->samples_after = rewrite->samples_left;
}

/* A trace that keeps its bound is copied at once: to write a history takes longer than to read. */
static uint64_t part_bytes(bool closed, uint64_t max_bytes) {
  return (closed ? 2 : 1) * trace_bound_trace_most(max_bytes);
}

/* Compacts a part of the trace; *all: there is no other one. */
static wn_status compact_part(struct compacting *job, bool closed, uint64_t max_bytes,
                              struct compact_result *result, bool *all) {
  struct excerpt excerpt = {.descriptor = -1};
  struct rewrite rewrite = {.name = job->path, .history = job->history, .run_id = job->header.run_id};
  struct excerpt_of of = {.descriptor = job->descriptor,
                          .capacity = job->capacity,
                          .closed = closed,
                          .most_bytes = part_bytes(closed, max_bytes),
                          .until = job->chunks,
                          .before = &rewrite.before};
  wn_status status = rewrite_begin(&rewrite, job->trace);
  if (!status && !excerpt_make(&excerpt, &of)) status = compact_no_memory(job);
  rewrite.path = closed ? job->trace : excerpt.path;
  rewrite.others = closed ? NULL : job->trace;
  rewrite.chunks = excerpt.chunks;
  rewrite.chunk_count = excerpt.chunk_count;
  rewrite.end = excerpt.end;
  rewrite.blocks = (struct blocks){.seed = draws_of(job, &excerpt), .room = max_bytes / TABLES_PART};
  if (!status) status = compact_take_over(job, &rewrite, trace_bound_history_most(max_bytes));
  *all = excerpt.all;
  compact_add_up(result, &rewrite);
  rewrite_destroy(&rewrite);
  excerpt_destroy(&excerpt);
  return status;
}

/* With a larger bound the history is as large as with this one: a table has no more ordinals than
 * fit. */
#define BOUND_MOST ((uint64_t)4 << 30)

static wn_status compact_locked(struct compacting *job, uint64_t max_bytes, struct compact_result *result) {
  bool closed, all = false;
  wn_status status = compact_read_header(job);
  if (!status) status = is_closed(job, &closed);
  if (status) return status;
  job->chunks = (compact_file_bytes(job->trace) + job->capacity - 1) / job->capacity;
  unlink(job->fresh);
  if (max_bytes > BOUND_MOST) max_bytes = BOUND_MOST;
  while (!status && !all) status = compact_part(job, closed, max_bytes, result, &all);
  return status;
}

static void free_paths(struct compacting *job) {
  free(job->trace);
  free(job->history);
  free(job->fresh);
}

/* The paths of the trace and its history. */
static bool set_paths(struct compacting *job, const char *path) {
  free_paths(job);
  job->trace = strdup(path);
  job->history = history_path(path, HISTORY_ENDING);
  job->fresh = history_path(path, HISTORY_NEW);
  return job->trace && job->history && job->fresh;
}

/* The same by way of the folder's descriptor: the user of the trace need not have the right to go
 * through the folders above it. The descriptor; negative: it failed. */
static int set_paths_in_folder(struct compacting *job) {
  const char *slash = strrchr(job->path, '/'), *name = slash ? slash + 1 : job->path;
  char *folder = slash ? strndup(job->path, (size_t)(name - job->path)) : strdup("."), *path = NULL;
  int descriptor = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
  bool done =
      descriptor >= 0 && asprintf(&path, "/proc/self/fd/%d/%s", descriptor, name) > 0 && set_paths(job, path);
  free(folder);
  free(path);
  if (!done && descriptor >= 0) close(descriptor);
  return done ? descriptor : -1;
}

/* Root compacts the trace of another user as that user: what is created belongs to the user, and a
 * link that the user put there leads to nothing that the user may not write. */
static wn_status compact_as_owner(struct compacting *job, uint64_t max_bytes, struct compact_result *result) {
  uid_t user = geteuid();
  gid_t group = getegid();
  if (user || !job->found.st_uid) return compact_locked(job, max_bytes, result);
  int folder = set_paths_in_folder(job);
  bool is_user = folder >= 0 && !setegid(job->found.st_gid) && !seteuid(job->found.st_uid);
  wn_status status = is_user
                         ? compact_locked(job, max_bytes, result)
                         : error_set(WN_EIO, "cannot compact %s as its user: %s", job->path, strerror(errno));
  if (folder >= 0) close(folder);
  if (seteuid(user) || setegid(group))
    return error_set(WN_EIO, "cannot become root again: %s", strerror(errno));
  return status;
}

/* ---- shared ---- */

bool compact_is_due(const char *path, uint64_t max_bytes) {
  return compact_disk_bytes(path) >= trace_bound_trace_due(max_bytes);
}

wn_status compact_trace(const char *path, uint64_t max_bytes, struct compact_result *result) {
  struct compacting job = {.path = path,
                           .descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW)};
  *result = (struct compact_result){0};
  mallopt(M_MMAP_THRESHOLD, OWN_MAPPING); /* else tables that grow are copied and leave gaps */
  signal(SIGXFSZ, SIG_IGN);               /* a limit on the size of files is an error like others */
  wn_status status = check_trace(&job);
  if (!status && !set_paths(&job, path)) status = compact_no_memory(&job);
  if (!status && !history_lock_for_compacting(job.descriptor))
    status = error_set(WN_EBUSY, "%s is being compacted by another process", path);
  if (!status) {
    result->bytes_before = compact_disk_bytes(path) + compact_disk_bytes(job.history);
    status = compact_as_owner(&job, max_bytes, result);
    if (set_paths(&job, path))
      result->bytes_after = compact_disk_bytes(path) + compact_disk_bytes(job.history);
  }
  if (job.descriptor >= 0) close(job.descriptor);
  free_paths(&job);
  return status;
}

wn_status compact_copy(const char *path, const char *target) {
  char trace[PATH_BYTES] = "", history[PATH_BYTES] = "";
  struct compacting job = {.path = path,
                           .descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)};
  if (job.descriptor < 0) return error_set(WN_EIO, "cannot open %s: %s", path, strerror(errno));
  wn_status status = set_paths(&job, path) ? compact_read_header(&job) : compact_no_memory(&job);
  /* Both as they are at one moment: with the lock no holes are made. */
  history_lock_for_reading(job.descriptor);
  int descriptor = status ? -1 : open(job.history, O_RDONLY | O_CLOEXEC);
  snprintf(trace, sizeof trace, "/proc/self/fd/%d", job.descriptor);
  snprintf(history, sizeof history, "/proc/self/fd/%d", descriptor);
  struct rewrite rewrite = {.name = path,
                            .path = trace,
                            .history = history,
                            .run_id = job.header.run_id,
                            .end = UINT64_MAX,
                            .all = true};
  if (!status) status = rewrite_begin(&rewrite, trace);
  if (!status) status = rewrite_read(&rewrite);
  if (!status) status = rewrite_write(&rewrite, SIZE_MAX, target);
  rewrite_destroy(&rewrite);
  if (descriptor >= 0) close(descriptor);
  close(job.descriptor);
  free_paths(&job);
  return status;
}
/* SPDX-License-Identifier: MIT */
