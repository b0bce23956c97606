/* The memory that Winnow has from the system, for tests of what is in it, and of how much there is.
 *
 * The program is linked with `--wrap`, so all that Winnow maps and unmaps comes by here, and nothing
 * else does: neither the C library's memory nor a sanitizer's. */
#ifndef TESTS_GC_MAPPINGS_H
#define TESTS_GC_MAPPINGS_H

#include "support/test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

enum { MAPPINGS_MOST = 1 << 14 };

struct mapping {
  char *begin, *end;
};

/* Do not overlap. The lock protects them. */
static struct {
  pthread_mutex_t lock;
  struct mapping of[MAPPINGS_MOST];
  size_t count;
} mappings = {.lock = PTHREAD_MUTEX_INITIALIZER};

static inline void mappings_add(char *begin, char *end) {
  if (begin == end) return;
  if (mappings.count == MAPPINGS_MOST) abort();
  mappings.of[mappings.count++] = (struct mapping){begin, end};
}

/* Cuts the addresses out of all mappings. */
static inline void mappings_cut(char *begin, char *end) {
  for (size_t i = mappings.count; i--;) {
    struct mapping mapping = mappings.of[i];
    if (mapping.end <= begin || mapping.begin >= end) continue;
    mappings.of[i] = mappings.of[--mappings.count];
    if (mapping.begin < begin) mappings_add(mapping.begin, begin);
    if (mapping.end > end) mappings_add(end, mapping.end);
  }
}

void *__real_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
int __real_munmap(void *address, size_t bytes);
void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
int __wrap_munmap(void *address, size_t bytes);

void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
  pthread_mutex_lock(&mappings.lock);
  char *at = __real_mmap(address, bytes, protection, flags, file, offset);
  if (at != MAP_FAILED) mappings_add(at, at + (bytes + 4095) / 4096 * 4096);
  pthread_mutex_unlock(&mappings.lock);
  return at;
}

int __wrap_munmap(void *address, size_t bytes) {
  pthread_mutex_lock(&mappings.lock);
  int result = __real_munmap(address, bytes);
  if (!result) mappings_cut(address, (char *)address + (bytes + 4095) / 4096 * 4096);
  pthread_mutex_unlock(&mappings.lock);
  return result;
}

/* ---- pages in memory ---- */

typedef void mappings_page(const char *page, void *context);

/* Calls `visit` for each page from `begin` to `end` that is in memory. */
static inline void mappings_each_resident(char *begin, const char *end, mappings_page *visit, void *context) {
  enum { PAGES = 4096 };
  unsigned char resident[PAGES];
  for (char *at = begin; at < end;) {
    size_t pages = (size_t)(end - at) / 4096 < PAGES ? (size_t)(end - at) / 4096 : PAGES;
    assert_int_equal(mincore(at, pages * 4096, resident), 0);
    for (size_t i = 0; i < pages; i++)
      if (resident[i] & 1) visit(at + i * 4096, context);
    at += pages * 4096;
  }
}

/* Calls `visit` for each page of Winnow's that is in memory and can be read. No other thread maps or
 * unmaps meanwhile. */
static inline void mappings_each_page(mappings_page *visit, void *context) {
  FILE *file = fopen("/proc/self/maps", "r");
  char line[8192];
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    unsigned long from, to;
    if (sscanf(line, "%lx-%lx r", &from, &to) != 2 || !strstr(line, " rw")) continue;
    for (size_t i = 0; i < mappings.count; i++) {
      char *begin = mappings.of[i].begin, *end = mappings.of[i].end;
      if (begin < (char *)from) begin = (char *)from;
      if (end > (char *)to) end = (char *)to;
      if (begin < end) mappings_each_resident(begin, end, visit, context);
    }
  }
  fclose(file);
}

static inline void mappings_count_page(const char *page, void *context) {
  (void)page;
  *(size_t *)context += 4096;
}

/* The bytes of Winnow's that are in memory. */
static inline size_t mappings_resident(void) {
  size_t bytes = 0;
  mappings_each_page(mappings_count_page, &bytes);
  return bytes;
}

/* How many mappings the process has, which the system limits. */
static inline long mappings_of_process(void) {
  long lines = 0;
  FILE *file = fopen("/proc/self/maps", "r");
  assert_non_null(file);
  for (int c; (c = fgetc(file)) != EOF;) lines += c == '\n';
  fclose(file);
  return lines;
}

#endif
/* SPDX-License-Identifier: MIT */
