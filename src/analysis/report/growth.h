/* Whether what a site still holds at the end has grown steadily over the run, or was allocated at
 * once: leaks apart from caches. growth.c explains the method. */
#pragma once

#include "analysis/report/ages.h"

/* A row of this list: the name in C, the word in JSON, and the words for people. */
#define GROWTH_KINDS(KIND)                 \
  KIND(FEW, "few", "few samples")          \
  KIND(STEADY, "steady", "grows steadily") \
  KIND(ONCE, "once", "filled once")        \
  KIND(RECENT, "recent", "new blocks")     \
  KIND(UNEVEN, "uneven", "uneven")

enum growth_kind {
#define GROWTH_KIND(NAME, ...) GROWTH_##NAME,
  GROWTH_KINDS(GROWTH_KIND)
#undef GROWTH_KIND
      GROWTH_KIND_COUNT
};

/* "steady", and "grows steadily". */
const char *growth_word(enum growth_kind kind);
const char *growth_text(enum growth_kind kind);

struct growth {
  enum growth_kind kind;
  bool sure;                 /* STEADY, and to the end for certain: SURE in growth.c */
  bool replaced;             /* old blocks go, too: REPLACED */
  bool queued;               /* none of its blocks stays, and it becomes more and more: QUEUED */
  struct estimate bytes;     /* alive at the end */
  struct estimate middle;    /* of these, what came after the warm-up and before the last quarter */
  struct estimate lately;    /* by how much it grew in the last quarter of the run; may be below 0 */
  struct estimate net;       /* by how much it grew since the end of the warm-up; may be below 0 */
  struct estimate rate;      /* the slope, in bytes a second; only of STEADY it is a forecast */
  double alive[AGE_CLASSES]; /* the amounts of the age classes, oldest first: estimates */
};

/* `unit` is that of estimate_of for bytes. */
struct growth growth_of(const struct ages *ages, struct stretch stretch, double unit);

/* The same of a group; without its largest block where the others surely grow (LARGEST). */
struct growth growth_of_group(const struct group_ages *group, const struct samples *samples,
                              struct stretch stretch, double unit);
/* SPDX-License-Identifier: MIT */
