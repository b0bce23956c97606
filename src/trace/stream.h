/* A stream of a writer: appends records to a chunk of its own, and leaves the chunk for the next
 * one.
 *
 * One thread at a time claims a stream, so nothing else here is atomic but what others look at. How
 * the streams of a writer share the file: writer.h.
 *
 * LEFT. A stream that leaves its chunk closes the last segment and puts a seal behind it, in room
 * that nothing else uses. The stream forgets the chunk before another thread can claim the stream:
 * so no record comes behind a seal, and the commit word of a sealed chunk never changes again. */
#ifndef TRACE_STREAM_H
#define TRACE_STREAM_H

#include "base/hash.h"
#include "trace/checkpoint.h"
#include "trace/chunk_file.h"
#include "trace/encoder.h"

enum {
  /* At the end of a chunk's space, for LOSS, END and the seal; what of it is kept for the end and
   * the seal; and for the seal alone. */
  RESERVE_BYTES = 256,
  LAST_BYTES = 128 + SEAL_BYTES
};

/* How far a chunk is written. */
struct written {
  unsigned char *published; /* where the bytes end that the commit word covers */
  uint32_t crc;             /* of the header and of all until there */
  uint64_t latest_ns;       /* the latest time of a record there */
  unsigned char *segment;   /* where the segment begins that the next checkpoint closes */
  unsigned char *due;       /* and where it is long enough for that */
  struct checkpoint checkpoint;
};

struct stream {
  /* 1 while a thread writes here; 0 pairs with the next claim, so that streams pass from thread to
   * thread whole. */
  _Alignas(64) _Atomic(uint32_t) busy;
  /* Written by the thread that holds `busy`, a hint for others: the sequence number of the chunk
   * plus one; 0: there is no chunk. */
  _Atomic(uint64_t) open;
  /* The rest belongs to the thread that holds `busy`. */
  bool full;            /* a record did not fit: the next one goes into another chunk, or nowhere */
  unsigned char *chunk; /* NULL: none yet, or the last one is left */
  struct taken_chunk taken;
  struct written written;
  struct encoder encoder;
  struct dropped_chunks dropped; /* to be told */
  /* While an exec is tried: what the stream was before its END. */
  struct {
    struct byte_sink sink;
    struct coding_state state;
    uint64_t commit;
    struct written written;
  } before;
};

static inline bool stream_claim(struct stream *stream) {
  uint32_t expected = 0;
  return atomic_compare_exchange_strong_explicit(&stream->busy, &expected, 1, memory_order_acquire,
                                                 memory_order_relaxed);
}

static inline void stream_release(struct stream *stream) {
  atomic_store_explicit(&stream->busy, 0, memory_order_release);
}

/* How many bytes of a chunk's reserve are free, without those of the seal. */
size_t stream_room(const struct stream *stream);

/* Begins stream->chunk, which is all zeros. `fields` as for chunk_begin. */
void stream_begin_chunk(struct stream *stream, const struct taken_chunk *taken,
                        const struct chunk_header *fields);

/* Begins the stream's chunk again, which has no record. */
void stream_begin_records(struct stream *stream);

/* The chunk has more space: stream->taken. */
void stream_extended(struct stream *stream);

static inline struct chunk_header *stream_header(const struct stream *stream) {
  return (struct chunk_header *)stream->chunk;
}

static inline void stream_add_to_checksum(struct stream *stream) {
  struct written *written = &stream->written;
  unsigned char *end = stream->encoder.sink.at;
  written->crc = crc32c(written->crc, written->published, (size_t)(end - written->published));
  written->published = end;
}

/* Covers what the encoder put by the commit word. */
static inline void stream_publish(struct stream *stream) {
  stream_add_to_checksum(stream);
  uint64_t time = stream->encoder.state.time;
  if (time > stream->written.latest_ns) stream->written.latest_ns = time;
  uint32_t used = (uint32_t)(stream->written.published - stream->chunk) - CHUNK_HEADER_BYTES;
  /* Pairs with the reader's load of the word: the bytes are there before it covers them. */
  atomic_store_explicit(&stream_header(stream)->commit, commit_word(used, stream->written.crc),
                        memory_order_release);
}

/* Closes the segment, if there is room; to be published. */
void stream_close_segment(struct stream *stream);

/* Covers it, and closes the segment before if it is long enough. */
static inline void stream_publish_record(struct stream *stream) {
  if (stream->encoder.sink.at >= stream->written.due) stream_close_segment(stream);
  stream_publish(stream);
}

/* Closes the segment, if there is room, and covers all by the commit word. */
void stream_publish_segment(struct stream *stream);

/* Puts and publishes a record that needs no definitions, into the reserve if need be. An END is
 * made safe by a checkpoint. */
bool stream_put_in_reserve(struct stream *stream, enum trace_record record, const void *event);

/* Puts a DROPPED record for each chunk that is to be told, as long as they fit. */
void stream_tell_dropped(struct stream *stream);

/* LEFT. Seals the chunk, which the stream forgets, and returns it, still mapped. The stream has
 * one. */
unsigned char *stream_leave_chunk(struct stream *stream);

/* stream_keep_before, and what was put since is taken out again; the stream stays claimed in
 * between. */
void stream_keep_before(struct stream *stream);
void stream_go_back(struct stream *stream);

/* Private memory in place of the chunk: a store that comes late does no harm. */
void stream_detach(struct stream *stream);

#endif
/* SPDX-License-Identifier: MIT */
