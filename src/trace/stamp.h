/* Tells whether a trace that is being written has changed, without reading its records. */
#ifndef TRACE_STAMP_H
#define TRACE_STAMP_H

#include <stdint.h>

/* A number that changes whenever a record is added: a hash of the file's size and of the commit words
 * of all chunks, each of which has the checksum of its chunk's records. (A writer through a mapping
 * need not change the size or the time of the file.) A chunk costs one read of 8 bytes. 0: the file
 * cannot be read. */
uint64_t trace_stamp(const char *path);

#endif
/* SPDX-License-Identifier: MIT */
