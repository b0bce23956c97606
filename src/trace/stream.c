/* A stream of a writer. */
#include "trace/stream.h"

#include <string.h>
#include <sys/mman.h>

/* Of what is not the seal's. */
static unsigned char *room_end(const struct stream *stream) {
  return stream->chunk + stream->taken.space - SEAL_BYTES;
}

static unsigned char *usual_end(const struct stream *stream) {
  return stream->chunk + stream->taken.space - RESERVE_BYTES;
}

static void stream_begin_segment(struct stream *stream) {
  unsigned char *begin = stream->encoder.sink.at;
  size_t most = SEGMENT_LEAST + (size_t)(begin - stream->chunk - CHUNK_HEADER_BYTES) / SEGMENT_GROWTH;
  stream->written.segment = begin;
  stream->written.due = begin + (most < SEGMENT_MOST ? most : SEGMENT_MOST);
  stream->written.checkpoint.crc = stream->written.crc;
  encoder_resumption(&stream->encoder, &stream->written.checkpoint);
}

/* ---- shared ---- */

void stream_close_segment(struct stream *stream) {
  struct written *written = &stream->written;
  struct byte_sink *sink = &stream->encoder.sink;
  stream_add_to_checksum(stream);
  written->checkpoint.bytes = (uint64_t)(sink->at - written->segment);
  if (!checkpoint_put(sink, &written->checkpoint, &written->crc)) return;
  written->published = sink->at;
  stack_encoder_pass_checkpoint(&stream->encoder.stacks);
  stream_begin_segment(stream);
}

size_t stream_room(const struct stream *stream) {
  const unsigned char *end = room_end(stream);
  return stream->written.published < end ? (size_t)(end - stream->written.published) : 0;
}

void stream_begin_records(struct stream *stream) {
  unsigned char *first = stream->chunk + CHUNK_HEADER_BYTES;
  stream->full = false;
  encoder_begin(&stream->encoder, first, usual_end(stream), stream_header(stream));
  stream->written = (struct written){
      .published = first, .crc = stream->written.crc, .checkpoint.chunk_crc = stream->written.crc};
  stream_begin_segment(stream);
}

void stream_begin_chunk(struct stream *stream, const struct taken_chunk *taken,
                        const struct chunk_header *fields) {
  stream->taken = *taken;
  stream->written.crc = chunk_begin(stream_header(stream), fields);
  stream_begin_records(stream);
  atomic_store_explicit(&stream->open, taken->sequence + 1, memory_order_relaxed);
}

void stream_extended(struct stream *stream) { stream->encoder.sink.end = usual_end(stream); }

void stream_publish_segment(struct stream *stream) {
  stream_close_segment(stream);
  stream_publish(stream);
}

bool stream_put_in_reserve(struct stream *stream, enum trace_record record, const void *event) {
  struct encoder *encoder = &stream->encoder;
  unsigned char *end = encoder->sink.end;
  encoder->sink.end = room_end(stream);
  bool put = encoder_put(encoder, record, event);
  if (put && record == TRACE_RECORD_END) stream_close_segment(stream);
  encoder->sink.end = end;
  if (put) stream_publish(stream);
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
                                  .until_ns = chunk->until_ns,
                                  .since_ns = chunk->since_ns,
                                  .number = chunk->number,
                                  .count = chunk->count};
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
  if (sink->at != stream->written.segment) stream_close_segment(stream);
  chunk_seal_put(sink->at, stream->written.latest_ns);
  sink->at += SEAL_BYTES;
  stream_publish(stream);
  stream->chunk = NULL;
  atomic_store_explicit(&stream->open, 0, memory_order_relaxed);
  return left;
}

void stream_keep_before(struct stream *stream) {
  stream->before.sink = stream->encoder.sink;
  stream->before.state = stream->encoder.state;
  stream->before.written = stream->written;
  stream->before.commit = atomic_load_explicit(&stream_header(stream)->commit, memory_order_relaxed);
}

void stream_go_back(struct stream *stream) {
  /* Pairs with the reader's load of the word: the bytes before stand as they stood. */
  atomic_store_explicit(&stream_header(stream)->commit, stream->before.commit, memory_order_release);
  stream->written = stream->before.written;
  stream->encoder.state = stream->before.state;
  stream->encoder.sink = stream->before.sink;
}

void stream_detach(struct stream *stream) {
  mmap(stream->chunk, CHUNK_BYTES, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}
/* SPDX-License-Identifier: MIT */
