/* A made-up program for the tests of traces: its stacks, its modules, its events. */
#ifndef TESTS_TRACE_FIXTURE_H
#define TESTS_TRACE_FIXTURE_H

#include "base/random.h"
#include "support/tree_source.h"
#include "trace/event.h"
#include "trace/finish.h"
#include "trace/reader.h"

/* A call tree that can be computed: node n > 0 hangs from node (n - 1) / 3, so the root's children
 * are 1 to 3. */
enum { FIXTURE_MODULES = 9, FIXTURE_LANGUAGE = 9 /* whose frames have names */ };
extern const struct tree_source fixture_source;
void fixture_node(uint32_t node, uint32_t *parent, uint32_t *module, uint64_t *offset);
void fixture_module(uint32_t module, struct trace_module *out);
bool fixture_place(uint32_t module, uint64_t offset, struct trace_place *out);

struct trace_run fixture_run(void);

/* A name in the working directory that no other process uses. Static. */
const char *fixture_path(void);

/* Any bytes as a file. */
void fixture_write_file(const char *path, const void *bytes, size_t count);

/* The reader refuses the file, and says these words. */
void fixture_expect_refusal(const char *path, wn_status status, const char *words);

struct trace_writer *fixture_open(const char *path, uint64_t limit_bytes);

/* An event of any kind that a program may write; the block numbers grow by *block. Stacks are below
 * `nodes`. */
struct trace_event fixture_event(struct random *random, uint32_t thread, uint64_t time, uint64_t *block,
                                 uint32_t nodes);
bool fixture_write(struct trace_writer *writer, const struct trace_event *event);

/* Whether an event that was read is the one that was written, stack and module included. */
bool fixture_same(struct trace_reader *reader, const struct trace_event *read,
                  const struct trace_event *written);
bool fixture_same_stack(struct trace_reader *reader, uint32_t read, uint32_t written);

/* The same, quickly where it was already found so: `known` has a zero for each stack that was
 * written, at first. */
bool fixture_same_known_stack(struct trace_reader *reader, uint32_t *known, uint32_t read, uint32_t written);

#endif
/* SPDX-License-Identifier: MIT */
