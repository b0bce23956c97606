/* Comparisons of two runs, and of two moments of one: which groups are matched, that the rows add
 * up, and how often a change is listed that is none, or not listed that is one. */
#include "analysis/named_story.h"
#include "analysis/sampled.h"
#include "support/runs.h"
#include "support/test.h"

#include "analysis/compare/merged_tree.h"
#include <math.h>

/* ---- recordings ---- */

static struct recording *load(struct trace_writer *writer) {
  struct recording *recording;
  trace_writer_close(writer);
  assert_int_equal(recording_load(story_path(), &(struct recording_options){0}, &recording), WN_OK);
  unlink(story_path());
  return recording;
}

struct compared_runs {
  struct recording *before_run, *after_run;
  struct report before, after;
  struct table before_table, after_table;
  struct comparison comparison;
};

static void compare_reports(struct compared_runs *of, enum measure measure, enum grouping grouping,
                            const struct comparison_options *options) {
  assert_int_equal(report_table(&of->before, measure, grouping, TABLE_SUMS, &of->before_table), WN_OK);
  assert_int_equal(report_table(&of->after, measure, grouping, TABLE_SUMS, &of->after_table), WN_OK);
  assert_int_equal(comparison_make(&of->before_table, &of->after_table, options, &of->comparison), WN_OK);
}

static void compare(struct compared_runs *of, enum measure measure, enum grouping grouping,
                    const struct comparison_options *options) {
  struct question question = {.at = AT_END};
  assert_int_equal(report_ask(of->before_run, &question, &of->before), WN_OK);
  assert_int_equal(report_ask(of->after_run, &question, &of->after), WN_OK);
  compare_reports(of, measure, grouping, options);
}

static void forget(struct compared_runs *of) {
  comparison_destroy(&of->comparison);
  table_destroy(&of->before_table);
  table_destroy(&of->after_table);
  report_destroy(&of->before);
  report_destroy(&of->after);
}

static const struct comparison_options self = {.extent = EXTENT_SELF};

/* ---- what is matched ---- */

static const struct named_node old_nodes[] = {
    {"", 0}, {"main", 0}, {"parse", 1}, {"print", 1}, {"unused", 1}};
static const struct named_node new_nodes[] = {{"", 0},      {"main", 0},  {"cache", 1},
                                              {"print", 1}, {"parse", 1}, {"parse", 2}};

static const struct compared *row_of(const struct compared_runs *of, const char *function) {
  for (size_t i = 0; i < of->comparison.count; i++) {
    const struct compared *row = &of->comparison.rows[i];
    const struct table *table = comparison_table(&of->comparison, row);
    const struct label *label = table_label(table, compared_group(row));
    if (!strcmp(strings_text(table->report->names->strings, label->function), function)) return row;
  }
  return NULL;
}

/* Each node allocates `count` blocks of so many bytes. */
static void allocate_some(struct trace_writer *writer, uint64_t *block, uint32_t node, int count,
                          uint64_t size) {
  for (int i = 0; i < count; i++) story_next(writer, block, size, node);
}

static struct compared_runs two_runs(void) {
  struct compared_runs of = {0};
  uint64_t block = 0;
  struct trace_writer *writer = named_story_begin(0.01, old_nodes);
  allocate_some(writer, &block, 2, 100, 64);  /* parse */
  allocate_some(writer, &block, 3, 50, 1000); /* print */
  allocate_some(writer, &block, 4, 40, 100);  /* unused */
  of.before_run = load(writer);
  block = 0;
  writer = named_story_begin(0.01, new_nodes);
  allocate_some(writer, &block, 2, 200, 80);  /* cache */
  allocate_some(writer, &block, 3, 52, 1000); /* print */
  allocate_some(writer, &block, 4, 50, 64);   /* parse */
  allocate_some(writer, &block, 5, 250, 64);  /* parse, called by cache */
  of.after_run = load(writer);
  return of;
}

static void free_runs(struct compared_runs *of) {
  recording_free(of->before_run);
  recording_free(of->after_run);
}

static void functions_are_matched_by_name_wherever_they_are_called(void **state) {
  (void)state;
  struct compared_runs of = two_runs();
  compare(&of, MEASURE_ALLOCATED, BY_FUNCTION, &self);
  const struct compared *parse = row_of(&of, "parse"), *print = row_of(&of, "print"),
                        *cache = row_of(&of, "cache"), *unused = row_of(&of, "unused");
  assert_int_equal(of.comparison.count, 4);
  assert_true(parse && parse->before && parse->after && parse->sure);
  assert_int_equal(parse->bytes.before.samples, 100);
  assert_int_equal(parse->bytes.after.samples, 300);
  assert_true(print && print->before && print->after && !print->sure);
  assert_true(cache && !cache->before && cache->after && cache->sure && cache->bytes.difference.low > 0);
  assert_true(unused && unused->before && !unused->after && unused->sure &&
              unused->bytes.difference.high < 0);
  forget(&of);
  free_runs(&of);
}

/* The rows of self sums add up to the difference of the wholes, in every grouping. */
static void rows_account_for_the_whole_difference(void **state) {
  (void)state;
  struct compared_runs of = two_runs();
  for (int measure = 0; measure < MEASURES; measure++)
    for (int grouping = 0; grouping < BY_STACK; grouping++) {
      compare(&of, (enum measure)measure, (enum grouping)grouping, &self);
      double bytes = 0, blocks = 0;
      for (size_t i = 0; i < of.comparison.count; i++) {
        bytes += of.comparison.rows[i].bytes.difference.estimate;
        blocks += of.comparison.rows[i].blocks.difference.estimate;
      }
      assert_true(fabs(bytes - of.comparison.bytes.difference.estimate) < 1e-3);
      assert_true(fabs(blocks - of.comparison.blocks.difference.estimate) < 1e-3);
      forget(&of);
    }
  free_runs(&of);
}

static void sure_changes_come_first_and_each_part_by_size(void **state) {
  (void)state;
  struct compared_runs of = two_runs();
  compare(&of, MEASURE_ALLOCATED, BY_FUNCTION, &self);
  const struct comparison *comparison = &of.comparison;
  assert_int_equal(comparison->sure_count, 3);
  for (size_t i = 0; i < comparison->count; i++) {
    assert_int_equal(comparison->rows[i].sure, i < comparison->sure_count);
    if (!i || i == comparison->sure_count) continue;
    assert_true(fabs(comparison->rows[i - 1].bytes.difference.estimate) >=
                fabs(comparison->rows[i].bytes.difference.estimate));
  }
  forget(&of);
  free_runs(&of);
}

/* A file name with a version in it, as of a library, is another module with the same code. */
static const char *library;
static void versioned_module(void *context, uint32_t module, struct trace_module *out) {
  named_module(context, module, out);
  out->path = trace_text_of(library);
}
static struct recording *record_library(const char *path) {
  struct tree_source source = {.node = named_node, .module = versioned_module, .place = named_place};
  struct trace_options options = {.path = story_path()};
  struct trace_run run = {.command = trace_text_of("story"), .rate = 0.01, .word_bytes = 8, .stack_depth = 9};
  struct trace_writer *writer;
  uint64_t block = 0;
  library = path;
  named_nodes = old_nodes;
  assert_int_equal(tree_writer_open(&options, &run, &source, &writer), WN_OK);
  allocate_some(writer, &block, 2, 100, 64);
  allocate_some(writer, &block, 3, 100, 64);
  return load(writer);
}

static void code_of_a_renamed_module_is_matched(void **state) {
  (void)state;
  struct compared_runs of = {0};
  of.before_run = record_library("[lib.so.1]");
  of.after_run = record_library("[lib.so.2]");
  compare(&of, MEASURE_ALLOCATED, BY_FUNCTION, &self);
  assert_int_equal(of.comparison.count, 2);
  for (size_t i = 0; i < 2; i++) assert_true(of.comparison.rows[i].before && of.comparison.rows[i].after);
  forget(&of);
  compare(&of, MEASURE_ALLOCATED, BY_MODULE, &self);
  assert_int_equal(of.comparison.count, 2); /* which are two, and nothing says that they are one */
  forget(&of);
  free_runs(&of);
}

/* ---- joined trees ---- */

static uint32_t joined_child(const struct compared_runs *of, const struct merged_tree *joined,
                             uint32_t parent, const char *function) {
  const struct tree_node *nodes = joined->tree.nodes;
  for (uint32_t child = nodes[parent].first_child; child; child = nodes[child].next_sibling) {
    const struct report *named = nodes[child].label < joined->after_label_count ? &of->after : &of->before;
    uint32_t name = joined->tree.labels[nodes[child].label].function;
    if (!strcmp(strings_text(named->names->strings, name), function)) return child;
  }
  return 0;
}

static void joined_trees_have_each_path_once_with_both_sums(void **state) {
  (void)state;
  struct compared_runs of = two_runs();
  struct merged_tree joined;
  compare(&of, MEASURE_ALLOCATED, BY_FUNCTION, &self);
  assert_int_equal(merged_tree_make(&of.before_table, &of.after_table, &joined), WN_OK);
  uint32_t main_node = joined_child(&of, &joined, 0, "main"),
           parse = joined_child(&of, &joined, main_node, "parse"),
           cache = joined_child(&of, &joined, main_node, "cache"),
           unused = joined_child(&of, &joined, main_node, "unused"),
           cached = joined_child(&of, &joined, cache, "parse");
  assert_true(main_node && parse && cache && unused && cached);
  assert_int_equal(joined.tree.node_count, 7); /* the root, main, parse, print, unused, cache, its parse */
  assert_int_equal(joined.before[parse].self.bytes.samples, 100);
  assert_int_equal(joined.tree.nodes[parse].self.bytes.samples, 50);
  assert_int_equal(joined.before[cached].total.bytes.samples, 0);
  assert_int_equal(joined.tree.nodes[cached].total.bytes.samples, 250);
  assert_int_equal(joined.before[unused].total.bytes.samples, 40);
  assert_int_equal(joined.tree.nodes[unused].total.bytes.samples, 0);
  assert_int_equal(joined.before[main_node].total.bytes.samples, 190);
  assert_int_equal(joined.before[0].total.bytes.samples, 190);
  assert_int_equal(joined.tree.nodes[0].total.bytes.samples, 552);
  assert_int_equal(joined.tree.nodes[parse].label, joined.tree.nodes[cached].label);
  merged_tree_destroy(&joined);
  forget(&of);
  free_runs(&of);
}

/* ---- scales ---- */

static void what_is_before_can_be_scaled(void **state) {
  (void)state;
  struct compared_runs of = two_runs();
  compare(&of, MEASURE_ALLOCATED, BY_FUNCTION, &self);
  struct change plain = row_of(&of, "print")->bytes;
  forget(&of);
  compare(&of, MEASURE_ALLOCATED, BY_FUNCTION,
          &(struct comparison_options){.scale = {.estimate = 3, .low = 3, .high = 3}});
  struct change scaled = row_of(&of, "print")->bytes;
  assert_true(fabs(scaled.before.estimate - 3 * plain.before.estimate) < 1e-6);
  assert_true(fabs(scaled.before.low - 3 * plain.before.low) < 1e-6);
  assert_true(fabs(scaled.before.high - 3 * plain.before.high) < 1e-6);
  assert_true(fabs(scaled.after.estimate - plain.after.estimate) < 1e-9);
  assert_true(row_of(&of, "print")->sure);
  forget(&of);
  free_runs(&of);
}

static void a_ratio_has_the_uncertainty_of_both(void **state) {
  (void)state;
  struct estimate one = {.estimate = 100, .low = 90, .high = 110, .samples = 5},
                  other = {.estimate = 50, .low = 40, .high = 62.5, .samples = 7},
                  exact = {.estimate = 50, .low = 50, .high = 50, .samples = 7};
  struct estimate ratio = ratio_of(&one, &other), half = ratio_of(&one, &exact);
  assert_true(fabs(ratio.estimate - 2) < 1e-9 && ratio.samples == 12);
  assert_true(fabs(half.low - 1.8) < 1e-9 && fabs(half.high - 2.2) < 1e-9);
  assert_true(ratio.low < half.low && ratio.high > half.high);
  assert_true(ratio.low > 90 / 62.5 && ratio.high < 110 / 40.0); /* not both at their ends */
  struct estimate times = estimate_times(&exact, &ratio);
  assert_true(fabs(times.low - 50 * ratio.low) < 1e-9 && fabs(times.high - 50 * ratio.high) < 1e-9);
}

/* ---- two moments ---- */

static void two_moments_differ_by_what_only_one_of_them_has(void **state) {
  (void)state;
  struct compared_runs of = {0};
  struct trace_writer *writer = named_story_begin(0.01, old_nodes);
  for (uint64_t i = 1; i <= 300; i++) story_alloc(writer, i, i, 16 + i % 7 * 100, 2 + (uint32_t)i % 3);
  for (uint64_t i = 1; i <= 300; i += 2) story_free(writer, i, 300 + i);
  of.before_run = load(writer);
  struct pair pair;
  assert_int_equal(pair_of_moments(of.before_run, "at = 3ns and size > 0", 200, 400, &pair), WN_OK);
  of.before = pair.before, of.after = pair.after;
  compare_reports(&of, MEASURE_HELD, BY_FUNCTION, &self);
  double held_200 = report_bytes(&of.before, &of.before.asked.live).estimate,
         held_400 = report_bytes(&of.after, &of.after.asked.live).estimate;
  assert_int_equal(of.comparison.bytes.before.samples, 50); /* freed from 301 to 400 */
  assert_int_equal(of.comparison.bytes.after.samples, 100); /* born from 201 on */
  assert_true(fabs(of.comparison.bytes.difference.estimate - (held_400 - held_200)) < 1e-6);
  forget(&of);
  recording_free(of.before_run);
}

/* The block is held at both moments. */
static void a_block_that_was_resized_is_told_of_two_moments(void **state) {
  (void)state;
  struct trace_writer *writer = named_story_begin(0.01, old_nodes);
  story_alloc(writer, 1, 1, 1000, 2);
  story_resize(writer, 1, 300, 3000);
  story_alloc(writer, 2, 350, 500, 2);
  story_free(writer, 2, 450);
  story_free(writer, 1, 500);
  story_alloc(writer, 3, 600, 500, 2);
  struct recording *recording = load(writer);
  static const struct {
    uint64_t before, after;
    const char *where;
    bool resized;
  } cases[] = {{200, 400, NULL, true},  {310, 400, NULL, false}, {1, 299, NULL, false},
               {400, 600, NULL, false}, {200, 600, NULL, false}, {200, 400, "size < 800", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct pair pair;
    assert_int_equal(pair_of_moments(recording, cases[i].where, cases[i].before, cases[i].after, &pair),
                     WN_OK);
    assert_int_equal(pair.resized, cases[i].resized);
    pair_destroy(&pair);
  }
  recording_free(recording);
}

/* ---- chance ---- */

enum { SITES = 40, PAIRS = 60 };
#define RATE 1e-2

static char site_names[SITES][16];
static struct named_node sites[SITES + 1];

static void name_sites(void) {
  sites[0] = (struct named_node){"", 0};
  for (uint32_t i = 0; i < SITES; i++) {
    snprintf(site_names[i], sizeof site_names[i], "site_%02u", (unsigned)i);
    sites[i + 1] = (struct named_node){site_names[i], 0};
  }
}

/* Site i allocates 100 i blocks of 88 bytes, of which about 11 in 100 are sampled; site `planted`
 * allocates `blocks`. */
static struct recording *record_sites(uint64_t seed, uint64_t stream, uint32_t planted, int blocks) {
  struct thread thread;
  uint64_t block = 0;
  size_t words = malloc_words(88);
  thread_begin(&thread, RATE, seed, stream);
  struct trace_writer *writer = named_story_begin(RATE, sites);
  for (uint32_t site = 0; site < SITES; site++) {
    int count = site == planted ? blocks : 100 * ((int)site + 1);
    for (int i = 0; i < count; i++)
      if (is_sampled(&thread, words)) story_next(writer, &block, 88, site + 1);
  }
  return load(writer);
}

/* Of all rows of all pairs, in percent: how many are sure. Of the pairs, how many have the planted
 * site among these, and how many have it as the first row. */
struct found {
  double sure;
  int planted, first;
};

static struct found compare_pairs(int pairs, uint32_t planted, int before, int after) {
  struct found found = {0};
  double rows = 0, sure = 0;
  name_sites();
  for (int pair = 0; pair < pairs; pair++) {
    struct compared_runs of = {0};
    of.before_run = record_sites((uint64_t)pair, 1, planted, before);
    of.after_run = record_sites((uint64_t)pair, 2, planted, after);
    compare(&of, MEASURE_ALLOCATED, BY_FUNCTION, &self);
    const struct compared *row = row_of(&of, site_names[planted]);
    found.planted += row->sure;
    found.first += row == of.comparison.rows && row->sure;
    rows += (double)of.comparison.count;
    sure += (double)of.comparison.sure_count;
    forget(&of);
    free_runs(&of);
  }
  found.sure = 100 * sure / rows;
  return found;
}

static void at_most_one_row_in_twenty_is_marked_where_nothing_changed(void **state) {
  (void)state;
  struct found found = compare_pairs(runs_of(PAIRS), 0, 100, 100);
  print_message("%.1f %% of rows\n", found.sure);
  if (runs_of(PAIRS) == PAIRS) assert_true(found.sure <= 5);
}

/* Ten percent are 2.2 standard errors of the difference at 1,000 samples on each side, so 6 of 10
 * such changes can be told from chance; 4.5 at 4,000, which nearly always can. */
static void a_planted_change_is_marked_and_first(void **state) {
  (void)state;
  int pairs = runs_of(PAIRS);
  struct found some = compare_pairs(pairs, 7, 9250, 9250 + 925),
               many = compare_pairs(pairs, 7, 37000, 37000 + 3700);
  print_message("of %d pairs: with 1,000 samples %d marked, %d of these first; with 4,000 %d and %d\n", pairs,
                some.planted, some.first, many.planted, many.first);
  assert_int_equal(some.first, some.planted);
  assert_int_equal(many.first, many.planted);
  if (pairs != PAIRS) return;
  assert_true(some.planted >= PAIRS / 2);
  assert_true(many.planted >= PAIRS * 95 / 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions_are_matched_by_name_wherever_they_are_called),
      cmocka_unit_test(rows_account_for_the_whole_difference),
      cmocka_unit_test(sure_changes_come_first_and_each_part_by_size),
      cmocka_unit_test(code_of_a_renamed_module_is_matched),
      cmocka_unit_test(joined_trees_have_each_path_once_with_both_sums),
      cmocka_unit_test(what_is_before_can_be_scaled),
      cmocka_unit_test(a_ratio_has_the_uncertainty_of_both),
      cmocka_unit_test(two_moments_differ_by_what_only_one_of_them_has),
      cmocka_unit_test(a_block_that_was_resized_is_told_of_two_moments),
      cmocka_unit_test(at_most_one_row_in_twenty_is_marked_where_nothing_changed),
      cmocka_unit_test(a_planted_change_is_marked_and_first),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
