/* A snapshot as JSON: docs/report-json.md has the members. */
#include "cli/heap/heap_text.h"
#include "export/json.h"

static void heap_json_write_holder(struct json *json, const char *name, uint64_t bytes, uint64_t blocks) {
  json_begin(json, NULL, '{');
  json_string(json, "name", name);
  json_integer(json, "retained_bytes", bytes);
  json_integer(json, "retained_blocks", blocks);
  json_end(json, '}');
}

static void write_site(struct json *json, const struct graph *graph, const struct site *site) {
  char name[NAME_MOST];
  json_begin(json, NULL, '{');
  json_string(json, "name", site->name);
  json_estimate(json, "bytes", &site->bytes);
  if (site->holder)
    json_string(json, "holder", holder_name(graph, site->holder, name));
  else
    json_null(json, "holder");
  json_number(json, "holder_share", site->holder_share);
  if (site->named)
    json_string(json, "named", block_name(graph, site->named, name));
  else
    json_null(json, "named");
  json_number(json, "named_share", site->named_share);
  json_end(json, '}');
}

/* Why there are no sites; NULL: there are, or the trace has none. */
static const char *sites_missing(const struct heap_file *file) {
  if (*file->no_sites) return file->no_sites;
  return file->graph.trace || file->sites.samples ? NULL : "no trace recorded the heap";
}

/* ---- shared ---- */

int heap_print_json(const struct heap_file *file) {
  const struct graph *graph = &file->graph;
  struct json json = {.out = stdout};
  char name[NAME_MOST];
  json_begin(&json, NULL, '{');
  json_string(&json, "file", file->name);
  json_string(&json, "command", graph->command ? graph->command : "");
  json_string(&json, "language", graph->language ? graph->language : "");
  json_integer(&json, "process", graph->process);
  json_integer(&json, "time_ns", graph->time_ns);
  json_bool(&json, "complete", graph->complete);
  json_integer(&json, "lost_references", graph->lost);
  json_integer(&json, "blocks", graph->node_count - graph->first_block);
  json_integer(&json, "reachable_blocks", file->dominators.nodes[NODE_ALL].retained_blocks);
  json_integer(&json, "reachable_bytes", file->reachable);
  json_begin(&json, "holders", '[');
  for (uint32_t node = NODE_HOLDERS; node < graph->first_block; node++)
    heap_json_write_holder(&json, holder_name(graph, node, name), file->dominators.nodes[node].retained,
                           file->dominators.nodes[node].retained_blocks);
  json_end(&json, ']');
  json_integer(&json, "several_holders_bytes", file->several);
  json_begin(&json, "types", '[');
  for (size_t i = 0; i < file->types.count; i++) {
    const struct type_row *row = &file->types.rows[i];
    json_begin(&json, NULL, '{');
    json_string(&json, "name", graph_type_name(graph, row->type));
    json_integer(&json, "blocks", row->blocks);
    json_integer(&json, "bytes", row->bytes);
    json_integer(&json, "retained_bytes", row->retained);
    json_end(&json, '}');
  }
  json_end(&json, ']');
  json_integer(&json, "samples", file->sites.samples);
  json_begin(&json, "sites", '[');
  for (size_t i = 0; i < file->sites.count; i++) write_site(&json, graph, &file->sites.rows[i]);
  json_end(&json, ']');
  if (sites_missing(file))
    json_string(&json, "sites_missing", sites_missing(file));
  else
    json_null(&json, "sites_missing");
  json_end(&json, '}');
  putchar('\n');
  return 0;
}
/* SPDX-License-Identifier: MIT */
