/* Writes JSON (RFC 8259), with commas, indents and escapes. Errors are those of the stream
 * (ferror). */
#pragma once

#include "analysis/compare/comparison.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
  FILE *out;
  int depth;
  bool follows; /* a value precedes in this object or array */
  bool compact; /* for programs: all in one line; set by the caller */
};

/* `name` is the member's name; NULL in arrays and at the top. `bracket` is { or [, and } or ]. */
void json_begin(struct json *json, const char *name, char bracket);
void json_end(struct json *json, char bracket);
void json_string(struct json *json, const char *name, const char *text);
void json_number(struct json *json, const char *name, double number);
void json_integer(struct json *json, const char *name, uint64_t number);
void json_bool(struct json *json, const char *name, bool value);
void json_null(struct json *json, const char *name);
void json_estimate(struct json *json, const char *name, const struct estimate *estimate);

/* Writes {"before": ..., "after": ..., "difference": ...}, three estimates. */
void json_change(struct json *json, const char *name, const struct change *change);
/* SPDX-License-Identifier: MIT */
