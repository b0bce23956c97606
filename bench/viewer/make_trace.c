/* Writes a large trace that looks like that of a server: make_trace SAMPLES FILE [collected]
 * 10 minutes, 200,000 places on stacks (fewer for fewer samples), 8,000 functions in 40 files and 6
 * modules, 12 threads; sizes and lives over many decades; a cache that grows, a peak at two thirds. */
#include "base/random.h"
#include "base/words.h"
#include "support/tree_source.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 8000, MODULES = 6, THREADS = 12 };

static const double run_ns = 600e9, rate = 1e-4;

static uint32_t node_count;
static uint32_t *parents, *functions;

static const char *const modules[MODULES] = {"server",       "libdb.so.3", "libhttp.so.2",
                                             "libjson.so.1", "[crypto]",   "[libc]"};

static void node(void *context, uint32_t number, uint32_t *parent, uint32_t *module, uint64_t *offset) {
  (void)context;
  *parent = parents[number];
  *module = functions[number] % MODULES + 1;
  *offset = functions[number] + 1;
}

static void module(void *context, uint32_t number, struct trace_module *out) {
  (void)context;
  *out = (struct trace_module){.base = TRACE_LANGUAGE_BASE + number * 0x100000u, .size = 0x100000};
  out->bias = out->base;
  out->path = trace_text_of(modules[number - 1]);
}

static bool place(void *context, uint32_t number, uint64_t offset, struct trace_place *out) {
  static char function[96], file[64];
  static const char *const verbs[] = {"parse", "read", "insert", "grow", "copy", "encode", "find", "append"},
                           *const nouns[] = {"request", "row",     "buffer", "node",
                                             "page",    "session", "key",    "list"};
  (void)context;
  uint64_t f = offset - 1;
  snprintf(function, sizeof function, "%s::%s_%s_%llu", modules[number - 1], verbs[f % 8], nouns[f / 8 % 8],
           (unsigned long long)f);
  snprintf(file, sizeof file, "/src/%s/%s_%llu.cc", modules[number - 1], nouns[f / 8 % 8],
           (unsigned long long)(f % 40));
  *out = (struct trace_place){
      .function = trace_text_of(function), .file = trace_text_of(file), .line = (uint32_t)(f % 900 + 1)};
  return true;
}

/* Stacks: a tree in which a node's caller is one of the recent ones, so that depths reach some
 * dozens; popular functions are called from many places. */
static void make_nodes(struct random *random) {
  parents = calloc(node_count + 1, sizeof *parents);
  functions = calloc(node_count + 1, sizeof *functions);
  if (!parents || !functions) exit(1);
  for (uint32_t i = 1; i <= node_count; i++) {
    double u = random_unit(random);
    parents[i] = i < 8 ? i - 1 : (uint32_t)(u * sqrt(u) * (i - 1)) + 1;
    if (parents[i] >= i) parents[i] = i - 1;
    functions[i] = (uint32_t)(pow(random_unit(random), 3) * (FUNCTIONS - 1));
  }
}

static uint64_t draw_size(struct random *random) {
  double u = random_unit(random);
  if (u < 0.6) return 16 * (1 + random_bits(random) % 16);
  if (u < 0.95) return (uint64_t)exp2(8 + 8 * random_unit(random));
  return (uint64_t)exp2(16 + 8 * random_unit(random));
}

static double draw_life(struct random *random, double now) {
  double u = random_unit(random);
  if (u < 0.03) return run_ns; /* the cache that grows */
  if (u < 0.1) return fmax(run_ns * 2 / 3 - now, 1e9) * random_unit(random);
  return exp(log(1e3) + random_unit(random) * (log(60e9) - log(1e3)));
}

struct death {
  double time;
  uint64_t block;
};

static int by_time(const void *a, const void *b) {
  const struct death *left = a, *right = b;
  return (left->time > right->time) - (left->time < right->time);
}

/* Deaths are written in any order: a reader takes them by their times. */
static void write_blocks(struct trace_writer *writer, struct random *random, uint64_t samples,
                         bool collected) {
  struct death *deaths = malloc((samples + 1) * sizeof *deaths);
  size_t count = 0;
  if (!deaths) exit(1);
  for (uint64_t i = 1; i <= samples; i++) {
    double now = run_ns * (double)i / (double)(samples + 1);
    struct trace_sample sample = {.time_ns = (uint64_t)now + random_bits(random) % 1000,
                                  .thread = (uint32_t)(random_bits(random) % THREADS),
                                  .block = i * 64 + random_bits(random) % 64,
                                  .size = draw_size(random),
                                  .n_samples = 1,
                                  .stack = (uint32_t)(pow(random_unit(random), 2) * (node_count - 1)) + 1};
    sample.words = collected ? sample.size / 8 + 1 : malloc_words(sample.size);
    double died = (double)sample.time_ns + draw_life(random, now);
    if (!tree_write_sample(writer, &sample)) exit(1);
    if (died < run_ns) deaths[count++] = (struct death){died, sample.block};
    if (collected && random_bits(random) % 4 == 0)
      trace_write_promote(
          writer, &(struct trace_promote){.time_ns = sample.time_ns + 50000000, .block = sample.block});
  }
  qsort(deaths, count, sizeof *deaths, by_time);
  for (size_t i = 0; i < count; i++)
    trace_write_free(writer,
                     &(struct trace_free){.time_ns = (uint64_t)deaths[i].time, .block = deaths[i].block});
  free(deaths);
}

static void write_heap(struct trace_writer *writer) {
  for (uint64_t i = 0; i < 12000; i++)
    trace_write_collection(writer, &(struct trace_collection){.time_ns = i * 50000000,
                                                              .minor_words = i * 262144,
                                                              .promoted_words = i * 60000,
                                                              .minor_collections = i,
                                                              .major_cycles = i / 100,
                                                              .heap_words = 20000000 + i % 100 * 100000,
                                                              .live_words = 15000000,
                                                              .domains = 4});
}

static void write_memory(struct trace_writer *writer) {
  for (uint64_t i = 0; i < 6000; i++)
    trace_write_memory(writer, &(struct trace_memory){.time_ns = i * 100000000,
                                                      .rss_bytes = 300000000 + i * 200000,
                                                      .private_bytes = 280000000 + i * 200000});
}

int main(int argc, char **argv) {
  static const char command[] = "server\0--port\08080";
  bool collected = argc == 4 && !strcmp(argv[3], "collected");
  uint64_t samples = argc >= 3 ? strtoull(argv[1], NULL, 10) : 0;
  if (!samples) return fprintf(stderr, "usage: make_trace SAMPLES FILE [collected]\n"), 2;
  struct random random;
  random_seed(&random, 1, 0, 0);
  node_count = samples < 1000000 ? (uint32_t)(samples / 5) + 10 : 200000;
  make_nodes(&random);
  struct tree_source source = {.node = node, .module = module, .place = place};
  struct trace_run run = {.command = {.bytes = command, .length = sizeof command},
                          .heap = trace_text_of(collected ? "winnow" : "malloc"),
                          .rate = rate,
                          .word_bytes = 8,
                          .stack_depth = 1024};
  struct trace_writer *writer;
  if (tree_writer_open(&(struct trace_options){.path = argv[2]}, &run, &source, &writer))
    return fprintf(stderr, "make_trace: %s\n", wn_last_error()), 1;
  write_blocks(writer, &random, samples, collected);
  if (collected) write_heap(writer);
  write_memory(writer);
  trace_write_end(writer, &(struct trace_end){.time_ns = (uint64_t)run_ns});
  trace_writer_close(writer);
  return 0;
}
/* SPDX-License-Identifier: MIT */
