/* Paths. */
#include "retention/paths.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/index.h"

/* The field by which a node's parent leads to it, as a signature has it. */
static uint32_t field_signed(const struct graph *graph, uint32_t parent, uint32_t field) {
  if (field >= FIELD_MOST || graph_words(graph, parent) <= FIELDS_TOLD) return field;
  return graph_field_name(graph, graph_type(graph, parent), field) ? field : FIELD_MOST;
}

/* Whether a node is one more of its parent's step. */
static bool paths_repeats(const struct graph *graph, uint32_t node) {
  uint32_t parent = graph->parent[node];
  return parent >= graph->first_block && graph_type(graph, node) == graph_type(graph, parent) &&
         !graph_description(graph, node) && !graph_description(graph, parent);
}

static uint64_t paths_hash_text(const char *text) { return hash_bytes(text, strlen(text)); }

static uint64_t signature(const struct graph *graph, const uint64_t *signatures, uint32_t node,
                          uint32_t field) {
  uint32_t parent = graph->parent[node];
  uint64_t step = hash_combine(graph_type(graph, node), field_signed(graph, parent, field));
  if (node < graph->first_block) step = node;
  if (graph_description(graph, node))
    step = hash_combine(step, paths_hash_text(graph_description(graph, node)));
  return paths_repeats(graph, node) ? signatures[parent] : hash_combine(signatures[parent], step);
}

/* The signatures of all nodes: by node. In the graph's order, the next node is the one to which the
 * next edge leads that led the search to a node. */
static void sign(const struct graph *graph, uint64_t *signatures) {
  uint32_t next = 1;
  for (uint32_t at = 0; next < graph->reached; at++)
    for (struct edge_walk edge = graph_edges(graph, graph->order[at]); edge_next(&edge);)
      if (next < graph->reached && edge.to == graph->order[next]) {
        signatures[edge.to] = signature(graph, signatures, edge.to, edge.field);
        next++;
      }
}

struct finding {
  const struct graph *graph;
  const struct dominators *dominators;
  struct paths *paths;
  struct index index; /* of the groups, by their signatures */
};

/* Adds a group if there is none of this signature. 0 without memory. */
static uint32_t group_of(struct finding *of, uint64_t signature, uint32_t node) {
  struct index_walk walk = {.hash = signature};
  struct paths *paths = of->paths;
  struct path_group made = {.signature = signature, .example = node, .number = (uint32_t)paths->count + 1};
  uint32_t number;
  while ((number = index_next(&of->index, &walk)))
    if (paths->groups[number - 1].signature == signature) return number;
  if (!ARRAY_ADD(paths->groups, paths->count, paths->capacity, made)) return 0;
  return index_add(&of->index, signature, (uint32_t)paths->count) ? (uint32_t)paths->count : 0;
}

static bool find_groups(struct finding *of, paths_wanted *wanted, void *context) {
  const struct graph *graph = of->graph;
  for (uint32_t i = 1; i < graph->reached; i++) {
    uint32_t node = graph->order[i];
    uint64_t signature = of->paths->of_node[node];
    of->paths->of_node[node] = 0;
    if (node < graph->first_block || !wanted(context, node)) continue;
    uint32_t number = group_of(of, signature, node);
    if (!number) return false;
    struct path_group *group = &of->paths->groups[number - 1];
    of->paths->of_node[node] = number;
    group->blocks++;
    group->bytes += graph_bytes(graph, node);
    if (of->dominators->nodes[node].retained > of->dominators->nodes[group->example].retained)
      group->example = node;
  }
  return true;
}

static void paths_enter(void *context, uint32_t node) {
  struct finding *of = context;
  struct path_group *group =
      of->paths->of_node[node] ? &of->paths->groups[of->paths->of_node[node] - 1] : NULL;
  if (group && !group->open++) group->retained += of->dominators->nodes[node].retained;
}

static void paths_leave(void *context, uint32_t node) {
  struct finding *of = context;
  if (of->paths->of_node[node]) of->paths->groups[of->paths->of_node[node] - 1].open--;
}

static int paths_by_retained(const void *a, const void *b) {
  const struct path_group *one = a, *other = b;
  if (one->retained != other->retained) return one->retained < other->retained ? 1 : -1;
  return (one->example > other->example) - (one->example < other->example);
}

/* ---- shared ---- */

bool paths_find(struct paths *paths, const struct graph *graph, const struct dominators *dominators,
                paths_wanted *wanted, void *context) {
  struct finding of = {.graph = graph, .dominators = dominators, .paths = paths};
  *paths = (struct paths){.of_node = calloc(graph->node_count, sizeof *paths->of_node)};
  bool enough = paths->of_node;
  if (enough) sign(graph, paths->of_node);
  enough = enough && find_groups(&of, wanted, context);
  if (enough) {
    dominators_walk(dominators, &(struct dominators_walk){paths_enter, paths_leave, &of});
    array_sort(paths->groups, paths->count, sizeof *paths->groups, paths_by_retained);
  }
  free(of.index.slots);
  return enough;
}

void paths_free(struct paths *paths) { free(paths->groups), free(paths->of_node); }

size_t paths_steps(const struct graph *graph, uint32_t node, struct path_step *steps, size_t most) {
  size_t count = 0, at, left_out;
  for (uint32_t on = node; on != NODE_ALL; on = graph->parent[on]) count += !paths_repeats(graph, on);
  at = count;
  left_out = count > most ? count - most : 0;
  for (uint32_t on = node, blocks = 1, last = node; on != NODE_ALL; on = graph->parent[on], blocks++) {
    if (paths_repeats(graph, on)) continue;
    at--;
    if (at >= left_out) {
      uint32_t parent = graph->parent[on], field = graph_field_to(graph, parent, on);
      steps[at - left_out] = (struct path_step){last, on, field_signed(graph, parent, field), blocks};
    }
    last = graph->parent[on];
    blocks = 0;
  }
  return count;
}
/* SPDX-License-Identifier: MIT */
