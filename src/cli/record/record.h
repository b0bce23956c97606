/* What `winnow record` knows of a recording: as it was asked for, and how the program ended. */
#pragma once

#include "cli/record/folder.h"
#include "cli/record/left_behind.h"
#include "cli/record/supervision.h"
#include "settings/settings.h"
#include <limits.h>

struct record {
  struct settings settings;
  char output[PATH_MAX], whole_output[PATH_MAX]; /* FILE as the user names it, and as the programs know it */
  char rate[32];                                 /* the value of --rate that --every stands for */
  char library[PATH_MAX];
  char program[PATH_MAX];
  char **argv;           /* the command line of the program */
  const char *called;    /* the program as the user named it */
  const char *allocator; /* an allocator in it besides malloc; NULL: none is known */
  struct folder folder;
  struct supervision supervision;
};

/* The processor time in seconds of a process, and of the children that it waited for; and its
 * memory. */
struct work {
  double own, childrens;
  uint64_t peak_bytes; /* the largest resident size of the process over all its programs; 0: not known */
};

/* What is known of the program after it has ended. */
struct ending {
  pid_t pid;
  int wait_status;
  struct work work;
  struct left_behind left;
  bool for_memory; /* the system killed it for memory */
  uint64_t limit;  /* the limit of memory of its control group; 0: there is none, or it is not known */
};

static inline bool follows(const struct record *record) { return record->settings.of[SETTING_FOLLOW].whole; }

static inline bool is_quiet(const struct record *record) { return record->settings.of[SETTING_QUIET].whole; }

/* record.c: the path of the library that is preloaded. False: it is missing. */
bool record_find_library(char path[PATH_MAX]);

/* run.c: runs the program, and waits for its end. Returns an exit code if no process could be started. */
int record_run(struct record *record, struct ending *ending);

/* run.c: ends this process as the program ended; returns the exit code if it ended by none. */
int record_pass_status(int wait_status);

/* result.c: finishes the traces, and prints on standard error what was written and what is missing. */
void record_result(struct record *record, const struct ending *ending);
/* SPDX-License-Identifier: MIT */
