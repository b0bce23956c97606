/* The wire format of protocol buffers, read without their description: fields with a number, each a
 * number or bytes. The outer message is a stream, of which only one field is in memory. */
#pragma once

#include "sources/profiles/inflated.h"

struct wire_field {
  unsigned number;
  bool is_bytes;
  uint64_t value;             /* of a number */
  const unsigned char *bytes; /* else; valid until the next field of the outer message is read */
  size_t length;
};

/* A message in memory. */
struct wire {
  const unsigned char *at, *end;
  bool bad; /* the bytes are no message */
};
static inline struct wire wire_of(const struct wire_field *field) {
  return (struct wire){field->bytes, field->bytes + field->length, false};
}

/* The next field; false at the end, or when the message is bad. */
bool wire_next(struct wire *wire, struct wire_field *field);

/* The next of the numbers that are packed one behind the other. */
bool wire_packed(struct wire *wire, uint64_t *value);

/* The outer message. Zeros but for the file are its beginning. */
struct wire_stream {
  struct inflated *file;
  unsigned char *bytes;
  size_t capacity;
  bool bad, no_memory;
};

/* The next field for which `wanted` has the bit with its number; false at the end, or on a fault. */
bool wire_stream_next(struct wire_stream *stream, uint64_t wanted, struct wire_field *field);
void wire_stream_destroy(struct wire_stream *stream);
/* SPDX-License-Identifier: MIT */
