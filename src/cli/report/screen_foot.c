/* The last lines of the first screen: what its names lack, and what to do next. */
#include "analysis/load/rates.h"
#include "analysis/report/next.h"
#include "cli/package.h"
#include "cli/report/report.h"
#include "cli/report/report_callers.h"
#include "cli/report/report_name.h"
#include "cli/report/report_place.h"
#include "cli/report/screen.h"
#include "cli/runtimes.h"
#include "cli/text.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRAPPER_COLUMNS = 60 };

enum { FILES_NAMED = 3 };

/* Prints a command about the same traces, for a shell. `behind` stands there if the line has room for it. */
static void print_command_screen(const struct view *view, const char *command, const char *behind) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) return;
  fputs(command, out);
  for (size_t i = 0; i < view->options->file_count && i < FILES_NAMED; i++) {
    fputc(' ', out);
    text_file(out, view->options->files[i]);
  }
  if (view->options->file_count > FILES_NAMED) fputs(" ...", out);
  fclose(out);
  bool fits = text && text_columns(text) + strlen(behind) <= (size_t)text_width();
  if (text) printf("%s%s\n", text, fits ? behind : "");
  free(text);
}

/* The path of the first module whose file has that name; NULL: the trace has none. */
static const char *find_module(const struct view *view, const char *name) {
  struct source *source = view->report->samples->source;
  for (uint32_t i = 1; i <= source_module_count(source); i++) {
    const struct trace_module *module = source_module(source, i);
    const char *slash = module->path.length ? strrchr(module->path.bytes, '/') : NULL;
    if (slash && !strcmp(slash + 1, name)) return module->path.bytes;
  }
  return NULL;
}

/* Ends a line on a package with the server that has the same, if there is room in the line. */
static void say_server(const struct view *view, struct paragraph *text, const char *where) {
  const char *server = package_server(PACKAGE_RELEASE);
  char more[128] = "";
  if (server && !view->report->names->served && !strstr(where, server))
    snprintf(more, sizeof more, ", or set DEBUGINFOD_URLS=%s", server);
  bool fits = text_columns(text->text) + strlen(more) + 3 <= (size_t)text_width();
  say(text, "%s.", fits ? more : "");
}

/* How to get names, or else lines, where code without them has LACKING of what is held or allocated. */
static void print_names_hint(const struct view *view) {
  static const double LACKING = 0.1, LACKING_LINES = 0.5;
  struct paragraph text = {.length = 0};
  struct lacking held, allocated;
  char package[256], where[320];
  if (!view->options->recording.names.symbols || !grouping_is_code(view->options->grouping) ||
      place_lacking(view, MEASURE_HELD, &held) || place_lacking(view, MEASURE_ALLOCATED, &allocated))
    return;
  bool names = held.names >= LACKING || allocated.names >= LACKING;
  if (!names && held.lines < LACKING_LINES && allocated.lines < LACKING_LINES) return;
  const struct lacking *of =
      (names ? held.names >= LACKING : held.lines >= LACKING_LINES) ? &held : &allocated;
  const char *name = strings_text(view->report->names->strings, names ? of->nameless : of->lineless),
             *path = find_module(view, name), *hint = view->report->names->hint;
  if (names && hint && strstr(hint, " not ")) { /* files that are missing, or other ones */
    text_paragraph(stdout, hint, 2);
    return;
  }
  bool packaged = path && package_of_file(path, package, sizeof package);
  say(&text, names ? "Names are missing: " : "No lines: ");
  if (path && package_say_symbols(packaged ? package : NULL, path, PACKAGE_RELEASE, where, sizeof where)) {
    say(&text, "%s is stripped. %s", name, where);
    say_server(view, &text, where);
  } else if (names)
    say(&text,
        "%s is stripped; each row is a call. For names give the folder of its file from before strip with "
        "--search, or build it with -g and without -s and strip, and record again.",
        name);
  else
    say(&text, "what allocates in %s was built without -g.", name);
  text_paragraph(stdout, text.text, 2);
}

static const char *runtime_find(struct source *source) {
  const char *hint = NULL;
  for (uint32_t number = 1; number <= source_module_count(source) && !hint; number++)
    hint = runtime_of_file(source_module(source, number)->path.bytes);
  return hint;
}

/* V8's loop for functions that it has not compiled: which of them it runs, no address tells. */
static bool is_loop(const struct names *names, uint32_t node) {
  uint32_t loop;
  return names->count[node] && strings_find(names->strings, "Builtins_InterpreterEntryTrampoline", &loop) &&
         names->frame[names->first[node]].function == loop;
}

/* Whether code in no file, without a name, called for a twentieth of what was allocated. */
static bool lacks_names(const struct samples *samples, const struct names *names) {
  enum { PART = 20 };
  struct source *source = samples->source;
  uint32_t nodes = source_stack_count(source);
  struct trace_place place;
  double lacking = 0, all = 0;
  bool *lacks = calloc((size_t)nodes + 1, sizeof *lacks);
  for (uint32_t number = 1; lacks && number <= nodes; number++) {
    struct trace_node node = source_stack(source, number);
    lacks[number] = lacks[node.parent] || is_loop(names, number) ||
                    (!node.module && !trace_is_cut(&node) && !source_place(source, 0, node.offset, &place));
  }
  for (size_t i = 0; lacks && i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    double bytes = (double)row_allocated(row) / row->probability;
    all += bytes;
    if (lacks[row->stack]) lacking += bytes;
  }
  free(lacks);
  return lacking > all / PART;
}

/* A sentence, if code in no file that has no names called for a twentieth of what was allocated,
 * and one of the runtimes that are known is in the process; else NULL. */
static const char *runtime_hint(const struct view *view) {
  const struct samples *samples = view->report->samples;
  if (view->report->recording->wrappers.interpreters[INTERPRETER_JIT]) return NULL;
  const char *hint = runtime_find(samples->source);
  return hint && lacks_names(samples, view->report->names) ? hint : NULL;
}

/* Whose functions are hidden, behind those that are wrappers, or alone. False: none are. */
static bool say_interpreters(struct paragraph *text, const struct view *view) {
  const bool *found = view->report->recording->wrappers.interpreters;
  size_t before = text->length;
  for (int i = 0; i < INTERPRETERS; i++)
    if (found[i])
      say(text,
          text->length ? "; %s, for the lines that call them" : "%s are counted for the lines that call them",
          report_interpreters[i]);
  if (!before) *text->text = (char)toupper((unsigned char)*text->text);
  return text->length > before;
}

/* "to use less memory, begin at parser.c:12", or how to record again. What looks into mapped memory the verdict
 * says itself. */
static void say_where_to_begin(struct paragraph *text, const struct view *view) {
  struct table table;
  char step[NEXT_MOST];
  if (view->report->query || view->verdict->kind == VERDICT_MAPPED ||
      report_table(view->report, next_measure(view->verdict), BY_FUNCTION, TABLE_LINES, &table))
    return;
  const struct group *most = table_largest(&table);
  next_step(&table, &table.lines, view->verdict, most ? table_label(&table, most) : NULL, step);
  say(text, "%s", step);
  table_destroy(&table);
}

/* "look at parser.c:12: what should free this, and when?" `unnamed`: what calls the runtime's own functions
 * has no names yet. */
static void say_where_to_look(struct paragraph *text, const struct view *view, bool unnamed) {
  char place[256], fitted[FITTED_MOST];
  const struct label *function = &view->verdict->culprit[0].function;
  bool placed = !place_of_function(view, MEASURE_ALIVE, function, place, sizeof place) && *place;
  if (!placed)
    snprintf(place, sizeof place, "%.250s",
             name_fit_paragraph(fitted, FITTED_MOST,
                                strings_text(view->report->names->strings, function->function),
                                WRAPPER_COLUMNS, 8));
  if (unnamed && !placed)
    say(text, "record with those names, to see what calls %s", place);
  else
    say(text, "look at %s%s", place, next_question(view->report->names, view->verdict));
}

/* Whether C functions that Python's lines stand for hold most of what a Python program holds. */
static bool is_mostly_native(const struct view *view) {
  return facts_have(view->facts, FACT_TOTALS_held_python_bytes) &&
         facts_number(view->facts, FACT_TOTALS_held_native_bytes) >
             facts_number(view->facts, FACT_TOTALS_held_python_bytes);
}

/* Where nothing can be said of the whole run, what grew while it sampled. */
static void print_next(const struct view *view) {
  const struct samples *samples = view->report->samples;
  struct span awake;
  char command[80];
  bool whole = report_is_awake(view->report) || samples->process_count > 1 || !samples->row_count;
  if (whole || !asleep_not(samples, &awake)) {
    bool looks = screen_print_step(view);
    if (looks && is_mostly_native(view))
      print_command_screen(view, "        winnow report --show-wrappers", "   (which C functions hold it)");
    else
      print_command_screen(view, looks ? "        winnow report --tree" : "  Next: winnow report --tree",
                           "   (or --at end, --by stack, --all)");
    return;
  }
  snprintf(command, sizeof command, "  Next: winnow diff --at %.4gs,%.4gs", (double)awake.begin_ns / 1e9,
           (double)awake.end_ns / 1e9);
  print_command_screen(view, command, "   (what grew while it sampled)");
}

/* ---- shared ---- */

bool screen_print_step(const struct view *view) {
  struct paragraph text = {.length = 0};
  bool unnamed = runtime_hint(view) != NULL;
  say(&text, "Next: ");
  size_t before = text.length;
  if (view->verdict->culprits)
    say_where_to_look(&text, view, unnamed);
  else
    say_where_to_begin(&text, view);
  if (text.length > before) text_paragraph(stdout, text.text, 2);
  return text.length > before;
}

void screen_print_foot(const struct view *view) {
  struct paragraph text = {.length = 0};
  char fitted[FITTED_MOST];
  size_t wrappers = view->report->recording->wrappers.count;
  const char *note = source_limits(view->report->samples->source)->note;
  putchar('\n');
  text_style(stdout, STYLE_DIM);
  if (*note) text_paragraph(stdout, note, 2);
  if (wrappers)
    say(&text,
        wrappers > 1 ? "Wrappers, counted for their callers: %s and %zu more"
                     : "Wrapper, counted for its callers: %s",
        name_fit_paragraph(
            fitted, FITTED_MOST,
            strings_text(view->report->names->strings, view->report->recording->wrappers.functions[0]),
            WRAPPER_COLUMNS, 2),
        wrappers - 1);
  if (say_interpreters(&text, view) || wrappers)
    say(&text, " (--show-wrappers)."), text_paragraph(stdout, text.text, 2);
  print_command_screen(view, "  In a browser: winnow view", "");
  const char *hint = runtime_hint(view);
  if (hint)
    text_paragraph(stdout, hint, 2);
  else
    print_names_hint(view);
  print_next(view);
  text_style(stdout, STYLE_PLAIN);
}
/* SPDX-License-Identifier: MIT */
