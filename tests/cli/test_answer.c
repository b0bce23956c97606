/* What requests are answered beside traces that grow, end, and take long to read. */
#include "support/test.h"

#include "base/os.h"
#include "base/words.h"
#include "cli/command.h"
#include "cli/scrape/answer.h"
#include "support/tree_source.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

/* Of the command's main program: what is tested here prints nothing, and looks for no command. */
int fail_job(const char *format, ...) { return (void)format, 1; }
int fail_usage(const char *command, const char *format, ...) { return (void)command, (void)format, 2; }
int fail_option(const char *command, int option, char **argv, const struct option *known) {
  return (void)command, (void)option, (void)argv, (void)known, 2;
}

/* ---- traces ---- */

static void node_of(void *context, uint32_t node, uint32_t *parent, uint32_t *module, uint64_t *offset) {
  (void)context;
  *parent = node - 1;
  *module = 1;
  *offset = 16 * (uint64_t)node;
}

static void module_of(void *context, uint32_t module, struct trace_module *out) {
  (void)context, (void)module;
  *out = (struct trace_module){.base = 0x1000, .size = 0x100000};
  out->path = trace_text_of("/nowhere/code");
}

static struct trace_writer *begin(const char *path) {
  static const struct tree_source source = {.node = node_of, .module = module_of};
  struct trace_options options = {.path = path};
  struct trace_run run = {.command = trace_text_of("app"), .rate = 1, .word_bytes = 8, .stack_depth = 64};
  struct trace_writer *writer;
  assert_int_equal(tree_writer_open(&options, &run, &source, &writer), WN_OK);
  return writer;
}

/* Allocates a block, whose number is its time too. */
static void allocate(struct trace_writer *writer, uint64_t block, uint64_t size) {
  struct trace_sample sample = {
      .time_ns = 100 * block, .thread = 1, .block = block, .size = size, .stack = 3};
  sample.words = malloc_words(size);
  sample.n_samples = 1;
  assert_true(tree_write_sample(writer, &sample));
}

/* ---- requests ---- */

enum { TRACES = 2 };

struct serving {
  char path[TRACES][40], *arguments[TRACES];
  struct trace_writer *writer[TRACES];
  struct targets targets;
};

static void open_serving(struct serving *serving) {
  for (int i = 0; i < TRACES; i++) {
    snprintf(serving->path[i], sizeof serving->path[i], "answer_%d_%d.trace", (int)getpid(), i);
    serving->arguments[i] = serving->path[i];
    serving->writer[i] = begin(serving->path[i]);
    allocate(serving->writer[i], 1, 1000);
  }
  struct recording_options options = {.names = {.symbols = false}};
  assert_int_equal(targets_open(&serving->targets, SERVED_MOST, serving->arguments, TRACES, &options), WN_OK);
  assert_int_equal(serving->targets.count, TRACES);
}

static void end_trace(struct serving *serving, int i) {
  trace_writer_close(serving->writer[i]);
  serving->writer[i] = NULL;
}

static void close_serving(struct serving *serving) {
  targets_close(&serving->targets);
  for (int i = 0; i < TRACES; i++) {
    if (serving->writer[i]) end_trace(serving, i);
    unlink(serving->path[i]);
  }
}

/* The bytes of an answer, which is text. */
struct total {
  long held, allocated;
};

/* Asks, and looks for the recordings anew before. */
static unsigned ask_for(struct serving *serving, struct ask ask, struct total *total,
                        unsigned *retry_seconds) {
  struct answer answer;
  serving->targets.looked_ns = 0;
  ask.text = true;
  assert_true(answer_make(&serving->targets, &ask, "", &answer));
  *total = (struct total){0, 0};
  if (answer.status == 200)
    assert_int_equal(
        sscanf(answer.bytes, "heap profile: %*d: %ld [%*d: %ld]", &total->held, &total->allocated), 2);
  *retry_seconds = answer.retry_seconds;
  free(answer.bytes);
  return answer.status;
}

static void expect(struct serving *serving, struct ask ask, long held, long allocated) {
  struct total total;
  unsigned retry;
  assert_int_equal(ask_for(serving, ask, &total, &retry), 200);
  assert_int_equal(retry, 0);
  assert_int_equal(total.held, held);
  assert_int_equal(total.allocated, allocated);
}

static void expect_busy(struct serving *serving, struct ask ask) {
  struct total total;
  unsigned retry;
  assert_int_equal(ask_for(serving, ask, &total, &retry), 503);
  assert_in_range(retry, 3000, 3600);
}

/* ---- tests ---- */

static const struct ask heap = {.what = ASK_HEAP, .service = "app"},
                        window = {.what = ASK_HEAP, .service = "app", .seconds = 1000000},
                        delta = {.what = ASK_DELTA, .service = "app"};

/* As if loading them had taken half an hour. */
static void traces_that_rest_are_not_loaded(void **state) {
  (void)state;
  struct serving serving;
  open_serving(&serving);
  struct target *const *items = serving.targets.items;
  expect(&serving, heap, 2000, 2000);
  expect(&serving, window, 2000, 2000);
  expect(&serving, delta, 0, 0);
  for (int i = 0; i < TRACES; i++) {
    allocate(serving.writer[i], 2, 500);
    items[i]->rest_until_ns = os_monotonic_ns() + 3600 * SECOND_NS;
  }
  expect(&serving, window, 2000, 2000); /* as they were loaded */
  target_unload(items[1]);
  expect_busy(&serving, window);
  expect_busy(&serving, delta);
  target_unload(items[0]);
  expect_busy(&serving, window);
  for (int i = 0; i < TRACES; i++) assert_null(items[i]->recording);
  expect(&serving, heap, 2000, 2000);
  for (int i = 0; i < TRACES; i++) items[i]->rest_until_ns = 0;
  expect(&serving, delta, 3000, 1000); /* what was refused is not lost */
  expect(&serving, heap, 3000, 3000);
  close_serving(&serving);
}

/* Of a service one process ends, and the other goes on. */
static void what_an_ended_process_did_is_in_the_next_delta_once(void **state) {
  (void)state;
  struct serving serving;
  struct ask other = delta, look = delta;
  strcpy(other.client, "other");
  look.look = true;
  open_serving(&serving);
  expect(&serving, delta, 0, 0);
  expect(&serving, other, 0, 0);
  allocate(serving.writer[0], 2, 200);
  expect(&serving, delta, 2200, 200);
  allocate(serving.writer[0], 3, 30);
  allocate(serving.writer[1], 3, 5);
  end_trace(&serving, 0);
  expect(&serving, look, 2235, 35); /* HEAD */
  expect(&serving, delta, 2235, 35);
  expect(&serving, delta, 1005, 0);
  expect(&serving, other, 2235, 235);
  allocate(serving.writer[1], 4, 7);
  expect(&serving, other, 1012, 7);
  expect(&serving, heap, 1012, 1012);
  close_serving(&serving);
}

/* It is not counted as read. */
static void an_ended_process_that_cannot_be_read_is_in_a_later_delta(void **state) {
  (void)state;
  struct serving serving;
  open_serving(&serving);
  struct target *const *items = serving.targets.items;
  expect(&serving, delta, 0, 0);
  allocate(serving.writer[0], 2, 200);
  end_trace(&serving, 0);
  items[0]->rest_until_ns = os_monotonic_ns() + 3600 * SECOND_NS; /* as it was before its end */
  expect(&serving, delta, 1000, 0);
  target_unload(items[0]);
  expect(&serving, delta, 1000, 0);
  items[0]->rest_until_ns = 0;
  expect(&serving, delta, 2200, 200);
  expect(&serving, delta, 1000, 0);
  close_serving(&serving);
}

/* As if its ledger were as large as all may be. */
static void ledgers_have_one_bound(void **state) {
  (void)state;
  struct serving serving;
  open_serving(&serving);
  struct target *const *items = serving.targets.items;
  expect(&serving, heap, 2000, 2000);
  targets_tidy(&serving.targets);
  for (int i = 0; i < TRACES; i++) assert_int_not_equal(items[i]->ledger_stamp, 0);
  items[0]->ledger.bytes = LEDGERS_BYTES;
  targets_tidy(&serving.targets);
  assert_int_equal(items[0]->ledger_stamp, 0);
  assert_null(items[0]->ledger.values);
  assert_int_not_equal(items[1]->ledger_stamp, 0);
  expect(&serving, heap, 2000, 2000); /* it is made anew */
  assert_int_not_equal(items[0]->ledger_stamp, 0);
  items[0]->ledger.bytes = LEDGERS_BYTES; /* and now it was asked for after the other */
  items[0]->ledger_used_ns += SECOND_NS;
  targets_tidy(&serving.targets);
  assert_int_equal(items[1]->ledger_stamp, 0);
  close_serving(&serving);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(traces_that_rest_are_not_loaded),
      cmocka_unit_test(what_an_ended_process_did_is_in_the_next_delta_once),
      cmocka_unit_test(ledgers_have_one_bound),
      cmocka_unit_test(an_ended_process_that_cannot_be_read_is_in_a_later_delta),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
