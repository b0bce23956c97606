/* Judges reports of real programs: traces that have every block are thinned again and again, as the
 * sampler would have done, and what the sums of each thinned one say is held against the truth.
 *   thinned SEEDS TRACE...
 *
 * A block is in a thinned trace if a number drawn for it is less than its p, by the time when its
 * words suffice: that is how blocks that grow are sampled too. Each trace is thinned to several
 * sizes, so that there are rows with few samples and with many. Rows are the functions of a table,
 * judged by their number of samples, given that they have one; of the peak they are judged by what
 * was truly held at the moments that the sample chose.
 *
 * Functions that call each other have nearly the same sums, so rows of one run are not independent.
 * The bounds allow for that: 3 % beside 93 and 97 %, and 99 % at most where the interval errs on
 * one side only. */
#include "analysis/load/call_tree.h"
#include "analysis/load/peak.h"
#include "base/error.h"
#include "base/hash.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum what { HELD, ALIVE, ALLOCATED, CHURN, WHATS };
enum kind { TOTAL, SELF, COUNT, KINDS };
enum { CLASSES = 6, ROWS_JUDGED = 200 };

static const char *const what_names[] = {"held", "alive", "allocated", "churn"};
static const char *const kind_names[] = {"total", "self", "blocks"};
static const uint64_t class_least[CLASSES] = {1, 2, 5, 10, 30, 100};
static const double samples_wanted[] = {75, 150, 300, 600, 1200};

struct tally {
  double rows, low, high; /* and misses */
};

static struct tally tallies[WHATS][KINDS][CLASSES], headlines[WHATS];

struct asking {
  const struct samples *samples;
  enum what what;
  const struct peak *peak;
  uint64_t brief_ns;
};

/* As the report asks. */
static bool ask(const struct row *row, struct share *share, void *context) {
  const struct asking *asking = context;
  *share = share_block(row);
  if (asking->what == HELD) return peak_holds(asking->peak, row, &share->weight);
  if (asking->what == ALIVE) return row->end_ns == STILL_ALIVE;
  *share = share_call(asking->samples, row);
  return asking->what == ALLOCATED ||
         (row->died_ns != STILL_ALIVE && row->died_ns - row->born_ns < asking->brief_ns);
}

static int by_begin(const void *one, const void *other) {
  const struct row *left = one, *right = other;
  if (left->begin_ns != right->begin_ns) return left->begin_ns < right->begin_ns ? -1 : 1;
  return (left->block > right->block) - (left->block < right->block);
}

static int by_block(const void *one, const void *other) {
  const struct row *left = one, *right = other;
  if (left->block != right->block) return left->block < right->block ? -1 : 1;
  if (left->begin_ns != right->begin_ns) return left->begin_ns < right->begin_ns ? -1 : 1;
  return (left->end_ns > right->end_ns) - (left->end_ns < right->end_ns);
}

/* `all`: rows ordered by block. */
static size_t thin(const struct row *all, size_t all_count, double rate, uint64_t seed, struct row *rows,
                   struct grown_rows *grown) {
  size_t count = 0;
  for (size_t i = 0, next; i < all_count; i = next) {
    double unit = (double)(hash_combine(hash_mix(seed), all[i].block) >> 11) * 0x1p-53;
    size_t begin = count;
    double growth = 0;
    for (next = i; next < all_count && all[next].block == all[i].block; next++) {
      if (count == begin && unit >= inclusion_probability(rate, all[next].words)) continue;
      rows[count] = all[next];
      rows[count].first = count == begin;
      rows[count].born_ns = rows[begin].begin_ns;
      rows[count].grown = 0;
      if (count == begin && next > i) growth = growth_of_sizes(all[next - 1].size, all[next].size);
      count++;
    }
    if (count > begin && !grown_finish_block(grown, rows + begin, count - begin, growth, &rate)) exit(1);
  }
  qsort(rows, count, sizeof *rows, by_begin);
  return count;
}

static double rate_for(const struct samples *all, double samples) {
  double low = 1e-9, high = 1;
  for (int step = 0; step < 50; step++) {
    double rate = sqrt(low * high), expected = 0;
    for (size_t i = 0; i < all->row_count; i++)
      if (all->rows[i].last) expected += inclusion_probability(rate, all->rows[i].words);
    *(expected < samples ? &low : &high) = rate;
  }
  return low;
}

static void judge(struct tally *tally, struct estimate estimate, double truth) {
  tally->rows++;
  tally->low += truth < estimate.low * (1 - 1e-9);
  tally->high += truth > estimate.high * (1 + 1e-9);
}

static struct tally *class_of(struct tally classes[CLASSES], const struct sum *sum) {
  int class = 0;
  while (class + 1 < CLASSES && sum->samples >= class_least[class + 1]) class ++;
  return &classes[class];
}

/* A label's number is its tree's own, so groups of two trees are matched by what their labels say.
 */
struct named {
  struct label label;
  const struct group *group;
};

static int by_name(const void *one, const void *other) { return memcmp(one, other, sizeof(struct label)); }

static struct named *name_groups(const struct call_tree *tree) {
  struct named *named = calloc(tree->group_count + 1, sizeof *named);
  for (size_t i = 0; i < tree->group_count; i++)
    named[i] = (struct named){tree->labels[tree->groups[i].label], &tree->groups[i]};
  qsort(named, tree->group_count, sizeof *named, by_name);
  return named;
}

/* `all`: the blocks of the thinned trace. */
static void judge_tree(enum what what, const struct call_tree *drawn, const struct call_tree *truth,
                       const struct sum *all, double rate) {
  const double byte_unit = 8 / rate;
  struct named *named = name_groups(truth);
  judge(&headlines[what], estimate_of(&drawn->nodes[0].total.bytes, byte_unit),
        truth->nodes[0].total.bytes.total);
  for (size_t i = 0; i < drawn->group_count; i++) {
    const struct group *group = &drawn->groups[i];
    const struct named *found =
        bsearch(&drawn->labels[group->label], named, truth->group_count, sizeof *named, by_name);
    static const struct group nothing;
    const struct group *whole = found ? found->group : &nothing;
    struct tally(*tally)[CLASSES] = tallies[what];
    const struct sums *total = &group->total, *self = &group->self;
    judge(class_of(tally[TOTAL], &total->bytes), estimate_of(&total->bytes, byte_unit),
          whole->total.bytes.total);
    if (total->blocks.samples)
      judge(class_of(tally[COUNT], &total->blocks), count_of(&total->blocks, all, rate),
            whole->total.blocks.total);
    if (self->bytes.samples)
      judge(class_of(tally[SELF], &self->bytes), estimate_of(&self->bytes, byte_unit),
            whole->self.bytes.total);
  }
  free(named);
}

static void build(const struct samples *samples, const struct names *names, struct asking *asking,
                  struct call_tree *tree) {
  if (call_tree_build(samples, names, BY_FUNCTION, NULL, ask, asking, tree)) exit(1);
}

/* Returns how much less the moments of the peak held than the true peak, in proportion. */
static double judge_thinned(const struct samples *all, const struct names *names, const struct samples *drawn,
                            double rate, double most) {
  double below = 0;
  struct peak peak;
  struct sums allocated = timeline_allocated(drawn, NULL, NULL);
  if (peak_find(drawn, NULL, NULL, &peak)) exit(1);
  for (enum what what = 0; what < WHATS; what++) {
    struct asking asking = {all, what, &peak, all->end_ns / 100};
    struct call_tree truth, tree;
    build(all, names, &asking, &truth);
    asking.samples = drawn;
    build(drawn, names, &asking, &tree);
    judge_tree(what, &tree, &truth, &allocated.blocks, rate);
    if (what == HELD) below = 1 - truth.nodes[0].total.bytes.total / most;
    call_tree_destroy(&truth);
    call_tree_destroy(&tree);
  }
  return below;
}

static void judge_trace(const char *path, uint64_t seeds) {
  struct samples *all;
  struct names names;
  struct names_options options = {.symbols = true};
  struct peak peak;
  if (samples_load(path, NULL, NULL, &all) || names_resolve(all, &options, NULL, NULL, &names) ||
      peak_find(all, NULL, NULL, &peak)) {
    fprintf(stderr, "%s: %s\n", path, wn_last_error());
    exit(1);
  }
  struct row *rows = calloc(all->row_count + 1, sizeof *rows);
  struct row *ordered = calloc(all->row_count + 1, sizeof *ordered);
  if (all->row_count) memcpy(ordered, all->rows, all->row_count * sizeof *ordered);
  qsort(ordered, all->row_count, sizeof *ordered, by_block);
  const char *slash = strrchr(path, '/');
  printf("%-10s %7zu rows; the moments of the peak held less than the peak:", slash ? slash + 1 : path,
         all->row_count);
  for (size_t i = 0; i < sizeof samples_wanted / sizeof *samples_wanted; i++) {
    double rate = rate_for(all, samples_wanted[i]), below = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
      struct samples drawn = *all;
      drawn.rows = rows;
      drawn.spans = NULL;
      drawn.steps = NULL;
      drawn.by_life = NULL;
      drawn.grown = (struct grown_rows){.items = NULL};
      drawn.row_count = thin(ordered, all->row_count, rate, seed + i * seeds, rows, /* the sizes draw apart */
                             &drawn.grown);
      below += judge_thinned(all, &names, &drawn, rate, peak.live.bytes.total) / (double)seeds;
      grown_destroy(&drawn.grown);
    }
    printf(" %.1f %% of %.0f samples%s", 100 * below, samples_wanted[i], i < 4 ? "," : "\n");
  }
  free(rows);
  free(ordered);
  names_destroy(&names);
  samples_free(all);
}

/* Whether it is as promised; `one_sided`: rows with one sample. Counts of the few blocks that live
 * until the end may be covered too often; small classes are by chance: three standard errors. */
static bool report(const char *name, const struct tally *tally, bool one_sided, bool is_count) {
  double covered = 100 * (1 - (tally->low + tally->high) / tally->rows);
  double most = 97 + 2 + 300 * sqrt(0.97 * 0.03 / tally->rows);
  bool good = tally->rows < ROWS_JUDGED || (covered > 93 - 3 && (is_count || one_sided || covered < most));
  printf("  %-10s %7.0f rows, %5.1f %% covered, %4.1f %% too high, %4.1f %% too low%s\n", name, tally->rows,
         covered, 100 * tally->low / tally->rows, 100 * tally->high / tally->rows, good ? "" : "  WRONG");
  return good;
}

int main(int count, char **arguments) {
  static const char *const class_names[] = {"1", "2-4", "5-9", "10-29", "30-99", "100 on"};
  int bad = 0;
  if (count < 3) return 2;
  for (int i = 2; i < count; i++) judge_trace(arguments[i], strtoull(arguments[1], NULL, 10));
  printf("totals\n");
  for (enum what what = 0; what < WHATS; what++)
    bad += !report(what_names[what], &headlines[what], false, false);
  for (enum what what = 0; what < WHATS; what++)
    for (enum kind kind = 0; kind < KINDS; kind++) {
      printf("%s, %s, by samples\n", what_names[what], kind_names[kind]);
      for (int class = 0; class < CLASSES; class ++)
        if (tallies[what][kind][class].rows > 0)
          bad += !report(class_names[class], &tallies[what][kind][class], !class, kind == COUNT);
    }
  return bad != 0;
}
/* SPDX-License-Identifier: MIT */
