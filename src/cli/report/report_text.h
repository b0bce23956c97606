/* Functions that the parts of the text report share. */
#pragma once

#include "analysis/load/interpreter.h"
#include "cli/report/report.h"

enum { REPORT_NAME_MOST = 4096 };

struct paragraph {
  char text[4096];
  size_t length;
};

/* Appends formatted text; cuts what does not fit. */
void say(struct paragraph *paragraph, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "98.1 MB (92.0–104 MB) in 1,230 blocks (1,080–1,410; 37 samples)". say_allocated says "in 1,230
 * calls" for malloc. */
void say_amount(struct paragraph *paragraph, const struct view *view, const struct sums *sums);
void say_allocated(struct paragraph *paragraph, const struct view *view, const struct sums *sums);

/* Prints a table with its title and its sum. If `before`, the sum of a table that was printed
 * (or NULL), is of the same blocks, the rows are not printed again. */
wn_status report_print_table(const struct view *view, const char *title, enum measure measure,
                             const struct sums *before);

/* Names the functions whose blocks become more and more, if there are any. */
wn_status report_print_growth(const struct view *view);

/* Prints the name of the last row and ends the line: how many `what`s no other row has, and the
 * value of --top that would show all. */
void report_print_rest(size_t count, const char *what, size_t top, int columns);

void report_print_title(const char *text);

/* Prints the call tree of what was held. */
wn_status report_print_tree(const struct view *view);

/* What the program calls itself, or is called. */
void say_program_name(struct paragraph *paragraph, const struct view *view);

/* The functions of an interpreter that have no rows, within a sentence. */
extern const char *const report_interpreters[INTERPRETERS];

/* Names the wrappers at the ends of stacks, which have no rows; those of interpreters all at once.
 * Instances of one template are named once. */
void report_print_wrappers(const struct view *view);

/* Prints charts of the memory over the run. */
void report_print_time(const struct view *view);

/* Prints the chart of the first screen: resident, mapped and held bytes. Returns the number of
 * its lines. */
int report_print_chart(const struct view *view);

/* Of several machines. By host: prints the hosts that hold more or less than is usual. By release: prints
 * what the hosts of each release hold on average. Otherwise, and without memory, prints nothing. */
void report_print_hosts(const struct view *view);

/* Of several processes (sources/files/joined.h). */
static inline bool report_has_processes(const struct view *view) {
  return view->report->samples->process_count > 1;
}

/* "make and 11 other processes". */
void report_say_processes(struct paragraph *paragraph, const struct samples *samples);

/* How they ended, and what counts. Begins with a blank. */
void report_say_ends(struct paragraph *paragraph, const struct view *view);

/* Prints what each of them held, unless all tables are by process. `title` is that of what was held. */
wn_status report_print_processes(const struct view *view, const char *title);
/* SPDX-License-Identifier: MIT */
