/* The representation of Lisp values, in words and in blocks of the heap.
 *
 * The heap knows two kinds of words. It ignores words whose low bit is set; all others are
 * addresses of blocks. The language decides what the former mean, so they need not all be integers:
 *
 *   ...01    an integer of 62 bits
 *   ..0011   a constant: (), #f, #t, what has no value
 *   ..0111   a character
 *
 * A block's tag is its type. There is one tag for blocks that are not scanned, and two types need
 * it: a block of one word is a floating-point number; a longer block is a string, whose first word
 * is its length.
 *
 *   pair      car, cdr [, line: pairs made by the reader know where they were read]
 *   vector    elements
 *   symbol    name, hash, number of a special form
 *   closure   code, then the captured values
 *   code      struct body (as an integer), what owns the body, name, file, then constants
 *   cell      value and name of a global variable
 *   box       value of a variable that is both captured and assigned
 *   builtin   index into the table of builtins
 *   macro     the procedure that rewrites a form
 *   table     buckets, count
 *   entry     of a table: key, value, next, hash
 *   error     message, irritants
 *   escape    depth of the frame that it returns from, or -1 when that is gone; the next outer
 *             escape; struct vm (as an integer)
 *   atom      value, exchanged by compare and swap
 *   task      struct task (as an integer), the result once it is there */
#ifndef LISP_VALUE_H
#define LISP_VALUE_H

#include <winnow/heap.h>

enum tag {
  TAG_PAIR,
  TAG_VECTOR,
  TAG_SYMBOL,
  TAG_CLOSURE,
  TAG_CODE,
  TAG_CELL,
  TAG_BOX,
  TAG_BUILTIN,
  TAG_MACRO,
  TAG_TABLE,
  TAG_ENTRY,
  TAG_ERROR,
  TAG_ESCAPE,
  TAG_ATOM,
  TAG_TASK,
};

enum { SYMBOL_NAME, SYMBOL_HASH, SYMBOL_FORM, SYMBOL_WORDS };
enum { CELL_VALUE, CELL_NAME, CELL_WORDS };
enum { CODE_BODY, CODE_OWNER, CODE_NAME, CODE_FILE, CODE_CONSTANTS };
enum { ERROR_MESSAGE, ERROR_IRRITANTS, ERROR_WORDS };
enum { ESCAPE_DEPTH, ESCAPE_OUTER, ESCAPE_VM, ESCAPE_WORDS };
enum { PAIR_LINE = 2 };

/* ---- immediate values ---- */

#define CONSTANT(number) ((wn_value)(number) << 4 | 3)
#define NIL              CONSTANT(0)
#define FALSE            CONSTANT(1)
#define TRUE             CONSTANT(2)
#define NOTHING          CONSTANT(3) /* what a form without a value returns */
#define UNASSIGNED       CONSTANT(4) /* a variable before its definition */
#define END_OF_FILE      CONSTANT(5)

#define INTEGER_MOST  (INTPTR_MAX >> 2)
#define INTEGER_LEAST (INTPTR_MIN >> 2)

static inline wn_value make_integer(intptr_t n) { return (wn_value)((uintptr_t)n << 2 | 1u); }
static inline intptr_t integer_of(wn_value v) { return (intptr_t)v >> 2; }
static inline bool is_integer(wn_value v) { return (v & 3) == 1; }
static inline bool fits_integer(intptr_t n) { return n >= INTEGER_LEAST && n <= INTEGER_MOST; }

static inline wn_value make_char(unsigned code) { return (wn_value)code << 4 | 7; }
static inline unsigned char_of(wn_value v) { return (unsigned)(v >> 4); }
static inline bool is_char(wn_value v) { return (v & 15) == 7; }

static inline wn_value make_boolean(bool b) { return b ? TRUE : FALSE; }

/* An address outside the heap, as the heap's kind of integer. The two low bits of the address are
 * 0. */
static inline wn_value make_address(const void *address) { return (wn_value)address | 1; }
static inline void *address_of(wn_value v) { return (void *)(v - 1); }

/* ---- blocks ---- */

static inline bool is_block(wn_value v) { return !(v & 1); }
static inline bool has_tag(wn_value v, enum tag tag) { return is_block(v) && wn_tag(v) == tag; }
static inline bool is_pair(wn_value v) { return has_tag(v, TAG_PAIR); }
static inline bool is_symbol(wn_value v) { return has_tag(v, TAG_SYMBOL); }
static inline bool is_vector(wn_value v) { return has_tag(v, TAG_VECTOR); }

/* Other domains may store to a field at any time. */
static inline wn_value field(wn_value block, size_t i) {
  return __atomic_load_n((wn_value *)block + i, __ATOMIC_ACQUIRE);
}
static inline wn_value car(wn_value pair) { return field(pair, 0); }
static inline wn_value cdr(wn_value pair) { return field(pair, 1); }

static inline bool is_float(wn_value v) {
  return is_block(v) && (__atomic_load_n(wn_header_of(v), __ATOMIC_RELAXED) & ~WN_HEADER_COLLECTOR) ==
                            WN_HEADER(1, WN_TAG_RAW);
}
static inline double float_of(wn_value v) { return *(const double *)v; }
static inline bool is_number(wn_value v) { return is_integer(v) || is_float(v); }
static inline double number_of(wn_value v) { return is_integer(v) ? (double)integer_of(v) : float_of(v); }

static inline bool is_string(wn_value v) { return is_block(v) && wn_tag(v) == WN_TAG_RAW && wn_words(v) > 1; }
static inline size_t string_length(wn_value string) { return *(const size_t *)string; }
/* Followed by a 0. */
static inline char *string_bytes(wn_value string) { return (char *)string + sizeof(size_t); }

static inline bool is_procedure(wn_value v) { return has_tag(v, TAG_CLOSURE) || has_tag(v, TAG_BUILTIN); }
static inline bool is_error(wn_value v) { return has_tag(v, TAG_ERROR); }

#endif
/* SPDX-License-Identifier: MIT */
