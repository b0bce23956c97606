/* Writes a report as one JSON object: docs/report-json.md, schema 1. It asks the report for tables
 * and rows (columns.h) and computes nothing itself. WN_ENOMEM leaves the object incomplete. */
#include "export/report_json.h"

#include "analysis/report/columns.h"
#include "analysis/report/origins.h"
#include "analysis/report/verdict.h"

enum { HELD_POINTS = 200, MEMORY_POINTS = 1000 };

/* Prints a number, or null if it is not known. */
static void print_bound(struct json *json, const char *name, uint64_t value, bool known) {
  if (known)
    json_integer(json, name, value);
  else
    json_null(json, name);
}

static void print_sums(struct json *json, const struct report *report, const struct sums *self,
                       const struct sums *total, const struct sums *all) {
  struct estimate self_bytes = report_bytes(report, self), self_blocks = report_blocks(report, self);
  struct estimate total_bytes = report_bytes(report, total), blocks = report_blocks(report, total);
  struct estimate share = report_share(report, total, all);
  json_estimate(json, "self_bytes", &self_bytes);
  json_estimate(json, "self_blocks", &self_blocks);
  json_estimate(json, "total_bytes", &total_bytes);
  json_estimate(json, "blocks", &blocks);
  json_estimate(json, "share", &share);
}

/* ---- rows ---- */

static void report_json_print_stack(struct json *json, const char *name, const struct table *table,
                                    uint32_t node) {
  char function[ROW_NAME_MOST];
  json_begin(json, name, '[');
  for (; node; node = table->tree.nodes[node].parent) {
    call_tree_label(&table->tree, table->report->names, table->tree.nodes[node].label, function,
                    sizeof function);
    json_string(json, NULL, function);
  }
  json_end(json, ']');
}

static void report_json_print_life(struct json *json, const char *name, const struct life *life, bool ns) {
  json_begin(json, name, '{');
  print_bound(json, ns ? "median_ns" : "median", life->median, life->known);
  print_bound(json, ns ? "low_ns" : "low", life->low, life->low != NO_BOUND);
  print_bound(json, ns ? "high_ns" : "high", life->high, life->high != NO_BOUND);
  json_integer(json, "samples", life->samples);
  json_end(json, '}');
}

static void print_ages(struct json *json, const char *name, const double *ages) {
  json_begin(json, name, '[');
  for (int i = 0; i < AGE_CLASSES; i++) json_number(json, NULL, ages[i]);
  json_end(json, ']');
}

static void report_json_print_cell(struct json *json, const struct table *table, const char *name,
                                   const struct cell *cell) {
  switch (cell->kind) {
  case CELL_TEXT: json_string(json, name, cell->text); return;
  case CELL_INTEGER: print_bound(json, name, cell->integer.value, cell->integer.known); return;
  case CELL_BYTES:
  case CELL_BLOCKS:
  case CELL_SHARE:
  case CELL_RATE: json_estimate(json, name, &cell->estimate); return;
  case CELL_LIFE_NS: report_json_print_life(json, name, &cell->life, true); return;
  case CELL_LIFE_WORDS: report_json_print_life(json, name, &cell->life, false); return;
  case CELL_AGES: print_ages(json, name, cell->ages); return;
  case CELL_STACK: report_json_print_stack(json, name, table, cell->stack); return;
  }
}

static wn_status report_json_print_sites(struct json *json, const struct report *report, enum measure measure,
                                         const struct report_json_options *options) {
  struct table table;
  wn_status error = report_table(report, measure, options->grouping, json_details(report, measure), &table);
  if (error) return error;
  char rest[64];
  struct sites sites;
  struct sites_options all = {.order = options->order, .most = options->top, .every = true};
  error = sites_choose(&table.tree, &all, &sites);
  if (!error) {
    json_begin(json, measure_name(measure), '[');
    for (size_t i = 0; i < sites.count; i++)
      json_row(json, &table, sites.shown[i].group, sites_extent(options->order));
    json_end(json, ']');
    snprintf(rest, sizeof rest, "%.50s_rest", measure_name(measure));
    json_rest(json, rest, report, &sites);
    sites_destroy(&sites);
  }
  table_destroy(&table);
  return error;
}

/* ---- machines ---- */

static wn_status report_json_print_hosts(struct json *json, const struct report *report) {
  struct host_list list;
  wn_status error = host_list_find(report, &list);
  if (error) return error;
  json_begin(json, "hosts", '{');
  if (list.count >= HOSTS_LEAST) json_number(json, "median_bytes", list.median);
  json_integer(json, "count", list.count);
  json_integer(json, "absent", list.absent);
  json_begin(json, "unusual", '[');
  for (size_t i = 0; i < list.unusual; i++) {
    const struct strings *strings = report->names->strings;
    json_begin(json, NULL, '{');
    json_string(json, "host", strings_text(strings, (uint32_t)list.host[i].number));
    json_estimate(json, "bytes", &list.host[i].bytes);
    if (i < EXCESSES_MOST && list.excess[i].bytes > 0) {
      json_string(json, "mostly", strings_text(strings, list.excess[i].function.function));
      json_number(json, "mostly_bytes", list.excess[i].bytes);
    }
    json_end(json, '}');
  }
  json_end(json, ']');
  json_end(json, '}');
  host_list_destroy(&list);
  return WN_OK;
}

static wn_status report_json_print_releases(struct json *json, const struct report *report) {
  struct release_list list;
  wn_status error = release_list_find(report, &list);
  if (error) return error;
  json_begin(json, "releases", '[');
  for (size_t i = 0; i < list.count; i++) {
    const struct release_of_hosts *release = &list.release[i];
    json_begin(json, NULL, '{');
    json_string(json, "release", release->name);
    json_integer(json, "hosts", release->hosts);
    json_integer(json, "running", release->running);
    json_integer(json, "first_ns", release->first_ns);
    json_estimate(json, "bytes_of_a_host", &release->mean.bytes);
    json_end(json, '}');
  }
  json_end(json, ']');
  release_list_destroy(&list);
  return WN_OK;
}

static wn_status report_json_print_machines(struct json *json, const struct report *report,
                                            enum grouping grouping) {
  if (report->samples->process_count < 2) return WN_OK;
  return grouping == BY_HOST      ? report_json_print_hosts(json, report)
         : grouping == BY_RELEASE ? report_json_print_releases(json, report)
                                  : WN_OK;
}

/* ---- the tree ---- */

/* Prints a node and its children. Nodes too deep for common JSON parsers are left out; the totals
 * of their callers include them. */
static void print_node(struct json *json, const struct report *report, const struct call_tree *tree,
                       uint32_t node, int depth) {
  char name[ROW_NAME_MOST];
  if (node) call_tree_label(tree, report->names, tree->nodes[node].label, name, sizeof name);
  json_begin(json, node ? NULL : "tree", '{');
  json_string(json, "name", node ? name : "all");
  print_sums(json, report, &tree->nodes[node].self, &tree->nodes[node].total, &tree->nodes[0].total);
  json_begin(json, "children", '[');
  for (uint32_t child = tree->nodes[node].first_child; child && depth < 80;
       child = tree->nodes[child].next_sibling)
    if (tree->nodes[child].total.bytes.samples) print_node(json, report, tree, child, depth + 1);
  json_end(json, ']');
  json_end(json, '}');
}

static wn_status report_json_print_tree(struct json *json, const struct report *report,
                                        enum grouping grouping) {
  struct table table;
  wn_status error =
      report_table(report, MEASURE_HELD, grouping == BY_STACK ? BY_FUNCTION : grouping, TABLE_SUMS, &table);
  if (error) return error;
  print_node(json, report, &table.tree, 0, 0);
  table_destroy(&table);
  return WN_OK;
}

/* ---- over time ---- */

static void report_json_print_held(struct json *json, const struct report *report) {
  struct moment moments[HELD_POINTS];
  timeline_curve(report->samples, report_selects, (void *)report, moments,
                 (struct moments_of){.count = HELD_POINTS});
  json_begin(json, "held", '[');
  for (size_t i = 0; i < HELD_POINTS; i++) {
    struct estimate bytes = report_bytes(report, &moments[i].live),
                    blocks = report_blocks(report, &moments[i].live);
    json_begin(json, NULL, '{');
    json_integer(json, "time_ns", moments[i].time_ns);
    json_estimate(json, "bytes", &bytes);
    json_estimate(json, "blocks", &blocks);
    json_end(json, '}');
  }
  json_end(json, ']');
}

static void print_memory(struct json *json, const struct report *report) {
  struct memory_point points[MEMORY_POINTS];
  size_t count = timeline_memory_thinned(report->samples, points, MEMORY_POINTS);
  json_begin(json, "memory", '[');
  for (size_t i = 0; i < count; i++) {
    json_begin(json, NULL, '{');
    json_integer(json, "time_ns", points[i].time_ns);
    json_integer(json, "rss_bytes", points[i].rss_bytes);
    json_integer(json, "private_bytes", points[i].private_bytes);
    json_end(json, '}');
  }
  json_end(json, ']');
}

/* ---- shared ---- */

void json_row(struct json *json, struct table *table, const struct group *group, enum extent extent) {
  struct table_row row;
  struct cell cell;
  row_begin(&row, table, group, extent);
  json_begin(json, NULL, '{');
  for (int column = 0; column < COLUMNS; column++)
    if (row_read(&row, (enum row_column)column, &cell))
      report_json_print_cell(json, table, row_column_name((enum row_column)column), &cell);
  json_end(json, '}');
}

void json_rest(struct json *json, const char *name, const struct report *report, const struct sites *sites) {
  struct estimate bytes = report_bytes(report, &sites->rest), blocks = report_blocks(report, &sites->rest);
  json_begin(json, name, '{');
  json_integer(json, "sites", sites->rest_count);
  json_estimate(json, "self_bytes", &bytes);
  json_estimate(json, "self_blocks", &blocks);
  json_end(json, '}');
}

/* Some tables of a collected heap have lives in time and in words. */
unsigned json_details(const struct report *report, enum measure measure) {
  bool collected = report->samples->collected;
  switch (measure) {
  case MEASURE_PROMOTED:
  case MEASURE_ALLOCATED:
    return TABLE_LINES | (collected ? TABLE_LIVES | TABLE_WORD_LIVES | TABLE_FATES : TABLE_SUMS);
  case MEASURE_CHURN:
  case MEASURE_LASTING: return TABLE_LINES | TABLE_LIVES;
  case MEASURE_ALIVE: return TABLE_LINES | (report_has_growth(report) ? TABLE_GROWTH : TABLE_SUMS);
  default: return TABLE_LINES;
  }
}

void json_wrappers(struct json *json, const struct recording *recording) {
  json_begin(json, "wrappers", '[');
  for (size_t i = 0; i < recording->wrappers.count; i++)
    json_string(json, NULL, strings_text(recording->names.strings, recording->wrappers.functions[i]));
  json_end(json, ']');
}

bool json_has_measure(const struct report *report, enum measure measure) {
  const struct source_limits *limits = source_limits(report->samples->source);
  if (measure == MEASURE_PROMOTED) return report->samples->collected;
  if (measure == MEASURE_CHURN || measure == MEASURE_LASTING) return !limits->no_lives;
  if (measure == MEASURE_ALLOCATED) return !limits->no_total;
  return !limits->no_end || (measure == MEASURE_HELD && report->at == AT_PEAK);
}

wn_status report_write_json(FILE *out, const struct report *report,
                            const struct report_json_options *options) {
  struct json json = {.out = out};
  struct facts facts;
  struct verdict verdict;
  char asked[64];
  wn_status error = facts_find(report, &facts);
  if (!error) error = verdict_find(report, &verdict);
  if (error) return error;
  snprintf(asked, sizeof asked, "at:%.50s", options->at);
  json_begin(&json, NULL, '{');
  json_integer(&json, "schema", 1);
  json_trace(&json, "trace", report->samples);
  json_totals(&json, &facts);
  json_string(&json, "question", asked);
  if (options->where) json_string(&json, "where", options->where);
  json_string(&json, "by", grouping_name(options->grouping));
  json_string(&json, "sort", sites_order_name(options->order));
  if (!source_limits(report->samples->source)->totals) {
    json_integer(&json, "at_ns", report->asked.time_ns);
    json_verdict(&json, report, &verdict);
    report_json_print_held(&json, report);
    print_memory(&json, report);
    json_groups(&json, report->samples);
    json_heap(&json, &facts);
    error = json_resident(&json, &facts, options);
  }
  json_wrappers(&json, report->recording);
  for (int measure = 0; measure < MEASURES && !error; measure++)
    if (json_has_measure(report, (enum measure)measure))
      error = report_json_print_sites(&json, report, (enum measure)measure, options);
  if (!error) error = report_json_print_machines(&json, report, options->grouping);
  if (!error) error = report_json_print_tree(&json, report, options->grouping);
  json_end(&json, '}');
  return error;
}
/* SPDX-License-Identifier: MIT */
