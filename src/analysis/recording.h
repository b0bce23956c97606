/* A trace, loaded: its rows, their names, and which functions are wrappers. Any number of reports
 * can be asked of it (report.h), at once and one after the other; none changes it. */
#ifndef ANALYSIS_RECORDING_H
#define ANALYSIS_RECORDING_H

#include "analysis/wrappers.h"

/* Called now and then: what is being done, and how much of it is, 0 to 1. */
typedef void recording_progress(const char *doing, double done, void *context);

struct recording_options {
  struct names_options names;
  struct wrappers_options wrappers;
  recording_progress *progress; /* NULL: nobody is told */
  void *progress_context;
};

/* Constant once it is loaded. */
struct recording {
  struct samples *samples;
  struct names names;
  struct wrappers wrappers; /* those that stacks end in, which are passed over */
  double rate;
  double byte_unit; /* what one sample of bytes stands for (estimate_of) */
  bool
      partial; /* records are missing, so that no number is exact, and no range holds the truth of the whole */
};

/* wn_last_error tells what is wrong with the trace, or with the options (WN_EINVAL). */
wn_status recording_load(const char *path, const struct recording_options *options,
                         struct recording **recording);

/* The same of an open source, which it owns from then on, also if it fails. `name` is for
 * messages. */
wn_status recording_read(struct source *source, const char *name, const struct recording_options *options,
                         struct recording **recording);
void recording_free(struct recording *recording);

#endif
/* SPDX-License-Identifier: MIT */
