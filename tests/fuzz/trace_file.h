/* Any bytes as the file of a trace, for fuzzers.
 *
 * The input is taken as a file. So that a fuzzer need not find checksums, each place of a chunk
 * that begins with our magic gets the right one first, unless the first byte of the input is odd;
 * that byte is not part of the file. If its second bit is set, the chunks are left damaged, and
 * each checkpoint gets the right checksum instead; if its third is set too, the headers stay as
 * they are. Corpus files are therefore one byte longer than a trace. */
#ifndef TESTS_FUZZ_TRACE_FILE_H
#define TESTS_FUZZ_TRACE_FILE_H

#include "bound.h"

#include "base/hash.h"
#include "trace/chunk.h"
#include "trace/codec.h"
#include "trace/event.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Makes the header at `offset` one that the reader looks behind. */
static void mend(uint8_t *file, size_t count, size_t offset, unsigned sequence) {
  struct chunk_header header;
  memcpy(&header, file + offset, sizeof header);
  uint32_t most = (uint32_t)(count - offset - sizeof header);
  uint32_t room = (1u << CHUNK_LOG2_LEAST) - (uint32_t)sizeof header;
  uint32_t used = most < room ? most : room;
  header.version = TRACE_VERSION;
  header.capacity_log2 = CHUNK_LOG2_LEAST;
  header.header_bytes = CHUNK_HEADER_BYTES;
  header.sequence = sequence;
  header.run_id = 0;
  memcpy(header.magic, chunk_magic, sizeof chunk_magic);
  header.commit = commit_word(used, crc32c(chunk_header_crc(&header), file + offset + sizeof header, used));
  memcpy(file + offset, &header, sizeof header);
}

static void mend_all(uint8_t *file, size_t count) {
  for (unsigned i = 0; ((size_t)i << CHUNK_LOG2_LEAST) + CHUNK_HEADER_BYTES < count; i++)
    mend(file, count, (size_t)i << CHUNK_LOG2_LEAST, i);
}

/* Makes a checkpoint at each of their marks vouch for the bytes before it. */
static void mend_checkpoints(uint8_t *file, size_t count) {
  static const uint8_t mark[] = {0xc5, 0x9e, 0xa7, 0xd3};
  for (size_t at = 2; at + sizeof mark < count; at++) {
    size_t end = at + file[at - 1];
    if (memcmp(file + at, mark, sizeof mark) || file[at - 1] < sizeof mark + 12 || end > count) continue;
    file[at - 2] = TRACE_RECORD_CHECKPOINT | 128;
    struct byte_source source = {.at = file + at + sizeof mark, .end = file + end};
    uint64_t bytes = get_varint(&source);
    uint32_t start, crc;
    if (source.bad || bytes > at - 2) continue;
    memcpy(&start, file + end - 8, sizeof start);
    crc = crc32c(start, file + at - 2 - bytes, end - 4 - (at - 2 - bytes));
    memcpy(file + end - 4, &crc, sizeof crc);
  }
}

static void spoil_commits(uint8_t *file, size_t count) {
  for (size_t at = 0; at + CHUNK_HEADER_BYTES <= count; at += (size_t)1 << CHUNK_LOG2_LEAST)
    file[at + 63] ^= 1;
}

/* The path of the input as a file; NULL if it is empty. */
static const char *fuzz_file(const uint8_t *bytes, size_t count) {
  static int fd = -1;
  static char path[64];
  if (fd < 0) {
    fd = memfd_create("trace", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  }
  if (!count) return NULL;
  uint8_t *file = malloc(count);
  if (!file) return NULL;
  memcpy(file, bytes + 1, count - 1);
  if (!(bytes[0] & 1) && (bytes[0] & 6) != 6) mend_all(file, count - 1);
  if (!(bytes[0] & 1) && bytes[0] & 2) {
    mend_checkpoints(file, count - 1);
    spoil_commits(file, count - 1);
  }
  if (ftruncate(fd, 0) || pwrite(fd, file, count - 1, 0) != (ssize_t)(count - 1)) abort();
  free(file);
  return path;
}

#endif
/* SPDX-License-Identifier: MIT */
