/* Makes recordings smaller: thins them, which keeps a part of the samples as if they had been
 * recorded at a lower rate, and rounds their times. */
#pragma once

#include "analysis/load/recording.h"

/* Makes the rate of a recording `share` times what it is, 0 < share <= 1. Of small blocks about
 * that share is kept, of large ones more. Estimates stay unbiased, and their intervals, which get
 * wider, hold. All that is not sampled stays: measurements of memory, mappings, collections. Which
 * blocks are kept depends on `seed` alone. After WN_ENOMEM the recording can only be freed. */
wn_status recording_thin(struct recording *recording, double share, uint64_t seed);

/* The same for samples that are no recording yet. Draws are those of sources/thinning.h. Where traces
 * have different rates, each gets `share` times its own. */
wn_status samples_thin(struct samples *samples, double share, uint64_t seed);

/* Rounds the times of all blocks down to multiples of a unit. After WN_ENOMEM the recording can only
 * be freed. */
wn_status recording_round(struct recording *recording, uint64_t unit_ns);
/* SPDX-License-Identifier: MIT */
