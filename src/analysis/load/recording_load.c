/* Loads a recording: first the rows, then names, wrappers and source lines. On an error nothing is
 * left. */
#include "analysis/load/recording.h"

#include "analysis/load/interpreter.h"
#include "analysis/load/names.h"
#include "analysis/load/namesakes.h"
#include "analysis/load/reduce.h"
#include "base/array.h"
#include "base/error.h"
#include "sources/files/open.h"
#include "sources/memory_bound.h"
#include "sources/survey.h"
#include <stdlib.h>

/* A file is surveyed only if it may have more samples than wanted. In each format a sample takes
 * more bytes than these. */
enum { SAMPLE_BYTES_LEAST = 4 };

/* One for all, so that a trace that is loaded again keeps the same blocks. */
enum { SEED = 1 };

/* A stage of loading, as the progress callback is told. */
struct stage {
  const struct recording_options *options;
  const char *doing;
};

static void recording_load_show(double done, void *context) {
  const struct stage *stage = context;
  if (stage->options->progress)
    stage->options->progress(stage->doing, done, stage->options->progress_context);
}

/* ---- functions without a name ---- */

/* The compiler may have inlined all of a stripped program into one function,
 * and a table with one row for it would say nothing. So each call by which a function without a name
 * allocates is a frame of its own, as if it were inlined there: "prog+0x113f" in "prog+0x1090". A reader
 * looks up its line by that address. Its callers are those of the function (chains_follow).
 *
 * A stack belongs to its innermost frame that is no wrapper: its owner. Where the owner has no
 * name, a frame for its call is put before it, as if the call had been inlined there: the node is
 * split. Only stacks of rows and mappings are looked at.
 *
 * An address stands for a name in two texts (names.h): `function` is where the function begins, and
 * `place` is where the call is. The frames of a node are consecutive, so those of all nodes are
 * copied to a larger array. */

static const struct frame *own_frame(const struct frames *frames) {
  size_t i = 0;
  while (i < frames->count && frames->frame[i].wrapper) i++;
  return i < frames->count ? &frames->frame[i] : NULL;
}

static void mark_owner(const struct samples *samples, const struct names *names, const struct row *row,
                       bool *splits) {
  uint32_t node = row->stack <= source_stack_count(samples->source) ? row->stack : 0;
  while (node) {
    struct frames frames = names_of(names, node);
    const struct frame *own = own_frame(&frames);
    if (own) splits[node] = own->place != own->function && builds_of(&names->builds, own->function);
    if (own) return;
    uint32_t parent = source_stack(samples->source, node).parent;
    node = parent < node ? parent : 0;
  }
}

static bool copy_frames(const struct names *names, const bool *splits, uint32_t node, struct names *to,
                        size_t *count, size_t *capacity) {
  struct frames frames = names_of(names, node);
  const struct frame *own = splits[node] ? own_frame(&frames) : NULL;
  to->first[node] = (uint32_t)*count;
  for (size_t i = 0; i < frames.count; i++) {
    struct frame frame = frames.frame[i];
    struct frame call = {
        .function = frame.place, .module = frame.module, .place = frame.place, .inlined = true};
    if (&frames.frame[i] == own && !ARRAY_ADD(to->frame, *count, *capacity, call)) return false;
    if (!ARRAY_ADD(to->frame, *count, *capacity, frame)) return false;
  }
  to->count[node] = (uint32_t)(*count - to->first[node]);
  return true;
}

static bool copy_all(const struct names *names, const bool *splits, uint32_t nodes, struct names *to) {
  size_t count = 0, capacity = 0;
  to->first = calloc((size_t)nodes + 1, sizeof *to->first);
  to->count = calloc((size_t)nodes + 1, sizeof *to->count);
  if (!to->first || !to->count) return false;
  for (uint32_t node = 1; node <= nodes; node++)
    if (!copy_frames(names, splits, node, to, &count, &capacity)) return false;
  return true;
}

/* Adds those frames. Called after the wrappers were found. WN_ENOMEM. */
static wn_status nameless_split(const struct samples *samples, struct names *names) {
  uint32_t nodes = source_stack_count(samples->source);
  bool *splits = calloc((size_t)nodes + 1, sizeof *splits);
  struct names split = {.frame = NULL};
  for (size_t i = 0; splits && i < samples->row_count; i++)
    mark_owner(samples, names, &samples->rows[i], splits);
  for (size_t i = 0; splits && i < samples->mapped.count; i++)
    mark_owner(samples, names, &samples->mapped.rows[i], splits);
  bool done = splits && copy_all(names, splits, nodes, &split);
  if (done) {
    struct names whole = *names;
    names->frame = split.frame, names->first = split.first, names->count = split.count;
    split = whole;
  }
  free(split.frame);
  free(split.first);
  free(split.count);
  free(splits);
  return done ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the names");
}

static wn_status name_rows(struct recording *recording, const struct recording_options *options) {
  wn_status error = names_resolve(recording->samples, &options->names, options->progress,
                                  options->progress_context, &recording->names);
  if (error) return error;
  error = wrappers_find(recording->samples, &recording->names, &options->wrappers, &recording->wrappers);
  if (!error) error = nameless_split(recording->samples, &recording->names);
  uint32_t nodes = source_stack_count(recording->samples->source);
  if (!error) error = interpreter_set_homes(&recording->names, nodes);
  if (!error) error = namesakes_rename(&recording->names, nodes);
  if (error || !options->lines || listing_read(recording, options->names.search)) return error;
  return error_set(WN_ENOMEM, "not enough memory for the source lines");
}

/* ---- rows ---- */

/* What a recording is loaded from, and its name for messages. */
struct files {
  const struct joined_part *parts;
  size_t count;
  const char *name;
};

static wn_status open_files(const struct files *files, struct source **source) {
  return files->count == 1 ? source_open(files->parts->path, source)
                           : joined_open(files->parts, files->count, source);
}

static uint64_t recording_load_bytes_of(const struct files *files) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < files->count; i++)
    if (files->parts[i].selected) bytes += memory_bound_file_bytes(files->parts[i].path);
  return bytes;
}

static wn_status recording_load_read_all(struct source *source, const char *name,
                                         const struct recording_options *options,
                                         struct recording *recording) {
  struct stage reading = {options, "Reading"};
  return samples_read(source, name, recording_load_show, &reading, &recording->samples);
}

/* Reads the chosen samples. Those that only may have been chosen are dropped by samples_thin. */
static wn_status read_chosen(struct survey *survey, const struct files *files,
                             const struct recording_options *options, struct recording *recording) {
  struct source *source;
  wn_status error = open_files(files, &source);
  if (error) return error;
  source_filter(source, survey_keeps, survey);
  error = recording_load_read_all(source, files->name, options, recording);
  if (!error) error = samples_thin(recording->samples, survey->share, survey->seed);
  if (!error) recording->kept = (double)recording->samples->sampled_blocks / (double)survey->samples;
  return error;
}

static wn_status survey_files(struct survey *survey, const struct files *files,
                              const struct recording_options *options) {
  struct stage counting = {options, "Counting samples"};
  struct source *source;
  wn_status error = open_files(files, &source);
  if (error) return error;
  if (!source_limits(source)->totals) /* which have no samples to choose from */
    error = survey_source(survey, source, options->samples_most, SEED, recording_load_show, &counting);
  source_close(source);
  return error;
}

static wn_status recording_load_read_whole(const struct files *files, const struct recording_options *options,
                                           struct recording *recording) {
  struct source *source;
  wn_status error = open_files(files, &source);
  if (!error) error = recording_load_read_all(source, files->name, options, recording);
  return error;
}

static wn_status read_files(const struct files *files, const struct recording_options *options,
                            struct recording *recording) {
  struct survey survey = {.share = 1};
  wn_status error = WN_OK;
  if (options->samples_most && recording_load_bytes_of(files) / SAMPLE_BYTES_LEAST > options->samples_most)
    error = survey_files(&survey, files, options);
  if (error) return error;
  error = survey.share < 1 ? read_chosen(&survey, files, options, recording)
                           : recording_load_read_whole(files, options, recording);
  survey_destroy(&survey);
  return error;
}

/* Completes a recording whose rows were read, unless there was an error. */
static wn_status recording_load_complete(struct recording *recording, wn_status error,
                                         const struct recording_options *options, struct recording **result) {
  if (!error) error = name_rows(recording, options);
  if (error) {
    recording_free(recording);
    return error;
  }
  recording_describe(recording);
  *result = recording;
  return WN_OK;
}

/* ---- shared ---- */

wn_status recording_load(const char *path, const struct recording_options *options,
                         struct recording **result) {
  return recording_load_joined(&(struct joined_part){.path = path, .selected = true}, 1, path, options,
                               result);
}

wn_status recording_load_joined(const struct joined_part *parts, size_t count, const char *name,
                                const struct recording_options *options, struct recording **result) {
  struct files files = {parts, count, name};
  struct recording *recording = calloc(1, sizeof *recording);
  if (!recording) return error_set(WN_ENOMEM, "%s: not enough memory to read it", name);
  memory_bound_begin(recording_load_bytes_of(&files));
  wn_status error = memory_bound_end(read_files(&files, options, recording));
  if (!error && count == 1) recording->samples->processes->writing = parts->writing;
  return recording_load_complete(recording, error, options, result);
}

wn_status recording_read(struct source *source, const char *name, const struct recording_options *options,
                         struct recording **result) {
  struct recording *recording = calloc(1, sizeof *recording);
  if (!recording) {
    source_close(source);
    return error_set(WN_ENOMEM, "%s: not enough memory to read it", name);
  }
  return recording_load_complete(recording, recording_load_read_all(source, name, options, recording),
                                 options, result);
}
/* SPDX-License-Identifier: MIT */
