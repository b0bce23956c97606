/* What the screens of `winnow heap` share: an opened snapshot, and its names. */
#pragma once

#include "base/index.h"
#include "cli/text.h"
#include "retention/names.h"
#include "retention/paths.h"
#include "retention/sites/sites.h"
#include "retention/types.h"
#include <stdio.h>

/* A snapshot, and all that is computed of it. */
struct heap_file {
  const char *name;
  struct progress progress;
  struct graph graph;
  struct dominators dominators;
  struct type_table types;
  struct sites sites; /* empty: the heap was not recorded, or its trace cannot be read */
  char no_sites[256]; /* why it cannot be read; empty: it can */
  uint64_t reachable; /* bytes */
  uint64_t several;   /* bytes that several holders hold together, and their blocks */
  uint64_t several_blocks;
};

/* Reads a snapshot. An exit code, after a message, if that fails. heap_close frees what there
 * is. */
int heap_open(struct heap_file *file, const char *name);
/* Joins the snapshot with the trace that recorded the heap; `trace`: where that is now, or NULL. An
 * exit code, after a message, if it is not NULL and cannot be read. */
int heap_join(struct heap_file *file, const char *trace);
/* Frees all that is of single blocks and types: what heap_print_growth prints at last stays. */
void heap_forget_blocks(struct heap_file *file);
void heap_close(struct heap_file *file);

/* Writes a text that takes at most `columns` columns: one that takes more without its middle. */
const char *heap_fit(const char *text, int columns, char fitted[NAME_MOST]);

/* Prints a name to the end of a line that has `indent` columns already. */
void heap_print_name(const char *name, int indent);

/* The texts of the rows of a table, of which no two are the same. Zeroed memory is an empty one. */
struct heap_texts {
  struct heap_row_text {
    char *text;
    uint32_t rows; /* that have it */
  } * items;
  size_t count, capacity;
  struct index by_text;
};
void heap_texts_free(struct heap_texts *texts);

/* As heap_print_name; behind a text that a row of the table has already stands "#2", "#3" and so on. */
void heap_print_row_name(struct heap_texts *texts, const char *name, int indent);

void heap_print_title(const char *title, const char *explanation);

/* What the snapshot is of, how much there is, and what is missing. */
void heap_print_head(const struct heap_file *file);

/* The table of holders. `all`: with all rows below them; *left_out: whether it has fewer. Returns an
 * exit code. */
int heap_print_holders(const struct heap_file *file, size_t top, bool all, bool *left_out);

/* The same of one holder, by its node, with all rows below it; NODE_ALL: of what several hold at once. */
int heap_print_holder(const struct heap_file *file, uint32_t node);

/* The screen of one snapshot; of the paths to blocks of a name, which is a type's, or a type's and
 * what the language says of the block; of what grew between two or three, which it opens. Each
 * returns an exit code. `top`: rows at most. */
void heap_print_numbers(const struct heap_file *file, uint64_t bytes, uint64_t blocks);
int heap_print_screen(const struct heap_file *file, size_t top);
int heap_print_paths(const struct heap_file *file, const char *of, size_t top);
int heap_print_growth(char *const *names, size_t count, size_t top);
int heap_print_json(const struct heap_file *file);

/* Writes a snapshot as a .heapsnapshot file, or as an hprof file, to a file that can be read and
 * sought in. WN_ENOMEM; WN_EIO: the form cannot have it. Other failures are left to the stream. */
wn_status heap_put_devtools(const struct graph *graph, FILE *out);
wn_status heap_put_hprof(const struct graph *graph, FILE *out);
/* SPDX-License-Identifier: MIT */
