/* Reads a container: each section, checked, then what is not stored, computed. */
#include "analysis/load/rates.h"
#include "base/error.h"
#include "page/container.h"
#include "page/container_listing.h"
#include "page/container_rows.h"
#include <stdlib.h>

struct reading {
  const struct container_section *sections;
  size_t count;
  struct recording *recording;
  struct container_facts facts; /* the source belongs to the samples */
};

/* A section to read; NULL: it is missing, or empty. */
static const struct container_section *container_read_find(const struct reading *reading, const char *name) {
  for (size_t i = 0; i < reading->count; i++) {
    const struct container_section *found = &reading->sections[i];
    if (!memcmp(found->name, name, sizeof found->name) && found->length) return found;
  }
  return NULL;
}

/* An absent section is read as an empty one, so it ends too soon. */
static struct coding section(const struct reading *reading, const char *name) {
  const struct container_section *found = container_read_find(reading, name);
  if (!found) return (struct coding){.section = name, .fault = "it is missing"};
  const unsigned char *bytes = found->bytes;
  return (struct coding){.section = name, .in = {.at = bytes, .end = bytes + found->length}};
}

static wn_status read_meta(struct reading *reading) {
  struct samples *samples = reading->recording->samples;
  struct coding meta = section(reading, "META");
  code_meta(&meta, &reading->facts, samples);
  if (!coding_failed(&meta) && !(reading->facts.kept > 0 && reading->facts.kept <= 1))
    coding_fail(&meta, "the share of samples is not between 0 and 1");
  reading->recording->kept = reading->facts.kept;
  samples->word_bytes = reading->facts.source->run.word_bytes;
  if (samples->word_bytes < 1) samples->word_bytes = 1;
  return coding_end(&meta);
}

static wn_status read_names(struct reading *reading) {
  struct names *names = &reading->recording->names;
  struct stored_stacks stacks = {0};
  struct coding strings = section(reading, "STRS"), frames = section(reading, "FRAM"),
                builds = section(reading, "BLDS"), nodes = section(reading, "NODE");
  read_strings(&strings, &names->strings);
  wn_status error = coding_end(&strings);
  if (!error) {
    code_frames(&frames, &stacks);
    error = coding_end(&frames);
  }
  if (!error) {
    code_builds(&builds, &stacks);
    error = coding_end(&builds);
  }
  if (!error) {
    code_nodes(&nodes, &stacks);
    error = coding_end(&nodes);
  }
  if (!error) error = stacks_give(&stacks, reading->recording, reading->facts.source);
  stacks_destroy(&stacks);
  return error;
}

static wn_status read_origins(struct reading *reading) {
  struct samples *samples = reading->recording->samples;
  struct coding origins = section(reading, "ORIG");
  for (uint32_t i = 0; i < samples->process_count; i++) processes_forget_origin(&samples->processes[i]);
  code_origins(&origins, samples);
  return coding_end(&origins);
}

/* Before the rows, which end with them, and before the groups, which say whether a single one still
 * writes. */
static wn_status read_processes(struct reading *reading) {
  struct samples *samples = reading->recording->samples;
  struct coding processes = section(reading, "PROC");
  wn_status error = WN_OK;
  if (container_read_find(reading, "PROC")) {
    code_processes(&processes, samples, reading->facts.unit_ns);
    error = coding_end(&processes);
  } else if (!processes_read(samples)) {
    error = error_set(WN_ENOMEM, "not enough memory for the processes");
  }
  if (!error) error = read_origins(reading);
  if (!error && !names_add_processes(&reading->recording->names, samples))
    error = error_set(WN_ENOMEM, "not enough memory for the processes");
  return error;
}

static wn_status read_listing(struct reading *reading) {
  struct listing *listing = &reading->recording->listing;
  if (!container_read_find(reading, "SRCS")) return WN_OK;
  struct coding lines = section(reading, "SRCS");
  listing->given = true;
  code_listing(&lines, listing);
  listing_verify(&lines, listing, reading->recording->names.strings->count);
  return coding_end(&lines);
}

static wn_status read_all_rows(struct reading *reading) {
  struct samples *samples = reading->recording->samples;
  struct row_tables tables;
  struct coding kinds = section(reading, "KIND"), rows = section(reading, "ROWS");
  read_kinds(&kinds, &tables, reading->facts.source->node_count);
  wn_status error = coding_end(&kinds);
  if (!error) {
    read_rows(&rows, &tables, samples, reading->facts.unit_ns);
    error = coding_end(&rows);
  }
  row_tables_destroy(&tables);
  return error;
}

static wn_status read_row_types(struct reading *reading) {
  struct coding types = section(reading, "TYPE");
  if (!container_read_find(reading, "TYPE")) return WN_OK;
  read_types(&types, reading->recording->samples);
  return coding_end(&types);
}

static wn_status container_read_read_others(struct reading *reading) {
  struct samples *samples = reading->recording->samples;
  struct coding times = section(reading, "TIME"), heap = section(reading, "HEAP"),
                maps = section(reading, "MAPS"), rates = section(reading, "RATE"),
                groups = section(reading, "GRPS");
  code_times(&times, samples);
  code_rates(&rates, samples);
  wn_status error = coding_end(&times);
  if (!error) error = coding_end(&rates);
  if (!error && container_read_find(reading, "GRPS")) {
    code_groups(&groups, samples);
    error = coding_end(&groups);
  }
  if (!error) {
    code_heap(&heap, samples);
    error = coding_end(&heap);
  }
  if (!error) {
    code_maps(&maps, samples, reading->facts.source->node_count);
    error = coding_end(&maps);
  }
  return error;
}

static wn_status container_read_read_all(struct reading *reading) {
  wn_status error = read_meta(reading);
  if (!error) error = read_names(reading);
  if (!error) error = read_processes(reading);
  if (!error) error = container_read_read_others(reading);
  if (!error) error = read_listing(reading);
  if (!error) error = read_all_rows(reading);
  if (!error) error = read_row_types(reading);
  if (!error &&
      (!asleep_find(reading->recording->samples) || !samples_complete_lives(reading->recording->samples)))
    error = error_set(WN_ENOMEM, "not enough memory for the rows");
  if (!error && (!names_add_threads(&reading->recording->names, reading->recording->samples) ||
                 !names_add_types(&reading->recording->names, reading->recording->samples)))
    error = error_set(WN_ENOMEM, "not enough memory for the threads and types");
  return error;
}

/* A recording without anything in it; NULL without memory. */
static struct recording *empty_recording(struct container_source **source) {
  struct recording *recording = calloc(1, sizeof *recording);
  struct samples *samples = calloc(1, sizeof *samples);
  *source = container_source_create();
  if (recording && samples && *source) {
    samples->source = &(*source)->source;
    recording->samples = samples;
    return recording;
  }
  if (*source) source_close(&(*source)->source);
  free(samples);
  free(recording);
  return NULL;
}

/* ---- shared ---- */

wn_status container_read(const struct container_section *sections, size_t count, struct recording **result) {
  struct reading reading = {.sections = sections, .count = count};
  reading.recording = empty_recording(&reading.facts.source);
  if (!reading.recording) return error_set(WN_ENOMEM, "not enough memory for the recording");
  wn_status error = container_read_read_all(&reading);
  if (error) {
    recording_free(reading.recording);
    return error;
  }
  recording_describe(reading.recording);
  *result = reading.recording;
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
