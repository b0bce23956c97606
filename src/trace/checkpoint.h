/* Checkpoints: of a damaged chunk only the damaged part is lost.
 *
 * A chunk's records are cut into segments. Each segment ends with a CHECKPOINT record, which says
 * how long the segment is, what the coding state was at the segment's first byte, and the chunk's
 * running checksum there and at the checkpoint's own end. So a reader finds a segment by its
 * checkpoint, goes back by its length, and checks it by its own bytes. The reader needs neither the
 * header nor the rest of the chunk, and the bytes need not stand where they were written.
 *
 * Only the commit word checks the bytes behind the last checkpoint: the last running checksum,
 * continued over them, must be the commit word's. A reader needs the segment before them to decode
 * them. Chunks that the writer has left have only their seal there, and those that have an END
 * nothing, if their reserve had room for a checkpoint.
 *
 * A lost segment takes with it the nodes that it defined. Modules and names are not missed, since
 * the writer forgets them at each checkpoint and defines them again when it needs them.
 *
 * A chunk's first segments are short, so that little is lost of a short trace; later ones grow to a
 * sixteenth of a chunk. The writer has the running checksum at hand anyway. (Behind a checkpoint it
 * is always the same number, as every checksum that was continued over itself is. Nothing depends
 * on that.) */
#ifndef TRACE_CHECKPOINT_H
#define TRACE_CHECKPOINT_H

#include "trace/chunk.h"
#include "trace/codec.h"
#include <stdbool.h>
#include <stdint.h>

enum {
  /* A segment that begins at byte n of its chunk is closed when it has this many bytes and n / 8,
   * but at most so many. */
  SEGMENT_LEAST = 256,
  SEGMENT_GROWTH = 8,
  SEGMENT_MOST = CHUNK_BYTES / 16 < SEGMENT_LEAST ? SEGMENT_LEAST : CHUNK_BYTES / 16,
  /* The longest record. */
  CHECKPOINT_BYTES = 2 + 4 + 7 * VARINT_MAX + 3 * 4
};

struct checkpoint {
  /* Where the segment begins. */
  uint32_t chunk_crc; /* of the chunk's header: tells chunks apart, and whether a header is right */
  uint32_t crc;       /* the running checksum */
  uint64_t time, block;
  uint32_t thread;
  uint32_t nodes, modules; /* defined so far in the chunk */
  uint64_t address;        /* the last offset of module 0 */
  /* Of the records from there to the checkpoint. */
  uint64_t bytes;
};

/* Puts the record that closes a segment. *crc is the running checksum at the sink's place, and
 * becomes that behind the record. False if there is no room; nothing has changed then. */
bool checkpoint_put(struct byte_sink *sink, const struct checkpoint *checkpoint, uint32_t *crc);

/* A segment whose bytes are those that were written. */
struct segment {
  struct checkpoint checkpoint;
  size_t begin, end; /* of the records, and behind the checkpoint */
  uint32_t crc;      /* the running checksum behind it */
};

/* Finds the first segment that begins at or behind `from`. Nothing is assumed of the bytes. *work
 * is how many bytes may still be read for checksums that turn out wrong: a hostile file could have
 * many checkpoints that claim the same bytes. */
bool segment_find(const unsigned char *bytes, size_t count, size_t from, size_t *work,
                  struct segment *segment);

#endif
/* SPDX-License-Identifier: MIT */
