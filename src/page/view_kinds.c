/* The view `kinds`: how large the blocks are and how long they live. */
#include "analysis/report/lifetimes.h"
#include "base/error.h"
#include "page/views.h"
#include <stdlib.h>

enum { LIVES_MOST = 48, SIZES_MOST = 48 };

/* Classes of lives and of sizes, by their lower ends; the last one is open. */
struct classes {
  uint64_t life[LIVES_MOST], size[SIZES_MOST];
  size_t lives, sizes;
};

/* The sums of one cell of the map: of blocks that died, and of blocks still alive. */
struct cell_sums {
  double bytes[2];
  uint32_t samples[2];
};

/* 0, then 1, 2, 5, 10, ... microseconds, as far as a life of the trace reaches. */
static void make_lives(struct classes *classes, uint64_t longest) {
  static const uint64_t steps[] = {1, 2, 5};
  uint64_t decade = 1000;
  classes->life[classes->lives++] = 0;
  for (size_t i = 0; classes->lives < LIVES_MOST && decade * steps[i % 3] <= longest; i++) {
    classes->life[classes->lives++] = decade * steps[i % 3];
    if (i % 3 == 2) decade *= 10;
  }
}

/* 0, then powers of 2 from 16 on, as far as a size of the trace reaches. */
static void make_sizes(struct classes *classes, uint64_t largest) {
  classes->size[classes->sizes++] = 0;
  for (uint64_t size = 16; classes->sizes < SIZES_MOST && size <= largest; size *= 2)
    classes->size[classes->sizes++] = size;
}

static size_t view_kinds_class_of(const uint64_t *begins, size_t count, uint64_t value) {
  size_t at = 0;
  for (size_t step = 32; step; step /= 2)
    if (at + step < count && begins[at + step] <= value) at += step;
  return at;
}

/* Sums the rows that count, and notes their weights, by row. */
static void view_kinds_add_rows(const struct report *report, enum measure measure,
                                const struct classes *classes, struct cell_sums *cells, double *weights) {
  const struct samples *samples = report->samples;
  struct share share;
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    weights[i] = 0;
    if (!report_counts(report, measure, row, &share)) continue;
    weights[i] = share_weight(&share, row);
    size_t life = view_kinds_class_of(classes->life, classes->lives, row_life_ns(samples, row)),
           size = view_kinds_class_of(classes->size, classes->sizes, row->size);
    struct cell_sums *cell = &cells[life * classes->sizes + size];
    bool alive = row->died_ns == STILL_ALIVE;
    cell->bytes[alive] += share.bytes * weights[i];
    cell->samples[alive]++;
  }
}

static void write_classes(struct json *json, const char *name, const uint64_t *begins, size_t count) {
  json_begin(json, name, '[');
  for (size_t i = 0; i < count; i++) json_integer(json, NULL, begins[i]);
  json_end(json, ']');
}

static void write_cells(struct answer *answer, const struct cell_sums *cells, size_t count) {
  static const char *const names[][2] = {{"bytes", "samples"}, {"alive_bytes", "alive_samples"}};
  for (int alive = 0; alive < 2; alive++) {
    size_t bytes = answer_numbers(answer, names[alive][0]),
           samples = answer_integers(answer, names[alive][1]);
    for (size_t i = 0; i < count; i++) {
      answer_number(answer, bytes, cells[i].bytes[alive]);
      answer_integer(answer, samples, cells[i].samples[alive]);
    }
  }
}

/* The lives of the curve: eight in each decade, from a microsecond to the longest. */
static size_t make_curve(struct survival *curve, uint64_t longest) {
  static const double steps[] = {1, 1.33, 1.78, 2.37, 3.16, 4.22, 5.62, 7.5};
  size_t count = 0;
  double decade = 1000;
  for (size_t i = 0; count < SURVIVAL_MOST && decade * steps[i % 8] <= (double)longest; i++) {
    curve[count++] = (struct survival){.life = (uint64_t)(decade * steps[i % 8])};
    if (i % 8 == 7) decade *= 10;
  }
  return count;
}

static wn_status survival_of(const struct samples *samples, const double *weights, struct survival *curve,
                             size_t count) {
  struct lifetimes lives;
  wn_status error = lifetimes_create(samples, NULL, LIFE_NS, weights, &lives);
  if (error) return error;
  lifetimes_survival(&lives, curve, count);
  lifetimes_destroy(&lives);
  return WN_OK;
}

/* Knows what no query changes. */
static wn_status know_all(struct all_kinds *all, const struct samples *samples) {
  if (all->known) return WN_OK;
  size_t count = make_curve(all->survival, samples->end_ns);
  wn_status error = survival_of(samples, NULL, all->survival, count);
  for (size_t i = 0; i < samples->row_count; i++)
    if (samples->rows[i].size > all->largest) all->largest = samples->rows[i].size;
  all->known = !error;
  return error;
}

static void write_curves(struct answer *answer, const struct survival *of_query,
                         const struct survival *of_all, size_t count) {
  size_t life = answer_numbers(answer, "survival_ns"), share = answer_numbers(answer, "survival"),
         low = answer_numbers(answer, "survival_low"), high = answer_numbers(answer, "survival_high"),
         all = answer_numbers(answer, "survival_all");
  for (size_t i = 0; i < count; i++) {
    answer_number(answer, life, (double)of_query[i].life);
    answer_number(answer, share, of_query[i].share);
    answer_number(answer, low, of_query[i].low);
    answer_number(answer, high, of_query[i].high);
    answer_number(answer, all, of_all[i].share);
  }
}

/* The curve of the blocks that the measure counts, and, to compare with, that of all blocks. */
static wn_status write_survival(struct answer *answer, const struct samples *samples, const double *weights,
                                const struct all_kinds *all) {
  struct survival of_query[SURVIVAL_MOST];
  size_t count = make_curve(of_query, samples->end_ns);
  wn_status error = survival_of(samples, weights, of_query, count);
  if (!error) write_curves(answer, of_query, all->survival, count);
  return error;
}

static wn_status write_map(struct answer *answer, const struct report *report, enum measure measure,
                           uint64_t largest, double *weights) {
  struct classes classes = {.lives = 0};
  make_lives(&classes, report->samples->end_ns);
  make_sizes(&classes, largest);
  struct cell_sums *cells = calloc(classes.lives * classes.sizes, sizeof *cells);
  if (!cells) return error_set(WN_ENOMEM, "not enough memory for the map");
  view_kinds_add_rows(report, measure, &classes, cells, weights);
  write_classes(&answer->json, "life_ns", classes.life, classes.lives);
  write_classes(&answer->json, "size_bytes", classes.size, classes.sizes);
  write_cells(answer, cells, classes.lives * classes.sizes);
  free(cells);
  return WN_OK;
}

/* ---- shared ---- */

wn_status view_kinds(struct answers *answers, const struct request *request, struct answer *answer) {
  const struct report *report = &answers->report;
  struct all_kinds *all = &answers->all_kinds;
  double *weights = malloc((report->samples->row_count + 1) * sizeof *weights);
  wn_status error =
      weights ? know_all(all, report->samples) : error_set(WN_ENOMEM, "not enough memory for the map");
  if (!error) error = write_map(answer, report, request->measure, all->largest, weights);
  if (!error) error = write_survival(answer, report->samples, weights, all);
  free(weights);
  return error;
}
/* SPDX-License-Identifier: MIT */
