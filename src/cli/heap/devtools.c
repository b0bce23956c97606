/* A snapshot as a .heapsnapshot file, which Chromium's DevTools load (Memory, Load profile).
 *
 * The file is a JSON object of arrays of numbers. A node is `type, name, id, self_size, edge_count,
 * trace_node_id, detachedness`; an edge is `type, name_or_index, to_node`, and the edges of all
 * nodes stand in the order of the nodes. Names are numbers of strings, which come last; to_node is
 * the number of the node times the number of its members. DevTools read all of them as 32 bits.
 *
 * Node 0 leads to "(GC roots)", and that to the holders. All three kinds are synthetic: else
 * DevTools would take what is below them for objects of the user's that hold everything. Blocks are
 * objects, which DevTools group by their names; what a custom block has outside is a native node
 * below it. Garbage is left out. */
#include "analysis/load/strings.h"
#include "base/error.h"
#include "cli/heap/heap_text.h"
#include "export/json.h"

enum { NODE_FIELDS = 7, GC_ROOTS = 1 };
enum node_type { NODE_OBJECT = 3, NODE_NATIVE = 8, NODE_SYNTHETIC = 9 };
enum edge_type { EDGE_ELEMENT = 1, EDGE_PROPERTY = 2, EDGE_INTERNAL = 3 };

static const char meta[] =
    "\"meta\":{\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\",\"edge_count\",\"trace_node_id\","
    "\"detachedness\"],\"node_types\":[[\"hidden\",\"array\",\"string\",\"object\",\"code\",\"closure\","
    "\"regexp\",\"number\",\"native\",\"synthetic\",\"concatenated string\",\"sliced string\",\"symbol\","
    "\"bigint\",\"object shape\"],\"string\",\"number\",\"number\",\"number\",\"number\",\"number\"],"
    "\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],\"edge_types\":[[\"context\",\"element\","
    "\"property\",\"internal\",\"hidden\",\"shortcut\",\"weak\"],\"string_or_number\",\"node\"],"
    "\"trace_function_info_fields\":[],\"trace_node_fields\":[],\"sample_fields\":[],\"location_fields\":[]}";

struct writing {
  const struct graph *graph;
  FILE *out;
  struct strings *strings;
  uint32_t *ordinal; /* by node; 0: it is left out, or node 0 */
  uint64_t edges;
  bool no_memory, first; /* first: of an array */
};

static uint32_t devtools_string_of(struct writing *of, const char *text) {
  uint32_t number = strings_intern(of->strings, text);
  of->no_memory |= !number && *text;
  return number;
}

static void devtools_put(struct writing *of, uint64_t number) {
  fprintf(of->out, of->first ? "%llu" : ",%llu",
          (unsigned long long)(number < UINT32_MAX ? number : UINT32_MAX));
  of->first = false;
}

/* ---- nodes ---- */

static uint64_t edge_count(const struct graph *graph, uint32_t node) {
  return graph->edge_begin[node + 1] - graph->edge_begin[node] + (graph_outside(graph, node) != 0);
}

static void devtools_put_node(struct writing *of, enum node_type type, const char *name, uint64_t id,
                              uint64_t bytes, uint64_t edges) {
  devtools_put(of, type);
  devtools_put(of, devtools_string_of(of, name));
  devtools_put(of, id);
  devtools_put(of, bytes);
  devtools_put(of, edges);
  devtools_put(of, 0);
  devtools_put(of, 0);
}

static void devtools_put_block(struct writing *of, uint32_t node) {
  const struct graph *graph = of->graph;
  char name[NAME_MOST];
  uint64_t outside = graph_outside(graph, node), id = 2 * (uint64_t)node + 1;
  devtools_put_node(of, NODE_OBJECT, block_name(graph, node, name), id, graph_bytes(graph, node) - outside,
                    edge_count(graph, node));
}

/* The nodes in the order of their ordinals: blocks in the order of the search, each native node
 * behind its block. Returns how many there are. */
static uint64_t number_nodes(struct writing *of) {
  const struct graph *graph = of->graph;
  uint64_t next = GC_ROOTS + 1;
  for (uint32_t node = NODE_HOLDERS; node < graph->first_block; node++) of->ordinal[node] = (uint32_t)next++;
  for (uint32_t i = 0; i < graph->reached; i++) {
    uint32_t node = graph->order[i];
    if (node < graph->first_block) continue;
    of->ordinal[node] = (uint32_t)next++;
    of->edges += edge_count(graph, node);
    next += graph_outside(graph, node) != 0;
  }
  for (uint32_t node = NODE_HOLDERS; node < graph->first_block; node++) of->edges += edge_count(graph, node);
  of->edges += 1 + graph->holder_count;
  return next;
}

static void put_nodes(struct writing *of) {
  const struct graph *graph = of->graph;
  char name[NAME_MOST];
  of->first = true;
  devtools_put_node(of, NODE_SYNTHETIC, "", 1, 0, 1);
  devtools_put_node(of, NODE_SYNTHETIC, "(GC roots)", 2 * (uint64_t)graph->node_count + 1, 0,
                    graph->holder_count);
  for (uint32_t node = NODE_HOLDERS; node < graph->first_block; node++) {
    char shown[NAME_MOST + 2];
    snprintf(shown, sizeof shown, "(%s)", holder_name(graph, node, name));
    devtools_put_node(of, NODE_SYNTHETIC, shown, 2 * (uint64_t)node + 1, 0, edge_count(graph, node));
  }
  for (uint32_t i = 0; i < graph->reached; i++) {
    uint32_t node = graph->order[i];
    if (node < graph->first_block) continue;
    devtools_put_block(of, node);
    if (graph_outside(graph, node))
      devtools_put_node(of, NODE_NATIVE, "memory outside the heap",
                        2 * ((uint64_t)graph->node_count + node) + 1, graph_outside(graph, node), 0);
  }
}

/* ---- edges ---- */

static void devtools_put_edge(struct writing *of, enum edge_type type, uint64_t name, uint64_t ordinal) {
  devtools_put(of, type);
  devtools_put(of, name);
  devtools_put(of, ordinal * NODE_FIELDS);
}

static void put_edges_of(struct writing *of, uint32_t node) {
  const struct graph *graph = of->graph;
  for (struct edge_walk edge = graph_edges(graph, node); edge_next(&edge);) {
    const char *name = graph_field_name(graph, graph_type(graph, node), edge.field);
    uint32_t to = of->ordinal[edge.to];
    if (edge.field == FIELD_ROOT)
      devtools_put_edge(of, EDGE_ELEMENT, edge.at - 1 - graph->edge_begin[node], to);
    else if (edge.field == FIELD_DATA)
      devtools_put_edge(of, EDGE_INTERNAL, devtools_string_of(of, "data of an ephemeron"), to);
    else if (name)
      devtools_put_edge(of, EDGE_PROPERTY, devtools_string_of(of, name), to);
    else
      devtools_put_edge(of, EDGE_ELEMENT, edge.field, to);
  }
  if (graph_outside(graph, node))
    devtools_put_edge(of, EDGE_INTERNAL, devtools_string_of(of, "outside"), (uint64_t)of->ordinal[node] + 1);
}

static void put_edges(struct writing *of) {
  const struct graph *graph = of->graph;
  of->first = true;
  devtools_put_edge(of, EDGE_ELEMENT, 1, GC_ROOTS);
  for (uint32_t node = NODE_HOLDERS; node < graph->first_block; node++)
    devtools_put_edge(of, EDGE_ELEMENT, node, of->ordinal[node]);
  for (uint32_t node = NODE_HOLDERS; node < graph->first_block; node++) put_edges_of(of, node);
  for (uint32_t i = 0; i < graph->reached; i++)
    if (graph->order[i] >= graph->first_block) put_edges_of(of, graph->order[i]);
}

static void devtools_put_strings(struct writing *of) {
  struct json json = {.out = of->out, .depth = 1, .compact = true, .follows = true};
  json_begin(&json, "strings", '[');
  for (uint32_t i = 0; i < of->strings->count; i++) json_string(&json, NULL, strings_text(of->strings, i));
  json_end(&json, ']');
}

static void put_snapshot(struct writing *of) {
  uint64_t nodes = number_nodes(of);
  fprintf(of->out, "{\"snapshot\":{%s,\"node_count\":%llu,\"edge_count\":%llu,\"trace_function_count\":0},\n",
          meta, (unsigned long long)nodes, (unsigned long long)of->edges);
  fputs("\"nodes\":[", of->out);
  put_nodes(of);
  fputs("],\n\"edges\":[", of->out);
  put_edges(of);
  fputs("],\n\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[],\n\"locations\":[]", of->out);
  devtools_put_strings(of);
  fputs("}\n", of->out);
}

/* ---- shared ---- */

wn_status heap_put_devtools(const struct graph *graph, FILE *out) {
  struct writing of = {.graph = graph, .out = out};
  of.strings = strings_create();
  of.ordinal = calloc(graph->node_count, sizeof *of.ordinal);
  of.no_memory = !of.strings || !of.ordinal;
  if (!of.no_memory) put_snapshot(&of);
  strings_free(of.strings);
  free(of.ordinal);
  return of.no_memory ? error_set(WN_ENOMEM, "no memory for its names") : WN_OK;
}
/* SPDX-License-Identifier: MIT */
