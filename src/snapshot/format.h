/* A snapshot of a collected heap, as a file: every block, what it leads to, and the roots.
 *
 * A file is a header and segments. A segment has a kind, the number of its bytes, their checksum,
 * and the bytes: records of varints and texts (trace/codec.h). Each segment can be read alone; one
 * of an unknown kind is skipped. A reader takes the segments up to the first that is damaged or
 * cut, so what a killed process has left can be read as far as it goes. The last segment is END.
 *
 *   INFO     process, wall clock in ns, command, language (texts)
 *   TYPES    per type: id, name
 *   FIELDS   per field of a type: type, field, name
 *   HOLDERS  per holder: id, kind, domain, name; a holder is a group of roots of one kind and name
 *   ROOTS    per root: holder, target
 *   BLOCKS   an address, then the blocks behind it in ascending order of address
 *   TRACE    the path of a trace that records the heap
 *   SAMPLES  per block that the trace has sampled: its address, and the block's number in the trace
 *   END      how many blocks, edges and roots there are
 *
 * A text is its length and its bytes. Ids of types and of holders count from 1 in the order of
 * their first use. Addresses are divided by 8.
 *
 *   block    type << 4 | described << 3 | shape << 1, distance from the last address, words,
 *            [bytes outside,] [description,] [edges]
 *   edges    (field - the last edge's field, or + 1 if it is the first; target - block, zigzag)...
 *            and 0. Of a weak block the field 0 is the data, and the others are the keys.
 *   0        the edges of the last block go on, as those of a block of its own
 *   again    number of a form << 2 | moved << 1 | 1, [distance,] (target - block, zigzag)...
 *            The distance is that of the last block unless the block has moved.
 *
 * No type has the number 0, so no block begins with 0.
 *
 * FORM. Most blocks have the type, the words and the fields of others: a tree's blocks of 4 words take
 * a few bytes each, of which 1 is not of its edges. The form of a block is its type, shape, words and
 * the fields of its edges. A `block` that has FORM_EDGES at most, with fields below 2^32, and neither
 * a description nor bytes outside gives the next form of its segment to those behind it: the first one
 * is 0, the one after FORMS - 1 replaces the first, and so on.
 *
 * Version 1 had no forms: a block began with type << 3 | described << 2 | shape. */
#pragma once

#include <stdint.h>

enum {
  SNAPSHOT_VERSION = 2,
  SEGMENT_BYTES = 1 << 18, /* a writer's; a reader accepts any number up to SEGMENT_MOST */
  SEGMENT_MOST = 1 << 24,
  SNAPSHOT_TYPES_MOST = 1 << 20,
  FORM_EDGES = 8,
  FORMS = 256,
};

enum segment_kind {
  SEGMENT_INFO = 1,
  SEGMENT_TYPES,
  SEGMENT_FIELDS,
  SEGMENT_HOLDERS,
  SEGMENT_ROOTS,
  SEGMENT_BLOCKS,
  SEGMENT_TRACE,
  SEGMENT_SAMPLES,
  SEGMENT_END,
};

enum { BLOCK_DESCRIBED = 4 };
enum block_shape {
  SHAPE_RAW,     /* no edges */
  SHAPE_SCANNED, /* edges */
  SHAPE_WEAK,    /* edges: EPHEMERONS of retention/graph.h */
  SHAPE_CUSTOM,  /* bytes outside, no edges */
};

struct snapshot_form {
  uint64_t words;
  uint32_t type;
  uint16_t shape, edges;
  uint32_t fields[FORM_EDGES]; /* of the edges */
};

/* The forms of a segment. */
struct snapshot_forms {
  struct snapshot_form items[FORMS];
  uint64_t count;       /* of all that were given */
  uint64_t last, moved; /* the address of the last block, and its distance from the one before */
};

enum holder_kind {
  HOLDER_HANDLES, /* and the pending exception, of a domain */
  HOLDER_ROOTS,   /* what the language's hook walk_roots visits, of a domain */
  HOLDER_GLOBALS,
  HOLDER_FINALISERS, /* calls that are pending */
  HOLDER_PINS,
  HOLDER_SCOPES, /* handles of a domain that the named function made */
  HOLDER_KINDS
};

/* Little-endian, no padding. */
struct snapshot_header {
  unsigned char magic[8];
  uint32_t version;
  uint32_t word_bytes;
};

struct segment_header {
  uint32_t kind, bytes;
  uint32_t checksum; /* CRC-32C of the kind, the number of bytes, and the bytes */
};

_Static_assert(sizeof(struct snapshot_header) == 16 && sizeof(struct segment_header) == 12, "no padding");

static const unsigned char snapshot_magic[8] = {0x89, 'W', 'N', 'h', 'e', 'a', 'p', '\n'};
/* SPDX-License-Identifier: MIT */
