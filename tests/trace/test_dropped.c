/* What is missing is said to be missing, whichever of the records that tell of it are left. */
#include "support/test.h"

#include "base/random.h"
#include "trace/dropped.h"
#include <stdlib.h>

enum { CHUNKS = 400, ROUNDS = 2000, SECOND = 1000000 };

/* A chunk that the recorder took out of the file. */
struct chunk {
  uint64_t from, until;
  bool told, taken_over; /* a record of it is left; the history has it */
};

static struct chunk chunks[CHUNKS];
static struct random draws;

static uint64_t below(uint64_t bound) { return random_bits(&draws) % bound; }

/* Bursts of chunks, with long pauses between, by several threads at once. */
static unsigned make_chunks(void) {
  unsigned count = 1 + (unsigned)below(CHUNKS);
  uint64_t time = below(SECOND);
  for (unsigned i = 0; i < count; i++) {
    time += below(20) ? below(SECOND / 100) : SECOND + below(100 * SECOND);
    chunks[i] = (struct chunk){.from = time, .until = time + below(SECOND / 10), .told = below(3)};
    if (i && chunks[i].until < chunks[i - 1].until) chunks[i].until = chunks[i - 1].until;
    chunks[i].taken_over = chunks[i].told && !below(4);
  }
  chunks[count - 1].told = true; /* those behind the last record cannot be known of */
  return count;
}

static void add_chunks(struct dropped *dropped, unsigned from, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    const struct chunk *chunk = &chunks[from + i];
    struct trace_dropped item = {.chunk = chunk->taken_over ? 0 : 1 + from + i,
                                 .from_ns = chunk->from,
                                 .until_ns = chunk->until,
                                 .since_ns = chunks->from,
                                 .number = from + i,
                                 .count = 1};
    if (chunk->told) assert_true(dropped_add(dropped, &item));
  }
}

/* A part that an older history tells of: one stretch of what is missing. */
static void add_stretch(struct dropped *dropped, unsigned count) {
  unsigned from = (unsigned)below(count), until = from;
  while (until < count && !chunks[until].taken_over) until++;
  struct trace_dropped item = {.chunk = 1 + from, .number = from, .count = until - from};
  item.from_ns = chunks[from].from, item.since_ns = chunks->from;
  item.until_ns = until > from ? chunks[until - 1].until : 0;
  if (until > from) assert_true(dropped_add(dropped, &item));
}

static bool covers(const struct trace_times *times, uint64_t from, uint64_t until) {
  for (uint32_t i = 0; i < times->count; i++)
    if (times->of[i].from_ns <= from && times->of[i].until_ns >= until) return true;
  return false;
}

static uint64_t length_of(const struct trace_times *times) {
  uint64_t length = 0;
  for (uint32_t i = 0; i < times->count; i++) {
    assert_true(times->of[i].from_ns <= times->of[i].until_ns);
    if (i) assert_true(times->of[i - 1].until_ns < times->of[i].from_ns);
    length += times->of[i].until_ns - times->of[i].from_ns;
  }
  assert_in_range(times->count, 0, TRACE_TIMES_MOST);
  return length;
}

static void all_that_is_missing_is_covered(void **state) {
  (void)state;
  for (unsigned round = 0; round < ROUNDS; round++) {
    struct dropped dropped = {0}, again = {0};
    struct trace_times times = {0}, later = {0};
    random_seed(&draws, round, 0, 0);
    unsigned count = make_chunks(), half = count / 2;
    add_chunks(&dropped, half, count - half); /* a later part of the file may be read first */
    add_chunks(&dropped, 0, half);
    add_stretch(&dropped, count);
    if (below(2)) dropped_join(&dropped);
    uint64_t missing = dropped_times(&dropped, &times);
    length_of(&times);
    for (unsigned i = 0; i < count; i++) {
      missing -= !chunks[i].taken_over;
      if (!chunks[i].taken_over && !covers(&times, chunks[i].from, chunks[i].until))
        fail_msg("round %u: chunk %u is not covered", round, i);
    }
    assert_int_equal(missing, 0);
    dropped_join(&dropped);
    /* As a history has them, and the trace behind it tells of the last one again. */
    for (size_t i = 0; i < dropped.count; i++) assert_true(dropped_add(&again, &dropped.items[i]));
    add_chunks(&again, count - 1, 1);
    dropped_join(&again);
    assert_int_equal(dropped_times(&again, &later), dropped_times(&dropped, &(struct trace_times){0}));
    for (uint32_t i = 0; i < times.count; i++)
      assert_true(covers(&later, times.of[i].from_ns, times.of[i].until_ns));
    dropped_destroy(&dropped);
    dropped_destroy(&again);
  }
}

/* Between two bursts nothing is said to be missing, and a burst without a record is found by its
 * number. */
static void pauses_are_not_missing(void **state) {
  (void)state;
  struct dropped dropped = {0};
  struct trace_times times = {0};
  for (unsigned i = 0; i < 60; i++)
    chunks[i] = (struct chunk){.from = i / 20 * 1000 * SECOND + i % 20 * SECOND, .told = true};
  for (unsigned i = 0; i < 60; i++) chunks[i].until = chunks[i].from + SECOND - 1;
  add_chunks(&dropped, 0, 60);
  dropped_join(&dropped);
  assert_int_equal(dropped_times(&dropped, &times), 60);
  assert_int_equal(times.count, 3);
  assert_int_equal(length_of(&times), 3 * (20 * SECOND - 1));
  for (unsigned i = 20; i < 40; i++) chunks[i].told = false;
  dropped.count = times.count = 0;
  add_chunks(&dropped, 0, 60);
  dropped_join(&dropped);
  assert_int_equal(dropped_times(&dropped, &times), 60);
  assert_true(covers(&times, chunks[20].from, chunks[39].until));
  dropped_destroy(&dropped);
}

/* Records that tell of the same numbers: each number counts once, and a long stretch is not hidden by
 * a short one within it. */
static void numbers_count_once(void **state) {
  (void)state;
  static const struct trace_dropped told[] = {
      {.chunk = 1, .number = 0, .count = 100, .until_ns = 100 * SECOND},
      {.chunk = 0, .number = 10, .count = 1, .from_ns = 10 * SECOND, .until_ns = 11 * SECOND},
      {.chunk = 20, .number = 20, .count = 5, .from_ns = 500 * SECOND, .until_ns = 501 * SECOND},
      {.chunk = 0, .number = 10, .count = 3, .from_ns = 10 * SECOND, .until_ns = 13 * SECOND},
      {.chunk = 150, .number = 100, .count = 1, .from_ns = 900 * SECOND, .until_ns = 901 * SECOND},
      {.chunk = 160, .number = 103, .count = 1, .from_ns = 990 * SECOND, .until_ns = 991 * SECOND},
  };
  struct dropped dropped = {0};
  struct trace_times times = {0};
  for (unsigned i = 0; i < sizeof told / sizeof *told; i++) assert_true(dropped_add(&dropped, &told[i]));
  for (unsigned joined = 0; joined < 2; joined++, dropped_join(&dropped)) {
    times.count = 0;
    assert_int_equal(dropped_times(&dropped, &times), 104 - 3);
    assert_int_equal(times.count, 3); /* from 100 on, since 101 and 102 lie behind it */
    assert_true(covers(&times, 900 * SECOND, 991 * SECOND));
    assert_int_equal(length_of(&times), (100 + 1 + 91) * SECOND);
  }
  dropped_destroy(&dropped);
}

/* What an older history had taken over is missing too, besides what is numbered. */
static void what_has_no_number_counts_too(void **state) {
  (void)state;
  struct dropped dropped = {0};
  struct trace_times times = {0};
  assert_true(dropped_add(&dropped, &(struct trace_dropped){.chunk = 7, .until_ns = SECOND}));
  assert_true(dropped_add(&dropped, &(struct trace_dropped){.chunk = 9, .until_ns = 2 * SECOND}));
  dropped_join(&dropped);
  assert_int_equal(dropped.count, 1);
  assert_int_equal(dropped_times(&dropped, &times), 1);
  struct trace_dropped item = {.chunk = 30, .number = 2, .count = 1};
  item.since_ns = 50 * SECOND, item.from_ns = 60 * SECOND, item.until_ns = 61 * SECOND;
  assert_true(dropped_add(&dropped, &item));
  times.count = 0;
  assert_int_equal(dropped_times(&dropped, &times), 1 + 3);
  assert_int_equal(times.count, 2);
  assert_int_equal(length_of(&times), 2 * SECOND + 11 * SECOND);
  dropped_destroy(&dropped);
}

/* Of what is in the history nothing is missing, nor of the numbers before. */
static void what_was_taken_over_is_not_missing(void **state) {
  (void)state;
  struct dropped dropped = {0};
  struct trace_times times = {0};
  for (unsigned i = 0; i < 20; i++)
    chunks[i] =
        (struct chunk){.from = i * SECOND, .until = i * SECOND + SECOND, .told = true, .taken_over = true};
  add_chunks(&dropped, 0, 20);
  dropped_join(&dropped);
  assert_int_equal(dropped.count, 1);
  assert_int_equal(dropped_times(&dropped, &times), 0);
  assert_int_equal(times.count, 0);
  dropped_destroy(&dropped);
}

static void hostile_numbers_are_survived(void **state) {
  (void)state;
  static const uint64_t edges[] = {0, 1, 2, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX};
  struct dropped dropped = {0};
  struct trace_times times = {0};
  random_seed(&draws, 1, 0, 0);
  for (unsigned i = 0; i < 5000; i++) {
    uint64_t of[6];
    for (unsigned k = 0; k < 6; k++) of[k] = below(2) ? edges[below(6)] : random_bits(&draws);
    struct trace_dropped item = {.chunk = of[0],
                                 .from_ns = of[1],
                                 .until_ns = of[2],
                                 .since_ns = of[3],
                                 .number = of[4],
                                 .count = of[5]};
    assert_true(dropped_add(&dropped, &item));
  }
  dropped_join(&dropped);
  dropped_times(&dropped, &times);
  length_of(&times);
  dropped_destroy(&dropped);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_that_is_missing_is_covered),
      cmocka_unit_test(pauses_are_not_missing),
      cmocka_unit_test(numbers_count_once),
      cmocka_unit_test(what_has_no_number_counts_too),
      cmocka_unit_test(what_was_taken_over_is_not_missing),
      cmocka_unit_test(hostile_numbers_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
