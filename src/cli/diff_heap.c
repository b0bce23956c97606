/* What the collected heaps of two runs counted themselves, beside each other. These numbers are exact,
 * whatever was sampled. */
#include "cli/diff.h"
#include "cli/report_text.h"
#include "cli/text.h"

static void say_two(struct paragraph *paragraph, const char *what, const char *before, const char *after) {
  say(paragraph, " %s: before %s; after %s.", what, before, after);
}

static void say_bytes(struct paragraph *paragraph, const char *what, const struct diff *diff, uint64_t before,
                      uint64_t after) {
  char one[32], other[32];
  if (!before && !after) return;
  say_two(paragraph, what, text_bytes(one, diff->pair.before.samples->word_bytes * (double)before),
          text_bytes(other, diff->pair.after.samples->word_bytes * (double)after));
}

static void say_counts(struct paragraph *paragraph, const char *what, uint64_t before, uint64_t after) {
  char one[32], other[32];
  if (before || after)
    say_two(paragraph, what, text_count(one, (double)before), text_count(other, (double)after));
}

/* "1.20 s in 999 pauses, the longest 8.30 ms". */
static const char *pauses_text(char buffer[160], const struct heap_life *life) {
  char total[32], count[64], longest[32];
  uint64_t pauses = heap_life_pauses(life);
  if (!pauses) return "none";
  int length = snprintf(buffer, 160, "%s in %s", text_time(total, (uint64_t)heap_life_paused_ns(life)),
                        text_number_of(count, (double)pauses, "pause"));
  if (life->longest.ns)
    snprintf(buffer + length, 160 - (size_t)length, ", the longest %s", text_time(longest, life->longest.ns));
  return buffer;
}

/* Counts of a part of a run, as of a program that was killed, are not those of another whole one. */
static bool are_told(const struct diff *diff) {
  return !diff->pair.moments &&
         heap_life_is_whole(&diff->pair.before.samples->life, diff->pair.before.samples->end_ns) &&
         heap_life_is_whole(&diff->pair.after.samples->life, diff->pair.after.samples->end_ns);
}

/* ---- shared ---- */

void diff_say_promoted(struct paragraph *paragraph, const struct diff *diff) {
  if (!are_told(diff) || diff->options->where) return;
  say(paragraph, ". By the heap's own count, which is exact:");
  say_bytes(paragraph, "promoted", diff, heap_life_total(&diff->pair.before.samples->life).promoted_words,
            heap_life_total(&diff->pair.after.samples->life).promoted_words);
}

void diff_print_heap(const struct diff *diff) {
  const struct heap_life *had = &diff->pair.before.samples->life, *has = &diff->pair.after.samples->life;
  struct trace_collection before = heap_life_total(had), after = heap_life_total(has);
  struct paragraph paragraph = {.length = 0};
  char one[160], other[160];
  if (!are_told(diff)) return;
  say(&paragraph, "The collected heap's own counts.");
  say_bytes(&paragraph, "Born in the minor heap", diff, before.minor_words, after.minor_words);
  say_bytes(&paragraph, "Promoted", diff, before.promoted_words, after.promoted_words);
  say_counts(&paragraph, "Minor collections", before.minor_collections, after.minor_collections);
  say_counts(&paragraph, "Cycles of the major collector", before.major_cycles, after.major_cycles);
  if (had->domains_begun && has->domains_begun) /* a heap that records its domains records its pauses */
    say_two(&paragraph, "Pauses", pauses_text(one, had), pauses_text(other, has));
  text_paragraph(stdout, paragraph.text, 0);
  putchar('\n');
}
/* SPDX-License-Identifier: MIT */
