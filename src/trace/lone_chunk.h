/* A chunk with one record, which a process that is not the recorder puts into a trace. */
#ifndef TRACE_LONE_CHUNK_H
#define TRACE_LONE_CHUNK_H

#include "trace/chunk.h"
#include "trace/event.h"

/* Writes it at its place by one call. `fields` as for chunk_begin; the record has neither a stack
 * nor long texts. False without memory, or with errno if the file cannot be written. */
bool lone_chunk_write(int descriptor, const struct chunk_header *fields, enum trace_record record,
                      const void *event);

/* A lone chunk has at most LONE_BYTES, with its header. */
enum { LONE_BEGIN_BYTES = 3, LONE_BYTES = 512 };

/* Whether a chunk's records, of which there are LONE_BEGIN_BYTES, begin as those of a lone chunk
 * with such a record. */
bool lone_chunk_begins(const unsigned char *records, enum trace_record record);

#endif
/* SPDX-License-Identifier: MIT */
