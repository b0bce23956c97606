/* Puts a chunk with one record into a trace. */
#include "trace/lone_chunk.h"

#include "base/hash.h"
#include "base/os.h"
#include "trace/encoder.h"
#include <stdlib.h>
#include <string.h>

struct lone {
  struct encoder encoder;
  union {
    struct chunk_header header;
    unsigned char bytes[LONE_BYTES];
  };
};

bool lone_chunk_write(int descriptor, const struct chunk_header *fields, enum trace_record record,
                      const void *event) {
  struct lone *lone = calloc(1, sizeof *lone);
  if (!lone) return false;
  unsigned char *begin = lone->bytes + CHUNK_HEADER_BYTES;
  uint32_t crc = chunk_begin(&lone->header, fields);
  encoder_begin(&lone->encoder, begin, lone->bytes + LONE_BYTES, &lone->header);
  bool put = encoder_put(&lone->encoder, record, event);
  size_t count = (size_t)(lone->encoder.sink.at - begin);
  lone->header.commit = commit_word((uint32_t)count, crc32c(crc, begin, count));
  put =
      put && os_write_at(descriptor, lone->bytes, CHUNK_HEADER_BYTES + count, fields->sequence * CHUNK_BYTES);
  free(lone);
  return put;
}

bool lone_chunk_begins(const unsigned char *records, enum trace_record record) {
  const unsigned char begin[LONE_BEGIN_BYTES] = {TRACE_RECORD_THREAD, 0, (unsigned char)(record | 128u)};
  return !memcmp(records, begin, sizeof begin);
}
/* SPDX-License-Identifier: MIT */
