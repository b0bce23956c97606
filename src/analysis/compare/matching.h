/* Matches the labels of two call trees, of one recording or of two: which function (or line, file,
 * module) of the one is which of the other.
 *
 * Labels match if their names do. A label that is an address matches the same address in the same
 * build (builds.h) of a file under any name, and nothing else: in another build that is other code.
 * Labels that remain match by function, file and line alone where
 * that is unique on both sides: a program or library that was renamed, or has a new version in its
 * file name, is still the same code. Of recordings that two tools wrote, labels that remain then match if
 * their names are similar (similar.h). The recordings need not share their strings. */
#pragma once

#include "analysis/load/call_tree.h"
#include <winnow/status.h>

struct matching {
  uint32_t *after_of;  /* index: label of the tree `before`; its match in `after`, or UNMATCHED */
  uint32_t *before_of; /* the reverse */
};

#define UNMATCHED UINT32_MAX

struct report;
struct table;

/* Matches the labels of two tables with one grouping, not BY_STACK. WN_ENOMEM. */
wn_status matching_make(const struct table *before, const struct table *after, struct matching *matching);

/* Whether two tools wrote the recordings, so that labels may be matched that are only similar
 * (similar.h). */
bool matching_is_of_two_tools(const struct report *before, const struct report *after);

void matching_destroy(struct matching *matching);
/* SPDX-License-Identifier: MIT */
