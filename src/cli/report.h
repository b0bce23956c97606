/* What a report says, computed once and printed as text or JSON. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "analysis/call_tree.h"
#include "analysis/generations.h"
#include "analysis/lifetimes.h"
#include "analysis/peak.h"
#include "analysis/query.h"
#include "analysis/sites.h"
#include "analysis/timeline.h"
#include "analysis/wrappers.h"

enum when { AT_PEAK, AT_END, AT_TIME };

struct report_options {
  const char *file, *where, *at_text;
  enum when at;
  uint64_t at_ns;
  enum grouping grouping;
  enum sites_order order;
  bool order_given;
  size_t top; /* 0: not given */
  bool tree, json;
  struct names_options names;
  struct wrappers_options wrappers;
};

struct report {
  const struct report_options *options;
  struct samples *samples;
  struct names names;
  struct wrappers wrappers; /* those that stacks end in, which are passed over */
  struct query *query;      /* NULL: every block counts */
  double byte_unit;         /* what one sample of bytes stands for (estimate_of) */
  struct sums allocated, live_at_end, brief;
  struct peak peak;
  struct moment asked;            /* that of --at; of the peak's moments the median one */
  uint64_t brief_ns;              /* blocks that live shorter are brief */
  uint64_t long_ns;               /* blocks that live longer are long-lived */
  bool collected;                 /* the trace is one of a collected heap */
  struct generations generations; /* if so */
};

/* What a table tells besides sums: nothing, lives, or what became of a collected heap's blocks, with lives in words. */
enum table_kind { TABLE_SUMS, TABLE_LIVES, TABLE_ALLOCATED, TABLE_PROMOTED };

static inline bool table_has_generations(enum table_kind kind) {
  return kind == TABLE_ALLOCATED || kind == TABLE_PROMOTED;
}

/* One table: what is summed, and how. */
struct table {
  struct call_tree tree;
  enum table_kind kind;
  enum extent extent;                     /* of lives and fates: what the table is sorted by */
  struct lifetimes lifetimes, word_lives; /* as far as the output has them */
  bool *inside;                           /* with generations: room to tell which nodes are a group's */
};

wn_status report_table(const struct report *report, question *ask, enum table_kind kind, struct table *table);
void report_table_destroy(struct table *table);

/* Whether a row counts, by --where. The context of row filters is the report. */
bool report_takes(const struct row *row, void *report);

/* The questions of the tables; the context is the report. */
question report_held, report_allocated, report_promoted, report_churn, report_alive, report_lasting;

/* Whether the peak is one moment, or several so close together that a reader need not tell them
 * apart. */
bool report_peak_is_one(const struct report *report);

struct estimate report_bytes(const struct report *report, const struct sums *sums);
struct estimate report_blocks(const struct report *report, const struct sums *sums);

/* A total of the run, by the second; zeros if the run has no length. */
struct estimate report_per_second(const struct report *report, const struct estimate *total);

/* What share of the bytes of a table, or of all, a part has. */
struct estimate report_share(const struct report *report, const struct sums *part, const struct sums *whole);

/* The same where the whole is no table's sum. Of what was born in the minor heap, the promoted share; of what was promoted, what
 * the next cycle found dead. */
struct estimate report_promoted_share(const struct report *report, const struct generations *generations);
struct estimate report_dead_share(const struct report *report, const struct generations *generations);

/* What a table shows: so many sites as were asked for, in the order that was. Text leaves out what
 * is below one in a hundred, if no number was given. */
wn_status report_sites(const struct report *report, const struct table *table, struct sites *sites);

/* What a group is called in a table; a stack is called by its innermost function. */
void report_group_name(const struct report *report, const struct call_tree *tree, const struct group *group,
                       char *buffer, size_t size);

/* Print to standard output. */
wn_status report_print_text(const struct report *report);
wn_status report_print_json(const struct report *report);

#endif
/* SPDX-License-Identifier: MIT */
