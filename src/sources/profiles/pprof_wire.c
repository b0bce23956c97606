/* Reads keys, varints and bytes. */
#include "sources/profiles/pprof_wire.h"

#include "base/array.h"
#include <stdlib.h>

enum wire_type { VARINT, FIXED64, BYTES, FIXED32 = 5 };

/* No field of a profile has more bytes: a stack of a million frames has fewer. */
enum { FIELD_MOST = 16 << 20 };

/* A varint has at most ten bytes, and 64 bits. */
static bool add_byte(uint64_t *value, unsigned place, unsigned char byte) {
  if (place > 9 || (place == 9 && byte > 1)) return false;
  *value |= (uint64_t)(byte & 0x7f) << (7 * place);
  return true;
}

static bool read_varint(struct wire *wire, uint64_t *value) {
  *value = 0;
  for (unsigned place = 0; wire->at < wire->end; place++) {
    unsigned char byte = *wire->at++;
    if (!add_byte(value, place, byte)) break;
    if (byte < 0x80) return true;
  }
  wire->bad = true;
  return false;
}

/* A number of `count` bytes, the lowest first; of a field that no profile has. */
static bool skip_fixed(struct wire *wire, size_t count) {
  wire->bad = (size_t)(wire->end - wire->at) < count;
  if (!wire->bad) wire->at += count;
  return !wire->bad;
}

static bool pprof_wire_read_value(struct wire *wire, uint64_t key, struct wire_field *field) {
  *field = (struct wire_field){.number = (unsigned)(key >> 3)};
  if (!field->number || key >> 32) return wire->bad = true, false;
  switch ((enum wire_type)(key & 7)) {
  case VARINT: return read_varint(wire, &field->value);
  case FIXED64: return skip_fixed(wire, 8);
  case FIXED32: return skip_fixed(wire, 4);
  case BYTES: {
    uint64_t length;
    if (!read_varint(wire, &length)) return false;
    if (length > (size_t)(wire->end - wire->at)) return wire->bad = true, false;
    field->is_bytes = true;
    field->bytes = wire->at;
    field->length = (size_t)length;
    wire->at += length;
    return true;
  }
  default: return wire->bad = true, false;
  }
}

/* ---- the outer message ---- */

/* False at the end; `bad` if that is within a number. */
static bool stream_varint(struct wire_stream *stream, uint64_t *value) {
  *value = 0;
  for (unsigned place = 0;; place++) {
    int byte = inflated_byte(stream->file);
    if (byte < 0 && !place) return false;
    if (byte < 0 || !add_byte(value, place, (unsigned char)byte)) return stream->bad = true, false;
    if (byte < 0x80) return true;
  }
}

static bool pprof_wire_has_room(struct wire_stream *stream, size_t length) {
  bool room = array_reserve(&stream->bytes, &stream->capacity, length + 1, 1); /* not NULL */
  if (!room) stream->no_memory = true;
  return room;
}

/* Reads the bytes of a field, or skips them. */
static bool stream_bytes(struct wire_stream *stream, bool wanted, struct wire_field *field) {
  uint64_t length;
  if (!stream_varint(stream, &length) || (wanted && length > FIELD_MOST)) return stream->bad = true, false;
  if (wanted && !pprof_wire_has_room(stream, (size_t)length)) return false;
  field->is_bytes = true;
  field->bytes = stream->bytes;
  field->length = (size_t)length;
  stream->bad = inflated_read(stream->file, wanted ? stream->bytes : NULL, length) < length;
  return !stream->bad;
}

static bool stream_value(struct wire_stream *stream, uint64_t key, bool wanted, struct wire_field *field) {
  uint64_t fixed = (key & 7) == FIXED64 ? 8 : 4;
  *field = (struct wire_field){.number = (unsigned)(key >> 3)};
  switch ((enum wire_type)(key & 7)) {
  case VARINT: stream->bad = !stream_varint(stream, &field->value); return !stream->bad;
  case BYTES: return stream_bytes(stream, wanted, field);
  case FIXED64:
  case FIXED32: stream->bad = inflated_read(stream->file, NULL, fixed) < fixed; return !stream->bad;
  default: return stream->bad = true, false;
  }
}

/* ---- shared ---- */

bool wire_next(struct wire *wire, struct wire_field *field) {
  uint64_t key;
  return !wire->bad && wire->at < wire->end && read_varint(wire, &key) &&
         pprof_wire_read_value(wire, key, field);
}

bool wire_packed(struct wire *wire, uint64_t *value) {
  return !wire->bad && wire->at < wire->end && read_varint(wire, value);
}

bool wire_stream_next(struct wire_stream *stream, uint64_t wanted, struct wire_field *field) {
  uint64_t key;
  while (!stream->bad && !stream->no_memory && stream_varint(stream, &key)) {
    unsigned number = (unsigned)(key >> 3);
    if (!number || key >> 32) return stream->bad = true, false;
    bool is_wanted = number < 64 && wanted >> number & 1;
    if (!stream_value(stream, key, is_wanted, field)) return false;
    if (is_wanted) return true;
  }
  return false;
}

void wire_stream_destroy(struct wire_stream *stream) { free(stream->bytes); }
/* SPDX-License-Identifier: MIT */
