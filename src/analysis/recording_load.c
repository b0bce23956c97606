/* Loads a recording: first the rows, then names, wrappers and source lines. On an error nothing is left. */
#include "analysis/recording.h"

#include "base/error.h"
#include <stdlib.h>

/* A stage of loading, as the progress callback is told. */
struct stage {
  const struct recording_options *options;
  const char *doing;
};

static void show(double done, void *context) {
  const struct stage *stage = context;
  if (stage->options->progress)
    stage->options->progress(stage->doing, done, stage->options->progress_context);
}

static wn_status name_rows(struct recording *recording, const struct recording_options *options) {
  struct stage naming = {options, "Looking up names"};
  wn_status error = names_resolve(recording->samples, &options->names, show, &naming, &recording->names);
  if (error) return error;
  error = wrappers_find(recording->samples, &recording->names, &options->wrappers, &recording->wrappers);
  if (error || !options->lines || listing_read(recording, options->names.search)) return error;
  return error_set(WN_ENOMEM, "not enough memory for the source lines");
}

/* ---- shared ---- */

wn_status recording_load(const char *path, const struct recording_options *options,
                         struct recording **recording) {
  struct source *source;
  wn_status error = source_open(path, &source);
  return error ? error : recording_read(source, path, options, recording);
}

wn_status recording_read(struct source *source, const char *name, const struct recording_options *options,
                         struct recording **result) {
  struct stage reading = {options, "Reading"};
  struct recording *recording = calloc(1, sizeof *recording);
  if (!recording) {
    source_close(source);
    return error_set(WN_ENOMEM, "%s: not enough memory to read it", name);
  }
  wn_status error = samples_read(source, name, show, &reading, &recording->samples);
  if (!error) error = name_rows(recording, options);
  if (error) {
    recording_free(recording);
    return error;
  }
  recording_describe(recording);
  *result = recording;
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
