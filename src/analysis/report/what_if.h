/* What another size of the minor heap would have kept from promotion. what_if.c explains the method.
 */
#pragma once

#include "analysis/load/timeline.h"

enum { WHAT_IF_SIZES = 4 };

/* Of the bytes that were promoted, the share that would not have been. Below 0: more would have
 * been. The true share is between `low` and `high`: what is not known of the times of deaths, and
 * what sampling leaves open. */
struct kept {
  double factor; /* of the size of the minor heap */
  double low, high;
};

struct what_if {
  double minor_words; /* allocated from one minor collection to the next, in the middle of the run */
  uint64_t samples;   /* of promoted blocks that count; 0: nothing is known */
  struct kept sizes[WHAT_IF_SIZES]; /* half as large; then larger ones */
};

/* For the blocks that `selects` selects (NULL: all). `unit` is that of estimate_of for bytes. False
 * without memory. */
bool what_if_make(const struct samples *samples, row_filter *selects, void *context, double unit,
                  struct what_if *what_if);
/* SPDX-License-Identifier: MIT */
