/* Gaps by inversion: for u uniform in (0, 1], 1 + floor(log(u) / log(1 - lambda)) is geometric.
 * Source: L. Devroye, "Non-Uniform Random Variate Generation", 1986, X.2. docs/sampling.md bounds the error. */
#include "memprof/sampler.h"

#include "base/check.h"
#include <math.h>
#include <string.h>

static const double NEVER = 1;

/* log(m) for sqrt(1/2) <= m < sqrt(2), as 2 atanh(s) with s = (m - 1) / (m + 1): s² <= 0.029438. The polynomial is that of
 * degree 5 in s² which agrees with atanh(s) / s at the six zeros of the Chebyshev polynomial of that interval; it is off by
 * 2.7e-14 at most, where the power series needs degree 7 for 3.3e-14. Its terms are paired so that they overlap in the
 * processor. */
static inline double log_near_one(double m) {
  double s = (m - 1) / (m + 1), z = s * s, z2 = z * z;
  double low = 0.9999999999999736 + z * 0.3333333333978963;
  double middle = 0.1999999744591619 + z * 0.14286083072937864;
  double high = 0.11087124955038745 + z * 0.09804047819876527;
  return 2 * s * (low + z2 * (middle + z2 * high));
}

static inline double log_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const uint64_t root_half = UINT64_C(0x3fe6a09e667f3bcd); /* the bits of sqrt(1/2) */
  int64_t exponent = (int64_t)(bits - root_half) >> 52;
  bits -= (uint64_t)exponent << 52;
  double m;
  memcpy(&m, &bits, sizeof m);
  return (double)exponent * 0x1.62e42fefa39efp-1 + log_near_one(m); /* log(2) */
}

/* log(1 + x) for -1 < x <= 0: the rounding error of 1 + x is made good by the quotient.
 * Source: W. Kahan, in "HP-15C Advanced Functions Handbook", 1982, appendix. */
static double log1p_of(double x) {
  double sum = 1 + x;
  return sum == 1 ? x : log_of(sum) * (x / (sum - 1));
}

static inline int64_t gap(double unit, double inverse_log) {
  double failures = log_of(unit) * inverse_log;
  return failures < (double)SAMPLER_MOST ? 1 + (int64_t)failures : SAMPLER_MOST;
}

/* ---- shared ---- */

double sampler_log(double x) { return log_of(x); }

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
    for (unsigned i = 0; i < SAMPLER_BATCH; i++) sampler->gaps[i] = gap(random_unit(&random), inverse_log);
  }
  sampler->random = random;
  sampler->used = 0;
}
/* SPDX-License-Identifier: MIT */
