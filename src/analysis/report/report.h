/* A report: the answer to one question about a recording, as totals, tables and call trees. It
 * prints nothing, and any number of reports can exist at the same time.
 *
 *   struct question question = {.where = "fn ~ parse", .at = AT_PEAK};
 *   struct report report;
 *   if (report_ask(recording, &question, &report)) return ...;
 *   struct table table;
 *   if (!report_table(&report, MEASURE_HELD, BY_FUNCTION, TABLE_SUMS, &table)) ... table.tree ...
 *   table_destroy(&table);
 *   report_destroy(&report);
 *
 * Sums are over sampled rows. report_bytes and its kin turn them into estimates with intervals.
 */
#pragma once

#include "analysis/load/peak.h"
#include "analysis/load/recording.h"
#include "analysis/query/query.h"
#include "analysis/report/generations.h"
#include "analysis/report/growth.h"
#include "analysis/report/lifetimes.h"
#include "analysis/report/main_lines.h"
#include "analysis/report/what_if.h"

struct question {
  const char *where; /* the query that selects blocks (query.h); NULL: all */
  enum when at;      /* unless the query sets the moment */
  uint64_t at_ns;    /* AT_TIME */
  bool apart;        /* what was held at at_ns: only the blocks that were not also held at apart_ns */
  uint64_t apart_ns;
  uint64_t lives_by_ns; /* the length of run by which lives are brief or long; 0: that of the recording */
  struct call_paths
      *paths;       /* by grouping: kept by the asker between questions about one recording; or NULL */
  uint32_t process; /* only blocks of this process, by its number + 1; its CLOSING counts; 0: of all */
  bool closing;     /* "alive" asks for the moment CLOSING of recording.h, not for the end */
  const struct report *earlier; /* its sums are copied if its query selects the same rows; or NULL */
};

struct report {
  const struct recording *recording;
  const struct samples *samples; /* of the recording */
  const struct names *names;     /* of the recording */
  enum when at;
  bool apart; /* of the question */
  uint64_t apart_ns;
  struct call_paths *paths;                  /* of the question */
  struct query *query;                       /* NULL: every block counts */
  bool *selected;                            /* by row: whether the query selects it; NULL: it selects all */
  struct sums allocated, live_at_end, brief; /* brief: allocations of blocks that lived less than brief_ns */
  uint64_t alive_ns;                         /* the moment of MEASURE_ALIVE */
  struct sums alive;                         /* what was live then */
  uint32_t process;                          /* of the question */
  uint64_t since_ns; /* TABLE_GROWTH: since when growth is judged: the process began */
  struct peak peak;
  struct moment asked;            /* the moment of the question; for AT_PEAK the median moment of the peak */
  uint64_t brief_ns;              /* blocks that live less than this are brief */
  uint64_t long_ns;               /* blocks that live at least this are long-lived */
  struct generations generations; /* of a collected heap */
};

/* Answers a question. WN_EINVAL: the query is wrong, or the time is after the end of the trace.
 * WN_ENOMEM. The recording must outlive the report. */
wn_status report_ask(const struct recording *recording, const struct question *question,
                     struct report *report);
void report_destroy(struct report *report);

/* Whether the report's query selects a row of the samples. It is a row_filter whose context is the
 * report. */
bool report_selects(const struct row *row, void *report);

/* ---- tables ---- */

/* What a table sums. A row of this list: the name in C, the name of the function in report.c, the
 * name in JSON, and the meaning. */
#define REPORT_MEASURES(MEASURE)                                                                       \
  MEASURE(HELD, held, "sites", "what was held at the moment of the question")                          \
  MEASURE(ALLOCATED, allocated, "allocated", "what was allocated over the run, and by how many calls") \
  MEASURE(PROMOTED, promoted, "promoted", "what was promoted, of a collected heap")                    \
  MEASURE(CHURN, churn, "churn", "what was allocated and lived briefly")                               \
  MEASURE(ALIVE, alive, "alive", "what was still alive at the end, or at CLOSING")                     \
  MEASURE(LASTING, lasting, "lasting", "the blocks that lived long")

enum measure {
#define REPORT_MEASURE(NAME, name, json, what) MEASURE_##NAME,
  REPORT_MEASURES(REPORT_MEASURE)
#undef REPORT_MEASURE
      MEASURES
};

/* The name of a measure in JSON, such as "sites", and its word for people, such as "held". */
const char *measure_name(enum measure measure);
const char *measure_word(enum measure measure);

/* How a row counts in a measure; false: not at all, and *share says nothing. And the weight of what it
 * adds. */
bool report_counts(const struct report *report, enum measure measure, const struct row *row,
                   struct share *share);
double share_weight(const struct share *share, const struct row *row);

/* What a table can tell about each group besides sums. Values can be combined. */
enum table_detail {
  TABLE_SUMS = 0,
  TABLE_LIVES = 1,      /* how long blocks live */
  TABLE_WORD_LIVES = 2, /* the same in words allocated during the life */
  TABLE_FATES = 4,      /* for a collected heap: what became of the blocks */
  TABLE_FOLDED = 8,     /* the tree has one node for all levels of a recursion */
  TABLE_GROWTH = 16,    /* of MEASURE_ALIVE and _HELD: how what is alive came to be; not with lives or fates;
                        * only where report_has_growth */
  TABLE_TREE_ONLY = 32, /* no groups, only the call tree */
  TABLE_LINES = 64      /* of functions and stacks: the lines where they allocated most */
};

/* One thread uses a table at a time. */
struct table {
  const struct report *report;
  enum measure measure;
  unsigned details; /* of enum table_detail */
  struct call_tree tree;
  struct lifetimes lives, word_lives; /* for TABLE_LIVES and TABLE_WORD_LIVES */
  struct main_lines lines;            /* TABLE_LINES */
  double *weights;                    /* of their rows, at a peak of several moments; else NULL */
  bool *inside;                       /* TABLE_FATES, TABLE_GROWTH: scratch for the nodes of a group */
  /* TABLE_GROWTH: the rows of blocks that have several, block by block; and room for as many. */
  uint32_t *resized;
  size_t resized_count;
};

/* Makes a table: all groups and the call tree. The report must outlive the table. WN_ENOMEM. */
wn_status report_table(const struct report *report, enum measure measure, enum grouping grouping,
                       unsigned details, struct table *table);
void table_destroy(struct table *table);

/* The call tree of other rows with the report's stacks: its mappings. `samples` has them as its rows.
 * WN_ENOMEM. */
wn_status report_tree(const struct report *report, const struct samples *samples, enum grouping grouping,
                      row_measure *rows, void *context, struct call_tree *tree);

/* What allocated each row, where no sums are needed. The report must outlive it, and it does not move. */
struct owners {
  const struct report *report;
  const struct call_paths *paths; /* `own`, or those of the report */
  struct call_paths own;
};

/* WN_ENOMEM. */
wn_status report_owners(const struct report *report, enum grouping grouping, struct owners *owners);
void owners_destroy(struct owners *owners);

/* Adds groups and other details to a table that has not all of them; not TABLE_FOLDED, TABLE_GROWTH.
 * WN_ENOMEM. */
wn_status table_add(struct table *table, unsigned details);

/* Details of a group: of the blocks of its self sums, or of all that its total counts. Only if the
 * table was made with that detail. */
struct life table_life(struct table *table, const struct group *group, enum extent extent);
struct life table_word_life(struct table *table, const struct group *group, enum extent extent);
struct generations table_fates(struct table *table, const struct group *group, enum extent extent);
struct growth table_growth(struct table *table, const struct group *group, enum extent extent);

/* The growth of the blocks of each key: growths[key], for the keys below `keys`. A block has the key of
 * the tree's node that owns it: key_of_node[node], or if that is NULL, the node's label. growths[key] is all
 * zeros if the blocks of the key hold less than `least` bytes at the end. WN_ENOMEM. */
wn_status table_growths(const struct table *table, const uint32_t *key_of_node, size_t keys, double least,
                        struct growth *growths);

/* Fills in `resized`. WN_ENOMEM. */
wn_status table_order_resized(struct table *table);

/* Writes the name of a group; a stack has the name of its innermost function. */
void table_name(const struct table *table, const struct group *group, char *buffer, size_t size);

/* The label of a group; of a stack, that of its innermost function. */
const struct label *table_label(const struct table *table, const struct group *group);

/* The group of a function in a table by function, by the name and module of the label; NULL: there is
 * none. */
const struct group *table_find_group(const struct table *table, const struct label *function);

/* The group that allocated the most itself, if it has a tenth of all and code; else NULL. */
const struct group *table_largest(const struct table *table);

/* The label of the line where a group itself allocated most, and of other groups than functions and stacks,
 * or if no line is known, that of the group itself. Of a table without TABLE_LINES always the latter. */
const struct label *table_line_label(const struct table *table, const struct group *group);

/* What TABLE_LINES adds, for a table by function or stack that lacks it. WN_ENOMEM. */
wn_status table_find_lines(const struct table *table, struct main_lines *lines);

/* ---- estimates ---- */

struct estimate report_bytes(const struct report *report, const struct sums *sums);
struct estimate report_blocks(const struct report *report, const struct sums *sums);

/* A total of the run divided by its length in seconds; zeros if the run has no length. */
struct estimate report_per_second(const struct report *report, const struct estimate *total);

/* The share of the bytes of `whole` that `part` has. */
struct estimate report_share(const struct report *report, const struct sums *part, const struct sums *whole);

/* The promoted share of the bytes that were born in the minor heap, and the share of the promoted
 * bytes that the next cycle found dead. */
struct estimate report_promoted_share(const struct report *report, const struct generations *generations);
struct estimate report_dead_share(const struct report *report, const struct generations *generations);

/* What other minor heaps would have kept from promotion of the blocks of the query. WN_ENOMEM. */
wn_status report_what_if(const struct report *report, struct what_if *what_if);

/* Whether the moments of the peak lie within a hundredth of the run, so that a report may name one
 * time. */
bool report_peak_is_one(const struct report *report);

/* An estimate of bytes that were held at one moment. No moment held more than the peak. The estimate of the
 * peak is unbiased (peak.h), as is that of any other moment, so by their errors the latter may be the larger
 * one. The peak is then the better estimate of both, since what it bounds is known to be below. */
struct estimate report_within_peak(const struct report *report, struct estimate bytes);

/* Whether two sums, neither of them empty, are of the same blocks. */
bool report_is_same(const struct sums *one, const struct sums *other);

/* Whether what was held at the moment of the question is what was alive last: at one moment, or at a moment
 * of the same peak. */
bool report_held_is_alive(const struct report *report);

/* Whether the run is long enough for the clock of its times (tick_ns of sources/source.h). */
bool report_is_timed(const struct report *report);

/* Whether a run may be judged that was not sampled for a part of its time: what was allocated then is not
 * known, nor when it was freed. */
bool report_is_awake(const struct report *report);

/* Whether it can be told how what is alive came to be: not of several processes, whose ends are not one, and
 * not where records are missing. */
bool report_has_growth(const struct report *report);

/* Whether it is long enough for bytes a second. */
bool report_has_rate(const struct report *report);
/* SPDX-License-Identifier: MIT */
