/* Which sampled blocks stay, and with which probability. */
#include "compact/blocks.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/words.h"
#include "sources/thinning.h"
#include <math.h>

/* The age at which the first octave begins: an hour. */
#define OCTAVE_NS (3600 * UINT64_C(1000000000))

enum {
  HALVINGS_MOST = 40,
  LIVING_DIVISOR = 4, /* a quarter of the records is for blocks that died, at least */
  GROWTHS_MANY = 4,   /* for each block */
  PARTS_MORE = 16,    /* at most so many times those that were planned */
  GROWN_BITS = 1 << 20,
  SORTED_BY_INSERTION = 24
};

/* ---- records ---- */

enum kind { BIRTH, DEATH, RESIZE, MOVE /* or what says as little of a size and of a death */ };

/* The ordinal of a record in a chunk that is not taken over. */
#define ELSEWHERE ((UINT32_C(1) << 30) - 1)

static bool blocks_describe(const struct trace_event *event, enum kind *kind, uint64_t *number) {
  switch ((int)event->kind) {
  case TRACE_SAMPLE: return *kind = BIRTH, *number = event->sample.block, true;
  case TRACE_FREE: return *kind = DEATH, *number = event->free.block, true;
  case TRACE_RESIZE: return *kind = RESIZE, *number = event->resize.block, true;
  case TRACE_PROMOTE: return *kind = MOVE, *number = event->promote.block, true;
  case TRACE_TYPE: return *kind = MOVE, *number = event->type.block, true;
  default: return false;
  }
}

/* Of what is not taken over: see ELSEWHERE in blocks.h. */
static bool is_noted_elsewhere(enum kind kind) { return kind == BIRTH || kind == RESIZE; }

static uint64_t blocks_number_of(const struct mention *mention) {
  return (uint64_t)mention->high << 32 | mention->low;
}

static unsigned octave_of(const struct blocks *blocks, uint64_t died_ns) {
  uint64_t age_ns = blocks->now_ns > died_ns ? blocks->now_ns - died_ns : 0;
  return age_ns < OCTAVE_NS ? 0 : 1 + (unsigned)ilogb((double)(age_ns / OCTAVE_NS));
}

/* ---- the table of a part ---- */

static void sort_few(struct mention *mentions, size_t count) {
  for (size_t i = 1; i < count; i++) {
    struct mention mention = mentions[i];
    size_t at = i;
    for (; at && blocks_number_of(&mentions[at - 1]) > blocks_number_of(&mention); at--)
      mentions[at] = mentions[at - 1];
    mentions[at] = mention;
  }
}

static unsigned byte_of(const struct mention *mention, int shift) {
  return blocks_number_of(mention) >> shift & 255;
}

/* Exchanges mentions until those of each byte are where that byte begins. */
static void distribute(struct mention *mentions, const size_t *ends, size_t *at, int shift) {
  for (unsigned byte = 0; byte < 256; byte++)
    while (at[byte] < ends[byte]) {
      struct mention *mention = &mentions[at[byte]], *other;
      unsigned belongs = byte_of(mention, shift);
      if (belongs != byte) {
        other = &mentions[at[belongs]];
        struct mention moved = *other;
        *other = *mention;
        *mention = moved;
      }
      at[belongs]++;
    }
}

/* Sorts by the byte at `shift` and those below it. In place, and as fast for hostile numbers. */
static void blocks_sort(struct mention *mentions, size_t count, int shift) {
  size_t ends[256] = {0}, at[256], begin = 0;
  for (size_t i = 0; i < count; i++) ends[byte_of(&mentions[i], shift)]++;
  for (unsigned byte = 0; byte < 256; byte++) {
    at[byte] = begin;
    begin = ends[byte] += begin;
  }
  distribute(mentions, ends, at, shift);
  begin = 0;
  for (unsigned byte = 0; byte < 256; begin = ends[byte++]) {
    size_t of_byte = ends[byte] - begin;
    if (of_byte <= SORTED_BY_INSERTION)
      sort_few(mentions + begin, of_byte);
    else if (shift)
      blocks_sort(mentions + begin, of_byte, shift - 8);
  }
}

/* False without memory. */
static bool add_mention(struct blocks *blocks, uint64_t number, enum kind kind, uint32_t ordinal) {
  struct mention fresh = {.low = (uint32_t)number,
                          .high = (uint32_t)(number >> 32),
                          .kind = (unsigned)kind & 3,
                          .ordinal = ordinal & ELSEWHERE};
  return ARRAY_ADD(blocks->mentions, blocks->mention_count, blocks->mention_capacity, fresh);
}

/* Of what stands elsewhere of a block one mention is enough. */
static void drop_repeated(struct blocks *blocks) {
  struct mention *mentions = blocks->mentions, *kept = mentions;
  bool has_elsewhere = false;
  blocks_sort(mentions, blocks->mention_count, 56);
  for (size_t i = 0; i < blocks->mention_count; i++) {
    bool is_elsewhere = mentions[i].ordinal == ELSEWHERE;
    has_elsewhere &= i && blocks_number_of(&mentions[i]) == blocks_number_of(&mentions[i - 1]);
    if (!is_elsewhere || !has_elsewhere) *kept++ = mentions[i];
    has_elsewhere |= is_elsewhere;
  }
  blocks->mention_count = (size_t)(kept - mentions);
}

static size_t bytes_of_part(const struct blocks *blocks) {
  return blocks->mention_count * sizeof *blocks->mentions + growths_bytes_now(&blocks->growths);
}

static void check_room(struct blocks *blocks) {
  if (bytes_of_part(blocks) <= blocks->room) return;
  drop_repeated(blocks);
  if (blocks->growths.join) growths_drop_joined(&blocks->growths, blocks->survivals);
  blocks->is_full = bytes_of_part(blocks) > blocks->room / 4 * 3;
}

static uint64_t *grown_bit(const struct blocks *blocks, uint64_t number, uint64_t *bit) {
  uint64_t hash = hash_mix(number) % GROWN_BITS;
  *bit = UINT64_C(1) << hash % 64;
  return &blocks->grown[hash / 64];
}

static bool has_resizes(const struct blocks *blocks, uint64_t number) {
  uint64_t bit;
  return blocks->grown && *grown_bit(blocks, number, &bit) & bit;
}

static bool blocks_note_birth(struct blocks *blocks, const struct trace_sample *sample, uint32_t ordinal) {
  uint64_t before = sample->grown ? malloc_words(sample->previous_size) : 0;
  double after = thinning_words_after(blocks->seed, sample->block,
                                      (struct first_trial){before, sample->words, sample->rate}),
         least = fmin(thinning_first_share(blocks->seed, sample->block),
                      thinning_later_share(blocks->seed, sample->block, sample->rate, after));
  unsigned until = shares_survived(&blocks->growths.shares, sample->rate, (float)least);
  struct grown_block grown = {sample->block, sample->words, sample->rate, (float)least, (float)after};
  blocks->survivals[ordinal] = (struct survival){.octave = SURVIVAL_ALIVE, .until = until & 31};
  return !has_resizes(blocks, sample->block) || growths_add_block(&blocks->growths, &grown);
}

/* It stays only if the table has another record of the block. */
static bool note_resize(struct blocks *blocks, const struct trace_resize *resize, uint32_t ordinal) {
  blocks->survivals[ordinal] = (struct survival){.octave = SURVIVAL_LEFT_OUT};
  return growths_add(&blocks->growths, resize, ordinal);
}

static bool blocks_note_taken(struct blocks *blocks, const struct trace_event *event, uint32_t ordinal) {
  if (event->kind == TRACE_SAMPLE) return blocks_note_birth(blocks, &event->sample, ordinal);
  if (event->kind == TRACE_FREE)
    blocks->survivals[ordinal] = (struct survival){.octave = octave_of(blocks, event->free.time_ns) & 31};
  return true;
}

/* ---- the end of a part ---- */

/* What the table has of one block. */
struct block {
  bool born, elsewhere;
  unsigned octave, until;
  size_t records; /* that stay if it does, but for resizes */
};

static struct block blocks_look_at(const struct blocks *blocks, const struct mention *first,
                                   const struct mention *end) {
  struct block block = {.octave = SURVIVAL_ALIVE};
  for (const struct mention *mention = first; mention < end; mention++) {
    if (mention->ordinal == ELSEWHERE) {
      block.elsewhere = true;
      continue;
    }
    const struct survival *survival = &blocks->survivals[mention->ordinal];
    block.records++;
    if (mention->kind == BIRTH) block.born = true, block.until = survival->until;
    if (mention->kind == DEATH) block.octave = survival->octave;
  }
  return block;
}

/* The records of one block. False without memory. */
static bool blocks_decide(struct blocks *blocks, const struct mention *first, const struct mention *end) {
  struct block block = blocks_look_at(blocks, first, end);
  unsigned octave = block.elsewhere ? SURVIVAL_WHOLE : block.born ? block.octave : SURVIVAL_LEFT_OUT;
  struct grown grown = {.octave = octave, .until = block.until};
  if (!growths_decide(&blocks->growths, blocks_number_of(first), blocks->survivals, &grown)) return false;
  for (const struct mention *mention = first; mention < end; mention++) {
    if (mention->ordinal == ELSEWHERE) continue;
    struct survival *survival = &blocks->survivals[mention->ordinal];
    unsigned until = mention->kind == BIRTH ? survival->until : grown.until;
    *survival = (struct survival){.octave = octave & 31, .until = until & 31};
  }
  blocks->blocks += block.records || grown.resizes;
  if (octave == SURVIVAL_WHOLE)
    blocks->counts[block.octave][HALVINGS_ALWAYS] += block.records + grown.resizes;
  else
    blocks->counts[octave][grown.until] += block.records + grown.resizes;
  return true;
}

static bool decide_all(struct blocks *blocks) {
  struct mention *end = blocks->mentions + blocks->mention_count, *next;
  if (blocks->mention_count) blocks_sort(blocks->mentions, blocks->mention_count, 56);
  growths_sort(&blocks->growths);
  for (struct mention *first = blocks->mentions; first < end; first = next) {
    for (next = first + 1; next < end && blocks_number_of(next) == blocks_number_of(first);) next++;
    if (!blocks_decide(blocks, first, next)) return false;
  }
  return true;
}

/* All parts are read again. */
static void blocks_begin_again(struct blocks *blocks, bool join, size_t parts) {
  blocks->growths.join = join;
  blocks->parts = parts;
  blocks->part = 0;
  blocks->is_known = false;
}

/* The table of a part was too large. Blocks are many, and parts alike, so it is one of a few that
 * have most of the resizes, or of other records. False: nothing helps. */
static bool make_smaller(struct blocks *blocks) {
  bool join = blocks->growths.join, are_resizes = growths_bytes_now(&blocks->growths) > blocks->room / 2;
  blocks_begin_again(blocks, join || are_resizes, are_resizes && !join ? blocks->parts : 2 * blocks->parts);
  return blocks->parts <= PARTS_MORE * blocks->parts_planned;
}

static void plan(struct blocks *blocks) {
  size_t mentions = blocks->records - blocks->resizes + blocks->elsewhere,
         bytes = mentions * sizeof *blocks->mentions + growths_bytes(blocks->resizes, blocks->grown_blocks);
  blocks->parts = blocks->parts_planned = 1 + bytes / (blocks->room / 4 * 3 + 1);
  blocks->growths.shares = (struct shares){.seed = blocks->seed, .rate = blocks->rate};
  blocks->growths.now_ns = blocks->now_ns;
}

static bool is_of_part(const struct blocks *blocks, uint64_t number) {
  return (hash_mix(number) >> 32) * blocks->parts >> 32 == blocks->part;
}

/* ---- choosing ---- */

static uint64_t count_surviving(const uint64_t counts[HALVINGS_ALWAYS + 1], int halvings) {
  uint64_t count = 0;
  if (halvings < 0) halvings = 0;
  if (halvings > HALVINGS_LAST) halvings = HALVINGS_LAST;
  for (int until = halvings; until <= HALVINGS_ALWAYS; until++) count += counts[until];
  return count;
}

static uint64_t count_living(const struct blocks *blocks) {
  return count_surviving(blocks->counts[SURVIVAL_ALIVE], blocks->halvings_of_living);
}

static uint64_t count_dead(const struct blocks *blocks) {
  uint64_t count = 0;
  for (int octave = 0; octave < SURVIVAL_WHOLE; octave++)
    count += count_surviving(blocks->counts[octave], blocks->halvings + octave);
  return count;
}

/* ---- events ---- */

static int halvings_of(const struct blocks *blocks, struct survival survival) {
  int halvings =
      survival.octave == SURVIVAL_ALIVE ? blocks->halvings_of_living : blocks->halvings + survival.octave;
  return halvings > HALVINGS_LAST ? HALVINGS_LAST : halvings;
}

/* Trials at the rate of the block's sample have the wanted rate from now on, to the last bit: draws
 * tell rates apart by their bits. `rate_of_sample` 0: the same. */
static double thinned_rate(const struct blocks *blocks, int halvings, double rate, double rate_of_sample) {
  const struct shares *shares = &blocks->growths.shares;
  if (rate_of_sample > 0) return rate * shares_of(shares, halvings, rate_of_sample);
  return fmin(rate, shares_wanted(shares, halvings));
}

static void blocks_keep_resize(const struct blocks *blocks, struct trace_event *event,
                               struct survival survival, int halvings) {
  const struct remark *remark = growths_remark(&blocks->growths, (uint32_t)blocks->next - 1);
  struct trace_resize resize = event->resize;
  resize.rate = event->resize.rate =
      thinned_rate(blocks, halvings, resize.rate, remark ? (double)remark->rate : 0);
  if (halvings <= survival.before || !remark) return;
  *event = (struct trace_event){.kind = TRACE_SAMPLE,
                                .sample = {.time_ns = resize.time_ns,
                                           .thread = resize.thread,
                                           .stack = resize.stack,
                                           .block = resize.block,
                                           .size = resize.size,
                                           .words = resize.words,
                                           .n_samples = 1,
                                           .grown = true,
                                           .previous_size = remark->size_before,
                                           .rate = resize.rate}};
}

/* ---- shared ---- */

bool blocks_have(const struct trace_event *event) {
  enum kind kind;
  uint64_t number;
  return blocks_describe(event, &kind, &number);
}

bool blocks_survey(struct blocks *blocks, const struct trace_event *event, bool taken) {
  enum kind kind;
  uint64_t number, bit;
  if (!blocks_describe(event, &kind, &number)) return true;
  blocks->records += taken;
  blocks->elsewhere += !taken && is_noted_elsewhere(kind);
  if (taken && kind == BIRTH) blocks->rate = fmax(blocks->rate, event->sample.rate);
  if (taken && kind == RESIZE) {
    blocks->resizes++;
    if (!blocks->grown && !(blocks->grown = calloc(GROWN_BITS / 64, sizeof *blocks->grown))) return false;
    uint64_t *bits = grown_bit(blocks, number, &bit);
    blocks->grown_blocks += !(*bits & bit);
    *bits |= bit;
  }
  return blocks->records < ELSEWHERE;
}

bool blocks_begin_part(struct blocks *blocks) {
  if (!blocks->survivals) {
    plan(blocks);
    blocks->survivals = calloc(blocks->records + 1, sizeof *blocks->survivals);
  }
  if (!blocks->part) {
    memset(blocks->counts, 0, sizeof blocks->counts);
    blocks->blocks = 0;
    growths_begin(&blocks->growths);
  }
  growths_begin_part(&blocks->growths);
  blocks->mention_count = blocks->next = 0;
  blocks->is_full = false;
  return blocks->survivals;
}

bool blocks_note(struct blocks *blocks, const struct trace_event *event, bool taken) {
  enum kind kind;
  uint64_t number;
  if (!blocks_describe(event, &kind, &number)) return true;
  size_t ordinal = taken ? blocks->next++ : ELSEWHERE;
  if (blocks->is_full || (taken && ordinal >= blocks->records) || !is_of_part(blocks, number)) return true;
  if (!taken && !is_noted_elsewhere(kind)) return true;
  check_room(blocks);
  if (taken && kind == RESIZE) return note_resize(blocks, &event->resize, (uint32_t)ordinal);
  return add_mention(blocks, number, kind, (uint32_t)ordinal) &&
         (!taken || blocks_note_taken(blocks, event, (uint32_t)ordinal));
}

bool blocks_end_part(struct blocks *blocks) {
  if (blocks->is_full) return make_smaller(blocks);
  if (!decide_all(blocks)) return false;
  blocks->is_known = ++blocks->part == blocks->parts;
  if (growths_remark_bytes(&blocks->growths) > blocks->room && !blocks->growths.join)
    blocks_begin_again(blocks, true, blocks->parts);
  else if (blocks->is_known)
    growths_sort_remarks(&blocks->growths);
  return true;
}

bool blocks_choose(struct blocks *blocks, size_t most) {
  size_t for_living = most / LIVING_DIVISOR * (LIVING_DIVISOR - 1);
  blocks->halvings_of_living = 0;
  bool are_grown = blocks->resizes > GROWTHS_MANY * blocks->blocks && !blocks->growths.join;
  if (are_grown && count_living(blocks) > for_living)
    return blocks_begin_again(blocks, true, blocks->parts), false;
  while (count_living(blocks) > for_living && blocks->halvings_of_living < HALVINGS_MOST)
    blocks->halvings_of_living++;
  size_t living = count_living(blocks), left = most > living ? most - living : 0;
  blocks->halvings = -(int)octave_of(blocks, 0); /* then octaves alone thin nothing */
  while (count_dead(blocks) > left && blocks->halvings < HALVINGS_MOST) blocks->halvings++;
  blocks->next = 0;
  return true;
}

bool blocks_keep(struct blocks *blocks, struct trace_event *event) {
  size_t ordinal = blocks->next++;
  if (ordinal >= blocks->records) return false;
  struct survival survival = blocks->survivals[ordinal];
  if (survival.octave == SURVIVAL_LEFT_OUT) return false;
  if (survival.octave == SURVIVAL_WHOLE) return true;
  int halvings = halvings_of(blocks, survival);
  if (halvings > survival.until) return false;
  if (event->kind == TRACE_SAMPLE)
    event->sample.rate = thinned_rate(blocks, halvings, event->sample.rate, 0);
  else if (event->kind == TRACE_RESIZE)
    blocks_keep_resize(blocks, event, survival, halvings);
  return true;
}

void blocks_destroy(struct blocks *blocks) {
  free(blocks->mentions);
  free(blocks->survivals);
  free(blocks->grown);
  growths_destroy(&blocks->growths);
}
/* SPDX-License-Identifier: MIT */
