/* When a group came to hold the bytes that are alive at a moment, by age class: at the end of the
 * run, or when the program began to close down (CLOSING in recording.h). What happens later does
 * not count: "the end" is this moment here and in growth.h, which judges the classes.
 *
 * AGE CLASSES: the run is cut into AGE_CLASSES parts of equal length, t_i to t_{i+1}. Let H(t) be
 * the bytes that the blocks which are alive at the end had at time t: 0 before a block was born, its
 * size after. Class i has the amount x_i = H(t_{i+1}) - H(t_i), and all amounts together are the bytes
 * that are alive at the end. A block that was never resized is in the class of its birth. One that
 * realloc made larger is in each class in which it grew, by so much. An amount is below 0 where blocks
 * shrank, or passed to the function that made them larger (OWNER in samples.h).
 *
 * A stretch of the run can be cut in its place: class 0 then has all that came before, too. */
#pragma once

#include "analysis/load/samples.h"

/* The first WARM_UP classes are the warm-up, in which every program grows. Blocks of the newest class
 * may only be in use. The JUDGED classes between them are judged. */
enum { AGE_CLASSES = 16, WARM_UP = 3, JUDGED = 12, QUARTERS = 4, QUARTER = JUDGED / QUARTERS };

/* Blocks of the classes before this one are old as the last quarter begins. */
enum { OLD = AGE_CLASSES / 2 };

/* What is cut: the run, or a part of it up to its end. */
struct stretch {
  uint64_t begin_ns, end_ns;
};

/* Weighted sums of the amounts: the slope over the judged classes, the bytes that came in the
 * judged classes but for their last quarter, and what H has grown since the end of the warm-up,
 * since the half of the judged classes, and since the beginning of their last quarter. */
enum trend { TREND_SLOPE, TREND_MIDDLE, TREND_SINCE_WARM_UP, TREND_SINCE_HALF, TREND_SINCE_LAST, TRENDS };

/* A trend of a group: the sums over the blocks that add to it, and over those that take from it. */
struct trend_sums {
  struct sum gain, loss;
};

/* The sums of a group. All zeros: no rows. */
struct ages {
  double alive[AGE_CLASSES];     /* x_i: an estimate */
  uint64_t samples[AGE_CLASSES]; /* sampled blocks that were born or grew in the class */
  struct sum all;                /* bytes alive at the end */
  double old_gone; /* bytes of blocks from before OLD that went in the last quarter: an estimate */
  double regrown;  /* bytes by which their blocks grew again after they had shrunk: an estimate */
  /* Of blocks that are alive at the end; and as a loss since a moment, those that were live then and are
   * not alive at the end. */
  struct trend_sums trends[TRENDS];
};

/* Whether ages_add counts a row. */
bool ages_need(const struct row *row, struct stretch stretch);

/* Adds one block. `rows` are the numbers of its rows that the group has and that are needed, in order. */
void ages_add(struct ages *ages, const struct samples *samples, struct stretch stretch, const uint32_t *rows,
              size_t count);

/* The rows of one block, as of ages_add. A block of one row has none in `rows`. */
struct block_rows {
  const uint32_t *rows;
  size_t count;
  uint32_t first;
  double bytes; /* an estimate */
};

/* A group with the largest of its blocks that are alive at the end, and of those that are not. */
struct group_ages {
  struct ages ages;
  struct block_rows largest, gone;
};

/* As ages_add. `rows` stay there as long as `group` is used, if there are several. */
void group_ages_add(struct group_ages *group, const struct samples *samples, struct stretch stretch,
                    const uint32_t *rows, size_t count);

/* The ages without the largest block, and without the largest one that is gone, if that was smaller: it may
 * have been copied into the other. */
struct ages group_ages_without_largest(const struct group_ages *group, const struct samples *samples,
                                       struct stretch stretch);
/* SPDX-License-Identifier: MIT */
