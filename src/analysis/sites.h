/* Which groups of a call tree a table shows, in which order, and by which callers each is
 * explained.
 *
 * ACCOUNT: the self sums of the sites that are shown and of the rest are the total of the tree, in
 * every grouping and order. So a function that allocates is a site, or in the rest; only functions
 * that allocate nothing themselves may be left out.
 */
#ifndef ANALYSIS_SITES_H
#define ANALYSIS_SITES_H

#include "analysis/call_tree.h"

/* What a table is sorted by, largest first: what functions allocated themselves, or with all that
 * they call. */
enum sites_order { SITES_BY_SELF, SITES_BY_TOTAL, SITES_BY_BLOCKS, SITES_BY_SAMPLES };
enum { SITES_ORDERS = SITES_BY_SAMPLES + 1 };

/* "self", "total", "blocks", "samples". */
const char *sites_order_name(enum sites_order order);

/* Whether an order goes by what groups have themselves, or by their totals. */
enum extent sites_extent(enum sites_order order);

struct site {
  const struct group *group;
  size_t callers; /* SITES_BY_TOTAL: groups on the same stacks it stands for (call_tree_chain) */
};

struct sites_options {
  enum sites_order order;
  size_t most;  /* sites that are shown */
  double least; /* share of the tree's bytes that a shown site has at least, but for the first */
  bool every;   /* each group is a site, also those that allocate nothing themselves */
  bool last;    /* where one site would be left, it is shown too: it takes the line of the rest */
};

struct sites {
  struct site *shown;
  size_t count;
  struct sums rest;           /* what the shown sites did not allocate themselves */
  size_t rest_count;          /* sites that are not shown */
  const struct group **above; /* SITES_BY_TOTAL: on every stack, without self; left out, unsorted */
  size_t above_count;
};

wn_status sites_choose(const struct call_tree *tree, const struct sites_options *options,
                       struct sites *sites);
void sites_destroy(struct sites *sites);

/* Whether a rest is worth a line: sites, samples, or what is a digit of the total. */
bool sites_have_rest(const struct call_tree *tree, const struct sites *sites);

/* The sums that an order goes by: self or total. */
const struct sums *sites_sums(enum sites_order order, const struct group *group);

/* The callers of a site, innermost first, along which nearly all of its own bytes go, until they
 * part. */
enum { CHAIN_MOST = 256, CHAIN_PARTS_MOST = 3 };
struct chain_part {
  uint32_t label; /* 0: nobody calls it */
  struct sum bytes;
};
struct chain {
  uint32_t label[CHAIN_MOST];
  size_t count;
  bool recursive;                           /* the site calls itself first */
  struct chain_part part[CHAIN_PARTS_MOST]; /* the largest callers where they part, largest first */
  size_t part_count;
  size_t parts;     /* how many callers there are at that point; 0: they never part */
  struct sum whole; /* the site's own bytes */
};

/* Finds chains in one tree, which must outlive it. */
struct chains {
  const struct call_tree *tree;
  uint32_t *nodes; /* with bytes of their own, by label */
  uint32_t *begin; /* index: label; where its nodes begin in `nodes`; one more behind the last */
  uint32_t *at;    /* how far each of a site's nodes was followed, and which */
  const struct sum **bytes;
  struct sum *by_label; /* of the callers at hand */
  uint32_t *labels;     /* that have a sum there */
  size_t label_count, count;
};
wn_status chains_create(const struct call_tree *tree, struct chains *chains);
void chains_destroy(struct chains *chains);

/* Of a group that is a label, not a stack. */
void chains_follow(struct chains *chains, const struct group *group, struct chain *chain);

#endif
/* SPDX-License-Identifier: MIT */
