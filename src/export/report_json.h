/* Writes a report as one JSON object: docs/report-json.md, schema 1. */
#pragma once

#include "analysis/compare/facts.h"
#include "analysis/report/sites.h"
#include "analysis/report/verdict.h"
#include "export/json.h"

struct report_json_options {
  enum grouping grouping;
  enum sites_order order;
  size_t top;        /* the largest number of rows of a table */
  const char *at;    /* the moment as the user gave it, such as "peak" */
  const char *where; /* the query as the user gave it; NULL: none */
};

wn_status report_write_json(FILE *out, const struct report *report,
                            const struct report_json_options *options);

/* ---- its parts ---- */

/* Writes a member that says which trace it is. */
void json_trace(struct json *json, const char *name, const struct samples *samples);

/* Writes the member `control_group`: what control groups reported, all of it or evenly spread records. */
void json_groups(struct json *json, const struct samples *samples);

/* Writes a row of a table as an object. */
void json_row(struct json *json, struct table *table, const struct group *group, enum extent extent);

/* Writes what the sites that are not shown allocated themselves. */
void json_rest(struct json *json, const char *name, const struct report *report, const struct sites *sites);

/* The details that the rows of a measure have (enum table_detail). */
unsigned json_details(const struct report *report, enum measure measure);

/* Write the members `totals`, `heap` (of a collected heap alone), `resident`, `verdict` and `wrappers`. */
void json_totals(struct json *json, const struct facts *facts);
void json_heap(struct json *json, const struct facts *facts);
void json_resident_facts(struct json *json, const struct facts *facts);
void json_verdict(struct json *json, const struct report *report, const struct verdict *verdict);
void json_wrappers(struct json *json, const struct recording *recording);

/* Writes the member `facts` of a comparison: the change of each fact that both reports have. */
void json_changes(struct json *json, const struct facts *before, const struct facts *after,
                  const struct estimate *scale);

/* Writes the members `resident`, `mapped` and `stacks`. */
wn_status json_resident(struct json *json, const struct facts *facts,
                        const struct report_json_options *options);

/* Whether the file tells what a measure sums. */
bool json_has_measure(const struct report *report, enum measure measure);
/* SPDX-License-Identifier: MIT */
