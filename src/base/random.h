/* Pseudo-random numbers: SplitMix64 to make seeds, xoshiro256++ for streams.
 * Sources: S. Vigna and D. Blackman, "Scrambled linear pseudorandom number generators", 2021. */
#pragma once

#include <stdint.h>

struct random {
  uint64_t state[4];
};

static inline uint64_t splitmix64(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* Begins the stream of a seed, of a profile and of a sequence of it, each 0 where there is none.
 * Streams of which one of the three differs are unrelated. */
static inline void random_seed(struct random *random, uint64_t seed, uint64_t profile, uint64_t sequence) {
  uint64_t mix = seed;
  uint64_t state = splitmix64(&mix) ^ profile;
  state = splitmix64(&state) ^ sequence;
  for (int i = 0; i < 4; i++) random->state[i] = splitmix64(&state);
}

/* 64 of them. */
static inline uint64_t random_bits(struct random *random) {
  uint64_t *s = random->state;
  uint64_t sum = s[0] + s[3];
  uint64_t result = ((sum << 23) | (sum >> 41)) + s[0];
  uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = (s[3] << 45) | (s[3] >> 19);
  return result;
}

/* Uniform in (0, 1], a multiple of 2^-53: never 0, so its logarithm is finite. */
static inline double random_unit(struct random *random) {
  return (double)((random_bits(random) >> 11) + 1) * 0x1p-53;
}
/* SPDX-License-Identifier: MIT */
