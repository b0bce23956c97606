/* Writes Memtrace files for tests and measurements, as the profiler of that name does: packets of
 * several domains, stacks by the cache, names by the lists. What a code stands for follows from the
 * code alone (memtrace_writer_places), so a reader's names can be checked. */
#ifndef TESTS_SOURCES_MEMTRACE_WRITER_H
#define TESTS_SOURCES_MEMTRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WRITER_PLACES_MOST = 300, WRITER_NAMES = 31, WRITER_SLOTS = 16384, WRITER_PACKET = 32768 };

struct writer_place {
  char file[24], function[24];
  int line, start, end;
};

/* The places of a code, outermost first; code 1 has none, and code 2 more than can be written. */
size_t memtrace_writer_places(uint64_t code, struct writer_place places[WRITER_PLACES_MOST]);

struct writer_list {
  char names[WRITER_NAMES][24];
  size_t count;
};

struct writer_bytes {
  unsigned char *bytes;
  size_t count, capacity;
};

struct writer_domain {
  unsigned id;
  uint64_t code[WRITER_SLOTS], date[WRITER_SLOTS];
  uint16_t next[WRITER_SLOTS];
  unsigned verify;
  uint64_t verify_code;
  uint16_t verify_slot, verify_next;
  uint64_t *stack;
  size_t depth;
  struct writer_list files, functions[WRITER_NAMES];
  struct writer_bytes packet;
  uint64_t begin_us, last_us, first_block, next_block, chunk_end;
  uint64_t queue[4096];
  size_t queued;
};

struct memtrace_writer {
  struct writer_bytes file;
  unsigned version;
  uint64_t begin_us, pid, next_chunk;
};

enum writer_source { WRITER_MINOR, WRITER_MAJOR, WRITER_EXTERNAL };

void memtrace_writer_begin(struct memtrace_writer *writer, unsigned version, double rate, uint64_t begin_us);
void memtrace_writer_end(struct memtrace_writer *writer); /* frees the bytes */

/* A domain whose first event is at `begin_us` or later. The caller frees it by writer_domain_end, which
 * writes what is left. */
struct writer_domain *writer_domain_begin(struct memtrace_writer *writer, unsigned id, uint64_t begin_us);
void writer_domain_end(struct memtrace_writer *writer, struct writer_domain *domain);

/* Write an event. Times are microseconds since 1970. The first gives the block's number. */
uint64_t writer_allocate(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us,
                         int64_t length, int64_t samples, enum writer_source source, const uint64_t *codes,
                         size_t depth);
void writer_promote(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us,
                    uint64_t block);
void writer_collect(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us,
                    uint64_t block);

/* Writes the packets that are not full. */
void writer_flush(struct memtrace_writer *writer, struct writer_domain *domain, uint64_t time_us);

#endif
/* SPDX-License-Identifier: MIT */
