/* The resizes of blocks: which of them stay, and by which of them a block enters the history that
 * does not stay as it was sampled.
 *
 * Each resize of a block has a least share of its own (shares.h), which falls as the block gets
 * more words. The block enters with the first record whose least share is small enough: a resize
 * then becomes a sample, which says what size the block had before.
 *
 * JOINED. If the living blocks are too many with their resizes, and most records are resizes, or if
 * the resizes do not fit into the memory that there is, then those of a block are joined that have
 * one rate and follow each other in one of JOINED_PARTS parts of the run. Sizes and probabilities
 * stay true; there are fewer calls of realloc, and what these allocated is too low. */
#pragma once

#include "compact/shares.h"
#include "compact/survival.h"
#include "trace/event.h"

enum { JOINED_PARTS = 1024 };

struct growth {
  uint64_t block, time_ns, words, size;
  double rate;
  uint32_t ordinal : 31, /* of the record (blocks.h) */
      joined : 1;        /* it is left out, and the next one says what it did */
};

/* A sampled block that has resizes. */
struct grown_block {
  uint64_t block, words; /* as it was sampled */
  double rate;
  float least; /* share */
  float after; /* of its words, those behind the first hit */
};

/* What the survival of a resize has no room for. */
struct remark {
  uint32_t ordinal;
  float rate; /* of the block's sample; 0: that of the resize */
  uint64_t size_before;
};

/* Zeroed memory, with shares and a time, is empty. */
struct growths {
  struct shares shares;
  uint64_t now_ns;
  bool join;
  /* Of the part at hand; in the order of blocks and times once growths_sort was called. */
  struct growth *items;
  size_t count, capacity, at;
  struct grown_block *blocks;
  size_t block_count, block_capacity, block_at;
  /* Of all parts. */
  struct remark *remarks;
  size_t remark_count, remark_capacity;
};

/* Bytes of so many resizes of so many blocks. */
size_t growths_bytes(size_t resizes, size_t blocks);
/* Those of the part at hand; and of all remarks. */
size_t growths_bytes_now(const struct growths *growths);
size_t growths_remark_bytes(const struct growths *growths);

/* False without memory. */
bool growths_add(struct growths *growths, const struct trace_resize *resize, uint32_t ordinal);
bool growths_add_block(struct growths *growths, const struct grown_block *block);

/* Leaves out those that are joined so far. */
void growths_drop_joined(struct growths *growths, struct survival *survivals);

/* Those of a part are all there, and are asked of in the order of blocks. */
void growths_sort(struct growths *growths);

struct grown {
  unsigned octave; /* of the block (survival.h) */
  unsigned until;  /* set to that of the last resize, if there is one */
  size_t resizes;  /* set to how many stay if the block does */
};

/* How the resizes of a block survive. False without memory. */
bool growths_decide(struct growths *growths, uint64_t block, struct survival *survivals, struct grown *grown);

/* Another part follows, or all parts again. */
void growths_begin_part(struct growths *growths);
void growths_begin(struct growths *growths);

/* All parts are there, and remarks are asked for. NULL: there is none. */
void growths_sort_remarks(struct growths *growths);
const struct remark *growths_remark(const struct growths *growths, uint32_t ordinal);

void growths_destroy(struct growths *growths);
/* SPDX-License-Identifier: MIT */
