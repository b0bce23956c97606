/* When a recorder measures the process's memory, by clocks that are made up: a program samples a block each
 * millisecond in which it is awake, and a measurement takes 100 us. */
#include "support/test.h"

#include "record/measurements.h"

#define MS     ((uint64_t)1000 * 1000)
#define SECOND (1000 * MS)
#define TOOK   (MS / 10)

/* A program that is awake for `awake` ms of each `period`, on so many processors. */
struct program {
  uint64_t awake, period, processors;
};

struct clocks {
  struct measurements all;
  uint64_t time, processor;
  uint64_t count, longest, last; /* measurements, and the longest time without one */
};

static void sample(struct clocks *clocks, bool is_known) {
  if (!measurements_are_due(&clocks->all, clocks->time) || !measurements_claim(&clocks->all, clocks->time) ||
      !measurements_begin(&clocks->all, clocks->time, is_known ? clocks->processor : 0))
    return;
  uint64_t gap = clocks->time - clocks->last;
  if (gap > clocks->longest) clocks->longest = gap;
  clocks->last = clocks->time;
  clocks->count++;
  measurements_end(&clocks->all, clocks->time, clocks->time + TOOK);
}

static void run(struct clocks *clocks, struct program program, uint64_t seconds, bool is_known) {
  for (uint64_t ms = 0; ms < seconds * 1000; ms++, clocks->time += MS) {
    if (ms % program.period >= program.awake) continue;
    clocks->processor += MS * program.processors;
    sample(clocks, is_known);
  }
}

/* In ten minutes. */
static struct clocks of(struct program program, bool is_known) {
  struct clocks clocks = {.processor = MS};
  run(&clocks, program, 600, is_known);
  return clocks;
}

static double cost(const struct clocks *clocks) {
  return (double)(clocks->count * TOOK) / (double)clocks->processor;
}

static void a_busy_program_is_measured_often(void **state) {
  (void)state;
  struct clocks one = of((struct program){1, 1, 1}, true), many = of((struct program){1, 1, 16}, true);
  assert_true(one.count > 1000 && one.longest < SECOND);
  assert_true(many.count == one.count);
  assert_true(cost(&one) < 1.0 / 500);
}

static void a_program_that_sleeps_pays_of_its_processor_time(void **state) {
  (void)state;
  struct clocks tenth = of((struct program){1, 10, 1}, true),
                hundredth = of((struct program){1, 100, 1}, true);
  assert_true(cost(&tenth) < 1.0 / 500 && cost(&hundredth) < 0.005);
  assert_true(tenth.count > 500 && hundredth.count > 80);
  struct clocks hardly = of((struct program){1, 1000, 1}, true);
  assert_true(hardly.count > 60 && hardly.longest >= 9 * SECOND && hardly.longest <= 10 * SECOND);
}

static void a_burst_after_sleep_is_measured_at_once(void **state) {
  (void)state;
  struct clocks clocks = {.processor = MS};
  run(&clocks, (struct program){1, 1000, 1}, 300, true);
  uint64_t before = clocks.count, begins = clocks.time;
  while (clocks.count == before) run(&clocks, (struct program){1, 1, 1}, 1, true);
  assert_true(clocks.count - before > 1);
  assert_true(clocks.time - begins == SECOND);
}

static void an_unknown_processor_time_leaves_nothing_out(void **state) {
  (void)state;
  struct clocks known = of((struct program){1, 1, 1}, true), unknown = of((struct program){1, 100, 1}, false);
  assert_true(unknown.count > known.count / 2);
  assert_true(unknown.longest <= SECOND + 100 * MS);
}

static void of_two_threads_one_measures(void **state) {
  (void)state;
  struct measurements all = {0};
  assert_true(measurements_claim(&all, 5 * MS));
  assert_true(!measurements_claim(&all, 5 * MS));
  assert_true(!measurements_are_due(&all, 5 * MS));
}
int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_busy_program_is_measured_often),
                                     cmocka_unit_test(a_program_that_sleeps_pays_of_its_processor_time),
                                     cmocka_unit_test(a_burst_after_sleep_is_measured_at_once),
                                     cmocka_unit_test(an_unknown_processor_time_leaves_nothing_out),
                                     cmocka_unit_test(of_two_threads_one_measures)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
