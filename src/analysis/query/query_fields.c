/* The fields of queries, as one table. */
#include "analysis/query/query_fields.h"

#include <stdio.h>
#include <string.h>

static uint32_t text_of_function(const struct frame *frame) { return frame->function; }
static uint32_t text_of_file(const struct frame *frame) { return frame->file; }
static uint32_t text_of_module(const struct frame *frame) { return frame->module; }

static uint32_t host_of(const struct process_names *names) { return names->host; }
static uint32_t release_of(const struct process_names *names) { return names->release; }

static double number_of_size(const struct samples *samples, const struct row *row) {
  (void)samples;
  return (double)row->size;
}
static double number_of_life(const struct samples *samples, const struct row *row) {
  return (double)row_life_ns(samples, row);
}
static double number_of_life_bytes(const struct samples *samples, const struct row *row) {
  return samples->word_bytes * samples->life_words[row - samples->rows];
}
static double number_of_birth(const struct samples *samples, const struct row *row) {
  (void)samples;
  return (double)row->born_ns;
}
static double number_of_death(const struct samples *samples, const struct row *row) {
  (void)samples;
  return row->died_ns == STILL_ALIVE ? 1e300 : (double)row->died_ns; /* later than any time */
}
static double is_dead(const struct samples *samples, const struct row *row) {
  (void)samples;
  return row->died_ns != STILL_ALIVE;
}
static double is_not_promoted(const struct samples *samples, const struct row *row) {
  (void)samples;
  return row->promoted_ns == NEVER;
}
static double number_of_area(const struct samples *samples, const struct row *row) {
  (void)samples;
  return row->area;
}
static double number_of_source(const struct samples *samples, const struct row *row) {
  (void)samples;
  return row->source;
}

/* ---- shared ---- */

/* CONTRIBUTING.md says what a new field needs besides a row here and its function. */
const struct field query_fields[] = {
    {"fn", "function", FRAME_TEXT, .text = text_of_function},
    {"file", NULL, FRAME_TEXT, .text = text_of_file},
    {"module", NULL, FRAME_TEXT, .text = text_of_module},
    {"thread", NULL, THREAD_NAME, .text = NULL},
    {"type", NULL, TYPE_NAME, .text = NULL},
    {"process", NULL, PROCESS, .text = NULL},
    {"host", NULL, ORIGIN, .origin = host_of},
    {"release", NULL, ORIGIN, .origin = release_of},
    {"size", NULL, BYTES, .number = number_of_size},
    {"life", NULL, TIME, .number = number_of_life, .needs_lives = true},
    {"life_bytes", NULL, BYTES, .number = number_of_life_bytes, .needs_lives = true},
    {"born", "time", TIME, .number = number_of_birth},
    {"died", NULL, TIME, .number = number_of_death, .needs_lives = true},
    {"alive", NULL, CHOICE, .number = is_dead, .choices = {"yes", "no"}},
    {"area", NULL, CHOICE, .number = number_of_area,
     .choices =
         {[AREA_NONE] = "", [AREA_MINOR] = "minor", [AREA_MAJOR] = "major", [AREA_OUTSIDE] = "outside"}},
    {"source", NULL, CHOICE, .number = number_of_source,
     .choices = {[TRACE_SOURCE_NORMAL] = "normal",
                 [TRACE_SOURCE_MARSHAL] = "marshal",
                 [TRACE_SOURCE_CUSTOM] = "custom",
                 [TRACE_SOURCE_EXTERNAL] = "external",
                 [TRACE_SOURCE_PYTHON] = "python"}},
    {"promoted", NULL, CHOICE, .number = is_not_promoted, .choices = {"yes", "no"}},
    {"live", NULL, LIVE_AT, .text = NULL},
    {"at", NULL, MOMENT, .text = NULL},
    {"hide", NULL, HIDDEN, .text = text_of_function},
    {"from", NULL, FROM, .text = text_of_function},
    {0},
};

const char *field_choices(const struct field *field, char buffer[64]) {
  *buffer = 0;
  for (size_t i = 0; field->choices[i]; i++) {
    const char *choice = field->choices[i], *next = field->choices[i + 1];
    if (!*choice) continue;
    snprintf(buffer + strlen(buffer), 64 - strlen(buffer), "%s%s",
             !*buffer ? ""
             : next   ? ", "
                      : " or ",
             choice);
  }
  return buffer;
}
/* SPDX-License-Identifier: MIT */
