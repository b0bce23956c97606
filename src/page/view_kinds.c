/* The view `kinds`: how large the blocks are and how long they live. */
#include "analysis/lifetimes.h"
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

static size_t class_of(const uint64_t *begins, size_t count, uint64_t value) {
  size_t at = 0;
  for (size_t step = 32; step; step /= 2)
    if (at + step < count && begins[at + step] <= value) at += step;
  return at;
}

static uint64_t life_of(const struct samples *samples, const struct row *row) {
  uint64_t died = row->died_ns == STILL_ALIVE ? samples->end_ns : row->died_ns;
  return died > row->born_ns ? died - row->born_ns : 0;
}

static void add_rows(const struct report *report, enum measure measure, const struct classes *classes,
                     struct cell_sums *cells) {
  const struct samples *samples = report->samples;
  struct share share;
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    if (!report_counts(report, measure, row, &share)) continue;
    size_t life = class_of(classes->life, classes->lives, life_of(samples, row)),
           size = class_of(classes->size, classes->sizes, row->size);
    struct cell_sums *cell = &cells[life * classes->sizes + size];
    bool alive = row->died_ns == STILL_ALIVE;
    cell->bytes[alive] += share_bytes(&share, row);
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
enum { CURVE_MOST = 128 };
static size_t make_curve(struct survival *curve, uint64_t longest) {
  static const double steps[] = {1, 1.33, 1.78, 2.37, 3.16, 4.22, 5.62, 7.5};
  size_t count = 0;
  double decade = 1000;
  for (size_t i = 0; count < CURVE_MOST && decade * steps[i % 8] <= (double)longest; i++) {
    curve[count++] = (struct survival){.life = (uint64_t)(decade * steps[i % 8])};
    if (i % 8 == 7) decade *= 10;
  }
  return count;
}

struct counted {
  const struct report *report;
  enum measure measure;
};

static bool is_counted(const struct row *row, void *context) {
  const struct counted *counted = context;
  struct share share;
  return report_counts(counted->report, counted->measure, row, &share);
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
static wn_status write_survival(struct answer *answer, const struct report *report, enum measure measure) {
  struct survival of_query[CURVE_MOST], of_all[CURVE_MOST];
  struct lifetimes lives;
  size_t count = make_curve(of_query, report->samples->end_ns);
  make_curve(of_all, report->samples->end_ns);
  wn_status error = lifetimes_create(report->samples, NULL, LIFE_NS, &lives);
  if (error) return error;
  lifetimes_survival(&lives, of_all, count);
  lifetimes_keep(&lives, is_counted, &(struct counted){report, measure});
  lifetimes_survival(&lives, of_query, count);
  lifetimes_destroy(&lives);
  write_curves(answer, of_query, of_all, count);
  return WN_OK;
}

static wn_status write_map(struct answer *answer, const struct report *report, enum measure measure) {
  struct classes classes = {.lives = 0};
  uint64_t largest = 0;
  for (size_t i = 0; i < report->samples->row_count; i++)
    if (report->samples->rows[i].size > largest) largest = report->samples->rows[i].size;
  make_lives(&classes, report->samples->end_ns);
  make_sizes(&classes, largest);
  struct cell_sums *cells = calloc(classes.lives * classes.sizes, sizeof *cells);
  if (!cells) return error_set(WN_ENOMEM, "not enough memory for the map");
  add_rows(report, measure, &classes, cells);
  write_classes(&answer->json, "life_ns", classes.life, classes.lives);
  write_classes(&answer->json, "size_bytes", classes.size, classes.sizes);
  write_cells(answer, cells, classes.lives * classes.sizes);
  free(cells);
  return WN_OK;
}

/* ---- shared ---- */

wn_status view_kinds(struct answers *answers, const struct request *request, struct answer *answer) {
  wn_status error = write_map(answer, &answers->report, request->measure);
  return error ? error : write_survival(answer, &answers->report, request->measure);
}
/* SPDX-License-Identifier: MIT */
