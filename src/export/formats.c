/* The table of formats. */
#include "export/formats.h"

#include "base/utf8.h"
#include <string.h>

const struct format_kind format_kinds[FORMATS] = {
#define EXPORT_FORMAT(name, extension, kind, needs, rows, summary) \
  [FORMAT_##name] = {#name, extension, EXPORT_##kind, EXPORT_##needs, rows, summary, export_##name},
    EXPORT_FORMATS(EXPORT_FORMAT)
#undef EXPORT_FORMAT
};

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
/* SPDX-License-Identifier: MIT */
