/* With which share the hits of a block stay (sources/thinning.h), as halvings of the rate.
 *
 * A block that is thinned has a wanted rate: the largest rate of all samples, halved so and so many
 * times, but at least the least rate that a trace can have. Its share is the wanted rate divided by
 * its own, or 1. Its draws need no share: it stays if its share is above a number that is known
 * when its records are read, its least share. So it is known how many halvings it survives. */
#pragma once

#include <stdint.h>

/* After so many halvings of any rate the wanted rate is the least that there is. */
enum { HALVINGS_LAST = 30, HALVINGS_ALWAYS = HALVINGS_LAST + 1 };

struct shares {
  uint64_t seed; /* of the draws */
  double rate;   /* the largest of the samples */
};

/* The rate that a block has at most after so many halvings; without a halving, any. */
double shares_wanted(const struct shares *shares, int halvings);

/* The share of a block with this rate. */
double shares_of(const struct shares *shares, int halvings, double rate);

/* After how many halvings at most a block stays that has this rate and this least share;
 * HALVINGS_ALWAYS: after any number. */
unsigned shares_survived(const struct shares *shares, double rate, double least);
/* SPDX-License-Identifier: MIT */
