/* Writes the title or the arguments of a process, from the run record of its trace. */
#include "cli/text.h"

#include "base/text.h"
#include "trace/event.h"
#include <string.h>

static void write_arguments(FILE *out, const struct trace_text *command, bool brief) {
  text_word(out, brief ? command_name(command->bytes) : command->bytes);
  for (uint32_t at = (uint32_t)strlen(command->bytes) + 1; at < command->length;) {
    fputc(' ', out);
    text_word(out, command->bytes + at);
    at += (uint32_t)strlen(command->bytes + at) + 1;
  }
}

/* ---- shared ---- */

int process_name_title(const struct trace_run *run) {
  uint32_t length = run->title.length;
  while (length && run->title.bytes[length - 1] == ' ') length--;
  return (int)length;
}

bool process_name_write(FILE *out, const struct trace_run *run, bool brief) {
  int title = process_name_title(run);
  if (title)
    text_plain(out, run->title.bytes, (size_t)title);
  else if (run->command.length)
    write_arguments(out, &run->command, brief);
  else
    return false;
  if (run->name.length) {
    fputs(" [", out);
    text_plain(out, run->name.bytes, run->name.length);
    fputc(']', out);
  }
  return true;
}
/* SPDX-License-Identifier: MIT */
