/* The table of formats. */
#include "export/formats.h"

#include "base/utf8.h"
#include "export/clickhouse.h"
#include <inttypes.h>
#include <string.h>

const struct format_kind format_kinds[FORMATS] = {
#define EXPORT_FORMAT(name, extension, kind, needs, rows, summary) \
  [FORMAT_##name] = {#name, extension, EXPORT_##kind, EXPORT_##needs, rows, summary, export_##name},
    EXPORT_FORMATS(EXPORT_FORMAT)
#undef EXPORT_FORMAT
};

const char *const *format_files(const struct format_kind *format) {
#define BINARY_FILE(TABLE, table) #table ".rowbinary",
#define TEXT_FILE(TABLE, table)   #table ".tsv",
  static const char *const trace[] = {"stream", "metadata", NULL},
                           *const binary[] = {CLICKHOUSE_TABLE_LIST(BINARY_FILE) NULL},
                           *const text[] = {CLICKHOUSE_TABLE_LIST(TEXT_FILE) NULL};
  return format == &format_kinds[FORMAT_ctf]          ? trace
         : format == &format_kinds[FORMAT_clickhouse] ? binary
                                                      : text;
}

void export_command(const struct report *report, char text[EXPORT_COMMAND_MOST]) {
  const struct trace_text *command = &source_run(report->samples->source)->command;
  size_t length = command->length < EXPORT_COMMAND_MOST ? command->length : EXPORT_COMMAND_MOST - 1;
  if (length) memcpy(text, command->bytes, length);
  while (length && !text[length - 1]) length--;
  text[length] = 0;
  for (size_t i = 0; i < length; i++)
    if (!text[i]) text[i] = ' ';
  utf8_make_plain(text);
}

bool export_is_exact(const struct report *report) {
  return report->recording->rate >= 1 && report->recording->kept >= 1 && !report->recording->partial &&
         report->samples->asleep_share <= 0;
}

void export_total(const struct report *report, const struct estimate *total, char text[EXPORT_TOTAL_MOST]) {
  if (export_is_exact(report))
    snprintf(text, EXPORT_TOTAL_MOST, "%.0f", total->estimate);
  else
    snprintf(text, EXPORT_TOTAL_MOST, "%.0f, 95 %% interval %.0f to %.0f, from %" PRIu64 " samples",
             total->estimate, total->low, total->high, total->samples);
}
/* SPDX-License-Identifier: MIT */
