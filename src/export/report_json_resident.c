/* The members of the JSON report on resident memory: its parts, and the functions that mapped it. A
 * part that could not be measured is null. */
#include "analysis/resident.h"
#include "export/report_json.h"

enum { NAME_MOST = 4096, CALLERS_MOST = 12 };

static void number_or_null(struct json *json, const char *name, double number, bool known) {
  if (known)
    json_number(json, name, number);
  else
    json_null(json, name);
}

/* The callers that all paths of a group have in common, innermost first. */
static void print_callers(struct json *json, const struct report *report, struct chains *chains,
                          const struct group *group) {
  struct chain chain;
  char name[NAME_MOST];
  chains_follow(chains, group, &chain);
  json_begin(json, "callers", '[');
  for (size_t i = 0; i < chain.count && i < CALLERS_MOST; i++) {
    call_tree_label(chains->tree, report->names, chain.label[i], name, sizeof name);
    json_string(json, NULL, name);
  }
  json_end(json, ']');
}

static void print_mapper(struct json *json, const struct report *report, const struct resident *resident,
                         enum resident_kind kind, struct chains *chains, const struct group *group) {
  const struct call_tree *tree = chains->tree;
  const struct label *label = &tree->labels[group->label];
  char name[NAME_MOST];
  call_tree_label(tree, report->names, group->label, name, sizeof name);
  json_begin(json, NULL, '{');
  json_string(json, "name", name);
  json_string(json, "module", strings_text(report->names->strings, label->module));
  json_string(json, "file", strings_text(report->names->strings, label->file));
  json_integer(json, "line", label->line);
  number_or_null(json, "resident_bytes", group->self.bytes.total, resident->measured);
  json_number(json, "mapped_bytes", group->self.blocks.total);
  json_integer(json, kind == RESIDENT_STACKS ? "threads" : "mappings", group->self.bytes.samples);
  print_callers(json, report, chains, group);
  json_end(json, '}');
}

static wn_status print_sites(struct json *json, const struct report *report, const struct resident *resident,
                             enum resident_kind kind, const struct call_tree *tree,
                             const struct sites *sites) {
  struct chains chains;
  wn_status error = chains_create(tree, &chains);
  if (error) return error;
  json_begin(json, kind == RESIDENT_STACKS ? "stacks" : "mapped", '[');
  for (size_t i = 0; i < sites->count; i++)
    print_mapper(json, report, resident, kind, &chains, sites->shown[i].group);
  json_end(json, ']');
  chains_destroy(&chains);
  return WN_OK;
}

static wn_status print_mappers(struct json *json, const struct report *report,
                               const struct resident *resident, enum resident_kind kind,
                               const struct report_json_options *options) {
  struct call_tree tree;
  struct sites sites;
  wn_status error = resident_tree(report, resident, kind, options->grouping, &tree);
  if (error) return error;
  error = sites_choose(&tree, &(struct sites_options){.order = SITES_BY_SELF, .most = options->top}, &sites);
  if (!error) {
    error = print_sites(json, report, resident, kind, &tree, &sites);
    sites_destroy(&sites);
  }
  call_tree_destroy(&tree);
  return error;
}

static void print_parts(struct json *json, const struct resident_parts *parts) {
  json_begin(json, "parts", '[');
  for (int i = 0; i < RESIDENT_PARTS; i++) {
    if (!parts->part[i].text || (parts->part[i].bytes.estimate == 0 && parts->part[i].bytes.high <= 0))
      continue;
    json_begin(json, NULL, '{');
    json_string(json, "name", parts->part[i].name);
    json_string(json, "text", parts->part[i].text);
    json_estimate(json, "bytes", &parts->part[i].bytes);
    json_end(json, '}');
  }
  json_end(json, ']');
}

/* ---- shared ---- */

wn_status json_resident(struct json *json, const struct report *report,
                        const struct report_json_options *options) {
  struct resident resident = report_resident(report);
  struct resident_parts parts = resident_parts(report, &resident);
  struct estimate held = report_bytes(report, &parts.held);
  bool partial = report->recording->partial, explained = resident.explained && !partial;
  json_begin(json, "resident", '{');
  json_integer(json, "at_ns", resident.time_ns);
  json_integer(json, "rss_bytes", resident.rss_bytes);
  json_integer(json, "most_bytes", resident.most_bytes);
  json_bool(json, "counted", resident.counted);
  json_bool(json, "explained", explained);
  json_estimate(json, "held_bytes", &held);
  json_number(json, "mapped_bytes", resident.mapped_bytes);
  number_or_null(json, "mapped_private_bytes", resident.mapped_private, resident.measured);
  number_or_null(json, "mapped_file_bytes", resident.mapped_files, resident.measured);
  number_or_null(json, "stack_bytes", resident.stack_bytes, resident.measured);
  json_number(json, "file_bytes", resident.files_bytes);
  if (partial)
    json_null(json, "other_bytes");
  else
    json_estimate(json, "other_bytes", &parts.rest);
  number_or_null(json, "unwritten_bytes", parts.unwritten, explained);
  json_number(json, "header_bytes", parts.headers);
  json_number(json, "earlier_bytes", parts.earlier);
  json_number(json, "winnow_bytes", resident.own_bytes);
  number_or_null(json, "told_ns", (double)parts.told_ns, parts.told);
  print_parts(json, &parts);
  json_end(json, '}');
  wn_status error = print_mappers(json, report, &resident, RESIDENT_MAPPINGS, options);
  return error ? error : print_mappers(json, report, &resident, RESIDENT_STACKS, options);
}
/* SPDX-License-Identifier: MIT */
