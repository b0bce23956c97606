/* Chooses which samples of a source to load if there are more than a bound, in memory that depends
 * on the bound alone.
 *
 * A trace that is to be thinned while it is loaded is read twice. The first reading finds the share
 * with which as many samples are left as the bound allows. It keeps those blocks whose least share
 * (thinning.h) is smallest, never more than twice the bound; the share is the smallest one that is
 * left out, so estimates stay unbiased [1]. In the second reading survey_keeps passes the records
 * of the chosen blocks.
 *
 * A block that was left out at its first sample may enter later, as it grows. A resize tells
 * neither when the block was first sampled nor whether its sample stands behind it in the file. So
 * the survey chooses all blocks that may have entered by then, which are few more, and
 * samples_thin, which sees whole blocks, makes the exact choice.
 *
 * [1] N. Duffield, C. Lund, M. Thorup: Priority sampling for estimation of arbitrary subset sums.
 *     Journal of the ACM 54(6), 2007. */
#pragma once

#include "sources/source.h"
#include "sources/thinning.h"

enum { SURVEY_RATES = 64 };

struct survey {
  uint64_t seed;
  /* The rates of the trials so far, as far as there is room. */
  double rates[SURVEY_RATES];
  unsigned rate_count;
  size_t most;      /* the bound */
  uint64_t samples; /* that the source has */
  double share;     /* 1: all of them are within the bound */
  /* While surveying: the blocks with the smallest least shares. */
  struct candidate {
    uint64_t block;
    double least;
  } * candidates;
  size_t count, capacity;
  /* Afterwards: the chosen blocks. An open table, 0 in empty slots; block 0 has a flag. */
  uint64_t *slots;
  size_t slot_mask, chosen;
  bool zero;
};

typedef void survey_progress(double done, void *context);

/* Reads all events of a source. WN_ENOMEM: nothing is to be destroyed. */
wn_status survey_source(struct survey *survey, struct source *source, size_t most, uint64_t seed,
                        survey_progress *progress, void *context);
void survey_destroy(struct survey *survey);

/* Whether an event is one of a chosen block, or of no block. A source_keeps;
 * `survey` is a struct survey. Blocks that the survey did not see, since they were sampled while it
 * read, are chosen as they come; of these, the few that would enter as they grow are left out. */
bool survey_keeps(const struct trace_event *event, void *survey);
/* SPDX-License-Identifier: MIT */
