/* The report as people read it: one paragraph of verdict, then tables. */
#include "cli/report_text.h"

#include "cli/collected.h"
#include "cli/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *program_name(const struct report *report) {
  const struct trace_run *run = trace_reader_run(report->samples->reader);
  if (!run->command.length || !run->command.bytes[0]) return "The program";
  const char *slash = strrchr(run->command.bytes, '/');
  return slash && slash[1] ? slash + 1 : run->command.bytes;
}

/* Who set the rate depends on who wrote the trace: the command, or the program on its own heap. */
static void say_how_to_sample(struct paragraph *paragraph, const struct report *report) {
  const char *heap = trace_reader_run(report->samples->reader)->heap.bytes;
  bool own = heap && !strcmp(heap, "winnow");
  say(paragraph,
      own ? "Run it again with a higher rate: WINNOW_RATE, or the options that it gives wn_trace_start. "
          : "Record it again with a higher --rate. ");
}

static void say_nothing_sampled(struct paragraph *paragraph, const struct report *report) {
  char bytes[32];
  double rate = trace_reader_run(report->samples->reader)->rate,
         most = report_bytes(report, &report->allocated).high;
  if (rate >= 1) {
    say(paragraph, " and allocated nothing. ");
    return;
  }
  if (rate > 0)
    say(paragraph, ", and no block was sampled at %g a word: most likely it allocated less than %s. ", rate,
        text_bytes(bytes, most));
  else
    say(paragraph, ", and no block was sampled, since the rate was 0. ");
  say_how_to_sample(paragraph, report);
}

static void say_program(struct paragraph *paragraph, const struct report *report) {
  char time[32], bytes[128];
  struct estimate allocated = report_bytes(report, &report->allocated);
  say(paragraph, "%s ran for %s", program_name(report), text_time(time, report->samples->end_ns));
  if (!report->samples->sampled_blocks) {
    say_nothing_sampled(paragraph, report);
  } else if (!allocated.samples) {
    say(paragraph, "; none of the sampled blocks matches the query. ");
  } else {
    say(paragraph, " and allocated ");
    say_amount(paragraph, report, &report->allocated);
    if (report->query) say(paragraph, " matching the query");
    struct estimate rate = report_per_second(report, &allocated);
    if (report->samples->end_ns) say(paragraph, ", %s a second", with_range(bytes, &rate));
    say(paragraph, ". ");
  }
}

static void say_peak(struct paragraph *paragraph, const struct report *report) {
  char time[32], rss[32];
  struct memory_point beside = timeline_memory_at(report->samples, report->peak.time_ns);
  struct memory_point most = timeline_peak_memory(report->samples);
  say(paragraph,
      "It held the most%s after %s: ", report->collected ? ", garbage that was not found yet included," : "",
      text_time(time, report->peak.time_ns));
  say_amount(paragraph, report, &report->peak.live);
  if (most.rss_bytes) say(paragraph, ", when %s was resident", text_bytes(rss, (double)beside.rss_bytes));
  if (most.rss_bytes > beside.rss_bytes)
    say(paragraph, " (the most resident was %s)", text_bytes(rss, (double)most.rss_bytes));
  say(paragraph, ". ");
  if (report->peak_renewals >= RENEWALS_MANY)
    say(paragraph, "The heap was about as large at other times, with other blocks: so the peak is likely too "
                   "high, and its range "
                   "holds the truth less often. ");
}

/* Whether a block that the query takes was freed. */
static bool is_freed(const struct row *row, void *context) {
  return row->last && row->died_ns != STILL_ALIVE && report_takes(row, context);
}

/* "91 % (88–94 %; 300 samples) of the bytes allocated lived less than 9.75 ms. " */
static void say_brief(struct paragraph *paragraph, const struct report *report) {
  char time[32];
  struct estimate brief = share_of(&report->brief.bytes, &report->allocated.bytes, report->byte_unit);
  if (!brief.samples) return;
  say_share(paragraph, &brief);
  say(paragraph, " of the bytes allocated lived less than %s. ", text_time(time, report->brief_ns));
}

static void say_end(struct paragraph *paragraph, const struct report *report) {
  bool exact = trace_reader_run(report->samples->reader)->rate >= 1;
  const char *freed = report->collected ? "found dead" : "freed",
             *alive = report->collected ? "had not been found dead" : "was still allocated";
  if (!timeline_count(report->samples, is_freed, (void *)report)) {
    say(paragraph, "%s was %s. ", exact ? "Nothing" : "None of the sampled blocks", freed);
  } else if (report->live_at_end.bytes.samples) {
    say(paragraph, "At the end ");
    say_amount(paragraph, report, &report->live_at_end);
    say(paragraph, " %s. ", alive);
  } else if (report->collected) {
    say(paragraph, "At the end %s had been found dead. ", exact ? "everything" : "every sampled block");
  } else {
    say(paragraph, "At the end %s was still allocated. ", exact ? "nothing" : "no sampled block");
  }
  say_brief(paragraph, report);
}

/* How the program ended, where that is not the usual way. */
static void say_ending(struct paragraph *paragraph, const struct report *report) {
  const struct samples *samples = report->samples;
  if (!samples->ended)
    say(paragraph,
        " The end was not recorded: the program was killed, left by _exit, or still runs; its last "
        "moments may be missing.");
  else if (samples->end.kind == TRACE_END_SIGNAL)
    say(paragraph, " The program was ended by signal %d (%s).", samples->end.code,
        strsignal(samples->end.code));
  else if (samples->end.kind == TRACE_END_LEFT)
    say(paragraph, " The program left by _exit(%d).", samples->end.code);
  else if (samples->end.kind == TRACE_END_EXEC)
    say(paragraph,
        " Then it became another program%s%s%s by exec, which is not in this trace; record "
        "--follow-children gives it one of its own.",
        samples->became ? " (" : "", samples->became ? samples->became : "", samples->became ? ")" : "");
  else if (samples->end.kind == TRACE_END_STOP && !report->collected) /* a heap's trace always ends so */
    say(paragraph, " Then recording was stopped.");
}

/* Whether what was recorded is malloc, of a program that has a collected heap besides. */
static enum collected find_other_heap(const struct report *report) {
  struct trace_reader *reader = report->samples->reader;
  enum collected found = COLLECTED_NONE;
  if (strcmp(trace_reader_run(reader)->heap.bytes, "malloc") != 0 || !report->options->names.symbols)
    return COLLECTED_NONE;
  for (uint32_t i = 1; i <= trace_reader_modules(reader) && found != COLLECTED_ASKS; i++) {
    const struct trace_module *module = trace_reader_module(reader, i);
    enum collected here = COLLECTED_NONE;
    if (module->path.length && !trace_is_language(module))
      here = collected_in_file(module->path.bytes, module->build_id, module->build_id_bytes);
    if (here > found) found = here;
  }
  return found;
}

static void say_other_heap(struct paragraph *paragraph, const struct report *report) {
  enum collected found = find_other_heap(report);
  if (found == COLLECTED_NONE) return;
  say(paragraph, " %s has a garbage-collected heap of its own, which is not in this trace of malloc: ",
      program_name(report));
  if (found == COLLECTED_ASKS)
    say(paragraph, "to have that traced, run it without winnow record, and with WINNOW_TRACE=FILE.");
  else
    say(paragraph, "a call of wn_trace_if_requested (winnow/trace.h) would let it write a trace of that.");
}

/* True if records are missing, so that no number is exact. */
static bool is_incomplete(const struct report *report) {
  const struct trace_damage *damage = trace_reader_damage(report->samples->reader);
  return damage->records_lost || damage->chunks_damaged;
}

static void say_sample(struct paragraph *paragraph, const struct report *report) {
  const struct trace_run *run = trace_reader_run(report->samples->reader);
  const struct trace_damage *damage = trace_reader_damage(report->samples->reader);
  char count[64];
  if (!report->samples->sampled_blocks && !is_incomplete(report)) return;
  text_number_of(count, (double)report->samples->sampled_blocks, "block");
  if (run->rate >= 1 && !is_incomplete(report))
    say(paragraph, "Every block was recorded: %s", count);
  else
    say(paragraph, "Sampled: %s, at %g a word", count, run->rate);
  uint64_t rows = report->allocated.bytes.samples, blocks = report->samples->sampled_blocks;
  if (!report->query && rows > blocks)
    say(paragraph, "; %s by realloc", text_number_of(count, (double)(rows - blocks), "growth"));
  if (damage->records_lost)
    say(paragraph, "; lost: %s", text_number_of(count, (double)damage->records_lost, "record"));
  if (damage->chunks_damaged)
    say(paragraph, "; damaged and left out: %s of the trace",
        text_number_of(count, (double)damage->chunks_damaged, "piece"));
  if (report->samples->unmatched)
    say(paragraph, "; %s of unknown blocks",
        text_number_of(count, (double)report->samples->unmatched, "record"));
  say(paragraph, ".");
  if (run->rate < 1 && report->samples->sampled_blocks)
    say(paragraph, " Each range holds the truth in 95 of 100 runs.");
  if (is_incomplete(report))
    say(paragraph, " What is allocated is too low by what is missing, and what is held may be too high: "
                   "deaths are missing too.");
}

static void print_verdict(const struct report *report) {
  struct paragraph paragraph = {.length = 0};
  say_program(&paragraph, report);
  if (report->allocated.bytes.samples) {
    say_peak(&paragraph, report);
    say_end(&paragraph, report);
  }
  say_sample(&paragraph, report);
  say_ending(&paragraph, report);
  say_other_heap(&paragraph, report);
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

void say_amount(struct paragraph *paragraph, const struct report *report, const struct sums *sums) {
  struct estimate bytes = report_bytes(report, sums), blocks = report_blocks(report, sums);
  char range[64], number[160], value[32];
  say(paragraph, "%s", text_bytes(value, bytes.estimate));
  if (bytes.low != bytes.high) {
    say(paragraph, " (%s", text_range(range, &bytes));
    if (bytes.samples != blocks.samples) /* grown blocks give bytes and are no new blocks */
      say(paragraph, "; %s", text_number_of(range, (double)bytes.samples, "sample"));
    say(paragraph, ")");
  }
  say(paragraph, " in %s", text_estimated_number(number, &blocks, "block"));
}

void say_share(struct paragraph *paragraph, const struct estimate *share) {
  char text[32], range[32], count[64];
  say(paragraph, "%s", text_share(text, share->estimate));
  if (*text_share_range(range, share))
    say(paragraph, " (%s %%; %s)", range, text_number_of(count, (double)share->samples, "sample"));
}

wn_status report_print_text(const struct report *report) {
  char held[128], time[32], lasting[128], brief[128];
  static const char *const when[] = {" (the peak)", " (the end)", ""};
  print_verdict(report);
  if (report->collected) report_print_heap(report);
  if (!report->allocated.bytes.samples) return WN_OK;
  snprintf(held, sizeof held, "Held after %s%s", text_time(time, report->asked.time_ns),
           when[report->options->at]);
  snprintf(brief, sizeof brief, "Churn: lived less than %s", text_time(time, report->brief_ns));
  snprintf(lasting, sizeof lasting, "Long-lived: at least %s", text_time(time, report->long_ns));
  report_print_time(report);
  wn_status error = report_print_table(report, held, "", report_held, TABLE_SUMS);
  if (!error && report->options->tree) error = report_print_tree(report);
  if (!error && report->collected) error = report_print_generations(report);
  if (!error) error = report_print_table(report, brief, "", report_churn, TABLE_LIVES);
  if (!error) error = report_print_table(report, "Still alive at the end", "", report_alive, TABLE_SUMS);
  if (!error) error = report_print_table(report, lasting, "", report_lasting, TABLE_LIVES);
  if (!error && report->names.hint) {
    putchar('\n');
    text_paragraph(stdout, report->names.hint, 0);
  }
  return error;
}
/* SPDX-License-Identifier: MIT */
