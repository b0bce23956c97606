/* Folded stacks: one line for each stack, the functions from the outermost to the innermost with
 * semicolons between them, a blank, and the value. flamegraph.pl and most viewers read them.
 *
 * The format has no way to quote, so a few characters of names are replaced. ';' becomes ':'.
 * What a terminal obeys, line feeds among it, and bytes that are no UTF-8 become '?'. The blank
 * in front of a last word of digits becomes '_': with it, flamegraph.pl would take the digits
 * for a second value. */
#include "export/formats.h"

#include "base/utf8.h"
#include <inttypes.h>
#include <string.h>

static void folded_write_name(FILE *out, char *name) {
  utf8_make_plain(name);
  for (char *at = name; (at = strchr(at, ';'));) *at = ':';
  size_t length = strlen(name), digits = length;
  while (digits && strchr("0123456789.", name[digits - 1])) digits--;
  if (digits && digits < length && name[digits - 1] == ' ') name[digits - 1] = '_';
  fputs(name, out);
}

static void folded_write_stack(FILE *out, struct export_stacks *stacks, uint32_t node) {
  char name[STACK_LABEL_MOST];
  for (size_t at = export_stacks_path(stacks, node); at-- > 0;) {
    export_stacks_label(stacks, stacks->paths.nodes[stacks->path[at]].label, name);
    folded_write_name(out, name);
    fputc(at ? ';' : ' ', out);
  }
}

/* ---- shared ---- */

wn_status export_folded(FILE *out, const struct export *export) {
  struct export_stacks stacks;
  wn_status error = export_stacks_create(export->report, export->grouping, &stacks);
  if (error) return error;
  for (size_t i = 0; i < stacks.paths.node_count; i++) {
    uint64_t value = stacks.values[stacks.order[i]].value[export->quantity];
    if (!value) continue;
    folded_write_stack(out, &stacks, stacks.order[i]);
    fprintf(out, "%" PRIu64 "\n", value);
  }
  export_stacks_destroy(&stacks);
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
