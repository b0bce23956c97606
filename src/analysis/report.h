/* What a recording says of one question: totals, tables, the call tree. A model: it has all rows,
 * prints nothing, and any number of them can stand side by side.
 *
 *   struct question question = {.where = "fn ~ parse", .at = AT_PEAK};
 *   struct report report;
 *   if (report_ask(recording, &question, &report)) return ...;
 *   struct table table;
 *   if (!report_table(&report, MEASURE_HELD, BY_FUNCTION, TABLE_SUMS, &table)) ... table.tree.groups ...
 *   table_destroy(&table);
 *   report_destroy(&report);
 *
 * Sums are of sampled rows, unweighted by chance; report_bytes and its like make estimates with
 * intervals of them. */
#ifndef ANALYSIS_REPORT_H
#define ANALYSIS_REPORT_H

#include "analysis/generations.h"
#include "analysis/lifetimes.h"
#include "analysis/peak.h"
#include "analysis/query.h"
#include "analysis/recording.h"

/* The moment at which a report tells what was held. */
enum when { AT_PEAK, AT_END, AT_TIME };

struct question {
  const char *where; /* which blocks count, as in query.h; NULL: all */
  enum when at;
  uint64_t at_ns; /* AT_TIME */
};

struct report {
  const struct recording *recording;
  const struct samples *samples; /* the recording's */
  const struct names *names;     /* likewise */
  enum when at;
  struct query *query;                       /* NULL: every block counts */
  struct sums allocated, live_at_end, brief; /* brief: allocated by blocks that lived shorter than brief_ns */
  struct peak peak;
  struct moment asked;            /* that of the question; of the peak's moments the median one */
  uint64_t brief_ns;              /* blocks that live shorter are brief */
  uint64_t long_ns;               /* blocks that live longer are long-lived */
  struct generations generations; /* of a collected heap */
};

/* WN_EINVAL: the query is wrong, or the time is after the end of the trace. WN_ENOMEM. The
 * recording must outlive the report. */
wn_status report_ask(const struct recording *recording, const struct question *question,
                     struct report *report);
void report_destroy(struct report *report);

/* Whether a row counts, by the query. The context of row filters is the report. */
bool report_takes(const struct row *row, void *report);

/* ---- tables ---- */

/* What a table sums. A row: the name in programs and in JSON, and what it is. */
#define REPORT_MEASURES(MEASURE)                                                                       \
  MEASURE(HELD, held, "sites", "what was held at the moment of the question")                          \
  MEASURE(ALLOCATED, allocated, "allocated", "what was allocated over the run, and by how many calls") \
  MEASURE(PROMOTED, promoted, "promoted", "what was promoted, of a collected heap")                    \
  MEASURE(CHURN, churn, "churn", "what was allocated and lived briefly")                               \
  MEASURE(ALIVE, alive, "alive", "what was still alive at the end")                                    \
  MEASURE(LASTING, lasting, "lasting", "the blocks that lived long")

enum measure {
#define REPORT_MEASURE(NAME, name, json, what) MEASURE_##NAME,
  REPORT_MEASURES(REPORT_MEASURE)
#undef REPORT_MEASURE
      MEASURES
};

/* The name of a measure in JSON, such as "sites". */
const char *measure_name(enum measure measure);

/* What a table knows of each group besides sums; any of them together. */
enum table_detail {
  TABLE_SUMS = 0,
  TABLE_LIVES = 1,      /* how long blocks live */
  TABLE_WORD_LIVES = 2, /* the same in words that were allocated meanwhile */
  TABLE_FATES = 4       /* of a collected heap: what became of the blocks */
};

/* One thread uses a table at a time. */
struct table {
  const struct report *report;
  enum measure measure;
  unsigned details; /* of enum table_detail */
  struct call_tree tree;
  struct lifetimes lives, word_lives; /* as far as the details say */
  bool *inside;                       /* TABLE_FATES: room to tell which nodes are a group's */
};

/* All groups and the call tree. The report must outlive it. WN_ENOMEM. */
wn_status report_table(const struct report *report, enum measure measure, enum grouping grouping,
                       unsigned details, struct table *table);
void table_destroy(struct table *table);

/* Of the blocks that a group has itself, or that its total counts; if the table has that detail. */
struct life table_life(struct table *table, const struct group *group, enum extent extent);
struct life table_word_life(struct table *table, const struct group *group, enum extent extent);
struct generations table_fates(struct table *table, const struct group *group, enum extent extent);

/* What a group is called; a stack is called by its innermost function. */
void table_name(const struct table *table, const struct group *group, char *buffer, size_t size);

/* The label of a group; of a stack, of its innermost function. */
const struct label *table_label(const struct table *table, const struct group *group);

/* ---- estimates ---- */

struct estimate report_bytes(const struct report *report, const struct sums *sums);
struct estimate report_blocks(const struct report *report, const struct sums *sums);

/* A total of the run, by the second; zeros if the run has no length. */
struct estimate report_per_second(const struct report *report, const struct estimate *total);

/* What share of the bytes of a table, or of all, a part has. */
struct estimate report_share(const struct report *report, const struct sums *part, const struct sums *whole);

/* The same where the whole is no table's sum. Of what was born in the minor heap, the promoted
 * share; of what was promoted, what the next cycle found dead. */
struct estimate report_promoted_share(const struct report *report, const struct generations *generations);
struct estimate report_dead_share(const struct report *report, const struct generations *generations);

/* Whether the peak is one moment, or several so close together that a reader need not tell them
 * apart. */
bool report_peak_is_one(const struct report *report);

#endif
/* SPDX-License-Identifier: MIT */
