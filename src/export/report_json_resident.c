/* The members of the JSON report on resident memory: its facts, and the functions that mapped it. */
#include "export/report_json.h"

enum { NAME_MOST = 4096, CALLERS_MOST = 12 };

static void number_or_null(struct json *json, const char *name, double number, bool known) {
  if (known)
    json_number(json, name, number);
  else
    json_null(json, name);
}

/* The callers that all paths of a group have in common, innermost first. */
static void report_json_resident_print_callers(struct json *json, const struct report *report,
                                               struct chains *chains, const struct group *group) {
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
  report_json_resident_print_callers(json, report, chains, group);
  json_end(json, '}');
}

static wn_status report_json_resident_print_sites(struct json *json, const struct report *report,
                                                  const struct resident *resident, enum resident_kind kind,
                                                  const struct call_tree *tree, const struct sites *sites) {
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
    error = report_json_resident_print_sites(json, report, resident, kind, &tree, &sites);
    sites_destroy(&sites);
  }
  call_tree_destroy(&tree);
  return error;
}

/* ---- shared ---- */

wn_status json_resident(struct json *json, const struct facts *facts,
                        const struct report_json_options *options) {
  json_resident_facts(json, facts);
  wn_status error = print_mappers(json, facts->report, &facts->resident, RESIDENT_MAPPINGS, options);
  return error ? error : print_mappers(json, facts->report, &facts->resident, RESIDENT_STACKS, options);
}
/* SPDX-License-Identifier: MIT */
