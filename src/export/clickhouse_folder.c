/* The formats `clickhouse` and `clickhouse_tsv`: a folder with a file for each table, which
 * `INSERT INTO table FORMAT ...` takes. */
#include "export/clickhouse.h"
#include "export/formats.h"

static wn_status clickhouse_folder_write_all(const struct export *export, enum clickhouse_encoding encoding) {
  struct clickhouse_told told = {.count = 0};
  struct clickhouse *clickhouse;
  size_t rows;
  wn_status error = clickhouse_create(export->report, &(struct clickhouse_labels){NULL, NULL}, encoding,
                                      &told, &clickhouse);
  if (error) return error;
  uint64_t last = clickhouse_last(clickhouse);
  for (uint64_t window = clickhouse_first(clickhouse); !error && window <= last; window++)
    error = clickhouse_window(clickhouse, window, export->files, &rows);
  clickhouse_destroy(clickhouse);
  clickhouse_forget(&told);
  return error;
}

/* ---- shared ---- */

wn_status export_clickhouse(FILE *out, const struct export *export) {
  (void)out;
  return clickhouse_folder_write_all(export, CLICKHOUSE_BINARY);
}

wn_status export_clickhouse_tsv(FILE *out, const struct export *export) {
  (void)out;
  return clickhouse_folder_write_all(export, CLICKHOUSE_TEXT);
}
/* SPDX-License-Identifier: MIT */
