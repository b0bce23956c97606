/* Writes a comparison of two reports as one JSON object: docs/report-json.md, schema 1. */
#pragma once

#include "analysis/compare/pair.h"
#include <stdio.h>

struct diff_json_options {
  enum grouping grouping;
  enum extent extent;
  size_t top;        /* the largest number of rows of a table */
  const char *at;    /* the moments as the user gave them, such as "peak" */
  const char *where; /* the query as the user gave it; NULL: none */
};

wn_status diff_write_json(FILE *out, const struct pair *pair, const struct diff_json_options *options);
/* SPDX-License-Identifier: MIT */
