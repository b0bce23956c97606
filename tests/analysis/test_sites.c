/* Which rows a table has, and what they account for. */
#include "analysis/named_story.h"

#include "analysis/report/sites.h"
#include "base/random.h"
#include <math.h>
#include <string.h>

enum { NODES = 300, NAMES = 40 };

struct told {
  struct samples *samples;
  struct names names;
  struct call_tree tree;
};

static struct told tell(struct trace_writer *writer, enum grouping grouping) {
  struct told told;
  told.samples = story_load(writer);
  story_names(told.samples, &told.names);
  assert_int_equal(call_tree_build(told.samples, &told.names, grouping, NULL, everything, NULL, &told.tree),
                   WN_OK);
  return told;
}

static void forget(struct told *told) {
  call_tree_destroy(&told->tree);
  names_destroy(&told->names);
  samples_free(told->samples);
}

static const char *function_of(const struct told *told, uint32_t label) {
  return strings_text(told->names.strings, told->tree.labels[label].function);
}

static const struct site *site_named(const struct told *told, const struct sites *sites, const char *name) {
  for (size_t i = 0; i < sites->count; i++)
    if (!strcmp(function_of(told, sites->shown[i].group->label), name)) return &sites->shown[i];
  return NULL;
}

/* ---- ACCOUNT ---- */

static struct trace_writer *random_story(struct random *random) {
  static struct named_node nodes[NODES];
  static char names[NAMES][16];
  for (int i = 0; i < NAMES; i++) snprintf(names[i], sizeof names[i], "f%d", i);
  for (uint32_t i = 1; i < NODES; i++)
    nodes[i] = (struct named_node){names[random_bits(random) % NAMES], (uint32_t)(random_bits(random) % i)};
  struct trace_writer *writer = named_story_begin(1e-3, nodes);
  for (uint64_t block = 1; block <= 500; block++)
    story_alloc(writer, block, block, 8 + random_bits(random) % 5000,
                (uint32_t)(random_bits(random) % NODES));
  return writer;
}

static void account_for_all(const struct call_tree *tree, const struct sites_options *options) {
  struct sites sites;
  assert_int_equal(sites_choose(tree, options, &sites), WN_OK);
  struct sums all = sites.rest;
  double before = INFINITY;
  for (size_t i = 0; i < sites.count; i++) {
    const struct group *group = sites.shown[i].group;
    sum_merge(&all.bytes, &group->self.bytes);
    sum_merge(&all.blocks, &group->self.blocks);
    if (options->order == SITES_BY_SELF || options->order == SITES_BY_TOTAL) {
      assert_true(sites_sums(options->order, group)->bytes.total <= before);
      before = sites_sums(options->order, group)->bytes.total;
    }
  }
  const struct sums *total = &tree->nodes[0].total;
  assert_true(sites.count <= options->most + options->last);
  if (options->last) assert_int_not_equal(sites.rest_count, 1);
  assert_int_equal(all.bytes.samples, total->bytes.samples);
  assert_true(fabs(all.bytes.total - total->bytes.total) <= 1e-9 * total->bytes.total);
  assert_true(fabs(all.bytes.variance - total->bytes.variance) <= 1e-9 * total->bytes.variance);
  assert_true(fabs(all.blocks.total - total->blocks.total) <= 1e-9 * total->blocks.total);
  for (size_t i = 0; i < sites.above_count; i++) assert_int_equal(sites.above[i]->self.bytes.samples, 0);
  sites_destroy(&sites);
}

static void shown_sites_and_the_rest_are_the_total_in_every_grouping_and_order(void **state) {
  (void)state;
  static const size_t most[] = {1, 2, 10, 1000000};
  struct random random;
  random_seed(&random, 11, 0, 0);
  for (int round = 0; round < 20; round++)
    for (enum grouping grouping = BY_FUNCTION; grouping <= BY_STACK; grouping++) {
      struct told told = tell(random_story(&random), grouping);
      for (enum sites_order order = SITES_BY_SELF; order <= SITES_BY_SAMPLES; order++)
        for (int i = 0; i < 8; i++)
          account_for_all(&told.tree, &(struct sites_options){.order = order,
                                                              .most = most[i / 2],
                                                              .least = i % 2 ? 0.01 : 0,
                                                              .every = round % 2,
                                                              .last = round % 3 == 0});
      forget(&told);
    }
}

static void a_site_that_is_left_alone_takes_the_line_of_the_rest(void **state) {
  (void)state;
  static const struct named_node nodes[] = {{NULL, 0}, {"main", 0}, {"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}};
  struct trace_writer *writer = named_story_begin(1e-3, nodes);
  uint64_t block = 0;
  for (uint32_t node = 2; node < 6; node++)
    for (uint32_t i = 0; i < 10 * node; i++) story_next(writer, &block, 64, node);
  struct told told = tell(writer, BY_FUNCTION);
  for (size_t most = 1; most < 6; most++)
    for (int last = 0; last < 2; last++) {
      struct sites sites;
      struct sites_options options = {.most = most, .last = last};
      assert_int_equal(sites_choose(&told.tree, &options, &sites), WN_OK);
      assert_int_equal(sites.count, most >= 4 || (most == 3 && last) ? 4 : most);
      assert_int_equal(sites.rest_count, 4 - sites.count);
      sites_destroy(&sites);
    }
  forget(&told);
}

static void a_rest_that_is_no_digit_of_the_total_has_no_line(void **state) {
  (void)state;
  static const struct named_node nodes[] = {{NULL, 0}, {"main", 0}};
  struct trace_writer *writer = named_story_begin(1e-3, nodes);
  uint64_t block = 0;
  for (int i = 0; i < 10; i++) story_next(writer, &block, 64, 1);
  struct told told = tell(writer, BY_FUNCTION);
  double total = told.tree.nodes[0].total.bytes.total;
  struct sites sites = {.rest = {.bytes = {.total = 0.0004 * total}}};
  assert_false(sites_have_rest(&told.tree, &sites));
  sites.rest.bytes.samples = 1;
  assert_true(sites_have_rest(&told.tree, &sites));
  sites.rest.bytes = (struct sum){.total = 0.0006 * total};
  assert_true(sites_have_rest(&told.tree, &sites));
  sites.rest.bytes.total = 0;
  sites.rest_count = 1;
  assert_true(sites_have_rest(&told.tree, &sites));
  forget(&told);
}

/* ---- whose row it is ---- */

static const struct named_node loop[] = {{NULL, 0}, {"start", 0}, {"main", 1}, {"f", 2}, {"buffer", 1}};

static void the_function_that_allocates_is_a_site_though_it_is_on_every_stack(void **state) {
  (void)state;
  for (int with_other = 0; with_other < 2; with_other++)
    for (enum sites_order order = SITES_BY_SELF; order <= SITES_BY_SAMPLES; order++) {
      struct trace_writer *writer = named_story_begin(1e-3, loop);
      for (uint64_t block = 1; block <= 1000; block++) story_alloc(writer, block, block, 200, 3);
      if (with_other) story_alloc(writer, 1001, 1001, 81920, 4);
      struct told told = tell(writer, BY_FUNCTION);
      struct sites sites;
      assert_int_equal(sites_choose(&told.tree,
                                    &(struct sites_options){.order = order, .most = 10, .least = 0.01},
                                    &sites),
                       WN_OK);
      const struct site *site = site_named(&told, &sites, "f");
      assert_non_null(site);
      assert_int_equal(site->group->self.bytes.samples, 1000);
      sites_destroy(&sites);
      forget(&told);
    }
}

static void functions_above_all_are_left_out_only_without_self(void **state) {
  (void)state;
  for (uint32_t own = 0; own < 2; own++) {
    struct trace_writer *writer = named_story_begin(1e-3, loop);
    for (uint64_t block = 1; block <= 100; block++)
      story_alloc(writer, block, block, 200, own && block % 2 ? 2 : block % 3 ? 3 : 4);
    struct told told = tell(writer, BY_FUNCTION);
    struct sites sites;
    assert_int_equal(
        sites_choose(&told.tree, &(struct sites_options){.order = SITES_BY_TOTAL, .most = 10}, &sites),
        WN_OK);
    assert_null(site_named(&told, &sites, "start"));
    assert_int_equal(sites.above_count, 1);
    if (own) assert_non_null(site_named(&told, &sites, "main")); /* else f stands for it */
    assert_non_null(site_named(&told, &sites, "f"));
    sites_destroy(&sites);
    forget(&told);
  }
}

static void orders_go_by_what_they_are_named_for(void **state) {
  (void)state;
  static const struct named_node nodes[] = {{NULL, 0},   {"main", 0},  {"large", 1},
                                            {"many", 1}, {"often", 1}, {"deep", 2}};
  struct trace_writer *writer = named_story_begin(1e-4, nodes);
  uint64_t block = 0;
  for (int i = 0; i < 3; i++) story_next(writer, &block, 1 << 20, 2); /* most bytes */
  for (int i = 0; i < 20; i++) story_next(writer, &block, 8, 3);      /* most blocks */
  for (int i = 0; i < 30; i++) story_next(writer, &block, 8000, 4);   /* most samples */
  for (int i = 0; i < 2; i++) story_next(writer, &block, 10, 5);
  struct told told = tell(writer, BY_FUNCTION);
  static const char *const first[] = {"large", "large", "many", "often"};
  for (enum sites_order order = SITES_BY_SELF; order <= SITES_BY_SAMPLES; order++) {
    struct sites sites;
    assert_int_equal(sites_choose(&told.tree, &(struct sites_options){.order = order, .most = 10}, &sites),
                     WN_OK);
    assert_string_equal(function_of(&told, sites.shown[0].group->label), first[order]);
    sites_destroy(&sites);
  }
  forget(&told);
}

/* ---- callers ---- */

static struct chain chain_from(const struct told *told, const char *name) {
  struct chains chains;
  struct chain chain;
  assert_int_equal(chains_create(&told->tree, &chains), WN_OK);
  const struct group *group = NULL;
  for (size_t i = 0; i < told->tree.group_count; i++)
    if (!strcmp(function_of(told, told->tree.groups[i].label), name)) group = &told->tree.groups[i];
  assert_non_null(group);
  chains_follow(&chains, group, &chain);
  chains_destroy(&chains);
  return chain;
}

static void callers_are_followed_until_they_part(void **state) {
  (void)state;
  static const struct named_node nodes[] = {{NULL, 0},    {"main", 0},  {"serve", 1}, {"load", 1},
                                            {"parse", 2}, {"parse", 3}, {"node", 4},  {"node", 5},
                                            {"rare", 1},  {"parse", 8}, {"node", 9}};
  struct trace_writer *writer = named_story_begin(1, nodes);
  uint64_t block = 0;
  for (int i = 0; i < 60; i++) story_next(writer, &block, 80, 6);
  for (int i = 0; i < 39; i++) story_next(writer, &block, 80, 7);
  story_next(writer, &block, 80, 10);
  struct told told = tell(writer, BY_FUNCTION);
  struct chain chain = chain_from(&told, "node");
  assert_int_equal(chain.count, 1);
  assert_string_equal(function_of(&told, chain.label[0]), "parse");
  assert_int_equal(chain.parts, 3);
  assert_int_equal(chain.part_count, 3);
  assert_string_equal(function_of(&told, chain.part[0].label), "serve");
  assert_string_equal(function_of(&told, chain.part[1].label), "load");
  assert_int_equal(chain.part[0].bytes.samples, 60);
  assert_int_equal(chain.part[1].bytes.samples, 39);
  assert_int_equal(chain.whole.samples, 100);
  assert_false(chain.recursive);
  forget(&told);
}

static void a_function_that_calls_itself_is_said_to(void **state) {
  (void)state;
  static const struct named_node nodes[] = {
      {NULL, 0}, {"main", 0}, {"insert", 1}, {"insert", 2}, {"insert", 3}};
  struct trace_writer *writer = named_story_begin(1, nodes);
  for (uint64_t block = 1; block <= 30; block++)
    story_alloc(writer, block, block, 80, 2 + (uint32_t)(block % 3));
  struct told told = tell(writer, BY_FUNCTION);
  struct chain chain = chain_from(&told, "insert");
  assert_true(chain.recursive);
  assert_int_equal(chain.whole.samples, 30);
  assert_int_equal(chain.count, 1);
  assert_string_equal(function_of(&told, chain.label[0]), "main");
  assert_int_equal(chain.parts, 0);
  forget(&told);
}

/* One in twenty may go another way, in all, however long the chain. */
static void a_long_chain_loses_no_more_than_a_short_one(void **state) {
  (void)state;
  static struct named_node nodes[41] = {{NULL, 0}};
  static char names[41][16];
  for (uint32_t i = 1; i <= 20; i++) { /* c1 < c2 < ... < c20, each with another caller too */
    snprintf(names[i], sizeof names[i], "c%u", 21 - i);
    nodes[i] = (struct named_node){names[i], i - 1};
    nodes[20 + i] = (struct named_node){"c1", i == 20 ? 0 : i};
  }
  struct trace_writer *writer = named_story_begin(1, nodes);
  uint64_t block = 0;
  for (int i = 0; i < 200; i++) story_next(writer, &block, 80, 20);
  for (uint32_t i = 21; i < 41; i++) story_next(writer, &block, 80, i);
  struct told told = tell(writer, BY_FUNCTION);
  struct chain chain = chain_from(&told, "c1");
  assert_true(chain.parts > 1);
  double along = 0, whole = chain.whole.total;
  for (size_t i = 0; i < chain.part_count; i++) along += chain.part[i].bytes.total;
  assert_true(along >= 0.5 * whole);
  forget(&told);
}

/* Where a label's source is known late, and whatever its padding has. */
static void a_label_is_the_same_whatever_does_not_distinguish_it(void **state) {
  (void)state;
  struct label one, other;
  memset(&one, 0x55, sizeof one), memset(&other, 0xaa, sizeof other);
  one.function = other.function = 1, one.module = other.module = 2, one.file = other.file = 3;
  one.line = other.line = 4, one.first_column = other.first_column = 5;
  one.last_column = other.last_column = 6, one.call = other.call = true;
  one.source = 7, other.source = 0;
  assert_true(label_is_same(&one, &other));
  other.last_column = 7;
  assert_false(label_is_same(&one, &other));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shown_sites_and_the_rest_are_the_total_in_every_grouping_and_order),
      cmocka_unit_test(a_site_that_is_left_alone_takes_the_line_of_the_rest),
      cmocka_unit_test(a_rest_that_is_no_digit_of_the_total_has_no_line),
      cmocka_unit_test(the_function_that_allocates_is_a_site_though_it_is_on_every_stack),
      cmocka_unit_test(functions_above_all_are_left_out_only_without_self),
      cmocka_unit_test(orders_go_by_what_they_are_named_for),
      cmocka_unit_test(callers_are_followed_until_they_part),
      cmocka_unit_test(a_function_that_calls_itself_is_said_to),
      cmocka_unit_test(a_long_chain_loses_no_more_than_a_short_one),
      cmocka_unit_test(a_label_is_the_same_whatever_does_not_distinguish_it),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
