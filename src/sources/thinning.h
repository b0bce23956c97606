/* The law by which samples are thinned: a share s of them is kept as if the recording had been made
 * at s times its rate λ.
 *
 * Sampling hits each word of a block with probability λ, and the block is in the sample from its
 * first hit on. Thinning keeps each hit with probability s, and the block is in the thinned sample
 * from its first kept hit on. That is sampling at the rate sλ. Large blocks have many hits, so more
 * of them are kept.
 *
 * Of a sampled block it is known that its first hit X came when its words that had a trial rose
 * from v to w (v = 0 at its birth). So three numbers are drawn:
 * 1. X itself, geometric at the rate λ, among the words after v up to w.
 * 2. Whether X is kept: a uniform number less than s.
 * 3. If it is not, how many words later the first kept hit comes: geometric at the rate sλ.
 * All three come from a hash of the block's number and a seed. So each record of a block leads to
 * the same decision, without anything that must be remembered. With fixed draws, the block is in
 * the thinned sample exactly if s is above a number that depends on the draws and on the block's
 * words. So the samples of smaller shares are parts of those of larger shares. */
#ifndef SOURCES_THINNING_H
#define SOURCES_THINNING_H

#include <stdint.h>

struct thinning {
  double rate; /* λ: of the samples that are thinned */
  uint64_t seed;
};

/* When a block was first sampled: as its words rose from `before` to `words`. */
struct first_trial {
  uint64_t before, words;
};

/* The block is in the thinned sample by the time it has so many words, if the share is above the
 * result, which is less than 1 and does not rise with the words. */
double thinning_least_share(const struct thinning *thinning, uint64_t block, struct first_trial first,
                            uint64_t words);

#endif
/* SPDX-License-Identifier: MIT */
