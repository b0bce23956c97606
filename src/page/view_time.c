/* The view `time`: what was held, by which functions, and the process's memory, over the run. */
#include "analysis/load/rates.h"
#include "base/error.h"
#include "page/labels.h"
#include "page/views.h"
#include <stdlib.h>

enum { MEMORY_POINTS = 1000, COLLECTIONS_MOST = 4000, PAUSES_MOST = 4000, TOP_MOST = 8, TOP_FUNCTIONS = 5 };

/* A local maximum counts as a peak if the curve falls by this share of its highest value on both
 * sides before it rises above the maximum. */
static const double prominent = 0.05;

/* Before the first birth that the query takes, nothing was held. That is known, not estimated. */
static struct estimate view_time_held_at(const struct report *report, const struct moment *moment) {
  if (report->query && moment->time_ns < query_born_from(report->query)) return (struct estimate){0};
  return report_bytes(report, &moment->live);
}

static void write_curve(struct answer *answer, const struct report *report, const struct moment *moments,
                        const struct flow *flow, size_t count) {
  size_t time = answer_numbers(answer, "time"), held = answer_numbers(answer, "held"),
         low = answer_numbers(answer, "low"), high = answer_numbers(answer, "high"),
         minor = answer_numbers(answer, "minor"), major = answer_numbers(answer, "major"),
         outside = answer_numbers(answer, "outside"), rate = answer_numbers(answer, "rate"),
         asleep = answer_integers(answer, "asleep");
  for (size_t i = 0; i < count; i++) {
    struct estimate bytes = view_time_held_at(report, &moments[i]);
    double seconds = i ? (double)(moments[i].time_ns - moments[i - 1].time_ns) / 1e9 : 0;
    answer_number(answer, time, (double)moments[i].time_ns);
    answer_number(answer, held, bytes.estimate);
    answer_number(answer, low, bytes.low);
    answer_number(answer, high, bytes.high);
    answer_number(answer, minor, flow[i].minor);
    answer_number(answer, major, flow[i].major);
    answer_number(answer, outside, flow[i].outside);
    answer_number(answer, rate, seconds > 0 ? flow[i].allocated / seconds : 0);
    answer_integer(answer, asleep,
                   asleep_is(report->samples, moments[i ? i - 1 : 0].time_ns, moments[i].time_ns));
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

static void view_time_write_memory(struct answer *answer, const struct samples *samples) {
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

/* The peak may last for less than a point, and is one. */
static struct moments_of points_of(const struct report *report, const struct request *request) {
  return (struct moments_of){request->points, report->peak.median_ns};
}

/* ---- by function ---- */

/* The rows of the table that are drawn. */
struct drawn {
  const struct report *report;
  struct owners owners;
  struct call_tree tree; /* the labels of the owners, without nodes */
  uint32_t *key;         /* index: place; the number of the row of the table that owns it, or NO_KEY */
};

/* Of a sampled block. A table by place, since there are many more blocks than places, and each
 * node of the paths is far from the last. */
static uint32_t drawn_key(const struct row *row, void *context) {
  const struct drawn *drawn = context;
  uint32_t place = call_paths_place(drawn->owners.paths, row),
           key = place <= drawn->owners.paths->stack_count ? drawn->key[place] : NO_KEY;
  return key != NO_KEY && report_selects(row, (void *)drawn->report) ? key : NO_KEY;
}

/* Gives the places of each label its number (NULL: the label itself). */
static void set_keys(struct drawn *drawn, const uint32_t *number) {
  const struct call_paths *paths = drawn->owners.paths;
  for (uint32_t place = 0; place <= paths->stack_count; place++) {
    uint32_t label = paths->nodes[paths->own_of[place]].label;
    drawn->key[place] = !label ? NO_KEY : number ? number[label] : label;
  }
}

/* Writes what `count` rows of the table held themselves, row by row. */
static wn_status write_drawn(const struct drawn *drawn, struct moments_of of, size_t count,
                             struct answer *answer, const char *const names[3]) {
  struct moment *moments = calloc(of.count * count + 1, sizeof *moments);
  if (!moments || !timeline_curves(drawn->report->samples, drawn_key, (void *)drawn, moments, of, count)) {
    free(moments);
    return error_set(WN_ENOMEM, "not enough memory for the chart");
  }
  size_t held = answer_singles(answer, names[0]), low = answer_singles(answer, names[1]),
         high = answer_singles(answer, names[2]);
  for (size_t i = 0; i < of.count * count; i++) {
    struct estimate bytes = report_bytes(drawn->report, &moments[i].live);
    if (!moments[i].live.bytes.samples) bytes = (struct estimate){0}; /* as in the view table */
    answer_single(answer, held, bytes.estimate);
    answer_single(answer, low, bytes.low);
    answer_single(answer, high, bytes.high);
  }
  free(moments);
  return WN_OK;
}

/* The labels that held the most themselves at one of the moments, largest first. Of threads there
 * are few, and all may do the same. */
static size_t choose_top(const struct call_tree *tree, const double *most, uint32_t top[TOP_MOST]) {
  size_t count = 0, labels = tree->label_count, room = tree->grouping == BY_THREAD ? TOP_MOST : TOP_FUNCTIONS;
  for (uint32_t label = 1; label < labels; label++) {
    size_t at = count;
    while (at && most[label] > most[top[at - 1]]) at--;
    if (at == room || !(most[label] > 0)) continue;
    if (count < room) count++;
    for (size_t i = count - 1; i > at; i--) top[i] = top[i - 1];
    top[at] = label;
  }
  return count;
}

/* Writes the rows of the table that held the most, and their curves. */
static wn_status write_top(struct drawn *drawn, struct moments_of of, struct answer *answer) {
  static const char *const names[] = {"top_held", "top_low", "top_high"};
  const struct call_tree *tree = &drawn->tree;
  struct labels labels = {.tree = NULL};
  uint32_t top[TOP_MOST], *number = calloc(tree->label_count + 1, sizeof *number);
  double *most = calloc(tree->label_count + 1, sizeof *most);
  set_keys(drawn, NULL);
  wn_status error =
      number && most && timeline_most(drawn->report->samples, drawn_key, drawn, most, of, tree->label_count)
          ? labels_create(&labels, tree, drawn->report->names)
          : error_set(WN_ENOMEM, "not enough memory for the chart");
  if (!error) {
    size_t count = choose_top(tree, most, top);
    for (size_t label = 0; label < tree->label_count; label++) number[label] = NO_KEY;
    for (size_t i = 0; i < count; i++) number[top[i]] = labels_number(&labels, top[i]);
    labels_write(&labels, &answer->json);
    set_keys(drawn, number);
    error = write_drawn(drawn, of, count, answer, names);
  }
  labels_destroy(&labels);
  free(number);
  free(most);
  return error;
}

/* Gives number 0 to the places of the chosen labels, and, if `below`, of all that they call.
 * False: not enough memory. */
static bool choose_keys(struct drawn *drawn, const bool *chosen, bool below) {
  const struct call_paths *paths = drawn->owners.paths;
  bool *is_chosen = calloc(paths->node_count, sizeof *is_chosen);
  if (!is_chosen) return false;
  for (uint32_t node = 1; node < paths->node_count; node++)
    is_chosen[node] = chosen[paths->nodes[node].label] || (below && is_chosen[paths->nodes[node].parent]);
  for (uint32_t place = 0; place <= paths->stack_count; place++) {
    uint32_t node = paths->own_of[place];
    drawn->key[place] = paths->nodes[node].label && is_chosen[node] ? 0 : NO_KEY;
  }
  free(is_chosen);
  return true;
}

/* Writes the curve of the row of the table that has this text. */
static wn_status write_one(struct drawn *drawn, const struct request *request, struct answer *answer) {
  static const char *const names[] = {"held", "low", "high"};
  struct labels labels;
  bool *chosen = NULL;
  wn_status error = labels_create(&labels, &drawn->tree, drawn->report->names);
  if (!error) error = views_choose(&labels, request->of, &chosen);
  if (!error && !choose_keys(drawn, chosen, request->extent == EXTENT_TOTAL))
    error = error_set(WN_ENOMEM, "not enough memory for the chart");
  if (!error) error = write_drawn(drawn, points_of(drawn->report, request), 1, answer, names);
  labels_destroy(&labels);
  free(chosen);
  return error;
}

static wn_status view_time_write_functions(struct answers *answers, const struct request *request,
                                           struct answer *answer) {
  struct drawn drawn = {.report = &answers->report};
  wn_status error = report_owners(&answers->report, request->grouping, &drawn.owners);
  if (error) return error;
  const struct call_paths *paths = drawn.owners.paths;
  drawn.tree = (struct call_tree){
      .grouping = request->grouping, .labels = paths->labels, .label_count = paths->label_count};
  drawn.key = malloc((paths->stack_count + (size_t)1) * sizeof *drawn.key);
  error = !drawn.key    ? error_set(WN_ENOMEM, "not enough memory for the chart")
          : request->of ? write_one(&drawn, request, answer)
                        : write_top(&drawn, points_of(drawn.report, request), answer);
  free(drawn.key);
  owners_destroy(&drawn.owners);
  return error;
}

/* ---- shared ---- */

wn_status view_time(struct answers *answers, const struct request *request, struct answer *answer) {
  if (request->of) return view_time_write_functions(answers, request, answer);
  struct report *report = &answers->report;
  struct moments_of of = points_of(report, request);
  size_t count = of.count;
  struct moment *moments = calloc(count, sizeof *moments);
  struct flow *flow = calloc(count, sizeof *flow);
  if (moments && flow) {
    timeline_curve(report->samples, report_selects, report, moments, of);
    timeline_flow(report->samples, report_selects, report, flow, of);
    json_integer(&answer->json, "at_ns", report->asked.time_ns);
    json_integer(&answer->json, "peak_ns", report->peak.median_ns);
    write_peaks(&answer->json, moments, count);
    write_curve(answer, report, moments, flow, count);
    view_time_write_memory(answer, report->samples);
    write_collections(answer, report->samples);
    write_pauses(answer, report->samples);
  }
  bool done = moments && flow;
  free(moments);
  free(flow);
  return done ? view_time_write_functions(answers, request, answer)
              : error_set(WN_ENOMEM, "not enough memory for the chart");
}
/* SPDX-License-Identifier: MIT */
