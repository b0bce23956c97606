/* Prints facts (analysis/compare/facts.h) for people. */
#pragma once

#include "analysis/compare/facts.h"

/* A number of a fact in its unit: "65.3 MB", "305,000", "94 %", "15.9 s"; and a change of it, with its
 * sign. */
enum { FACT_TEXT_MOST = 64 };
const char *fact_text(char buffer[FACT_TEXT_MOST], const struct facts *facts, enum fact_name name,
                      double number);
const char *fact_change_text(char buffer[FACT_TEXT_MOST], const struct facts *facts, enum fact_name name,
                             double difference);

/* Prints the change in percent of what was before, if it is sure and does not round to 0. */
void print_percent(const struct change *change, bool sure);

/* Whether a fact is worth a line of a report: it has a label, and says something in this recording. */
bool fact_is_shown(const struct facts *facts, enum fact_name name);

/* Prints all facts of a report, a line each: the number, its 95 % interval, the samples. */
void report_print_facts(const struct facts *facts);

/* Prints all facts that two reports have, with the change of each. */
void diff_print_facts(const struct facts *before, const struct facts *after, const struct estimate *scale);
/* SPDX-License-Identifier: MIT */
