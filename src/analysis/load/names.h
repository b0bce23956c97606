/* Names for the frames of a trace's stacks. */
#pragma once

#include "analysis/load/builds.h"
#include "analysis/load/samples.h"
#include "analysis/load/strings.h"
#include <winnow/status.h>

/* One function at one place. `function`, `linkage`, `module`, `file`, `home` and `place` are numbers of
 * strings. */
struct frame {
  uint32_t function; /* demangled, or libfoo+0xaddress */
  uint32_t linkage;  /* the linker's name of the function, or empty; recordings of a page have none */
  uint32_t module;   /* the file's name without its folder; empty for code outside any file */
  uint32_t file;     /* source file, or empty */
  uint32_t line;     /* 0: unknown */
  uint32_t first_column, last_column; /* 0: unknown */
  uint32_t bytes;                     /* of the function's code; 0: unknown, or inlined */
  uint32_t home;                      /* the file that declares the function, without its folder, or empty;
                                       * recordings of a page have none */
  uint32_t place;                     /* if no line is known: "function (libfoo+0xaddress)", the address of
                                       * the call; without a name, this address alone */
  bool inlined;                       /* the function was inlined into that of the next frame */
  bool wrapper;                       /* the function allocates for its callers; set by wrappers_find */
  bool between;                       /* languages, wrappers.c, interpreter.h: call paths leave it out */
};

struct frames {
  const struct frame *frame; /* innermost first: inlined functions, then the function that contains them */
  size_t count;
};

/* Strings of a process. */
struct process_names {
  uint32_t numbered, name; /* "name (number)", and the name alone */
  uint32_t host, release;
};

struct names {
  struct strings *strings;
  struct frame *frame;     /* of all nodes; the frames of a node are consecutive */
  uint32_t *first, *count; /* by node: the index of its first frame, and their number */
  bool *shared;            /* by string: several modules have a function of this name; NULL: none */
  struct process_names *processes;
  uint32_t process_count;
  uint32_t *thread;  /* the threads of all rows, by their numbers */
  uint32_t *threads; /* by place there: the string "name (thread number)", and that of its name alone */
  uint32_t thread_count;
  uint32_t *types;      /* by the number of a type in the samples: the string of its name */
  uint32_t type_count;  /* the largest such number */
  struct builds builds; /* which strings are addresses, and of which builds */
  char *hint;           /* how to get more names, for users; or NULL */
  bool served;          /* servers were asked for what is missing */
  char *note;           /* what was not done to get names, in lines for standard error; or NULL */
};

struct symbols; /* symbols/symbols.h */

/* What is being done, and which fraction of it is done, 0 to 1. */
typedef void names_progress(const char *doing, double done, void *context);

/* Resolves every node of the trace. If `symbols` is false, no symbols are looked up and frames are
 * named module+offset. If `debuginfod` is true, debug files are fetched before. */
struct names_options {
  bool symbols, debuginfod;
  const char *const *search; /* folders with binaries and debug files, NULL-terminated; or NULL */
  struct symbols *lasting;   /* of a server that loads recordings again and again; or NULL. Their files are
                              * closed after the look-up */
};
wn_status names_resolve(const struct samples *samples, const struct names_options *options,
                        names_progress *progress, void *context, struct names *names);
void names_destroy(struct names *names);

/* Names the processes of samples, once there are strings. False: not enough memory. */
bool names_add_processes(struct names *names, const struct samples *samples);

/* Names the threads that have rows or mappings, once these, strings and processes are there. False:
 * not enough memory. */
bool names_add_threads(struct names *names, const struct samples *samples);

/* Gives strings to the names of types. False: not enough memory. */
bool names_add_types(struct names *names, const struct samples *samples);

/* The place of a thread among them, from 1 on; 0: it has no row. */
uint32_t names_thread_place(const struct names *names, uint32_t thread);

/* "cc1 (4711)"; "" for a process that has no name. */
const char *names_of_process(const struct names *names, uint32_t process);

/* Finds the names that several modules have, among the frames of the nodes that are used: 1 to
 * `nodes`. False: not enough memory. */
bool names_find_shared(struct names *names, const bool *used, uint32_t nodes);

/* The frames at the code address of one node, without those of its callers. */
struct frames names_of(const struct names *names, uint32_t node);
/* SPDX-License-Identifier: MIT */
