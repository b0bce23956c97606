/* A source that leaves out some events of another one, or has another rate; all else is as in that
 * one. Recordings with a part of a trace's samples (thinning.h) are read from it. */
#pragma once

#include "sources/source.h"

struct source_filter {
  double rate; /* of the filtered source */
  /* Whether an event stays. NULL: all do. */
  bool (*keeps)(const struct trace_event *event, void *context);
  void *context; /* of `keeps`; needed only until the last event is read */
};

/* Takes ownership of the inner source, even on an error. WN_ENOMEM. */
wn_status source_filtered(struct source *inner, const struct source_filter *filter, struct source **source);
/* SPDX-License-Identifier: MIT */
