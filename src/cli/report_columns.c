/* Widths, and cells. */
#include "cli/report_columns.h"

#include "cli/report_name.h"
#include "cli/text.h"
#include <stdio.h>
#include <string.h>

enum {
  WIDTH_BYTES = 9,
  WIDTH_RANGE = 11,
  WIDTH_SHARE = 7,
  WIDTH_SHARE_RANGE = 8,
  WIDTH_LIFE = 12,
  WIDTH_LIFE_RANGE = 17,
  WIDTH_GENERATION = 10, /* shares of blocks' fates; the names of the columns are longer */
  WIDTH_SAMPLES = 9,
  WIDTH_GAP = 2,
  NAME_LEAST = 36,
  NAME_LEAST_FATES = 24,
  SAMPLES_LEAST = 20, /* the samples are part of every number: they go last */
  STACK_LEAST = 12    /* its names stand on lines of their own */
};

static bool has_ranges(const struct report *report) { return source_run(report->samples->source)->rate < 1; }

/* A narrow terminal drops the least needed numbers first. */
static void choose(struct columns *columns, int name_least) {
  bool totals = columns->order == SITES_BY_TOTAL; /* then self is what adds up */
  bool *const order[] = {totals ? &columns->share : &columns->other,
                         totals ? &columns->other : &columns->share,
                         &columns->life,
                         &columns->words,
                         &columns->dead,
                         &columns->promoted,
                         &columns->samples};
  enum { DROPS = sizeof order / sizeof *order };
  for (int dropped = 0;; dropped++) {
    columns->name = text_width() - columns_width(columns);
    int least = dropped == DROPS - 1 && name_least > SAMPLES_LEAST ? SAMPLES_LEAST : name_least;
    if (columns->name >= least || dropped == DROPS) return;
    *order[dropped] = false;
  }
}

/* Prints a text to the left of a column as wide as it is with ranges, or nothing without. */
static void print_range(const struct columns *columns, const char *text, int width) {
  if (!columns->ranges) return;
  putchar(' ');
  text_pad(stdout, text, width - 1);
}

static void print_bytes(const struct columns *columns, const struct estimate *bytes) {
  char value[32], text[64];
  snprintf(text, sizeof text, "%s%s", estimate_is_rough(bytes) ? "≈" : "",
           text_bytes(value, bytes->estimate));
  text_pad(stdout, text, -WIDTH_BYTES);
  print_range(columns, text_short_range(value, bytes), WIDTH_RANGE);
}

static void print_share(const struct columns *columns, const struct estimate *share) {
  char text[32];
  text_pad(stdout, text_share(text, share->estimate), -WIDTH_SHARE);
  print_range(columns, text_share_range(text, share), WIDTH_SHARE_RANGE);
}

static void print_samples(uint64_t samples) {
  char text[32];
  text_pad(stdout, text_count(text, (double)samples), -WIDTH_SAMPLES);
}

/* Without a sampled block there is no number. */
static void print_other(const struct columns *columns, const struct estimate *bytes) {
  if (bytes->samples) {
    print_bytes(columns, bytes);
    print_samples(bytes->samples);
    return;
  }
  text_pad(stdout, "–", -WIDTH_BYTES);
  print_range(columns, "", WIDTH_RANGE);
  text_pad(stdout, "–", -WIDTH_SAMPLES);
}

/* "3.84 us–22.0 us", "> 3.84 us" where the samples give no upper end. */
static const char *life_range(char buffer[80], const struct life *life) {
  char low[32], high[32];
  *buffer = 0;
  if (!life->samples) return buffer;
  if (life->low == NO_BOUND) return strcpy(buffer, "too few");
  if (life->high == NO_BOUND)
    snprintf(buffer, 80, "> %s", text_time(low, life->low));
  else
    snprintf(buffer, 80, "%s–%s", text_time(low, life->low), text_time(high, life->high));
  return buffer;
}

/* Without an interval the median is no number to show, nor is it one where no block of the group's
 * own has ended its life. */
static bool hides_median(const struct columns *columns, const struct life *life) {
  return !life->samples || (columns->ranges && life->low == NO_BOUND);
}

/* Half of the blocks live so long, or longer than could be seen. */
static void print_life(const struct columns *columns, struct table *table, const struct group *group) {
  struct life life = lifetimes_median(&table->lifetimes, group, table->extent);
  char time[32], text[80];
  snprintf(text, sizeof text, "%s%s", life.known ? "" : "> ", text_time(time, life.median));
  text_pad(stdout, hides_median(columns, &life) ? "–" : text, -WIDTH_LIFE);
  print_range(columns, life_range(text, &life), WIDTH_LIFE_RANGE);
}

/* The same in bytes that were allocated meanwhile. */
static void print_word_life(const struct report *report, const struct columns *columns, struct table *table,
                            const struct group *group) {
  struct life life = lifetimes_median(&table->word_lives, group, table->extent);
  double word = report->samples->word_bytes;
  struct estimate bytes = {word * (double)life.median, word * (double)life.low, word * (double)life.high,
                           life.samples, life.samples <= 2};
  char value[32], text[80];
  snprintf(text, sizeof text, "%s%s", life.known ? "" : "> ", text_bytes(value, bytes.estimate));
  text_pad(stdout, hides_median(columns, &life) ? "–" : text, -WIDTH_LIFE);
  if (!life.samples)
    *text = 0;
  else if (life.low == NO_BOUND)
    strcpy(text, "too few");
  else if (life.high == NO_BOUND)
    snprintf(text, sizeof text, "> %s", text_bytes(value, bytes.low));
  else
    text_short_range(text, &bytes);
  print_range(columns, text, WIDTH_RANGE);
}

/* The share of a fate among blocks that may have it; a dash if there is none of them. */
static void print_fate(const struct columns *columns, const struct estimate *share,
                       const struct sums *whole) {
  char text[32];
  bool any = whole->bytes.samples;
  text_pad(stdout, any ? text_share(text, share->estimate) : "–", -WIDTH_GENERATION);
  print_range(columns, any ? text_share_range(text, share) : "", WIDTH_SHARE_RANGE);
}

static void print_fates(const struct report *report, const struct columns *columns, struct table *table,
                        const struct group *group) {
  struct generations all =
      generations_of_group(report->samples, &table->tree, group, table->extent, table->inside);
  struct estimate promoted = report_promoted_share(report, &all), dead = report_dead_share(report, &all);
  if (columns->promoted) print_fate(columns, &promoted, &all.minor);
  if (columns->dead) print_fate(columns, &dead, &all.settled);
  if (columns->words) print_word_life(report, columns, table, group);
}

static void print_fate_headers(const struct columns *columns) {
  if (columns->promoted) {
    text_pad(stdout, "promoted", -WIDTH_GENERATION);
    print_range(columns, "range", WIDTH_SHARE_RANGE);
  }
  if (columns->dead) {
    text_pad(stdout, "dead next", -WIDTH_GENERATION);
    print_range(columns, "range", WIDTH_SHARE_RANGE);
  }
  if (columns->words) {
    text_pad(stdout, "median life", -WIDTH_LIFE);
    print_range(columns, "95 % range", WIDTH_RANGE);
  }
}

/* ---- shared ---- */

int columns_width(const struct columns *columns) {
  bool ranges = columns->ranges;
  return WIDTH_GAP + WIDTH_BYTES + WIDTH_RANGE * ranges +
         (WIDTH_SHARE + WIDTH_SHARE_RANGE * ranges) * columns->share +
         (WIDTH_BYTES + WIDTH_RANGE * ranges + WIDTH_SAMPLES) * columns->other +
         (WIDTH_LIFE + WIDTH_LIFE_RANGE * ranges) * columns->life +
         (WIDTH_LIFE + WIDTH_RANGE * ranges) * columns->words +
         (WIDTH_GENERATION + WIDTH_SHARE_RANGE * ranges) * (columns->dead + columns->promoted) +
         WIDTH_SAMPLES * columns->samples;
}

struct columns columns_of(const struct report *report, const struct table *table) {
  bool by_stack = table->tree.grouping == BY_STACK, fates = table_has_generations(table->kind);
  struct columns columns = {.order = report->options->order,
                            .ranges = has_ranges(report),
                            .share = true,
                            .other = !by_stack && table->kind == TABLE_SUMS,
                            .life = table->kind == TABLE_LIVES,
                            .words = table->kind == TABLE_ALLOCATED,
                            .dead = table->kind == TABLE_PROMOTED,
                            .promoted = fates,
                            .samples = true};
  choose(&columns, by_stack ? STACK_LEAST : fates ? NAME_LEAST_FATES : NAME_LEAST);
  return columns;
}

struct columns columns_of_tree(const struct report *report) {
  struct columns columns = {
      .order = SITES_BY_TOTAL, .ranges = has_ranges(report), .share = true, .samples = true};
  choose(&columns, NAME_LEAST);
  return columns;
}

void columns_print_header(const struct columns *columns, const char *name) {
  static const char range[] = "95 % range";
  bool totals = columns->order == SITES_BY_TOTAL;
  char fitted[64];
  text_style(stdout, STYLE_DIM);
  text_pad(stdout, totals ? "total" : "self", -WIDTH_BYTES);
  print_range(columns, range, WIDTH_RANGE);
  if (columns->share)
    text_pad(stdout, "share", -WIDTH_SHARE), print_range(columns, "range", WIDTH_SHARE_RANGE);
  if (columns->samples) text_pad(stdout, "samples", -WIDTH_SAMPLES);
  if (columns->other) {
    text_pad(stdout, totals ? "self" : "total", -WIDTH_BYTES);
    print_range(columns, range, WIDTH_RANGE);
    text_pad(stdout, "samples", -WIDTH_SAMPLES);
  }
  if (columns->life) {
    text_pad(stdout, "median life", -WIDTH_LIFE);
    print_range(columns, range, WIDTH_LIFE_RANGE);
  }
  print_fate_headers(columns);
  printf("  %s", name_fit(fitted, sizeof fitted, name, columns->name < 12 ? 12 : (size_t)columns->name));
  text_style(stdout, STYLE_PLAIN);
  putchar('\n');
}

void columns_print_sums(const struct report *report, const struct columns *columns, const struct sums *sums,
                        const struct sums *all) {
  struct estimate bytes = report_bytes(report, sums), share = report_share(report, sums, all);
  if (!bytes.samples) bytes.low = bytes.high = bytes.estimate; /* what is left over: of no sample's making */
  if (!share.samples) share.low = share.high = share.estimate;
  print_bytes(columns, &bytes);
  if (columns->share) print_share(columns, &share);
  if (columns->samples) print_samples(bytes.samples);
}

void columns_print_row(const struct report *report, const struct columns *columns, struct table *table,
                       const struct group *group) {
  bool totals = columns->order == SITES_BY_TOTAL;
  struct estimate other = report_bytes(report, totals ? &group->self : &group->total);
  if (columns->other) print_other(columns, &other);
  if (columns->life) print_life(columns, table, group);
  if (table_has_generations(table->kind)) print_fates(report, columns, table, group);
}

void columns_print_rest_of_totals(const struct report *report, const struct columns *columns,
                                  const struct sums *self) {
  struct columns before = *columns, behind = *columns;
  struct estimate bytes = report_bytes(report, self);
  before.other = before.life = before.words = before.dead = before.promoted = false;
  behind.share = behind.other = behind.samples = false;
  printf("%*s", columns_width(&before) - WIDTH_GAP, "");
  if (columns->other) print_other(columns, &bytes);
  columns_print_blank(&behind);
}

void columns_print_blank(const struct columns *columns) {
  struct columns numbers = *columns;
  numbers.other = numbers.life = numbers.words = numbers.dead = numbers.promoted = false;
  printf("%*s", columns_width(columns) - columns_width(&numbers), "");
}
/* SPDX-License-Identifier: MIT */
