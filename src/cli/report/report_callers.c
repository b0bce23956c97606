/* Prints the callers of a row: first those that nearly all of its bytes have in common, then the
 * largest ones at the point where paths part (chains_follow in sites.h). Callers outside main, or
 * outside the first function of a thread, are left out. */
#include "cli/report/report_callers.h"

#include "analysis/load/namesakes.h"
#include "base/text.h"
#include "cli/report/report_name.h"
#include "cli/text.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
  CALLER_COLUMNS = 40, /* of a name in a list of callers */
  CALLERS_INNER = 4,   /* so many innermost callers of a long list are printed, */
  CALLERS_OUTER = 2    /* and so many outermost ones */
};

/* "main", Go's "main.main", and Rust's "program::main". */
static bool report_callers_is_main(const char *function) {
  size_t length = strlen(function);
  return !strcmp(function, "main") || !strncmp(function, "main (", 6) || !strcmp(function, "main.main") ||
         (length > 6 && !strcmp(function + length - 6, "::main"));
}

static const char *function_at(const struct view *view, const struct call_tree *tree, uint32_t label) {
  return strings_text(view->report->names->strings, tree->labels[label].function);
}

/* By which Rust's runtime calls main; other code calls closures by it. */
static bool is_call_once(const char *function) {
  return !strncmp(function, "core::ops::function::FnOnce::call_once", 38);
}

/* The number of callers that are worth printing. */
static size_t callers_of(const struct view *view, const struct call_tree *tree, const uint32_t *label,
                         size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *function = function_at(view, tree, label[i]);
    if (report_callers_is_main(function)) return i + 1;
    if (report_is_beginning(function)) return i;
    bool is_last = i + 1 == count || report_is_beginning(function_at(view, tree, label[i + 1]));
    if (is_last && is_call_once(function)) return i;
  }
  return count;
}

/* "12–15 %", or "14 %" if both ends are printed with the same digits. */
static const char *shares_as_text(char buffer[96], const struct estimate *share) {
  char low[32], high[32], range[32];
  bool exact = !strcmp(text_share(low, share->low), text_share(high, share->high));
  if (exact || !*text_share_range(range, share)) return strcpy(buffer, text_share(low, share->estimate));
  snprintf(buffer, 96, "%s %%", range);
  return buffer;
}

/* "serve 58–66 %, load 34–42 %, 3 more". */
static void report_callers_say_parts(struct paragraph *paragraph, const struct view *view,
                                     const struct call_tree *tree, const struct chain *chain, double unit) {
  char fitted[FITTED_MOST], text[96];
  for (size_t i = 0; i < chain->part_count; i++) {
    struct estimate share = share_of(&chain->part[i].bytes, &chain->whole, unit);
    uint32_t label = chain->part[i].label;
    say(paragraph, "%s%s %s", i ? ", " : "",
        label ? report_fit_label(view, tree, label, fitted, CALLER_COLUMNS, CALLERS_INDENT) : "(no caller)",
        shares_as_text(text, &share));
  }
  if (chain->parts > chain->part_count) say(paragraph, ", %zu more", chain->parts - chain->part_count);
}

/* ---- shared ---- */

bool report_is_beginning(const char *function) {
  static const char *const names[] = {
      "main",    "_start", "start_thread", "thread_start", "clone3",  "__clone3",
      "__clone", "clone",  "runtime.main", "Py_BytesMain", "Py_Main", "execute_native_thread_routine"};
  static const char *const starts[] = {"__libc_start_",
                                       "runtime.goexit",
                                       "std::rt::",
                                       "std::sys::backtrace::__rust_begin_short",
                                       "std::sys_common::backtrace::__rust_begin_short",
                                       "Builtins_"};
  const char *place = strstr(function, " ("); /* where rows are lines: "_start (shop+0x10a1)" */
  size_t length = place ? (size_t)(place - function) : strlen(function);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == length && !memcmp(function, names[i], length)) return true;
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
    if (text_begins(function, starts[i])) return true;
  return false;
}

const char *report_fit_label(const struct view *view, const struct call_tree *tree, uint32_t label,
                             char buffer[FITTED_MOST], size_t columns, int indent) {
  char name[REPORT_NAME_MOST];
  call_tree_label(tree, view->report->names, label, name, sizeof name);
  return name_fit_paragraph(buffer, FITTED_MOST, name, columns, indent);
}

void report_say_callers(struct paragraph *paragraph, const struct view *view, const struct call_tree *tree,
                        const struct chain *chain, double unit) {
  char fitted[FITTED_MOST];
  size_t count = callers_of(view, tree, chain->label, chain->count), most = CALLERS_INNER + CALLERS_OUTER;
  bool whole = count == chain->count;
  if (chain->recursive) say(paragraph, " < itself");
  for (size_t i = 0; i < count; i++) {
    if (count > most + 1 && i == CALLERS_INNER) {
      say(paragraph, " < (%zu more)", count - most);
      i = count - CALLERS_OUTER;
    }
    say(paragraph, " < %s",
        report_fit_label(view, tree, chain->label[i], fitted, CALLER_COLUMNS, CALLERS_INDENT));
  }
  if (!whole || !chain->parts) return;
  say(paragraph, " < one of: ");
  report_callers_say_parts(paragraph, view, tree, chain, unit);
}

/* The function of a frame by line; without a line that is "main (clang+0x411b36)", and becomes
 * "main". */
static void name_function(char name[REPORT_NAME_MOST], const struct view *view, const struct label *frame) {
  snprintf(name, REPORT_NAME_MOST, "%s", strings_text(view->report->names->strings, frame->function));
  char *place = frame->line ? NULL : strrchr(name, '(');
  if (place && place > name && place[-1] == ' ' && strstr(place, "+0x")) place[-1] = 0;
}

/* "insert:12", or "insert map.c:12" if several files have such a function. */
static void say_brief_label(struct paragraph *paragraph, const struct view *view,
                            const struct call_tree *tree, uint32_t number) {
  char name[REPORT_NAME_MOST], fitted[FITTED_MOST];
  const struct label *label = &tree->labels[number];
  name_function(name, view, label);
  struct namesake_parts parts = {"", 0, 0};
  const char *file = strings_text(view->report->names->strings, label->file);
  if (label->line && namesake_split(name, file, &parts)) name[parts.name_length] = 0;
  say(paragraph, "%s%s%.*s", name_fit_paragraph(fitted, FITTED_MOST, name, CALLER_COLUMNS, CALLERS_INDENT),
      parts.home_length ? " " : "", parts.home_length, parts.home);
  if (label->line) say(paragraph, ":%u", label->line);
}

void report_say_callers_briefly(struct paragraph *paragraph, const struct view *view,
                                const struct call_tree *tree, const struct chain *chain) {
  char text[32];
  size_t count = callers_of(view, tree, chain->label, chain->count), most = CALLERS_INNER;
  if (chain->recursive) say(paragraph, " < itself");
  for (size_t i = 0; i < count; i++) {
    if (count > most + 1 && i == most - 1) {
      say(paragraph, " < (%zu more)", count - most);
      i = count - 1;
    }
    say(paragraph, " < ");
    say_brief_label(paragraph, view, tree, chain->label[i]);
  }
  if (count < chain->count || !chain->parts) return;
  for (size_t i = 0; i < chain->part_count; i++) {
    struct estimate share = share_of(&chain->part[i].bytes, &chain->whole, 0);
    say(paragraph, i ? ", " : " < ");
    if (chain->part[i].label)
      say_brief_label(paragraph, view, tree, chain->part[i].label);
    else
      say(paragraph, "(no caller)");
    say(paragraph, " %s", text_share(text, share.estimate));
  }
  if (chain->parts > chain->part_count) say(paragraph, ", %zu more", chain->parts - chain->part_count);
}

/* Prints as much of a text as so many columns have room for. */
static void print_cut(const char *text, int columns) {
  size_t length = strlen(text), fits = text_that_fits(text, length, (size_t)columns);
  if (fits < length) fits = text_that_fits(text, length, columns > 1 ? (size_t)columns - 1 : 0);
  text_plain(stdout, text, fits);
  if (fits < length) fputs("…", stdout);
}

void report_print_callers(const char *callers, enum table_style style, bool beside, int indent) {
  text_style(stdout, STYLE_DIM);
  if (*callers && beside) {
    fputc(' ', stdout);
    text_name(stdout, callers);
  } else if (*callers && style == TABLE_BRIEF) {
    printf("\n%*s", indent, "");
    print_cut(callers, text_width() - indent);
  }
  putchar('\n');
  if (*callers && !beside && style == TABLE_FULL) text_paragraph(stdout, callers + 1, CALLERS_INDENT);
  text_style(stdout, STYLE_PLAIN);
}

/* "serve server.c:42", or "serve:42" in the file of the caller before. */
static void write_frame(char *text, size_t size, const struct view *view, const struct label *frame,
                        const struct label *before) {
  const struct strings *strings = view->report->names->strings;
  const char *file = strings_text(strings, frame->file);
  char name[REPORT_NAME_MOST], fitted[FITTED_MOST], line[16] = "";
  struct namesake_parts parts = {path_name(file), 0, INT_MAX};
  name_function(name, view, frame);
  if (frame->line && namesake_split(name, file, &parts)) name[parts.name_length] = 0;
  bool named = frame->line && !(before && before->line && before->file == frame->file);
  if (frame->line) snprintf(line, sizeof line, ":%u", frame->line);
  snprintf(text, size, "< %s%s%.*s%s", name_fit(fitted, sizeof fitted, name, CALLER_COLUMNS),
           named ? " " : "", named ? parts.home_length : 0, parts.home, line);
  for (char *at = text; (at = strchr(at, '\n'));) *at = '?'; /* which ends a line of the stack */
}

/* Says the innermost callers and the outermost one, `most` in all, in lines of so many columns. Returns the
 * number of lines. */
static int say_stack(struct paragraph *paragraph, const struct view *view, const struct call_tree *tree,
                     const uint32_t *label, size_t count, size_t most, size_t columns) {
  int lines = 1;
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    char text[2 * FITTED_MOST];
    bool next = i && i + 1 != count;
    if (most < count && i + 1 == most)
      snprintf(text, sizeof text, "< (%zu more)", count - most), i = count - 2;
    else
      write_frame(text, sizeof text, view, &tree->labels[label[i]],
                  next ? &tree->labels[label[i - 1]] : NULL);
    size_t wide = text_columns(text);
    bool breaks = used && used + 1 + wide > columns;
    say(paragraph, "%s%s", breaks ? "\n" : used ? " " : "", text);
    used = breaks || !used ? wide : used + 1 + wide;
    lines += breaks;
  }
  return lines;
}

int report_say_stack(struct paragraph *paragraph, const struct view *view, const struct call_tree *tree,
                     const uint32_t *label, size_t count, int lines, size_t columns) {
  int taken = 0;
  count = callers_of(view, tree, label, count);
  for (size_t most = count; most && (taken > lines || !taken); most--) {
    paragraph->length = 0;
    taken = say_stack(paragraph, view, tree, label, count, most, columns);
    if (most == 2) break;
  }
  return taken;
}
/* SPDX-License-Identifier: MIT */
