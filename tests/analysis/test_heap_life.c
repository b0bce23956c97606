/* What is read from a collected heap's records: clocks, pauses, fates; and that wrong records cost
 * only themselves. */
#include "analysis/story.h"

#include "analysis/report/generations.h"
#include "analysis/report/lifetimes.h"
#include "base/check.h"
#include "base/random.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MS = 1000000 };

static struct generations generations_of_all(const struct samples *samples) {
  struct generations all = {0};
  for (size_t i = 0; i < samples->row_count; i++) generations_add(&all, &samples->rows[i]);
  return all;
}

static void collected(struct trace_writer *writer, uint8_t kind, uint64_t time, uint64_t ns, uint64_t words) {
  struct trace_collection event = {.time_ns = time,
                                   .thread = 1,
                                   .kind = kind,
                                   .ns = ns,
                                   .minor_words = words,
                                   .promoted_words = words / 4,
                                   .direct_words = words / 8,
                                   .minor_collections = words / 100,
                                   .major_cycles = words / 1000,
                                   .heap_words = 5000 + words / 2,
                                   .live_words = words / 3,
                                   .domains = 1};
  assert_true(trace_write_collection(writer, &event));
}

static void paused(struct trace_writer *writer, uint8_t kind, uint64_t time, uint64_t ns, uint64_t count,
                   uint64_t total) {
  struct trace_pause event = {.time_ns = time, .kind = kind, .ns = ns, .count = count, .total_ns = total};
  assert_true(trace_write_pause(writer, &event));
}

static void domain(struct trace_writer *writer, uint64_t number, uint64_t time, uint8_t what) {
  struct trace_domain event = {.time_ns = time, .domain = number, .what = what};
  assert_true(trace_write_domain(writer, &event));
}

static void promoted(struct trace_writer *writer, uint64_t block, uint64_t time) {
  assert_true(
      trace_write_promote(writer, &(struct trace_promote){.time_ns = time, .thread = 1, .block = block}));
}

static void born(struct trace_writer *writer, uint64_t block, uint64_t time, uint64_t size, uint32_t stack,
                 uint8_t source, bool major) {
  struct trace_sample sample = {.time_ns = time,
                                .thread = 1,
                                .block = block,
                                .size = size,
                                .words = malloc_words(size),
                                .n_samples = 1,
                                .stack = stack,
                                .source = source,
                                .major = major};
  assert_true(tree_write_sample(writer, &sample));
}

static const struct row *row_of(const struct samples *samples, uint64_t block) {
  for (size_t i = 0; i < samples->row_count; i++)
    if (samples->rows[i].block == block) return &samples->rows[i];
  fail_msg("no block %llu", (unsigned long long)block);
  return NULL;
}

static double life_words_of(const struct samples *samples, uint64_t block) {
  return samples->life_words[row_of(samples, block) - samples->rows];
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-6 * (1 + fabs(b)); }

/* ---- the clock ---- */

static void lives_are_told_in_words_that_the_heap_allocated(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  collected(writer, TRACE_COLLECTION_NONE, 0, 0, 800); /* 900 with those of large blocks */
  collected(writer, TRACE_COLLECTION_MINOR, 20 * MS, 0, 1600);
  collected(writer, TRACE_COLLECTION_MINOR, 10 * MS, 0, 800); /* nothing until here; in any order */
  born(writer, 1, 5 * MS, 64, 1, 0, false);
  born(writer, 2, 12 * MS, 64, 1, 0, false);
  story_free(writer, 1, 15 * MS);
  story_free(writer, 2, 17 * MS);
  born(writer, 3, 15 * MS, 64, 1, 0, false); /* lives until the end, which nothing was counted up to */
  story_free(writer, 4, 30 * MS);
  struct samples *samples = story_load(writer);
  assert_true(near(life_words_of(samples, 1), 450));
  assert_true(near(life_words_of(samples, 2), 450));
  assert_true(near(life_words_of(samples, 3), 450));
  samples_free(samples);
}

static void a_malloc_heaps_clock_is_its_estimate(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(0.01, 0);
  double p = inclusion_probability(0.01, malloc_words(800));
  for (uint64_t i = 1; i <= 10; i++) story_alloc(writer, i, i * MS, 800, 1);
  story_free(writer, 2, 5 * MS);
  struct samples *samples = story_load(writer);
  assert_true(near(life_words_of(samples, 2), 3 * 101 / p));
  assert_true(near(life_words_of(samples, 10), 0));
  assert_int_equal(row_of(samples, 1)->area, AREA_NONE);
  samples_free(samples);
}

/* As of a program that was killed: the last record is of 10 ms, and the next block is born at 20 ms. */
static void beyond_the_records_a_collected_heaps_clock_is_its_estimate(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(0.01, 0);
  double p = inclusion_probability(0.01, malloc_words(800));
  for (uint64_t i = 1; i <= 3; i++) born(writer, i, i * MS, 800, 1, 0, false);
  collected(writer, TRACE_COLLECTION_NONE, 4 * MS, 0, 800); /* 900 with those of large blocks */
  born(writer, 4, 7 * MS, 800, 1, 0, false);
  collected(writer, TRACE_COLLECTION_MAJOR, 10 * MS, 0, 1600);
  for (uint64_t i = 5; i <= 7; i++) born(writer, i, (i + 15) * MS, 800, 1, 0, false);
  for (uint64_t i = 1; i <= 5; i++) story_free(writer, i, (i == 1 ? 3 : 30 + i) * MS);
  struct samples *samples = story_load(writer);
  double each = life_words_of(samples, 6); /* the seventh */
  assert_true(each > 90 / p && each < 110 / p);
  assert_true(near(life_words_of(samples, 1), 2 * each));
  assert_true(near(life_words_of(samples, 2), each + 900 + 3 * each));
  assert_true(near(life_words_of(samples, 4), 450 + 3 * each));
  assert_true(near(life_words_of(samples, 5), 2 * each));
  assert_false(heap_life_is_whole(&samples->life, samples->end_ns));
  samples_free(samples);
}

static void a_clock_without_points_stands_still(void **state) {
  (void)state;
  struct words_clock clock;
  assert_true(words_clock_create(&clock, 0));
  assert_true(words_clock_at(&clock, 0) == 0 && words_clock_at(&clock, UINT64_MAX) == 0);
  words_clock_destroy(&clock);
}

/* ---- fates ---- */

/* Cycles from 10 to 20, 30 to 40, and 50 to 60 ms. */
static void a_promoted_block_is_dead_at_once_if_the_next_cycle_finds_it(void **state) {
  (void)state;
  static const struct {
    uint64_t promoted, died;
    enum next_cycle found;
  } known[] = {{5, 15, NEXT_CYCLE_DEAD},   {5, 29, NEXT_CYCLE_DEAD},    {5, 31, NEXT_CYCLE_ALIVE},
               {5, 0, NEXT_CYCLE_ALIVE},   {12, 35, NEXT_CYCLE_DEAD},   {12, 49, NEXT_CYCLE_DEAD},
               {12, 50, NEXT_CYCLE_ALIVE}, {25, 39, NEXT_CYCLE_DEAD},   {35, 59, NEXT_CYCLE_DEAD},
               {35, 0, NEXT_CYCLE_ALIVE},  {55, 0, NEXT_CYCLE_UNKNOWN}, {55, 62, NEXT_CYCLE_UNKNOWN}};
  enum { COUNT = sizeof known / sizeof *known };
  struct trace_writer *writer = story_begin(1, 0);
  for (uint64_t i = 1; i <= 3; i++) collected(writer, TRACE_COLLECTION_MAJOR, i * 20 * MS, 10 * MS, i * 1000);
  for (uint64_t i = 0; i < COUNT; i++) {
    born(writer, i + 1, 1 * MS, 16, 1, 0, false);
    promoted(writer, i + 1, known[i].promoted * MS);
    if (known[i].died) story_free(writer, i + 1, known[i].died * MS);
  }
  struct samples *samples = story_load(writer);
  for (uint64_t i = 0; i < COUNT; i++) {
    assert_int_equal(row_of(samples, i + 1)->promoted_ns, known[i].promoted * MS);
    if (row_of(samples, i + 1)->next_cycle != known[i].found) fail_msg("case %llu", (unsigned long long)i);
  }
  struct generations all = generations_of_all(samples);
  assert_true(all.promoted.blocks.total == COUNT && all.resolved.blocks.total == COUNT - 2);
  assert_true(all.dead.blocks.total == 6);
  samples_free(samples);
}

static void blocks_are_born_minor_major_or_outside(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  collected(writer, TRACE_COLLECTION_NONE, 0, 0, 1000);
  born(writer, 1, 1, 16, 1, 0, false);
  born(writer, 2, 2, 100000, 2, 0, true);
  born(writer, 3, 3, 800, 2, TRACE_SOURCE_CUSTOM, false);
  born(writer, 4, 4, 800, 2, TRACE_SOURCE_EXTERNAL, false);
  promoted(writer, 3, 5);
  promoted(writer, 2, 5); /* it is there already: damaged */
  promoted(writer, 1, 6);
  promoted(writer, 1, 7);  /* twice */
  promoted(writer, 99, 7); /* unknown */
  struct samples *samples = story_load(writer);
  const uint8_t areas[] = {AREA_MINOR, AREA_MAJOR, AREA_OUTSIDE, AREA_OUTSIDE};
  for (uint64_t i = 0; i < 4; i++) assert_int_equal(row_of(samples, i + 1)->area, areas[i]);
  assert_int_equal(samples->unmatched, 3);
  assert_int_equal(samples->promotions, 2);
  struct generations all = generations_of_all(samples);
  assert_true(all.minor.bytes.total == 16 && all.major.bytes.total == 100000 &&
              all.outside.bytes.total == 1600);
  assert_true(all.promoted.bytes.total == 16);
  assert_true(generations_births(&all).bytes.total == 101616 && generations_births(&all).blocks.total == 4);
  samples_free(samples);
}

static bool young(const struct row *row, struct share *share, void *context) {
  (void)context;
  *share = share_block(row);
  share->apart = row->promoted_ns == NEVER;
  return row->area == AREA_MINOR;
}

/* The group of a function knows its blocks that were not promoted, too. */
static void a_groups_rate_counts_all_its_young_blocks(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  collected(writer, TRACE_COLLECTION_NONE, 0, 0, 1000);
  for (uint64_t i = 1; i <= 10; i++) born(writer, i, i, 100, i <= 4 ? 1 : 2, 0, false);
  for (uint64_t i = 1; i <= 6; i++) promoted(writer, i, 100);
  struct samples *samples = story_load(writer);
  struct names names;
  struct call_tree tree;
  story_names(samples, &names);
  assert_int_equal(call_tree_build(samples, &names, BY_FUNCTION, NULL, young, NULL, &tree), WN_OK);
  bool *inside = calloc(tree.node_count, sizeof *inside);
  const double minor[] = {1000, 600}, moved[] = {600, 200}; /* of the outer function, and the inner one */
  assert_int_equal(tree.group_count, 2);
  for (size_t i = 0; i < 2; i++) {
    struct generations of = generations_of_group(samples, &tree, &tree.groups[i], EXTENT_TOTAL, inside);
    assert_true(of.minor.bytes.total == minor[i] && of.promoted.bytes.total == moved[i]);
    assert_true(tree.groups[i].total.bytes.total == moved[i]);
    assert_int_equal(tree.groups[i].total.bytes.samples, moved[i] / 100);
  }
  free(inside);
  call_tree_destroy(&tree);
  names_destroy(&names);
  samples_free(samples);
}

/* ---- the heap ---- */

static void totals_are_what_happened_in_the_trace(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  collected(writer, TRACE_COLLECTION_NONE, 1 * MS, 0, 10000);
  collected(writer, TRACE_COLLECTION_MINOR, 2 * MS, 1000, 16000);
  collected(writer, TRACE_COLLECTION_MAJOR, 3 * MS, MS, 24000);
  struct samples *samples = story_load(writer);
  struct trace_collection total = heap_life_total(&samples->life);
  assert_int_equal(total.minor_words, 14000);
  assert_int_equal(total.promoted_words, 3500);
  assert_int_equal(total.minor_collections, 140);
  assert_int_equal(total.major_cycles, 14);
  assert_int_equal(total.live_words, 8000);
  assert_int_equal(heap_life_largest(&samples->life).heap_words, 17000);
  samples_free(samples);
}

static void pauses_add_up_though_few_have_a_record(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  uint64_t total = 0;
  for (uint64_t i = 1; i <= 1000; i++) {
    uint64_t ns = i % 50 ? 1000 : i * 1000; /* 20 long ones: 50 us to 1 ms, the first of them short yet */
    total += ns;
    if (i % 50 == 0) paused(writer, TRACE_PAUSE_SLICE, i * MS, ns, i, total);
  }
  paused(writer, TRACE_PAUSE_MINOR, 400 * MS, 2 * MS, 7, 3 * MS);
  domain(writer, 0, 0, TRACE_DOMAIN_BEGINS);
  story_free(writer, 1, 1000 * MS);
  struct samples *samples = story_load(writer);
  const struct heap_life *life = &samples->life;
  assert_int_equal(life->paused[TRACE_PAUSE_SLICE].count, 1000);
  assert_int_equal(life->paused[TRACE_PAUSE_SLICE].total_ns, total);
  assert_int_equal(life->paused[TRACE_PAUSE_STOP].count, 0);
  assert_int_equal(heap_life_pauses(life), 1007);
  assert_true(heap_life_paused_ns(life) == (double)(total + 3 * MS));
  assert_int_equal(life->longest.ns, 2 * MS);
  assert_int_equal(life->longest.kind, TRACE_PAUSE_MINOR);
  assert_int_equal(heap_life_pause_at(life, 0.99), 550000); /* ten of 1007 are longer: 2 ms, 1 ms to 600 us */
  assert_true(life->domain_ns == 1000.0 * MS);
  samples_free(samples);
}

static void short_pauses_have_no_longest(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  paused(writer, TRACE_PAUSE_MINOR, 1 * MS, 0, 500, 5 * MS);
  struct samples *samples = story_load(writer);
  assert_int_equal(heap_life_pauses(&samples->life), 500);
  assert_int_equal(samples->life.longest.ns, 0);
  assert_int_equal(heap_life_pause_at(&samples->life, 0.99), PAUSE_LONG_NS);
  samples_free(samples);
}

static void domains_live_side_by_side(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  domain(writer, 1, 20 * MS, TRACE_DOMAIN_BEGINS);
  domain(writer, 0, 0, TRACE_DOMAIN_BEGINS);
  domain(writer, 1, 50 * MS, TRACE_DOMAIN_ENDS);
  domain(writer, 2, 51 * MS, TRACE_DOMAIN_BEGINS);
  domain(writer, 2, 61 * MS, TRACE_DOMAIN_ENDS);
  domain(writer, 3, 70 * MS, 77); /* of a later version */
  story_free(writer, 1, 100 * MS);
  struct samples *samples = story_load(writer);
  const struct heap_life *life = &samples->life;
  assert_int_equal(life->domains_begun, 3);
  assert_int_equal(life->domains_most, 2);
  assert_true(life->domain_ns == (100.0 + 30 + 10) * MS);
  samples_free(samples);
}

/* ---- wrong records ---- */

static void wrong_counters_cost_only_themselves(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  for (uint64_t i = 0; i < 100; i++) collected(writer, TRACE_COLLECTION_MINOR, i * MS, i, i * 800);
  collected(writer, TRACE_COLLECTION_MINOR, 30 * MS + 1, 10, 1000000000);        /* too many */
  collected(writer, TRACE_COLLECTION_MINOR, 60 * MS + 1, 10, 8);                 /* back */
  collected(writer, TRACE_COLLECTION_MINOR, 70 * MS + 1, 10, UINT64_MAX);        /* impossible */
  collected(writer, TRACE_COLLECTION_MINOR, 80 * MS + 1, 90 * MS, 80 * 800 + 1); /* longer than the run */
  born(writer, 1, 10 * MS, 16, 1, 0, false);
  story_free(writer, 1, 90 * MS);
  struct samples *samples = story_load(writer);
  assert_int_equal(samples->life.collection_count, 100);
  assert_int_equal(samples->life.records.collections, 104);
  assert_int_equal(samples->life.records.wrong, 4);
  assert_true(near(life_words_of(samples, 1), 80 * 900));
  assert_int_equal(heap_life_total(&samples->life).minor_words, 99 * 800);
  samples_free(samples);
}

static void wrong_pauses_cost_only_themselves(void **state) {
  (void)state;
  struct trace_writer *writer = story_begin(1, 0);
  for (uint64_t i = 1; i <= 50; i++) paused(writer, TRACE_PAUSE_MINOR, i * MS, 200000, i, i * 200000);
  paused(writer, TRACE_PAUSE_MINOR, 20 * MS + 1, 200000, 9000, 1000000000); /* total too large */
  paused(writer, TRACE_PAUSE_MINOR, 30 * MS + 1, 90 * MS, 31, 90 * MS);     /* longer than the run */
  paused(writer, TRACE_PAUSE_MINOR, 40 * MS + 1, 200000, 41, 1);            /* longer than all */
  paused(writer, 200, 41 * MS, 200000, 1, 200000);                          /* of a later version */
  paused(writer, TRACE_PAUSE_SLICE, 42 * MS, 0, 0, 0);
  struct samples *samples = story_load(writer);
  assert_int_equal(samples->life.paused[TRACE_PAUSE_MINOR].count, 50);
  assert_int_equal(samples->life.paused[TRACE_PAUSE_MINOR].total_ns, 10 * MS);
  assert_int_equal(samples->life.longest.ns, 200000);
  assert_int_equal(samples->life.records.wrong, 4);
  samples_free(samples);
}

static uint64_t any_number(struct random *random) {
  return random_bits(random) >> (random_bits(random) & 63);
}

static void write_anything(struct trace_writer *writer, struct random *random, uint64_t blocks) {
  struct trace_collection collection = {.time_ns = any_number(random),
                                        .kind = (uint8_t)(random_bits(random) % 4)};
  uint64_t *fields = &collection.ns;
  uint64_t block = random_bits(random) % blocks, time = any_number(random);
  switch (random_bits(random) % 6) {
  case 0:
    born(writer, block, time, any_number(random) >> 24, 1, (uint8_t)(random_bits(random) % 4), block & 1);
    break;
  case 1: promoted(writer, block, time); break;
  case 2: story_free(writer, block, time); break;
  case 3:
    for (int i = 0; i < 9; i++) fields[i] = any_number(random);
    trace_write_collection(writer, &collection);
    break;
  case 4:
    paused(writer, (uint8_t)(random_bits(random) % 5), time, any_number(random), any_number(random),
           any_number(random));
    break;
  default: domain(writer, random_bits(random) % 8, time, (uint8_t)(random_bits(random) % 3));
  }
}

static void check_life(const struct samples *samples) {
  const struct heap_life *life = &samples->life;
  for (size_t i = 1; i < life->collection_count; i++) {
    const struct trace_collection *now = &life->collections[i], *before = now - 1;
    assert_true(before->time_ns <= now->time_ns);
    assert_true(before->minor_words + before->direct_words <= now->minor_words + now->direct_words);
  }
  assert_true(life->domains_most <= life->domains_begun && isfinite(life->domain_ns) && life->domain_ns >= 0);
  assert_true(life->longest.ns <= samples->end_ns &&
              heap_life_pause_at(life, 0.99) <= samples->end_ns + PAUSE_LONG_NS);
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    assert_true(isfinite(samples->life_words[i]) && samples->life_words[i] >= 0);
    assert_true(row->promoted_ns == NEVER || (row->area != AREA_MAJOR && row->promoted_ns >= row->born_ns));
    assert_true(life->collection_count || (row->area == AREA_NONE && row->promoted_ns == NEVER));
  }
  struct generations all = generations_of_all(samples);
  assert_true(all.promoted.bytes.total <= all.minor.bytes.total &&
              all.resolved.bytes.total <= all.promoted.bytes.total);
  assert_true(all.dead.bytes.total <= all.resolved.bytes.total);
}

static void records_that_make_no_sense_do_no_harm(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < (TINY ? 50 : 300); seed++) {
    struct random random;
    random_seed(&random, seed, 31, 0);
    struct trace_writer *writer = story_begin(1, 0);
    uint64_t count = random_bits(&random) % 200, blocks = 1 + random_bits(&random) % 50;
    for (uint64_t i = 0; i < count; i++) write_anything(writer, &random, blocks);
    struct samples *samples = story_load(writer);
    check_life(samples);
    samples_free(samples);
  }
}

/* Of a sound heap's records some are lost, and some have one wrong number: what is answered is
 * nearly the same. */
static void a_few_damaged_records_hardly_change_the_answers(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < (TINY ? 20 : 100); seed++) {
    struct random random;
    random_seed(&random, seed, 32, 0);
    struct trace_writer *writer = story_begin(1, 0);
    collected(writer, TRACE_COLLECTION_NONE, 0, 0, 0);
    for (uint64_t i = 1; i < 1000; i++) {
      uint64_t fate = random_bits(&random) % 20, words = fate == 1 ? any_number(&random) : 800 * i;
      if (fate) collected(writer, TRACE_COLLECTION_MINOR, i * MS, 10, words);
    }
    collected(writer, TRACE_COLLECTION_NONE, 1000 * MS, 0, 800 * 1000);
    born(writer, 1, 250 * MS, 16, 1, 0, false);
    story_free(writer, 1, 750 * MS);
    struct samples *samples = story_load(writer);
    assert_int_equal(heap_life_total(&samples->life).minor_words, 800 * 1000);
    assert_true(fabs(life_words_of(samples, 1) - 500 * 900) < 5 * 900);
    samples_free(samples);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lives_are_told_in_words_that_the_heap_allocated),
      cmocka_unit_test(a_malloc_heaps_clock_is_its_estimate),
      cmocka_unit_test(beyond_the_records_a_collected_heaps_clock_is_its_estimate),
      cmocka_unit_test(a_clock_without_points_stands_still),
      cmocka_unit_test(a_promoted_block_is_dead_at_once_if_the_next_cycle_finds_it),
      cmocka_unit_test(blocks_are_born_minor_major_or_outside),
      cmocka_unit_test(a_groups_rate_counts_all_its_young_blocks),
      cmocka_unit_test(totals_are_what_happened_in_the_trace),
      cmocka_unit_test(pauses_add_up_though_few_have_a_record),
      cmocka_unit_test(short_pauses_have_no_longest),
      cmocka_unit_test(domains_live_side_by_side),
      cmocka_unit_test(wrong_counters_cost_only_themselves),
      cmocka_unit_test(wrong_pauses_cost_only_themselves),
      cmocka_unit_test(records_that_make_no_sense_do_no_harm),
      cmocka_unit_test(a_few_damaged_records_hardly_change_the_answers),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
