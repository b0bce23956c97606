/* How blocks grow, and how their resizes survive. */
#include "compact/growths.h"

#include "base/array.h"
#include "sources/thinning.h"
#include <math.h>

static int growths_by_block_then_time(const void *a, const void *b) {
  const struct growth *left = a, *right = b;
  if (left->block != right->block) return left->block < right->block ? -1 : 1;
  if (left->time_ns != right->time_ns) return left->time_ns < right->time_ns ? -1 : 1;
  if (left->words != right->words) return left->words < right->words ? -1 : 1;
  return (left->ordinal > right->ordinal) - (left->ordinal < right->ordinal);
}

static int growths_by_block(const void *a, const void *b) {
  const struct grown_block *left = a, *right = b;
  return (left->block > right->block) - (left->block < right->block);
}

static int by_ordinal(const void *a, const void *b) {
  const struct remark *left = a, *right = b;
  return (left->ordinal > right->ordinal) - (left->ordinal < right->ordinal);
}

static void sort_items(struct growths *growths) {
  array_sort(growths->items, growths->count, sizeof *growths->items, growths_by_block_then_time);
}

/* ---- joining ---- */

static bool are_joined(const struct growths *growths, const struct growth *one, const struct growth *next) {
  uint64_t part_ns = growths->now_ns / JOINED_PARTS + 1;
  return one->block == next->block && one->rate == next->rate &&
         one->time_ns / part_ns == next->time_ns / part_ns;
}

/* Those from `first` to `end` are of one block. */
static void growths_join(struct growths *growths, struct growth *first, const struct growth *end) {
  for (struct growth *growth = first; growth < end; growth++)
    growth->joined = growths->join && growth + 1 < end && are_joined(growths, growth, growth + 1);
}

/* ---- one block ---- */

/* What is known of a block before a resize. */
struct state {
  uint64_t words, size;
  double rate;          /* of its last trial */
  double words_of_rate; /* that had a trial at this rate, behind the first hit */
  float least;
  unsigned until; /* of the last record that is not joined */
};

/* The words that growths from `first` to the one before `last` had at the rate of this one. */
static double words_of_others(const struct grown_block *block, const struct growth *first,
                              const struct growth *last) {
  double words = last->rate == block->rate ? (double)block->after : 0;
  uint64_t before = block->words;
  for (const struct growth *growth = first; growth < last; growth++) {
    if (growth->rate == last->rate && growth->words > before) words += (double)(growth->words - before);
    before = growth->words;
  }
  return words;
}

/* Sums go on from the resize before, most times. */
static void growths_grow(const struct growths *growths, const struct grown_block *block,
                         const struct growth *first, const struct growth *growth, struct state *state) {
  if (growth == first || growth->rate != state->rate)
    state->words_of_rate = words_of_others(block, first, growth);
  if (growth->words > state->words) state->words_of_rate += (double)(growth->words - state->words);
  if (growth->rate > 0)
    state->least = (float)fmin(state->least, thinning_later_share(growths->shares.seed, growth->block,
                                                                  growth->rate, state->words_of_rate));
  state->words = growth->words;
  state->rate = growth->rate;
}

/* False without memory. */
static bool remark(struct growths *growths, const struct growth *growth, const struct grown_block *block,
                   uint64_t size_before) {
  struct remark remark = {.ordinal = growth->ordinal,
                          .rate = growth->rate == block->rate ? 0 : (float)block->rate,
                          .size_before = size_before};
  return ARRAY_ADD(growths->remarks, growths->remark_count, growths->remark_capacity, remark);
}

/* Of a block that was sampled in what is taken over. False without memory. */
static bool decide_growths(struct growths *growths, const struct grown_block *block,
                           const struct growth *first, const struct growth *end, struct survival *survivals,
                           struct grown *grown) {
  struct state state = {.words = block->words,
                        .size = (block->words - 1) * sizeof(uint64_t),
                        .least = block->least,
                        .until = shares_survived(&growths->shares, block->rate, block->least)};
  for (const struct growth *growth = first; growth < end; growth++) {
    growths_grow(growths, block, first, growth, &state);
    if (growth->joined) continue;
    unsigned until = shares_survived(&growths->shares, block->rate, state.least);
    bool is_remarkable = until > state.until || (growth->rate > 0 && growth->rate != block->rate);
    survivals[growth->ordinal] =
        (struct survival){.octave = grown->octave & 31, .before = state.until & 31, .until = until & 31};
    if (is_remarkable && !remark(growths, growth, block, state.size)) return false;
    state.size = growth->size;
    state.until = until;
  }
  grown->until = state.until;
  return true;
}

/* NULL: its sample was not read. */
static const struct grown_block *growths_find_block(struct growths *growths, uint64_t number) {
  while (growths->block_at < growths->block_count && growths->blocks[growths->block_at].block < number)
    growths->block_at++;
  const struct grown_block *block = &growths->blocks[growths->block_at];
  return growths->block_at < growths->block_count && block->block == number ? block : NULL;
}

/* ---- shared ---- */

size_t growths_bytes(size_t resizes, size_t blocks) {
  return resizes * sizeof(struct growth) + blocks * sizeof(struct grown_block);
}

size_t growths_bytes_now(const struct growths *growths) {
  return growths_bytes(growths->count, growths->block_count);
}

size_t growths_remark_bytes(const struct growths *growths) {
  return growths->remark_count * sizeof *growths->remarks;
}

bool growths_add(struct growths *growths, const struct trace_resize *resize, uint32_t ordinal) {
  struct growth growth = {.block = resize->block,
                          .time_ns = resize->time_ns,
                          .words = resize->words,
                          .size = resize->size,
                          .rate = resize->rate,
                          .ordinal = ordinal & INT32_MAX};
  return ARRAY_ADD(growths->items, growths->count, growths->capacity, growth);
}

bool growths_add_block(struct growths *growths, const struct grown_block *block) {
  return ARRAY_ADD(growths->blocks, growths->block_count, growths->block_capacity, *block);
}

void growths_drop_joined(struct growths *growths, struct survival *survivals) {
  size_t kept = 0;
  sort_items(growths);
  for (size_t i = 0; i < growths->count; i++) {
    const struct growth *growth = &growths->items[i];
    if (i + 1 < growths->count && are_joined(growths, growth, growth + 1))
      survivals[growth->ordinal] = (struct survival){.octave = SURVIVAL_LEFT_OUT};
    else
      growths->items[kept++] = *growth;
  }
  growths->count = kept;
}

void growths_sort(struct growths *growths) {
  sort_items(growths);
  array_sort(growths->blocks, growths->block_count, sizeof *growths->blocks, growths_by_block);
}

bool growths_decide(struct growths *growths, uint64_t block, struct survival *survivals,
                    struct grown *grown) {
  while (growths->at < growths->count && growths->items[growths->at].block < block) growths->at++;
  struct growth *first = growths->items + growths->at, *end = first;
  while (end < growths->items + growths->count && end->block == block) end++;
  growths->at = (size_t)(end - growths->items);
  growths_join(growths, first, end);
  for (const struct growth *growth = first; growth < end; growth++) {
    unsigned octave = growth->joined ? SURVIVAL_LEFT_OUT : grown->octave;
    survivals[growth->ordinal] = (struct survival){.octave = octave & 31};
    grown->resizes += !growth->joined;
  }
  const struct grown_block *sampled = first < end ? growths_find_block(growths, block) : NULL;
  bool is_final = grown->octave == SURVIVAL_LEFT_OUT || grown->octave == SURVIVAL_WHOLE;
  return !sampled || is_final || decide_growths(growths, sampled, first, end, survivals, grown);
}

void growths_begin_part(struct growths *growths) {
  growths->count = growths->block_count = growths->at = growths->block_at = 0;
}

void growths_begin(struct growths *growths) {
  growths_begin_part(growths);
  growths->remark_count = 0;
}

void growths_sort_remarks(struct growths *growths) {
  array_sort(growths->remarks, growths->remark_count, sizeof *growths->remarks, by_ordinal);
}

const struct remark *growths_remark(const struct growths *growths, uint32_t ordinal) {
  struct remark key = {.ordinal = ordinal};
  return growths->remark_count
             ? bsearch(&key, growths->remarks, growths->remark_count, sizeof key, by_ordinal)
             : NULL;
}

void growths_destroy(struct growths *growths) {
  free(growths->items);
  free(growths->blocks);
  free(growths->remarks);
}
/* SPDX-License-Identifier: MIT */
