/* The labels that an answer names, numbered in the order of their first use. */
#pragma once

#include "analysis/compare/merged_tree.h"
#include "page/answer.h"

#define NO_LABEL UINT32_MAX

struct labels {
  const struct call_tree *tree;
  const struct names *names;
  const struct names *before; /* names of the labels from `before_from` on */
  uint32_t before_from;
  uint32_t *number; /* index: label of the tree; its number + 1, or 0 */
  uint32_t *used;   /* in the order of their numbers */
  uint32_t count;
};

/* The tree and the names must outlive it. WN_ENOMEM. */
wn_status labels_create(struct labels *labels, const struct call_tree *tree, const struct names *names);
void labels_destroy(struct labels *labels);

/* The labels of a joined tree, some of which `before` alone has. */
void labels_join(struct labels *labels, const struct merged_tree *joined, const struct names *before);

/* The number of a label of the tree. */
uint32_t labels_number(struct labels *labels, uint32_t label);

/* Writes the member `labels`: for each, its text, its function, module, file and line. A function has
 * the file of its source. */
void labels_write(const struct labels *labels, struct json *json);

/* Writes one label of a tree as an element of `labels`. `after`: the label is that of a comparison's
 * run before alone, and these are the names of the run after; or NULL. */
void label_write(const struct call_tree *tree, const struct names *names, const struct names *after,
                 uint32_t label, struct json *json);

/* Whether a label of a tree by line is a line of `label`, which is of a tree by any code. Members
 * that a grouping does not distinguish are 0. */
bool label_has_line(const struct label *label, const struct label *line);

/* The text of a label of the tree: of a function that several modules have, with its module; of an
 * address in a build that only the run before has, with the word before. So what stands beside each
 * other has different texts. */
enum { LABEL_TEXT_MOST = 4096 };
void labels_text(const struct labels *labels, uint32_t label, char text[LABEL_TEXT_MOST]);
/* SPDX-License-Identifier: MIT */
