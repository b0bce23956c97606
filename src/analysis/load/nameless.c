/* A stack belongs to its innermost frame that is no wrapper: its owner. Where the owner has no
 * name, a frame for its call is put before it, as if the call had been inlined there: the node is
 * split. Only stacks of rows and mappings are looked at.
 *
 * An address stands for a name in two texts (names.h): `function` is where the function begins, and
 * `place` is where the call is. The frames of a node are consecutive, so those of all nodes are
 * copied to a larger array. */
#include "analysis/load/nameless.h"

#include "base/array.h"
#include "base/error.h"

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

/* ---- shared ---- */

wn_status nameless_split(const struct samples *samples, struct names *names) {
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
/* SPDX-License-Identifier: MIT */
