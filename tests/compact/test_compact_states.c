/* Of the records of states few stay, however many there were, and they tell what all told: the
 * largest resident size and when it was, and at each moment that stays what was mapped. Made-up
 * records at random; what stays is compared with what there was, also after it was thinned again as
 * the run goes on. */
#include "support/test.h"

#include "base/random.h"
#include "compact/states.h"
#include <stdio.h>
#include <stdlib.h>

enum { EVENTS = 60000, MAPPINGS = 3 };
#define SECOND UINT64_C(1000000000)

static struct trace_event events[EVENTS];
static size_t event_count;

static void add(struct trace_event event) { events[event_count++] = event; }

/* Mappings that come, are touched, and go; memory measured between. */
static void make_events(uint64_t seed, uint64_t from_ns, size_t until) {
  struct random random;
  static bool mapped[MAPPINGS];
  random_seed(&random, seed, 0, 0);
  for (uint64_t time = from_ns; event_count < until; time += random_bits(&random) % SECOND) {
    uint64_t which = random_bits(&random) % MAPPINGS, draw = random_bits(&random) % 10;
    if (draw < 5) {
      uint64_t rss = (uint64_t)(1e6 + 1e9 * random_unit(&random));
      add((struct trace_event){.kind = TRACE_MEMORY, .memory = {.time_ns = time, .rss_bytes = rss}});
    } else if (!mapped[which]) {
      mapped[which] = true;
      add((struct trace_event){.kind = TRACE_MAP,
                               .map = {.time_ns = time, .mapping = which, .bytes = 1 << 20}});
    } else if (draw < 9) {
      uint64_t bytes = random_bits(&random) % (1 << 20);
      add((struct trace_event){.kind = TRACE_MAP_TOUCHED,
                               .map_touched = {.time_ns = time, .mapping = which, .bytes = bytes}});
    } else {
      mapped[which] = false;
      add((struct trace_event){.kind = TRACE_MAP_SIZE, .map_size = {.time_ns = time, .mapping = which}});
    }
  }
}

/* Returns how many records stay, in `kept`. `room`: for so many at a time, or 0. */
static size_t thin_within(const struct trace_event *all, size_t count, struct trace_event *kept,
                          size_t room) {
  struct states states = {.room = room};
  size_t left = 0;
  for (size_t i = 0; i < count; i++) assert_true(states_note(&states, &all[i]));
  if (room) assert_true(states.count < count); /* some are gone already */
  assert_true(states_choose(&states, all[count - 1].at.time_ns));
  for (size_t i = 0; i < count; i++)
    if (states_keep(&states)) kept[left++] = all[i];
  states_destroy(&states);
  return left;
}

static size_t thin(const struct trace_event *all, size_t count, struct trace_event *kept) {
  return thin_within(all, count, kept, 0);
}

/* The bytes that are touched at a time, by the records until then. */
static uint64_t touched_at(const struct trace_event *all, size_t count, uint64_t time_ns) {
  uint64_t bytes[MAPPINGS] = {0}, sum = 0;
  for (size_t i = 0; i < count && all[i].at.time_ns <= time_ns; i++) {
    if (all[i].kind == TRACE_MAP_TOUCHED) bytes[all[i].map_touched.mapping] = all[i].map_touched.bytes;
    if (all[i].kind == TRACE_MAP_SIZE && !all[i].map_size.bytes) bytes[all[i].map_size.mapping] = 0;
  }
  for (int i = 0; i < MAPPINGS; i++) sum += bytes[i];
  return sum;
}

static const struct trace_memory *largest(const struct trace_event *all, size_t count) {
  const struct trace_memory *found = NULL;
  for (size_t i = 0; i < count; i++)
    if (all[i].kind == TRACE_MEMORY && (!found || all[i].memory.rss_bytes > found->rss_bytes))
      found = &all[i].memory;
  return found;
}

static size_t count_of(const struct trace_event *all, size_t count, enum trace_kind kind) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++) found += all[i].kind == kind;
  return found;
}

/* The states at some moments that stay are those of all records. */
static void compare(const struct trace_event *kept, size_t left) {
  const struct trace_memory *one = largest(events, event_count), *other = largest(kept, left);
  assert_int_equal(one->time_ns, other->time_ns);
  assert_int_equal(one->rss_bytes, other->rss_bytes);
  size_t compared = 0;
  for (size_t i = 0; i < left; i++)
    if (kept[i].kind == TRACE_MEMORY && i % 10 == 0) {
      uint64_t time = kept[i].memory.time_ns;
      assert_int_equal(touched_at(kept, left, time), touched_at(events, event_count, time));
      compared++;
    }
  assert_true(compared > 20);
  assert_true(count_of(kept, left, TRACE_MEMORY) <= 2 * STATES_PARTS + 2);
}

static void what_stays_tells_what_all_told(void **state) {
  (void)state;
  static struct trace_event kept[EVENTS], again[EVENTS];
  make_events(7, 0, EVENTS / 2);
  size_t left = thin(events, event_count, kept);
  printf("  %zu of %zu stay", left, event_count);
  compare(kept, left);
  assert_true(left < event_count / 2);
  /* The run goes on, and all is thinned again. */
  size_t before = event_count;
  make_events(8, events[event_count - 1].at.time_ns + 1, EVENTS);
  for (size_t i = before; i < event_count; i++) kept[left++] = events[i];
  left = thin(kept, left, again);
  printf(", then %zu of %zu\n", left, event_count);
  const struct trace_memory *one = largest(events, event_count), *other = largest(again, left);
  assert_int_equal(one->time_ns, other->time_ns);
  assert_true(count_of(again, left, TRACE_MEMORY) <= 2 * STATES_PARTS + 2);
}

/* However many there are, few are in memory at a time. */
static void few_are_in_memory(void **state) {
  (void)state;
  static struct trace_event kept[EVENTS];
  event_count = 0;
  make_events(9, 0, EVENTS);
  size_t left = thin_within(events, event_count, kept, 4000);
  printf("  %zu of %zu stay\n", left, event_count);
  compare(kept, left);
}

/* However many mappings change between two moments. */
static void the_number_of_records_is_bounded(void **state) {
  (void)state;
  enum { THINGS = 2000, ROUNDS = 300 };
  struct states states = {0};
  size_t left = 0;
  for (uint64_t i = 0; i < THINGS * ROUNDS; i++) {
    struct trace_event touched = {.kind = TRACE_MAP_TOUCHED,
                                  .map_touched = {.time_ns = i * SECOND, .mapping = i % THINGS, .bytes = i}};
    struct trace_event memory = {.kind = TRACE_MEMORY, .memory = {.time_ns = i * SECOND, .rss_bytes = i}};
    assert_true(states_note(&states, &touched));
    if (i % 100 == 0) assert_true(states_note(&states, &memory));
  }
  assert_true(states.capacity <= 2 * STATES_ROOM);
  assert_true(states_choose(&states, THINGS * ROUNDS * SECOND));
  for (size_t i = 0; i < states.noted; i++) left += states_keep(&states);
  assert_in_range(left, STATES_MOST / 4, STATES_MOST);
  states_destroy(&states);
}

/* Times without samples are gaps in what is allocated a second: their begin and end stay to the
 * last. */
static void gaps_in_sampling_stay(void **state) {
  (void)state;
  static struct trace_event kept[EVENTS];
  size_t zeros = 0;
  event_count = 0;
  for (uint64_t i = 0; i < 20000; i++) {
    double rate = i % 100 == 50 ? 0 : i % 2 ? 1e-4 : 1e-3;
    struct trace_rate event = {.time_ns = i * SECOND, .rate = rate};
    add((struct trace_event){.kind = TRACE_RATE, .rate = event});
    zeros += rate == 0;
  }
  size_t left = thin(events, event_count, kept), found = 0;
  for (size_t i = 0; i < left; i++) {
    if (kept[i].rate.rate > 0) continue;
    found++;
    assert_int_equal(kept[i - 1].rate.time_ns, kept[i].rate.time_ns - SECOND);
    assert_int_equal(kept[i + 1].rate.time_ns, kept[i].rate.time_ns + SECOND);
  }
  assert_int_equal(found, zeros);
  assert_true(left <= 3 * zeros + 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_stays_tells_what_all_told), cmocka_unit_test(few_are_in_memory),
      cmocka_unit_test(the_number_of_records_is_bounded), cmocka_unit_test(gaps_in_sampling_stay)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
