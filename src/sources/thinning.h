/* The law by which samples are thinned: a share s of them is kept as if the recording had been made
 * at s times its rates.
 *
 * Sampling hits each word of a block with the probability λ of its trial, and the block is in the
 * sample from its first hit on. Thinning keeps each hit with probability s, and the block is in the
 * thinned sample from its first kept hit on. That is sampling at the rates sλ. Large blocks have many
 * hits, so more of them are kept.
 *
 * Of a sampled block it is known that its first hit X came when its words that had a trial rose
 * from v to w (v = 0 at its birth). So these numbers are drawn:
 * 1. X itself, geometric at the rate λ, among the words after v up to w.
 * 2. Whether X is kept: a uniform number less than s.
 * 3. If it is not, how many words later the first kept hit comes: geometric at the rate sλ; one number
 *    for each rate that the block's later trials had, among the words of that rate.
 * All come from a hash of the block's number and a seed. So each record of a block leads to the same
 * decision, without anything that must be remembered. With fixed draws, the block is in the thinned
 * sample exactly if s is above a number that depends on the draws and on the block's words. So the
 * samples of smaller shares are parts of those of larger shares. */
#pragma once

#include <stdint.h>

/* When a block was first sampled: as its words rose from `before` to `words`, at the rate `rate`. */
struct first_trial {
  uint64_t before, words;
  double rate;
};

/* Where the words lie that follow the first hit, or X, among the words of the first trial. */
double thinning_words_after(uint64_t seed, uint64_t block, struct first_trial first);

/* The first hit is kept if the share is above this number. */
double thinning_first_share(uint64_t seed, uint64_t block);

/* One of `words` that had a trial at a rate, after the first hit, is a kept hit if the share is
 * above this number, which does not rise with the words. */
double thinning_later_share(uint64_t seed, uint64_t block, double rate, double words);
/* SPDX-License-Identifier: MIT */
