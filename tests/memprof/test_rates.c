/* The rate of a profile changes while it samples: each trial has the rate that was fixed before it
 * was drawn, and is told with it. */
#include "support/test.h"

#include "memprof/host.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct memprof engine;
static struct memprof_owner owner;
static struct memprof_thread self;
static wn_profile *profile;

static void rearm(struct memprof_owner *changed) { (void)changed; }
static const wn_callstack *capture(struct memprof_thread *thread, size_t depth) {
  (void)thread, (void)depth;
  return NULL;
}
static struct memprof_thread *current(struct memprof *of) { return (void)of, &self; }
static const struct memprof_ops ops = {
    .parallel = true, .rearm = rearm, .capture = capture, .current = current};

static void begin(double rate) {
  memset(&engine, 0, sizeof engine);
  memset(&owner, 0, sizeof owner);
  memset(&self, 0, sizeof self);
  memprof_open(&engine, &ops, NULL, 1000);
  memprof_owner_create(&owner, &engine, NULL, NULL);
  memprof_thread_attach(&self, &owner, NULL, NULL);
  wn_memprof_options options = {.sampling_rate = rate, .seed = 7};
  wn_tracker tracker = {.context = NULL};
  assert_int_equal(memprof_start_immediate(&self, &options, &tracker, &profile), WN_OK);
}

static void end(void) {
  assert_int_equal(memprof_stop(&self), WN_OK);
  assert_int_equal(wn_memprof_discard(profile), WN_OK);
  memprof_thread_detach(&self);
  memprof_owner_end(&owner);
  memprof_close(&engine);
}

/* ---- tests ---- */

static void the_block_at_hand_has_the_old_rate(void **state) {
  (void)state;
  begin(1);
  int64_t left = memprof_gap(&self);
  left -= 10;
  assert_int_equal(memprof_hits(&self, &left), 10);
  assert_true(memprof_trial_rate(&self) == 1);
  memprof_set_rate(profile, 0);
  left -= 10;
  assert_int_equal(memprof_hits(&self, &left), 10); /* it was drawn before */
  assert_true(memprof_trial_rate(&self) == 1 && left > INT64_MAX / 4);
  left = -1; /* as if so many words had come */
  assert_int_equal(memprof_hits_after_cut(&self, &left), 0);
  assert_true(memprof_trial_rate(&self) == 0);
  memprof_set_rate(profile, 1);
  left = -10; /* a cut: the block at hand has no sample, the next one has */
  assert_int_equal(memprof_hits_after_cut(&self, &left), 0);
  assert_true(memprof_trial_rate(&self) == 0 && left == 0);
  left -= 5;
  assert_int_equal(memprof_hits(&self, &left), 5);
  assert_true(memprof_trial_rate(&self) == 1);
  end();
}

static void words_that_end_no_count_have_its_rate(void **state) {
  (void)state;
  begin(1e-6);
  int64_t left = memprof_gap(&self);
  memprof_set_rate(profile, 1e-3);
  memprof_counted(&self);
  assert_true(memprof_trial_rate(&self) == 1e-6);
  left = -1;
  memprof_hits(&self, &left);
  assert_true(memprof_trial_rate(&self) == 1e-6);
  memprof_counted(&self);
  assert_true(memprof_trial_rate(&self) == 1e-3);
  end();
}

static void a_profile_that_does_not_sample_has_no_rate_to_change(void **state) {
  (void)state;
  begin(1);
  wn_profile *old = profile;
  wn_memprof_options options = {.sampling_rate = 1};
  wn_tracker tracker = {.context = NULL};
  assert_int_equal(memprof_stop(&self), WN_OK);
  memprof_set_rate(old, 0.5);
  assert_int_equal(wn_memprof_discard(old), WN_OK);
  assert_int_equal(memprof_start_immediate(&self, &options, &tracker, &profile), WN_OK);
  memprof_set_rate(old, 0);
  int64_t left = memprof_gap(&self) - 3;
  assert_int_equal(memprof_hits(&self, &left), 3);
  end();
}

/* The number of samples at each rate is that of its words, though counts are cut anywhere, and the
 * rate changes after each few blocks in a way that depends on the samples. */
static void each_rate_has_its_number_of_samples(void **state) {
  (void)state;
  enum { RATES = 3, BLOCKS = 3000000, PIECE = 300 };
  static const double rates[RATES] = {0.05, 0.002, 0.0005};
  double words_at[RATES] = {0}, hits_at[RATES] = {0};
  struct random random;
  random_seed(&random, 3, 0, 0);
  begin(rates[0]);
  int64_t left = 0;
  bool is_cut = true;
  for (int i = 0; i < BLOCKS; i++) {
    int64_t words = 1 + (int64_t)(random_bits(&random) % 40);
    size_t hits = 0;
    left -= words;
    if (left < 0) {
      hits = is_cut ? memprof_hits_after_cut(&self, &left) : memprof_hits(&self, &left);
      is_cut = left > PIECE;
      if (is_cut) left = PIECE;
    } else {
      memprof_counted(&self);
    }
    int rate = 0;
    while (rates[rate] != memprof_trial_rate(&self)) assert_true(++rate < RATES);
    words_at[rate] += (double)words;
    hits_at[rate] += (double)hits;
    if (i % 50 == 49) memprof_set_rate(profile, rates[hits ? 1 : random_bits(&random) % RATES]);
  }
  for (int i = 0; i < RATES; i++) {
    double expected = words_at[i] * rates[i];
    assert_true(expected > 500);
    assert_true(fabs(hits_at[i] - expected) < 4.5 * sqrt(expected));
  }
  end();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_block_at_hand_has_the_old_rate),
                                     cmocka_unit_test(words_that_end_no_count_have_its_rate),
                                     cmocka_unit_test(a_profile_that_does_not_sample_has_no_rate_to_change),
                                     cmocka_unit_test(each_rate_has_its_number_of_samples)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
