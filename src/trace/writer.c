/* Writes a trace from inside the profiled program. */
#include "trace/writer.h"

#include "base/error.h"
#include "base/metadata.h"
#include "base/os.h"
#include "base/words.h"
#include "trace/chunk_file.h"
#include "trace/stream.h"
#include <errno.h>

enum {
  STREAMS_MOST = 64,
  STREAMS_LEAST = 4,
  /* A stream lags if its chunk was taken so many chunks ago. */
  LAG_CHUNKS = 64,
  /* Open chunks, which cannot be dropped, take one in so many bytes of a bound at most. */
  OPEN_PART = 2,
  COMMAND_MOST = CHUNK_BYTES / 4
};

/* CUT of chunk_file.h. A look takes a system call: 0.7 % of the time of a program that only
 * allocates and frees (500,000 records a second at a rate of 1e-4; 11 runs with and without,
 * medians), and less where records are rarer. A look before each record, which a cut could still
 * follow, or records by pwrite, which no cut could harm, would take 0.3 to 2.5 us a record: many
 * times the cost of a record (bench_trace_writer). */
#define LOOK_INTERVAL ((uint64_t)200 * 1000)

struct trace_writer {
  /* Set by trace_writer_open; constant afterwards. */
  struct trace_stack_source source;
  struct stream *streams;
  unsigned stream_count;
  struct chunk_header fields; /* without what differs from chunk to chunk */
  void (*cut)(const char *path);
  bool alone;
  /* Set by a forked child, and when the file was cut. */
  _Atomic(bool) forgotten;
  /* Of the chunks that begin from now on. */
  _Atomic(double) rate;
  /* The time of the next look at the file's size. */
  _Atomic(uint64_t) look_due;
  /* A bit for each stream that ever had a chunk: the others take no memory, so nothing else may
   * look at them. */
  _Atomic(uint64_t) begun;
  /* Any thread. Lost and told, by reason: the difference waits for a LOSS record. */
  _Atomic(uint64_t) lost[TRACE_LOSS_REASONS];
  _Atomic(uint64_t) told[TRACE_LOSS_REASONS];
  struct chunk_file file;
};

/* The stream that this thread used last, in whichever writer. A hint, so a stale one does no
 * harm. */
static _Thread_local unsigned favourite;

/* ---- streams ---- */

static struct stream *writer_claim(struct trace_writer *writer) {
  for (unsigned i = 0; i < writer->stream_count; i++) {
    unsigned at = (favourite + i) % writer->stream_count;
    struct stream *stream = &writer->streams[at];
    if (!atomic_load_explicit(&stream->busy, memory_order_relaxed) && stream_claim(stream)) {
      if (i) favourite = at;
      return stream;
    }
  }
  return NULL;
}

static void unmap_chunk(unsigned char *chunk) { metadata_give_back(chunk, CHUNK_BYTES); }

static void note_begun(struct trace_writer *writer, struct stream *stream) {
  stream->encoder.stacks.source = &writer->source;
  atomic_fetch_or_explicit(&writer->begun, UINT64_C(1) << (stream - writer->streams), memory_order_relaxed);
}

/* The stream has a chunk. */
static void leave_chunk(struct trace_writer *writer, struct stream *stream) {
  unmap_chunk(stream_leave_chunk(stream));
  disk_bound_note_sealed(&writer->file.bound, stream->taken.sequence);
}

static bool lags(const struct stream *stream, uint64_t newest) {
  uint64_t open = atomic_load_explicit(&stream->open, memory_order_relaxed);
  return open && open - 1 + LAG_CHUNKS <= newest;
}

/* So that no stream that is seldom used keeps an old chunk open for ever. Streams that are in use
 * are passed over: the next chunk may find them free. */
static void leave_lagging(struct trace_writer *writer, uint64_t newest) {
  uint64_t begun = atomic_load_explicit(&writer->begun, memory_order_relaxed);
  for (; begun; begun &= begun - 1) {
    struct stream *stream = &writer->streams[__builtin_ctzll(begun)];
    if (!lags(stream, newest) || !stream_claim(stream)) continue;
    if (lags(stream, newest)) leave_chunk(writer, stream);
    stream_release(stream);
  }
}

static bool is_forgotten(struct trace_writer *writer) {
  return atomic_load_explicit(&writer->forgotten, memory_order_relaxed);
}

/* The next chunk of the file, mapped. NULL if the file cannot grow. */
static unsigned char *take_chunk_writer(struct trace_writer *writer, struct stream *stream,
                                        struct taken_chunk *taken) {
  if (!chunk_file_take(&writer->file, !stream->chunk, taken, &stream->dropped)) return NULL;
  unsigned char *chunk = chunk_file_map(&writer->file, taken->sequence);
  if (!chunk) chunk_file_give_back(&writer->file, taken->sequence);
  return chunk;
}

/* Leaves the old chunk as it is if the file cannot grow. */
static bool writer_next_chunk(struct trace_writer *writer, struct stream *stream, uint64_t time) {
  struct chunk_header fields = writer->fields;
  struct taken_chunk taken;
  unsigned char *chunk = take_chunk_writer(writer, stream, &taken);
  if (!chunk) return false;
  /* FORK. A fork inside a signal handler inside this call: the chunk is the parent's. */
  if (is_forgotten(writer)) {
    unmap_chunk(chunk);
    return false;
  }
  if (!stream->chunk)
    note_begun(writer, stream);
  else
    leave_chunk(writer, stream);
  stream->chunk = chunk; /* a fork from here on makes it the child's own */
  atomic_signal_fence(memory_order_seq_cst);
  if (is_forgotten(writer)) {
    stream->chunk = NULL;
    unmap_chunk(chunk);
    return false;
  }
  fields.sequence = taken.sequence;
  fields.base_time = time;
  fields.rate = atomic_load_explicit(&writer->rate, memory_order_relaxed);
  stream_begin_chunk(stream, &taken, &fields);
  leave_lagging(writer, taken.sequence);
  return true;
}

/* More room in the same chunk. */
static bool writer_extend(struct trace_writer *writer, struct stream *stream) {
  if (!chunk_file_extend(&writer->file, &stream->taken, &stream->dropped)) return false;
  stream_extended(stream);
  return true;
}

/* ---- losses ---- */

static void lose(struct trace_writer *writer, enum trace_loss_reason reason) {
  atomic_fetch_add_explicit(&writer->lost[reason], 1, memory_order_relaxed);
}

static void writer_tell(struct trace_writer *writer, struct stream *stream, unsigned reason,
                        const struct trace_at *at) {
  uint64_t lost = atomic_load_explicit(&writer->lost[reason], memory_order_relaxed);
  uint64_t told = atomic_load_explicit(&writer->told[reason], memory_order_relaxed);
  if (lost <= told || !atomic_compare_exchange_strong_explicit(&writer->told[reason], &told, lost,
                                                               memory_order_relaxed, memory_order_relaxed))
    return;
  struct trace_loss loss = {
      .time_ns = at->time_ns, .thread = at->thread, .reason = (uint8_t)reason, .count = lost - told};
  if (reason == TRACE_LOSS_SPACE)
    loss.cause = atomic_load_explicit(&writer->file.cause, memory_order_relaxed);
  if (!stream_put_in_reserve(stream, TRACE_RECORD_LOSS, &loss))
    atomic_fetch_sub_explicit(&writer->told[reason], lost - told, memory_order_relaxed);
}

static bool untold(struct trace_writer *writer) {
  for (unsigned i = 0; i < TRACE_LOSS_REASONS; i++)
    if (atomic_load_explicit(&writer->lost[i], memory_order_relaxed) >
        atomic_load_explicit(&writer->told[i], memory_order_relaxed))
      return true;
  return false;
}

static void tell_losses(struct trace_writer *writer, struct stream *stream, const struct trace_at *at) {
  if (!untold(writer)) return;
  for (unsigned i = 0; i < TRACE_LOSS_REASONS; i++) writer_tell(writer, stream, i, at);
}

/* The losses grew so much that they are told without waiting for another event: fourfold. */
static bool writer_is_due(struct trace_writer *writer, enum trace_loss_reason reason) {
  uint64_t lost = atomic_load_explicit(&writer->lost[reason], memory_order_relaxed);
  return lost >= 4 * atomic_load_explicit(&writer->told[reason], memory_order_relaxed);
}

/* With no room for more, the reserve tells the losses each time that they grew fourfold: even a
 * program that is killed then leaves their order of magnitude, and END still fits. */
static void tell_in_reserve(struct trace_writer *writer, struct stream *stream, enum trace_loss_reason reason,
                            const struct trace_at *at) {
  if (!stream->chunk || !writer_is_due(writer, reason)) return;
  if (stream_room(stream) + SEAL_BYTES > LAST_BYTES) writer_tell(writer, stream, reason, at);
}

/* ---- files that others cut ---- */

/* Another thread that has claimed a stream may be about to unmap its chunk: only chunks of free
 * streams can be replaced. */
static void end_cut(struct trace_writer *writer) {
  int saved = errno;
  if (atomic_exchange_explicit(&writer->forgotten, true, memory_order_relaxed)) return;
  uint64_t begun = atomic_load_explicit(&writer->begun, memory_order_relaxed);
  for (; begun; begun &= begun - 1) {
    struct stream *stream = &writer->streams[__builtin_ctzll(begun)];
    if (!stream_claim(stream)) continue;
    if (stream->chunk) stream_detach(stream);
    stream_release(stream);
  }
  chunk_file_close(&writer->file);
  if (writer->cut) writer->cut(writer->file.path);
  errno = saved;
}

/* Whether a record of this time may be written. To be asked while the caller has no stream. The
 * look comes before the next one is put off: so no thread writes meanwhile without a look. */
static bool may_write(struct trace_writer *writer, const struct trace_at *at) {
  if (is_forgotten(writer)) return false;
  bool look = !writer->alone && at->time_ns >= atomic_load_explicit(&writer->look_due, memory_order_relaxed);
  bool whole = chunk_file_is_whole(&writer->file, look);
  if (look) atomic_store_explicit(&writer->look_due, at->time_ns + LOOK_INTERVAL, memory_order_relaxed);
  if (!whole) end_cut(writer);
  return whole;
}

/* ---- records ---- */

/* A fresh chunk is too small for the record's stack: the record goes without. */
static bool put_without_stack(struct trace_writer *writer, struct stream *stream, enum trace_record record,
                              const void *event) {
  if (!stream->encoder.stack.count) return false;
  stream_begin_records(stream);
  stream->encoder.stack = (struct trace_stack){0};
  lose(writer, TRACE_LOSS_STACK);
  return encoder_put(&stream->encoder, record, event);
}

/* Again, with more room in the same chunk. */
static bool put_extending(struct trace_writer *writer, struct stream *stream, enum trace_record record,
                          const void *event) {
  while (writer_extend(writer, stream))
    if (encoder_put(&stream->encoder, record, event)) return true;
  return false;
}

static bool put_writer(struct trace_writer *writer, struct stream *stream, enum trace_record record,
                       const void *event) {
  if (stream->chunk && !stream->full) {
    if (encoder_put(&stream->encoder, record, event) || put_extending(writer, stream, record, event))
      return true;
    stream->full = true;
  }
  if (!writer_next_chunk(writer, stream, ((const struct trace_at *)event)->time_ns)) return false;
  if (encoder_put(&stream->encoder, record, event) || put_extending(writer, stream, record, event))
    return true;
  if (stream->taken.space < CHUNK_BYTES) return false; /* it may fit one day */
  return put_without_stack(writer, stream, record, event);
}

static bool write_into(struct trace_writer *writer, struct stream *stream, enum trace_record record,
                       const void *event) {
  if (!put_writer(writer, stream, record, event)) {
    lose(writer, TRACE_LOSS_SPACE);
    if (chunk_file_is_whole(&writer->file, false)) tell_in_reserve(writer, stream, TRACE_LOSS_SPACE, event);
    return false;
  }
  stream_publish_record(stream);
  tell_losses(writer, stream, event);
  if (stream->dropped.count) stream_tell_dropped(stream);
  return true;
}

static bool write_stacked(struct trace_writer *writer, enum trace_record record, const void *event,
                          struct trace_stack stack) {
  if (!may_write(writer, event)) return false;
  struct stream *stream = writer_claim(writer);
  if (!stream) {
    lose(writer, TRACE_LOSS_STREAMS);
    return false;
  }
  stream->encoder.stack = stack;
  bool written = write_into(writer, stream, record, event);
  stream_release(stream);
  return written;
}

static bool writer_write_event(struct trace_writer *writer, enum trace_record record, const void *event) {
  return write_stacked(writer, record, event, (struct trace_stack){0});
}

/* A hint: another thread may use the stream. */
static bool has_chunk(struct trace_writer *writer, unsigned number) {
  uint64_t begun = atomic_load_explicit(&writer->begun, memory_order_relaxed);
  return begun >> number & 1 && atomic_load_explicit(&writer->streams[number].open, memory_order_relaxed);
}

/* Tries every stream's reserve, since the first may be full while another has room; those that have
 * a chunk first. `prepare`, if any, sees the stream just before. Returns the stream, still claimed;
 * NULL if none has room. */
static struct stream *put_reserved(struct trace_writer *writer, enum trace_record record, const void *event,
                                   void (*prepare)(struct stream *)) {
  if (!may_write(writer, event)) return NULL;
  for (unsigned i = 0; i < 2 * writer->stream_count; i++) {
    struct stream *stream = &writer->streams[i % writer->stream_count];
    if ((i < writer->stream_count && !has_chunk(writer, i)) || !stream_claim(stream)) continue;
    if (stream->chunk || writer_next_chunk(writer, stream, ((const struct trace_at *)event)->time_ns)) {
      tell_losses(writer, stream, event);
      if (stream->dropped.count) stream_tell_dropped(stream);
      if (prepare) prepare(stream);
      if (stream_put_in_reserve(stream, record, event)) return stream;
      if (writer_extend(writer, stream) && stream_put_in_reserve(stream, record, event)) return stream;
    }
    stream_release(stream);
  }
  return NULL;
}

static bool write_reserved(struct trace_writer *writer, enum trace_record record, const void *event) {
  struct stream *stream = put_reserved(writer, record, event, NULL);
  if (stream) stream_release(stream);
  return stream;
}

/* ---- opening ---- */

/* Under a bound nothing else stands in chunk 0, which is never dropped: deaths of blocks that were
 * born there would be. */
static bool writer_write_run(struct trace_writer *writer, const struct trace_run *run, bool alone) {
  struct trace_run shorter = *run;
  if (shorter.command.length > COMMAND_MOST) shorter.command.length = COMMAND_MOST;
  struct stream *stream = &writer->streams[0];
  if (!writer_next_chunk(writer, stream, 0)) return false;
  while (!encoder_put_run(&stream->encoder, &shorter))
    if (!writer_extend(writer, stream)) return false;
  stream_publish_segment(stream);
  stream->full = alone;
  return true;
}

static unsigned most_streams(uint64_t bound_bytes) {
  unsigned count = STREAMS_MOST;
  while (bound_bytes && count > STREAMS_LEAST && count * OPEN_PART * (uint64_t)CHUNK_BYTES > bound_bytes)
    count /= 2;
  return count;
}

/* As many streams as the address space and the bound allow. */
static wn_status create_streams(struct trace_writer *writer, uint64_t bound_bytes) {
  for (unsigned count = most_streams(bound_bytes); count >= STREAMS_LEAST; count /= 2) {
    writer->streams = metadata_reserve(count * sizeof(struct stream));
    writer->stream_count = count;
    if (writer->streams) return WN_OK;
  }
  return error_set(WN_ENOMEM, "no memory for the trace writer");
}

/* The next one after `stream` (NULL: the first) that has a chunk; NULL: there are no more. */
static struct stream *next_begun(struct trace_writer *writer, const struct stream *stream) {
  uint64_t begun = atomic_load_explicit(&writer->begun, memory_order_relaxed);
  if (stream) begun &= ~(uint64_t)0 << (stream - writer->streams) << 1;
  for (; begun; begun &= begun - 1) {
    struct stream *found = &writer->streams[__builtin_ctzll(begun)];
    if (found->chunk) return found;
  }
  return NULL;
}

/* Where the records end of the chunk that is the last of the file. */
static uint64_t end_of_file(struct trace_writer *writer) {
  uint64_t chunks = atomic_load_explicit(&writer->file.next, memory_order_relaxed);
  for (struct stream *stream = NULL; (stream = next_begun(writer, stream));)
    if (stream->taken.sequence + 1 == chunks)
      return stream->taken.sequence * CHUNK_BYTES + (uint64_t)(stream->written.published - stream->chunk);
  return chunks * CHUNK_BYTES;
}

static void free_streams(struct trace_writer *writer) {
  for (struct stream *stream = NULL; (stream = next_begun(writer, stream));) unmap_chunk(stream->chunk);
  metadata_give_back(writer->streams, writer->stream_count * sizeof(struct stream));
}

/* ---- shared ---- */

wn_status trace_writer_open(const struct trace_options *options, const struct trace_run *run,
                            const struct trace_stack_source *source, struct trace_writer **out) {
  struct trace_writer *writer = metadata_map(sizeof *writer);
  if (!writer) return error_set(WN_ENOMEM, "no memory for the trace writer");
  writer->source = *source;
  writer->cut = options->cut;
  writer->alone = options->alone;
  writer->fields = (struct chunk_header){.word_bytes = run->word_bytes};
  atomic_store_explicit(&writer->rate, run->rate, memory_order_relaxed);
  os_random_bytes(&writer->fields.run_id, sizeof writer->fields.run_id);
  wn_status status = create_streams(writer, options->bound_bytes);
  if (status) goto unmap_writer;
  status = chunk_file_open(&writer->file, options->path, options->limit_bytes);
  if (status) goto free_streams;
  status = chunk_file_bind(&writer->file, options->bound_bytes)
               ? WN_OK
               : error_set(WN_ENOMEM, "no memory for the trace writer");
  if (status) goto close_file;
  if (!writer_write_run(writer, run, options->bound_bytes)) {
    status = error_set(WN_EIO, "no room for a trace in %s: %s", options->path,
                       trace_cause_name(atomic_load_explicit(&writer->file.cause, memory_order_relaxed)));
    goto close_file;
  }
  *out = writer;
  return WN_OK;

close_file:
  chunk_file_give_up(&writer->file);
  chunk_file_free(&writer->file);
free_streams:
  free_streams(writer);
unmap_writer:
  metadata_unmap(writer, sizeof *writer);
  return status;
}

const char *trace_writer_path(const struct trace_writer *writer) { return writer->file.path; }

void trace_writer_rate(struct trace_writer *writer, double rate) {
  atomic_store_explicit(&writer->rate, rate, memory_order_relaxed);
}

bool trace_write_sample(struct trace_writer *writer, const struct trace_sample *sample,
                        struct trace_stack stack) {
  bool usual = sample->words == malloc_words(sample->size) && sample->n_samples == 1 && !sample->source;
  enum trace_record record = sample->grown   ? TRACE_RECORD_GROWN
                             : sample->major ? TRACE_RECORD_MAJOR
                             : usual         ? TRACE_RECORD_SAMPLE
                                             : TRACE_RECORD_SAMPLE_FULL;
  return write_stacked(writer, record, sample, stack);
}

#define WRITER_PLAIN(type, RECORD)                                                         \
  bool trace_write_##type(struct trace_writer *writer, const struct trace_##type *event) { \
    return writer_write_event(writer, TRACE_RECORD_##RECORD, event);                       \
  }
#define WRITER_STACK(type, RECORD)                                                       \
  bool trace_write_##type(struct trace_writer *writer, const struct trace_##type *event, \
                          struct trace_stack stack) {                                    \
    return write_stacked(writer, TRACE_RECORD_##RECORD, event, stack);                   \
  }
#define WRITER_OWN(type, RECORD)
#define TRACE_STRUCT(type, EVENT, WRITER, members) WRITER_##WRITER(type, EVENT)
#include "trace/events.def"

bool trace_write_loss(struct trace_writer *writer, const struct trace_loss *loss) {
  if (write_reserved(writer, TRACE_RECORD_LOSS, loss)) return true;
  unsigned reason = loss->reason < TRACE_LOSS_REASONS ? loss->reason : TRACE_LOSS_CALLER;
  atomic_fetch_add_explicit(&writer->lost[reason], loss->count, memory_order_relaxed); /* told when it fits */
  return false;
}

void trace_lose(struct trace_writer *writer, const struct trace_at *at, uint64_t count) {
  atomic_fetch_add_explicit(&writer->lost[TRACE_LOSS_CALLER], count, memory_order_relaxed);
  if (!writer_is_due(writer, TRACE_LOSS_CALLER) || !may_write(writer, at)) return;
  struct stream *stream = writer_claim(writer);
  if (!stream) return;
  tell_in_reserve(writer, stream, TRACE_LOSS_CALLER, at);
  stream_release(stream);
}

bool trace_write_end(struct trace_writer *writer, const struct trace_end *end) {
  return write_reserved(writer, TRACE_RECORD_END, end);
}

unsigned trace_write_exec(struct trace_writer *writer, const struct trace_exec *exec) {
  writer_write_event(writer, TRACE_RECORD_EXEC, exec);
  struct trace_end end = {.time_ns = exec->time_ns, .thread = exec->thread, .kind = TRACE_END_EXEC};
  struct stream *stream = put_reserved(writer, TRACE_RECORD_END, &end, stream_keep_before);
  return stream ? 1 + (unsigned)(stream - writer->streams) : 0;
}

void trace_exec_failed(struct trace_writer *writer, unsigned number) {
  if (!number) return;
  struct stream *stream = &writer->streams[number - 1];
  stream_go_back(stream);
  stream_release(stream);
}

uint64_t trace_writer_dropped(const struct trace_writer *writer) {
  return atomic_load_explicit(&writer->file.bound.dropped, memory_order_relaxed);
}

uint64_t trace_writer_dropped_begun(const struct trace_writer *writer) {
  return atomic_load_explicit(&writer->file.bound.begun_ns, memory_order_relaxed);
}

uint64_t trace_writer_dropped_sealed(const struct trace_writer *writer) {
  return atomic_load_explicit(&writer->file.bound.sealed_ns, memory_order_relaxed);
}

uint64_t trace_writer_lost(const struct trace_writer *writer) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < TRACE_LOSS_REASONS; i++)
    if (i != TRACE_LOSS_STACK) sum += atomic_load_explicit(&writer->lost[i], memory_order_relaxed);
  return sum;
}

uint64_t trace_writer_bytes(const struct trace_writer *writer) {
  return atomic_load_explicit(&writer->file.size, memory_order_relaxed);
}

void trace_writer_forget(struct trace_writer *writer) {
  int saved = errno;
  atomic_store_explicit(&writer->forgotten, true, memory_order_relaxed);
  for (struct stream *stream = NULL; (stream = next_begun(writer, stream));) stream_detach(stream);
  chunk_file_close(&writer->file);
  errno = saved;
}

void trace_writer_close(struct trace_writer *writer) {
  chunk_file_cut_and_close(&writer->file, end_of_file(writer));
  chunk_file_free(&writer->file);
  free_streams(writer);
  metadata_unmap(writer, sizeof *writer);
}
/* SPDX-License-Identifier: MIT */
