/* The answers of `winnow fleet`. Each asks and prints, and returns an exit code, after a message.
 *
 *   top       the sites that hold the most now, or allocated the most
 *   releases  what the hosts of each release have on average, of a site or in all
 *   diff      what changed from one release to another, for the mean of the hosts of each
 *   hosts     the hosts that have more or less than what is usual */
#pragma once

#include "analysis/load/estimate.h"
#include "cli/fleet/question.h"
#include "export/json.h"

int fleet_top(struct question_of_fleet *question);
int fleet_releases(struct question_of_fleet *question);
int fleet_diff(struct question_of_fleet *question, const char *before, const char *after);
int fleet_hosts(struct question_of_fleet *question);

/* What an answer is about. */
struct fleet_scope {
  uint64_t hosts, processes, partial_hosts; /* partial_hosts: PARTIAL in export/clickhouse.h */
};

int scope_find(struct question_of_fleet *question, struct fleet_scope *scope);

/* Begin an answer: the lines that say what it is about (such as "held now"), and of which time; or the
 * members of a JSON object, which the caller ends. `now`: what is held is asked about now;
 * in other answers hosts with missing records are left out. */
void scope_print(const struct question_of_fleet *question, const struct fleet_scope *scope, const char *about,
                 bool now);
void scope_write(const struct question_of_fleet *question, const struct fleet_scope *scope,
                 const char *action, struct json *json);

/* "held" or "allocated". */
const char *kind_word(const struct question_of_fleet *question);

/* The number of rows to print; by default 10. */
size_t rows_wanted(const struct question_of_fleet *question, size_t count);

/* The name of a site for a table; of one whose name was lost its number, which is written to `buffer`. */
const char *site_name(const char *name, const char *number, char buffer[40]);

/* TABLES. On a terminal or as JSON: a row is a list of cells, the last of which is a name.
 * BYTES and CHANGE, which has a sign, have a column for their uncertainty. */
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
