/* Compares two tables: what each function (or line, file, module) has in the one and in the other,
 * and the difference with its interval.
 *
 * The tables have one grouping. A group of one table and a group of the other are one row if their
 * labels match (matching.h).
 *
 * FATE. A row that only one of two runs has is code that is gone, or new. Code without a name is
 * matched within one build of its file alone. So it may be there under another address, if the other run
 * has another build, or under a name, if the other run has names of the file; then it is gone or moved, or
 * new or moved. That needs rows of the same file that only the other run has: in a file of one run alone
 * nothing has moved. A program that was renamed is one file. fate.c.
 *
 * HOSTS. Of two folders of many machines' traces means of a host can be compared, with the spread between
 * hosts (analysis/report/hosts.h). What is sure is then corrected for the number of rows: of all that is
 * sure 5 % are false at most. The database of a fleet is asked by the same functions.
 *
 * ORDER: first the rows whose difference is sure, then the others; each part by the size of the
 * difference, largest first. A difference is sure if its interval excludes 0, but for HOSTS. Of rows
 * without any difference 5 % are sure by chance.
 */
#pragma once

#include "analysis/compare/matching.h"
#include "analysis/report/report.h"

/* A number of the table `before` and of the table `after`, and after - before. */
struct change {
  struct estimate before, after, difference;
};

/* Why a row of one run may be code that the other run has too (FATE). */
enum moved {
  NOT_MOVED,
  MOVED_BUILD,   /* the other run has another build of the file */
  MOVED_NAMES,   /* one of the runs has names of the file, the other addresses */
  MOVED_PROGRAM, /* the file is the program, which has another name in the other run */
  MOVED_REASONS
};

struct compared {
  const struct group *before, *after; /* NULL: the table has no such group. Not both. */
  struct change bytes, blocks;
  enum moved moved;
  double chance; /* that bytes without a difference differ as much; without HOSTS 0: it is sure, or 1 */
  bool sure;     /* of bytes */
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
  uint64_t hosts[2];     /* HOSTS: so many before and after; 0: sums are compared */
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

/* Whether a row's label is an address in a module, such as "libfoo+0x1234". */
bool compared_is_address(const struct comparison *comparison, const struct compared *row);

/* What became of a row: "gone", "gone or moved", "new", "new or moved"; empty if both runs have it, or
 * if two moments of one run are compared. */
const char *compared_fate(const struct comparison *comparison, const struct compared *row);

/* Finds which of the labels that only one of two recordings has may be of code that the other has too:
 * sets gone[label] for those of `before`, and new[label] for those of `after`. False: not enough memory. */
bool fate_find(const struct table *before, const struct table *after, const struct matching *matching,
               enum moved *gone, enum moved *new);

/* Whether a label is an address in a build that another recording does not have: there, the same
 * text is other code. */
bool fate_is_foreign(const struct label *label, const struct names *names, const struct names *other_names);

/* Writes for people what could not be matched and why, and what was matched although nothing says
 * that it is the same code. Empty if there is nothing to say. Cut to the size of the buffer. */
enum { COMPARISON_NOTE_MOST = 2048 };
void comparison_note(const struct comparison *comparison, char note[COMPARISON_NOTE_MOST]);

/* The table and the group that name a row: those of `after`, or of `before` where `after` has no
 * such group. */
const struct table *comparison_table(const struct comparison *comparison, const struct compared *row);
static inline const struct group *compared_group(const struct compared *row) {
  return row->after ? row->after : row->before;
}
/* SPDX-License-Identifier: MIT */
