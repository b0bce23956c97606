/* The sampling law's word count, and its rates. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A malloc block of n bytes counts ceil(n / 8) + 1 words: malloc keeps a header word too. Wraps for
 * n > SIZE_MAX - 15, which no allocator can serve. */
static inline size_t malloc_words(size_t bytes) { return (bytes + 15) >> 3; }

/* A rate is the probability of a sample for each word, or 0: no samples. The least one stands for a
 * sample every 8 GB. Readers refuse a file with another rate, so that a weight, the inverse of a
 * probability, is at most 1e9. */
#define RATE_LEAST 1e-9
static inline bool rate_is_valid(double rate) { return rate == 0 || (rate >= RATE_LEAST && rate <= 1); }
/* SPDX-License-Identifier: MIT */
