/* A trace that a test writes: frames are numbers, in no module. */
#ifndef TESTS_COMPACT_MADE_TRACE_H
#define TESTS_COMPACT_MADE_TRACE_H

#include "trace/writer.h"
#include <string.h>

static inline void made_frame(void *context, uint32_t frame, uint32_t *module, uint64_t *offset) {
  (void)context, *module = 0, *offset = frame;
}
static inline void made_module(void *context, uint32_t module, struct trace_module *out) {
  (void)context, (void)module, memset(out, 0, sizeof *out);
}

static inline struct trace_writer *made_open(const char *path, double rate, uint64_t seed) {
  struct trace_writer *writer;
  struct trace_run run = {.command = {"program", 8},
                          .host = trace_text_of("host"),
                          .heap = trace_text_of("malloc"),
                          .version = trace_text_of("1"),
                          .context = {.bytes = ""},
                          .seed = seed,
                          .rate = rate,
                          .word_bytes = 8};
  const struct trace_stack_source source = {.frame = made_frame, .module = made_module};
  const struct trace_options options = {.path = path, .alone = true};
  assert_int_equal(trace_writer_open(&options, &run, &source, &writer), WN_OK);
  return writer;
}

#endif
/* SPDX-License-Identifier: MIT */
