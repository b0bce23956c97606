/* Sites: the groups of a call tree that a table shows, their order, and the callers that are shown
 * with each.
 *
 * ACCOUNT: the self sums of the shown sites and of the rest add up to the total of the tree, in
 * every grouping and order. So a function that allocates is a site or in the rest; only functions
 * that allocate nothing themselves may be left out.
 */
#pragma once

#include "analysis/load/call_tree.h"

/* What a table is sorted by, largest first: what functions allocate themselves, what they allocate
 * together with the functions that they call, their own blocks, or their own samples. */
enum sites_order { SITES_BY_SELF, SITES_BY_TOTAL, SITES_BY_BLOCKS, SITES_BY_SAMPLES };
enum { SITES_ORDERS = SITES_BY_SAMPLES + 1 };

/* "self", "total", "blocks", "samples". */
const char *sites_order_name(enum sites_order order);

/* Whether an order is by self sums or by totals. */
enum extent sites_extent(enum sites_order order);

struct site {
  const struct group *group;
  size_t callers; /* SITES_BY_TOTAL: number of callers that share its line (call_tree_chain) */
};

struct sites_options {
  enum sites_order order;
  size_t most;  /* the largest number of sites to show */
  double least; /* a site is shown if it has this share of the tree's bytes, or is the first */
  bool every;   /* groups that allocate nothing themselves are sites too */
  bool last;    /* if only one site would be left out, it is shown in place of the rest */
};

struct sites {
  struct site *shown;
  size_t count;
  struct sums rest;  /* what the shown sites did not allocate themselves */
  size_t rest_count; /* sites that are not shown */
  /* SITES_BY_TOTAL: the groups that are on every stack and allocate nothing themselves. They are not
   * shown, and are not sorted. */
  const struct group **above;
  size_t above_count;
};

wn_status sites_choose(const struct call_tree *tree, const struct sites_options *options,
                       struct sites *sites);
void sites_destroy(struct sites *sites);

/* Whether the rest is worth a line: it has sites, samples, or bytes that are visible in the digits
 * of the total. */
bool sites_have_rest(const struct call_tree *tree, const struct sites *sites);

/* The sums of a group that an order compares: self or total. */
const struct sums *sites_sums(enum sites_order order, const struct group *group);

/* The callers of a site, innermost first, as far as nearly all of the site's own bytes have the
 * same caller. `part` has the largest callers at the point where the bytes part. */
enum { CHAIN_MOST = 256, CHAIN_PARTS_MOST = 3 };
struct chain_part {
  uint32_t label; /* 0: the stacks end here, with no caller */
  struct sum bytes;
};
struct chain {
  uint32_t label[CHAIN_MOST];
  size_t count;
  bool recursive;                           /* the site calls itself */
  struct chain_part part[CHAIN_PARTS_MOST]; /* the largest callers where paths part, largest first */
  size_t part_count;
  size_t parts;     /* the number of callers at that point; 0: the paths do not part */
  struct sum whole; /* the site's own bytes */
};

/* An index for finding chains in one tree, which must outlive it. One thread uses it at a time. */
struct chains {
  const struct call_tree *tree;
  uint32_t *nodes;          /* nodes with self sums, ordered by label */
  uint32_t *begin;          /* index: label; where its nodes begin in `nodes`; one more entry ends the last */
  uint32_t *at;             /* for each path of the site: the node that was reached */
  const struct sum **bytes; /* for each path: its bytes */
  struct sum *by_label;     /* the sums of the callers at this step */
  uint32_t *labels;         /* the labels that have such a sum */
  size_t label_count, count;
};
wn_status chains_create(const struct call_tree *tree, struct chains *chains);
void chains_destroy(struct chains *chains);

/* Finds the chain of a group. That of a call in a function without a name begins with the function's caller.
 * Not for BY_STACK. */
void chains_follow(struct chains *chains, const struct group *group, struct chain *chain);
/* SPDX-License-Identifier: MIT */
