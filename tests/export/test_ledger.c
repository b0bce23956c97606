/* Totals that a ledger has are those of the trace, and do not fall where the trace's do. */
#include "analysis/story.h"
#include "support/test.h"

#include "base/array.h"
#include "base/check.h"
#include "export/ledger.h"
#include <math.h>
#include <stdlib.h>

enum { CHAIN = 12, BLOCKS = 600 };

static void write_blocks(struct trace_writer *writer, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; i++) {
    story_alloc(writer, i, 100 * i, i % 40 * 8, i % (CHAIN + 1));
    if (i % 3) story_free(writer, i, 100 * i + 60);
  }
}

static struct recording *load(void) {
  struct recording *recording;
  struct recording_options options = {.names = {.symbols = false}};
  assert_int_equal(recording_load(story_path(), &options, &recording), WN_OK);
  return recording;
}

/* A trace of the blocks from 1 to before `to`, whose writer is closed. */
static struct recording *record(double rate, uint32_t to) {
  struct trace_writer *writer = story_begin(rate, 5);
  write_blocks(writer, 1, to);
  trace_writer_close(writer);
  struct recording *recording = load();
  unlink(story_path());
  return recording;
}

static struct ledger_values total_of(const struct ledger *ledger) {
  struct ledger_values total = {{0}};
  for (size_t i = 0; i < ledger->value_count; i++)
    for (int k = 0; k < QUANTITIES; k++) total.of[k] += ledger->values[i].of[k];
  return total;
}

static void update(struct ledger *ledger, const struct recording *recording, uint64_t since_ns) {
  struct report report;
  assert_int_equal(report_ask(recording, &(struct question){.at = AT_END}, &report), WN_OK);
  assert_int_equal(ledger_update(ledger, &report, since_ns), WN_OK);
  report_destroy(&report);
}

static void expect_total(const struct ledger *ledger, const struct recording *recording) {
  struct report report;
  struct ledger_values total = total_of(ledger);
  assert_int_equal(report_ask(recording, &(struct question){.at = AT_END}, &report), WN_OK);
  assert_true(fabs(total.of[QUANTITY_ALLOCATED_BYTES] - (report.allocated.bytes.total)) < 1e-3);
  assert_true(fabs(total.of[QUANTITY_ALLOCATED_BLOCKS] - (report.allocated.blocks.total)) < 1e-3);
  assert_true(fabs(total.of[QUANTITY_HELD_BYTES] - (report.asked.live.bytes.total)) < 1e-3);
  assert_true(fabs(total.of[QUANTITY_HELD_BLOCKS] - (report.asked.live.blocks.total)) < 1e-3);
  assert_true(total.of[QUANTITY_HELD_BYTES] > 0);
  report_destroy(&report);
}

static void updates_add_what_was_allocated_between(void **state) {
  (void)state;
  struct ledger ledger;
  struct trace_writer *writer = story_begin(0.3, 5);
  assert_int_equal(ledger_create(&ledger), WN_OK);
  uint64_t since_ns = 0;
  for (uint32_t from = 1; from < BLOCKS; from += 100) {
    write_blocks(writer, from, from + 100);
    struct recording *recording = load();
    update(&ledger, recording, since_ns);
    expect_total(&ledger, recording);
    since_ns = recording->samples->end_ns + 1;
    update(&ledger, recording, since_ns); /* nothing came between */
    expect_total(&ledger, recording);
    recording_free(recording);
  }
  trace_writer_close(writer);
  unlink(story_path());
  ledger_destroy(&ledger);
}

/* The trace lost what it had; no stack's allocations fall, and nothing is held. */
static void what_the_trace_has_no_more_stays_allocated(void **state) {
  (void)state;
  struct ledger ledger;
  struct recording *whole = record(1, BLOCKS), *part = record(1, 2);
  assert_int_equal(ledger_create(&ledger), WN_OK);
  update(&ledger, whole, 0);
  struct ledger_values before = total_of(&ledger);
  size_t count = ledger.value_count;
  update(&ledger, part, whole->samples->end_ns + 1);
  struct ledger_values after = total_of(&ledger);
  assert_int_equal(ledger.value_count, count);
  assert_true(after.of[QUANTITY_ALLOCATED_BYTES] >= before.of[QUANTITY_ALLOCATED_BYTES]);
  assert_true(after.of[QUANTITY_HELD_BYTES] < before.of[QUANTITY_HELD_BYTES]);
  recording_free(whole);
  recording_free(part);
  ledger_destroy(&ledger);
}

static void ledgers_are_merged_stack_by_stack(void **state) {
  (void)state;
  struct ledger one, both;
  struct recording *recording = record(1, BLOCKS);
  assert_int_equal(ledger_create(&one), WN_OK);
  assert_int_equal(ledger_create(&both), WN_OK);
  update(&one, recording, 0);
  assert_int_equal(ledger_merge(&both, &one), WN_OK);
  expect_total(&both, recording);
  assert_int_equal(ledger_merge(&both, &one), WN_OK);
  assert_int_equal(both.value_count, one.value_count);
  for (size_t i = 0; i < one.value_count; i++)
    for (int k = 0; k < QUANTITIES; k++)
      assert_true(fabs(both.values[i].of[k] - (2 * one.values[i].of[k])) < 1e-3);
  recording_free(recording);
  ledger_destroy(&one);
  ledger_destroy(&both);
}

/* As if it were nearly full. */
static void what_does_not_fit_is_the_rest(void **state) {
  (void)state;
  struct ledger ledger;
  struct recording *recording = record(1, BLOCKS);
  assert_int_equal(ledger_create(&ledger), WN_OK);
  ledger.bytes = (16 << 20) - 1500;
  update(&ledger, recording, 0);
  expect_total(&ledger, recording);
  assert_in_range(ledger.value_count, 2, CHAIN);
  assert_true(ledger.values[0].of[QUANTITY_ALLOCATED_BYTES] > 0);
  recording_free(recording);
  ledger_destroy(&ledger);
}

/* Every line of a stack has its sums, in the order of what is held. */
static void text_has_the_largest_first(void **state) {
  (void)state;
  struct ledger ledger;
  struct recording *recording = record(1, BLOCKS);
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  assert_int_equal(ledger_create(&ledger), WN_OK);
  update(&ledger, recording, 0);
  assert_int_equal(ledger_write_text(out, &ledger), WN_OK);
  fclose(out);
  long blocks, bytes, allocated, allocated_bytes, sum = 0, last = 1L << 60;
  assert_int_equal(sscanf(text, "heap profile: %ld: %ld [%ld: %ld] @ heapprofile\n", &blocks, &bytes,
                          &allocated, &allocated_bytes),
                   4);
  for (char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
    long held;
    if (*line == '#' || *line == '\n' || sscanf(line, "%*d: %ld [", &held) != 1) continue;
    assert_true(held <= last);
    last = held;
    sum += held;
  }
  assert_int_equal(sum, bytes);
  free(text);
  recording_free(recording);
  ledger_destroy(&ledger);
}

/* ---- addresses that are made up ---- */

enum { FUNCTIONS = 40 };

/* A ledger with a stack of each of the functions from `first` on, in steps, of a language that has no
 * addresses. Another module has the first number. */
static void make_nameable(struct ledger *ledger, int first, int step, int count) {
  char text[80];
  assert_int_equal(ledger_create(ledger), WN_OK);
  if (step > 0) assert_int_not_equal(strings_intern(ledger->modules, "1000\t2000\t\t/nowhere/code\t"), 0);
  uint32_t module = strings_intern(ledger->modules, "0\t0\t\tOCaml\t");
  for (int i = 0; i < count; i++) {
    snprintf(text, sizeof text, "%u\t0\t\tfunction%d\t\tfile.ml\t7\t", module, first + i * step);
    uint32_t location = strings_intern(ledger->locations, text);
    snprintf(text, sizeof text, "%u ", location);
    assert_int_equal(strings_intern(ledger->stacks, text), ledger->value_count);
    struct ledger_values values = {.of = {[QUANTITY_ALLOCATED_BLOCKS] = 1, [QUANTITY_ALLOCATED_BYTES] = 8}};
    assert_true(ARRAY_ADD(ledger->values, ledger->value_count, ledger->value_capacity, values));
  }
}

/* Sets the address of each function that the text names; 0: it names none. */
static void read_addresses(const struct ledger *ledger, uint64_t addresses[FUNCTIONS]) {
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  memset(addresses, 0, FUNCTIONS * sizeof *addresses);
  assert_int_equal(ledger_write_text(out, ledger), WN_OK);
  fclose(out);
  for (const char *at = text; (at = strstr(at, " @ 0x")); at++) {
    unsigned long address, again;
    int function;
    assert_int_equal(sscanf(at, " @ 0x%lx\n#\t0x%lx\tfunction%d\tfile.ml:7\n", &address, &again, &function),
                     3);
    assert_int_equal(address, again + 1);
    addresses[function] = again;
  }
  free(text);
}

static void one_function_has_one_address_in_all_ledgers(void **state) {
  (void)state;
  struct ledger up, down, few;
  uint64_t one[FUNCTIONS], other[FUNCTIONS], some[FUNCTIONS];
  make_nameable(&up, 0, 1, FUNCTIONS);
  make_nameable(&down, FUNCTIONS - 1, -1, FUNCTIONS);
  make_nameable(&few, 30, -7, 3);
  read_addresses(&up, one);
  read_addresses(&down, other);
  read_addresses(&few, some);
  for (int i = 0; i < FUNCTIONS; i++) {
    assert_true(one[i] >= (uint64_t)1 << 62); /* where no code is */
    assert_int_equal(one[i], other[i]);
    if (some[i] && !TINY) assert_int_equal(one[i], some[i]); /* in the tiny build many have one hash */
    for (int k = 0; k < i; k++) assert_int_not_equal(one[i], one[k]);
  }
  assert_true(some[30] && some[23] && some[16]);
  ledger_destroy(&up);
  ledger_destroy(&down);
  ledger_destroy(&few);
}

static void addresses_have_the_names_of_the_text(void **state) {
  (void)state;
  struct ledger ledger;
  uint64_t addresses[FUNCTIONS];
  char *text, wanted[80];
  size_t size;
  make_nameable(&ledger, 0, 1, FUNCTIONS);
  read_addresses(&ledger, addresses);
  for (int i = 0; i < FUNCTIONS; i++) {
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(ledger_write_symbols(out, &ledger, &addresses[i], 1), WN_OK);
    fclose(out);
    snprintf(wanted, sizeof wanted, "0x%lx function%d\n", addresses[i], i);
    assert_string_equal(text, wanted);
    free(text);
  }
  ledger_destroy(&ledger);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(updates_add_what_was_allocated_between),
      cmocka_unit_test(what_the_trace_has_no_more_stays_allocated),
      cmocka_unit_test(ledgers_are_merged_stack_by_stack),
      cmocka_unit_test(what_does_not_fit_is_the_rest),
      cmocka_unit_test(text_has_the_largest_first),
      cmocka_unit_test(one_function_has_one_address_in_all_ledgers),
      cmocka_unit_test(addresses_have_the_names_of_the_text),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
