/* The views: for each, the function that writes its answer. */
#pragma once

#include "page/answer.h"
#include "page/answers.h"
#include "page/flame.h"

enum { POINTS_LEAST = 2, POINTS_MOST = TIMELINE_MOMENTS, POINTS_USUAL = 400 };

/* A question. All zeros are the defaults. */
struct request {
  const char *view, *where, *of, *focus; /* NULL: not given */
  const char *against;                   /* what is before in a comparison; NULL: nothing is compared */
  enum scaling per;
  enum extent extent;
  enum measure measure;
  enum grouping grouping;
  enum direction direction;
  bool fold, whole_stacks;
  size_t points;
};

/* Writes the members and columns of an answer. WN_EINVAL and WN_ENOMEM are told by answers_ask. */
typedef wn_status view_function(struct answers *answers, const struct request *request,
                                struct answer *answer);

/* These need no report: the trace, whatever the query; and whether a query can be asked at all. */
view_function view_head, view_query;

view_function view_totals, view_time, view_flame, view_table, view_kinds, view_details, view_source;

/* Of a comparison: they need the pair. */
view_function view_compare, view_compared_flame;

/* The table of the report: made, or the one that the last view had, with more details. It stays the
 * answers'. WN_ENOMEM. */
wn_status views_table(struct answers *answers, enum measure measure, enum grouping grouping, unsigned details,
                      struct table **table);

/* Writes the member `compared`: the verdict of a comparison of two runs. WN_ENOMEM. */
wn_status views_regression(const struct pair *pair, struct json *json);

/* Has the pair of both runs ready, as they are, and stores it in *pair, which stays the answers'.
 * WN_ENOMEM. */
wn_status views_pair(struct answers *answers, const struct pair **pair);

/* The details of the table whose tree is the graph. */
static inline unsigned views_flame_details(const struct request *request) {
  return TABLE_TREE_ONLY | (request->fold ? TABLE_FOLDED : TABLE_SUMS);
}

/* Sets chosen[label] for the labels of a tree that have a text: none has it where no block that is shown has it on
 * its stack. To be freed by the caller. WN_ENOMEM; then *chosen is NULL. */
struct labels;
wn_status views_choose(const struct labels *labels, const char *text, bool **chosen);
/* SPDX-License-Identifier: MIT */
