/* The sampling law, by chi-square tests with fixed seeds against GSL's distributions. */
#include "support/test.h"

#include "memprof/sampler.h"
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>

enum { BINS = 64 };

/* The chance of so large a deviation, and of so small a one, must both be credible. */
static void assert_credible(double statistic, double freedom) {
  double p = gsl_cdf_chisq_Q(statistic, freedom);
  if (p < 1e-5 || p > 1 - 1e-5)
    fail_msg("chi-square %g with %g degrees of freedom: p = %g", statistic, freedom, p);
}

/* Gaps in bins that are about equally likely; each bin's exact probability is a difference of
 * powers. */
static void check_gaps(double rate, uint64_t seed) {
  enum { DRAWS = 2000000 };
  int64_t last[BINS];
  size_t bins = 0;
  for (int i = 1; i < BINS; i++) {
    int64_t most = (int64_t)ceil(log1p(-(double)i / BINS) / log1p(-rate));
    if (most >= 1 && (!bins || most > last[bins - 1])) last[bins++] = most;
  }
  last[bins++] = INT64_MAX;
  double seen[BINS] = {0}, sum = 0;
  struct sampler sampler;
  sampler_init(&sampler, rate, seed, 1, 1);
  for (int i = 0; i < DRAWS; i++) {
    int64_t gap = sampler_gap(&sampler);
    assert_true(gap >= 1);
    size_t bin = 0;
    while (gap > last[bin]) bin++;
    seen[bin]++;
    sum += (double)gap;
  }
  double statistic = 0, above = 1;
  for (size_t bin = 0; bin < bins; bin++) {
    double beyond = bin + 1 == bins ? 0 : exp((double)last[bin] * log1p(-rate));
    double expected = DRAWS * (above - beyond);
    statistic += (seen[bin] - expected) * (seen[bin] - expected) / expected;
    above = beyond;
  }
  assert_credible(statistic, (double)bins - 1);
  double deviation = sqrt(1 - rate) / rate / sqrt(DRAWS);
  assert_true(fabs(sum / DRAWS - 1 / rate) < 4.5 * deviation);
}

static void gaps_are_geometric(void **state) { /* S1 */
  (void)state;
  const double rates[] = {0.9, 0.42, 1e-2, 1e-3, 1e-6};
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) check_gaps(rates[i], 11 + i);
}

/* The float logarithm of other samplers leaves only some gaps possible; here none is missing. */
static void every_gap_is_possible_at_a_rate_of_one_in_a_million(void **state) { /* S3, M10 */
  (void)state;
  static bool seen[1000];
  struct sampler sampler;
  sampler_init(&sampler, 1e-6, 5, 1, 1);
  for (int i = 0; i < 20000000; i++) {
    int64_t gap = sampler_gap(&sampler);
    if (gap < 1000) seen[gap] = true;
  }
  int different = 0;
  for (int i = 1; i < 1000; i++) different += seen[i];
  assert_in_range(different, 990, 999); /* 20 of each are expected */
}

/* The distribution of hits in blocks of one size, gaps carried over, against Binomial(words,
 * rate). */
static void check_hits(unsigned words, double rate, int blocks) {
  enum { MOST = 4096 };
  static double seen[MOST];
  for (int i = 0; i < MOST; i++) seen[i] = 0;
  struct sampler sampler;
  sampler_init(&sampler, rate, words, 2, 3);
  int64_t left = sampler_gap(&sampler) - 1;
  for (int i = 0; i < blocks; i++) {
    left -= words;
    size_t hits = sampler_hits(&sampler, &left);
    assert_true(hits <= words && hits < MOST && left >= 0);
    seen[hits]++;
  }
  double statistic = 0, expected = 0, found = 0, rest = 1;
  int bins = 0;
  for (unsigned k = 0; k < MOST && k <= words; k++) {
    double p = gsl_ran_binomial_pdf(k, rate, words);
    expected += p * blocks;
    found += seen[k];
    rest -= p;
    if (expected < 10 || (rest * blocks < 10 && k < words)) continue;
    statistic += (found - expected) * (found - expected) / expected;
    bins++;
    expected = found = 0;
  }
  if (expected > 0) statistic += (found - expected) * (found - expected) / expected;
  if (expected > 0) bins++;
  assert_true(bins > 1);
  assert_credible(statistic, bins - 1);
}

static void samples_of_a_block_are_binomial(void **state) { /* S2 */
  (void)state;
  const double rates[] = {0.9, 0.42, 1e-2, 1e-3};
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    check_hits(1, rates[i], 400000);
    check_hits(16, rates[i], 400000);
    check_hits(300, rates[i], 100000);
  }
  check_hits(300000, 1e-2, 5000);
  check_hits(300000, 1e-3, 20000);
  check_hits(300000, 1e-6, 400000);
}

static void rate_zero_and_rates_too_small_never_sample(void **state) { /* S5, M9 */
  (void)state;
  const double rates[] = {0, 4e-310, 5e-324};
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    struct sampler sampler;
    sampler_init(&sampler, rates[i], 1, 1, 1);
    for (int n = 0; n < 100; n++) assert_true(sampler_gap(&sampler) == SAMPLER_NEVER);
  }
}

static void a_tiny_rate_gives_gaps_up_to_the_limit(void **state) { /* S3 */
  (void)state;
  struct sampler sampler;
  sampler_init(&sampler, 1e-300, 1, 1, 1);
  for (int n = 0; n < 1000; n++) assert_true(sampler_gap(&sampler) == SAMPLER_MOST);
  sampler_init(&sampler, 1e-18, 1, 1, 1);
  for (int n = 0; n < 1000; n++)
    assert_true(sampler_gap(&sampler) >= 1 && sampler_gap(&sampler) <= SAMPLER_MOST);
}

static void rate_one_samples_every_word(void **state) {
  (void)state;
  struct sampler sampler;
  sampler_init(&sampler, 1, 1, 1, 1);
  int64_t left = sampler_gap(&sampler) - 1;
  assert_true(left == 0);
  const size_t words[] = {1, 2, 17, 300000, (size_t)1 << 40};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    left -= (int64_t)words[i];
    assert_true(sampler_hits(&sampler, &left) == words[i]);
    assert_true(left == 0);
  }
}

static void equal_seeds_repeat_and_each_number_makes_another_stream(void **state) { /* S8 */
  (void)state;
  const uint64_t triples[][3] = {{1, 1, 1}, {1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}};
  struct sampler samplers[5];
  for (int i = 0; i < 5; i++) sampler_init(&samplers[i], 1e-3, triples[i][0], triples[i][1], triples[i][2]);
  int equal[5] = {0};
  for (int n = 0; n < 1000; n++) {
    int64_t first = sampler_gap(&samplers[0]);
    for (int i = 1; i < 5; i++) equal[i] += sampler_gap(&samplers[i]) == first;
  }
  assert_int_equal(equal[1], 1000);
  for (int i = 2; i < 5; i++) assert_true(equal[i] < 20);
}

/* At rates so small that a gap has all the digits of a logarithm. */
static void a_stream_is_the_same_in_every_build(void **state) { /* S8 */
  (void)state;
  const double rates[] = {0.42, 1e-6, 1e-18};
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 3; i++) {
    struct sampler sampler;
    sampler_init(&sampler, rates[i], 7, 1, i);
    for (int n = 0; n < 100000; n++) sum = sum * 31 + (uint64_t)sampler_gap(&sampler);
  }
  assert_true(sum == UINT64_C(0xa93082cf7a8d14cc));
}

static void the_logarithm_is_exact_to_one_part_in_ten_million_millions(void **state) {
  (void)state;
  struct random random;
  random_seed(&random, 3, 0, 0);
  for (int i = 0; i < 2000000; i++) {
    double u = random_unit(&random);
    double x = i % 3 == 0   ? u
               : i % 3 == 1 ? 1 - u * 0x1p-20
                            : ldexp(u, (int)(random_bits(&random) % 600) - 300);
    long double truth = logl((long double)x);
    if (truth != 0) assert_true(fabsl((long double)sampler_log(x) - truth) <= 1e-13L * fabsl(truth));
  }
  assert_true(sampler_log(1) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gaps_are_geometric),
      cmocka_unit_test(every_gap_is_possible_at_a_rate_of_one_in_a_million),
      cmocka_unit_test(samples_of_a_block_are_binomial),
      cmocka_unit_test(rate_zero_and_rates_too_small_never_sample),
      cmocka_unit_test(a_tiny_rate_gives_gaps_up_to_the_limit),
      cmocka_unit_test(rate_one_samples_every_word),
      cmocka_unit_test(equal_seeds_repeat_and_each_number_makes_another_stream),
      cmocka_unit_test(a_stream_is_the_same_in_every_build),
      cmocka_unit_test(the_logarithm_is_exact_to_one_part_in_ten_million_millions),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
