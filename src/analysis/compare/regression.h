/* The verdict of a comparison of two runs: what got worse for certain, or better. */
#ifndef ANALYSIS_REGRESSION_H
#define ANALYSIS_REGRESSION_H

#include "analysis/compare/facts.h"

enum regression_kind { REGRESSION_UNKNOWN, REGRESSION_NONE, REGRESSION_WORSE, REGRESSION_BETTER };

struct regression {
  enum regression_kind kind;
  enum fact_name fact; /* the first that changed */
  struct change change;
};

/* The facts that decide, in the order of their weight: what was held at the moment that both reports were
 * asked for, what was never freed, what was allocated. */
enum { REGRESSION_FACTS = 3 };
const enum fact_name *regression_facts(const struct report *report);

/* Judges two runs by these facts. */
struct regression regression_find(const struct pair *pair, const struct facts *before,
                                  const struct facts *after);

/* "regression", for programs, and "REGRESSION", for people. Where every block was recorded, there is no
 * noise. */
const char *regression_word(enum regression_kind kind);
const char *regression_title(enum regression_kind kind, bool exact);

#endif
/* SPDX-License-Identifier: MIT */
