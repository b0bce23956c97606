/* The options of the commands that ask about traces: `winnow report`, `winnow html`, `winnow
 * view`, `winnow serve`, `winnow ship`, `winnow export` and `winnow diff`. */
#pragma once

#include "analysis/compare/pair.h"
#include "analysis/report/sites.h"
#include "cli/limit.h"
#include "export/formats.h"
#include <stdio.h>

enum { REPORT_LIST_MOST = 16, SERVERS_MOST = 64 };

/* A moment that a user asks for. */
struct when_asked {
  enum when at;
  uint64_t ns; /* AT_TIME */
};

/* `ship`, `fleet`; NULL: not given. */
struct ship_options {
  const char *to[SERVERS_MOST + 1]; /* URLs, NULL at the end */
  const char *database, *service, *release, *user, *password_file, *authorities;
  const char *site, *since, *until; /* `fleet` */
  bool once, allocated;
};

/* All zeros are the defaults. */
struct report_options {
  const char *command;       /* the name of the command, for messages */
  const char *file, *other;  /* the trace; the second one of `diff`, the one before of a page, or NULL */
  size_t file_count;         /* `report`, `export`: of the traces that are joined, */
  const char *const *files;  /* of which `file` is the first */
  bool growing;              /* a process still writes one of the files */
  size_t unread;             /* how many of the files cannot be joined: the command then fails at its end */
  const char *at_text;       /* as the user typed it; NULL: not given */
  char at_of_query[32];      /* `at_text`, if it is in the query */
  struct when_asked when[2]; /* `report` uses the first */
  int moments;               /* that the user gave: 0, 1, or for `diff` 2 */
  const char *where;
  enum grouping grouping;
  bool grouping_given;
  enum sites_order order;
  bool order_given;
  size_t top; /* 0: not given */
  bool tree, json, all, no_pager;
  const char *output;     /* `html`, `export`: the file to write; NULL: not given */
  double most_bytes;      /* `html`: its largest size; 0: not given */
  bool full;              /* `html`, `view`: keep all samples */
  unsigned port;          /* `view`: 0: any free one */
  const char *listen;     /* `view`: the address; `serve`: with the port, or a socket; NULL: not given */
  const char *token_file; /* `serve`; NULL: not given */
  bool no_open;           /* `view`: do not open a browser */
  const struct format_kind *format; /* `export`; NULL: not given */
  enum quantity quantity;           /* `export`; unless given: held bytes */
  enum scaling scaling;
  struct limit limits[REPORT_LIST_MOST];
  int limit_count;
  struct ship_options ship;
  struct recording_options recording;
  const char *search[REPORT_LIST_MOST + 1], *wrappers[REPORT_LIST_MOST + 1]; /* NULL at the end */
};

/* Reads the options of a command (argv[0]) up to the first file, argv[optind], and checks the query.
 * Returns an exit code, after a message, if they are wrong. */
enum {
  FOR_REPORT = 1,
  FOR_DIFF = 2,
  FOR_HTML = 4,
  FOR_VIEW = 8,
  FOR_EXPORT = 16,
  FOR_SERVE = 32,
  FOR_SHIP = 64,
  FOR_FLEET = 128
};
int options_parse(struct report_options *options, unsigned command, int argc, char **argv);

/* --max-memory, for the commands that read their few options themselves. */
enum { LETTER_MAX_MEMORY = 512 };
#define OPTION_MAX_MEMORY \
  { "max-memory", required_argument, NULL, LETTER_MAX_MEMORY }
int options_set_memory(const char *command, const char *text);

/* Prints the options of a command for its help. */
void options_print(FILE *out, unsigned command);
/* SPDX-License-Identifier: MIT */
