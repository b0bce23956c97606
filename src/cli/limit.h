/* The limits of `winnow diff --fail-if`, such as 'held > +10M' or 'allocated > +5%'. */
#pragma once

#include "analysis/compare/comparison.h"

struct limit {
  const char *text; /* as the user typed it */
  enum measure measure;
  bool above;    /* fails if the change is more than `amount`; false: if it is less */
  bool relative; /* `amount` is a fraction of what was before; false: bytes */
  double amount;
};

/* WN_EINVAL: wn_last_error quotes the text and says what was expected. `text` is kept. */
wn_status limit_parse(const char *text, struct limit *limit);

/* Whether a change is beyond the limit: the difference is sure, and its estimate is beyond. */
bool limit_is_passed(const struct limit *limit, const struct change *bytes, bool sure);
/* SPDX-License-Identifier: MIT */
