/* The tables: one pointer a stack, from any thread, up to the limit. */
#include "support/test.h"

#include "callstack/capture.h"
#include "callstack/levels.h"
#include "callstack/pcs.h"
#include <pthread.h>
#include <string.h>

enum { THREADS = 4, STACKS = 3000, DEPTH = 6 };

static struct callstacks *shared;
static const wn_callstack *made[THREADS][STACKS];
static pthread_barrier_t barrier;

/* A stack of lines of a language's program, innermost first: any stack can be made so. */
static const wn_callstack *stack_of(const uint32_t *lines, size_t count) {
  wn_language_frame frames[DEPTH];
  for (size_t i = 0; i < count; i++)
    frames[i] = (wn_language_frame){
        .place = callstacks_place(shared, &(struct callstack_place){"f", "a file", lines[i], 0, 0})};
  const struct callstack_wish wish = {
      .depth = SIZE_MAX, .language = frames, .language_count = count, .language_only = true};
  return callstack_capture_with(shared, &wish);
}

static void fill(uint32_t *lines, unsigned number) {
  for (unsigned i = 0; i < DEPTH; i++) lines[i] = 4096 + 16 * (i * 31 + number % (i * i * i * 13 + 7));
  lines[0] = 4096 + 16 * number;
}

static void *make(void *argument) {
  const wn_callstack **mine = argument;
  pthread_barrier_wait(&barrier);
  for (unsigned i = 0; i < STACKS; i++) {
    uint32_t lines[DEPTH];
    fill(lines, i);
    mine[i] = stack_of(lines, DEPTH);
  }
  return NULL;
}

static void threads_that_meet_a_stack_together_get_one_node(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  shared = callstacks_create(&(struct callstacks_options){0});
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (unsigned i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, make, made[i]), 0);
  for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (unsigned i = 0; i < STACKS; i++) {
    uint32_t lines[DEPTH];
    fill(lines, i);
    for (unsigned thread = 1; thread < THREADS; thread++) assert_ptr_equal(made[thread][i], made[0][i]);
    assert_int_equal(wn_callstack_depth(made[0][i]), DEPTH);
    for (unsigned j = 0; j < DEPTH; j++) assert_int_equal(wn_callstack_frame(made[0][i], j).line, lines[j]);
    if (i) assert_ptr_not_equal(made[0][i], made[0][i - 1]);
  }
  assert_int_equal(callstacks_counts(shared).full, 0);
  callstacks_destroy(shared);
}

static void all_frames_at_once_are_those_asked_one_by_one(void **state) {
  (void)state;
  uint32_t lines[DEPTH];
  fill(lines, 7);
  shared = callstacks_create(&(struct callstacks_options){0});
  const wn_callstack *stack = stack_of(lines, DEPTH);
  wn_frame frames[DEPTH + 1];
  for (size_t most = 0; most <= DEPTH + 1; most++) {
    memset(frames, 0xaa, sizeof frames);
    assert_int_equal(wn_callstack_frames(stack, most ? frames : NULL, most), DEPTH);
    for (size_t i = 0; i < most && i < DEPTH; i++) {
      wn_frame one = wn_callstack_frame(stack, i);
      assert_int_equal(frames[i].line, lines[i]);
      assert_int_equal(one.line, lines[i]);
      assert_int_equal(frames[i].pc, one.pc);
      assert_int_equal(frames[i].offset, one.offset);
      assert_ptr_equal(frames[i].module, one.module);
    }
    if (most <= DEPTH) assert_int_equal(frames[most].line, 0xaaaaaaaa);
  }
  assert_int_equal(wn_callstack_frame(stack, DEPTH).pc, 0);
  callstacks_destroy(shared);
}

/* As of an interpreter's loop: more than fit into a list of children. */
static void a_caller_with_thousands_of_callees_has_each_once(void **state) {
  (void)state;
  enum { CALLEES = 5000 };
  static const wn_callstack *seen[CALLEES];
  shared = callstacks_create(&(struct callstacks_options){0});
  for (unsigned round = 0; round < 2; round++)
    for (unsigned i = 0; i < CALLEES; i++) {
      const uint32_t lines[] = {64 + i, 32};
      const wn_callstack *stack = stack_of(lines, 2);
      if (round)
        assert_ptr_equal(stack, seen[i]);
      else
        seen[i] = stack;
      assert_int_equal(wn_callstack_depth(stack), 2);
      assert_int_equal(wn_callstack_frame(stack, 0).line, lines[0]);
      assert_int_equal(wn_callstack_frame(stack, 1).line, lines[1]);
    }
  assert_int_equal(callstacks_counts(shared).nodes, CALLEES + 1);
  callstacks_destroy(shared);
}

static void a_full_table_gives_the_empty_stack_and_counts(void **state) {
  (void)state;
  shared = callstacks_create(&(struct callstacks_options){.nodes_most = 200});
  unsigned empty = 0;
  for (uint32_t line = 1; line <= 1000; line++) {
    const wn_callstack *stack = stack_of(&line, 1);
    assert_non_null(stack);
    if (callstack_id(stack) == 0)
      empty++;
    else
      assert_int_equal(wn_callstack_frame(stack, 0).line, line);
  }
  struct callstack_counts counts = callstacks_counts(shared);
  assert_true(counts.nodes <= 200 && counts.nodes >= 50);
  assert_int_equal(counts.nodes + empty, 1000);
  assert_int_equal(counts.full, empty);
  callstacks_destroy(shared);
}

static void numbers_lead_from_a_stack_to_its_callers(void **state) {
  (void)state;
  shared = callstacks_create(&(struct callstacks_options){0});
  const uint32_t lines[] = {1001, 2002, 3003};
  uint32_t id = callstack_id(stack_of(lines, 3)), parent, module;
  for (unsigned i = 0; i < 3; i++, id = parent) {
    uint64_t offset;
    struct callstack_place place;
    assert_int_equal(id, callstack_id(stack_of(lines + i, 3 - i)));
    callstack_node(shared, id, &parent, &module, &offset);
    assert_true(callstack_place(shared, module, offset, &place));
    assert_int_equal(place.line, lines[i]);
  }
  assert_int_equal(id, 0);
  callstacks_destroy(shared);
}

/* As from a damaged trace, or a caller's mistake. */
static void a_number_that_was_not_given_out_is_of_no_stack(void **state) {
  (void)state;
  enum { STACKS_MADE = 1000, NUMBERS = 5000 };
  static bool given[NUMBERS];
  shared = callstacks_create(&(struct callstacks_options){0});
  for (uint32_t line = 1; line <= STACKS_MADE; line++) given[callstack_id(stack_of(&line, 1))] = true;
  assert_false(given[0]);
  for (uint32_t id = 0; id < NUMBERS; id++) {
    uint32_t parent, module;
    uint64_t offset;
    callstack_node(shared, id, &parent, &module, &offset);
    assert_int_equal(parent, 0);
    if (given[id])
      assert_true(offset >= 1 && offset <= STACKS_MADE);
    else
      assert_int_equal(offset, 0);
  }
  callstacks_destroy(shared);
}

/* ---- the table of code addresses ---- */

enum { KEYS = 20000 };

static struct levels table;
static uint32_t index_of[THREADS][KEYS];

/* Each thread begins with another key, and inserts all. */
static void *insert_all(void *argument) {
  uint32_t *indices = argument;
  unsigned first = (unsigned)((indices - index_of[0]) / KEYS) * (KEYS / THREADS);
  pthread_barrier_wait(&barrier);
  for (unsigned i = 0; i < KEYS; i++) {
    unsigned number = (first / 2 + i) % KEYS;
    if (!levels_insert(&table, 4096 + 16 * (uint64_t)number, &indices[number])) return NULL;
  }
  return argument;
}

static void threads_that_insert_a_key_together_get_one_slot(void **state) {
  pthread_t threads[THREADS];
  static bool taken[1 << 20];
  (void)state;
  assert_true(levels_create(&table, 6, sizeof taken));
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (unsigned i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, insert_all, index_of[i]), 0);
  for (unsigned i = 0; i < THREADS; i++) {
    void *done;
    pthread_join(threads[i], &done);
    assert_non_null(done);
  }
  for (unsigned number = 0; number < KEYS; number++) {
    uint32_t index = index_of[0][number], found;
    for (unsigned thread = 1; thread < THREADS; thread++) assert_int_equal(index_of[thread][number], index);
    assert_in_range(index, 1, sizeof taken - 1);
    assert_false(taken[index]);
    taken[index] = true;
    assert_non_null(levels_find(&table, 4096 + 16 * (uint64_t)number, &found));
    assert_int_equal(found, index);
  }
  levels_destroy(&table);
}

enum { LIVES = 2000, ADDRESSES = 3 };

static void set_dead(struct levels *levels, uint32_t index, bool dead) {
  struct slot *slot = levels_at(levels, index);
  uint64_t key = atomic_load(&slot->key) & ~PC_DEAD;
  atomic_store(&slot->key, dead ? key | PC_DEAD : key);
}

/* As libraries do that are loaded at one place, one after the other. */
static void an_address_can_die_thousands_of_times(void **state) {
  static uint32_t indices[LIVES][ADDRESSES];
  static bool taken[1 << 17];
  uint32_t found, levels = 0;
  (void)state;
  assert_true(levels_create(&table, 12, 1u << 22));
  for (unsigned life = 0; life < LIVES; life++)
    for (unsigned i = 0; i < ADDRESSES; i++) {
      uint64_t key = 0x7f0012345678 + 64 * i;
      uint32_t *index = &indices[life][i];
      assert_null(levels_find(&table, key, &found));
      assert_non_null(levels_insert(&table, key, index));
      assert_non_null(levels_find(&table, key, &found));
      assert_int_equal(found, *index);
      assert_in_range(*index, 1, sizeof taken - 1);
      assert_false(taken[*index]);
      taken[*index] = true;
      set_dead(&table, *index, true);
    }
  for (unsigned life = 0; life < LIVES; life += 7) { /* and come back */
    set_dead(&table, indices[life][1], false);
    assert_non_null(levels_find(&table, 0x7f0012345678 + 64, &found));
    assert_int_equal(found, indices[life][1]);
    set_dead(&table, indices[life][1], true);
  }
  while (levels < LEVELS_MOST && atomic_load(&table.level[levels])) levels++;
  assert_in_range(levels, 1, 5); /* of 11 */
  levels_destroy(&table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_frames_at_once_are_those_asked_one_by_one),
      cmocka_unit_test(threads_that_meet_a_stack_together_get_one_node),
      cmocka_unit_test(a_caller_with_thousands_of_callees_has_each_once),
      cmocka_unit_test(a_full_table_gives_the_empty_stack_and_counts),
      cmocka_unit_test(numbers_lead_from_a_stack_to_its_callers),
      cmocka_unit_test(a_number_that_was_not_given_out_is_of_no_stack),
      cmocka_unit_test(threads_that_insert_a_key_together_get_one_slot),
      cmocka_unit_test(an_address_can_die_thousands_of_times),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
