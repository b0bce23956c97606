/* Prints the verdict of the first screen: its title, and beside it which functions it is about, or
 * why it is so. */
#include "cli/report/screen.h"

#include "analysis/report/heap_tool.h"
#include "analysis/report/next.h"
#include "cli/report/report_callers.h"
#include "cli/report/report_name.h"
#include "cli/report/report_place.h"
#include "cli/text.h"
#include <stdio.h>
#include <string.h>

enum { CAUSE_INDENT = 21, CULPRIT_COLUMNS = 60 };

/* How many culprits have their names in the verdict. */
static size_t named_in(const struct verdict *verdict) {
  return verdict->culprits < VERDICT_NAMED ? verdict->culprits : VERDICT_NAMED;
}

/* Two culprits have two texts. */
static void fit_functions(const struct view *view, const struct verdict *verdict, struct fitted_rows *texts) {
  int room = text_width() - CAUSE_INDENT - 1;
  for (size_t i = 0; i < named_in(verdict); i++)
    if (name_rows_add(
            texts, strings_text(view->report->names->strings, verdict->culprit[i].function.function), "", ""))
      return;
  name_rows_fit(texts, (size_t)(room < CULPRIT_COLUMNS ? room : CULPRIT_COLUMNS), true);
}

/* Of two culprits the table has the lines and callers, which only say which is which if their
 * function is one. */
static void say_culprit(struct paragraph *text, const struct view *view, const struct culprit *culprit,
                        const char *name) {
  const struct strings *strings = view->report->names->strings;
  const struct verdict *all = view->verdict;
  bool is_one = all->culprits == 1,
       is_twice = !is_one && all->culprit[0].function.function == all->culprit[1].function.function;
  char place[256], fitted[FITTED_MOST];
  say(text, "%s", name);
  if (is_one && !place_of_function(view, MEASURE_ALIVE, &culprit->function, place, sizeof place) && *place)
    say(text, " (%s)", place);
  if ((is_one || is_twice) && culprit->caller.function)
    say(text, ", called by %s",
        name_fit_paragraph(fitted, FITTED_MOST, strings_text(strings, culprit->caller.function),
                           CULPRIT_COLUMNS, CAUSE_INDENT));
  if (culprit->process != NO_PROCESS)
    say(text, ", in %.60s", names_of_process(view->report->names, culprit->process));
  if (culprit->processes > 1)
    say(text, " and %s", text_number_of(place, culprit->processes - 1, "other process"));
}

static void say_growth(struct paragraph *text, const struct view *view, const struct verdict *verdict,
                       enum verdict_kind kind) {
  char bytes[32];
  struct fitted_rows texts = {.row = NULL};
  fit_functions(view, verdict, &texts);
  size_t named = named_in(verdict), more = verdict->culprits - named;
  for (size_t i = 0; i < named; i++) {
    if (i) say(text, more ? ", " : " and ");
    say_culprit(text, view, &verdict->culprit[i],
                i < texts.count && texts.row[i].text ? texts.row[i].text : "?");
    say(text, verdict->culprits > 1 ? " (%s/s)" : ": %s/s",
        text_bytes(bytes, verdict->culprit[i].rate.estimate));
  }
  name_rows_free(&texts);
  if (more) say(text, " and %zu more", more);
  if (verdict->culprit[0].since_ns)
    say(text, " since %s", text_time(bytes, verdict->culprit[0].since_ns));
  else
    say(text, kind == VERDICT_LEAK ? " from start to end"
              : verdict->begun     ? " to the end of a run of less than a second"
              : verdict->replaced  ? " to the end, while old ones are freed"
              : verdict->freed     ? " to the end, and freed as it ended"
                                   : " to the end");
  say(text, kind == VERDICT_GROWING && !verdict->replaced ? ": a leak, or data that it collects"
            : kind == VERDICT_GROWING ? ": a leak, or a queue or cache that is not full yet"
                                      : ": a leak, or a cache that is not full yet");
}

/* Beside a verdict on resident memory: whether malloc's blocks leak. */
static void say_verdict_on_blocks(struct paragraph *text, const struct view *view,
                                  const struct verdict *verdict) {
  if (verdict->blocks == VERDICT_NONE) return;
  const char *whose = view->report->samples->collected ? "the heap's" : "malloc's";
  if (verdict->blocks == VERDICT_LEVEL)
    say(text, "no leak is seen among %s blocks", whose);
  else
    say(text, "%s blocks: %s, ", whose, verdict->blocks == VERDICT_LEAK ? "leak likely" : "still growing");
  if (verdict->blocks != VERDICT_LEVEL) say_growth(text, view, verdict, verdict->blocks);
}

/* The function that has at least a tenth of what is left at the end of KEPT. */
static void say_who_lives_on(struct paragraph *text, const struct view *view) {
  struct table table;
  char name[REPORT_NAME_MOST], fitted[FITTED_MOST], place[NEXT_MOST];
  if (report_table(view->report, MEASURE_ALIVE, BY_FUNCTION, TABLE_LINES, &table)) return;
  const struct group *most = table_largest(&table);
  if (most) {
    table_name(&table, most, name, sizeof name);
    say(text, " of %s", name_fit_paragraph(fitted, FITTED_MOST, name, CULPRIT_COLUMNS, CAUSE_INDENT));
    if (next_place(&table, &table.lines, table_label(&table, most), place)) say(text, " (%s)", place);
  }
  table_destroy(&table);
}

/* By how much all blocks became more or less after the warm-up. */
static void say_undecided(struct paragraph *text, const struct estimate *net) {
  static const char since[] = "after the first fifth of the run";
  bool grew = net->low > 0, shrank = net->high < 0;
  char low[40], high[40];
  text_bytes(low, shrank ? -net->high : net->low);
  text_bytes(high, shrank ? -net->low : net->high);
  if (grew || shrank) {
    say(text, "it %s by ", grew ? "grew" : "shrank");
    if (strcmp(low, high) != 0) say(text, "between %s and ", low);
    say(text, "%s %s; whether %s is open", high, since, grew ? "it goes on" : "a part of it grows");
  } else if (net->high > 0) {
    say(text, "no growth is seen, but less than %s %s would not show", high, since);
  } else {
    say(text, "growth is neither sure nor ruled out");
  }
}

static void say_why(struct paragraph *text, const struct view *view, const struct verdict *verdict) {
  const char *tool = heap_tool_of(view->report->recording);
  char time[32], share[32], whole[32];
  switch (verdict->kind) {
  case VERDICT_LEAK:
  case VERDICT_GROWING: say_growth(text, view, verdict, verdict->kind); return;
  case VERDICT_UNDECIDED: say_undecided(text, &verdict->net); return;
  case VERDICT_LEVEL:
    if ((double)verdict->time_ns < 0.95 * (double)view->report->samples->end_ns)
      say(text, "level, within 10 %%, since %s", text_time(time, verdict->time_ns));
    else
      say(text, "no function grows");
    say(text, "; a leak of a tenth of the peak would show");
    return;
  case VERDICT_BRIEF:
    say(text, "%s of what it allocated lived less than %s, and the peak is small beside that",
        text_share(share,
                   report_share(view->report, &view->report->brief, &view->report->allocated).estimate),
        text_time(time, view->report->brief_ns));
    return;
  case VERDICT_FEW:
    if (!view->report->allocated.bytes.samples && view->report->recording->rate > 0)
      say(text, "it allocated next to nothing, less than %s in all",
          text_bytes(share, view->facts->fact[FACT_TOTALS_allocated_bytes].value.high));
    else
      say(text, "what it held is not known well enough");
    return;
  case VERDICT_KEPT:
    say(text, "of %s resident at the end malloc keeps about %s free, among blocks",
        text_bytes(whole, verdict->whole), text_bytes(share, verdict->bytes));
    say_who_lives_on(text, view);
    say(text, " that live on");
    return;
  case VERDICT_UNWRITTEN:
    say(text, "at least %s of what is held was never written, and takes no memory",
        text_bytes(share, verdict->bytes));
    return;
  case VERDICT_MAPPED:
    say(text, "%s of what is resident is memory that the program mapped itself",
        text_bytes(share, verdict->bytes));
    say(text, "; %s", tool ? tool : "rows whose trend is \"mapped\" say where");
    if (!tool && verdict->blocks == VERDICT_NONE) say(text, "; a longer run tells whether it grows on");
    return;
  case VERDICT_NONE:
  case VERDICT_KINDS: return;
  }
}

/* ---- shared ---- */

int screen_print_verdict(const struct view *view) {
  const struct verdict *verdict = view->verdict;
  struct paragraph text = {.length = 0}, blocks = {.length = 0};
  if (verdict->kind == VERDICT_NONE) return 0;
  say_why(&text, view, verdict);
  say_verdict_on_blocks(&blocks, view, verdict);
  putchar('\n');
  fputs("  ", stdout);
  text_style(stdout, verdict->kind == VERDICT_LEAK        ? STYLE_ALARM
                     : verdict->kind == VERDICT_LEVEL     ? STYLE_GOOD
                     : verdict->kind == VERDICT_UNDECIDED ? STYLE_DIM
                                                          : STYLE_WARNING);
  int indent = 4 + (int)strlen(verdict_title(verdict->kind));
  if (indent < CAUSE_INDENT) indent = CAUSE_INDENT;
  text_pad(stdout, verdict_title(verdict->kind), indent - 2);
  text_style(stdout, STYLE_PLAIN);
  int lines = 1 + text_continue(stdout, text.text, indent);
  if (!blocks.length) return lines;
  printf("%*s", indent, "");
  return lines + text_continue(stdout, blocks.text, indent);
}
/* SPDX-License-Identifier: MIT */
