/* Gaps by inversion: for u uniform in (0, 1], 1 + floor(log(u) / log(1 - lambda)) is geometric.
 * Source: L. Devroye, "Non-Uniform Random Variate Generation", 1986, X.2. docs/sampling.md bounds
 * the error. */
#include "memprof/sampler.h"

#include "base/check.h"
#include <math.h>
#include <string.h>

static const double NEVER = 1;

/* Two of each, since the processor computes with both at once. */
typedef double pair __attribute__((vector_size(16)));
typedef uint64_t pair_bits __attribute__((vector_size(16)));

/* log(m) for sqrt(1/2) <= m < sqrt(2), as 2 atanh(s) with s = (m - 1) / (m + 1): s² <= 0.029438.
 * The polynomial is that of degree 5 in s² which agrees with atanh(s) / s at the six zeros of the
 * Chebyshev polynomial of that interval; it is off by 2.7e-14 at most, where the power series needs
 * degree 7 for 3.3e-14. Its terms are paired so that they overlap in the processor. */
static inline pair log_near_one(pair m) {
  pair s = (m - 1) / (m + 1), z = s * s, z2 = z * z;
  pair low = 0.9999999999999736 + z * 0.3333333333978963;
  pair middle = 0.1999999744591619 + z * 0.14286083072937864;
  pair high = 0.11087124955038745 + z * 0.09804047819876527;
  return 2 * s * (low + z2 * (middle + z2 * high));
}

/* x = 2^exponent m. The exponent becomes a number as the last digits of 2^52. */
static inline pair log_of(pair x) {
  const uint64_t root_half = UINT64_C(0x3fe6a09e667f3bcd), bias = 1023, one = bias << 52; /* sqrt(1/2), 1 */
  pair_bits bits = (pair_bits)x, biased = (bits - (root_half - one)) >> 52;
  pair m = (pair)(bits - (biased << 52) + one);
  pair exponent = (pair)(biased | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023);
  return exponent * 0x1.62e42fefa39efp-1 + log_near_one(m); /* log(2) */
}

double sampler_log(double x) { return log_of((pair){x, x})[0]; }

/* log(1 + x) for -1 < x <= 0: the rounding error of 1 + x is made good by the quotient.
 * Source: W. Kahan, in "HP-15C Advanced Functions Handbook", 1982, appendix. */
static double log1p_of(double x) {
  double sum = 1 + x;
  return sum == 1 ? x : sampler_log(sum) * (x / (sum - 1));
}

static inline int64_t gap(double failures) {
  return failures < (double)SAMPLER_MOST ? 1 + (int64_t)failures : SAMPLER_MOST;
}

/* ---- shared ---- */

void sampler_init(struct sampler *sampler, double rate, uint64_t seed, uint64_t profile, uint64_t sequence) {
  ASSERT(rate >= 0 && rate <= 1);
  random_seed(&sampler->random, seed, profile, sequence);
  sampler->used = SAMPLER_BATCH;
  sampler->inverse_log = rate == 1 ? -0.0 : rate == 0 ? NEVER : 1 / log1p_of(-rate);
  if (isinf(sampler->inverse_log)) sampler->inverse_log = NEVER;
}

void sampler_refill(struct sampler *sampler) {
  double inverse_log = sampler->inverse_log;
  struct random random = sampler->random;
  if (inverse_log == NEVER) {
    for (unsigned i = 0; i < SAMPLER_BATCH; i++) sampler->gaps[i] = SAMPLER_NEVER;
  } else {
    for (unsigned i = 0; i < SAMPLER_BATCH; i += 2) {
      double first = random_unit(&random), second = random_unit(&random);
      pair failures = log_of((pair){first, second}) * inverse_log;
      sampler->gaps[i] = gap(failures[0]);
      sampler->gaps[i + 1] = gap(failures[1]);
    }
  }
  sampler->random = random;
  sampler->used = 0;
}
/* SPDX-License-Identifier: MIT */
