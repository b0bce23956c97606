/* Fields as bytes, in both directions: one function for each section of a container names its
 * fields in order, and the same function writes and reads them. So writer and reader agree.
 *
 * A number is a varint (trace/codec.h), a double its eight bytes, a text its length and its bytes.
 * An array of structs is its count, then one column for each member: all values of the first
 * member, then all of the second. Similar numbers are thus neighbours, which deflate likes.
 *
 * Reading trusts nothing. A count is believed only if the bytes that are left can hold so many
 * items, so memory stays in proportion to the input. The first fault is kept, and every later call
 * does nothing; callers look once, at the end. */
#pragma once

#include "trace/codec.h"
#include "trace/event.h"
#include <winnow/status.h>

struct coding {
  const char *section; /* its name, for messages */
  bool writing;
  bool no_memory;
  const char *fault; /* reading: what is wrong with the section; NULL: nothing so far */
  struct byte_source in;
  unsigned char *out; /* writing: `count` bytes, from malloc */
  size_t count, capacity;
};

static inline bool coding_failed(const struct coding *coding) { return coding->no_memory || coding->fault; }

/* Keeps the first fault. */
void coding_fail(struct coding *coding, const char *fault);

/* The status of the whole, with a message that names the section. Reading: also whether bytes are
 * left over. */
wn_status coding_end(struct coding *coding);

/* Reading: refuses a number above `most`. */
void code_number(struct coding *coding, uint64_t *number, uint64_t most);
void code_u32(struct coding *coding, uint32_t *number);
void code_u8(struct coding *coding, uint8_t *number);
void code_bool(struct coding *coding, bool *value);
void code_double(struct coding *coding, double *number);

/* Reading: the bytes are from malloc, with a NUL behind them. */
void code_text(struct coding *coding, struct trace_text *text);

/* As a text, but NULL stays NULL. The string ends at its first NUL. */
void code_string(struct coding *coding, char **string);

/* A number of items that take at least `least` bytes each. */
void code_count(struct coding *coding, size_t *count, size_t least);

/* The count of an array, of which at least `least` bytes follow for each item. Reading: allocates
 * the items, all zero; the caller frees them. */
void code_array(struct coding *coding, void **items, size_t *count, size_t size, size_t least);
#define CODE_ARRAY(coding, items, count, least) \
  code_array(coding, (void **)&(items), &(count), sizeof *(items), least)

/* A column: one member of all items, of 1, 4 or 8 bytes. It has each number as it is, its difference
 * from the one before it, or 0 and 1. */
struct column {
  size_t offset, width;
  enum column_how { COLUMN_PLAIN, COLUMN_DELTA, COLUMN_FLAG } how;
};
#define COLUMN(member, how) \
  { offsetof(column_item, member), sizeof(((column_item *)0)->member), how }
#define PLAIN(member) COLUMN(member, COLUMN_PLAIN)
#define DELTA(member) COLUMN(member, COLUMN_DELTA)
#define FLAG(member)  COLUMN(member, COLUMN_FLAG)

/* An array, and its columns. `more`: how many bytes at least follow the columns for each item. */
void code_table(struct coding *coding, void **items, size_t *count, size_t size, size_t more,
                const struct column *columns, size_t column_count);
#define CODE_TABLE(coding, items, count, more, ...)                                              \
  do {                                                                                           \
    typedef __typeof__(*(items)) column_item;                                                    \
    const struct column columns_of_items[] = {__VA_ARGS__};                                      \
    code_table(coding, (void **)&(items), &(count), sizeof(column_item), more, columns_of_items, \
               sizeof columns_of_items / sizeof *columns_of_items);                              \
  } while (0)

/* An array of numbers. */
#define CODE_NUMBERS(coding, items, count, how)                       \
  code_table(coding, (void **)&(items), &(count), sizeof *(items), 0, \
             &(const struct column){0, sizeof *(items), how}, 1)

/* Writing: append bytes, or a number. */
void coding_put(struct coding *coding, const void *bytes, size_t count);
void coding_put_number(struct coding *coding, uint64_t number);
/* SPDX-License-Identifier: MIT */
