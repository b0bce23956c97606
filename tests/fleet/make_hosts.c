/* Writes traces of made-up hosts, sampled by the real law, with a known truth:
 *
 *   make_hosts FOLDER BUILD FIRST COUNT SEED CHANGE
 *
 * FOLDER/N.trace is that of host N, from FIRST on, which runs that build of the program. Hosts differ in their
 * load, in how much each function holds, and in their sampling rates; all hold what they hold at the same
 * moments. In function f5 they hold CHANGE times as much as by CHANGE 1, and in the others the same. */
#include "fleet/hosts.h"
#include "support/tree_source.h"

#include "base/hash.h"
#include "base/words.h"
#include "trace/finish.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES = 40, CHANGED = 5, MAIN = SITES + 1, NAME_MOST = 32 };

static uint8_t build;

/* Each function is called by main, which is in the program. */
static void node(void *context, uint32_t number, uint32_t *parent, uint32_t *module, uint64_t *offset) {
  (void)context;
  *parent = number == MAIN ? 0 : MAIN;
  *module = number == MAIN ? 1 : 2;
  *offset = number;
}

static void module(void *context, uint32_t number, struct trace_module *out) {
  (void)context;
  *out = (struct trace_module){.base = 0x100000, .bias = 0x100000, .size = 0x10000, .build_id_bytes = 20};
  out->path = trace_text_of("/nowhere/api");
  memset(out->build_id, build, sizeof out->build_id);
  if (number == 2)
    *out = (struct trace_module){.base = TRACE_LANGUAGE_BASE, .size = 4096, .path = trace_text_of("[made]")};
}

static bool place(void *context, uint32_t number, uint64_t offset, struct trace_place *out) {
  static _Thread_local char name[NAME_MOST];
  (void)context, (void)number;
  snprintf(name, sizeof name, "f%u", (unsigned)offset - 1);
  *out = (struct trace_place){.function = trace_text_of(name)};
  return true;
}

/* What a function holds on average is the same for all seeds. */
static void write_blocks(struct trace_writer *writer, double rate, double change, uint64_t seed,
                         uint64_t host) {
  static const uint64_t sizes[] = {16, 64, 250, 1024};
  struct random random;
  struct sampler sampler;
  random_seed(&random, seed, 1, host);
  sampler_init(&sampler, rate, seed, 0, host);
  double load = exp(0.2 * random_normal(&random));
  uint64_t number = 0;
  for (uint32_t i = 0; i < SITES; i++) {
    double mean = i == CHANGED ? 3000 * change : 100 * exp(3.0 * (i * 7 % SITES) / SITES);
    struct trace_sample sample = {.thread = 1, .size = sizes[i % 4], .n_samples = 1, .stack = i + 1};
    sample.words = malloc_words(sample.size);
    uint64_t blocks = (uint64_t)(mean * load * exp(0.3 * random_normal(&random)) + 0.5);
    for (uint64_t left = sampled(&sampler, blocks, sample.words); left; left--) {
      sample.block = sample.time_ns = ++number;
      if (!tree_write_sample(writer, &sample)) exit(1);
    }
  }
}

static bool write_host(const char *folder, uint64_t host, uint64_t seed, double change) {
  static const double rates[] = {1e-3, 2e-3, 5e-3};
  char path[4096], name[NAME_MOST];
  snprintf(path, sizeof path, "%s/%llu.trace", folder, (unsigned long long)host);
  snprintf(name, sizeof name, "host%llu", (unsigned long long)host);
  struct trace_options options = {.path = path};
  struct trace_run run = {.command = trace_text_of("/nowhere/api"),
                          .host = trace_text_of(name),
                          .heap = trace_text_of("malloc"),
                          .version = trace_text_of("0.1.0"),
                          .pid = 1,
                          .rate = rates[host % 3],
                          .stack_depth = 512,
                          .word_bytes = 8,
                          .wall_ns = 1700000000000000000u,
                          .monotonic_ns = hash_combine(seed, host) >> 16};
  struct tree_source source = {.node = node, .module = module, .place = place};
  struct trace_writer *writer;
  struct trace_totals totals;
  if (tree_writer_open(&options, &run, &source, &writer)) return false;
  write_blocks(writer, run.rate, change, seed, host);
  trace_write_end(writer, &(struct trace_end){.time_ns = 10000000000, .kind = TRACE_END_EXIT});
  trace_writer_close(writer);
  return trace_finish(path, &totals) == WN_OK;
}

int main(int argc, char **argv) {
  if (argc != 7) return 2;
  build = (uint8_t)(0x11 * atoi(argv[2]));
  uint64_t first = strtoull(argv[3], NULL, 10), end = first + strtoull(argv[4], NULL, 10);
  for (uint64_t host = first; host < end; host++)
    if (!write_host(argv[1], host, strtoull(argv[5], NULL, 10), strtod(argv[6], NULL))) return 1;
  return 0;
}
/* SPDX-License-Identifier: MIT */
