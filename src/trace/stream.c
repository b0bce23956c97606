/* A stream of a writer. */
#include "trace/stream.h"

#include "base/hash.h"
#include <string.h>
#include <sys/mman.h>

/* Of what is not the seal's. */
static unsigned char *room_end(const struct stream *stream) {
  return stream->chunk + stream->taken.space - SEAL_BYTES;
}

static unsigned char *usual_end(const struct stream *stream) {
  return stream->chunk + stream->taken.space - RESERVE_BYTES;
}

static struct chunk_header *header_of(const struct stream *stream) {
  return (struct chunk_header *)stream->chunk;
}

static void begin_segment(struct stream *stream) {
  unsigned char *begin = stream->encoder.sink.at;
  size_t most = SEGMENT_LEAST + (size_t)(begin - stream->chunk - CHUNK_HEADER_BYTES) / SEGMENT_GROWTH;
  stream->written.segment = begin;
  stream->written.due = begin + (most < SEGMENT_MOST ? most : SEGMENT_MOST);
  stream->written.checkpoint.crc = stream->written.crc;
  encoder_resumption(&stream->encoder, &stream->written.checkpoint);
}

static void add_to_checksum(struct stream *stream) {
  struct written *written = &stream->written;
  unsigned char *end = stream->encoder.sink.at;
  written->crc = crc32c(written->crc, written->published, (size_t)(end - written->published));
  written->published = end;
}

static void publish(struct stream *stream) {
  add_to_checksum(stream);
  uint64_t time = stream->encoder.state.time;
  if (time > stream->written.latest_ns) stream->written.latest_ns = time;
  uint32_t used = (uint32_t)(stream->written.published - stream->chunk) - CHUNK_HEADER_BYTES;
  /* Pairs with the reader's load of the word: the bytes are there before it covers them. */
  atomic_store_explicit(&header_of(stream)->commit, commit_word(used, stream->written.crc),
                        memory_order_release);
}

/* Closes the segment, if there is room; to be published. */
static void close_segment(struct stream *stream) {
  struct written *written = &stream->written;
  struct byte_sink *sink = &stream->encoder.sink;
  add_to_checksum(stream);
  written->checkpoint.bytes = (uint64_t)(sink->at - written->segment);
  if (!checkpoint_put(sink, &written->checkpoint, &written->crc)) return;
  written->published = sink->at;
  stack_encoder_pass_checkpoint(&stream->encoder.stacks);
  begin_segment(stream);
}

/* ---- shared ---- */

size_t stream_room(const struct stream *stream) {
  const unsigned char *end = room_end(stream);
  return stream->written.published < end ? (size_t)(end - stream->written.published) : 0;
}

void stream_begin_records(struct stream *stream) {
  unsigned char *first = stream->chunk + CHUNK_HEADER_BYTES;
  stream->full = false;
  encoder_begin(&stream->encoder, first, usual_end(stream), header_of(stream));
  stream->written = (struct written){
      .published = first, .crc = stream->written.crc, .checkpoint.chunk_crc = stream->written.crc};
  begin_segment(stream);
}

void stream_begin_chunk(struct stream *stream, const struct taken_chunk *taken,
                        const struct chunk_header *fields) {
  stream->taken = *taken;
  stream->written.crc = chunk_begin(header_of(stream), fields);
  stream_begin_records(stream);
  atomic_store_explicit(&stream->open, taken->sequence + 1, memory_order_relaxed);
}

void stream_extended(struct stream *stream) { stream->encoder.sink.end = usual_end(stream); }

void stream_publish_record(struct stream *stream) {
  if (stream->encoder.sink.at >= stream->written.due) close_segment(stream);
  publish(stream);
}

void stream_publish_segment(struct stream *stream) {
  close_segment(stream);
  publish(stream);
}

bool stream_put_in_reserve(struct stream *stream, enum trace_record record, const void *event) {
  struct encoder *encoder = &stream->encoder;
  unsigned char *end = encoder->sink.end;
  encoder->sink.end = room_end(stream);
  bool put = encoder_put(encoder, record, event);
  if (put && record == TRACE_RECORD_END) close_segment(stream);
  encoder->sink.end = end;
  if (put) publish(stream);
  if (encoder->sink.at > end) encoder->sink.end = encoder->sink.at;
  return put;
}

void stream_tell_dropped(struct stream *stream) {
  struct dropped_chunks *dropped = &stream->dropped;
  unsigned told = 0;
  for (; told < dropped->count; told++) {
    const struct dropped_chunk *chunk = &dropped->of[told];
    struct trace_dropped event = {.time_ns = stream->encoder.state.time,
                                  .thread = stream->encoder.state.thread,
                                  .chunk = chunk->sequence,
                                  .from_ns = chunk->from_ns,
                                  .until_ns = chunk->until_ns};
    if (!encoder_put(&stream->encoder, TRACE_RECORD_DROPPED, &event)) break;
    stream_publish_record(stream);
  }
  dropped->count -= told;
  memmove(dropped->of, dropped->of + told, dropped->count * sizeof *dropped->of);
}

unsigned char *stream_leave_chunk(struct stream *stream) {
  unsigned char *left = stream->chunk;
  struct byte_sink *sink = &stream->encoder.sink;
  sink->end = room_end(stream);
  if (sink->at != stream->written.segment) close_segment(stream);
  chunk_seal_put(sink->at, stream->written.latest_ns);
  sink->at += SEAL_BYTES;
  publish(stream);
  stream->chunk = NULL;
  atomic_store_explicit(&stream->open, 0, memory_order_relaxed);
  return left;
}

void stream_keep_before(struct stream *stream) {
  stream->before.sink = stream->encoder.sink;
  stream->before.state = stream->encoder.state;
  stream->before.written = stream->written;
  stream->before.commit = atomic_load_explicit(&header_of(stream)->commit, memory_order_relaxed);
}

void stream_go_back(struct stream *stream) {
  /* Pairs with the reader's load of the word: the bytes before stand as they stood. */
  atomic_store_explicit(&header_of(stream)->commit, stream->before.commit, memory_order_release);
  stream->written = stream->before.written;
  stream->encoder.state = stream->before.state;
  stream->encoder.sink = stream->before.sink;
}

void stream_detach(struct stream *stream) {
  mmap(stream->chunk, CHUNK_BYTES, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}
/* SPDX-License-Identifier: MIT */
