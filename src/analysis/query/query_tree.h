/* A query as a tree of conditions: query.c makes it from a text, query_selects.c evaluates it. */
#pragma once

#include "analysis/query/query.h"
#include "analysis/query/query_fields.h"
#include <regex.h>

enum kind { OR, AND, NOT, FIELD };

enum relation { EQUAL, NOT_EQUAL, MATCHES, NOT_MATCHES, LESS, AT_MOST, MORE, AT_LEAST };

struct condition {
  enum kind kind;
  struct condition *left, *right;
  const struct field *field;
  enum relation relation;
  const char *at;  /* where it stands; valid while the query is parsed */
  char *text;      /* the value as the user wrote it */
  double number;   /* BYTES, TIME, CHOICE, LIVE_AT, MOMENT */
  enum when when;  /* MOMENT */
  regex_t pattern; /* of names, with ~ or !~ */
  bool has_pattern;
  /* FRAME_TEXT, FROM: by node; THREAD_NAME: by names_thread_place; TYPE_NAME: by samples_type;
   * PROCESS: by process. */
  bool *matches;
};

struct query {
  struct condition *root;
  const struct condition *moment, *from; /* the settings `at` and `from`, or NULL */
  bool hides;                            /* there is a setting `hide` */
  bool *hidden, *begins;                 /* by frame, of the settings `hide` and `from` */
  const struct samples *samples;
  const struct names *names;
  uint32_t node_count;
};

static inline bool relation_is_search(enum relation relation) {
  return relation == MATCHES || relation == NOT_MATCHES;
}
/* SPDX-License-Identifier: MIT */
