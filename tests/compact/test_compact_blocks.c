/* What stays of blocks does not depend on the memory that there was to find it out: in one part or
 * in many the same records stay, at the same rates. And blocks that have a record in a chunk that
 * is not taken over stay as they are. */
#include "support/test.h"

#include "base/random.h"
#include "base/words.h"
#include "compact/blocks.h"
#include "compact/compact.h"
#include "compact/made_trace.h"
#include "trace/history.h"
#include "trace/reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 4000, EVENTS_MOST = 10 * BLOCKS };
#define HOUR (3600 * UINT64_C(1000000000))

static struct trace_event events[EVENTS_MOST];
static bool is_taken[EVENTS_MOST];
static size_t event_count;

static void add(struct trace_event event, bool taken) {
  is_taken[event_count] = taken;
  events[event_count++] = event;
}

/* A block of each kind; its events go on from `time`. */
static void make_block(struct random *random, uint64_t number) {
  uint64_t time = random_bits(random) % (500 * HOUR), size = 1 + random_bits(random) % 5000,
           kind = random_bits(random) % 16;
  double rate = random_bits(random) % 3 ? 1e-2 : 1e-3;
  struct trace_sample sample = {.time_ns = time,
                                .block = number,
                                .size = size,
                                .words = malloc_words(size),
                                .n_samples = 1,
                                .rate = rate,
                                .grown = kind == 1,
                                .previous_size = kind == 1 ? size / 2 : 0};
  if (kind) add((struct trace_event){.kind = TRACE_SAMPLE, .sample = sample}, kind != 2);
  for (uint64_t i = random_bits(random) % 8; kind >= 10 && i; i--) {
    time += random_bits(random) % HOUR;
    size += random_bits(random) % size;
    struct trace_resize resize = {.time_ns = time,
                                  .block = number,
                                  .size = size,
                                  .words = malloc_words(size),
                                  .rate = random_bits(random) % 4   ? rate
                                          : random_bits(random) % 4 ? 1e-4
                                                                    : 0};
    add((struct trace_event){.kind = TRACE_RESIZE, .resize = resize}, kind != 10);
  }
  struct trace_promote promote = {.time_ns = time, .block = number};
  struct trace_free death = {.time_ns = time + random_bits(random) % (50 * HOUR), .block = number};
  struct trace_type type = {.time_ns = time, .block = number, .type = number % 7};
  if (kind % 3 == 0) add((struct trace_event){.kind = TRACE_TYPE, .type = type}, true);
  if (kind == 3) add((struct trace_event){.kind = TRACE_PROMOTE, .promote = promote}, true);
  if (kind % 2) add((struct trace_event){.kind = TRACE_FREE, .free = death}, kind != 5);
}

/* In an order at random, as the chunks of threads are. */
static void make_events(void) {
  struct random random;
  random_seed(&random, 11, 0, 0);
  event_count = 0;
  for (uint64_t i = 0; i < BLOCKS; i++) make_block(&random, i * i * 77777777777);
  for (size_t i = event_count; i > 1; i--) {
    size_t other = random_bits(&random) % i;
    struct trace_event event = events[i - 1];
    bool taken = is_taken[i - 1];
    events[i - 1] = events[other], is_taken[i - 1] = is_taken[other];
    events[other] = event, is_taken[other] = taken;
  }
}

/* Returns how many stay of `most`, in `kept`, with the tables of parts in `room` bytes. */
static size_t thin(size_t room, size_t most, struct trace_event *kept, size_t *parts) {
  struct blocks blocks = {.seed = 5, .room = room, .now_ns = 600 * HOUR};
  size_t left = 0;
  for (size_t i = 0; i < event_count; i++) assert_true(blocks_survey(&blocks, &events[i], is_taken[i]));
  do
    while (!blocks.is_known) {
      assert_true(blocks_begin_part(&blocks));
      for (size_t i = 0; i < event_count; i++) assert_true(blocks_note(&blocks, &events[i], is_taken[i]));
      assert_true(blocks_end_part(&blocks));
    }
  while (!blocks_choose(&blocks, most));
  for (size_t i = 0; i < event_count; i++) {
    kept[left] = events[i];
    left += is_taken[i] && blocks_keep(&blocks, &kept[left]);
  }
  *parts = blocks.growths.join ? 0 : blocks.parts;
  blocks_destroy(&blocks);
  return left;
}

static const struct trace_event *birth_of(const struct trace_event *kept, size_t count, uint64_t block) {
  const struct trace_event *found = NULL;
  for (size_t i = 0; i < count; i++) {
    if (kept[i].kind != TRACE_SAMPLE || kept[i].sample.block != block) continue;
    assert_null(found);
    found = &kept[i];
  }
  return found;
}

static bool is_elsewhere(uint64_t block) {
  for (size_t i = 0; i < event_count; i++)
    if (!is_taken[i] && events[i].kind == TRACE_SAMPLE && events[i].sample.block == block) return true;
  return false;
}

/* A block has one sample, and its resizes come later. */
static void check_growth(const struct trace_event *kept, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (kept[i].kind == TRACE_SAMPLE) birth_of(kept, count, kept[i].sample.block);
    if (kept[i].kind != TRACE_RESIZE) continue;
    const struct trace_event *birth = birth_of(kept, count, kept[i].resize.block);
    if (birth)
      assert_true(birth->sample.time_ns <= kept[i].resize.time_ns);
    else
      assert_true(is_elsewhere(kept[i].resize.block));
  }
}

static void parts_make_no_difference(void **state) {
  (void)state;
  static struct trace_event whole[EVENTS_MOST], divided[EVENTS_MOST];
  make_events();
  for (size_t most = event_count; most > 100; most /= 2) {
    size_t parts, one = thin(1 << 30, most, whole, &parts), more = thin(50000, most, divided, &parts);
    assert_true(parts > 5);
    printf("  most %zu: %zu of %zu stay\n", most, one, event_count);
    assert_int_equal(one, more);
    assert_true(one <= most + BLOCKS / 4); /* those that have records elsewhere stay */
    for (size_t i = 0; i < one; i++) assert_memory_equal(&whole[i], &divided[i], sizeof whole[i]);
    if (one < 3000) check_growth(whole, one);
  }
}

/* A table that one block alone would fill has room for it once its resizes are joined: the last of
 * each part of the run stays. */
static void resizes_that_do_not_fit_are_joined(void **state) {
  (void)state;
  enum { RESIZES = 30000 };
  static struct trace_event kept[EVENTS_MOST];
  struct trace_sample sample = {.block = 7, .size = 8, .words = 2, .n_samples = 1, .rate = 1e-3};
  size_t parts;
  event_count = 0;
  add((struct trace_event){.kind = TRACE_SAMPLE, .sample = sample}, true);
  for (uint64_t i = 1; i <= RESIZES; i++) {
    struct trace_resize resize = {
        .time_ns = i * (600 * HOUR / RESIZES), .block = 7, .size = 8 * i, .words = 1 + i, .rate = 1e-3};
    add((struct trace_event){.kind = TRACE_RESIZE, .resize = resize}, true);
  }
  size_t left = thin(200000, RESIZES, kept, &parts);
  assert_int_equal(parts, 0);
  assert_in_range(left, JOINED_PARTS, JOINED_PARTS + 2);
  assert_int_equal(kept[0].kind, TRACE_SAMPLE);
  assert_int_equal(kept[left - 1].resize.size, 8 * RESIZES);
  for (size_t i = 2; i < left; i++) assert_true(kept[i].resize.words > kept[i - 1].resize.words);
}

/* ---- with a trace ---- */

enum { LARGE = 200000, WHOLE = 100 };

static void write_birth(struct trace_writer *writer, uint64_t block) {
  struct trace_sample sample = {
      .time_ns = block, .thread = 1, .block = block, .size = 16, .words = 3, .n_samples = 1, .rate = 1e-3};
  uint32_t frame = 1;
  assert_true(trace_write_sample(writer, &sample, (struct trace_stack){&frame, 1}));
}

/* How many of the first blocks are there with their rate, and how many others. */
static size_t count_whole(const char *path, size_t *others) {
  struct trace_reader *reader;
  struct trace_event event;
  size_t whole = 0;
  *others = 0;
  assert_int_equal(trace_reader_open(path, &reader), WN_OK);
  while (trace_reader_next(reader, &event)) {
    if (event.kind != TRACE_SAMPLE) continue;
    bool is_whole = event.sample.block <= WHOLE && event.sample.rate == 1e-3;
    whole += is_whole;
    *others += !is_whole;
  }
  trace_reader_close(reader);
  return whole;
}

/* The living are too many, so they are thinned; but not those that have a resize in the chunk that
 * is written. Also when the history alone is compacted, since no other chunk was left. */
static void blocks_with_records_elsewhere_stay_whole(void **state) {
  (void)state;
  char path[64], history[80];
  struct compact_result result;
  size_t others;
  uint32_t frame = 1;
  snprintf(path, sizeof path, "test_compact_blocks.%d.trace", (int)getpid());
  snprintf(history, sizeof history, "%s" HISTORY_ENDING, path);
  struct trace_writer *writer = made_open(path, 1e-3, 0);
  for (uint64_t i = 1; i <= LARGE; i++) write_birth(writer, i);
  for (uint64_t i = 1; i <= WHOLE; i++) {
    struct trace_resize resize = {
        .time_ns = LARGE + i, .thread = 1, .block = i, .size = 32, .words = 5, .rate = 1e-3};
    assert_true(trace_write_resize(writer, &resize, (struct trace_stack){&frame, 1}));
  }
  for (uint64_t bound = 1 << 20, before = LARGE; bound >= 1 << 18; bound /= 2, before = others) {
    assert_int_equal(compact_trace(path, bound, &result), WN_OK);
    assert_true((result.chunks > 0) == (bound == 1 << 20));
    assert_int_equal(count_whole(path, &others), WHOLE);
    assert_true(others < before - before / 8);
  }
  trace_writer_close(writer);
  assert_int_equal(unlink(path) | unlink(history), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(parts_make_no_difference),
                                     cmocka_unit_test(resizes_that_do_not_fit_are_joined),
                                     cmocka_unit_test(blocks_with_records_elsewhere_stay_whole)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
