/* Writes statements for ClickHouse, of the kind that version 18.16 understands, and newer ones. */
#include "cli/fleet/schema.h"

#include "export/clickhouse_columns.h"
#include <ctype.h>
#include <string.h>

enum { NAME_MOST = 64 };

/* How the rows of a table are kept. Rows of one key are one row: the newest, by `seen`. */
static const char *const engines[CLICKHOUSE_TABLES] = {
    [CLICKHOUSE_FRAMES] = "ReplacingMergeTree(seen) ORDER BY frame",
    [CLICKHOUSE_STACKS] = "ReplacingMergeTree(seen) ORDER BY stack",
    [CLICKHOUSE_SITES] = "ReplacingMergeTree(seen) ORDER BY site",
    [CLICKHOUSE_SAMPLES] = "MergeTree PARTITION BY day ORDER BY (service, kind, site, time, stack, host)",
    [CLICKHOUSE_LOADS] = "ReplacingMergeTree PARTITION BY day ORDER BY (host, run, batch)"};

#define DAILY "sites_daily"

/* The sums of a day's row: a column's name and type. */
#define DECLARE_SUM(type, name) ",\n  " #name " Float64"
#define NAME_SUM(type, name)    "," #name
#define ADD_SUM(type, name)     ", sum(" #name ")"
#define SUMS(OF)                CLICKHOUSE_SUM_COLUMNS(OF, bytes) CLICKHOUSE_SUM_COLUMNS(OF, blocks)

static bool schema_is_name(const char *text, const char *others) {
  size_t length = strlen(text);
  for (const char *at = text; *at; at++)
    if (!isalnum((unsigned char)*at) && !strchr(others, *at)) return false;
  return length > 0 && length <= NAME_MOST && !isdigit((unsigned char)*text);
}

static void schema_write_all(FILE *out, const char *database, const char *cluster, const char *table) {
  fprintf(out, "CREATE TABLE IF NOT EXISTS %s.%s_all AS %s.%s ENGINE = ", database, table, database, table);
  if (cluster)
    fprintf(out, "Distributed('%s', %s, %s);\n\n", cluster, database, table);
  else
    fprintf(out, "Merge(%s, '^%s$');\n\n", database, table);
}

static void write_table(FILE *out, const char *database, enum clickhouse_table table) {
  fprintf(out, "CREATE TABLE IF NOT EXISTS %s.%s (\n", database, clickhouse_table_name(table));
  clickhouse_write_columns(out, table);
  fprintf(out, ") ENGINE = %s;\n\n", engines[table]);
}

static void write_daily(FILE *out, const char *database) {
  fprintf(out,
          "-- filled for each day by 'winnow fleet roll'\n"
          "CREATE TABLE IF NOT EXISTS %s." DAILY " (\n"
          "  day Date,\n  service String,\n  release String,\n"
          "  kind " CLICKHOUSE_KINDS ",\n  site UInt64,\n"
          "  hosts UInt64,\n  runs UInt64,\n  n UInt64,\n  unit Float64" SUMS(
              DECLARE_SUM) "\n"
                           ") ENGINE = MergeTree PARTITION BY day "
                           "ORDER BY (service, kind, site, release);\n\n",
          database);
}

/* ---- shared ---- */

bool schema_names_database(const char *text) { return schema_is_name(text, "_"); }
bool schema_names_cluster(const char *text) { return schema_is_name(text, "_-."); }

void schema_write(FILE *out, const char *database, const char *cluster) {
  fputs("-- The tables of Winnow's fleet, on each server: clickhouse-client --multiquery <this\n", out);
  fprintf(out, "CREATE DATABASE IF NOT EXISTS %s;\n\n", database);
  for (int i = 0; i < CLICKHOUSE_TABLES; i++) {
    write_table(out, database, (enum clickhouse_table)i);
    schema_write_all(out, database, cluster, clickhouse_table_name((enum clickhouse_table)i));
  }
  write_daily(out, database);
  schema_write_all(out, database, cluster, DAILY);
}

void schema_write_roll(FILE *out, const char *database, const char *day) {
  fprintf(out,
          "ALTER TABLE %s." DAILY " DROP PARTITION '%s';\n"
          "INSERT INTO %s." DAILY " (day,service,release,kind,site,hosts,runs,n,unit" SUMS(
              NAME_SUM) ")\n"
                        "SELECT day, service, release, kind, site, uniqExact(host), uniqExact(run), "
                        "sum(n), "
                        "max(unit)" SUMS(ADD_SUM) "\n"
                                                  "FROM %s.samples\n"
                                                  "WHERE day = '%s' AND batch IN (SELECT batch FROM %s.loads "
                                                  "WHERE day = '%s')\n"
                                                  "  AND (kind != 'held' OR (host, run, time) IN\n"
                                                  "    (SELECT host, run, max(time) FROM %s.loads WHERE day "
                                                  "= '%s' GROUP BY host, run))\n"
                                                  "GROUP BY day, service, release, kind, site;\n",
          database, day, database, database, day, database, day, database, day);
}
/* SPDX-License-Identifier: MIT */
