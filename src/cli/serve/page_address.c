/* The address of the view that options ask for. */
#include "cli/serve/page_address.h"

#include "base/text.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Percent-encodes a text for the page's address. */
static void put_value(FILE *out, const char *text) {
  for (; *text; text++) {
    bool plain =
        (unsigned char)*text < 128 && (isalnum((unsigned char)*text) || strchr("_.:,/~=!*()[]|$@-", *text));
    fprintf(out, plain ? "%c" : *text == ' ' ? "+" : "%%%02X", (unsigned char)*text);
  }
}

/* NULL for standard input. */
static const char *page_address_name_of(const char *file, bool folders) {
  if (!file || !strcmp(file, "-")) return NULL;
  return folders ? file : path_name(file);
}

/* ---- shared ---- */

char *page_address(const struct report_options *options, enum when moment) {
  char *text = NULL;
  size_t size;
  bool by_option = options->at_text && options->at_text != options->at_of_query, compared = options->other,
       later = moment != AT_PEAK, at = by_option && (moment == AT_TIME || (compared && later));
  if (!compared && !later && !options->where && options->grouping == BY_FUNCTION) return NULL;
  FILE *out = open_memstream(&text, &size);
  if (!out) return NULL;
  fputs(compared ? "compare" : later ? "end" : "peak", out);
  if (at || options->where) fputs("&where=", out);
  if (at) put_value(out, "at = "), put_value(out, options->at_text);
  if (at && options->where) put_value(out, " and (");
  if (options->where) put_value(out, options->where);
  if (at && options->where) put_value(out, ")");
  if (options->grouping != BY_FUNCTION) fprintf(out, "&by=%s", grouping_name(options->grouping));
  fclose(out);
  return text;
}

struct html_head page_head(const struct report_options *options, const char *address, bool folders) {
  return (struct html_head){address, page_address_name_of(options->file, folders),
                            page_address_name_of(options->other, folders)};
}
/* SPDX-License-Identifier: MIT */
