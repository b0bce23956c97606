/* Chooses the sites of a table and follows their callers. chains_follow starts at all tree nodes of
 * a site and steps outwards in all of them at once. As long as one caller has nearly all of the
 * site's bytes, that caller joins the chain and the other nodes are dropped; otherwise the chain
 * ends there, with its largest callers. */
#include "analysis/report/sites.h"

#include "base/error.h"
#include <stdlib.h>
#include <string.h>

/* The chain ends where the largest caller has less than this share. */
static const double nearly_all = 0.95;

/* A smaller share of a total is less than half of the last digit that is printed. */
static const double least_digit = 0.0005;

/* ---- choosing ---- */

static double measure_of(enum sites_order order, const struct group *group) {
  switch (order) {
  case SITES_BY_TOTAL: return group->total.bytes.total;
  case SITES_BY_BLOCKS: return group->self.blocks.total;
  case SITES_BY_SAMPLES: return (double)group->self.bytes.samples;
  case SITES_BY_SELF: break;
  }
  return group->self.bytes.total;
}

/* Largest first; equal sites in the order of the tree, which is by total. */
static int sites_compare(const void *a, const void *b, void *context) {
  const struct site *left = a, *right = b;
  enum sites_order order = *(const enum sites_order *)context;
  double x = measure_of(order, left->group), y = measure_of(order, right->group);
  if (x != y) return x < y ? 1 : -1;
  return (left->group > right->group) - (left->group < right->group);
}

/* Whether a function allocates nothing itself and is on every stack, as main or an event loop is:
 * in a table by totals it distinguishes nothing. */
static bool sites_is_above(const struct call_tree *tree, const struct group *group) {
  return tree->grouping != BY_STACK && grouping_is_code(tree->grouping) && !group->self.bytes.samples &&
         group->label && group->total.bytes.samples == tree->nodes[0].total.bytes.samples;
}

/* Lists all groups that may have a row. In the order by totals, functions that always call each
 * other are one site. */
static void sites_list(const struct call_tree *tree, const struct sites_options *options,
                       struct sites *sites) {
  bool totals = options->order == SITES_BY_TOTAL && !options->every;
  for (size_t i = 0, length; i < tree->group_count; i += length) {
    size_t innermost = i;
    length = totals && tree->grouping == BY_FUNCTION ? call_tree_chain(tree, i, &innermost) : 1;
    const struct group *group = &tree->groups[innermost];
    if (totals && sites_is_above(tree, group))
      for (size_t j = i; j < i + length; j++) sites->above[sites->above_count++] = &tree->groups[j];
    else if (totals || options->every || group->self.bytes.samples)
      sites->shown[sites->count++] = (struct site){group, length - 1};
  }
}

static double remaining(double whole, double part) {
  const double rounding = 1e-9;
  return whole - part > rounding * whole ? whole - part : 0;
}

static void take_away(struct sum *from, const struct sum *sum) {
  from->total = remaining(from->total, sum->total);
  from->variance = remaining(from->variance, sum->variance);
  from->seen = remaining(from->seen, sum->seen);
  from->clustered = remaining(from->clustered, sum->clustered);
  from->typical = remaining(from->typical, sum->typical);
  from->earlier = remaining(from->earlier, sum->earlier);
  from->samples -= sum->samples;
}

/* ACCOUNT: what the shown sites do not have is the rest. The rest has more than the sites that are
 * cut off: at the peak a group may have bytes but no sample, and is then no site. */
static void sites_cut(const struct call_tree *tree, const struct sites_options *options,
                      struct sites *sites) {
  double least = options->least * tree->nodes[0].total.bytes.total;
  size_t keep = 0;
  while (keep < sites->count && keep < options->most &&
         (!keep || sites_sums(options->order, sites->shown[keep].group)->bytes.total >= least))
    keep++;
  if (options->last && keep + 1 == sites->count) keep++;
  sites->rest = tree->nodes[0].total;
  for (size_t i = 0; i < keep; i++) {
    take_away(&sites->rest.bytes, &sites->shown[i].group->self.bytes);
    take_away(&sites->rest.blocks, &sites->shown[i].group->self.blocks);
  }
  sites->rest_count = sites->count - keep;
  sites->count = keep;
}

/* ---- callers ---- */

static uint32_t label_at(const struct chains *chains, uint32_t node) {
  return chains->tree->nodes[node].label;
}

/* Also at two lines of one function. */
static bool is_same_function(const struct chains *chains, uint32_t one, uint32_t other) {
  const struct label *a = &chains->tree->labels[one], *b = &chains->tree->labels[other];
  return one == other || (a->function && a->function == b->function && a->module == b->module);
}

/* Steps one caller outwards on all paths, past calls of a function by itself. True if there was a
 * recursive one: a caller at another line may be a part that the compiler made of the function. */
static bool sites_step(struct chains *chains) {
  bool recursive = false;
  for (size_t i = 0; i < chains->count; i++) {
    uint32_t label = label_at(chains, chains->at[i]), at = chains->tree->nodes[chains->at[i]].parent;
    for (; at && is_same_function(chains, label_at(chains, at), label); at = chains->tree->nodes[at].parent)
      recursive |= label_at(chains, at) == label;
    chains->at[i] = at;
  }
  return recursive;
}

static int sites_by_bytes(const void *a, const void *b, void *context) {
  const struct sum *sums = context;
  double left = sums[*(const uint32_t *)a].total, right = sums[*(const uint32_t *)b].total;
  if (left != right) return left < right ? 1 : -1;
  return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* Sums the bytes of all paths by caller; orders the callers, largest first. */
static void sum_up(struct chains *chains) {
  for (size_t i = 0; i < chains->label_count; i++) chains->by_label[chains->labels[i]] = (struct sum){0};
  chains->label_count = 0;
  for (size_t i = 0; i < chains->count; i++) {
    uint32_t label = label_at(chains, chains->at[i]);
    if (!chains->by_label[label].samples) chains->labels[chains->label_count++] = label;
    sum_merge(&chains->by_label[label], chains->bytes[i]);
  }
  qsort_r(chains->labels, chains->label_count, sizeof *chains->labels, sites_by_bytes, chains->by_label);
}

/* Drops the paths that do not go through this caller. */
static void keep_paths(struct chains *chains, uint32_t label) {
  size_t kept = 0;
  for (size_t i = 0; i < chains->count; i++) {
    if (label_at(chains, chains->at[i]) != label) continue;
    chains->at[kept] = chains->at[i];
    chains->bytes[kept++] = chains->bytes[i];
  }
  chains->count = kept;
}

static void sites_write_parts(const struct chains *chains, struct chain *chain) {
  chain->parts = chains->label_count;
  chain->part_count = chains->label_count < CHAIN_PARTS_MOST ? chains->label_count : CHAIN_PARTS_MOST;
  for (size_t i = 0; i < chain->part_count; i++)
    chain->part[i] = (struct chain_part){chains->labels[i], chains->by_label[chains->labels[i]]};
}

/* Makes the index of nodes with self sums by label, by counting sort. Uses `at` as scratch. */
static void index_nodes(struct chains *chains) {
  const struct call_tree *tree = chains->tree;
  for (uint32_t node = 1; node < tree->node_count; node++)
    chains->begin[tree->nodes[node].label + 1] += tree->nodes[node].self.bytes.samples > 0;
  for (size_t label = 0; label < tree->label_count; label++) chains->begin[label + 1] += chains->begin[label];
  for (uint32_t node = (uint32_t)tree->node_count - 1; node; node--) {
    uint32_t label = tree->nodes[node].label;
    if (tree->nodes[node].self.bytes.samples)
      chains->nodes[chains->begin[label] + chains->at[label]++] = node;
  }
}

/* ---- shared ---- */

const char *sites_order_name(enum sites_order order) {
  static const char *const names[SITES_ORDERS] = {[SITES_BY_SELF] = "self",
                                                  [SITES_BY_TOTAL] = "total",
                                                  [SITES_BY_BLOCKS] = "blocks",
                                                  [SITES_BY_SAMPLES] = "samples"};
  return names[order];
}

enum extent sites_extent(enum sites_order order) {
  return order == SITES_BY_TOTAL ? EXTENT_TOTAL : EXTENT_SELF;
}

const struct sums *sites_sums(enum sites_order order, const struct group *group) {
  return order == SITES_BY_TOTAL ? &group->total : &group->self;
}

bool sites_have_rest(const struct call_tree *tree, const struct sites *sites) {
  return sites->rest_count || sites->rest.bytes.samples ||
         sites->rest.bytes.total > least_digit * tree->nodes[0].total.bytes.total;
}

wn_status sites_choose(const struct call_tree *tree, const struct sites_options *options,
                       struct sites *sites) {
  *sites = (struct sites){0};
  enum sites_order order = options->order;
  sites->shown = malloc((tree->group_count + 1) * sizeof *sites->shown);
  sites->above = malloc((tree->group_count + 1) * sizeof *sites->above);
  if (!sites->shown || !sites->above) {
    sites_destroy(sites);
    return error_set(WN_ENOMEM, "not enough memory for the tables");
  }
  sites_list(tree, options, sites);
  qsort_r(sites->shown, sites->count, sizeof *sites->shown, sites_compare, &order);
  sites_cut(tree, options, sites);
  return WN_OK;
}

void sites_destroy(struct sites *sites) {
  free(sites->shown);
  free(sites->above);
  *sites = (struct sites){0};
}

wn_status chains_create(const struct call_tree *tree, struct chains *chains) {
  size_t nodes = tree->node_count + 1, labels = tree->label_count + 2, most = nodes > labels ? nodes : labels;
  *chains = (struct chains){.tree = tree};
  chains->nodes = malloc(nodes * sizeof *chains->nodes);
  chains->begin = calloc(labels, sizeof *chains->begin);
  chains->at = calloc(most, sizeof *chains->at);
  chains->bytes = malloc(nodes * sizeof *chains->bytes);
  chains->by_label = calloc(labels, sizeof *chains->by_label);
  chains->labels = malloc(labels * sizeof *chains->labels);
  if (!chains->nodes || !chains->begin || !chains->at || !chains->bytes || !chains->by_label ||
      !chains->labels) {
    chains_destroy(chains);
    return error_set(WN_ENOMEM, "not enough memory for the callers");
  }
  index_nodes(chains);
  return WN_OK;
}

void chains_destroy(struct chains *chains) {
  free(chains->nodes);
  free(chains->begin);
  free(chains->at);
  free(chains->bytes);
  free(chains->by_label);
  free(chains->labels);
  *chains = (struct chains){0};
}

void chains_follow(struct chains *chains, const struct group *group, struct chain *chain) {
  const struct call_tree *tree = chains->tree;
  const uint32_t *node = chains->nodes + chains->begin[group->label];
  chain->count = chain->part_count = chain->parts = 0;
  chain->recursive = false;
  chain->whole = group->self.bytes;
  chains->count = group->label ? chains->begin[group->label + 1] - chains->begin[group->label] : 0;
  for (size_t i = 0; i < chains->count; i++) {
    chains->at[i] = tree->labels[group->label].call ? tree->nodes[node[i]].parent : node[i];
    chains->bytes[i] = &tree->nodes[node[i]].self.bytes;
  }
  while (chains->count) {
    bool recursive = sites_step(chains);
    if (!chain->count) chain->recursive = recursive;
    sum_up(chains);
    uint32_t largest = chains->labels[0];
    if (chains->by_label[largest].total < nearly_all * chain->whole.total || chain->count == CHAIN_MOST) {
      sites_write_parts(chains, chain);
      return;
    }
    if (!largest) return; /* the end of the stacks */
    chain->label[chain->count++] = largest;
    keep_paths(chains, largest);
  }
}
/* SPDX-License-Identifier: MIT */
