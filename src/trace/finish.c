/* The last hand on a trace. */
#include "trace/finish.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/os.h"
#include "trace/chunk.h"
#include "trace/encoder.h"
#include "trace/lone_chunk.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The last chunk of a trace, with room for one record more. */
struct last_chunk {
  struct encoder encoder;
  union {
    struct chunk_header header;
    unsigned char bytes[CHUNK_BYTES];
  };
};

static void finish_keep_text(char *kept, size_t room, const struct trace_text *text) {
  size_t length = text->length < room ? text->length : room - 1;
  memcpy(kept, text->bytes, length);
  kept[length] = 0;
}

static void note_resident(struct trace_totals *totals, uint64_t bytes) {
  if (bytes > totals->resident_bytes) totals->resident_bytes = bytes;
}

static void finish_read_all(struct trace_reader *reader, const struct trace_finishing *finishing,
                            struct trace_totals *totals, uint64_t *last_ns) {
  struct trace_event event;
  for (size_t count = 1; trace_reader_next(reader, &event); count++) {
    if (finishing->progress && count % 65536 == 0)
      finishing->progress(trace_reader_position(reader), finishing->context);
    totals->samples += event.kind == TRACE_SAMPLE;
    totals->changes |= event.kind == TRACE_RATE;
    if (event.kind == TRACE_SAMPLE) totals->hits += event.sample.n_samples;
    if (event.kind == TRACE_UNRECORDED && finishing->unrecorded)
      finishing->unrecorded(&event.unrecorded, trace_reader_run(reader), finishing->unrecorded_context);
    if (event.kind == TRACE_MEMORY) note_resident(totals, event.memory.rss_bytes);
    if (event.kind == TRACE_MEMORY) note_resident(totals, event.memory.peak_bytes);
    if (event.kind == TRACE_END) totals->end = event.end, note_resident(totals, event.end.peak_bytes);
    if (event.kind == TRACE_EXEC) finish_keep_text(totals->became, sizeof totals->became, &event.exec.path);
    if (event.at.time_ns > *last_ns) *last_ns = event.at.time_ns;
  }
  totals->damage = *trace_reader_damage(reader);
  if (finishing->read) finishing->read(reader, finishing->read_context);
}

/* Damaged chunks count as used: a part of them may still be read. */
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

/* ---- an END record behind the rest ---- */

/* The record's bytes, relative to `last_time`, at `used` in the chunk's records. Returns how many,
 * 0 if there is no room. */
static size_t finish_encode(struct last_chunk *last, uint32_t used, uint64_t last_time,
                            const struct trace_end *end) {
  unsigned char *at = last->bytes + CHUNK_HEADER_BYTES + used;
  struct chunk_header coding = {.base_time = last_time};
  encoder_begin(&last->encoder, at, last->bytes + CHUNK_BYTES, &coding);
  return encoder_put(&last->encoder, TRACE_RECORD_END, end) ? (size_t)(last->encoder.sink.at - at) : 0;
}

/* The record first, and then the commit word that covers it: a half-done job leaves the chunk as it
 * was. */
static bool add_to_chunk(int descriptor, struct last_chunk *last, const struct trace_tail *tail,
                         uint32_t used, const struct trace_end *end) {
  size_t count = finish_encode(last, used, tail->last_time, end);
  if (!count || !os_write_at(descriptor, last->bytes + CHUNK_HEADER_BYTES + used, count,
                             tail->offset + CHUNK_HEADER_BYTES + used))
    return false;
  used += (uint32_t)count;
  uint64_t commit =
      commit_word(used, crc32c(chunk_header_crc(&last->header), last->bytes + CHUNK_HEADER_BYTES, used));
  return os_write_at(descriptor, &commit, sizeof commit,
                     tail->offset + offsetof(struct chunk_header, commit));
}

/* A chunk of its own, behind everything. */
static bool finish_add_chunk(int descriptor, const struct last_chunk *last, uint64_t file_bytes,
                             const struct trace_end *end) {
  struct chunk_header fields = {.word_bytes = last->header.word_bytes,
                                .run_id = last->header.run_id,
                                .rate = last->header.rate,
                                .base_time = end->time_ns,
                                .sequence = (file_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES};
  return lone_chunk_write(descriptor, &fields, TRACE_RECORD_END, end);
}

static bool add_end(int descriptor, const struct trace_tail *tail, uint64_t file_bytes,
                    const struct trace_end *end) {
  if (tail->capacity != CHUNK_BYTES) return false; /* of a build with other chunks */
  struct last_chunk *last = calloc(1, sizeof *last);
  if (!last) return false;
  uint32_t used = 0;
  uint64_t until;
  ssize_t count = pread(descriptor, last->bytes, sizeof last->bytes, (off_t)tail->offset);
  bool whole = count > 0 && chunk_check(last->bytes, (size_t)count, &used) == CHUNK_WHOLE;
  bool open = whole && tail->sound && !chunk_is_sealed(last->bytes, used, &until);
  bool added = whole && ((open && add_to_chunk(descriptor, last, tail, used, end)) ||
                         finish_add_chunk(descriptor, last, file_bytes, end));
  free(last);
  return added;
}

/* Its time is one of the monotonic clock, and the trace begins at `start_ns` of it. */
static void finish_complete(int descriptor, const struct trace_finishing *finishing, uint64_t start_ns,
                            uint64_t last_ns, const struct trace_tail *tail, struct trace_totals *totals) {
  struct trace_end end = *finishing->end;
  struct stat found;
  end.time_ns = start_ns && end.time_ns > start_ns ? end.time_ns - start_ns : 0;
  if (end.time_ns < last_ns) end.time_ns = last_ns;
  if (end.peak_bytes <= finishing->resident_before + finishing->resident_before / 8) end.peak_bytes = 0;
  if (!add_end(descriptor, tail, totals->file_bytes, &end)) return;
  totals->end = end;
  note_resident(totals, end.peak_bytes);
  totals->damage.complete = true;
  if (!fstat(descriptor, &found)) totals->file_bytes = (uint64_t)found.st_size;
}

static wn_status finish_locked(int descriptor, const char *path, const struct trace_finishing *finishing,
                               struct trace_totals *out) {
  struct trace_reader *reader;
  wn_status status = trace_reader_open(path, &reader);
  if (status) return status;
  struct trace_totals totals = {0};
  uint64_t last_ns = 0, start_ns = trace_reader_run(reader)->monotonic_ns;
  finish_read_all(reader, finishing, &totals, &last_ns);
  struct trace_tail tail = trace_reader_tail(reader);
  status = cut_tail(descriptor, path, trace_reader_used_end(reader), &totals);
  trace_reader_close(reader);
  if (!status && finishing->end && !totals.damage.complete && !totals.damage.out_of_memory)
    finish_complete(descriptor, finishing, start_ns, last_ns, &tail, &totals);
  if (!status) *out = totals;
  return status;
}

/* A process may be about to write it, and would find it locked. */
static bool finish_is_empty(int descriptor) {
  struct stat found;
  return !fstat(descriptor, &found) && S_ISREG(found.st_mode) && !found.st_size;
}

/* ---- shared ---- */

wn_status trace_finish(const char *path, struct trace_totals *out) {
  return trace_finish_with(path, &(struct trace_finishing){.end = NULL}, out);
}

wn_status trace_finish_with(const char *path, const struct trace_finishing *finishing,
                            struct trace_totals *out) {
  int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
  if (descriptor < 0) return error_set(WN_EIO, "cannot open %s: %s", path, strerror(errno));
  wn_status status;
  if (finish_is_empty(descriptor)) {
    status = error_set(WN_EFORMAT, "%s is empty: nothing was recorded into it, so record again", path);
  } else if (flock(descriptor, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
    status = error_set(WN_EBUSY, "%s is still being written", path);
  } else {
    status = finish_locked(descriptor, path, finishing, out);
  }
  close(descriptor);
  return status;
}
/* SPDX-License-Identifier: MIT */
