/* Compares two tables: what each function (or line, file, module) has in the one and in the other,
 * and the difference with its interval.
 *
 * The tables have one grouping. A group of one table and a group of the other are one row if their
 * labels match (matching.h).
 *
 * ORDER: first the rows whose difference is sure, then the others; each part by the size of the
 * difference, largest first. A difference is sure if its interval excludes 0. Of rows without any
 * difference 5 % are sure by chance.
 */
#ifndef ANALYSIS_COMPARISON_H
#define ANALYSIS_COMPARISON_H

#include "analysis/report.h"

/* A number of the table `before` and of the table `after`, and after - before. */
struct change {
  struct estimate before, after, difference;
};

struct compared {
  const struct group *before, *after; /* NULL: the table has no such group. Not both. */
  struct change bytes, blocks;
  bool sure; /* of bytes */
};

struct comparison {
  const struct table *before, *after;
  struct change bytes, blocks; /* of the whole tables */
  bool sure;                   /* of `bytes` */
  struct compared *rows;
  size_t count, sure_count; /* the first sure_count rows are sure */
};

struct comparison_options {
  enum extent extent;    /* which sums of a group are compared */
  struct estimate scale; /* what is before counts so many times (estimate_times); all 0: once */
};

/* The change between two sums of bytes or of blocks. `scale`: as in comparison_options. */
struct change change_of(struct estimate before, struct estimate after, const struct estimate *scale);

/* Compares two tables, which must outlive the comparison. Not for BY_STACK. Where records are
 * missing in one of the recordings intervals do not apply, and nothing is sure. WN_ENOMEM. */
wn_status comparison_make(const struct table *before, const struct table *after,
                          const struct comparison_options *options, struct comparison *comparison);
void comparison_destroy(struct comparison *comparison);

/* The comparison of one measure of two reports, with its tables. */
struct compared_tables {
  struct table before, after;
  struct comparison comparison;
};

/* Makes the tables and compares them. The reports must outlive them. WN_ENOMEM. */
wn_status compared_tables_make(const struct report *before, const struct report *after, enum measure measure,
                               enum grouping grouping, const struct comparison_options *options,
                               struct compared_tables *tables);
void compared_tables_destroy(struct compared_tables *tables);

/* Whether a row's function has no name, only an address in its module: "libfoo.so+0x1234". Such rows
 * of two builds are not the same code, even if they are equal. */
bool compared_is_address(const struct comparison *comparison, const struct compared *row);

/* The table and the group that name a row: those of `after`, or of `before` where `after` has no
 * such group. */
const struct table *comparison_table(const struct comparison *comparison, const struct compared *row);
static inline const struct group *compared_group(const struct compared *row) {
  return row->after ? row->after : row->before;
}

#endif
/* SPDX-License-Identifier: MIT */
