/* The report as one JSON object: docs/report-json.md, schema 1. */
#ifndef EXPORT_REPORT_JSON_H
#define EXPORT_REPORT_JSON_H

#include "analysis/sites.h"
#include "export/json.h"

struct report_json_options {
  enum grouping grouping;
  enum sites_order order;
  size_t top;        /* rows of a table */
  const char *at;    /* the moment, as it was asked for: "peak" */
  const char *where; /* likewise; NULL: no query */
};

wn_status report_write_json(FILE *out, const struct report *report,
                            const struct report_json_options *options);

/* ---- its parts ---- */

/* The member `heap`: how a collected heap lived. */
void json_heap(struct json *json, const struct report *report);

/* The members `resident`, `mapped` and `stacks`. */
wn_status json_resident(struct json *json, const struct report *report,
                        const struct report_json_options *options);

#endif
/* SPDX-License-Identifier: MIT */
