/* The answers of `winnow fleet`. Each asks and prints, and returns an exit code, after a message.
 *
 *   top       the sites that hold the most now, or allocated the most
 *   releases  what the hosts of each release have on average, of a site or in all
 *   diff      what changed from one release to another, for the mean of the hosts of each
 *   hosts     the hosts that have more or less than what is usual */
#pragma once

#include "cli/fleet/question.h"
#include "cli/fleet/table.h"

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
/* SPDX-License-Identifier: MIT */
