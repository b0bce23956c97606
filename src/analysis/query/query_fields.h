/* The fields of queries: the words that a condition can begin with, and how their values are written
 * and compared. */
#pragma once

#include "analysis/load/names.h"

/* What the value of a condition is. The compiler asks for a new type where values are parsed
 * (query.c) and compared (query_selects.c). */
enum type {
  FRAME_TEXT,  /* of any frame of the stack: = and != compare whole names, ~ and !~ search */
  THREAD_NAME, /* of the thread, in the same way, its number, or both as in a table */
  TYPE_NAME,   /* what the block is, in the same way */
  PROCESS,     /* the name of the process, in the same way, or its number */
  ORIGIN,      /* the host of the process, or its release, in the same way */
  BYTES,
  TIME,    /* a moment, from the start of the run; or a duration */
  CHOICE,  /* = and != with one of a few words */
  LIVE_AT, /* = and != with a moment: whether the block was live then */
  /* A SETTING (query.c) says how the selected blocks are shown, and selects none itself: */
  MOMENT, /* = with peak, end or a moment */
  HIDDEN, /* = and ~ with functions that are taken out of stacks */
  FROM    /* = and ~ with functions at which stacks begin; blocks without them do not match */
};

struct field {
  const char *name, *synonym;
  enum type type;
  uint32_t (*text)(const struct frame *frame); /* FRAME_TEXT, HIDDEN, FROM: the number of a string */
  uint32_t (*origin)(const struct process_names *names);                  /* ORIGIN: the same */
  double (*number)(const struct samples *samples, const struct row *row); /* BYTES, TIME, CHOICE */
  bool needs_lives;       /* only where it is known which block was freed: no_lives of sources/source.h */
  const char *choices[6]; /* CHOICE: the word for each number; a number with "" has no word */
};

/* Ends with a field without a name. */
extern const struct field query_fields[];

static inline bool field_is_setting(const struct field *field) { return field->type >= MOMENT; }

/* The words of a CHOICE, as in "minor, major or outside". */
const char *field_choices(const struct field *field, char buffer[64]);
/* SPDX-License-Identifier: MIT */
