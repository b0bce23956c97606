/* The options of `winnow report`, and the text printer. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "analysis/report.h"
#include "analysis/sites.h"

enum { REPORT_LIST_MOST = 16 };

struct report_options {
  const char *file, *at_text;
  struct question question;
  enum grouping grouping;
  enum sites_order order;
  bool order_given;
  size_t top; /* 0: not given */
  bool tree, json;
  struct recording_options recording;
  const char *search[REPORT_LIST_MOST + 1], *wrappers[REPORT_LIST_MOST + 1]; /* NULL at the end */
};

/* A report together with the options by which it is printed. */
struct view {
  const struct report *report;
  const struct report_options *options;
};

/* Prints the report as text to standard output. */
wn_status view_print_text(const struct view *view);

#endif
/* SPDX-License-Identifier: MIT */
