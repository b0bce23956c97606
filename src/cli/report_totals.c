/* Prints the report of a profile that has totals alone: what was allocated in all, what was held at the
 * peak and at the end, as far as the profile tells each of them, and what it does not tell. It has
 * neither ranges nor samples, lives, times and growth. */
#include "cli/report_text.h"
#include "cli/text.h"

static const struct source_limits *limits_of(const struct view *view) {
  return source_limits(view->report->samples->source);
}

/* "105 kB in 100 blocks at the peak" */
static void say_one(struct paragraph *paragraph, const struct view *view, const struct sums *sums,
                    const char *where) {
  if (sums->bytes.samples)
    say_amount(paragraph, view, sums);
  else
    say(paragraph, "nothing");
  say(paragraph, "%s", where);
}

static void print_verdict(const struct view *view) {
  struct paragraph paragraph = {.length = 0};
  const struct report *report = view->report;
  const struct source_limits *limits = limits_of(view);
  const char *between = "";
  say_program_name(&paragraph, view);
  if (!limits->no_total) {
    say(&paragraph, " allocated ");
    say_one(&paragraph, view, &report->allocated,
            !report->query                    ? ""
            : report->allocated.bytes.samples ? " that match the query"
                                              : " that matches the query");
    between = limits->no_peak ? " and" : ",";
  }
  if (!limits->no_peak) {
    say(&paragraph, "%s held ", between);
    say_one(&paragraph, view, &report->peak.live, report->query ? " of them at its peak" : " at its peak");
    between = " and";
  }
  if (!limits->no_end) {
    say(&paragraph, "%s held ", between);
    say_one(&paragraph, view, &report->live_at_end,
            limits->no_peak ? " at the moment of the profile" : " at the end");
  }
  say(&paragraph, ". %s", limits->note);
  text_paragraph(stdout, paragraph.text, 0);
}

static wn_status print_table(const struct view *view, const char *title, enum measure measure) {
  return report_print_table(view, title, "", measure, TABLE_SUMS, NULL);
}

/* ---- shared ---- */

wn_status report_print_totals(const struct view *view) {
  const struct source_limits *limits = limits_of(view);
  bool at_peak = view->report->at == AT_PEAK;
  print_verdict(view);
  wn_status error = WN_OK;
  if (at_peak) error = print_table(view, "Held at the peak", MEASURE_HELD);
  if (!error && view->options->tree && (at_peak || !limits->no_end)) error = report_print_tree(view);
  if (!error && !limits->no_total) error = print_table(view, "Allocated over the run", MEASURE_ALLOCATED);
  if (!error && !limits->no_end)
    error = print_table(view, limits->no_peak ? "Held at the moment of the profile" : "Held at the end",
                        MEASURE_ALIVE);
  if (!error) report_print_wrappers(view);
  if (!error && view->report->names->hint) {
    putchar('\n');
    text_paragraph(stdout, view->report->names->hint, 0);
  }
  return error;
}
/* SPDX-License-Identifier: MIT */
