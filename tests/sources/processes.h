/* Traces of made-up processes: blocks at random, whose stacks, threads and numbers other processes have
 * too, with all of what happened to them in memory. */
#ifndef TESTS_SOURCES_PROCESSES_H
#define TESTS_SOURCES_PROCESSES_H

#include "support/test.h"

#include "base/hash.h"
#include "base/words.h"
#include "sources/files/joined.h"
#include "support/tree_source.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_NS ((uint64_t)1700000000 * 1000000000)

enum { BLOCKS = 400, NODES = 40, LIFE_MOST = 4000, MEASUREMENTS = 8 };

struct made_block {
  uint64_t born_ns, resized_ns, died_ns; /* resized, died: 0: never */
  uint64_t size, new_size;
  uint32_t stack;
};

struct made_process {
  char path[64];
  uint32_t pid, parent_pid;
  uint64_t wall_ns, end_ns; /* end_ns: by its own clock */
  double rate;
  const char *command, *heap, *module;
  bool no_end, language; /* language: the first module is one's */
  struct trace_end end;
  uint32_t seed;
  struct made_block blocks[BLOCKS];
  uint64_t rss[MEASUREMENTS];
};

static inline uint64_t made_random(struct made_process *process) {
  process->seed = process->seed * 1664525 + 1013904223;
  return hash_mix(process->seed) >> 8;
}

/* Nodes of processes whose numbers begin alike are equal; those of others have equal callers and
 * offsets in other modules. */
static inline void made_node(void *context, uint32_t node, uint32_t *parent, uint32_t *module,
                             uint64_t *offset) {
  const struct made_process *process = context;
  *parent = node / 3;
  *module = 1 + node % 2;
  *offset = 16 * ((node + process->pid / 100) % 7);
}

static inline void made_module(void *context, uint32_t module, struct trace_module *out) {
  const struct made_process *process = context;
  *out = (struct trace_module){.base = 0x1000 * process->pid, .size = 0x100000, .build_id_bytes = 4};
  out->build_id[0] = (uint8_t)module;
  if (process->language && module == 1) {
    *out = (struct trace_module){.base = TRACE_LANGUAGE_BASE};
    out->path = trace_text_of("[language]");
    return;
  }
  out->path = trace_text_of(module == 1 ? "/nowhere/libc.so" : process->module);
}

/* Places of one number have other names in another process. */
static inline bool made_place(void *context, uint32_t module, uint64_t offset, struct trace_place *out) {
  const struct made_process *process = context;
  static char function[32];
  if (!process->language || module != 1) return false;
  snprintf(function, sizeof function, "f%u", (unsigned)(offset / 16 + process->pid) % 5);
  *out = (struct trace_place){.function = trace_text_of(function), .file = trace_text_of("file"), .line = 7};
  return true;
}

static inline void make_blocks(struct made_process *process) {
  uint64_t time = 10;
  for (int i = 0; i < BLOCKS; i++) {
    struct made_block *block = &process->blocks[i];
    *block = (struct made_block){.born_ns = time, .size = 1 + made_random(process) % 5000};
    block->stack = (uint32_t)(made_random(process) % (NODES + 1));
    if (made_random(process) % 4 == 0) {
      block->resized_ns = time + 1 + made_random(process) % 300;
      block->new_size = 1 + made_random(process) % 9000;
    }
    uint64_t last = block->resized_ns ? block->resized_ns : time;
    if (made_random(process) % 5) block->died_ns = last + 1 + made_random(process) % LIFE_MOST;
    time += made_random(process) % 100;
  }
  process->end_ns = time + 2 * LIFE_MOST;
}

/* Of a collected heap the block numbers are the same, too. */
static inline void write_block(struct trace_writer *writer, const struct made_block *block, uint64_t number) {
  uint32_t thread = 1 + (uint32_t)(number % 3);
  assert_true(tree_write_sample(writer, &(struct trace_sample){.time_ns = block->born_ns,
                                                               .thread = thread,
                                                               .block = number,
                                                               .size = block->size,
                                                               .words = malloc_words(block->size),
                                                               .n_samples = 1,
                                                               .stack = block->stack}));
  if (block->resized_ns)
    tree_write_resize(
        writer, &(struct trace_resize){
                    .time_ns = block->resized_ns,
                    .thread = thread,
                    .block = number,
                    .size = block->new_size,
                    .words = malloc_words(block->new_size > block->size ? block->new_size : block->size),
                    .stack = block->stack});
  if (block->died_ns)
    trace_write_free(writer,
                     &(struct trace_free){.time_ns = block->died_ns, .thread = thread, .block = number});
}

static inline uint64_t measured_ns(const struct made_process *process, int i) {
  return process->end_ns / MEASUREMENTS * (uint64_t)i + process->pid;
}

/* Writes a process's trace: each third block is known only from a late record. */
static inline void write_process(struct made_process *process) {
  struct tree_source source = {
      .context = process, .node = made_node, .module = made_module, .place = made_place};
  struct trace_options options = {.path = process->path};
  struct trace_run run = {.command = {process->command, (uint32_t)strlen(process->command) + 1},
                          .host = trace_text_of("host"),
                          .heap = trace_text_of(process->heap),
                          .pid = process->pid,
                          .parent_pid = process->parent_pid,
                          .seed = process->pid,
                          .rate = process->rate,
                          .word_bytes = 8,
                          .stack_depth = 1024,
                          .wall_ns = process->wall_ns,
                          .monotonic_ns = process->wall_ns / 2};
  struct trace_writer *writer;
  assert_int_equal(tree_writer_open(&options, &run, &source, &writer), WN_OK);
  for (int i = 0; i < BLOCKS; i++) write_block(writer, &process->blocks[i], 1 + (uint64_t)i);
  for (int i = 0; i < MEASUREMENTS; i++) {
    process->rss[i] = 100000 + made_random(process) % 100000;
    trace_write_memory(writer, &(struct trace_memory){.time_ns = measured_ns(process, i),
                                                      .thread = 1,
                                                      .rss_bytes = process->rss[i],
                                                      .private_bytes = process->rss[i] / 2,
                                                      .complete = 1});
  }
  trace_write_thread_name(
      writer, &(struct trace_thread_name){.time_ns = 5, .thread = 2, .name = trace_text_of("worker")});
  process->end.time_ns = process->end_ns;
  if (!process->no_end) assert_true(trace_write_end(writer, &process->end));
  trace_writer_close(writer);
}

/* A process that starts so long after the first one. */
static inline void make_process(struct made_process *process, uint32_t pid, uint32_t parent_pid,
                                uint64_t after_ns) {
  *process = (struct made_process){.pid = pid,
                                   .parent_pid = parent_pid,
                                   .wall_ns = START_NS + after_ns,
                                   .rate = 1,
                                   .command = "/usr/bin/made",
                                   .heap = "malloc",
                                   .module = "/nowhere/program",
                                   .seed = pid};
  snprintf(process->path, sizeof process->path, "joined_%d_%u.trace", (int)getpid(), pid);
  make_blocks(process);
}

#endif
/* SPDX-License-Identifier: MIT */
