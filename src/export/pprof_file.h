/* The file of a pprof profile: a gzip'd message. Its parts are written as soon as they are
 * known, since messages behind one another are one message to their readers (protobuf merges
 * them). Texts and functions get their numbers when they are first asked for. */
#pragma once

#include "analysis/load/strings.h"
#include "pprof.pb-c.h"
#include <stdio.h>
#include <winnow/status.h>
#include <zlib.h>

struct pprof {
  ProtobufCBuffer buffer; /* takes the bytes of messages, and compresses them */
  FILE *out;
  z_stream stream;
  unsigned char compressed[1 << 14];
  struct strings *texts;                 /* the string table */
  struct strings *functions, *locations; /* descriptions; their numbers are the ids */
  wn_status error;                       /* of the first failure; what follows has no effect */
};

/* WN_ENOMEM. */
wn_status pprof_open(struct pprof *pprof, FILE *out);

/* Writes the string table and the end of the file, and closes it in any case. Returns the first
 * error; those of the stream are left to the caller (ferror). */
wn_status pprof_close(struct pprof *pprof);

/* Writes a part of the message. */
void pprof_put(struct pprof *pprof, const Pprof__Profile *part);

/* Write one sample type, mapping, location, and sample; locations of a sample are innermost first.
 */
void pprof_put_type(struct pprof *pprof, const char *type, const char *unit);
void pprof_put_mapping(struct pprof *pprof, Pprof__Mapping *mapping);
void pprof_put_location(struct pprof *pprof, Pprof__Location *location);
void pprof_put_sample(struct pprof *pprof, uint64_t *locations, size_t count, int64_t *values,
                      size_t value_count);
void pprof_put_comment(struct pprof *pprof, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The number of a text. What a terminal obeys, and bytes that are no UTF-8, become '?'. */
int64_t pprof_text(struct pprof *pprof, const char *text);

/* The id of a function, which is written when it is new. NULL: unknown. */
uint64_t pprof_function(struct pprof *pprof, const char *name, const char *linkage, const char *file);

/* The id of what has such a description: `locations`. Sets *is_new if it is met for the first
 * time. */
uint64_t pprof_number(struct pprof *pprof, struct strings *set, const char *description, bool *is_new);
/* SPDX-License-Identifier: MIT */
