/* The tables of `winnow fleet`, on a terminal or as JSON: a row is a list of cells, the last of which
 * is a name. */
#pragma once

#include "analysis/load/estimate.h"
#include "export/json.h"
#include <stddef.h>

/* BYTES and CHANGE, which has a sign, have a column for their uncertainty. */
enum fleet_cell_kind {
  FLEET_BYTES,
  FLEET_CHANGE,
  FLEET_BLOCKS,
  FLEET_COUNT,
  FLEET_SHARE,
  FLEET_WORD,
  FLEET_NAME
};

struct fleet_cell {
  enum fleet_cell_kind kind;
  const char *name;         /* the head of the column, and with "_" for blanks the member in JSON */
  struct estimate estimate; /* BYTES, CHANGE */
  double number;            /* BLOCKS, COUNT, SHARE */
  const char
      *text; /* WORD, NAME; beside a NAME stands `beside`, or NULL; in JSON by this name, or as "module" */
  const char *beside, *beside_name;
};

/* A terminal that is too narrow has not all columns. `dim`: the row says little. */
void fleet_print_head(const struct fleet_cell *cells, size_t count);
void fleet_print_row(const struct fleet_cell *cells, size_t count, bool dim);
void fleet_write_row(struct json *json, const struct fleet_cell *cells, size_t count);
/* SPDX-License-Identifier: MIT */
