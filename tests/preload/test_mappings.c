/* The table of mappings against a model: an owner for each page. */
#include "support/test.h"

#include "base/check.h"
#include "base/lock.h"
#include "base/random.h"
#include "callstack/capture.h"
#include "preload/malloc_host.h"
#include "preload/mappings.h"
#include "preload/process.h"
#include "record/recorder.h"
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 256, MAPPINGS_MOST = 1 << 18 };
#define BASE ((uintptr_t)1 << 40)

/* ---- signal handlers ---- */

/* What a handler does that interrupted a thread with a lock. */
static struct lock runs;
static void begin_handler(void) { lock_acquire(&runs, LOCK_RANK_RUNS); }
static void end_handler(void) { lock_release(&runs, LOCK_RANK_RUNS); }

/* Is called by the thread that has the table's lock. */
static void (*interrupt)(void);
static void be_interrupted(void) {
  void (*handler)(void) = interrupt;
  interrupt = NULL;
  if (handler) handler();
}

/* ---- what the table tells, instead of a trace ---- */

static uint64_t bytes_of[MAPPINGS_MOST]; /* by number */
static uint32_t stack_of[MAPPINGS_MOST];
static uint64_t numbers, moves;

static bool forgotten; /* as in a child that is not followed */
struct recorder *process_recorder(void) {
  return forgotten ? NULL : (struct recorder *)&numbers;
}
bool process_is_recording(void) { return true; }
bool recorder_is_ours(const struct recorder *recorder) {
  (void)recorder;
  return true;
}
bool host_is_working(void) { return false; }

/* Stacks that are numbers, which the table must release as often as it was given or has shared
 * them. */
static long held;

static const wn_callstack *numbered(uint32_t number) {
  held++;
  return (const wn_callstack *)(uintptr_t)number;
}
void callstack_share(const wn_callstack *callstack) {
  (void)callstack;
  held++;
}
void callstack_release(const wn_callstack *callstack) {
  (void)callstack;
  held--;
}
bool wn_callstack_equal(const wn_callstack *one, const wn_callstack *other) { return one == other; }

void recorder_map(struct recorder *recorder, uint64_t mapping, enum recorder_map_kind kind, uint64_t bytes,
                  const wn_callstack *callstack) {
  (void)kind;
  assert_non_null(recorder);
  be_interrupted();
  assert_int_equal(mapping, ++numbers); /* they never come again */
  assert_true(bytes && bytes % PAGE == 0 && mapping < MAPPINGS_MOST);
  bytes_of[mapping] = bytes;
  stack_of[mapping] = (uint32_t)(uintptr_t)callstack;
}

void recorder_map_size(struct recorder *recorder, uint64_t mapping, uint64_t bytes) {
  assert_non_null(recorder);
  be_interrupted();
  assert_true(bytes_of[mapping]); /* what is gone changes no more */
  bytes_of[mapping] = bytes;
}

void recorder_map_touched(struct recorder *recorder, uint64_t mapping, uint64_t bytes, uint64_t files) {
  assert_non_null(recorder);
  assert_true(bytes <= bytes_of[mapping] && files <= bytes);
}

static bool drops;
/* Each look is later. With `drops` the trace lacks what was told 32 to 96 looks ago or before. */
struct recorder_drop recorder_last_drop(struct recorder *recorder) {
  static uint64_t looks, sealed;
  assert_non_null(recorder);
  looks++;
  if (looks % 64 == 0) sealed = looks - 32;
  return (struct recorder_drop){.now_ns = looks, .sealed_ns = drops ? sealed : 0};
}

/* ---- the model ---- */

static uint32_t owner[PAGES]; /* the stack of the mapping that a page is of; 0: none */

static void own(size_t first, size_t count, uint32_t stack) {
  for (size_t i = first; i < first + count; i++) owner[i] = stack;
}

/* What is there is told when it is measured. */
static void compare(void) {
  static uint64_t told[MAPPINGS_MOST], modelled[MAPPINGS_MOST];
  mappings_measure(0, true);
  memset(told, 0, (numbers + 1) * sizeof *told);
  memset(modelled, 0, (numbers + 1) * sizeof *modelled);
  for (uint64_t i = 1; i <= numbers; i++) told[stack_of[i]] += bytes_of[i];
  for (size_t i = 0; i < PAGES; i++)
    if (owner[i]) modelled[owner[i]] += PAGE;
  assert_memory_equal(told, modelled, (numbers + 1) * sizeof *told);
}

/* Only the whole of a piece moves; that it is one, the table knows better: two pieces of one
 * mapping may lie side by side. */
static void move(size_t first, size_t to, size_t to_count) {
  uint32_t stack = owner[first];
  size_t count = 0;
  while (first && owner[first - 1] == stack) first--; /* a random range is hardly ever a whole piece */
  for (; first + count < PAGES && owner[first + count] == stack; count++) {}
  bool moved = mappings_move(BASE + first * PAGE, count * PAGE, BASE + to * PAGE, to_count * PAGE);
  moves += moved;
  if (!moved) return;
  for (size_t i = 0; i < count; i++) assert_true(stack && owner[first + i] == stack);
  own(first, count, 0);
  own(to, to_count, stack);
}

/* The last mapping that a full table takes is moved into the midst of another. */
static void a_full_table_takes_no_more(void **state) {
  (void)state;
  uint64_t first = numbers, most;
  assert_true(mappings_measure(0, true));
  mappings_add(BASE, 3 * PAGE, RECORDER_MAP_ANONYMOUS, numbered(1));
  for (uintptr_t i = 0; i < (TINY ? 100 : 70000); i++)
    mappings_add(BASE + (4 + i) * PAGE, PAGE, RECORDER_MAP_ANONYMOUS, numbered(1));
  assert_false(mappings_measure(0, true)); /* some were missed */
  most = numbers - first;
  assert_true(most > 10 && most < (TINY ? 100 : 70000));
  assert_true(mappings_move(BASE + (4 + most - 2) * PAGE, PAGE, BASE + PAGE, PAGE));
  mappings_measure(0, true);
  assert_int_equal(bytes_of[first + 1], PAGE);
  assert_int_equal(bytes_of[first + most], 0); /* the split took its place */
  assert_int_equal(bytes_of[first + most + 1], PAGE);
  mappings_remove(BASE, (uintptr_t)1 << 32);
  for (uint64_t i = 1; i <= numbers; i++) assert_int_equal(bytes_of[i], 0);
}

static void random_calls_tell_what_is_mapped(void **state) {
  (void)state;
  if (TINY) skip(); /* its table is full at once */
  int queued = 0;
  struct random random;
  random_seed(&random, 5, 0, 0);
  uint32_t stack = 0;
  for (int i = 0; i < 20000; i++) {
    size_t first = random_bits(&random) % (PAGES - 40), count = 1 + random_bits(&random) % 20;
    size_t to = random_bits(&random) % (PAGES - 40), to_count = 1 + random_bits(&random) % 20;
    bool handler = i % 100 < 60 && random_bits(&random) % 4 == 0;
    queued += handler;
    if (handler) begin_handler();
    switch (random_bits(&random) % 4) {
    case 0:
    case 1:
      mappings_add(BASE + first * PAGE, count * PAGE - random_bits(&random) % PAGE, RECORDER_MAP_ANONYMOUS,
                   numbered(++stack));
      own(first, count, stack);
      break;
    case 2:
      mappings_remove(BASE + first * PAGE, count * PAGE - random_bits(&random) % PAGE);
      own(first, count, 0);
      break;
    default: move(first, to, to_count);
    }
    if (handler) end_handler();
    if (i % 7 == 0) compare();
  }
  compare();
  assert_true(numbers > 1000 && moves > 50 && queued > 1000);
  assert_true(mappings_measure(0, true));
  mappings_remove(BASE, PAGES * PAGE);
  own(0, PAGES, 0);
  compare();
}

static void what_was_dropped_is_told_again(void **state) {
  (void)state;
  mappings_add(BASE, 5 * PAGE, RECORDER_MAP_ANONYMOUS, numbered(1));
  mappings_measure(0, true);
  uint64_t before = numbers;
  drops = true;
  for (int i = 0; i < 640; i++) mappings_measure(0, true);
  assert_true(numbers > before + 10 && numbers < before + 60);
  assert_int_equal(bytes_of[numbers], 5 * PAGE);
  assert_int_equal(bytes_of[numbers - 1], 0);
  mappings_remove(BASE, 5 * PAGE);
  random_calls_tell_what_is_mapped(state);
  drops = false;
}

static void what_is_gone_before_it_is_measured_is_not_told(void **state) {
  (void)state;
  uint64_t before = numbers;
  for (int i = 0; i < 1000; i++) {
    mappings_add(BASE, 5 * PAGE, RECORDER_MAP_ANONYMOUS, numbered(1));
    mappings_remove(BASE + PAGE, PAGE);
    mappings_remove(BASE, 5 * PAGE);
  }
  mappings_measure(0, true);
  assert_int_equal(numbers, before);
  mappings_add(BASE, 5 * PAGE, RECORDER_MAP_ANONYMOUS, numbered(1));
  mappings_inherit(); /* a child tells its trace anew */
  mappings_measure(0, true);
  mappings_inherit();
  mappings_measure(0, true);
  assert_int_equal(numbers, before + 2);
  mappings_remove(BASE, 5 * PAGE);
  bytes_of[before + 1] = 0; /* in the parent's trace */
}

/* ---- what handlers do ---- */

static uint64_t told_bytes(void) {
  uint64_t bytes = 0;
  for (uint64_t i = 1; i <= numbers; i++) bytes += bytes_of[i];
  return bytes;
}

static void map_and_unmap(void) {
  mappings_remove(BASE + 8 * PAGE, 2 * PAGE); /* others may have these addresses next */
  mappings_add(BASE + 20 * PAGE, 3 * PAGE, RECORDER_MAP_ANONYMOUS, numbered(3));
  assert_false(mappings_move(BASE + 20 * PAGE, 3 * PAGE, BASE + 30 * PAGE, 4 * PAGE));
  mappings_remove(BASE + 20 * PAGE, 3 * PAGE);
  mappings_add(BASE + 30 * PAGE, 4 * PAGE, RECORDER_MAP_ANONYMOUS, numbered(3));
  assert_false(mappings_measure(0, true)); /* not here */
}

static void what_a_handler_maps_while_the_table_is_locked_is_told_by_the_next_who_locks_it(void **state) {
  (void)state;
  uint64_t first = numbers;
  mappings_add(BASE, 10 * PAGE, RECORDER_MAP_ANONYMOUS, numbered(1));
  interrupt = map_and_unmap;
  assert_true(mappings_measure(0, true)); /* the piece is told with the lock held */
  assert_null(interrupt);
  assert_int_equal(numbers, first + 2);
  assert_int_equal(bytes_of[first + 1], 8 * PAGE);
  assert_int_equal(bytes_of[first + 2], 4 * PAGE);
  assert_int_equal(stack_of[first + 2], 3);
  interrupt = map_and_unmap;
  mappings_remove(BASE + 4 * PAGE, 4 * PAGE);
  assert_null(interrupt);
  mappings_add(BASE + 8 * PAGE, PAGE, RECORDER_MAP_ANONYMOUS, numbered(4)); /* behind the handler's removal */
  assert_true(mappings_measure(0, true));
  assert_int_equal(told_bytes(), (4 + 1 + 4) * PAGE);
  mappings_remove(BASE, PAGES * PAGE);
  assert_int_equal(told_bytes(), 0);
}

static void what_a_handler_maps_first_is_known_to_be_there(void **state) {
  (void)state;
  assert_false(mappings_any());
  begin_handler();
  mappings_add(BASE, PAGE, RECORDER_MAP_ANONYMOUS, numbered(1));
  assert_false(mappings_measure(0, true)); /* nothing can be measured there */
  end_handler();
  assert_true(mappings_any() && mappings_measure(0, true));
  assert_int_equal(told_bytes(), PAGE);
  begin_handler();
  mappings_remove(BASE, PAGE);
  end_handler();
  assert_true(mappings_measure(0, true));
  assert_int_equal(told_bytes(), 0);
}

static void a_stack_that_ends_in_a_handler_is_gone(void **state) {
  (void)state;
  mappings_add(BASE, 4 * PAGE, RECORDER_MAP_STACK, numbered(1));
  mappings_add(BASE + 4 * PAGE, 4 * PAGE, RECORDER_MAP_ANONYMOUS, numbered(1));
  assert_true(mappings_measure(0, true));
  begin_handler();
  mappings_stack_ends(BASE + PAGE);
  mappings_stack_ends(BASE + 5 * PAGE); /* is no stack */
  end_handler();
  assert_true(mappings_measure(0, true));
  assert_int_equal(told_bytes(), 4 * PAGE);
  mappings_remove(BASE, 8 * PAGE);
}

/* What it leaves behind is gone with it. Returns its status. */
static int in_child(int (*function)(void)) {
  int status = -1;
  pid_t child = fork();
  if (!child) _exit(function());
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void forget_the_recorder(void) { forgotten = true; }

static int be_forked_while_measuring(void) {
  for (uintptr_t i = 0; i < 3; i++)
    mappings_add(BASE + 4 * i * PAGE, PAGE, RECORDER_MAP_ANONYMOUS, numbered(1));
  interrupt = forget_the_recorder;
  mappings_measure(0, true);
  mappings_remove(BASE, 8 * PAGE);
  return interrupt ? 1 : 0;
}

static void a_measurement_goes_on_in_a_child_that_has_no_recorder(void **state) {
  (void)state;
  assert_int_equal(in_child(be_forked_while_measuring), 0);
}

static int queue_too_much(void) {
  bool before = mappings_measure(0, true);
  begin_handler();
  for (int i = 0; i < 1000; i++) {
    mappings_add(BASE, PAGE, RECORDER_MAP_ANONYMOUS, numbered(1));
    mappings_remove(BASE, PAGE);
  }
  end_handler();
  return before && !mappings_measure(0, true) ? 0 : 1;
}

static void a_handler_that_maps_more_than_is_queued_leaves_measurements_incomplete(void **state) {
  (void)state;
  assert_int_equal(in_child(queue_too_much), 0);
}

/* Pieces that are cut in two, moved, replaced and removed; and all of a program's at once. */
static void each_stack_is_released_as_often_as_it_was_kept(void **state) {
  (void)state;
  mappings_remove(BASE, PAGES * PAGE);
  long before = held;
  mappings_add(BASE, 9 * PAGE, RECORDER_MAP_ANONYMOUS, numbered(1));
  mappings_remove(BASE + 3 * PAGE, PAGE);
  assert_int_equal(held, before + 2);
  mappings_add(BASE + 20 * PAGE, 4 * PAGE, RECORDER_MAP_ANONYMOUS, numbered(2));
  assert_true(mappings_move(BASE + 20 * PAGE, 4 * PAGE, BASE + 30 * PAGE, 6 * PAGE));
  mappings_add(BASE + 30 * PAGE, 6 * PAGE, RECORDER_MAP_STACK, numbered(3));
  assert_int_equal(held, before + 3);
  mappings_stack_ends(BASE + 31 * PAGE);
  assert_int_equal(held, before + 2);
  mappings_remove(BASE, PAGES * PAGE);
  assert_int_equal(held, before);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_a_handler_maps_first_is_known_to_be_there),
      cmocka_unit_test(random_calls_tell_what_is_mapped),
      cmocka_unit_test(what_was_dropped_is_told_again),
      cmocka_unit_test(each_stack_is_released_as_often_as_it_was_kept),
      cmocka_unit_test(what_is_gone_before_it_is_measured_is_not_told),
      cmocka_unit_test(what_a_handler_maps_while_the_table_is_locked_is_told_by_the_next_who_locks_it),
      cmocka_unit_test(a_stack_that_ends_in_a_handler_is_gone),
      cmocka_unit_test(a_measurement_goes_on_in_a_child_that_has_no_recorder),
      cmocka_unit_test(a_handler_that_maps_more_than_is_queued_leaves_measurements_incomplete),
      cmocka_unit_test(a_full_table_takes_no_more)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
