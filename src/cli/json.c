/* A JSON writer. Text that is not UTF-8, as file names may be, is written with U+FFFD for each bad byte. */
#include "cli/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The bytes of the UTF-8 character at `text`, 0 if it is not one. */
static int character(const unsigned char *text) {
  int more = *text < 0x80                    ? 0
             : *text >= 0xc2 && *text < 0xe0 ? 1
             : (*text & 0xf0) == 0xe0        ? 2
             : *text >= 0xf0 && *text < 0xf5 ? 3
                                             : -1;
  if (more < 0) return 0;
  for (int i = 1; i <= more; i++)
    if ((text[i] & 0xc0) != 0x80) return 0;
  bool overlong = (*text == 0xe0 && text[1] < 0xa0) || (*text == 0xf0 && text[1] < 0x90);
  bool surrogate = *text == 0xed && text[1] >= 0xa0, beyond = *text == 0xf4 && text[1] >= 0x90;
  return overlong || surrogate || beyond ? 0 : more + 1;
}

static void quote(FILE *out, const char *text) {
  fputc('"', out);
  for (const unsigned char *at = (const unsigned char *)text; *at;) {
    int length = character(at);
    if (*at == '"' || *at == '\\')
      fprintf(out, "\\%c", *at);
    else if (*at < 0x20 || *at == 0x7f)
      fprintf(out, "\\u%04x", *at);
    else if (length)
      fwrite(at, 1, (size_t)length, out);
    else
      fputs("\\ufffd", out);
    at += length ? length : 1;
  }
  fputc('"', out);
}

static void lead(struct json *json, const char *name) {
  if (json->follows) fputc(',', json->out);
  if (json->depth) fprintf(json->out, "\n%*s", json->depth * 2, "");
  if (name) {
    quote(json->out, name);
    fputs(": ", json->out);
  }
  json->follows = true;
}

/* ---- shared ---- */

void json_begin(struct json *json, const char *name, char bracket) {
  lead(json, name);
  fputc(bracket, json->out);
  json->depth++;
  json->follows = false;
}

void json_end(struct json *json, char bracket) {
  json->depth--;
  if (json->follows) fprintf(json->out, "\n%*s", json->depth * 2, "");
  fputc(bracket, json->out);
  json->follows = true;
  if (!json->depth) fputc('\n', json->out);
}

void json_string(struct json *json, const char *name, const char *text) {
  lead(json, name);
  quote(json->out, text);
}

void json_number(struct json *json, const char *name, double number) {
  lead(json, name);
  if (isfinite(number))
    fprintf(json->out, "%.15g", number);
  else
    fputs("null", json->out);
}

void json_integer(struct json *json, const char *name, uint64_t number) {
  lead(json, name);
  fprintf(json->out, "%" PRIu64, number);
}

void json_bool(struct json *json, const char *name, bool value) {
  lead(json, name);
  fputs(value ? "true" : "false", json->out);
}

void json_null(struct json *json, const char *name) {
  lead(json, name);
  fputs("null", json->out);
}

void json_estimate(struct json *json, const char *name, const struct estimate *estimate) {
  lead(json, name);
  fprintf(json->out, "{\"estimate\": %.15g, \"low\": %.15g, \"high\": %.15g, \"samples\": %" PRIu64 "}",
          estimate->estimate, estimate->low, estimate->high, estimate->samples);
}
/* SPDX-License-Identifier: MIT */
