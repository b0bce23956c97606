/* Parameters: ranges, and the text that sets them. */
#include "gc/api/params.h"

#include "base/error.h"
#include <string.h>

#define CONTROL_ROW(letter, name, least, most, what) \
  {letter, #name, offsetof(struct params, control.name), least, most, what},
#define SETTING_ROW(letter, name, least, most, what) \
  {letter, #name, offsetof(struct params, name), least, most, what},
const struct parameter parameters[PARAMETERS] = {GC_CONTROLS(CONTROL_ROW) GC_SETTINGS(SETTING_ROW)};

_Static_assert(offsetof(struct params, control) == 0, "control_field");
_Static_assert(sizeof(wn_gc_control) == CONTROLS * sizeof(long), "each member has a row");

/* ---- reading ---- */

struct reader {
  const char *source, *text, *at;
};

static wn_status params_fail(const struct reader *reader, const char *at, const char *expected) {
  return error_set(WN_EINVAL, "%s, byte %zu: expected %s", reader->source, (size_t)(at - reader->text) + 1,
                   expected);
}

static const struct parameter *params_find(const char *name, size_t length) {
  for (const struct parameter *row = parameters; row < parameters + PARAMETERS; row++) {
    if (length == 1 && *name == row->letter) return row;
    if (strlen(row->name) == length && !memcmp(row->name, name, length)) return row;
  }
  return NULL;
}

/* The value of a digit; 16 if it is none. */
static unsigned params_digit(char c) {
  if (c >= '0' && c <= '9') return (unsigned)(c - '0');
  if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A') + 10;
  return 16;
}

static unsigned suffix_shift(char c) { return c == 'k' ? 10 : c == 'M' ? 20 : c == 'G' ? 30 : 0; }

static wn_status params_read_number(struct reader *reader, long *number) {
  const char *begin = reader->at;
  unsigned base = begin[0] == '0' && begin[1] == 'x' ? 16 : 10;
  reader->at += base == 16 ? 2 : 0;
  if (params_digit(*reader->at) >= base) return params_fail(reader, reader->at, "a digit");
  long value = 0;
  bool fits = true;
  for (; params_digit(*reader->at) < base; reader->at++)
    fits = fits && !__builtin_mul_overflow(value, (long)base, &value) &&
           !__builtin_add_overflow(value, (long)params_digit(*reader->at), &value);
  unsigned shift = suffix_shift(*reader->at);
  if (shift) reader->at++;
  fits = fits && !__builtin_mul_overflow(value, 1L << shift, &value);
  *number = value;
  if (*reader->at && *reader->at != ',')
    return params_fail(reader, reader->at, "k, M, G, a comma or the end");
  return fits ? WN_OK : params_fail(reader, begin, "a number of 63 bits");
}

static wn_status check_params(const struct parameter *row, long value) {
  if (value >= row->least && value <= row->most) return WN_OK;
  return error_set(WN_EINVAL, "%s (%s) is %ld, which is not from %ld to %ld", row->name, row->what, value,
                   row->least, row->most);
}

static wn_status params_read_item(struct reader *reader, struct params *params) {
  const char *name = reader->at;
  size_t length = strcspn(name, "=,");
  const struct parameter *row = params_find(name, length);
  if (!row) return params_fail(reader, name, "the name of a parameter");
  long value = 1;
  reader->at += length;
  const char *at = name;
  if (*reader->at == '=') {
    at = ++reader->at;
    wn_status status = params_read_number(reader, &value);
    if (status) return status;
  }
  if (value < row->least || value > row->most)
    return error_set(WN_EINVAL, "%s, byte %zu: expected %s from %ld to %ld", reader->source,
                     (size_t)(at - reader->text) + 1, row->name, row->least, row->most);
  *parameter_in(params, row) = value;
  return WN_OK;
}

/* ---- shared ---- */

wn_status params_check(const wn_gc_control *control) {
  wn_gc_control copy = *control;
  wn_status status = WN_OK;
  for (unsigned i = 0; i < CONTROLS && !status; i++)
    status = check_params(&parameters[i], *control_field(&copy, &parameters[i]));
  return status;
}

wn_status params_parse(const char *text, const char *source, struct params *params) {
  struct params parsed = *params;
  struct reader reader = {source, text, text};
  wn_status status = *text ? params_read_item(&reader, &parsed) : WN_OK;
  while (!status && *reader.at == ',') {
    reader.at++;
    status = params_read_item(&reader, &parsed);
  }
  if (!status) *params = parsed;
  return status;
}
/* SPDX-License-Identifier: MIT */
