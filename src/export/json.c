/* Writes JSON. Each byte of a text that is not valid UTF-8, as in some file names, becomes U+FFFD.
 * Numbers that are not finite become null. */
#include "export/json.h"

#include "base/utf8.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static void quote(FILE *out, const char *text) {
  fputc('"', out);
  for (size_t left = strlen(text), length; left; text += length ? length : 1, left -= length ? length : 1) {
    uint32_t code;
    length = utf8_decode(text, left, &code);
    if (*text == '"' || *text == '\\')
      fprintf(out, "\\%c", *text);
    else if (length && (code < 0x20 || (code >= 0x7f && code < 0xa0)))
      fprintf(out, "\\u%04x", code);
    else if (length)
      fwrite(text, 1, length, out);
    else
      fputs("\\ufffd", out);
  }
  fputc('"', out);
}

static void begin_line(const struct json *json) {
  if (!json->compact) fprintf(json->out, "\n%*s", json->depth * 2, "");
}

static void begin_value(struct json *json, const char *name) {
  if (json->follows) fputc(',', json->out);
  if (json->depth) begin_line(json);
  if (name) {
    quote(json->out, name);
    fputs(": ", json->out);
  }
  json->follows = true;
}

static void json_print_number(FILE *out, const char *before, double number) {
  fputs(before, out);
  if (isfinite(number))
    fprintf(out, "%.15g", number);
  else
    fputs("null", out);
}

/* ---- shared ---- */

void json_begin(struct json *json, const char *name, char bracket) {
  begin_value(json, name);
  fputc(bracket, json->out);
  json->depth++;
  json->follows = false;
}

void json_end(struct json *json, char bracket) {
  json->depth--;
  if (json->follows) begin_line(json);
  fputc(bracket, json->out);
  json->follows = true;
  if (!json->depth) fputc('\n', json->out);
}

void json_string(struct json *json, const char *name, const char *text) {
  begin_value(json, name);
  quote(json->out, text);
}

void json_number(struct json *json, const char *name, double number) {
  begin_value(json, name);
  json_print_number(json->out, "", number);
}

void json_integer(struct json *json, const char *name, uint64_t number) {
  begin_value(json, name);
  fprintf(json->out, "%" PRIu64, number);
}

void json_bool(struct json *json, const char *name, bool value) {
  begin_value(json, name);
  fputs(value ? "true" : "false", json->out);
}

void json_null(struct json *json, const char *name) {
  begin_value(json, name);
  fputs("null", json->out);
}

void json_estimate(struct json *json, const char *name, const struct estimate *estimate) {
  begin_value(json, name);
  json_print_number(json->out, "{\"estimate\": ", estimate->estimate);
  json_print_number(json->out, ", \"low\": ", estimate->low);
  json_print_number(json->out, ", \"high\": ", estimate->high);
  fprintf(json->out, ", \"samples\": %" PRIu64 "}", estimate->samples);
}

void json_change(struct json *json, const char *name, const struct change *change) {
  json_begin(json, name, '{');
  json_estimate(json, "before", &change->before);
  json_estimate(json, "after", &change->after);
  json_estimate(json, "difference", &change->difference);
  json_end(json, '}');
}
/* SPDX-License-Identifier: MIT */
