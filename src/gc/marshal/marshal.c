/* The public functions: buffers, files, functions. */
#include "base/error.h"
#include "gc/api/allocate.h"
#include "gc/domains/caller.h"
#include "gc/domains/debug.h"
#include "gc/domains/stress.h"
#include "gc/marshal/reader.h"
#include "gc/marshal/writer.h"
#include <stdlib.h>

enum { PART_FIRST = TINY ? 16 : 1 << 16 };

/* ---- writing ---- */

static wn_status marshal_write_value(wn_domain *domain, wn_ref value, unsigned flags, uint8_t **bytes,
                                     size_t *size) {
  const unsigned all = WN_MARSHAL_NO_SHARING | WN_MARSHAL_COMPAT_32 | WN_MARSHAL_OCAML_STRINGS;
  wn_status status = caller_check(domain, "marshal write");
  if (status) return status;
  if (wn_is_null(value)) return error_set(WN_EINVAL, "marshal write: the handle is null");
  debug_check_given(domain, value, "wn_marshal_write");
  if (flags & ~all) return error_set(WN_EINVAL, "marshal write: %#x are no flags", flags & ~all);
  return writer_run(domain->heap, *value.slot, flags, bytes, size);
}

static wn_status put_to_file(const void *bytes, size_t size, void *context) {
  if (fwrite(bytes, 1, size, context) == size) return WN_OK;
  return error_set(WN_EIO, "marshal write: the file took less than the message");
}

/* ---- reading ---- */

/* Retries when collections, or the program's hook, have made memory. */
static wn_status read_into(wn_domain *domain, const uint8_t *bytes, const struct message_header *header,
                           unsigned flags, const void *frame, wn_value *slot) {
  unsigned tries = 0;
  bool heap_is_full;
  wn_status status;
  do {
    status = reader_run(domain, bytes, header, flags, frame, slot, &heap_is_full);
  } while (heap_is_full && allocate_make_memory(domain, header->words64, &tries));
  return status;
}

static wn_status wrong_header(const char *what) {
  return error_set(WN_EFORMAT, "marshal read: byte 0: %s", what);
}

/* Reads a message of memory. The handle is made first: if there is none, nothing has happened, and
 * the value that is read is in it at once. */
static wn_status read_message(wn_domain *domain, const void *bytes, size_t size, unsigned flags,
                              const void *frame, wn_ref *value, size_t *used) {
  struct message_header header;
  const char *wrong = header_read(&header, bytes, size);
  if (wrong) return wrong_header(wrong);
  if (header.data_bytes > size - header.header_bytes)
    return error_set(WN_EFORMAT, "marshal read: byte %zu: the message has %zu bytes more", size,
                     header.data_bytes - (size - header.header_bytes));
  wn_ref made = wn_root(domain, wn_int(0));
  if (wn_is_null(made)) return WN_ELIMIT;
  wn_status status = read_into(domain, bytes, &header, flags, frame, made.slot);
  if (status) {
    domain->context.top = made.slot;
    return status;
  }
  *value = made;
  if (used) *used = header.header_bytes + header.data_bytes;
  return WN_OK;
}

static wn_status check_reading(wn_domain *domain, unsigned flags, const void *bytes, const wn_ref *value) {
  wn_status status = caller_check(domain, "marshal read");
  if (status) return status;
  if (!bytes || !value) return error_set(WN_EINVAL, "marshal read: an argument is NULL");
  if (!(flags & ~(unsigned)(WN_MARSHAL_NO_SHARING | WN_MARSHAL_COMPAT_32 | WN_MARSHAL_OCAML_STRINGS)))
    return WN_OK;
  return error_set(WN_EINVAL, "marshal read: there are no such flags as %#x", flags);
}

/* ---- messages that come in parts ---- */

/* The bytes that have come, in memory that doubles: what a header promises is not believed. */
struct parts {
  uint8_t *bytes;
  size_t count, capacity;
  wn_marshal_source *source;
  void *context;
};

static bool parts_grow(struct parts *parts, size_t wanted) {
  size_t capacity = 2 * parts->capacity < PART_FIRST ? PART_FIRST : 2 * parts->capacity;
  if (capacity > wanted) capacity = wanted;
  uint8_t *grown = realloc(parts->bytes, capacity);
  if (!grown) return false;
  parts->bytes = grown;
  parts->capacity = capacity;
  return true;
}

/* Gets bytes until there are `wanted` of them. */
static wn_status parts_get(struct parts *parts, size_t wanted) {
  while (parts->count < wanted) {
    if (parts->count == parts->capacity && !parts_grow(parts, wanted))
      return error_set(WN_ENOMEM, "marshal read: no memory for the message");
    size_t got = parts->source(parts->bytes + parts->count, parts->capacity - parts->count, parts->context);
    if (!got && !parts->count) return error_set(WN_EIO, "marshal read: there is no message");
    if (!got || got > parts->capacity - parts->count)
      return error_set(WN_EFORMAT, "marshal read: byte %zu: the message ends early", parts->count);
    parts->count += got;
  }
  return WN_OK;
}

static wn_status parts_get_message(struct parts *parts) {
  struct message_header header;
  wn_status status = parts_get(parts, HEADER_SMALL);
  if (status) return status;
  if (big_endian_32(parts->bytes) == MAGIC_BIG) status = parts_get(parts, HEADER_BIG);
  if (status) return status;
  const char *wrong = header_read(&header, parts->bytes, parts->count);
  return wrong ? wrong_header(wrong) : parts_get(parts, header.header_bytes + header.data_bytes);
}

static wn_status marshal_read_parts(wn_domain *domain, struct parts *parts, unsigned flags, const void *frame,
                                    wn_ref *value) {
  wn_blocking_begin(domain);
  wn_status status = parts_get_message(parts);
  wn_blocking_end(domain);
  if (!status) status = read_message(domain, parts->bytes, parts->count, flags, frame, value, NULL);
  free(parts->bytes);
  return status;
}

static size_t get_from_file(void *bytes, size_t size, void *context) {
  return fread(bytes, 1, size, context);
}

/* ---- public ---- */

wn_status wn_marshal_write(wn_domain *domain, wn_ref value, unsigned flags, void **bytes, size_t *size) {
  DEBUG_DOMAIN(domain);
  if (!bytes || !size) return error_set(WN_EINVAL, "marshal write: an argument is NULL");
  uint8_t *message;
  wn_status status = marshal_write_value(domain, value, flags, &message, size);
  if (!status) *bytes = message;
  return status;
}

wn_status wn_marshal_write_to(wn_domain *domain, wn_ref value, unsigned flags, wn_marshal_sink *sink,
                              void *context) {
  DEBUG_DOMAIN(domain);
  if (!sink) return error_set(WN_EINVAL, "marshal write: an argument is NULL");
  uint8_t *message;
  size_t size;
  wn_status status = marshal_write_value(domain, value, flags, &message, &size);
  if (status) return status;
  wn_blocking_begin(domain);
  status = sink(message, size, context);
  free(message);
  wn_blocking_end(domain);
  return status;
}

wn_status wn_marshal_write_file(wn_domain *domain, wn_ref value, unsigned flags, FILE *file) {
  if (!file) return error_set(WN_EINVAL, "marshal write: an argument is NULL");
  return wn_marshal_write_to(domain, value, flags, put_to_file, file);
}

OWN_FRAME wn_status wn_marshal_read(wn_domain *domain, const void *bytes, size_t size, unsigned flags,
                                    wn_ref *value, size_t *used) {
  DEBUG_DOMAIN(domain);
  wn_status status = check_reading(domain, flags, bytes, value);
  if (!status) stress_call(domain);
  if (!status) status = read_message(domain, bytes, size, flags, __builtin_frame_address(0), value, used);
  FRAME_ENDS;
  return status;
}

OWN_FRAME wn_status wn_marshal_read_from(wn_domain *domain, wn_marshal_source *source, void *context,
                                         unsigned flags, wn_ref *value) {
  DEBUG_DOMAIN(domain);
  struct parts parts = {.source = source, .context = context};
  wn_status status = check_reading(domain, flags, source ? value : NULL, value);
  if (!status) status = marshal_read_parts(domain, &parts, flags, __builtin_frame_address(0), value);
  FRAME_ENDS;
  return status;
}

OWN_FRAME wn_status wn_marshal_read_file(wn_domain *domain, FILE *file, unsigned flags, wn_ref *value) {
  DEBUG_DOMAIN(domain);
  struct parts parts = {.source = get_from_file, .context = file};
  wn_status status = check_reading(domain, flags, file, value);
  if (!status) status = marshal_read_parts(domain, &parts, flags, __builtin_frame_address(0), value);
  FRAME_ENDS;
  if (status == WN_EFORMAT && ferror(file)) return error_set(WN_EIO, "marshal read: the file cannot be read");
  return status;
}

wn_status wn_marshal_size(const void *bytes, size_t size, size_t *total) {
  struct message_header header;
  if (!bytes || !total) return error_set(WN_EINVAL, "marshal size: an argument is NULL");
  const char *wrong = header_read(&header, bytes, size);
  if (wrong) return wrong_header(wrong);
  *total = header.header_bytes + header.data_bytes;
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
