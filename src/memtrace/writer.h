/* Writes files of Memtrace, byte by byte as that program's own recorder does: packets of several
 * domains, stacks by a cache, names by lists. `memtrace.c` exports by it.
 *
 * BYTES. The packets that are complete stand in `file`, which the caller writes away and empties
 * when it likes. A domain's packet is complete when no event of the largest size has room behind
 * it, when more than 128 codes have yet to be described, 30 s after its first event, or when the
 * domain has used up its numbers of blocks. Before it come the descriptions of the codes that it is
 * the first to use. Equal calls make equal bytes.
 *
 * MEMORY. Without memory `failed` is set, and the bytes are of no use. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of this size are limits of the format. */
enum { WRITER_NAMES = 31, WRITER_SLOTS = 16384, WRITER_PACKET = 32768, WRITER_PLACES_MOST = 255 };

/* One of the places that a code stands for: several if functions were inlined there. A number that
 * is too large for the format is written as the largest one. */
struct writer_place {
  const char *file, *function;
  uint32_t line, start, end; /* the columns */
};

/* Sets `places` to the places of a code, outermost first, and returns their number. They are valid
 * until the next call. */
typedef size_t writer_places(void *context, uint64_t code, const struct writer_place **places);

struct writer_bytes {
  unsigned char *bytes;
  size_t count, capacity;
  bool failed;
};

/* Names, the last one used first. */
struct writer_list {
  char *names[WRITER_NAMES];
  size_t count;
};

struct writer_domain {
  unsigned id;
  /* The cache: what a slot has, when it was used, and the slot that came after it. */
  uint64_t code[WRITER_SLOTS], date[WRITER_SLOTS];
  uint16_t next[WRITER_SLOTS];
  /* What readers check at the begin of the packet. */
  unsigned verify;
  uint64_t verify_code;
  uint16_t verify_slot, verify_next;
  uint64_t *stack; /* of the last allocation, outermost first */
  size_t depth, stack_capacity;
  struct writer_list files, functions[WRITER_NAMES]; /* functions: by the file's place in the list */
  struct writer_bytes packet, codewords;
  uint64_t begin_us, last_us, first_block, next_block, chunk_end;
  uint64_t queue[4096]; /* codes to describe */
  size_t queued;
};

struct memtrace_writer {
  struct writer_bytes file;
  unsigned version;
  uint64_t pid, next_chunk;
  writer_places *places;
  void *context;
};

/* What the file says of the run. */
struct writer_run {
  double rate; /* the chance of a word to be sampled */
  unsigned word_bits, domain;
  const char *executable, *host, *parameters, *context;
  uint64_t pid, begin_us; /* since 1970, as all times */
};

enum writer_source { WRITER_MINOR, WRITER_MAJOR, WRITER_EXTERNAL };

/* `version` is 1 to 3; the first has no context, and only the third has several domains. */
void memtrace_writer_begin(struct memtrace_writer *writer, unsigned version, const struct writer_run *run,
                           writer_places *places, void *context);
void memtrace_writer_end(struct memtrace_writer *writer); /* frees the bytes */

/* A domain whose first event is at `begin_us` or later; NULL without memory. The caller frees it by
 * writer_domain_end, which completes its last packet. */
struct writer_domain *writer_domain_begin(struct memtrace_writer *writer, unsigned id, uint64_t begin_us);
void writer_domain_end(struct memtrace_writer *writer, struct writer_domain *domain);

/* Write an event; the time is not before that of the domain's last one. An allocation has the codes
 * of its stack, outermost first, none of them 0, and gets the number that is returned: numbers of a
 * domain grow. A block can be promoted only by the domain that allocated it. */
uint64_t writer_allocate(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us,
                         int64_t length, int64_t samples, enum writer_source source, const uint64_t *codes,
                         size_t depth);
void writer_promote(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us,
                    uint64_t block);
void writer_collect(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us,
                    uint64_t block);

/* Completes the domain's packet. */
void writer_flush(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us);
/* SPDX-License-Identifier: MIT */
