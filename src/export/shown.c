/* Finds the shown frames, from callers to callees. */
#include "export/shown.h"

#include <stdlib.h>

/* As call_paths.c steps from caller to callee. `owned`: a caller owns the stack so far. */
static struct shown shown_at(const struct report *report, const struct stack_view *view, uint32_t node,
                             bool owned) {
  struct frames frames = names_of(report->names, node);
  size_t first = (size_t)(frames.frame - report->names->frame);
  bool begun = stack_view_begun(view, source_stack(report->samples->source, node).parent);
  struct shown shown = {0, 0};
  for (size_t i = frames.count; i-- > 0;) {
    if (!stack_view_shows(view, first + i, &begun) || i >= SHOWN_MOST) continue;
    if (frames.frame[i].between && (owned || shown.all)) continue;
    shown.all |= UINT64_C(1) << i;
    if (!frames.frame[i].wrapper || !(owned || shown.owned)) shown.owned = shown.all;
  }
  return shown;
}

/* Callers in a trace have smaller numbers than what they call. */
static void find_owners(const struct report *report, struct shown_stacks *stacks) {
  const struct query *query = report->query;
  struct stack_view view = query ? query_view(query) : (struct stack_view){0};
  for (uint32_t node = 1; node <= source_stack_count(report->samples->source); node++) {
    uint32_t parent = source_stack(report->samples->source, node).parent;
    uint32_t owner = stacks->owner_of[parent < node ? parent : 0];
    struct shown *shown = &stacks->shown[node];
    *shown = shown_at(report, &view, node, owner != 0);
    stacks->owner_of[node] = shown->owned ? node : owner;
  }
}

/* ---- shared ---- */

bool shown_stacks_create(const struct report *report, struct shown_stacks *stacks) {
  size_t nodes = (size_t)source_stack_count(report->samples->source) + 1;
  stacks->shown = calloc(nodes, sizeof *stacks->shown);
  stacks->owner_of = calloc(nodes, sizeof *stacks->owner_of);
  if (!stacks->shown || !stacks->owner_of) return false;
  find_owners(report, stacks);
  return true;
}

void shown_stacks_destroy(struct shown_stacks *stacks) {
  free(stacks->shown);
  free(stacks->owner_of);
}

size_t shown_stack(const struct report *report, const struct shown_stacks *stacks, uint32_t node,
                   struct shown_frames *frames, size_t most) {
  size_t count = 0;
  if (node) frames[count++] = (struct shown_frames){node, stacks->shown[node].owned};
  for (uint32_t at = node; at && count < most;) {
    uint32_t parent = source_stack(report->samples->source, at).parent;
    at = parent < at ? parent : 0;
    if (stacks->shown[at].all) frames[count++] = (struct shown_frames){at, stacks->shown[at].all};
  }
  return count;
}

uint64_t shown_address(struct source *source, uint32_t node) {
  struct trace_node at = source_stack(source, node);
  const struct trace_module *module = at.module ? source_module(source, at.module) : NULL;
  return module && trace_is_language(module) ? 0 : (module ? module->bias : 0) + at.offset - 1;
}
/* SPDX-License-Identifier: MIT */
