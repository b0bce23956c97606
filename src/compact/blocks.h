/* Which sampled blocks stay as chunks move into the history, and with which probability.
 *
 * SHARES. A block that has died keeps each of its hits with a share (sources/thinning.h) that
 * depends on when it died alone, never on what was drawn: so each block that stays is one of a
 * sample at the rate of its record, and estimates and their ranges stay true. The rate is halved
 * for each octave of age, from OCTAVE_NS on; and halved everywhere as often as it takes until the
 * history is small enough
 * [1]. Blocks that live stay all, unless they alone are too many: then they are thinned alike. A
 * history that is compacted again is thinned with other draws, which is the law again, at the rates
 * that its records have by then.
 *
 * The draws of a block need no rate and no share: a block stays if its share is above a number that
 * is known when its records are read (its least share). A block that grows has such a number for
 * each resize; it enters the history with the first record whose number is small enough.
 *
 * JOINED. If the living blocks are too many with their resizes, and most records are resizes, then
 * those of a block are joined that have one rate and follow each other in one of JOINED_PARTS parts
 * of the run. Sizes and probabilities stay true; there are fewer calls of realloc, and what these
 * allocated is too low.
 *
 * What follows of a block that was left out says nothing. One such error remains: a block that was
 * left out while it lived, since the living were too many, and grows later, is not counted then.
 *
 * [1] D. Ting: Adaptive threshold sampling. arXiv 1708.04970: with such thresholds an estimate may
 * take the
 *     probabilities for fixed. tests/compact measures coverage. */
#ifndef COMPACT_BLOCKS_H
#define COMPACT_BLOCKS_H

#include "base/index.h"
#include "trace/event.h"

struct block {
  uint64_t number;
  uint64_t died_ns; /* ALIVE, or when it was freed */
  uint64_t words;   /* when it was first sampled; 0: its sample was not read */
  double rate;      /* of that sample */
  float least;      /* it stays as it was sampled if its share is above this */
  float after;      /* of its words, those behind the first hit */
  bool stays_here;  /* its sample is in a chunk that is not taken over, so its other records stay all */
  uint32_t resizes; /* that stay if it does; those that are joined are not counted, once they are */
  uint32_t moves;   /* promotions */
};

#define BLOCK_ALIVE UINT64_MAX

enum { JOINED_PARTS = 1024 };

/* A resize of a block, and what it becomes. */
struct growth {
  uint64_t block, time_ns, words, size;
  double rate;
  float least; /* from here on it stays if its share is above this */
  bool joined; /* JOINED: it is left out, and the next one says what it did */
  uint64_t size_before;
  double words_of_rate; /* that had a trial at its rate by then, behind the first hit */
};

struct blocks {
  uint64_t seed;
  struct block *items;
  size_t count, capacity;
  struct index by_number;
  struct growth *growths; /* in the order of block and time once blocks_choose was called */
  size_t growth_count, growth_capacity;
  double rate; /* the largest of the samples that were read */
  /* Set by blocks_choose. */
  uint64_t now_ns;
  int halvings, halvings_of_living;
};

/* Notes an event of a block; others are passed over. `taken`: its chunk is taken over. False
 * without memory. */
bool blocks_note(struct blocks *blocks, const struct trace_event *event, bool taken);

/* Finds how often rates must be halved so that at most `most` records stay. */
void blocks_choose(struct blocks *blocks, uint64_t now_ns, size_t most);

/* What becomes of an event of a taken chunk: false, it is left out. It may get another rate, and a
 * resize by which its block enters becomes a sample. */
bool blocks_keep(const struct blocks *blocks, struct trace_event *event);

void blocks_destroy(struct blocks *blocks);

#endif
/* SPDX-License-Identifier: MIT */
