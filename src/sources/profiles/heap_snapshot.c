/* Heap snapshots as a source of totals: a picture of what holds how much.
 *
 * The stack of a block is what holds it: a root, and the blocks below it down the tree of
 * dominators, each by its type and what the language says of it. Blocks of one type that follow
 * each other, as in a list, are one frame. So the bytes below a frame are what would be freed if it
 * let go. `winnow heap` says more of a snapshot. */
#include "sources/profiles/profiles.h"

#include "base/error.h"
#include "base/open_file.h"
#include "retention/dominators.h"
#include "retention/names.h"
#include "snapshot/format.h"
#include "sources/profiles/profile_source.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MOST = 400 };

static const char note[] =
    "The file is a snapshot of a collected heap: what was in it at one moment, exactly. Each block is below "
    "what holds it, from a root down, and would be freed if that let go. The file tells nothing of other "
    "moments and of lives; winnow heap joins it with the trace that tells what allocated the blocks.";

struct reading {
  struct profile *profile;
  struct graph graph;
  struct dominators dominators;
  uint32_t *stack;  /* by node */
  uint16_t *frames; /* by node: of its stack */
  const char *path;
  wn_status error;
};

static wn_status heap_snapshot_no_memory(const struct reading *reading) {
  return error_set(WN_ENOMEM, "%s: not enough memory to read it", reading->path);
}

/* ---- stacks ---- */

static const char *heap_snapshot_name_of(const struct graph *graph, uint32_t node, char name[NAME_MOST]) {
  return node < graph->first_block ? holder_name(graph, node, name) : block_name(graph, node, name);
}

/* The stack of what is below another one; the type of a block is the frame's module, by which pages
 * colour it. 0: there is no memory. */
static uint32_t heap_snapshot_add_frame(struct reading *reading, uint32_t stack, const char *name,
                                        const char *type) {
  struct named_stacks *stacks = &reading->profile->stacks;
  struct named_place place = {0};
  struct trace_node node = {.parent = stack};
  uint32_t number = 0, path = 0;
  if (!named_text(stacks, name, strlen(name), &place.function) ||
      !named_text(stacks, type, strlen(type), &path) || !named_module(stacks, path, &node.module) ||
      !named_place(stacks, &place, &number))
    return 0;
  node.offset = number;
  return named_node(stacks, &node, &number) ? number : 0;
}

/* Whether a block is in the frame of the one that dominates it. */
static bool heap_snapshot_repeats(const struct graph *graph, uint32_t above, uint32_t node) {
  return above >= graph->first_block && graph_type(graph, above) == graph_type(graph, node) &&
         !graph_description(graph, above) && !graph_description(graph, node);
}

/* What lies deeper than DEPTH_MOST has the last frame of those. */
static void place_node(struct reading *reading, uint32_t node) {
  const struct graph *graph = &reading->graph;
  uint32_t above = reading->dominators.nodes[node].dominator, stack = reading->stack[above];
  const char *type = node < graph->first_block ? "" : graph_type_name(graph, graph_type(graph, node));
  char name[NAME_MOST];
  reading->frames[node] = reading->frames[above];
  reading->stack[node] = stack;
  if (reading->frames[above] == DEPTH_MOST || heap_snapshot_repeats(graph, above, node)) return;
  if (above == NODE_ALL && node >= graph->first_block)
    stack = heap_snapshot_add_frame(reading, 0, HELD_BY_SEVERAL, "");
  if (above == NODE_ALL && node >= graph->first_block && !stack)
    reading->error = heap_snapshot_no_memory(reading);
  reading->stack[node] =
      heap_snapshot_add_frame(reading, stack, heap_snapshot_name_of(graph, node, name), type);
  reading->frames[node]++;
  if (!reading->stack[node]) reading->error = heap_snapshot_no_memory(reading);
}

static void heap_snapshot_enter(void *context, uint32_t node) {
  struct reading *reading = context;
  if (node == NODE_ALL || reading->error) return;
  place_node(reading, node);
  struct total total = {.blocks = 1,
                        .bytes = graph_bytes(&reading->graph, node),
                        .stack = reading->stack[node],
                        .moment = SOURCE_END};
  if (node < reading->graph.first_block || reading->error) return;
  wn_status error = totals_add(&reading->profile->totals, &total);
  char why[128];
  snprintf(why, sizeof why, "%s", wn_last_error());
  if (error)
    reading->error = error == WN_ENOMEM ? heap_snapshot_no_memory(reading)
                                        : error_set(error, "%s: %s", reading->path, why);
}

static void heap_snapshot_leave(void *context, uint32_t node) { (void)context, (void)node; }

static wn_status heap_snapshot_read_blocks(struct reading *reading) {
  const struct graph *graph = &reading->graph;
  reading->stack = calloc(graph->node_count, sizeof *reading->stack);
  reading->frames = calloc(graph->node_count, sizeof *reading->frames);
  if (!reading->stack || !reading->frames || !dominators_find(&reading->dominators, graph))
    return heap_snapshot_no_memory(reading);
  dominators_walk(&reading->dominators,
                  &(struct dominators_walk){heap_snapshot_enter, heap_snapshot_leave, reading});
  return reading->error;
}

/* ---- the file ---- */

static void heap_snapshot_read_head(struct reading *reading) {
  struct profile *profile = reading->profile;
  const struct graph *graph = &reading->graph;
  if (graph->command) profile_set_command(profile, graph->command, strlen(graph->command));
  profile->run.pid = (uint32_t)graph->process;
  profile->run.wall_ns = graph->time_ns;
  profile->limits.no_peak = profile->limits.no_total = profile->limits.no_callers = true;
  profile->damage.chunks_damaged = !graph->complete;
  snprintf(profile->note, sizeof profile->note, "%s", note);
}

static wn_status heap_snapshot_load(struct reading *reading) {
  struct stat status;
  int descriptor = open_file(reading->path);
  if (descriptor < 0) return error_set(WN_EIO, "cannot open %s: %s", reading->path, strerror(errno));
  size_t count = fstat(descriptor, &status) ? 0 : (size_t)status.st_size;
  void *bytes = count ? mmap(NULL, count, PROT_READ, MAP_PRIVATE, descriptor, 0) : NULL;
  close(descriptor);
  if (!bytes || bytes == MAP_FAILED) return error_set(WN_EIO, "%s: it cannot be read", reading->path);
  wn_status error = graph_load(&reading->graph, bytes, count);
  char why[256];
  snprintf(why, sizeof why, "%s", wn_last_error());
  munmap(bytes, count);
  return error ? error_set(error, "%s: %s", reading->path, why) : WN_OK;
}

/* ---- shared ---- */

bool heap_snapshot_begins(const unsigned char *bytes, size_t count) {
  return count >= sizeof snapshot_magic && !memcmp(bytes, snapshot_magic, sizeof snapshot_magic);
}

wn_status heap_snapshot_open(const char *path, struct source **source) {
  struct reading reading = {
      .profile = profile_create(sizeof(struct profile), "winnow as a heap snapshot", path), .path = path};
  wn_status error = reading.profile ? heap_snapshot_load(&reading) : heap_snapshot_no_memory(&reading);
  if (!error) heap_snapshot_read_head(&reading);
  if (!error) error = heap_snapshot_read_blocks(&reading);
  dominators_free(&reading.dominators);
  graph_free(&reading.graph);
  free(reading.stack), free(reading.frames);
  if (error && reading.profile) source_close(&reading.profile->source);
  if (!error) *source = &reading.profile->source;
  return error;
}
/* SPDX-License-Identifier: MIT */
