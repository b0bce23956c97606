/* Dominators of random graphs, against their definition: a node dominates those that cannot be
 * reached without it. */
#include "base/random.h"
#include "retention/dominators.h"
#include "retention/leading.h"
#include "retention/search.h"
#include "support/runs.h"
#include "support/test.h"
#include <stdlib.h>
#include <string.h>

enum { NODES_MOST = 60, HOLDERS = 3 };

static uint32_t below(struct random *random, uint32_t count) {
  return (uint32_t)(random_bits(random) % count);
}

/* Node 0 leads to the holders; the others to random nodes behind them, some twice or to
 * themselves. */
static void make(struct graph *graph, uint64_t seed) {
  struct random random;
  uint32_t count, degree;
  random_seed(&random, seed, 0, 0);
  count = 1 + HOLDERS + below(&random, NODES_MOST);
  degree = 1 + below(&random, 4);
  *graph = (struct graph){0};
  graph->node_count = count;
  graph->first_block = 1 + HOLDERS;
  graph->blocks = calloc(count, sizeof *graph->blocks);
  graph->edge_begin = calloc(count + 1, sizeof *graph->edge_begin);
  graph->edges = calloc((size_t)count * 5 + HOLDERS, sizeof *graph->edges);
  for (uint32_t node = 0; node < count; node++) {
    uint32_t edges = node ? below(&random, degree + 1) : HOLDERS;
    graph->edge_begin[node] = (uint32_t)graph->edge_count;
    if (node >= graph->first_block) graph->blocks[node - graph->first_block] = below(&random, 100);
    for (uint32_t i = 0; i < edges && (!node || count > 1 + HOLDERS); i++)
      graph->edges[graph->edge_count++] =
          node ? graph->first_block + below(&random, count - graph->first_block) : NODE_HOLDERS + i;
  }
  graph->edge_begin[count] = (uint32_t)graph->edge_count;
}

/* Which nodes are reached from one without `without`. */
static void reach_from(const struct graph *graph, uint32_t start, uint32_t without, bool *reached) {
  uint32_t stack[NODES_MOST + HOLDERS + 2], depth = 0;
  memset(reached, 0, graph->node_count);
  if (without == start) return;
  reached[start] = true;
  stack[depth++] = start;
  while (depth) {
    uint32_t node = stack[--depth];
    for (uint32_t i = graph->edge_begin[node]; i < graph->edge_begin[node + 1]; i++) {
      uint32_t to = graph->edges[i];
      if (to == without || reached[to]) continue;
      reached[to] = true;
      stack[depth++] = to;
    }
  }
}

static void reach(const struct graph *graph, uint32_t without, bool *reached) {
  reach_from(graph, NODE_ALL, without, reached);
}

struct nesting {
  const struct dominators *dominators;
  uint32_t open[NODES_MOST + HOLDERS + 2], depth, entered;
};

static void enter(void *context, uint32_t node) {
  struct nesting *of = context;
  if (of->depth) assert_int_equal(of->dominators->nodes[node].dominator, of->open[of->depth - 1]);
  of->open[of->depth++] = node;
  of->entered++;
}

static void leave(void *context, uint32_t node) {
  struct nesting *of = context;
  assert_int_equal(of->open[--of->depth], node);
}

static void check(const struct graph *graph, const struct dominators *found) {
  bool all[NODES_MOST + HOLDERS + 2], without[NODES_MOST + HOLDERS + 2];
  uint32_t dominated[NODES_MOST + HOLDERS + 2] = {0}; /* by how many */
  struct nesting nesting = {.dominators = found};
  reach(graph, NOWHERE, all);
  for (uint32_t node = 0; node < graph->node_count; node++) {
    uint64_t bytes = 0;
    uint32_t blocks = 0;
    reach(graph, node, without);
    assert_int_equal(graph_is_reachable(graph, node), all[node]);
    for (uint32_t other = 0; other < graph->node_count; other++) {
      if (!all[node] || !all[other] || without[other]) continue;
      bytes += graph_bytes(graph, other);
      blocks += other >= graph->first_block;
      dominated[other]++;
    }
    assert_int_equal(found->nodes[node].retained, bytes);
    assert_int_equal(found->nodes[node].retained_blocks, blocks);
  }
  for (uint32_t node = 1; node < graph->node_count; node++) /* the nearest is what all others dominate */
    if (all[node])
      assert_int_equal(dominated[found->nodes[node].dominator], dominated[node] - 1);
    else
      assert_int_equal(found->nodes[node].dominator, NOWHERE);
  dominators_walk(found, &(struct dominators_walk){enter, leave, &nesting});
  assert_int_equal(nesting.depth, 0);
  assert_int_equal(nesting.entered, graph->reached);
}

static void dominators_are_what_the_definition_says(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= (uint64_t)runs_of(3000); seed++) {
    struct graph graph;
    struct dominators found;
    make(&graph, seed);
    assert_true(graph_search(&graph));
    assert_true(dominators_find(&found, &graph));
    check(&graph, &found);
    dominators_free(&found);
    graph_free(&graph);
  }
}

/* Those holders lead to a block from which it is reached. */
static void check_leading(const struct graph *graph) {
  bool reached[HOLDERS][NODES_MOST + HOLDERS + 2];
  struct leading leading;
  assert_true(leading_open(&leading, graph));
  for (uint32_t i = 0; i < HOLDERS; i++) reach_from(graph, NODE_HOLDERS + i, NOWHERE, reached[i]);
  for (uint32_t node = graph->first_block; node < graph->node_count; node++) {
    uint32_t holders[HOLDERS], expected = 0;
    size_t count = leading_holders(&leading, node, holders, 2), told = count < 2 ? count : 2;
    for (uint32_t i = 0; i < HOLDERS; i++) expected += reached[i][node];
    assert_int_equal(count, expected);
    for (size_t i = 0; i < told; i++) assert_true(reached[holders[i] - NODE_HOLDERS][node]);
    if (told > 1) assert_int_not_equal(holders[0], holders[1]);
  }
  leading_close(&leading);
}

static void holders_lead_to_what_is_reached_from_them(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= (uint64_t)runs_of(3000); seed++) {
    struct graph graph;
    make(&graph, seed);
    assert_true(graph_search(&graph));
    check_leading(&graph);
    graph_free(&graph);
  }
}

/* A list is as deep as it is long: nothing may recurse. */
static void a_long_list_has_a_dominator_for_each_cell(void **state) {
  enum { CELLS = 1000000 };
  struct graph of = {0}, *graph = &of;
  struct dominators found;
  (void)state;
  graph->node_count = CELLS + 1;
  graph->first_block = 1;
  graph->blocks = calloc(CELLS, sizeof *graph->blocks);
  graph->edge_begin = calloc(CELLS + 2, sizeof *graph->edge_begin);
  graph->edges = calloc(CELLS, sizeof *graph->edges);
  for (uint32_t node = 0; node < CELLS; node++) {
    graph->edge_begin[node] = node;
    graph->edges[graph->edge_count++] = node + 1;
    graph->blocks[node] = 2;
  }
  graph->edge_begin[CELLS] = graph->edge_begin[CELLS + 1] = CELLS;
  assert_true(graph_search(graph));
  assert_true(dominators_find(&found, graph));
  for (uint32_t node = 1; node <= CELLS; node++) {
    assert_int_equal(found.nodes[node].dominator, node - 1);
    assert_int_equal(found.nodes[node].retained, 24 * (uint64_t)(CELLS + 1 - node));
  }
  dominators_free(&found);
  graph_free(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dominators_are_what_the_definition_says),
      cmocka_unit_test(holders_lead_to_what_is_reached_from_them),
      cmocka_unit_test(a_long_list_has_a_dominator_for_each_cell),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
