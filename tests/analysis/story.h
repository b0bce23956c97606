/* Small traces written for a test, with stacks that are chains: node n is called by node n - 1, in
 * module "code" at offset 16 n. */
#ifndef TESTS_ANALYSIS_STORY_H
#define TESTS_ANALYSIS_STORY_H

#include "support/test.h"

#include "analysis/load/call_tree.h"
#include "base/words.h"
#include "support/tree_source.h"
#include <stdio.h>
#include <unistd.h>

static void story_node(void *context, uint32_t node, uint32_t *parent, uint32_t *module, uint64_t *offset) {
  uint32_t repeat = *(uint32_t *)context; /* offsets repeat after so many nodes: recursion */
  *parent = node - 1;
  *module = 1;
  *offset = 16 * (repeat ? (node - 1) % repeat + 1 : node);
}

static void story_module(void *context, uint32_t module, struct trace_module *out) {
  (void)context;
  (void)module;
  *out = (struct trace_module){.base = 0x1000, .size = 0x100000};
  out->path = trace_text_of("/nowhere/code");
}

static uint32_t story_repeat;
static const char *story_path(void) {
  static char path[64];
  snprintf(path, sizeof path, "story_%d.trace", (int)getpid());
  return path;
}

/* Of the process, for stories that are joined. */
static uint64_t story_began_ns;

static inline struct trace_writer *story_of(struct tree_source *source, double rate) {
  struct trace_options options = {.path = story_path()};
  struct trace_run run = {.command = trace_text_of("story"),
                          .rate = rate,
                          .word_bytes = 8,
                          .stack_depth = 1024,
                          .wall_ns = story_began_ns,
                          .monotonic_ns = story_began_ns,
                          .pid = (uint32_t)(story_began_ns / 1000000000)};
  if (story_began_ns) run.heap = trace_text_of("malloc");
  struct trace_writer *writer;
  assert_int_equal(tree_writer_open(&options, &run, source, &writer), WN_OK);
  return writer;
}

static inline struct trace_writer *story_begin(double rate, uint32_t repeat) {
  static struct tree_source source;
  story_repeat = repeat;
  source = (struct tree_source){.context = &story_repeat, .node = story_node, .module = story_module};
  return story_of(&source, rate);
}

/* Measures all rows. */
static inline bool everything(const struct row *row, struct share *share, void *context) {
  (void)context;
  *share = share_block(row);
  return true;
}

static inline void story_alloc(struct trace_writer *writer, uint64_t block, uint64_t time, uint64_t size,
                               uint32_t stack) {
  struct trace_sample sample = {.time_ns = time, .thread = 1, .block = block, .size = size, .stack = stack};
  sample.words = malloc_words(size);
  sample.n_samples = 1;
  assert_true(tree_write_sample(writer, &sample));
}

static inline void story_free(struct trace_writer *writer, uint64_t block, uint64_t time) {
  trace_write_free(writer, &(struct trace_free){.time_ns = time, .thread = 2, .block = block});
}

static inline void story_resize(struct trace_writer *writer, uint64_t block, uint64_t time, uint64_t size) {
  tree_write_resize(writer, &(struct trace_resize){.time_ns = time,
                                                   .thread = 1,
                                                   .stack = 1,
                                                   .block = block,
                                                   .size = size,
                                                   .words = malloc_words(size)});
}

static inline struct samples *story_load(struct trace_writer *writer) {
  struct samples *samples;
  trace_writer_close(writer);
  assert_int_equal(samples_load(story_path(), NULL, NULL, &samples), WN_OK);
  unlink(story_path());
  return samples;
}

static inline void story_names(const struct samples *samples, struct names *names) {
  struct names_options options = {.symbols = false};
  assert_int_equal(names_resolve(samples, &options, NULL, NULL, names), WN_OK);
}

#endif
/* SPDX-License-Identifier: MIT */
