/* Writes a snapshot (format.h) to a descriptor. Takes no memory and no lock: the world may be
 * stopped, and the process may be the child of a fork. One thread. */
#pragma once

#include "snapshot/format.h"
#include "trace/codec.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FORM_SLOT_BITS = 10 };

struct snapshot_writer {
  int descriptor;
  int error; /* errno of the first failure; nothing is written after it */
  enum segment_kind kind;
  struct byte_sink sink;
  uint64_t next_field; /* of the block whose edges are written */
  bool in_block;       /* a block is open: its edges have no end yet */
  /* A block that is not written yet, since it may have a form of `forms`. */
  bool waits;
  uint64_t at; /* the address of the last block, / 8 */
  struct snapshot_form form;
  uint64_t targets[FORM_EDGES]; /* / 8 */
  struct snapshot_forms forms;
  uint16_t by_hash[1 << FORM_SLOT_BITS]; /* a form with this hash, plus 1 */
  uint64_t blocks, edges, roots;
  unsigned char bytes[SEGMENT_BYTES];
};

struct snapshot_info {
  uint64_t process, time_ns;
  const char *command, *language;
};

void snapshot_begin(struct snapshot_writer *writer, int descriptor, const struct snapshot_info *info);

struct snapshot_block {
  enum block_shape shape;
  uint32_t type;
  uint64_t words, outside; /* bytes, of SHAPE_CUSTOM */
  const char *description; /* NULL: none */
};

/* The blocks come in ascending order of address; each one's edges in ascending order of fields
 * directly behind it. Addresses are multiples of 8. */
void snapshot_block(struct snapshot_writer *writer, uintptr_t at, const struct snapshot_block *block);
void snapshot_edge(struct snapshot_writer *writer, uint64_t field, uintptr_t target);

void snapshot_root(struct snapshot_writer *writer, uint32_t holder, uintptr_t target);

/* Texts may be NULL, and are cut after 4096 bytes. */
void snapshot_type(struct snapshot_writer *writer, uint32_t type, const char *name);
void snapshot_field(struct snapshot_writer *writer, uint32_t type, uint64_t field, const char *name);
void snapshot_holder(struct snapshot_writer *writer, uint32_t holder, enum holder_kind kind, uint64_t domain,
                     const char *name);

/* The trace, before the samples. */
void snapshot_trace(struct snapshot_writer *writer, const char *path);
void snapshot_sample(struct snapshot_writer *writer, uintptr_t block, uint64_t number);

/* Writes the end. False: something could not be written; `error` says why. */
bool snapshot_end(struct snapshot_writer *writer);
/* SPDX-License-Identifier: MIT */
