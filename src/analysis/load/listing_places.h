/* The places of a recording, for its listing: CHOICE in listing.h. */
#pragma once

#include "analysis/load/recording.h"

struct place {
  uint32_t file, line;
  uint32_t module; /* of the trace: one that has the place */
  double weight;
};

/* The places, the heaviest first. The caller frees them. NULL: not enough memory. */
struct place *listing_places(const struct recording *recording, size_t *count);
/* SPDX-License-Identifier: MIT */
