/* An answer as bytes: a JSON object, and columns of numbers beside it.
 *
 * Little-endian: the length of the JSON as u32, the number of the state as u32 (STATE in answers.h),
 * the JSON, zeros up to a multiple of 8, then the columns, each from a multiple of 8 on. The JSON's
 * last member `columns` has for each column its type ("f64", "f32" or "u32"), its offset from the
 * first column, and its count:
 *
 *   {"at_ns": 5, "columns": {"held": {"type": "f64", "at": 0, "count": 400}, ...}}
 *
 * A page or a script reads numbers by the thousand from columns without parsing them. */
#pragma once

#include "export/json.h"
#include <winnow/status.h>

enum { ANSWER_COLUMNS_MOST = 24 };

struct answer {
  struct json json; /* writes the members of the object; answer_begin has begun it */
  char *text;
  size_t text_length;
  uint32_t state;
  struct answer_column {
    const char *name;
    enum answer_type { ANSWER_F64, ANSWER_F32, ANSWER_U32 } type;
    void *values;
    size_t count, capacity;
  } columns[ANSWER_COLUMNS_MOST];
  size_t column_count;
  bool exhausted; /* memory */
};

/* Begins an answer of a state. WN_ENOMEM. */
wn_status answer_begin(struct answer *answer, uint32_t state);

/* Adds an empty column and returns its number. `name` must outlive the answer. */
size_t answer_numbers(struct answer *answer, const char *name);
size_t answer_singles(struct answer *answer, const char *name); /* for what is drawn or rounded */
size_t answer_integers(struct answer *answer, const char *name);

/* Append to a column. */
void answer_number(struct answer *answer, size_t column, double number);
void answer_single(struct answer *answer, size_t column, double number);
void answer_integer(struct answer *answer, size_t column, uint32_t number);

/* Changes a value that a column of integers has. */
void answer_set_integer(struct answer *answer, size_t column, size_t at, uint32_t number);

/* Ends the answer: *bytes are to be freed by the caller. WN_ENOMEM. Either this or answer_drop is
 * called once. */
wn_status answer_end(struct answer *answer, char **bytes, size_t *length);
void answer_drop(struct answer *answer);
/* SPDX-License-Identifier: MIT */
