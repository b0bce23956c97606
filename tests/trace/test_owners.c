/* Functions that a runtime put at one address, one after another. */
#include "support/test.h"

#include "base/random.h"
#include "trace/stack_table.h"
#include <stdio.h>
#include <stdlib.h>

static struct stack_table table;
static uint32_t jit, binary;

static int begin(void **state) {
  (void)state;
  if (!stack_table_create(&table)) return 1;
  jit = stack_table_module(
      &table, &(struct trace_module){.base = TRACE_LANGUAGE_BASE, .path = trace_text_of("[jit]")});
  binary =
      stack_table_module(&table, &(struct trace_module){.base = 0x1000, .path = trace_text_of("/bin/x")});
  return !jit || !binary;
}

static int end(void **state) {
  (void)state;
  stack_table_destroy(&table);
  return 0;
}

static struct trace_place function(const char *name, uint64_t address, uint64_t since_ns) {
  return (struct trace_place){
      .function = trace_text_of(name), .file = trace_text_of(""), .address = address, .since_ns = since_ns};
}

/* What the recorder knew at an address is a place; what came late is told of. */
static void known(uint64_t offset, const char *name, uint64_t address, uint64_t since_ns) {
  struct trace_place place = function(name, address, since_ns);
  assert_true(stack_table_name(&table, jit, offset, &place));
}
static void late(const char *name, uint64_t address, uint64_t since_ns) {
  struct trace_place place = function(name, address, since_ns);
  assert_true(stack_table_code(&table, &place));
}

static void is(uint32_t module, uint64_t offset, uint64_t time_ns, const char *name) {
  struct trace_node node = {.module = module, .offset = offset, .parent = 7};
  stack_table_find_owner(&table, &node, time_ns);
  const struct trace_place *place = stack_table_place(&table, node.module, node.offset);
  assert_int_equal(node.parent, 7);
  if (!name) assert_null(place);
  if (name) assert_non_null(place), assert_string_equal(place->function.bytes, name);
}

static bool is_reused(uint32_t module, uint64_t offset) {
  return stack_table_is_reused(&table, &(struct trace_node){.module = module, .offset = offset});
}

static void a_place_is_that_of_the_time(void **state) {
  (void)state;
  known(1, "old", 100, 10);
  known(2, "last", 100, 40);
  known(3, "beside", 101, 10);
  late("third", 100, 30);
  late("second", 100, 20);
  assert_true(is_reused(jit, 1));
  assert_false(is_reused(jit, 3));
  is(jit, 1, 10, "old");
  is(jit, 1, 19, "old");
  is(jit, 1, 20, "second");
  is(jit, 1, 29, "second");
  is(jit, 1, 30, "third");
  is(jit, 1, 40, "last");
  is(jit, 1, UINT64_MAX, "last");
  is(jit, 2, 5, "last"); /* what was known then was there */
  is(jit, 3, 100, "beside");
}

static void an_address_has_the_first_name_before_all(void **state) {
  (void)state;
  assert_false(is_reused(0, 100));
  known(1, "known", 100, 50);
  assert_true(is_reused(0, 100));
  is(0, 100, 10, "known");
  late("first", 100, 20);
  late("second", 100, 30);
  is(0, 100, 10, "first");
  is(0, 100, 20, "first");
  is(0, 100, 30, "second");
  is(0, 100, 50, "known");
  is(0, 99, 50, NULL);
  is(0, 101, 50, NULL);
}

/* As of a file without times, and in older traces. */
static void without_times_the_first_one_that_was_told_counts(void **state) {
  (void)state;
  known(1, "place", 100, 0);
  known(2, "other", 100, 0);
  late("first", 100, 0);
  late("second", 100, 0);
  is(0, 100, 50, "first");
  is(jit, 1, 50, "place");
  is(jit, 2, 50, "other");
}

static void other_frames_stay(void **state) {
  (void)state;
  known(1, "known", 100, 10);
  late("late", 100, 20);
  late("cut", TRACE_CUT, 20);
  is(binary, 100, 50, NULL);
  struct trace_node node = {.offset = TRACE_CUT};
  stack_table_find_owner(&table, &node, 50);
  assert_true(trace_is_cut(&node));
  assert_false(is_reused(binary, 100));
}

/* Half of the owners have one address; the other numbers are any. */
static void any_numbers_are_survived(void **state) {
  (void)state;
  enum { OWNERS = 100000, QUESTIONS = 1000000 };
  struct random random;
  random_seed(&random, 5, 0, 0);
  for (uint32_t i = 1; i <= OWNERS; i++) {
    uint64_t address = random_bits(&random) % 2 ? 100 : random_bits(&random) << random_bits(&random) % 64;
    uint64_t since_ns = random_bits(&random) << random_bits(&random) % 64;
    if (i % 2)
      known(i, "f", address, since_ns);
    else
      late("g", address, since_ns);
  }
  for (uint32_t i = 0; i < QUESTIONS; i++) {
    struct trace_node node = {.module = (uint32_t)random_bits(&random) % 5,
                              .offset = random_bits(&random) % 2 ? 100 : random_bits(&random)};
    is_reused(node.module, node.offset);
    stack_table_find_owner(&table, &node, random_bits(&random) << random_bits(&random) % 64);
    assert_true(node.module <= 4);
  }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(a_place_is_that_of_the_time),
      CASE(an_address_has_the_first_name_before_all),
      CASE(without_times_the_first_one_that_was_told_counts),
      CASE(other_frames_stay),
      CASE(any_numbers_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
