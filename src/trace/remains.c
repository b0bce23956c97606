/* A chunk's checksum covers all of it, so a file that is cut within its first chunk has nothing
 * that can be checked, and what cannot be checked is not read. But the user wants to know which
 * trace that was: the RUN record, which stands first, is decoded for the message alone.
 */
#include "trace/remains.h"

#include "base/error.h"
#include "trace/chunk.h"
#include "trace/decoder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { COMMAND_MOST = 64, KNOWN_BYTES = 160 };

struct remains {
  unsigned char *bytes; /* of the first chunk */
  size_t count;
  uint64_t file_bytes;
  uint32_t used; /* record bytes that were there, as far as the header tells */
};

/* ---- which trace it was ---- */

/* The program and its arguments, with blanks between. */
static void write_command(char *text, size_t size, const struct trace_text *command) {
  size_t length = 0;
  for (uint32_t i = 0; i < command->length && length + 4 < size; i++) {
    char byte = command->bytes[i];
    if (!byte && i + 1 == command->length) break;
    text[length++] = byte ? byte : ' ';
  }
  strcpy(text + length, length + 4 >= size ? "..." : "");
}

/* "ls -l (process 4711, begun 2026-11-21 21:45:27)"; empty if the record is not there. */
static void write_known(char known[KNOWN_BYTES], const struct remains *remains) {
  struct decoder decoder = {0}; /* without a table: RUN needs none */
  struct trace_event event;
  struct trace_run run;
  char command[COMMAND_MOST], date[64];
  size_t there = remains->count - CHUNK_HEADER_BYTES;
  const unsigned char *records = remains->bytes + CHUNK_HEADER_BYTES;
  *known = 0;
  if (!there || records[0] != (TRACE_RECORD_RUN | 0x80)) return;
  decoder_begin(&decoder, records, there, 0, 0);
  if (decoder_next(&decoder, &event, &run) == DECODER_RUN && run.command.length) {
    time_t began = (time_t)(run.wall_ns / 1000000000u);
    struct tm parts;
    write_command(command, sizeof command, &run.command);
    if (!localtime_r(&began, &parts) || !strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &parts)) *date = 0;
    snprintf(known, KNOWN_BYTES, "%s (process %u, begun %s)", command, run.pid, date);
  }
  decoder_destroy(&decoder);
}

/* ---- what became of it ---- */

static wn_status explain_remains(const char *path, const struct remains *remains) {
  char known[KNOWN_BYTES];
  uint32_t used = 0;
  if (remains->count < CHUNK_HEADER_BYTES)
    return error_set(
        WN_EFORMAT,
        "%s is a Winnow trace cut off after %zu bytes, so that nothing is left to read; record again", path,
        remains->count);
  if (memcmp(remains->bytes, chunk_magic, sizeof chunk_magic) != 0)
    return error_set(WN_EFORMAT, "%s is a damaged Winnow trace, no piece of it is whole; record again", path);
  enum chunk_state state = chunk_check(remains->bytes, remains->count, &used);
  if (state == CHUNK_UNUSED || (state == CHUNK_WHOLE && !used))
    return error_set(WN_EFORMAT, "%s is a Winnow trace that ended before its first record; record again",
                     path);
  write_known(known, remains);
  const char *of = *known ? " of " : "";
  if (remains->used > remains->file_bytes - CHUNK_HEADER_BYTES)
    return error_set(
        WN_EFORMAT,
        "%s is a Winnow trace%s%s, cut off after %llu bytes in its first piece, so that nothing of it can be "
        "checked; copy the whole file, or record again",
        path, of, known, (unsigned long long)remains->file_bytes);
  return error_set(WN_EFORMAT, "%s is a damaged Winnow trace%s%s, no piece of it is whole; record again",
                   path, of, known);
}

/* ---- shared ---- */

wn_status remains_explain(int descriptor, const char *path, uint64_t size) {
  struct remains remains = {.count = size < CHUNK_BYTES ? (size_t)size : CHUNK_BYTES};
  struct chunk_header *header = calloc(1, sizeof *header + remains.count);
  if (!header) return error_set(WN_ENOMEM, "no memory to read a trace");
  remains.bytes = (unsigned char *)header;
  ssize_t got = pread(descriptor, remains.bytes, remains.count, 0);
  remains.count = got > 0 ? (size_t)got : 0;
  remains.file_bytes = remains.count < size ? size : remains.count;
  remains.used = (uint32_t)header->commit;
  wn_status status = explain_remains(path, &remains);
  free(header);
  return status;
}
/* SPDX-License-Identifier: MIT */
