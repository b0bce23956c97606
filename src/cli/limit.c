/* Parses limits, and compares changes with them.
 *
 *   limit:  measure ("<" | ">") sign amount
 *   amount: bytes as in queries, such as 10M; or a number and "%"
 */
#include "cli/limit.h"

#include "base/error.h"
#include <stdlib.h>
#include <string.h>

static const char *after_blanks(const char *text) { return text + strspn(text, " \t"); }

static wn_status limit_fail(const char *text, const char *expected) {
  return error_set(WN_EINVAL, "'%s': expected %s, as in 'held > +10M' or 'allocated > +5%%'", text, expected);
}

static bool read_measure(const char **at, enum measure *measure) {
  size_t length = strspn(*at, "abcdefghijklmnopqrstuvwxyz");
  for (int i = 0; i < MEASURES; i++) {
    const char *word = measure_word((enum measure)i);
    if (strlen(word) != length || memcmp(word, *at, length) != 0) continue;
    *measure = (enum measure)i;
    *at = after_blanks(*at + length);
    return true;
  }
  return false;
}

static bool read_amount(const char *text, struct limit *limit) {
  char *end;
  double number = strtod(text, &end);
  const char *unit = after_blanks(end);
  limit->relative = end > text && *unit == '%' && !*after_blanks(unit + 1);
  limit->amount = number / 100;
  return limit->relative ? number >= 0 && number < 1e9 : query_bytes(text, &limit->amount);
}

/* ---- shared ---- */

wn_status limit_parse(const char *text, struct limit *limit) {
  const char *at = after_blanks(text);
  *limit = (struct limit){.text = text};
  if (!read_measure(&at, &limit->measure))
    return limit_fail(text, "held, allocated, alive, churn, lasting or promoted");
  if (*at != '<' && *at != '>') return limit_fail(text, "> or < after the measure");
  limit->above = *at == '>';
  at = after_blanks(at + 1);
  if (*at != '+' && *at != '-') return limit_fail(text, "a change that begins with + or -");
  bool negative = *at == '-';
  if (at[1] == '+' || at[1] == '-' || !read_amount(at + 1, limit))
    return limit_fail(text, "bytes or a percentage");
  if (negative) limit->amount = -limit->amount;
  return WN_OK;
}

bool limit_is_passed(const struct limit *limit, const struct change *bytes, bool sure) {
  double change = bytes->difference.estimate, amount = limit->amount;
  if (limit->relative) amount *= bytes->before.estimate;
  return sure && (limit->above ? change > amount : change < amount);
}
/* SPDX-License-Identifier: MIT */
