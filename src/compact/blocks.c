/* Which sampled blocks stay, and with which probability. */
#include "compact/blocks.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/words.h"
#include "sources/thinning.h"
#include <math.h>

/* The age at which the first octave begins: an hour. */
#define OCTAVE_NS (3600 * UINT64_C(1000000000))
/* A quarter of the records is for blocks that died, at least. */
enum { HALVINGS_MOST = 40, LIVING_DIVISOR = 4, GROWTHS_MANY = 4 /* for each block */ };

/* ---- records ---- */

/* Blocks of neighbouring numbers, which most records that follow each other have, are neighbours in
 * the index. */
static uint64_t hash_of(uint64_t number) { return hash_mix(number >> 4) << 4 | (number & 15); }

static struct block *find(const struct blocks *blocks, uint64_t number) {
  struct index_walk walk = {.hash = hash_of(number)};
  uint32_t at;
  while ((at = index_next(&blocks->by_number, &walk)))
    if (blocks->items[at - 1].number == number) return &blocks->items[at - 1];
  return NULL;
}

static struct block *find_or_add(struct blocks *blocks, uint64_t number) {
  struct block *found = find(blocks, number), fresh = {.number = number, .died_ns = BLOCK_ALIVE};
  if (found) return found;
  if (!ARRAY_ADD(blocks->items, blocks->count, blocks->capacity, fresh)) return NULL;
  if (!index_add(&blocks->by_number, hash_of(number), (uint32_t)blocks->count)) return NULL;
  return &blocks->items[blocks->count - 1];
}

/* A record of the block is not taken over, so the others stay as they are: two rates of one block
 * would not be true. */
static bool note_elsewhere(struct blocks *blocks, uint64_t number) {
  struct block *block = find_or_add(blocks, number);
  if (block) block->stays_here = true;
  return block;
}

static bool note_sample(struct blocks *blocks, const struct trace_sample *sample, bool taken) {
  if (!taken) return note_elsewhere(blocks, sample->block);
  struct block *block = find_or_add(blocks, sample->block);
  if (!block) return false;
  uint64_t before = sample->grown ? malloc_words(sample->previous_size) : 0;
  double after = thinning_words_after(blocks->seed, sample->block,
                                      (struct first_trial){before, sample->words, sample->rate});
  block->words = sample->words;
  block->rate = sample->rate;
  block->after = (float)after;
  block->least = (float)fmin(thinning_first_share(blocks->seed, sample->block),
                             thinning_later_share(blocks->seed, sample->block, sample->rate, after));
  blocks->rate = fmax(blocks->rate, sample->rate);
  return true;
}

static bool note_resize(struct blocks *blocks, const struct trace_resize *resize) {
  struct block *block = find_or_add(blocks, resize->block);
  struct growth growth = {.block = resize->block,
                          .time_ns = resize->time_ns,
                          .words = resize->words,
                          .size = resize->size,
                          .rate = resize->rate};
  if (!block) return false;
  block->resizes++;
  return ARRAY_ADD(blocks->growths, blocks->growth_count, blocks->growth_capacity, growth);
}

/* ---- blocks that grew ---- */

static int by_block_then_time(const void *a, const void *b) {
  const struct growth *left = a, *right = b;
  if (left->block != right->block) return left->block < right->block ? -1 : 1;
  if (left->time_ns != right->time_ns) return left->time_ns < right->time_ns ? -1 : 1;
  return (left->words > right->words) - (left->words < right->words);
}

/* The words that growths from `first` to the one before `last` had at the rate of this one. */
static double words_of_others(const struct block *block, const struct growth *first,
                              const struct growth *last) {
  double words = last->rate == block->rate ? (double)block->after : 0;
  uint64_t before = block->words;
  for (const struct growth *growth = first; growth < last; growth++) {
    if (growth->rate == last->rate && growth->words > before) words += (double)(growth->words - before);
    before = growth->words;
  }
  return words;
}

/* Each growth of a block knows what was before. Sums go on from the one before, most times. */
static void follow_growth(const struct blocks *blocks, const struct block *block, struct growth *first,
                          struct growth *growth) {
  const struct growth *before = growth == first ? NULL : growth - 1;
  uint64_t words = before ? before->words : block->words;
  growth->least = before ? before->least : block->least;
  growth->size_before =
      before ? before->joined ? before->size_before : before->size : (block->words - 1) * sizeof(uint64_t);
  growth->words_of_rate =
      before && before->rate == growth->rate ? before->words_of_rate : words_of_others(block, first, growth);
  if (growth->words > words) growth->words_of_rate += (double)(growth->words - words);
  if (growth->rate > 0)
    growth->least = (float)fmin(growth->least, thinning_later_share(blocks->seed, growth->block, growth->rate,
                                                                    growth->words_of_rate));
}

static bool are_joined(const struct blocks *blocks, const struct growth *one, const struct growth *next) {
  uint64_t part_ns = blocks->now_ns / JOINED_PARTS + 1;
  return one->block == next->block && one->rate == next->rate &&
         one->time_ns / part_ns == next->time_ns / part_ns;
}

/* Growths are in order. */
static void follow_growths(struct blocks *blocks, bool join) {
  struct growth *end = blocks->growths + blocks->growth_count;
  for (struct growth *first = blocks->growths, *growth = first; growth < end; growth++) {
    if (growth->block != first->block) first = growth;
    struct block *block = find(blocks, growth->block);
    if (growth == first) block->resizes = 0;
    growth->joined = join && growth + 1 < end && are_joined(blocks, growth, growth + 1);
    block->resizes += !growth->joined;
    if (block->words) follow_growth(blocks, block, first, growth);
  }
}

static const struct growth *find_growth(const struct blocks *blocks, const struct trace_resize *resize) {
  struct growth key = {.block = resize->block, .time_ns = resize->time_ns, .words = resize->words};
  return bsearch(&key, blocks->growths, blocks->growth_count, sizeof key, by_block_then_time);
}

/* The growth by which a block enters that does not stay as it was sampled. NULL: it stays out. */
static const struct growth *entry_of(const struct blocks *blocks, const struct block *block, double share) {
  const struct growth *end = blocks->growths + blocks->growth_count;
  size_t low = 0, high = blocks->growth_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (blocks->growths[middle].block < block->number)
      low = middle + 1;
    else
      high = middle;
  }
  for (const struct growth *growth = blocks->growths + low; growth < end && growth->block == block->number;
       growth++)
    if (!growth->joined && growth->least < share) return growth;
  return NULL;
}

/* ---- shares ---- */

static int octaves(uint64_t age_ns) {
  return age_ns < OCTAVE_NS ? 0 : 1 + ilogb((double)(age_ns / OCTAVE_NS));
}

/* The rate that a block shall have at most. */
static double wanted_rate(const struct blocks *blocks, const struct block *block) {
  int halvings = blocks->halvings_of_living;
  if (block->died_ns != BLOCK_ALIVE)
    halvings =
        blocks->halvings + octaves(blocks->now_ns > block->died_ns ? blocks->now_ns - block->died_ns : 0);
  return halvings > 0 ? fmax(ldexp(blocks->rate, -halvings), 1e-9) : 1;
}

static double share_of(const struct blocks *blocks, const struct block *block) {
  double wanted = wanted_rate(blocks, block);
  return block->words && wanted < block->rate ? wanted / block->rate : 1;
}

static bool stays(const struct blocks *blocks, const struct block *block) {
  double share = share_of(blocks, block);
  if (block->stays_here) return true;
  if (!block->words || share >= 1 || (double)block->least < share) return block->words;
  return block->resizes && entry_of(blocks, block, share);
}

/* Records of births and deaths that stay: of blocks that live, or of those that died. */
static size_t count_staying(const struct blocks *blocks, bool living) {
  size_t count = 0;
  for (size_t i = 0; i < blocks->count; i++) {
    const struct block *block = &blocks->items[i];
    if ((block->died_ns == BLOCK_ALIVE) == living && stays(blocks, block))
      count += (living ? 1 : 2) + block->resizes + block->moves;
  }
  return count;
}

/* ---- events ---- */

/* Trials at the rate of the block's sample have the wanted rate from now on, to the last bit: draws
 * tell rates apart by their bits. */
static double thinned_rate(const struct blocks *blocks, const struct block *block, double rate) {
  return rate == block->rate ? wanted_rate(blocks, block) : rate * share_of(blocks, block);
}

/* `entry`: where the block enters; NULL: as it was sampled. */
static bool keep_resize(struct trace_event *event, const struct growth *entry, double rate) {
  struct trace_resize resize = event->resize;
  event->resize.rate = rate;
  if (!entry || resize.time_ns > entry->time_ns) return true;
  if (resize.time_ns < entry->time_ns || resize.words != entry->words) return false;
  *event = (struct trace_event){.kind = TRACE_SAMPLE,
                                .sample = {.time_ns = resize.time_ns,
                                           .thread = resize.thread,
                                           .stack = resize.stack,
                                           .block = resize.block,
                                           .size = resize.size,
                                           .words = resize.words,
                                           .n_samples = 1,
                                           .grown = true,
                                           .previous_size = entry->size_before,
                                           .rate = rate}};
  return true;
}

/* ---- shared ---- */

bool blocks_note(struct blocks *blocks, const struct trace_event *event, bool taken) {
  switch ((int)event->kind) {
  case TRACE_SAMPLE: return note_sample(blocks, &event->sample, taken);
  case TRACE_RESIZE:
    return taken ? note_resize(blocks, &event->resize) : note_elsewhere(blocks, event->resize.block);
  case TRACE_PROMOTE: {
    struct block *block = taken ? find_or_add(blocks, event->promote.block) : NULL;
    if (block) block->moves++;
    return !taken || block;
  }
  case TRACE_FREE: {
    struct block *block = taken ? find_or_add(blocks, event->free.block) : NULL;
    if (block) block->died_ns = event->free.time_ns;
    return !taken || block;
  }
  default: return true;
  }
}

void blocks_choose(struct blocks *blocks, uint64_t now_ns, size_t most) {
  size_t for_living = most / LIVING_DIVISOR * (LIVING_DIVISOR - 1);
  blocks->now_ns = now_ns;
  blocks->halvings_of_living = 0;
  if (blocks->growth_count)
    qsort(blocks->growths, blocks->growth_count, sizeof *blocks->growths, by_block_then_time);
  follow_growths(blocks, false);
  if (count_staying(blocks, true) > for_living && blocks->growth_count > GROWTHS_MANY * blocks->count)
    follow_growths(blocks, true);
  while (count_staying(blocks, true) > for_living && blocks->halvings_of_living < HALVINGS_MOST)
    blocks->halvings_of_living++;
  size_t living = count_staying(blocks, true), left = most > living ? most - living : 0;
  blocks->halvings = -octaves(now_ns); /* then octaves alone thin nothing */
  while (count_staying(blocks, false) > left && blocks->halvings < HALVINGS_MOST) blocks->halvings++;
}

bool blocks_keep(const struct blocks *blocks, struct trace_event *event) {
  uint64_t number = event->kind == TRACE_SAMPLE    ? event->sample.block
                    : event->kind == TRACE_RESIZE  ? event->resize.block
                    : event->kind == TRACE_PROMOTE ? event->promote.block
                                                   : event->free.block;
  const struct block *block = find(blocks, number);
  if (!block) return false;
  if (event->kind == TRACE_RESIZE) {
    const struct growth *growth = find_growth(blocks, &event->resize);
    if (growth && growth->joined) return false;
  }
  if (block->stays_here) return true;
  double share = share_of(blocks, block);
  if (!block->words || share >= 1) return block->words;
  bool whole = (double)block->least < share;
  const struct growth *entry = !whole && block->resizes ? entry_of(blocks, block, share) : NULL;
  if (!whole && !entry) return false;
  switch ((int)event->kind) {
  case TRACE_SAMPLE: event->sample.rate = wanted_rate(blocks, block); return whole;
  case TRACE_RESIZE: return keep_resize(event, entry, thinned_rate(blocks, block, event->resize.rate));
  default: return whole || event->at.time_ns >= entry->time_ns;
  }
}

void blocks_destroy(struct blocks *blocks) {
  free(blocks->items);
  free(blocks->growths);
  free(blocks->by_number.slots);
}
/* SPDX-License-Identifier: MIT */
