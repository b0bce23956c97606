/* The formats of `winnow export`: one list, from which come the table of formats, help, completion
 * and messages. Each format has a file NAME.c, which has its writer, export_NAME. */
#pragma once

#include "analysis/report/sites.h"
#include "export/stacks.h"
#include <stdio.h>

/* What is exported, and how the user asked for it. */
struct export {
  const struct report *report;
  enum grouping grouping;
  bool grouped;           /* the user gave the grouping; else `grouping` is the report's default */
  enum quantity quantity; /* what is counted, or counted first */
  enum sites_order order; /* of rows */
  size_t top;             /* the largest number of rows */
  const char *at;         /* the moment as the user gave it, such as "peak" */
  bool moment_given;      /* the user gave it; else it is the report's default */
  const char *where;      /* the query as the user gave it; NULL: none */
  const char *path;       /* of the trace, or "-" */
  FILE *const *files;     /* of a format that is a folder: those of format_files */
};

enum export_kind { EXPORT_TEXT, EXPORT_BINARY, EXPORT_FOLDER };

/* What a format has, and so a trace must tell; each needs what is before it, too. */
enum export_needs {
  EXPORT_TOTALS, /* of stacks */
  EXPORT_BLOCKS, /* what became of each block */
  EXPORT_LIVES,  /* when each block was freed */
  EXPORT_EVENTS  /* the same of one process: such a format has no record of the end of another */
};

/* A format: its name, the end of its files' names, what is written (enum export_kind), what it needs
 * (enum export_needs), whether it has the rows of a table (else it has stacks), and a summary. */
#define EXPORT_FORMATS(FORMAT)                                                                               \
  FORMAT(pprof, ".pb.gz", BINARY, BLOCKS, false, "a profile for pprof and what reads its files; binary")     \
  FORMAT(folded, ".folded", TEXT, TOTALS, false,                                                             \
         "stacks as lines 'outer;inner N', for flamegraph.pl and others")                                    \
  FORMAT(speedscope, ".speedscope.json", TEXT, TOTALS, false, "stacks as JSON, for speedscope")              \
  FORMAT(firefox, ".firefox.json", TEXT, BLOCKS, false,                                                      \
         "stacks with lines as JSON, for the Firefox Profiler")                                              \
  FORMAT(dhat, ".dhat.json", TEXT, LIVES, false,                                                             \
         "stacks with lives as JSON, for the viewer of Valgrind's DHAT")                                     \
  FORMAT(memtrace, ".ctf", BINARY, EVENTS, false,                                                            \
         "events for Memtrace's tools, version 3 of its format; binary")                                     \
  FORMAT(memtrace2, ".ctf", BINARY, EVENTS, false,                                                           \
         "the same in version 2, for Memtrace up to 0.2.3; binary")                                          \
  FORMAT(ctf, "-ctf", FOLDER, EVENTS, false, "events in the Common Trace Format, for babeltrace2; a folder") \
  FORMAT(clickhouse, "-clickhouse", FOLDER, EVENTS, false,                                                   \
         "sums of windows of time for ClickHouse; a folder with RowBinary")                                  \
  FORMAT(clickhouse_tsv, "-clickhouse", FOLDER, EVENTS, false, "the same as text: TabSeparated")             \
  FORMAT(csv, ".csv", TEXT, BLOCKS, true, "the rows of a table with their intervals, for spreadsheets")      \
  FORMAT(json, ".json", TEXT, BLOCKS, true, "the rows of a table with their intervals, for programs")

enum format {
#define EXPORT_FORMAT(name, extension, kind, needs, rows, summary) FORMAT_##name,
  EXPORT_FORMATS(EXPORT_FORMAT)
#undef EXPORT_FORMAT
      FORMATS
};

/* Writes an export; `out` is the first file of a folder. WN_ENOMEM; errors of the streams are left to
 * the caller (ferror). */
typedef wn_status export_writer(FILE *out, const struct export *export);

struct format_kind {
  const char *name, *extension;
  enum export_kind kind;
  enum export_needs needs;
  bool rows;
  const char *summary;
  export_writer *write;
};
extern const struct format_kind format_kinds[FORMATS];

/* The names of the files in the folder of such a format, with NULL behind them. */
const char *const *format_files(const struct format_kind *format);

#define EXPORT_FORMAT(name, extension, kind, needs, rows, summary) export_writer export_##name;
EXPORT_FORMATS(EXPORT_FORMAT)
#undef EXPORT_FORMAT

enum { EXPORT_COMMAND_MOST = 4096 };

/* Writes the arguments of the recorded program with blanks between them, cut to the buffer; what a
 * terminal obeys, and bytes that are no UTF-8, become '?'. */
void export_command(const struct report *report, char text[EXPORT_COMMAND_MOST]);

/* Whether the numbers are those of every block, so that none has an interval. */
bool export_is_exact(const struct report *report);

enum { EXPORT_TOTAL_MOST = 160 };

/* Writes a total, with its interval and samples where it is an estimate. */
void export_total(const struct report *report, const struct estimate *total, char text[EXPORT_TOTAL_MOST]);
/* SPDX-License-Identifier: MIT */
