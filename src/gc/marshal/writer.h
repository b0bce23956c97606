/* Writing a graph of values as a message.
 *
 * The walk goes depth first, fields from left to right, as OCaml's does. It has no safepoint, so
 * addresses hold still and tell blocks apart. Other domains may run and store into the graph; each
 * field is read once. The bytes go into one buffer that grows by doubling, which moves no byte
 * where the system remaps pages. Files and functions get it when it is complete. */
#ifndef GC_MARSHAL_WRITER_H
#define GC_MARSHAL_WRITER_H

#include "gc/domains/heap.h"
#include "gc/marshal/format.h"
#include "gc/marshal/pending.h"
#include "gc/marshal/seen.h"
#include <winnow/marshal.h>

struct wn_marshal_writer {
  const struct wn_heap *heap;
  unsigned flags;
  uint8_t *begin, *at, *end; /* of the buffer; from malloc */
  struct seen seen;
  struct pending pending;
  uint64_t words64;       /* SIZES of format.h */
  uint64_t more_words32;  /* than those for 64 bits; modulo 2^64 */
  size_t bytes_32, bytes; /* of the custom block that `write` writes */
  wn_status status;
};

/* Writes the message of a value. The caller frees `*bytes`. The caller is the domain's running
 * thread. */
wn_status writer_run(const struct wn_heap *heap, wn_value value, unsigned flags, uint8_t **bytes,
                     size_t *size);

#endif
/* SPDX-License-Identifier: MIT */
