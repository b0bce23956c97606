/* Prints the tables that `winnow ship` fills, as ClickHouse takes them: one statement a line. */
#include "export/clickhouse.h"
#include <stdlib.h>

static const char *const engines[CLICKHOUSE_TABLES] = {
    [CLICKHOUSE_FRAMES] = "ReplacingMergeTree(seen) ORDER BY frame",
    [CLICKHOUSE_STACKS] = "ReplacingMergeTree(seen) ORDER BY stack",
    [CLICKHOUSE_SITES] = "ReplacingMergeTree(seen) ORDER BY site",
    [CLICKHOUSE_SAMPLES] = "MergeTree PARTITION BY day ORDER BY (service, kind, site, time, stack, host)",
    [CLICKHOUSE_LOADS] = "MergeTree PARTITION BY day ORDER BY (host, run, time)"};

int main(void) {
  puts("CREATE DATABASE winnow");
  for (enum clickhouse_table table = 0; table < CLICKHOUSE_TABLES; table++) {
    char *columns = NULL;
    size_t size;
    FILE *out = open_memstream(&columns, &size);
    if (!out) return 1;
    clickhouse_write_columns(out, table);
    if (fclose(out)) return 1;
    for (char *at = columns; *at; at++)
      if (*at == '\n') *at = ' ';
    printf("CREATE TABLE winnow.%s (%s) ENGINE = %s\n", clickhouse_table_name(table), columns,
           engines[table]);
    free(columns);
  }
  return 0;
}
/* SPDX-License-Identifier: MIT */
