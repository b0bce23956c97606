/* Any bytes as a message of marshalling: the reader must refuse them or build a value that can be
 * written, and must not take memory out of proportion.
 *
 * The first byte has the flags, and says whether the rest is a whole message, or four bytes of a
 * header's sums and the data behind them. */
#include "bound.h"

#include <winnow/gc.h>
#include <winnow/marshal.h>

enum { HEADER = 32, WHOLE = 0x80 };

static wn_heap *heap;
static wn_domain *domain;

static void open_heap(void) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.helper_threads = 0;
  options.parameters.minor_heap_size = 4096;
  if (wn_heap_open(&options, &heap) || wn_domain_attach(heap, &domain)) abort();
}

/* A value that was read is written, and read again. */
static void write_again(wn_ref value, unsigned flags) {
  void *bytes, *again;
  size_t size, size_again;
  wn_ref copy;
  if (wn_marshal_write(domain, value, flags, &bytes, &size)) abort();
  if (wn_marshal_read(domain, bytes, size, flags, &copy, NULL)) abort();
  if (wn_marshal_write(domain, copy, flags, &again, &size_again)) abort();
  if (size != size_again || memcmp(bytes, again, size)) abort();
  free(bytes);
  free(again);
}

static void read_message(const uint8_t *bytes, size_t count, unsigned flags) {
  wn_ref value;
  size_t used;
  double before = wn_gc_allocated_bytes(domain);
  WN_SCOPE(domain);
  wn_status status = wn_marshal_read(domain, bytes, count, flags, &value, &used);
  if (wn_gc_allocated_bytes(domain) - before > 24 * (double)count + 256 * 8) abort();
  if (status && status != WN_EFORMAT) abort();
  if (!status && used > count) abort();
  if (!status) write_again(value, flags);
}

static void put(uint8_t *at, uint64_t n) {
  for (int i = 0; i < 8; i++) at[i] = (uint8_t)(n >> (56 - 8 * i));
}

/* A header whose length is right. */
static void read_data(const uint8_t *bytes, size_t count, unsigned flags) {
  uint8_t *message = malloc(HEADER + count - 4);
  if (!message) abort();
  put(message, UINT64_C(0x8495A6BF) << 32);
  put(message + 8, count - 4);
  put(message + 16, (uint64_t)bytes[0] << 8 | bytes[1]);
  put(message + 24, (uint64_t)bytes[2] << 8 | bytes[3]);
  memcpy(message + HEADER, bytes + 4, count - 4);
  read_message(message, HEADER + count - 4, flags);
  free(message);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static unsigned runs;
  if (!heap) open_heap();
  if (!count) return 0;
  unsigned flags = bytes[0] & WN_MARSHAL_OCAML_STRINGS;
  if (bytes[0] & WHOLE)
    read_message(bytes + 1, count - 1, flags);
  else if (count > 4)
    read_data(bytes + 1, count - 1, flags);
  if (++runs % 1000 == 0 && wn_gc_verify(domain, stderr)) abort();
  return 0;
}
/* SPDX-License-Identifier: MIT */
