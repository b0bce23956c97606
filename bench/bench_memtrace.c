/* How fast are Memtrace files read? Prints megabytes and millions of events a second of processor time,
 * for the events with their codes, and for the source, whose stacks are nodes.
 *
 *   bench_memtrace FILE [MEGABYTES [DOMAINS]]
 *
 * With a size it first makes the file: a program of 5,000 call sites that allocates from 4,096
 * stacks of some 100 frames, one after the other with some chance for another. */
#include "memtrace/reader.h"
#include "sources/memtrace_codes.h"
#include "sources/traces/memtrace_trace.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

enum { DEPTH_MOST = 200, SITES = 5000, STACKS = 4096, DOMAINS_MOST = 8, ROUNDS = 3 };

static const uint64_t BEGIN_US = 1700000000000000;

static uint64_t state = 1;

static uint64_t number_below(uint64_t bound) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % bound;
}

struct stack {
  uint64_t codes[DEPTH_MOST];
  size_t depth;
};

/* The stack after some calls have returned and others were made. */
static void vary(struct stack *stack, const struct stack *before) {
  *stack = *before;
  size_t left = number_below(20);
  stack->depth -= left < stack->depth ? left : stack->depth;
  size_t target = stack->depth + number_below(22);
  for (; stack->depth < target && stack->depth < DEPTH_MOST; stack->depth++) {
    uint64_t caller = stack->depth ? stack->codes[stack->depth - 1] : 0;
    stack->codes[stack->depth] = (caller * 31 + (number_below(10) ? 0 : number_below(8))) % SITES + 10;
  }
}

static void make(const char *path, size_t bytes, unsigned domain_count) {
  struct memtrace_writer writer;
  struct writer_domain *domains[DOMAINS_MOST];
  static struct stack stacks[STACKS];
  size_t at[DOMAINS_MOST] = {0};
  uint64_t now_us = BEGIN_US;
  codes_begin(&writer, 3, 1e-4, BEGIN_US);
  for (unsigned i = 0; i < domain_count; i++) domains[i] = writer_domain_begin(&writer, i, BEGIN_US);
  for (size_t i = 1; i < STACKS; i++) vary(&stacks[i], &stacks[i - 1]);
  while (writer.file.count < bytes) {
    unsigned i = (unsigned)number_below(domain_count);
    at[i] = number_below(8) ? (at[i] + 1) % STACKS : number_below(STACKS);
    uint64_t block =
        writer_allocate(&writer, domains[i], now_us += number_below(200), 1 + (int64_t)number_below(30), 1,
                        WRITER_MINOR, stacks[at[i]].codes, stacks[at[i]].depth);
    if (number_below(4) == 0)
      writer_promote(&writer, domains[i], now_us, block - number_below(block % 10000 + 1));
    writer_collect(&writer, domains[i], now_us, block - number_below(block % 10000 + 1));
  }
  for (unsigned i = 0; i < domain_count; i++) writer_domain_end(&writer, domains[i]);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(writer.file.bytes, 1, writer.file.count, file) != writer.file.count || fclose(file))
    fprintf(stderr, "bench_memtrace: cannot write %s\n", path), exit(1);
  memtrace_writer_end(&writer);
}

static uint64_t read_events(const char *path) {
  struct memtrace_reader *reader;
  struct memtrace_event event;
  uint64_t count = 0;
  if (memtrace_reader_open(path, &reader)) fprintf(stderr, "%s\n", wn_last_error()), exit(1);
  while (memtrace_reader_next(reader, &event)) count++;
  memtrace_reader_close(reader);
  return count;
}

static uint64_t read_source(const char *path) {
  struct source *source;
  struct trace_event event;
  uint64_t count = 0;
  if (memtrace_trace_open(path, &source)) fprintf(stderr, "%s\n", wn_last_error()), exit(1);
  while (source_next(source, &event)) count++;
  source_close(source);
  return count;
}

/* Prints the best of some rounds. */
static void measure(const char *what, const char *path, double bytes, uint64_t (*read)(const char *)) {
  uint64_t best = UINT64_MAX, count = 0;
  for (int i = 0; i < ROUNDS; i++) {
    clock_t begin = clock();
    count = read(path);
    uint64_t took = (uint64_t)(clock() - begin) * (1000000000 / CLOCKS_PER_SEC);
    if (took < best) best = took;
  }
  printf("%-8s %6.0f MB/s, %5.1f million events/s\n", what, bytes * 1e3 / (double)best,
         (double)count * 1e3 / (double)best);
}

int main(int argc, char **argv) {
  struct stat found;
  if (argc < 2) return fprintf(stderr, "bench_memtrace FILE [MEGABYTES [DOMAINS]]\n"), 2;
  unsigned domains = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1;
  if (!domains || domains > DOMAINS_MOST) return 2;
  if (argc > 2) make(argv[1], (size_t)strtoul(argv[2], NULL, 10) * 1000000, domains);
  if (stat(argv[1], &found)) return perror(argv[1]), 1;
  measure("events", argv[1], (double)found.st_size, read_events);
  measure("source", argv[1], (double)found.st_size, read_source);
  return 0;
}
/* SPDX-License-Identifier: MIT */
