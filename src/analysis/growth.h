/* Whether what a site still holds at the end has grown steadily over the run, or was allocated at
 * once: leaks apart from caches. growth.c explains the method.
 *
 * AGE CLASSES: the run is cut into AGE_CLASSES stretches of equal length, and each block that is
 * alive at the end belongs to the stretch in which it was allocated (OWNER in samples.h). */
#ifndef ANALYSIS_GROWTH_H
#define ANALYSIS_GROWTH_H

#include "analysis/samples.h"

enum { AGE_CLASSES = 16 };

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
  struct estimate rate;      /* the slope, in bytes a second; only of STEADY it is a forecast */
  double alive[AGE_CLASSES]; /* bytes alive at the end, by age class, oldest first: estimates */
};

/* The sums of a group from which its growth is told. All zeros: no rows. */
struct ages {
  double alive[AGE_CLASSES];
  uint64_t samples[AGE_CLASSES];
  struct sum all;   /* bytes alive at the end */
  struct sum slope; /* the same times the weights of the slope */
  struct net {
    struct sum came, went; /* allocated since and alive at the end; live at that moment, but not at the end */
  } since[2];              /* the end of the warm-up; the beginning of the last quarter after it */
};

/* Whether ages_add counts a row: it is live at the end, or at one of the two moments. */
bool ages_need(const struct row *row, uint64_t end_ns);
void ages_add(struct ages *ages, const struct row *row, uint64_t end_ns);

/* `unit` is that of estimate_of for bytes. `partial`: records are missing; then no growth is sure. */
struct growth growth_of(const struct ages *ages, uint64_t end_ns, double unit, bool partial);

#endif
/* SPDX-License-Identifier: MIT */
