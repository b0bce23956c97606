/* The view `time`: what was held, and the process's memory, over the run. */
#include "base/error.h"
#include "page/views.h"
#include <stdlib.h>

enum { MEMORY_POINTS = 1000, COLLECTIONS_MOST = 4000, PAUSES_MOST = 4000 };

/* A local maximum counts as a peak if the curve falls by this share of its highest value on both
 * sides before it rises above the maximum. */
static const double prominent = 0.05;

/* Before the first birth that the query takes, nothing was held. That is known, not estimated. */
static struct estimate held_at(const struct report *report, const struct moment *moment) {
  if (report->query && moment->time_ns < query_born_from(report->query)) return (struct estimate){0};
  return report_bytes(report, &moment->live);
}

static void write_curve(struct answer *answer, const struct report *report, const struct moment *moments,
                        const struct flow *flow, size_t count) {
  size_t time = answer_numbers(answer, "time"), held = answer_numbers(answer, "held"),
         low = answer_numbers(answer, "low"), high = answer_numbers(answer, "high"),
         minor = answer_numbers(answer, "minor"), major = answer_numbers(answer, "major"),
         outside = answer_numbers(answer, "outside"), rate = answer_numbers(answer, "rate");
  for (size_t i = 0; i < count; i++) {
    struct estimate bytes = held_at(report, &moments[i]);
    double seconds = i ? (double)(moments[i].time_ns - moments[i - 1].time_ns) / 1e9 : 0;
    answer_number(answer, time, (double)moments[i].time_ns);
    answer_number(answer, held, bytes.estimate);
    answer_number(answer, low, bytes.low);
    answer_number(answer, high, bytes.high);
    answer_number(answer, minor, flow[i].minor);
    answer_number(answer, major, flow[i].major);
    answer_number(answer, outside, flow[i].outside);
    answer_number(answer, rate, seconds > 0 ? flow[i].allocated / seconds : 0);
  }
}

/* Whether the curve falls by `fall` on one side of a moment before it rises above it; or ends. */
static bool falls(const struct moment *moments, size_t count, size_t at, int direction, double fall) {
  double top = moments[at].live.bytes.total;
  for (size_t i = at; direction < 0 ? i-- > 0 : ++i < count;) {
    double bytes = moments[i].live.bytes.total;
    if (bytes > top || (bytes == top && direction < 0)) return false; /* of equal ones the first counts */
    if (bytes <= top - fall) return true;
  }
  return true;
}

static void write_peaks(struct json *json, const struct moment *moments, size_t count) {
  double most = 0;
  for (size_t i = 0; i < count; i++)
    if (moments[i].live.bytes.total > most) most = moments[i].live.bytes.total;
  json_begin(json, "peaks_ns", '[');
  for (size_t i = 0; i < count && most > 0; i++)
    if (moments[i].live.bytes.total >= prominent * most && falls(moments, count, i, -1, prominent * most) &&
        falls(moments, count, i, 1, prominent * most))
      json_integer(json, NULL, moments[i].time_ns);
  json_end(json, ']');
}

static void write_memory(struct answer *answer, const struct samples *samples) {
  struct memory_point points[MEMORY_POINTS];
  size_t count = timeline_memory_thinned(samples, points, MEMORY_POINTS);
  size_t time = answer_numbers(answer, "memory_time"), rss = answer_numbers(answer, "rss"),
         private = answer_numbers(answer, "private");
  for (size_t i = 0; i < count; i++) {
    answer_number(answer, time, (double)points[i].time_ns);
    answer_number(answer, rss, (double)points[i].rss_bytes);
    answer_number(answer, private, (double)points[i].private_bytes);
  }
}

/* The collections, or, if there are many, each so-manieth one, and each that ended a major cycle. */
static void write_collections(struct answer *answer, const struct samples *samples) {
  const struct heap_life *life = &samples->life;
  size_t time = answer_numbers(answer, "collection_time"),
         major = answer_integers(answer, "collection_major"),
         heap = answer_numbers(answer, "collection_heap"),
         every = life->collection_count / COLLECTIONS_MOST + 1;
  for (size_t i = 0; i < life->collection_count; i++) {
    const struct trace_collection *collection = &life->collections[i];
    bool cycle = i && collection->major_cycles != life->collections[i - 1].major_cycles;
    if (!cycle && i % every != 0) continue;
    answer_number(answer, time, (double)collection->time_ns);
    answer_integer(answer, major, cycle);
    answer_number(answer, heap, (double)collection->heap_words * samples->word_bytes);
  }
}

/* Pauses that are long enough to have records of their own; if there are many, of consecutive ones
 * the longest. */
static void write_pauses(struct answer *answer, const struct samples *samples) {
  const struct heap_life *life = &samples->life;
  size_t time = answer_numbers(answer, "pause_time"), ns = answer_numbers(answer, "pause_ns"),
         kind = answer_integers(answer, "pause_kind"), every = life->pause_count / PAUSES_MOST + 1;
  for (size_t i = 0; i < life->pause_count; i += every) {
    const struct trace_pause *longest = &life->pauses[i];
    for (size_t j = i; j < life->pause_count && j < i + every; j++)
      if (life->pauses[j].ns > longest->ns) longest = &life->pauses[j];
    if (longest->ns < PAUSE_LONG_NS) continue; /* a record of the totals */
    answer_number(answer, time, (double)longest->time_ns);
    answer_number(answer, ns, (double)longest->ns);
    answer_integer(answer, kind, longest->kind);
  }
}

/* ---- shared ---- */

wn_status view_time(struct answers *answers, const struct request *request, struct answer *answer) {
  struct report *report = &answers->report;
  size_t count = request->points;
  struct moment *moments = calloc(count, sizeof *moments);
  struct flow *flow = calloc(count, sizeof *flow);
  if (moments && flow) {
    timeline_curve(report->samples, report_takes, report, moments, count);
    timeline_flow(report->samples, report_takes, report, flow, count);
    json_integer(&answer->json, "at_ns", report->asked.time_ns);
    json_integer(&answer->json, "peak_ns", report->peak.median_ns);
    write_peaks(&answer->json, moments, count);
    write_curve(answer, report, moments, flow, count);
    write_memory(answer, report->samples);
    write_collections(answer, report->samples);
    write_pauses(answer, report->samples);
  }
  bool done = moments && flow;
  free(moments);
  free(flow);
  return done ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the chart");
}
/* SPDX-License-Identifier: MIT */
