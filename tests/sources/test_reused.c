/* Stacks whose frames depend on the time: one chain of frames, of which the outermost is made by a
 * runtime. A stack's number is that of its frames. */
#include "support/test.h"

#include "sources/reused.h"

enum { DEPTH = 2000, FRAMES = 1025, AGAIN_NS = 50, NODES = 2 * DEPTH };

static struct chain {
  struct source source;
  struct trace_node node[NODES + 1];
  uint32_t count;
} chain;

static uint32_t stacks(const struct source *source) {
  (void)source;
  return chain.count;
}
static struct trace_node stack(const struct source *source, uint32_t number) {
  (void)source;
  return chain.node[number];
}
static bool is_made(struct source *source, const struct trace_node *node) {
  (void)source;
  return !node->parent;
}
static bool find_owner(struct source *source, uint32_t process, uint64_t time_ns, struct trace_node *node) {
  (void)source, (void)process;
  if (!node->parent && time_ns >= AGAIN_NS) node->offset = 0;
  return true;
}
static uint32_t add_node(struct source *source, struct trace_node node) {
  (void)source;
  for (uint32_t i = 1; i <= chain.count; i++)
    if (chain.node[i].parent == node.parent && chain.node[i].offset == node.offset) return i;
  if (chain.count == NODES) return 0;
  chain.node[++chain.count] = node;
  return chain.count;
}

static const struct source_format format = {.stack_count = stacks,
                                            .stack = stack,
                                            .is_reused = is_made,
                                            .find_owner = find_owner,
                                            .add_node = add_node};

static uint32_t found_at(struct reused *reused, uint64_t time_ns, uint32_t number) {
  assert_true(reused_find(reused, 1, time_ns, &number));
  return number;
}

static void frames_are_those_of_the_time_as_far_as_stacks_are_recorded(void **state) {
  (void)state;
  struct reused reused = {.source = NULL};
  chain.source.format = &format;
  for (uint32_t i = 1; i <= DEPTH; i++) chain.node[i] = (struct trace_node){.parent = i - 1, .offset = i};
  chain.count = DEPTH;
  assert_true(reused_begin(&reused, &chain.source));
  assert_int_equal(found_at(&reused, AGAIN_NS - 1, FRAMES), FRAMES);
  assert_int_equal(found_at(&reused, AGAIN_NS, 2), DEPTH + 2);
  assert_int_equal(found_at(&reused, AGAIN_NS, FRAMES), DEPTH + FRAMES);
  assert_int_equal(chain.node[DEPTH + FRAMES].offset, FRAMES);
  assert_int_equal(found_at(&reused, AGAIN_NS, FRAMES + 1), FRAMES + 1);
  assert_int_equal(found_at(&reused, AGAIN_NS, DEPTH), DEPTH);
  assert_int_equal(chain.count, DEPTH + FRAMES);
  reused_destroy(&reused);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_are_those_of_the_time_as_far_as_stacks_are_recorded)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
