/* Prints the report as text: a paragraph that sums it up, then tables. Numbers have intervals,
 * except in a trace with every block, and except for what was held in a trace with missing records.
 */
#include "cli/report_text.h"

#include "cli/called.h"
#include "cli/chain.h"
#include "cli/collected.h"
#include "cli/report_name.h"
#include "cli/report_processes.h"
#include "cli/report_resident.h"
#include "cli/screen.h"
#include "cli/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRAPPERS_NAMED = 6, WRAPPER_COLUMNS = 44 };

/* With fewer sampled blocks than this, blocks that matter may have no sample. */
enum { FEW_BLOCKS = 1000 };

/* Says how to set a higher rate: `winnow record` sets it for malloc, the program itself for its
 * collected heap. */
static void say_how_to_sample(struct paragraph *paragraph, const struct view *view) {
  bool own = view->report->samples->collected;
  say(paragraph,
      own ? "Run it again with a higher rate: WINNOW_RATE, or the options that it gives wn_trace_start. "
          : "Record it again with a higher --rate. ");
}

static void say_nothing_sampled(struct paragraph *paragraph, const struct view *view) {
  char bytes[32];
  double rate = view->report->recording->rate,
         most = report_bytes(view->report, &view->report->allocated).high;
  if (view->report->recording->partial) {
    say(paragraph, ", and what can be read of its trace has no sampled block. ");
    return;
  }
  if (rate >= 1) {
    say(paragraph, " and allocated nothing. ");
    return;
  }
  if (rate > 0)
    say(paragraph,
        ", and no block was sampled at %g a word: most likely it allocated less than %s by malloc. ", rate,
        text_bytes(bytes, most));
  else
    say(paragraph, ", and no block was sampled, since the rate was 0. ");
  if (rate > 0 && report_resident(view->report).mapped_bytes > most) return;
  say_how_to_sample(paragraph, view);
}

/* A collected heap's blocks are counted without their headers; beside them stands what the program told
 * of itself. */
static void say_what_counts(struct paragraph *paragraph, const struct view *view) {
  char bytes[128];
  struct estimate external = report_bytes(view->report, &view->report->generations.external);
  if (view->report->samples->collected) say(paragraph, ", without headers");
  if (external.samples)
    say(paragraph, ", %s of it outside the heap (source = external)", with_range(bytes, &external));
}

static void say_program(struct paragraph *paragraph, const struct view *view) {
  char time[32], bytes[128];
  struct estimate allocated = report_bytes(view->report, &view->report->allocated);
  bool timed = report_is_timed(view->report);
  say_program_name(paragraph, view);
  if (timed)
    say(paragraph, view->report->samples->ended ? " ran for %s" : " ran for at least %s",
        text_time(time, view->report->samples->end_ns));
  if (!view->report->samples->sampled_blocks) {
    say_nothing_sampled(paragraph, view);
  } else if (!allocated.samples) {
    say(paragraph, "; none of the sampled blocks matches the query. ");
  } else {
    say(paragraph, "%s allocated %s", timed ? " and" : "",
        view->report->recording->partial ? "at least " : "");
    say_allocated(paragraph, view, &view->report->allocated);
    if (view->report->query) say(paragraph, " matching the query");
    say_what_counts(paragraph, view);
    struct estimate rate = report_per_second(view->report, &allocated);
    if (report_has_rate(view->report) && !view->report->recording->partial)
      say(paragraph, ", %s a second", with_range(bytes, &rate));
    say(paragraph, ". ");
  }
}

/* Of a trace with missing records the range holds for what it knows of: births and deaths are
 * missing, so the truth may be below or above. */
static void say_held(struct paragraph *paragraph, const struct view *view, const struct sums *sums) {
  say_amount(paragraph, view, sums);
  if (view->report->recording->partial) say(paragraph, " that the trace knows of");
}

/* Whether a measurement tells what was resident at the peak. It must be near the peak in time, and
 * not smaller than what was held then. */
static bool is_of_that_time(const struct view *view, const struct memory_point *point) {
  const struct peak *peak = &view->report->peak;
  uint64_t away =
      point->time_ns > peak->median_ns ? point->time_ns - peak->median_ns : peak->median_ns - point->time_ns;
  return away <= 20000000 + view->report->samples->end_ns / 100 &&
         (double)point->rss_bytes >= report_bytes(view->report, &peak->live).low;
}

/* Says the time and the amount of the peak. If it is several moments, the amount is their mean. */
static void say_peak(struct paragraph *paragraph, const struct view *view) {
  char time[32], last[32], rss[32];
  const struct peak *peak = &view->report->peak;
  bool one = report_peak_is_one(view->report);
  struct memory_point beside = timeline_memory_at(view->report->samples, peak->median_ns);
  struct resident most = report_resident(view->report);
  struct memory_point explained = {.time_ns = most.time_ns, .rss_bytes = most.rss_bytes};
  if (is_of_that_time(view, &explained)) beside = explained; /* as the line "Resident" */
  say(paragraph, "%s held the most%s ", report_has_processes(view) ? "Together they" : "It",
      view->report->samples->collected ? ", including garbage that was not found yet," : "");
  if (!report_is_timed(view->report))
    say(paragraph, "at its peak: ");
  else if (one)
    say(paragraph, "after %s: ", text_time(time, peak->median_ns));
  else
    say(paragraph, "at moments between %s and %s: ", text_time(time, peak->first_ns),
        text_time(last, peak->last_ns));
  say_held(paragraph, view, &peak->live);
  if (!one && peak->live.bytes.samples) say(paragraph, ", their mean");
  bool known = one && most.rss_bytes && is_of_that_time(view, &beside);
  if (known) say(paragraph, ", when %s was resident", text_bytes(rss, (double)beside.rss_bytes));
  if (most.most_bytes > (known ? beside.rss_bytes : 0))
    say(paragraph, "%sthe most resident %swas %s%s", known ? " (" : "; ",
        most.counted ? "" : "that was measured ", text_bytes(rss, (double)most.most_bytes), known ? ")" : "");
  say(paragraph, ". ");
}

/* Whether a row is the last of a block that the query selects and that was freed. */
static bool is_freed(const struct row *row, void *context) {
  return row->last && row->died_ns != STILL_ALIVE && report_takes(row, context);
}

static bool tells_lives(const struct view *view) {
  return !source_limits(view->report->samples->source)->no_lives;
}

/* Of several processes it is not known how the blocks of one function became more. */
static bool tells_growth(const struct view *view) { return tells_lives(view) && !report_has_processes(view); }

/* "91 % (88–94 %; 300 samples) of the bytes allocated lived less than 9.75 ms. " */
static void say_brief(struct paragraph *paragraph, const struct view *view) {
  char time[32];
  struct estimate brief = share_of(&view->report->brief.bytes, &view->report->allocated.bytes,
                                   view->report->recording->byte_unit);
  if (!brief.samples || view->report->recording->partial || !tells_lives(view)) return;
  say_share(paragraph, &brief);
  say(paragraph, " of the bytes allocated lived less than %s. ", text_time(time, view->report->brief_ns));
}

static void say_end(struct paragraph *paragraph, const struct view *view) {
  bool exact = view->report->recording->rate >= 1;
  const char *freed = view->report->samples->collected ? "found dead" : "freed",
             *alive = view->report->samples->collected ? "had not been found dead" : "was still allocated";
  if (report_has_processes(view)) {
    report_say_left(paragraph, view);
  } else if (!timeline_count(view->report->samples, is_freed, (void *)view->report)) {
    say(paragraph, "%s was %s. ", exact ? "Nothing" : "None of the sampled blocks", freed);
  } else if (view->report->live_at_end.bytes.samples) {
    double end = view->report->live_at_end.bytes.total, most = view->report->peak.live.bytes.total;
    bool level = end > most; /* by chance: the peak and the end are estimated from different samples */
    say(paragraph, "At the end %s",
        end > 1.1 * most ? "no less, as far as the samples tell, "
        : level          ? "about as much, "
                         : "");
    say_held(paragraph, view, &view->report->live_at_end);
    say(paragraph, "%s %s. ", level ? "," : "", alive);
  } else if (view->report->samples->collected) {
    say(paragraph, "At the end %s had been found dead. ", exact ? "everything" : "every sampled block");
  } else {
    say(paragraph, "At the end %s was still allocated. ", exact ? "nothing" : "no sampled block");
  }
  say_brief(paragraph, view);
}

/* Says which program followed by exec. */
static void say_exec(struct paragraph *paragraph, const struct view *view) {
  const struct samples *samples = view->report->samples;
  char *next = chain_next(view->options->file, source_run(samples->source), samples->end.time_ns);
  say(paragraph, " Then it became another program%s%s%s by exec, which is not in this trace",
      samples->became ? " (" : "", samples->became ? samples->became : "", samples->became ? ")" : "");
  if (next) say(paragraph, "; %s is the trace of that program", next);
  say(paragraph, ".");
  free(next);
}

/* Whether the trace ended since its heap did: no function stops recording Winnow's own heap. */
static bool ends_with_heap(const struct samples *samples) {
  const struct trace_text *heap = &source_run(samples->source)->heap;
  return samples->collected && heap->length == 6 && !memcmp(heap->bytes, "winnow", 6);
}

static void say_ending(struct paragraph *paragraph, const struct view *view) {
  const struct samples *samples = view->report->samples;
  const char *note = source_limits(samples->source)->note;
  if (*note)
    say(paragraph, " %s", note);
  else if (report_has_processes(view))
    report_say_ends(paragraph, view);
  else if (source_is_foreign(samples->source))
    say(paragraph,
        " The trace is of %s, which tells nothing of the collections, of the heap's size, and of the "
        "program's end; its last moments may be missing.",
        source_run(samples->source)->writer.bytes);
  else if (!samples->ended)
    say(paragraph,
        " The end was not recorded: the program was killed, left by %s, or still runs; its last "
        "moments may be missing.",
        samples->collected ? "_exit or exec" : "_exit");
  else if (samples->end.kind == TRACE_END_SIGNAL)
    say(paragraph, " The program was ended by signal %d (%s).", samples->end.code,
        strsignal(samples->end.code));
  else if (samples->end.kind == TRACE_END_LEFT)
    say(paragraph, " The program left by _exit(%d).", samples->end.code);
  else if (samples->end.kind == TRACE_END_EXEC)
    say_exec(paragraph, view);
  else if (samples->end.kind == TRACE_END_STOP && !ends_with_heap(samples))
    say(paragraph, " Then recording was stopped; what the program did afterwards is not in the trace.");
}

/* Whether the trace is of malloc, and the program also has a collected heap. */
static enum collected find_other_heap(const struct view *view) {
  struct source *source = view->report->samples->source;
  enum collected found = COLLECTED_NONE;
  if (source_heap(source) != SOURCE_HEAP_MALLOC || !view->options->recording.names.symbols)
    return COLLECTED_NONE;
  for (uint32_t i = 1; i <= source_module_count(source) && found != COLLECTED_ASKS; i++) {
    const struct trace_module *module = source_module(source, i);
    enum collected here = COLLECTED_NONE;
    if (module->path.length && !trace_is_language(module))
      here = collected_in_file(module->path.bytes, module->build_id, module->build_id_bytes);
    if (here > found) found = here;
  }
  return found;
}

static void say_other_heap(struct paragraph *paragraph, const struct view *view) {
  enum collected found = find_other_heap(view);
  if (found == COLLECTED_NONE) return;
  say(paragraph, " ");
  say_program_name(paragraph, view);
  say(paragraph, " has %s, whose blocks are not in this trace of malloc: ", collected_heap_name(found));
  if (collected_asks(found))
    say(paragraph, "to trace that heap, run it with WINNOW_TRACE=FILE and without winnow record.");
  else
    say(paragraph, "it could write a trace of that heap by calling %s.", collected_call(found));
}

static void say_missing(struct paragraph *paragraph, const struct trace_damage *damage) {
  char count[64], bytes[32];
  if (damage->records_lost)
    say(paragraph, "; lost: %s", text_number_of(count, (double)damage->records_lost, "record"));
  if (damage->records_lost && damage->loss_cause)
    say(paragraph, ", since %s", trace_cause_name(damage->loss_cause));
  if (damage->chunks_damaged)
    say(paragraph, "; damaged: %s of the trace",
        text_number_of(count, (double)damage->chunks_damaged, "piece"));
  if (damage->chunks_damaged && damage->bytes_skipped)
    say(paragraph, ", %s of it left out", text_bytes(bytes, (double)damage->bytes_skipped));
  if (damage->times_raised)
    say(paragraph, "; put at a later time, since the clock was set back: %s",
        text_number_of(count, (double)damage->times_raised, "event"));
  if (damage->stacks_lost)
    say(paragraph, "; without their callstack: %s",
        text_number_of(count, (double)damage->stacks_lost, "record"));
}

static void say_sample(struct paragraph *paragraph, const struct view *view) {
  const struct trace_run *run = source_run(view->report->samples->source);
  const struct trace_damage *damage = source_damage(view->report->samples->source);
  char count[64], part[32];
  if (!view->report->samples->sampled_blocks && !view->report->recording->partial) return;
  text_number_of(count, (double)view->report->samples->sampled_blocks, "block");
  if (run->rate >= 1 && !view->report->recording->partial)
    say(paragraph, "Every block was recorded: %s", count);
  else
    say(paragraph, "Sampled: %s, at %g a word", count, run->rate);
  uint64_t rows = view->report->allocated.bytes.samples, blocks = view->report->samples->sampled_blocks;
  if (!view->report->query && rows > blocks)
    say(paragraph, "; %s by realloc, %s the whole block",
        text_number_of(count, (double)(rows - blocks), "growth"),
        rows - blocks == 1 ? "counted as allocating" : "each counted as allocating");
  if (view->report->recording->kept < 1)
    say(paragraph, "; these are %s of the trace, and all of them would give narrower ranges",
        text_part_of_samples(part, view->report->recording->kept));
  if (view->report->samples->cut)
    say(paragraph,
        "; the outermost callers of %s are not known, since callstacks are cut after %u frames (record "
        "--stack-depth)",
        text_number_of(count, (double)view->report->samples->cut, "block"), run->stack_depth);
  say_missing(paragraph, damage);
  if (view->report->samples->unmatched)
    say(paragraph, "; %s of unknown blocks",
        text_number_of(count, (double)view->report->samples->unmatched, "record"));
  say(paragraph, ".");
  if (view->report->recording->partial)
    say(paragraph, " So these numbers are of a part of the run: more was allocated, and more or less may "
                   "have been held, "
                   "since births and deaths of blocks are missing. The ranges hold for that part.");
  else if (run->rate < 1 && view->report->samples->sampled_blocks)
    say(paragraph, " Of 100 ranges 95 contain the true value, also in rows with few samples%s.",
        blocks < FEW_BLOCKS ? ", unless a kind of block that matters has no sample" : "");
  if (view->options->growing && !report_has_processes(view))
    say(paragraph, " The trace is still being written.");
}

/* Sentences from here on bring the blank before them. */
static void end_sentence(struct paragraph *paragraph) {
  if (paragraph->length && paragraph->text[paragraph->length - 1] == ' ')
    paragraph->text[--paragraph->length] = 0;
}

static void print_summary(const struct view *view) {
  struct paragraph paragraph = {.length = 0};
  say_program(&paragraph, view);
  if (view->report->allocated.bytes.samples) {
    say_peak(&paragraph, view);
    say_end(&paragraph, view);
  }
  say_sample(&paragraph, view);
  end_sentence(&paragraph);
  say_ending(&paragraph, view);
  say_other_heap(&paragraph, view);
  text_paragraph(stdout, paragraph.text, 0);
}

/* ---- shared ---- */

void say(struct paragraph *paragraph, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t room = sizeof paragraph->text - paragraph->length;
  int written = vsnprintf(paragraph->text + paragraph->length, room, format, arguments);
  va_end(arguments);
  if (written > 0) paragraph->length += (size_t)written < room ? (size_t)written : room - 1;
}

const char *with_range(char buffer[128], const struct estimate *estimate) {
  char value[32], range[64];
  text_bytes(value, estimate->estimate);
  if (estimate->low == estimate->high)
    snprintf(buffer, 128, "%s", value);
  else
    snprintf(buffer, 128, "%s (%s)", value, text_range(range, estimate));
  return buffer;
}

/* `what`: what the sums count, "block" or "call". */
static void say_amount_of(struct paragraph *paragraph, const struct view *view, const struct sums *sums,
                          const char *what) {
  struct estimate bytes = report_bytes(view->report, sums), blocks = report_blocks(view->report, sums);
  char range[64], number[160], value[32];
  if (!bytes.samples && bytes.high > 0) {
    say(paragraph, "less than %s", text_bytes(value, bytes.high));
    return;
  }
  say(paragraph, "%s", text_bytes(value, bytes.estimate));
  if (bytes.low != bytes.high) say(paragraph, " (%s)", text_range(range, &bytes));
  if (source_limits(view->report->samples->source)->no_blocks) return;
  say(paragraph, " in %s", text_estimated_number(number, &blocks, what));
}

void say_program_name(struct paragraph *paragraph, const struct view *view) {
  const struct trace_run *run = source_run(view->report->samples->source);
  const char *command = run->command.length && run->command.bytes[0] ? run->command.bytes : "The program";
  const char *slash = strrchr(command, '/');
  int title = called_title(run);
  if (report_has_processes(view))
    report_say_processes(paragraph, view->report->samples);
  else if (title)
    say(paragraph, "%.*s", title, run->title.bytes);
  else
    say(paragraph, "%s", slash && slash[1] ? slash + 1 : command);
}

void report_print_wrappers(const struct view *view) {
  struct paragraph paragraph = {.length = 0};
  char fitted[WRAPPERS_NAMED][256];
  size_t named = 0, more = 0;
  for (size_t i = 0; i < view->report->recording->wrappers.count; i++) {
    char name[256];
    size_t same = 0;
    name_fit_paragraph(
        name, sizeof name,
        strings_text(view->report->names->strings, view->report->recording->wrappers.functions[i]),
        WRAPPER_COLUMNS, 0);
    while (same < named && strcmp(fitted[same], name) != 0) same++;
    if (same == named && named < WRAPPERS_NAMED)
      strcpy(fitted[named++], name);
    else
      more += same == named;
  }
  if (!named) return;
  say(&paragraph, "Passed over, since they only allocate for their callers: ");
  for (size_t i = 0; i < named; i++) say(&paragraph, "%s%s", i ? ", " : "", fitted[i]);
  if (more) say(&paragraph, " and %zu more", more);
  say(&paragraph, " (--show-wrappers gives them rows).");
  putchar('\n');
  text_paragraph(stdout, paragraph.text, 0);
}

void say_amount(struct paragraph *paragraph, const struct view *view, const struct sums *sums) {
  say_amount_of(paragraph, view, sums, "block");
}

void say_allocated(struct paragraph *paragraph, const struct view *view, const struct sums *sums) {
  bool calls = !view->report->samples->collected && !source_limits(view->report->samples->source)->totals;
  say_amount_of(paragraph, view, sums, calls ? "call" : "block");
}

void say_share(struct paragraph *paragraph, const struct estimate *share) {
  char text[32], range[32], count[64];
  say(paragraph, "%s", text_share(text, share->estimate));
  if (*text_share_range(range, share))
    say(paragraph, " (%s %%; %s)", range, text_number_of(count, (double)share->samples, "sample"));
}

/* Whether what was held then is what was alive last: at one moment, or at a moment of the same peak. */
bool report_held_is_alive(const struct report *report) {
  if (report->samples->process_count > 1) return false;
  if (report_is_same(&report->asked.live, &report->alive)) return true;
  return report->at == AT_PEAK && report->peak.first_ns <= report->alive_ns &&
         report->alive_ns <= report->peak.last_ns;
}

static wn_status print_alive(const struct view *view) {
  const struct report *report = view->report;
  char title[128], time[32], bytes[32];
  double freed = report->alive.bytes.total - report->live_at_end.bytes.total;
  bool several = report_has_processes(view);
  snprintf(title, sizeof title,
           several ? "Not freed when the processes ended, or their traces did" : "Still alive at the end");
  if (report->alive_ns < report->samples->end_ns)
    snprintf(title, sizeof title, "Alive after %s, before the program freed %s as it ended",
             text_time(time, report->alive_ns), text_bytes(bytes, freed));
  return report_print_table(view, title, "", MEASURE_ALIVE, tells_growth(view) ? TABLE_GROWTH : TABLE_SUMS,
                            report_held_is_alive(report) ? &report->alive : &report->asked.live);
}

/* What was alive last tells how it grew as well. */
static wn_status print_held(const struct view *view, const char *title) {
  return report_print_table(
      view, title, "", MEASURE_HELD,
      report_held_is_alive(view->report) && tells_lives(view) ? TABLE_GROWTH : TABLE_SUMS, NULL);
}

wn_status view_print_text(const struct view *view) {
  if (source_limits(view->report->samples->source)->totals) return report_print_totals(view);
  if (!view->options->all && !view->options->tree) return screen_print(view);
  char held[128], time[32], last[32], lasting[128];
  static const char *const when[] = {" (the peak)", " (the end)", ""};
  print_summary(view);
  int verdict_lines;
  wn_status error = screen_print_verdict(view, &verdict_lines);
  if (heap_life_is_told(&view->report->samples->life)) report_print_heap(view);
  if (!error) error = report_print_resident(view);
  if (error || !view->report->allocated.bytes.samples) return error;
  if (view->report->at == AT_PEAK && !report_peak_is_one(view->report))
    snprintf(held, sizeof held, "Held at moments between %s and %s (the peak)",
             text_time(time, view->report->peak.first_ns), text_time(last, view->report->peak.last_ns));
  else
    snprintf(held, sizeof held, "Held after %s%s", text_time(time, view->report->asked.time_ns),
             when[view->report->at]);
  if (view->report->at != AT_TIME && !report_is_timed(view->report))
    snprintf(held, sizeof held, "Held at %s", view->report->at == AT_PEAK ? "the peak" : "the end");
  snprintf(lasting, sizeof lasting, "Long-lived: at least %s", text_time(time, view->report->long_ns));
  if (report_is_timed(view->report)) report_print_time(view);
  error = report_print_processes(view, held);
  if (!error) error = print_held(view, held);
  if (!error && view->options->tree) error = report_print_tree(view);
  if (!error && view->report->samples->collected) error = report_print_generations(view);
  if (!error && !view->report->samples->collected)
    error = report_print_table(view, "Allocated over the run", "", MEASURE_ALLOCATED,
                               tells_lives(view) ? TABLE_LIVES : TABLE_SUMS, &view->report->asked.live);
  if (!error) error = print_alive(view);
  if (!error && tells_growth(view)) error = report_print_growth(view);
  if (!error && tells_lives(view))
    error = report_print_table(view, lasting, "", MEASURE_LASTING, TABLE_LIVES, NULL);
  if (!error) report_print_wrappers(view);
  if (!error && view->report->names->hint) {
    putchar('\n');
    text_paragraph(stdout, view->report->names->hint, 0);
  }
  return error;
}
/* SPDX-License-Identifier: MIT */
