/* Numbers as queries and options have them. */
#include "analysis/query/query.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
  const char *name;
  double factor;
};

static bool number_with_unit(const char *text, const struct unit *units, size_t count, double *number) {
  char *end;
  double value = strtod(text, &end);
  if (end == text || !(value >= 0)) return false;
  for (size_t i = 0; i < count; i++)
    if (!strcasecmp(end, units[i].name)) return *number = value * units[i].factor, true;
  return false;
}

/* ---- shared ---- */

bool query_bytes(const char *text, double *bytes) {
  static const struct unit units[] = {
      {"", 1},        {"B", 1},        {"K", 1e3},     {"KB", 1e3},     {"M", 1e6},     {"MB", 1e6},
      {"G", 1e9},     {"GB", 1e9},     {"T", 1e12},    {"TB", 1e12},    {"Ki", 0x1p10}, {"KiB", 0x1p10},
      {"Mi", 0x1p20}, {"MiB", 0x1p20}, {"Gi", 0x1p30}, {"GiB", 0x1p30}, {"Ti", 0x1p40}, {"TiB", 0x1p40}};
  return number_with_unit(text, units, sizeof units / sizeof *units, bytes);
}

bool query_time(const char *text, double *ns) {
  static const struct unit units[] = {{"s", 1e9},  {"ms", 1e6},   {"us", 1e3},   {"ns", 1},
                                      {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {"", 0}};
  bool bare = !text[strspn(text, "0123456789.")];
  if (!number_with_unit(text, units, sizeof units / sizeof *units, ns)) return false;
  return !bare || strtod(text, NULL) == 0; /* only 0 needs no unit */
}
/* SPDX-License-Identifier: MIT */
