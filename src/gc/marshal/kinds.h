/* Kinds of custom blocks that can be marshalled: those that a program registered in a heap, and
 * OCaml's own, which every heap knows. */
#ifndef GC_MARSHAL_KINDS_H
#define GC_MARSHAL_KINDS_H

#include "gc/domains/heap.h"
#include <winnow/marshal.h>

/* By what a block has, and by the name of a message, which is `length` bytes. NULL if there is
 * none. */
const struct marshal_kind *kind_of_ops(const struct wn_heap *heap, const wn_custom_ops *ops);
const struct marshal_kind *kind_named(const struct wn_heap *heap, const char *name, size_t length);

/* OCaml's own (boxed.c, bigarray.c). */
enum { BOXED_KINDS = 3 };
extern const struct marshal_kind boxed_kinds[BOXED_KINDS];
extern const struct marshal_kind bigarray_kind;

static inline size_t kind_bytes_32(const struct marshal_kind *kind) {
  return kind->marshal->bytes_32 ? kind->marshal->bytes_32 : kind->marshal->bytes;
}

#endif
/* SPDX-License-Identifier: MIT */
