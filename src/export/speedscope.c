/* A file for speedscope (https://www.speedscope.app): one "sampled" profile for each quantity,
 * which share a list of frames. A sample is a stack, outermost frame first, and its weight is a
 * whole number of bytes, or of blocks. Stacks are in the order of the call tree, so that the
 * view by time order, which has no meaning for memory, shows the tree too. */
#include "export/formats.h"

#include "export/json.h"
#include <winnow/version.h>

static void speedscope_write_frames(struct json *json, const struct export_stacks *stacks) {
  char name[STACK_LABEL_MOST];
  const struct strings *strings = stacks->report->names->strings;
  json_begin(json, "shared", '{');
  json_begin(json, "frames", '[');
  for (size_t i = 0; i < stacks->frame_count; i++) {
    const struct label *label = &stacks->paths.labels[stacks->frames[i]];
    export_stacks_label(stacks, stacks->frames[i], name);
    json_begin(json, NULL, '{');
    json_string(json, "name", name);
    if (label->file) json_string(json, "file", strings_text(strings, label->file));
    if (label->line) json_integer(json, "line", label->line);
    if (label->first_column) json_integer(json, "col", label->first_column);
    json_end(json, '}');
  }
  json_end(json, ']');
  json_end(json, '}');
}

/* Writes the frames of a stack by their places in the list. */
static void speedscope_write_stack(struct json *json, struct export_stacks *stacks, uint32_t node) {
  json_begin(json, NULL, '[');
  for (size_t at = export_stacks_path(stacks, node); at-- > 0;)
    json_integer(json, NULL, stacks->frame_of[stacks->paths.nodes[stacks->path[at]].label]);
  json_end(json, ']');
}

static void write_profile(struct json *json, struct export_stacks *stacks, enum quantity quantity) {
  uint64_t total = 0;
  size_t count = stacks->paths.node_count;
  for (size_t i = 0; i < count; i++) total += stacks->values[i].value[quantity];
  json_begin(json, NULL, '{');
  json_string(json, "type", "sampled");
  json_string(json, "name", quantity_kinds[quantity].title);
  json_string(json, "unit", quantity_kinds[quantity].bytes ? "bytes" : "none");
  json_integer(json, "startValue", 0);
  json_integer(json, "endValue", total);
  json_begin(json, "samples", '[');
  for (size_t i = 0; i < count; i++)
    if (stacks->values[stacks->order[i]].value[quantity])
      speedscope_write_stack(json, stacks, stacks->order[i]);
  json_end(json, ']');
  json_begin(json, "weights", '[');
  for (size_t i = 0; i < count; i++)
    if (stacks->values[stacks->order[i]].value[quantity])
      json_integer(json, NULL, stacks->values[stacks->order[i]].value[quantity]);
  json_end(json, ']');
  json_end(json, '}');
}

/* ---- shared ---- */

wn_status export_speedscope(FILE *out, const struct export *export) {
  struct json json = {.out = out, .compact = true};
  char exporter[64], command[EXPORT_COMMAND_MOST];
  struct export_stacks stacks;
  wn_status error = export_stacks_create(export->report, export->grouping, &stacks);
  if (error) return error;
  json_begin(&json, NULL, '{');
  json_string(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
  snprintf(exporter, sizeof exporter, "winnow %.40s", wn_version_text());
  json_string(&json, "exporter", exporter);
  export_command(export->report, command);
  json_string(&json, "name", command);
  json_integer(&json, "activeProfileIndex", export->quantity);
  speedscope_write_frames(&json, &stacks);
  json_begin(&json, "profiles", '[');
  for (int quantity = 0; quantity < QUANTITIES; quantity++)
    write_profile(&json, &stacks, (enum quantity)quantity);
  json_end(&json, ']');
  json_end(&json, '}');
  export_stacks_destroy(&stacks);
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
