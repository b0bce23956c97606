/* Heap profiles for pprof as a source of totals: those of Go, of gperftools and jemalloc once pprof has
 * converted them, and what `winnow export --format pprof` writes. export/pprof.proto describes the
 * message.
 *
 * Of the types of values these are read: alloc_objects and alloc_space, what was allocated in all;
 * inuse_objects and inuse_space, or objects and space, what was held at one moment, which is put at the
 * end. Where the profiler sampled (a period above 1), the values are estimates that it has scaled. A
 * stack with bytes and no block, which is left when estimates are rounded, counts as one block.
 *
 * Reads a profile in two passes: the tables, then the samples. So samples need no memory but that of
 * different stacks and of their totals. */
#include "sources/profiles/profiles.h"

#include "base/array.h"
#include "base/error.h"
#include "sources/profiles/pprof_tables.h"
#include "sources/profiles/profile_source.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TYPES_MOST = 64, LOCATIONS_MOST = 1 << 20 };

/* Which values of a sample are which; -1: none is. */
struct columns {
  int bytes, blocks;
};

struct reading {
  const char *path;
  struct profile *profile;
  struct pprof_tables tables;
  struct wire_stream stream;
  struct columns columns[3]; /* by moment */
  bool estimated;
  uint64_t *locations; /* room for those of a sample */
  size_t location_capacity;
};

static wn_status pprof_profile_no_memory(const struct reading *reading) {
  return error_set(WN_ENOMEM, "%s: not enough memory to read it", reading->path);
}

/* Says what ended the reading. */
static wn_status pprof_profile_fail(const struct reading *reading) {
  const struct pprof_tables *tables = &reading->tables;
  const char *fault = inflated_fault(reading->stream.file);
  if (tables->no_memory || reading->stream.no_memory) return pprof_profile_no_memory(reading);
  if (!fault) fault = tables->fault ? tables->fault : "its message is cut or damaged";
  return error_set(WN_EINVAL, "%s: a damaged profile for pprof: %s, before byte %" PRIu64 " of what it holds",
                   reading->path, fault, inflated_offset(reading->stream.file));
}

/* ---- the head ---- */

static const char *pprof_profile_type_of(struct reading *reading, size_t i) {
  return pprof_text_of(&reading->tables, reading->tables.types.items[i].type);
}

/* The value of a type and unit; -1: there is none. */
static int find_value(struct reading *reading, const char *type, const char *unit) {
  for (size_t i = 0; i < reading->tables.types.count && i < TYPES_MOST; i++)
    if (!strcmp(pprof_profile_type_of(reading, i), type) &&
        !strcmp(pprof_text_of(&reading->tables, reading->tables.types.items[i].unit), unit))
      return (int)i;
  return -1;
}

static struct columns pprof_profile_find_columns(struct reading *reading, const char *bytes,
                                                 const char *blocks) {
  return (struct columns){find_value(reading, bytes, "bytes"), find_value(reading, blocks, "count")};
}

static wn_status find_values(struct reading *reading) {
  struct columns *columns = reading->columns;
  struct source_limits *limits = &reading->profile->limits;
  columns[SOURCE_ALLOCATED] = pprof_profile_find_columns(reading, "alloc_space", "alloc_objects");
  columns[SOURCE_PEAK] = (struct columns){-1, -1};
  columns[SOURCE_END] = pprof_profile_find_columns(reading, "inuse_space", "inuse_objects");
  if (columns[SOURCE_END].bytes < 0)
    columns[SOURCE_END] = pprof_profile_find_columns(reading, "space", "objects");
  if (reading->tables.fault) return pprof_profile_fail(reading);
  bool total = columns[SOURCE_ALLOCATED].bytes >= 0, end = columns[SOURCE_END].bytes >= 0;
  if (!total && !end)
    return error_set(WN_EINVAL,
                     "%s: a profile for pprof, but not of a heap: it has no bytes of alloc_space, "
                     "inuse_space or space",
                     reading->path);
  limits->no_peak = true;
  limits->no_total = !total;
  limits->no_end = !end;
  limits->no_blocks =
      (total && columns[SOURCE_ALLOCATED].blocks < 0) || (end && columns[SOURCE_END].blocks < 0);
  return WN_OK;
}

static bool is_own(struct reading *reading) {
  static const char begin[] = "Written by winnow";
  for (size_t i = 0; i < reading->tables.comments.count; i++)
    if (!strncmp(pprof_text_of(&reading->tables, reading->tables.comments.items[i]), begin, sizeof begin - 1))
      return true;
  return false;
}

/* Says in a few sentences what the numbers are. */
static void pprof_profile_write_note(struct reading *reading) {
  const struct source_limits *limits = &reading->profile->limits;
  const char *unit = pprof_text_of(&reading->tables, reading->tables.period_type.unit);
  uint64_t period = reading->tables.period;
  char sampled[128] = "";
  bool known = period > 1 && !strcmp(unit, "bytes") && !is_own(reading);
  if (known)
    snprintf(sampled, sizeof sampled, ", from one sample every %" PRIu64 " bytes on average", period);
  snprintf(reading->profile->note, sizeof reading->profile->note,
           "The file is a heap profile for pprof%s: totals of each stack%s%s. It tells %s%s%s%s, and nothing "
           "%sof other moments, and of single blocks: their sizes, lives and growth.",
           is_own(reading) ? ", written by Winnow" : "",
           !reading->estimated ? ", all of them exact"
           : period            ? ", estimates without ranges"
                    : ", and does not tell whether they are exact or estimates, which have no ranges here",
           sampled, limits->no_total ? "" : "what was allocated in all",
           limits->no_total || limits->no_end ? "" : " and ",
           limits->no_end    ? ""
           : is_own(reading) ? "what was held at one moment, which may be the peak"
                             : "what was held at one moment, as a rule the one when it was written",
           limits->no_blocks ? ", in bytes without numbers of blocks" : "",
           is_own(reading) ? "" : "of the peak, ");
}

static wn_status pprof_profile_read_head(struct reading *reading) {
  struct profile *profile = reading->profile;
  struct pprof_tables *tables = &reading->tables;
  wn_status error = find_values(reading);
  if (error) return error;
  reading->estimated = profile->limits.estimated = tables->period != 1;
  for (size_t i = 0; i < tables->mappings.count; i++)
    if (tables->mappings.items[i].id == tables->first_mapping) {
      const char *path = pprof_text_of(tables, tables->mappings.items[i].file);
      profile_set_command(profile, path, strlen(path));
    }
  pprof_profile_write_note(reading);
  profile->run.wall_ns = tables->time_ns;
  return tables->fault ? pprof_profile_fail(reading) : WN_OK;
}

/* ---- samples ---- */

struct sample {
  size_t location_count, value_count;
  uint64_t values[TYPES_MOST];
};

static bool add_location(struct reading *reading, struct sample *sample, uint64_t id) {
  if (sample->location_count == LOCATIONS_MOST) return reading->tables.fault = "a stack is too deep", false;
  bool added = ARRAY_ADD(reading->locations, sample->location_count, reading->location_capacity, id);
  if (!added) reading->tables.no_memory = true;
  return added;
}

static bool pprof_profile_add_number(struct reading *reading, struct sample *sample, unsigned field,
                                     uint64_t number) {
  if (field == 1) return add_location(reading, sample, number);
  if (sample->value_count < TYPES_MOST) sample->values[sample->value_count++] = number;
  return true;
}

/* Numbers of a list are packed or each a field. */
static bool read_sample(struct reading *reading, const struct wire_field *of, struct sample *sample) {
  struct wire wire = wire_of(of);
  struct wire_field field;
  uint64_t number;
  sample->location_count = sample->value_count = 0;
  while (wire_next(&wire, &field)) {
    struct wire list = field.is_bytes ? wire_of(&field) : (struct wire){NULL, NULL, false};
    if (field.number > 2) continue;
    if (!field.is_bytes && !pprof_profile_add_number(reading, sample, field.number, field.value))
      return false;
    while (wire_packed(&list, &number))
      if (!pprof_profile_add_number(reading, sample, field.number, number)) return false;
    wire.bad = wire.bad || list.bad;
  }
  if (wire.bad) reading->tables.fault = "a sample is no message";
  return !wire.bad;
}

static uint64_t value_of(const struct sample *sample, int column) {
  return column >= 0 && (size_t)column < sample->value_count ? sample->values[column] : 0;
}

static wn_status pprof_profile_add_total(struct reading *reading, const struct sample *sample, uint32_t stack,
                                         enum source_moment moment) {
  const struct columns *columns = &reading->columns[moment];
  struct total total = {.blocks = value_of(sample, columns->blocks),
                        .bytes = value_of(sample, columns->bytes),
                        .stack = stack,
                        .moment = moment};
  if (columns->bytes < 0) return WN_OK;
  if (total.bytes >> 63 || total.blocks >> 63) {
    reading->tables.fault = "a value is negative: this is a difference of two profiles";
    return pprof_profile_fail(reading);
  }
  if (reading->profile->limits.no_blocks || (reading->estimated && !total.blocks))
    total.blocks = total.bytes > 0;
  char why[128];
  wn_status error = totals_add(&reading->profile->totals, &total);
  snprintf(why, sizeof why, "%s", wn_last_error());
  if (!error) return WN_OK;
  reading->tables.fault = why;
  return error == WN_ENOMEM ? pprof_profile_no_memory(reading) : pprof_profile_fail(reading);
}

/* Locations are innermost first. */
static wn_status pprof_profile_take_sample(struct reading *reading, const struct sample *sample) {
  uint32_t node = 0;
  for (size_t i = sample->location_count; i-- > 0;)
    if (!pprof_step(&reading->tables, reading->locations[i], &node)) return pprof_profile_fail(reading);
  if (sample->value_count != reading->tables.types.count) {
    reading->tables.fault = "a sample has not a value of each type";
    return pprof_profile_fail(reading);
  }
  wn_status error = pprof_profile_add_total(reading, sample, node, SOURCE_ALLOCATED);
  return error ? error : pprof_profile_add_total(reading, sample, node, SOURCE_END);
}

static wn_status pprof_profile_read_samples(struct reading *reading) {
  struct wire_field field;
  struct sample sample;
  if (reading->tables.types.count > TYPES_MOST) {
    reading->tables.fault = "it has too many types";
    return pprof_profile_fail(reading);
  }
  while (wire_stream_next(&reading->stream, 1u << PPROF_SAMPLE, &field)) {
    if (!field.is_bytes) reading->tables.fault = "a sample is no message";
    if (!field.is_bytes || !read_sample(reading, &field, &sample)) return pprof_profile_fail(reading);
    wn_status error = pprof_profile_take_sample(reading, &sample);
    if (error) return error;
  }
  bool done = !reading->stream.bad && !reading->stream.no_memory && !inflated_fault(reading->stream.file);
  return done ? WN_OK : pprof_profile_fail(reading);
}

/* ---- passes ---- */

static wn_status pprof_profile_pass(struct reading *reading, bool samples) {
  wn_status error = inflated_open(reading->path, &reading->stream.file);
  if (error) return error;
  if (samples)
    error = pprof_profile_read_samples(reading);
  else if (!pprof_tables_read(&reading->tables, &reading->stream) || inflated_fault(reading->stream.file))
    error = pprof_profile_fail(reading);
  else
    error = pprof_profile_read_head(reading);
  inflated_close(reading->stream.file);
  return error;
}

/* ---- shared ---- */

bool pprof_profile_begins(const unsigned char *bytes, size_t count) {
  bool is_type =
      count && (bytes[0] == (PPROF_SAMPLE_TYPE << 3 | 2) || bytes[0] == (PPROF_PERIOD_TYPE << 3 | 2));
  return count >= 3 && is_type && bytes[1] <= 22 && (!bytes[1] || bytes[2] == 1 << 3 || bytes[2] == 2 << 3);
}

wn_status pprof_profile_open(const char *path, struct source **source) {
  struct reading reading = {.path = path, .profile = profile_create(sizeof(struct profile), "pprof", path)};
  if (!reading.profile) return pprof_profile_no_memory(&reading);
  reading.tables.stacks = &reading.profile->stacks;
  wn_status error = pprof_profile_pass(&reading, false);
  if (!error) error = pprof_profile_pass(&reading, true);
  wire_stream_destroy(&reading.stream);
  pprof_tables_destroy(&reading.tables);
  free(reading.locations);
  if (error)
    source_close(&reading.profile->source);
  else
    *source = &reading.profile->source;
  return error;
}
/* SPDX-License-Identifier: MIT */
