/* What does one record cost the thread that writes it? Prints nanoseconds a sample on a repeated
 * stack, by threads.
 *
 *   bench_trace_writer [FILE]
 *
 * FILE is on the disk in question; by default bench.trace, which is removed afterwards. */
#include "base/os.h"
#include "base/words.h"
#include "support/tree_source.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RECORDS = 2000000, THREADS_MOST = 4, ROUNDS = 3 };

static void give_node(void *context, uint32_t node, uint32_t *parent, uint32_t *module, uint64_t *offset) {
  (void)context;
  *parent = node - 1; /* 20 deep at most */
  *module = 1;
  *offset = node * 4096u;
}

static void give_module(void *context, uint32_t module, struct trace_module *out) {
  (void)context;
  *out = (struct trace_module){
      .base = module * 0x100000u, .size = 0x100000, .path = trace_text_of("/bin/program")};
}

struct work {
  struct trace_writer *writer;
  uint32_t thread;
  uint64_t records;
};

static void *write_samples(void *argument) {
  const struct work *work = argument;
  for (uint64_t i = 0; i < work->records; i++) {
    struct trace_sample sample = {
        .time_ns = 50000 * i, .thread = work->thread, .stack = 20, .block = i, .size = 100};
    sample.words = malloc_words(sample.size);
    sample.n_samples = 1;
    tree_write_sample(work->writer, &sample);
  }
  return NULL;
}

static struct trace_writer *open_writer(const char *path) {
  const struct tree_source source = {.node = give_node, .module = give_module};
  struct trace_options options = {.path = path};
  struct trace_run run = {.rate = 1e-4, .word_bytes = 8};
  run.command = run.host = run.heap = run.version = trace_text_of("bench");
  struct trace_writer *writer;
  if (!tree_writer_open(&options, &run, &source, &writer)) return writer;
  fprintf(stderr, "bench_trace_writer: %s\n", wn_last_error());
  exit(1);
}

static double measure(const char *path, unsigned threads) {
  struct trace_writer *writer = open_writer(path);
  struct work work[THREADS_MOST];
  pthread_t ids[THREADS_MOST];
  uint64_t before = os_monotonic_ns();
  for (unsigned i = 0; i < threads; i++) {
    work[i] = (struct work){.writer = writer, .thread = i, .records = RECORDS / threads};
    if (pthread_create(&ids[i], NULL, write_samples, &work[i])) abort();
  }
  for (unsigned i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  uint64_t time = os_monotonic_ns() - before;
  if (trace_writer_lost(writer)) fprintf(stderr, "bench_trace_writer: records were lost\n");
  trace_writer_close(writer);
  unlink(path);
  return (double)time / (double)(RECORDS / threads);
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "bench.trace";
  for (unsigned threads = 1; threads <= THREADS_MOST; threads *= 2) {
    double best = measure(path, threads);
    for (int i = 1; i < ROUNDS; i++) {
      double time = measure(path, threads);
      if (time < best) best = time;
    }
    printf("%u threads: %.1f ns a sample record, for each thread (best of %d)\n", threads, best, ROUNDS);
  }
  return 0;
}
/* SPDX-License-Identifier: MIT */
