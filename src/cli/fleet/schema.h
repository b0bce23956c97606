/* The tables of a fleet in ClickHouse.
 *
 * Each server has the tables that recordings are shipped to, and tables with "_all" at the end of
 * their names that ask those of all servers of a cluster; without a cluster, its own. The columns are
 * those of export/clickhouse_columns.h.
 *
 * DAYS. sites_daily has of each site one row a day, for questions about months; of `held` what was
 * held in the last window of each run of that day. It is filled from batches that are complete. A
 * day that is summed again is dropped first. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#define SCHEMA_DATABASE "winnow"

/* Whether a text can be the name of a database, or of a cluster: letters, digits and "_"; of a
 * cluster also "-" and ".". */
bool schema_names_database(const char *text);
bool schema_names_cluster(const char *text);

/* Writes the statements that make the tables which are not there yet. `cluster` NULL: one server. */
void schema_write(FILE *out, const char *database, const char *cluster);

/* Writes the statements that sum a day (YYYY-MM-DD) of one server. DAYS */
void schema_write_roll(FILE *out, const char *database, const char *day);
/* SPDX-License-Identifier: MIT */
