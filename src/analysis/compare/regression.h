/* The verdict of a comparison of two runs: what got worse for certain, or better. */
#pragma once

#include "analysis/compare/facts.h"

enum regression_kind { REGRESSION_UNKNOWN, REGRESSION_NONE, REGRESSION_WORSE, REGRESSION_BETTER };

struct regression {
  enum regression_kind kind;
  enum fact_name fact; /* the first that changed */
  struct change change;
  bool
      functions; /* not the fact changed for sure, since hosts differ, but functions did, together by `change` */
};

/* The facts that decide, in the order of their weight: what was held at the moment that both reports were
 * asked for, what was never freed, what was allocated. */
enum { REGRESSION_FACTS = 3 };
const enum fact_name *regression_facts(const struct report *report);

/* Finds the facts of both runs, which the pair must outlive, and judges by them. Where means of a host are
 * compared, facts are means, and others than those that decide are absent. WN_ENOMEM. */
wn_status regression_find(const struct pair *pair, struct facts *before, struct facts *after,
                          struct regression *verdict);

/* The measure whose rows show the fact that changed. */
enum measure regression_measure(const struct regression *regression);

/* Sets `rows` to the rows that are named beside the verdict, and returns their number: those that
 * surely changed in its direction, the largest change first. Code that may have moved (FATE in
 * comparison.h) is none of them. The comparison is of regression_measure. */
enum { REGRESSION_NAMED = 2 };
size_t regression_rows(const struct regression *regression, const struct comparison *comparison,
                       const struct compared *rows[REGRESSION_NAMED]);

/* What to do where only code that may have moved changed, and no row is named, for people; empty
 * elsewhere. */
const char *regression_hint(const struct regression *regression, const struct comparison *comparison);

/* The label of a fact of the report after, for people. */
const char *regression_label(const struct facts *after, enum fact_name name);

/* What stands behind that label: " by functions that changed", or nothing. */
const char *regression_by(const struct regression *regression);

/* Why there is no verdict, for people; empty: there is one. */
const char *regression_reason(const struct regression *regression, const struct pair *pair);

/* "regression", for programs, and "REGRESSION", for people. Where every block was recorded, there is no
 * noise. */
const char *regression_word(enum regression_kind kind);
const char *regression_title(enum regression_kind kind, bool exact);
/* SPDX-License-Identifier: MIT */
