/* A request, read: what is asked for, of which recordings. */
#pragma once

#include "cli/scrape/cursors.h"
#include <sys/types.h>

/* The paths: the name in C, the path, and the arguments that count besides pid= and service=. */
#define ASK_PATHS(PATH)                  \
  PATH(INDEX, "/")                       \
  PATH(METRICS, "/metrics")              \
  PATH(PAGE, "/page")                    \
  PATH(PROFILES, "/debug/pprof/")        \
  PATH(HEAP, "/debug/pprof/heap")        \
  PATH(ALLOCS, "/debug/pprof/allocs")    \
  PATH(DELTA, "/debug/pprof/delta_heap") \
  PATH(CMDLINE, "/debug/pprof/cmdline")  \
  PATH(SYMBOL, "/debug/pprof/symbol")

enum ask_what {
#define ASK_PATH(NAME, path) ASK_##NAME,
  ASK_PATHS(ASK_PATH)
#undef ASK_PATH
      ASK_NOTHING
};

enum { SERVICE_MOST = 64, SECONDS_MOST = 1000000000 };

struct ask {
  enum ask_what what;
  bool look;                  /* HEAD: nothing changes by it */
  pid_t pid;                  /* 0: any */
  char service[SERVICE_MOST]; /* empty: any */
  char client[CLIENT_MOST];
  uint64_t seconds; /* 0: since the start */
  bool text;        /* debug= */
  char *words;      /* SYMBOL: addresses with "+" between them, which the reader changes; or NULL */
};

/* The value of an argument, such as "seconds"; NULL: it is not there. */
typedef const char *ask_value(void *context, const char *name);

/* Reads a request. NULL; or what is wrong with it, in words. */
const char *ask_read(struct ask *ask, const char *path, ask_value *value_of, void *context);
/* SPDX-License-Identifier: MIT */
