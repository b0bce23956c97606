/* The part of the text report on a collected heap: what it allocated, its collections, pauses and
 * domains, and what became of its blocks. */
#include "cli/report_text.h"
#include "cli/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static double bytes_of(const struct view *view, uint64_t words) {
  return view->report->samples->word_bytes * (double)words;
}

/* Of a program that was killed the heap's counts end before the trace. */
static void say_span(struct paragraph *paragraph, const struct view *view) {
  char from[32], to[32];
  const struct heap_life *life = &view->report->samples->life;
  if (heap_life_is_whole(life, view->report->samples->end_ns)) return;
  say(paragraph, " between %s and %s (the trace has no others)",
      text_time(from, life->collections[0].time_ns),
      text_time(to, life->collections[life->collection_count - 1].time_ns));
}

/* These are the counts of the heap itself, exact at any rate. */
static void say_allocation(struct paragraph *paragraph, const struct view *view,
                           const struct trace_collection *total) {
  char bytes[32], share[32];
  double minor = bytes_of(view, total->minor_words), direct = bytes_of(view, total->direct_words),
         promoted = bytes_of(view, total->promoted_words);
  say(paragraph, "By its own counts");
  say_span(paragraph, view);
  say(paragraph, ", headers included, the collected heap allocated %s", text_bytes(bytes, minor + direct));
  if (direct >= 0.0005 * minor && minor > 0)
    say(paragraph, ", %s of it directly in the major heap", text_share(share, direct / (minor + direct)));
  if (promoted > 0) {
    say(paragraph, ", and promoted %s", text_bytes(bytes, promoted));
    if (minor > 0)
      say(paragraph, ", %s of what was born in the minor heap", text_share(share, promoted / minor));
  }
  say(paragraph, ". ");
}

static void say_collections(struct paragraph *paragraph, const struct view *view,
                            const struct trace_collection *total) {
  char minor[64], major[64], bytes[32], time[32];
  struct trace_collection largest = heap_life_largest(&view->report->samples->life);
  text_number_of(minor, (double)total->minor_collections, "minor collection");
  text_number_of(major, (double)total->major_cycles, "cycle");
  if (total->minor_collections && total->major_cycles)
    say(paragraph, "%s and %s of the major collector ended. ", minor, major);
  else if (total->minor_collections)
    say(paragraph, "%s ended, but no cycle of the major collector. ", minor);
  else if (total->major_cycles)
    say(paragraph, "%s of the major collector ended, but no minor collection. ", major);
  else
    say(paragraph, "No collection ended. ");
  if (largest.heap_words)
    say(paragraph, "The major heap was largest after %s, with %s", text_time(time, largest.time_ns),
        text_bytes(bytes, bytes_of(view, largest.heap_words)));
  if (largest.heap_words && total->live_words)
    say(paragraph, "; the last cycle found %s live", text_bytes(bytes, bytes_of(view, total->live_words)));
  if (largest.heap_words) say(paragraph, ". ");
}

static const char *kind_of(const struct trace_pause *pause) {
  switch (pause->kind) {
  case TRACE_PAUSE_MINOR: return "a minor collection";
  case TRACE_PAUSE_SLICE: return "marking or sweeping";
  default: return "waiting for another domain";
  }
}

static void say_pauses(struct paragraph *paragraph, const struct heap_life *life) {
  char count[64], time[32], share[32];
  uint64_t pauses = heap_life_pauses(life), most = heap_life_pause_at(life, 0.99);
  double paused = heap_life_paused_ns(life);
  if (!pauses) {
    /* A heap that records its domains also records their pauses. */
    if (life->domains_begun) say(paragraph, "It never paused the program. ");
    return;
  }
  say(paragraph, "%s took %s", text_number_of(count, (double)pauses, "pause"),
      text_time(time, (uint64_t)paused));
  if (life->domain_ns >= paused)
    say(paragraph, ", %s of the time of its domains", text_share(share, paused / life->domain_ns));
  if (!life->longest.ns) {
    say(paragraph, pauses > 1 ? ", each less than %s. " : ". ", text_time(time, PAUSE_LONG_NS));
    return;
  }
  if (pauses >= 100) say(paragraph, "; 99 of 100 took at most %s", text_time(time, most));
  if (pauses > 1) say(paragraph, "; the longest took %s", text_time(time, life->longest.ns));
  say(paragraph, " (%s, after %s). ", kind_of(&life->longest), text_time(time, life->longest.time_ns));
}

static void say_domains(struct paragraph *paragraph, const struct heap_life *life) {
  char count[64];
  if (life->domains_most < 2 && life->domains_begun < 2) return;
  say(paragraph, "%s ran", text_number_of(count, (double)life->domains_begun, "domain"));
  say(paragraph, life->domains_most > 1 ? ", up to %s at once. " : ", one after the other. ",
      text_count(count, (double)life->domains_most));
}

/* "4.0–28 %"; "up to 28 %" where the lower end has no digit but 0. */
static const char *kept_range(char buffer[80], const struct kept *kept) {
  static const double no_digit = 0.0005;
  char low[32], high[32];
  text_share(low, fmax(kept->low, 0));
  text_share(high, fmax(kept->high, 0));
  if (!strcmp(low, high)) return strcpy(buffer, high);
  if (kept->low < no_digit)
    snprintf(buffer, 80, "up to %s", high);
  else
    snprintf(buffer, 80, "%.*s–%s", (int)strcspn(low, " "), low, high);
  return buffer;
}

static wn_status print_what_if(const struct view *view) {
  struct what_if what_if;
  struct paragraph paragraph = {.length = 0};
  char bytes[32], range[80];
  wn_status error = report_what_if(view->report, &what_if);
  if (error || !what_if.samples) return error;
  const struct kept *half = &what_if.sizes[0], less = {.low = -half->high, .high = -half->low};
  say(&paragraph,
      "Between two minor collections %s are allocated. With a minor heap twice as large, %s of the promoted "
      "bytes",
      text_bytes(bytes, view->report->samples->word_bytes * what_if.minor_words),
      kept_range(range, &what_if.sizes[1]));
  say(&paragraph, " would not have been promoted; 4 times, %s;", kept_range(range, &what_if.sizes[2]));
  say(&paragraph, " 8 times, %s.", kept_range(range, &what_if.sizes[3]));
  say(&paragraph, " With half of it, %s more would have been. The truth is somewhere in these ranges.",
      kept_range(range, &less));
  text_paragraph(stdout, paragraph.text, 0);
  return WN_OK;
}

/* ---- shared ---- */

void report_print_heap(const struct view *view) {
  struct paragraph paragraph = {.length = 0};
  const struct heap_life *life = &view->report->samples->life;
  struct trace_collection total = heap_life_total(life);
  if (life->collection_count > 1 || heap_life_is_whole(life, view->report->samples->end_ns)) {
    say_allocation(&paragraph, view, &total);
    say_collections(&paragraph, view, &total);
  } else {
    say(&paragraph, "The trace has the collected heap's own counts of one moment alone, so they do not tell "
                    "what it allocated. ");
  }
  say_pauses(&paragraph, life);
  say_domains(&paragraph, life);
  putchar('\n');
  text_paragraph(stdout, paragraph.text, 0);
}

wn_status report_print_generations(const struct view *view) {
  struct paragraph behind = {.length = 0};
  const struct generations *all = &view->report->generations;
  struct estimate promoted = report_promoted_share(view->report, all),
                  dead = report_dead_share(view->report, all);
  wn_status error = report_print_table(view,
                                       "Allocated, with the share of it that was promoted, and its median "
                                       "life in bytes that were allocated meanwhile",
                                       "", MEASURE_ALLOCATED, TABLE_WORD_LIVES | TABLE_FATES, NULL);
  if (error) return error;
  if (all->promoted.bytes.samples) {
    say(&behind, ", ");
    say_share(&behind, &promoted);
    say(&behind, " of what was born in the minor heap");
  }
  if (all->settled.bytes.samples) {
    say(&behind, "; ");
    say_share(&behind, &dead);
    say(&behind, " of that was found dead by the next cycle");
  }
  error = report_print_table(view, "Promoted", behind.text, MEASURE_PROMOTED, TABLE_FATES, NULL);
  return error ? error : print_what_if(view);
}
/* SPDX-License-Identifier: MIT */
