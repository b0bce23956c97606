/* The reader: text to values. */
#ifndef LISP_READER_H
#define LISP_READER_H

#include "vm.h"

struct reader {
  struct vm *vm;
  const char *at, *end; /* what is left of the text */
  unsigned line;
  unsigned depth;
  /* After READ_WRONG: */
  char message[160];
  unsigned wrong_line;
  bool incomplete; /* more text could make it right */
};

enum reading { READ_FORM, READ_END, READ_WRONG };

static inline struct reader reader_of(struct vm *vm, const char *text, size_t length) {
  return (struct reader){.vm = vm, .at = text, .end = text + length, .line = 1};
}

/* Reads the next form. May collect: the text must not be in the collected heap. */
enum reading read_form(struct reader *reader, wn_ref *form);

/* The number, or FALSE if the text is not one; 0 if memory is exhausted. */
wn_value read_number(struct vm *vm, const char *text, size_t length);

#endif
/* SPDX-License-Identifier: MIT */
