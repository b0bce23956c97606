/* Collects the columns of an answer, and writes it. */
#include "page/answer.h"

#include "base/array.h"
#include "base/error.h"
#include <stdlib.h>
#include <string.h>

static size_t item_size(const struct answer_column *column) {
  return column->type == ANSWER_F64 ? sizeof(double) : 4;
}

static size_t answer_rounded(size_t bytes) { return (bytes + 7) & ~(size_t)7; }

static size_t add_column(struct answer *answer, const char *name, enum answer_type type) {
  answer->columns[answer->column_count] = (struct answer_column){.name = name, .type = type};
  return answer->column_count++;
}

/* The place of a column's next value; NULL without memory. */
static void *answer_next_of(struct answer *answer, size_t number) {
  struct answer_column *column = &answer->columns[number];
  if (!array_reserve(&column->values, &column->capacity, column->count + 1, item_size(column)))
    return answer->exhausted = true, NULL;
  return (char *)column->values + column->count++ * item_size(column);
}

static void write_columns(struct answer *answer) {
  static const char *const types[] = {[ANSWER_F64] = "f64", [ANSWER_F32] = "f32", [ANSWER_U32] = "u32"};
  size_t at = 0;
  json_begin(&answer->json, "columns", '{');
  for (size_t i = 0; i < answer->column_count; i++) {
    const struct answer_column *column = &answer->columns[i];
    json_begin(&answer->json, column->name, '{');
    json_string(&answer->json, "type", types[column->type]);
    json_integer(&answer->json, "at", at);
    json_integer(&answer->json, "count", column->count);
    json_end(&answer->json, '}');
    at += answer_rounded(column->count * item_size(column));
  }
  json_end(&answer->json, '}');
  json_end(&answer->json, '}');
}

/* The bytes of the whole answer; NULL without memory. */
static char *answer_join(const struct answer *answer, size_t *length) {
  size_t at = 8 + answer_rounded(answer->text_length);
  *length = at;
  for (size_t i = 0; i < answer->column_count; i++)
    *length += answer_rounded(answer->columns[i].count * item_size(&answer->columns[i]));
  char *bytes = calloc(1, *length);
  if (!bytes) return NULL;
  for (int i = 0; i < 4; i++) {
    bytes[i] = (char)(answer->text_length >> 8 * i);
    bytes[4 + i] = (char)(answer->state >> 8 * i);
  }
  memcpy(bytes + 8, answer->text, answer->text_length);
  for (size_t i = 0; i < answer->column_count; i++) {
    size_t size = answer->columns[i].count * item_size(&answer->columns[i]);
    if (size) memcpy(bytes + at, answer->columns[i].values, size);
    at += answer_rounded(size);
  }
  return bytes;
}

/* ---- shared ---- */

wn_status answer_begin(struct answer *answer, uint32_t state) {
  *answer = (struct answer){.state = state};
  answer->json.out = open_memstream(&answer->text, &answer->text_length);
  if (!answer->json.out) return error_set(WN_ENOMEM, "not enough memory for the answer");
  answer->json.compact = true;
  json_begin(&answer->json, NULL, '{');
  return WN_OK;
}

size_t answer_numbers(struct answer *answer, const char *name) {
  return add_column(answer, name, ANSWER_F64);
}
size_t answer_singles(struct answer *answer, const char *name) {
  return add_column(answer, name, ANSWER_F32);
}
size_t answer_integers(struct answer *answer, const char *name) {
  return add_column(answer, name, ANSWER_U32);
}

void answer_number(struct answer *answer, size_t column, double number) {
  double *next = answer_next_of(answer, column);
  if (next) *next = number;
}

void answer_single(struct answer *answer, size_t column, double number) {
  float *next = answer_next_of(answer, column);
  if (next) *next = (float)number;
}

void answer_integer(struct answer *answer, size_t column, uint32_t number) {
  uint32_t *next = answer_next_of(answer, column);
  if (next) *next = number;
}

void answer_set_integer(struct answer *answer, size_t column, size_t at, uint32_t number) {
  if (at < answer->columns[column].count) ((uint32_t *)answer->columns[column].values)[at] = number;
}

wn_status answer_end(struct answer *answer, char **bytes, size_t *length) {
  write_columns(answer);
  bool failed = ferror(answer->json.out) || answer->exhausted;
  failed = fclose(answer->json.out) || failed;
  answer->json.out = NULL;
  *bytes = failed ? NULL : answer_join(answer, length);
  answer_drop(answer);
  return *bytes ? WN_OK : error_set(WN_ENOMEM, "not enough memory for the answer");
}

void answer_drop(struct answer *answer) {
  if (answer->json.out) fclose(answer->json.out);
  free(answer->text);
  for (size_t i = 0; i < answer->column_count; i++) free(answer->columns[i].values);
  *answer = (struct answer){.text = NULL};
}
/* SPDX-License-Identifier: MIT */
