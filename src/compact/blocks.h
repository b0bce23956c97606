/* Which sampled blocks stay as chunks move into the history, and with which probability.
 *
 * SHARES. A block that has died keeps each of its hits with a share (sources/thinning.h) that
 * depends on when it died alone, never on what was drawn: so each block that stays is one of a
 * sample at the rate of its record, and estimates and their ranges stay true. The rate is halved
 * for each octave of age, from OCTAVE_NS on; and halved everywhere as often as it takes until the
 * history is small enough [1]. Blocks that live stay all, unless they alone are too many: then they
 * are thinned alike. A history that is compacted again is thinned with other draws, which is the
 * law again, at the rates that its records have by then.
 *
 * SURVIVALS. When all is read, each record of a block has a survival: after how many halvings it
 * stays (survival.h). Then the number of halvings is chosen, and all is read once more, in the same
 * order: the survivals, two bytes for each record, say what stays.
 *
 * PARTS. The sample of a block and its free can stand anywhere. What finds those that belong
 * together is a table of records, which would be larger than the trace. So the blocks are divided
 * into parts, by hashes of their numbers. All is read once for each part, and only the records of
 * its blocks are in the table. There are as many parts as it takes until a table fits into `room`.
 * Reading is fast: some 30 million records a second.
 *
 * ELSEWHERE. A block that has a sample or a resize in a chunk that is not taken over stays with all
 * of its records as they are: two rates of one block would not be true.
 *
 * What follows of a block that was left out says nothing. One such error remains: a block that was
 * left out while it lived, since the living were too many, and grows later, is not counted then.
 *
 * [1] D. Ting: Adaptive threshold sampling. arXiv 1708.04970: with such thresholds an estimate may
 * take the probabilities for fixed. tests/compact measures coverage. */
#pragma once

#include "compact/growths.h"

/* A record of a block, in the table of a part: 12 bytes, so that more fit. */
struct mention {
  uint32_t low, high; /* the number of the block */
  uint32_t kind : 2, ordinal : 30;
};

struct blocks {
  /* Set by the owner. */
  uint64_t seed;
  size_t room;     /* bytes for the table of a part */
  uint64_t now_ns; /* before the first part */
  /* Set by blocks_survey. */
  double rate;                        /* the largest of the samples that are taken over */
  size_t records, resizes, elsewhere; /* records of blocks that are taken over; and of others */
  uint64_t *grown;                    /* a bit for each hash of a block that has a resize */
  size_t grown_blocks;                /* bits that are set */
  /* The part at hand, and its table. */
  size_t part, parts, parts_planned;
  size_t next; /* how many of the records were read, or asked of */
  struct mention *mentions;
  size_t mention_count, mention_capacity;
  struct growths growths;
  bool is_full;
  /* Of all parts. */
  bool is_known;
  struct survival *survivals; /* in the order of reading */
  size_t blocks;
  uint64_t counts[SURVIVAL_OCTAVES][HALVINGS_ALWAYS + 1]; /* of records, by their blocks' survival */
  /* Set by blocks_choose. */
  int halvings, halvings_of_living;
};

/* The first reading. Notes an event of a block; others are passed over. `taken`: its chunk is taken
 * over. False without memory. */
bool blocks_survey(struct blocks *blocks, const struct trace_event *event, bool taken);

/* The readings of parts, until blocks->is_known. All events are noted between begin and end. False
 * without memory. */
bool blocks_begin_part(struct blocks *blocks);
bool blocks_note(struct blocks *blocks, const struct trace_event *event, bool taken);
bool blocks_end_part(struct blocks *blocks);

/* Finds how often rates must be halved so that at most `most` records stay. False: all parts must
 * be read again. */
bool blocks_choose(struct blocks *blocks, size_t most);

/* The last reading: what becomes of an event of a taken chunk. False: it is left out. It may get
 * another rate, and a resize by which its block enters becomes a sample. */
bool blocks_keep(struct blocks *blocks, struct trace_event *event);

/* Whether an event is one of a block. */
bool blocks_have(const struct trace_event *event);

void blocks_destroy(struct blocks *blocks);
/* SPDX-License-Identifier: MIT */
