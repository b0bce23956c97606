/* The member `heap` of the JSON report: what a collected heap counted, its pauses, and up to
 * COLLECTION_POINTS of its collection records. */
#include "export/report_json.h"

enum { COLLECTION_POINTS = 1000 };

static void print_pauses(struct json *json, const struct heap_life *life) {
  static const char *const kinds[TRACE_PAUSES] = {"minor", "slice", "stop"};
  double paused = heap_life_paused_ns(life);
  json_begin(json, "pauses", '{');
  json_integer(json, "count", heap_life_pauses(life));
  json_number(json, "total_ns", paused);
  if (life->domain_ns >= paused && life->domain_ns > 0)
    json_number(json, "share", paused / life->domain_ns);
  else
    json_null(json, "share");
  if (life->longest.ns) {
    json_integer(json, "median_ns", heap_life_pause_at(life, 0.5));
    json_integer(json, "below_99_ns", heap_life_pause_at(life, 0.99));
    json_integer(json, "longest_ns", life->longest.ns);
    json_integer(json, "longest_at_ns", life->longest.time_ns);
    json_string(json, "longest_kind", kinds[life->longest.kind]);
  }
  json_begin(json, "kinds", '[');
  for (unsigned kind = 0; kind < TRACE_PAUSES; kind++) {
    json_begin(json, NULL, '{');
    json_string(json, "kind", kinds[kind]);
    json_integer(json, "count", life->paused[kind].count);
    json_integer(json, "total_ns", life->paused[kind].total_ns);
    json_end(json, '}');
  }
  json_end(json, ']');
  json_end(json, '}');
}

static void print_collection(struct json *json, const struct trace_collection *collection) {
  json_begin(json, NULL, '{');
  json_integer(json, "time_ns", collection->time_ns);
  json_integer(json, "minor_words", collection->minor_words);
  json_integer(json, "promoted_words", collection->promoted_words);
  json_integer(json, "direct_words", collection->direct_words);
  json_integer(json, "minor_collections", collection->minor_collections);
  json_integer(json, "major_cycles", collection->major_cycles);
  json_integer(json, "heap_words", collection->heap_words);
  json_integer(json, "live_words", collection->live_words);
  json_integer(json, "domains", collection->domains);
  json_end(json, '}');
}

/* Prints all collections or, if there are too many, evenly spread ones with the first and the last.
 */
static void print_collections(struct json *json, const struct heap_life *life) {
  size_t count = life->collection_count, points = count < COLLECTION_POINTS ? count : COLLECTION_POINTS;
  json_begin(json, "collections", '[');
  for (size_t i = 0; i < points; i++)
    print_collection(json, &life->collections[points > 1 ? i * (count - 1) / (points - 1) : 0]);
  json_end(json, ']');
}

static void print_fates(struct json *json, const struct report *report) {
  const struct generations *all = &report->generations;
  struct sums births = all->minor;
  sum_merge(&births.bytes, &all->major.bytes);
  sum_merge(&births.bytes, &all->outside.bytes);
  struct estimate minor = report_share(report, &all->minor, &births),
                  major = report_share(report, &all->major, &births),
                  promoted = report_promoted_share(report, all), dead = report_dead_share(report, all);
  json_estimate(json, "minor_share", &minor);
  json_estimate(json, "major_share", &major);
  json_estimate(json, "promoted_share", &promoted);
  json_estimate(json, "dead_next_share", &dead);
}

/* Null without promotions to tell from, and without memory. */
static void print_what_if(struct json *json, const struct report *report) {
  struct what_if what_if;
  if (report_what_if(report, &what_if) || !what_if.samples) {
    json_null(json, "what_if");
    return;
  }
  json_begin(json, "what_if", '{');
  json_number(json, "interval_words", what_if.minor_words);
  json_integer(json, "samples", what_if.samples);
  json_begin(json, "sizes", '[');
  for (int i = 0; i < WHAT_IF_SIZES; i++) {
    json_begin(json, NULL, '{');
    json_number(json, "factor", what_if.sizes[i].factor);
    json_number(json, "kept_low", what_if.sizes[i].low);
    json_number(json, "kept_high", what_if.sizes[i].high);
    json_end(json, '}');
  }
  json_end(json, ']');
  json_end(json, '}');
}

/* ---- shared ---- */

void json_heap(struct json *json, const struct report *report) {
  const struct heap_life *life = &report->samples->life;
  struct trace_collection total = heap_life_total(life), largest = heap_life_largest(life);
  json_begin(json, "heap", '{');
  json_integer(json, "minor_words", total.minor_words);
  json_integer(json, "promoted_words", total.promoted_words);
  json_integer(json, "direct_words", total.direct_words);
  json_integer(json, "minor_collections", total.minor_collections);
  json_integer(json, "major_cycles", total.major_cycles);
  json_integer(json, "live_words", total.live_words);
  json_integer(json, "peak_heap_words", largest.heap_words);
  json_integer(json, "peak_at_ns", largest.time_ns);
  json_integer(json, "domains_begun", life->domains_begun);
  json_integer(json, "domains_most", life->domains_most);
  print_fates(json, report);
  print_what_if(json, report);
  print_pauses(json, life);
  print_collections(json, life);
  json_end(json, '}');
}
/* SPDX-License-Identifier: MIT */
