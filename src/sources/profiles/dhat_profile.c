/* Files of DHAT, the heap profiler of Valgrind, as a source of totals.
 *
 * Such a file is one JSON object: for each stack what it allocated, what it held at the peak of the
 * whole program (t-gmax) and at the end (t-end). Frames are texts with an address, a function, and
 * a source file with its line or the file of the code. It does not tell which blocks are which, and
 * it counts instructions instead of time. A realloc counts as allocating all of the new block, as
 * in Winnow's own traces.
 *
 * Reads DHAT's JSON, whose fields the document "dh-manual" of Valgrind names, by the library Jansson.
 *
 * Jansson bounds the depth of the JSON, and takes memory in proportion to the file. Every number is
 * checked here: a whole number, not negative, below 2^53 in sum. */
#include "sources/profiles/profiles.h"

#include "base/error.h"
#include "base/open_file.h"
#include "sources/profiles/profile_source.h"
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

static const char exact_note[] =
    "The file is a profile by DHAT: totals of each stack, all of them exact. It tells what was "
    "held at the peak of the whole program and at the end, and nothing of other moments, of time, and of "
    "single blocks: their sizes, lives and growth. Of a function with a source line it does not tell the "
    "module.";
static const char estimated_note[] =
    "The file was written by Winnow for the viewer of DHAT: totals of each stack, without the ranges that "
    "belong to estimates from a sample. It tells what was held at one moment, which may be the peak, and at "
    "the end, and "
    "nothing of other moments and of single blocks: their sizes, lives and growth. Of a function with a "
    "source line it does not tell the module.";

struct reading {
  struct profile *profile;
  const char *path;
  const json_t *frames;
  struct trace_node *nodes; /* by frame: module and offset of its place; module 0: not known yet */
  size_t frame_count;
  size_t at; /* the number of the stack that is being read, for messages */
};

static wn_status dhat_profile_no_memory(const char *path) {
  return error_set(WN_ENOMEM, "%s: not enough memory to read it", path);
}

static wn_status dhat_profile_fail(const struct reading *reading, const char *fault) {
  return error_set(WN_EINVAL, "%s: a damaged file of DHAT: in its stack %zu %s", reading->path, reading->at,
                   fault);
}

/* ---- frames ---- */

/* Where the bracket with the file stands, which is the last unless a path has others; NULL: nowhere. */
static const char *find_bracket(const char *begin, const char *end) {
  if (end == begin || end[-1] != ')') return NULL;
  const char *in = strstr(begin, " (in ");
  if (in) return in + 1;
  for (const char *at = end - 1; at > begin; at--)
    if (at[-1] == ' ' && at[0] == '(') return at;
  return NULL;
}

/* Cuts ":12" off the end of a text. False: it does not end so. */
static bool take_line(const char *begin, const char **end, uint32_t *line) {
  const char *at = *end;
  uint64_t number = 0, unit = 1;
  while (at > begin && isdigit((unsigned char)at[-1]) && *end - at < 9)
    number += unit * (uint64_t)(*--at - '0'), unit *= 10;
  if (at == *end || at == begin || at[-1] != ':') return false;
  *end = at - 1;
  *line = (uint32_t)number;
  return true;
}

/* Reads a frame "0x109179: leaf (p.c:3)" or "0x48417B4: malloc (in /usr/lib/libc.so.6)". */
static bool name_frame(struct named_stacks *stacks, const char *text, struct trace_node *node) {
  struct named_place place = {0};
  const char *end = text + strlen(text), *name = strstr(text, ": ");
  uint32_t path = 0, number;
  name = !strncmp(text, "0x", 2) && name ? name + 2 : text;
  const char *bracket = find_bracket(name, end), *within = end - 1;
  bool in_file = bracket && !strncmp(bracket, "(in ", 4);
  if (in_file && !named_text(stacks, bracket + 4, (size_t)(within - bracket - 4), &path)) return false;
  bool in_source = !in_file && bracket && take_line(bracket + 1, &within, &place.line);
  while (in_source && take_line(bracket + 1, &within, &place.line)) continue; /* that was a column */
  if (in_source && !named_text(stacks, bracket + 1, (size_t)(within - bracket - 1), &place.file))
    return false;
  if (in_file || in_source) end = bracket - 1;
  bool unknown = end - name == 3 && !strncmp(name, "???", 3);
  if (unknown && !in_source) name = text, end = text + strcspn(text, ": ");
  if (end > name && !named_text(stacks, name, (size_t)(end - name), &place.function)) return false;
  if (!named_module(stacks, path, &node->module) || !named_place(stacks, &place, &number)) return false;
  node->offset = number;
  return true;
}

/* ---- stacks ---- */

static wn_status read_node(struct reading *reading, const json_t *number, uint32_t *node) {
  json_int_t frame = json_is_integer(number) ? json_integer_value(number) : -1;
  if (frame < 0 || (uint64_t)frame >= reading->frame_count)
    return dhat_profile_fail(reading, "is a frame that does not exist");
  struct trace_node *place = &reading->nodes[frame];
  const char *text = json_string_value(json_array_get(reading->frames, (size_t)frame));
  if (!text) return dhat_profile_fail(reading, "is a frame that is no text");
  if (!frame && !strcmp(text, "[root]")) return WN_OK;
  if (!place->module && !name_frame(&reading->profile->stacks, text, place))
    return dhat_profile_no_memory(reading->path);
  struct trace_node found = {*node, place->module, place->offset};
  return named_node(&reading->profile->stacks, &found, node) ? WN_OK : dhat_profile_no_memory(reading->path);
}

/* Whether a frame is what Valgrind puts in the place of malloc. A stack of a trace begins at its
 * caller. */
static bool is_valgrind(const struct reading *reading, const json_t *number) {
  json_int_t frame = json_is_integer(number) ? json_integer_value(number) : -1;
  const char *text = frame >= 0 ? json_string_value(json_array_get(reading->frames, (size_t)frame)) : NULL;
  return text && (strstr(text, "/vgpreload_") || strstr(text, "(vg_replace_malloc.c:"));
}

/* The node of a stack, whose frames are innermost first. */
static wn_status dhat_profile_read_stack(struct reading *reading, const json_t *frames, uint32_t *node) {
  wn_status error = WN_OK;
  size_t first = 0;
  *node = 0;
  if (!json_is_array(frames)) return dhat_profile_fail(reading, "the frames are missing");
  while (is_valgrind(reading, json_array_get(frames, first))) first++;
  for (size_t i = json_array_size(frames); i-- > first && !error;)
    error = read_node(reading, json_array_get(frames, i), node);
  return error;
}

static wn_status dhat_profile_read_number(const struct reading *reading, const json_t *object,
                                          const char *name, uint64_t *number) {
  const json_t *value = json_object_get(object, name);
  char fault[64];
  *number = json_is_integer(value) ? (uint64_t)json_integer_value(value) : 0;
  if (json_is_integer(value) && json_integer_value(value) >= 0) return WN_OK;
  snprintf(fault, sizeof fault, "'%s' is no whole number from 0 on", name);
  return dhat_profile_fail(reading, fault);
}

static wn_status read_total(struct reading *reading, const json_t *object, uint32_t stack, const char *bytes,
                            const char *blocks, enum source_moment moment) {
  struct total total = {.stack = stack, .moment = moment};
  wn_status error = dhat_profile_read_number(reading, object, bytes, &total.bytes);
  if (!error) error = dhat_profile_read_number(reading, object, blocks, &total.blocks);
  if (error) return error;
  error = totals_add(&reading->profile->totals, &total);
  char why[128];
  snprintf(why, sizeof why, "%s", wn_last_error());
  return error == WN_ENOMEM ? dhat_profile_no_memory(reading->path)
         : error            ? dhat_profile_fail(reading, why)
                            : WN_OK;
}

/* The numbers at the end and at the peak are missing where DHAT did not follow lives. */
static wn_status read_point(struct reading *reading, const json_t *object) {
  uint32_t stack;
  wn_status error = dhat_profile_read_stack(reading, json_object_get(object, "fs"), &stack);
  if (!error) error = read_total(reading, object, stack, "tb", "tbk", SOURCE_ALLOCATED);
  if (!error) error = read_total(reading, object, stack, "gb", "gbk", SOURCE_PEAK);
  if (!error) error = read_total(reading, object, stack, "eb", "ebk", SOURCE_END);
  return error;
}

static wn_status read_points(struct reading *reading, const json_t *root) {
  const json_t *points = json_object_get(root, "pps");
  reading->frames = json_object_get(root, "ftbl");
  if (!json_is_array(points) || !json_is_array(reading->frames))
    return error_set(WN_EINVAL, "%s: a damaged file of DHAT: it has no 'pps' or no 'ftbl'", reading->path);
  reading->frame_count = json_array_size(reading->frames);
  reading->nodes = calloc(reading->frame_count + 1, sizeof *reading->nodes);
  if (!reading->nodes) return dhat_profile_no_memory(reading->path);
  wn_status error = WN_OK;
  for (size_t i = 0; i < json_array_size(points) && !error; i++) {
    reading->at = i + 1;
    error = read_point(reading, json_array_get(points, i));
  }
  free(reading->nodes);
  return error;
}

/* ---- the head ---- */

static wn_status dhat_profile_read_head(const struct reading *reading, const json_t *root) {
  struct profile *profile = reading->profile;
  const json_t *version = json_object_get(root, "dhatFileVersion"), *lives = json_object_get(root, "bklt"),
               *command = json_object_get(root, "cmd"), *pid = json_object_get(root, "pid");
  const char *mode = json_string_value(json_object_get(root, "mode")),
             *unit = json_string_value(json_object_get(root, "tu"));
  if (!json_is_integer(version) || json_integer_value(version) != 2)
    return error_set(WN_EINVAL, "%s: a file of DHAT, but not of its version 2", reading->path);
  if (!json_is_true(lives))
    return error_set(WN_EINVAL, "%s: DHAT recorded no heap, but '%.32s': it has no blocks that are freed",
                     reading->path, mode ? mode : "");
  profile_set_command(profile, json_string_value(command), json_string_length(command));
  profile->run.pid = json_is_integer(pid) ? (uint32_t)json_integer_value(pid) : 0;
  bool own = unit && !strcmp(unit, "us"); /* DHAT counts instructions, and its twin for Rust "µs" */
  profile->limits.estimated = own;
  snprintf(profile->note, sizeof profile->note, "%s", own ? estimated_note : exact_note);
  return WN_OK;
}

static wn_status dhat_profile_load(const char *path, json_t **root) {
  json_error_t fault;
  int descriptor = open_file(path);
  if (descriptor < 0) return error_set(WN_EIO, "cannot open %s: %s", path, strerror(errno));
  *root = json_loadfd(descriptor, 0, &fault);
  close(descriptor);
  if (*root) return WN_OK;
  if (json_error_code(&fault) == json_error_out_of_memory) return dhat_profile_no_memory(path);
  return error_set(WN_EINVAL, "%s: a damaged file of DHAT: line %d: %s", path, fault.line, fault.text);
}

/* ---- shared ---- */

bool dhat_profile_begins(const unsigned char *bytes, size_t count) {
  size_t at = 0;
  while (at < count && isspace(bytes[at])) at++;
  static const char name[] = "\"dhatFileVersion\"";
  return at < count && bytes[at] == '{' && memmem(bytes, count, name, sizeof name - 1);
}

wn_status dhat_profile_open(const char *path, struct source **source) {
  json_t *root;
  wn_status error = dhat_profile_load(path, &root);
  if (error) return error;
  struct reading reading = {.profile = profile_create(sizeof(struct profile), "DHAT", path), .path = path};
  error = reading.profile ? dhat_profile_read_head(&reading, root) : dhat_profile_no_memory(path);
  if (!error) error = read_points(&reading, root);
  json_decref(root);
  if (error && reading.profile) source_close(&reading.profile->source);
  if (!error) *source = &reading.profile->source;
  return error;
}
/* SPDX-License-Identifier: MIT */
