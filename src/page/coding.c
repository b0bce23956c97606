/* Fields as bytes. */
#include "page/coding.h"

#include "base/array.h"
#include "base/error.h"
#include <stdlib.h>

static bool coding_make_room(struct coding *coding, size_t more) {
  bool room = !coding->no_memory && array_reserve(&coding->out, &coding->capacity, coding->count + more, 1);
  coding->no_memory = !room;
  return room;
}

static uint64_t coding_take_number(struct coding *coding) {
  uint64_t number = get_varint(&coding->in);
  if (coding->in.bad) coding_fail(coding, "it ends too soon");
  return number;
}

/* Copies `count` bytes of the input to malloc, with a NUL behind them. NULL after a fault. */
static char *take_bytes(struct coding *coding, uint64_t count) {
  const unsigned char *bytes = get_bytes(&coding->in, count);
  if (!bytes) return coding_fail(coding, "a text is longer than the section"), NULL;
  char *copy = malloc((size_t)count + 1);
  if (!copy) return coding->no_memory = true, NULL;
  memcpy(copy, bytes, (size_t)count);
  copy[count] = 0;
  return copy;
}

/* ---- shared ---- */

void coding_fail(struct coding *coding, const char *fault) {
  if (!coding->fault) coding->fault = fault;
}

wn_status coding_end(struct coding *coding) {
  if (coding->no_memory) return error_set(WN_ENOMEM, "section %s: not enough memory", coding->section);
  if (!coding->writing && coding->in.at != coding->in.end) coding_fail(coding, "bytes are left over");
  if (coding->fault) return error_set(WN_EINVAL, "section %s: %s", coding->section, coding->fault);
  return WN_OK;
}

void coding_put(struct coding *coding, const void *bytes, size_t count) {
  if (!coding_make_room(coding, count)) return;
  if (count) memcpy(coding->out + coding->count, bytes, count);
  coding->count += count;
}

void coding_put_number(struct coding *coding, uint64_t number) {
  if (!coding_make_room(coding, VARINT_MAX)) return;
  struct byte_sink sink = {.at = coding->out + coding->count, .end = coding->out + coding->capacity};
  put_varint(&sink, number);
  coding->count = (size_t)(sink.at - coding->out);
}

void code_number(struct coding *coding, uint64_t *number, uint64_t most) {
  if (coding_failed(coding)) return;
  if (coding->writing) {
    coding_put_number(coding, *number);
    return;
  }
  uint64_t found = coding_take_number(coding);
  if (found > most) coding_fail(coding, "a number is too large");
  if (!coding->fault) *number = found;
}

void code_u32(struct coding *coding, uint32_t *number) {
  uint64_t wide = *number;
  code_number(coding, &wide, UINT32_MAX);
  if (!coding->writing) *number = (uint32_t)wide;
}

void code_u8(struct coding *coding, uint8_t *number) {
  uint64_t wide = *number;
  code_number(coding, &wide, UINT8_MAX);
  if (!coding->writing) *number = (uint8_t)wide;
}

void code_bool(struct coding *coding, bool *value) {
  uint64_t wide = *value;
  code_number(coding, &wide, 1);
  if (!coding->writing) *value = wide;
}

void code_double(struct coding *coding, double *number) {
  if (coding_failed(coding)) return;
  if (coding->writing) {
    coding_put(coding, number, sizeof *number);
    return;
  }
  const unsigned char *bytes = get_bytes(&coding->in, sizeof *number);
  if (bytes)
    memcpy(number, bytes, sizeof *number);
  else
    coding_fail(coding, "it ends too soon");
}

void code_text(struct coding *coding, struct trace_text *text) {
  code_u32(coding, &text->length);
  if (coding_failed(coding)) {
    if (!coding->writing) *text = (struct trace_text){0};
    return;
  }
  if (coding->writing) {
    coding_put(coding, text->bytes, text->length);
    return;
  }
  text->bytes = take_bytes(coding, text->length);
  if (!text->bytes) text->length = 0;
}

void code_string(struct coding *coding, char **string) {
  uint64_t length = coding->writing && *string ? strlen(*string) + 1 : 0;
  code_number(coding, &length, UINT32_MAX);
  if (coding_failed(coding) || !length) return;
  if (coding->writing)
    coding_put(coding, *string, (size_t)length - 1);
  else
    *string = take_bytes(coding, length - 1);
}

void code_count(struct coding *coding, size_t *count, size_t least) {
  uint64_t wide = *count;
  code_number(coding, &wide, SIZE_MAX);
  if (!coding->writing && !coding_failed(coding) && wide > (size_t)(coding->in.end - coding->in.at) / least)
    coding_fail(coding, "it has fewer items than it says");
  *count = coding_failed(coding) && !coding->writing ? 0 : (size_t)wide;
}

void code_array(struct coding *coding, void **items, size_t *count, size_t size, size_t least) {
  code_count(coding, count, least);
  if (coding->writing || coding_failed(coding)) return;
  *items = calloc(*count + 1, size);
  if (*items) return;
  coding->no_memory = true;
  *count = 0;
}

static uint64_t coding_load(const unsigned char *at, size_t width) {
  uint64_t number = 0;
  memcpy(&number, at, width); /* little-endian: trace/chunk.h */
  return number;
}

static void code_column(struct coding *coding, void *items, size_t count, size_t stride,
                        const struct column *column) {
  size_t width = column->width;
  bool delta = column->how == COLUMN_DELTA;
  uint64_t most = column->how == COLUMN_FLAG ? 1
                  : width == 8               ? UINT64_MAX
                                             : ((uint64_t)1 << 8 * width) - 1,
           before = 0;
  for (size_t i = 0; i < count && !coding_failed(coding); i++) {
    unsigned char *at = (unsigned char *)items + i * stride + column->offset;
    uint64_t number = coding->writing ? coding_load(at, width) : 0;
    if (coding->writing) {
      coding_put_number(coding, delta ? zigzag(number - before) : number);
    } else {
      number = coding_take_number(coding);
      if (delta) number = before + unzigzag(number);
      if (number > most) coding_fail(coding, "a number is too large");
      if (!coding->fault) memcpy(at, &number, width);
    }
    before = number;
  }
}

void code_table(struct coding *coding, void **items, size_t *count, size_t size, size_t more,
                const struct column *columns, size_t column_count) {
  code_array(coding, items, count, size, column_count + more);
  for (size_t i = 0; i < column_count; i++) code_column(coding, *items, *count, size, &columns[i]);
}
/* SPDX-License-Identifier: MIT */
