/* What another minor heap would keep: made-up programs whose lives are known are run with other minor
 * heaps, and what is said from samples of the usual run must hold the truth. */
#include "analysis/sampled.h"
#include "support/test.h"

#include "analysis/report/what_if.h"
#include "base/random.h"
#include <math.h>
#include <stdio.h>

/* Time is in millionths of the interval between two minor collections; a word is born each. */
enum {
  INTERVAL = 1000000,
  INTERVALS = 240,
  END = INTERVAL * INTERVALS,
  BLOCKS = 60000,
  RUNS = 200,
  CYCLE = 6
};

static struct {
  uint64_t born, died; /* UINT64_MAX: lives on */
  size_t size;
} blocks[BLOCKS];

enum law { BRIEF, MIDDLING, LONG, MIXED, FIXED, FOREVER, LAWS };
static const char *const law_names[] = {"brief", "middling", "long", "mixed", "fixed", "forever"};

static double draw_life(struct random *random, enum law law) {
  double drawn = -log(1 - random_unit(random));
  switch (law) {
  case BRIEF: return 0.05 * drawn;
  case MIDDLING: return 0.7 * drawn;
  case LONG: return 5 * drawn;
  case MIXED: return random_unit(random) < 0.9 ? 0.02 * drawn : random_unit(random) < 0.5 ? 2 * drawn : 1e9;
  case FIXED: return 1.5;
  default: return random_unit(random) < 0.5 ? 0.01 * drawn : 1e9;
  }
}

static void make_blocks(enum law law) {
  struct random random;
  random_seed(&random, 5, law, 0);
  for (int i = 0; i < BLOCKS; i++) {
    double life = draw_life(&random, law) * INTERVAL;
    blocks[i].born = (uint64_t)i * END / BLOCKS + random_bits(&random) % (END / BLOCKS);
    blocks[i].died = life > END ? UINT64_MAX : blocks[i].born + (uint64_t)life;
    blocks[i].size = (size_t)(16 * pow(16, random_unit(&random)));
  }
}

/* The promoted bytes of blocks that were born between the first and the last collection of the usual
 * run, with another interval and beginning. */
static double promoted_with(uint64_t interval, uint64_t phase) {
  double bytes = 0;
  for (int i = 0; i < BLOCKS; i++) {
    uint64_t next = ((blocks[i].born + phase) / interval + 1) * interval - phase;
    if (blocks[i].born >= INTERVAL && blocks[i].died > next) bytes += (double)blocks[i].size;
  }
  return bytes;
}

/* The truth is the mean over all places at which the collections could stand; from 20 of them, a
 * hundredth is left open. */
static double kept_with(double factor) {
  enum { PHASES = 20 };
  double bytes = 0, usual = 0;
  uint64_t interval = (uint64_t)(factor * INTERVAL);
  for (uint64_t phase = 0; phase < PHASES; phase++) {
    bytes += promoted_with(interval, phase * interval / PHASES);
    usual += promoted_with(INTERVAL, phase * INTERVAL / PHASES);
  }
  return 1 - bytes / usual;
}

/* ---- the usual run, as a trace has it ---- */

static struct trace_collection collections[INTERVALS + 1];
static uint64_t cycles[INTERVALS];
static struct row rows[BLOCKS];

static struct samples heap(void) {
  struct samples samples = {.rows = rows, .collected = true, .end_ns = END, .word_bytes = 8};
  for (uint64_t n = 1; n < INTERVALS; n++)
    collections[n - 1] = (struct trace_collection){.time_ns = n * INTERVAL,
                                                   .minor_words = n * INTERVAL,
                                                   .minor_collections = n,
                                                   .kind = TRACE_COLLECTION_MINOR};
  samples.life.collections = collections;
  samples.life.collection_count = INTERVALS - 1;
  samples.life.cycles = cycles;
  while (samples.life.cycle_count < INTERVALS / CYCLE - 1) {
    cycles[samples.life.cycle_count] = (samples.life.cycle_count + 1) * CYCLE * INTERVAL + INTERVAL / 3;
    samples.life.cycle_count++;
  }
  return samples;
}

/* A young block is found dead by the collection, an old one by the end of the marking of a cycle. */
static struct row row_of(int block) {
  uint64_t next = (blocks[block].born / INTERVAL + 1) * INTERVAL, died = blocks[block].died;
  struct row row = {
      .born_ns = blocks[block].born, .size = blocks[block].size, .first = true, .area = AREA_MINOR};
  row.promoted_ns = died > next && next < END ? next : NEVER;
  row.died_ns = next;
  if (row.promoted_ns != NEVER) {
    uint64_t cycle = 0;
    while (cycle < INTERVALS / CYCLE - 1 && (cycles[cycle] < died || cycles[cycle] <= next)) cycle++;
    row.died_ns = cycle < INTERVALS / CYCLE - 1 ? cycles[cycle] + INTERVAL : STILL_ALIVE;
  }
  return row;
}

static struct what_if sampled_what_if(double rate, uint64_t seed) {
  struct samples samples = heap();
  struct what_if what_if;
  struct thread thread;
  thread_begin(&thread, rate, seed, 0);
  for (int i = 0; i < BLOCKS; i++) {
    size_t words = malloc_words(blocks[i].size);
    if (rate < 1 && !is_sampled(&thread, words)) continue;
    rows[samples.row_count] = row_of(i);
    rows[samples.row_count++].probability = inclusion_probability(rate, words);
  }
  assert_true(what_if_make(&samples, NULL, NULL, rate < 1 ? 8 / rate : 0, &what_if));
  return what_if;
}

static void the_truth_is_between_both_ends(void **state) {
  (void)state;
  for (enum law law = 0; law < LAWS; law++) {
    double truth[WHAT_IF_SIZES];
    int covered[WHAT_IF_SIZES] = {0};
    struct what_if all, some;
    make_blocks(law);
    all = sampled_what_if(1, 1);
    for (uint64_t run = 0; run < RUNS; run++) {
      some = sampled_what_if(2e-3, run + 1);
      assert_true(some.samples > 10 && some.minor_words == INTERVAL);
      for (int i = 0; i < WHAT_IF_SIZES; i++) {
        struct kept kept = some.sizes[i];
        if (!run) truth[i] = kept_with(kept.factor);
        assert_true(kept.low <= kept.high && kept.high <= 1 && kept.low >= -1);
        covered[i] += kept.low <= truth[i] + 0.01 && truth[i] <= kept.high + 0.01;
      }
    }
    for (int i = 0; i < WHAT_IF_SIZES; i++) {
      printf("  %-9s x%-3g keeps %5.1f %%; said of all blocks %5.1f to %5.1f %%, of %llu samples %5.1f to "
             "%5.1f %%; %5.1f %% covered\n",
             law_names[law], all.sizes[i].factor, 100 * truth[i], 100 * all.sizes[i].low,
             100 * all.sizes[i].high, (unsigned long long)some.samples, 100 * some.sizes[i].low,
             100 * some.sizes[i].high, 100.0 * covered[i] / RUNS);
      assert_true(covered[i] >= 0.92 * RUNS);
    }
  }
}

/* Brief blocks are promoted only where a collection cuts their lives: fewer collections, fewer cuts. */
static void fewer_collections_cut_fewer_lives(void **state) {
  (void)state;
  make_blocks(BRIEF);
  struct what_if what_if = sampled_what_if(1, 1);
  assert_true(what_if.sizes[1].low > 0.49 && what_if.sizes[1].high < 0.51);
  assert_true(what_if.sizes[3].low > 0.86 && what_if.sizes[3].high < 0.88);
  assert_true(fabs(what_if.sizes[0].low + 1) < 0.02 && what_if.sizes[0].low == what_if.sizes[0].high);
}

static void without_promotions_nothing_is_said(void **state) {
  (void)state;
  struct samples samples = heap();
  struct what_if what_if;
  assert_true(what_if_make(&samples, NULL, NULL, 8000, &what_if));
  assert_true(what_if.samples == 0 && what_if.minor_words == INTERVAL);
  samples.life.collection_count = 0;
  assert_true(what_if_make(&samples, NULL, NULL, 8000, &what_if));
  assert_true(what_if.samples == 0 && what_if.minor_words == 0);
}

/* All blocks of the middle of the run, in a trace with a record of each so many minor collections. */
static struct what_if with_each(size_t each, uint8_t kind) {
  struct what_if what_if;
  struct samples samples = heap();
  size_t kept = 0;
  for (size_t i = 0; i < samples.life.collection_count; i += each) {
    collections[kept] = collections[i];
    collections[kept++].kind = kind;
  }
  samples.life.collection_count = kept;
  for (int i = 0; i < BLOCKS; i++) {
    rows[samples.row_count] = row_of(i);
    rows[samples.row_count++].probability = 1;
  }
  assert_true(what_if_make(&samples, NULL, NULL, 0, &what_if));
  return what_if;
}

/* As of frequent collections, and of a runtime that tells of its cycles alone. */
static void the_time_between_two_records_is_not_that_between_two_collections(void **state) {
  (void)state;
  make_blocks(LONG);
  assert_true(with_each(1, TRACE_COLLECTION_MINOR).samples > 0);
  struct what_if apart = with_each(2, TRACE_COLLECTION_MINOR),
                 cycles_only = with_each(1, TRACE_COLLECTION_MAJOR);
  assert_true(apart.samples == 0 && apart.minor_words == INTERVAL);
  assert_true(cycles_only.samples == 0 && cycles_only.minor_words == INTERVAL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_truth_is_between_both_ends),
      cmocka_unit_test(fewer_collections_cut_fewer_lives),
      cmocka_unit_test(without_promotions_nothing_is_said),
      cmocka_unit_test(the_time_between_two_records_is_not_that_between_two_collections),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
