/* Random numbers, of a sequence for each thread. */
#ifndef WINNOW_RANDOM_H
#define WINNOW_RANDOM_H

/* The distance in words to the next one that is sampled, at least 1. */
long winnow_next_sample(double rate);

#endif
/* SPDX-License-Identifier: MIT */
