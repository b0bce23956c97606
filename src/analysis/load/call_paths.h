/* The call paths of all stacks of a trace, by function, line, file, module or stack: what call
 * trees are made of, whatever rows they sum. To build them takes longer than to sum rows, and a
 * recording has few: so they are kept between questions. By process, a path is a process with those
 * that started it, or that it was before an exec, as its callers. By process, host or release PLACES
 * are processes, by thread they are threads, by type types, and otherwise stacks. */
#pragma once

#include "analysis/load/names.h"

/* Users cannot choose the last one. BY_WHOLE_LINE: as BY_LINE, but without columns. */
enum grouping {
  BY_FUNCTION,
  BY_LINE,
  BY_FILE,
  BY_MODULE,
  BY_PROCESS,
  BY_HOST,
  BY_RELEASE,
  BY_THREAD,
  BY_TYPE,
  BY_STACK,
  BY_WHOLE_LINE
};
enum { GROUPINGS = BY_STACK + 1 };

/* Whether the rows of a table are code: functions, lines, files, modules or stacks. */
static inline bool grouping_is_code(enum grouping grouping) {
  return grouping < BY_PROCESS || grouping == BY_STACK || grouping == BY_WHOLE_LINE;
}

/* Whether all that a process allocates is in one row. */
static inline bool grouping_is_process(enum grouping grouping) {
  return grouping == BY_PROCESS || grouping == BY_HOST || grouping == BY_RELEASE;
}

/* "function", "line", ... */
const char *grouping_name(enum grouping grouping);

/* What a group or a tree node stands for. The first three are numbers of strings. Members that the
 * grouping does not distinguish are 0. A process or thread has its name with its number as the
 * function, and its name alone as the module; what else is no code has its name as the function.
 * Columns are those of a language's trace, from 1 on; compilers of C tell none that a trace could
 * name. */
struct label {
  uint32_t function, module, file, line, first_column, last_column;
  /* These distinguish no labels. */
  uint32_t source; /* of a function its source file, if one is known */
  bool call;       /* of a function: a call in one without a name, which is its caller: nameless.h */
};

/* Also of two groupings, as long as these are of one kind. */
bool label_is_same(const struct label *a, const struct label *b);

/* Which frames of the stacks paths have. All zeros: every one. */
struct stack_view {
  const bool *hidden; /* index: frame of the names; left out */
  const bool *begins; /* index: frame; stacks begin at their outermost such frame. NULL: at their ends */
  const bool *begun;  /* with `begins`; index: trace node: one of its frames or of its callers' begins */
  bool fold;          /* a function that a stack has already joins that earlier node: recursion is one node */
};

/* Whether a stack has begun by the end of a trace node; 0: the caller of the outermost one. */
static inline bool stack_view_begun(const struct stack_view *view, uint32_t trace_node) {
  return !view->begun || view->begun[trace_node];
}

/* Whether the view has a frame of the names. *begun tells whether the stack has begun before it,
 * and becomes true if it begins here. */
bool stack_view_shows(const struct stack_view *view, size_t frame, bool *begun);

/* A function (or line, file, module) on one call path. Parents stand before their children. */
struct path_node {
  uint32_t parent; /* 0: the root, which is its own parent */
  uint32_t label;  /* 0: the label of the root */
};

struct call_paths {
  enum grouping grouping;
  struct label *labels;
  size_t label_count;
  struct path_node *nodes; /* NULL: there are no paths */
  size_t node_count;
  uint32_t *node_of, *own_of; /* index: place; its node, and the node that owns what it allocated */
  uint32_t stack_count;       /* the largest place */
  uint32_t process_count;
  const struct names *names;     /* of the threads */
  const struct samples *samples; /* of the types */
};

/* PLACES: where a row is among the paths. */
static inline uint32_t call_paths_place(const struct call_paths *paths, const struct row *row) {
  if (grouping_is_process(paths->grouping)) return source_process_of(row->thread, paths->process_count) + 1;
  if (paths->grouping == BY_TYPE) return samples_type(paths->samples, row);
  return paths->grouping == BY_THREAD ? names_thread_place(paths->names, row->thread) : row->stack;
}

/* Makes the paths of all stacks. `view` NULL: all frames. WN_ENOMEM. */
wn_status call_paths_create(const struct samples *samples, const struct names *names, enum grouping grouping,
                            const struct stack_view *view, struct call_paths *paths);
void call_paths_destroy(struct call_paths *paths);

/* The text of label 0, the root's: of blocks without a callstack, or without a type. */
const char *label_of_nothing(enum grouping grouping);

/* Writes the text for label `number` of `labels`, such as "parse", "parse (parser.c:12)" or
 * "Lists.make (lists.ml:6:12-30)", cut to the size of the buffer. Number 0:
 * label_of_nothing. */
void label_text(const struct label *labels, uint32_t number, enum grouping grouping,
                const struct names *names, char *buffer, size_t size);
/* SPDX-License-Identifier: MIT */
