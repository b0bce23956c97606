/* A source with more samples than are wanted: the part that is read is the part that thinning the
 * whole would leave, and it is chosen in bounded memory. */
#include "support/test.h"

#include "analysis/load/reduce.h"
#include "base/words.h"
#include "sources/survey.h"
#include <math.h>
#include <stdlib.h>

enum { BLOCKS = 20000, MOST = 1500, EVENTS_MOST = 4 * BLOCKS };

/* ---- a made-up source ---- */

struct made_up {
  struct source source;
  size_t at, count;
};

#define RATE 1e-3

static struct trace_event events[EVENTS_MOST];
static size_t event_count;

static struct made_up *made_up(const struct source *source) { return (struct made_up *)(uintptr_t)source; }
static void close_made_up(struct source *source) { free(source); }

static bool next(struct source *source, struct trace_event *event) {
  struct made_up *made = made_up(source);
  if (made->at == made->count) return false;
  *event = events[made->at++];
  return true;
}

static const struct trace_run *run(const struct source *source) {
  static const struct trace_run run = {.rate = RATE, .word_bytes = 8};
  (void)source;
  return &run;
}

static enum source_heap heap(const struct source *source) { return (void)source, SOURCE_HEAP_MALLOC; }

static const struct trace_damage *damage(const struct source *source) {
  static const struct trace_damage complete = {.complete = true};
  return (void)source, &complete;
}

static uint32_t stack_count(const struct source *source) { return (void)source, 0; }

static double position(const struct source *source) {
  return (double)made_up(source)->at / (double)made_up(source)->count;
}

static const struct source_format format = {.close = close_made_up,
                                            .next = next,
                                            .run = run,
                                            .heap = heap,
                                            .damage = damage,
                                            .stack_count = stack_count,
                                            .position = position};

static struct source *open_made_up(size_t count) {
  struct made_up *made = malloc(sizeof *made);
  assert_non_null(made);
  *made = (struct made_up){.source.format = &format, .count = count};
  return &made->source;
}

static void add(struct trace_event event) {
  assert_true(event_count < EVENTS_MOST);
  events[event_count++] = event;
}

/* Each third block grows up to a thousandfold, so that it may enter late; each second is freed. Of
 * some blocks the records stand in the file in reverse order. */
static void make_block(uint64_t block) {
  uint64_t time = block * 1000, size = (uint64_t)16 << block % 8;
  size_t begin = event_count;
  double rate = block % 11 ? RATE : RATE / 4;
  if (block % 500 == 0) size = 4000000;
  add((struct trace_event){.kind = TRACE_SAMPLE,
                           .sample = {.time_ns = time,
                                      .block = block,
                                      .size = size,
                                      .words = malloc_words(size),
                                      .n_samples = 1,
                                      .rate = rate}});
  if (block % 7 == 0) {
    events[begin].sample.grown = true;
    events[begin].sample.previous_size = size / 2;
  }
  if (block % 3 == 0)
    add((struct trace_event){.kind = TRACE_RESIZE,
                             .resize = {.time_ns = time + 10,
                                        .block = block,
                                        .size = size << block % 11,
                                        .words = malloc_words(size << block % 11),
                                        .rate = block % 9 ? RATE : RATE / 16}});
  if (block % 2 == 0)
    add((struct trace_event){.kind = TRACE_FREE, .free = {.time_ns = time + 100 + block, .block = block}});
  if (block % 5) return;
  for (size_t one = begin, other = event_count - 1; one < other; one++, other--) {
    struct trace_event kept = events[one];
    events[one] = events[other];
    events[other] = kept;
  }
}

static void make_events(uint64_t blocks) {
  event_count = 0;
  for (uint64_t block = 0; block < blocks; block++) make_block(block);
}

/* ---- reading ---- */

static struct samples *read_samples(struct source *source) {
  struct samples *samples;
  assert_int_equal(samples_read(source, "made up", NULL, NULL, &samples), WN_OK);
  return samples;
}

static struct samples *read_chosen(struct survey *survey) {
  struct source *source = open_made_up(event_count);
  source_filter(source, survey_keeps, survey);
  return read_samples(source);
}

static void survey_made_up(struct survey *survey, size_t count, size_t most) {
  struct source *source = open_made_up(count);
  assert_int_equal(survey_source(survey, source, most, 7, NULL, NULL), WN_OK);
  source_close(source);
}

static void assert_same_rows(const struct samples *one, const struct samples *other) {
  assert_int_equal(one->row_count, other->row_count);
  assert_int_equal(one->sampled_blocks, other->sampled_blocks);
  for (size_t i = 0; i < one->row_count; i++) {
    const struct row *left = &one->rows[i], *right = &other->rows[i];
    assert_int_equal(left->block, right->block);
    assert_int_equal(left->begin_ns, right->begin_ns);
    assert_int_equal(left->end_ns, right->end_ns);
    assert_int_equal(left->died_ns, right->died_ns);
    assert_true(left->probability == right->probability);
    assert_int_equal(left->grown != 0, right->grown != 0);
    if (left->grown)
      assert_true(grown_at(&one->grown, left->grown)->bytes.variance ==
                  grown_at(&other->grown, right->grown)->bytes.variance);
  }
}

/* ---- tests ---- */

static void a_source_within_the_bound_is_left_whole(void **state) {
  (void)state;
  struct survey survey;
  make_events(MOST);
  survey_made_up(&survey, event_count, MOST);
  assert_int_equal(survey.samples, MOST);
  assert_true(survey.share == 1);
  survey_destroy(&survey);
}

static void the_part_that_is_read_is_that_of_the_whole(void **state) {
  (void)state;
  struct survey survey;
  make_events(BLOCKS);
  survey_made_up(&survey, event_count, MOST);
  assert_int_equal(survey.samples, BLOCKS);
  assert_true(survey.share > 0 && survey.share < 1);
  struct samples *whole = read_samples(open_made_up(event_count)), *part = read_chosen(&survey);
  assert_int_equal(part->unmatched, whole->unmatched);
  assert_int_equal(samples_thin(whole, survey.share, survey.seed), WN_OK);
  assert_int_equal(samples_thin(part, survey.share, survey.seed), WN_OK);
  assert_true(source_run(part->source)->rate == survey.share * RATE);
  assert_same_rows(part, whole);
  assert_true(part->sampled_blocks <= MOST && part->sampled_blocks > MOST / 2);
  samples_free(part);
  samples_free(whole);
  survey_destroy(&survey);
}

/* The candidates, the chosen blocks, and so what the second reading collects. */
static void memory_depends_on_the_bound_alone(void **state) {
  (void)state;
  struct survey survey = {.share = 1};
  make_events(BLOCKS);
  for (size_t blocks = MOST; blocks <= BLOCKS; blocks *= 2) {
    make_events(blocks);
    survey_made_up(&survey, event_count, MOST);
    assert_true(survey.chosen <= MOST);
    assert_true(survey.slot_mask < 4 * MOST);
    size_t passed = 0;
    for (size_t i = 0; i < event_count; i++)
      passed += events[i].kind == TRACE_SAMPLE && survey_keeps(&events[i], &survey);
    assert_true(survey.share == 1 ? blocks <= MOST : passed <= MOST);
    survey_destroy(&survey);
  }
}

/* As a trace that grows between the two readings. Blocks that enter as they grow are left out. */
static void blocks_that_come_later_are_chosen_by_the_same_law(void **state) {
  (void)state;
  struct survey survey;
  make_events(BLOCKS);
  survey_made_up(&survey, event_count - 500, MOST);
  struct samples *whole = read_samples(open_made_up(event_count)), *part = read_chosen(&survey);
  assert_int_equal(samples_thin(whole, survey.share, survey.seed), WN_OK);
  assert_int_equal(samples_thin(part, survey.share, survey.seed), WN_OK);
  uint64_t first_seen = whole->rows[whole->row_count - 1].block - 250;
  size_t at = 0, late = 0;
  for (size_t i = 0; i < whole->row_count; i++) {
    bool found = at < part->row_count && part->rows[at].block == whole->rows[i].block;
    at += found;
    late += found && whole->rows[i].block > first_seen;
    assert_true(found || whole->rows[i].block >= first_seen);
  }
  assert_int_equal(at, part->row_count);
  assert_true(late > 0);
  samples_free(part);
  samples_free(whole);
  survey_destroy(&survey);
}

static void a_smaller_bound_keeps_a_part_of_what_a_larger_one_keeps(void **state) {
  (void)state;
  struct survey large, small;
  make_events(BLOCKS);
  survey_made_up(&large, event_count, MOST);
  survey_made_up(&small, event_count, MOST / 10);
  assert_true(small.share < large.share);
  for (size_t i = 0; i < event_count; i++)
    if (events[i].kind == TRACE_SAMPLE && survey_keeps(&events[i], &small))
      assert_true(survey_keeps(&events[i], &large));
  survey_destroy(&small);
  survey_destroy(&large);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_source_within_the_bound_is_left_whole),
      cmocka_unit_test(the_part_that_is_read_is_that_of_the_whole),
      cmocka_unit_test(memory_depends_on_the_bound_alone),
      cmocka_unit_test(blocks_that_come_later_are_chosen_by_the_same_law),
      cmocka_unit_test(a_smaller_bound_keeps_a_part_of_what_a_larger_one_keeps),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
