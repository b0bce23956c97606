/* Stacks as values: from any thread, kept, shared and released, up to the limit; and the table of
 * code addresses. */
#include "support/test.h"

#include "base/metadata.h"
#include "callstack/capture.h"
#include "callstack/levels.h"
#include "callstack/pcs.h"
#include <pthread.h>
#include <string.h>

enum { THREADS = 4, STACKS = 3000, DEPTH = 6 };

static struct callstacks *shared;
static pthread_barrier_t barrier;

/* A stack of lines of a language's program, innermost first: any stack can be made so. */
static const wn_callstack *stack_of(const uint32_t *lines, size_t count) {
  wn_language_frame frames[DEPTH];
  for (size_t i = 0; i < count; i++)
    frames[i] = (wn_language_frame){
        .place = callstacks_place(shared, &(struct callstack_place){"f", "a file", lines[i], 0, 0, 0, 0})};
  const struct callstack_wish wish = {
      .depth = SIZE_MAX, .language = frames, .language_count = count, .language_only = true};
  return callstack_capture_with(shared, &wish);
}

static void fill(uint32_t *lines, unsigned number) {
  for (unsigned i = 0; i < DEPTH; i++) lines[i] = 4096 + 16 * (i * 31 + number % (i * i * i * 13 + 7));
  lines[0] = 4096 + 16 * number;
}

static void expect_lines(const wn_callstack *stack, unsigned number) {
  uint32_t lines[DEPTH];
  fill(lines, number);
  assert_int_equal(wn_callstack_depth(stack), DEPTH);
  for (unsigned j = 0; j < DEPTH; j++) assert_int_equal(wn_callstack_frame(stack, j).line, lines[j]);
}

/* Each thread keeps stacks, and releases those that the thread before it has kept. */
static _Atomic(const wn_callstack *) given[THREADS][STACKS];

static void *keep_and_release(void *argument) {
  unsigned me = (unsigned)(uintptr_t)argument, before = (me + THREADS - 1) % THREADS;
  pthread_barrier_wait(&barrier);
  for (unsigned i = 0; i < STACKS; i++) {
    uint32_t lines[DEPTH];
    fill(lines, i);
    const wn_callstack *kept = callstack_keep(stack_of(lines, DEPTH)), *found = NULL;
    callstack_share(kept);
    atomic_store(&given[me][i], kept);
    while (!(found = atomic_load(&given[before][i]))) sched_yield();
    expect_lines(found, i);
    callstack_release(found);
    expect_lines(kept, i);
    callstack_release(kept);
  }
  return NULL;
}

static void kept_stacks_last_until_each_user_has_released_them(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  shared = callstacks_create(&(struct callstacks_options){0});
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (uintptr_t i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, keep_and_release, (void *)i), 0);
  for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  assert_int_equal(callstacks_counts(shared).kept, 0);
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
  callstack_release(stack);
  callstacks_destroy(shared);
}

static void equal_stacks_are_equal_wherever_they_lie(void **state) {
  (void)state;
  uint32_t lines[DEPTH], others[DEPTH];
  fill(lines, 7);
  fill(others, 8);
  shared = callstacks_create(&(struct callstacks_options){0});
  const wn_callstack *kept = callstack_keep(stack_of(lines, DEPTH)), *stack = stack_of(lines, DEPTH);
  const wn_callstack *second = stack_of(lines, DEPTH); /* the memo is in use */
  wn_callstack *copy = wn_callstack_copy(stack);
  assert_true(wn_callstack_equal(kept, stack) && wn_callstack_equal(second, copy));
  assert_true(wn_callstack_equal(copy, stack) && wn_callstack_hash(copy) == wn_callstack_hash(kept));
  callstack_release(stack);
  callstack_release(second);
  const wn_callstack *other = stack_of(others, DEPTH), *shorter = stack_of(lines, DEPTH - 1);
  assert_false(wn_callstack_equal(other, copy) || wn_callstack_equal(shorter, copy));
  assert_true(wn_callstack_hash(other) != wn_callstack_hash(copy));
  callstack_release(other);
  callstack_release(shorter);
  callstack_release(kept);
  expect_lines(copy, 7);
  wn_callstack_free(copy);
  wn_callstack_free(NULL);
  assert_int_equal(callstacks_counts(shared).kept, 0);
  callstacks_destroy(shared);
}

static void a_full_store_gives_the_empty_stack_and_counts(void **state) {
  (void)state;
  enum { MOST = 200, MADE = 1000 };
  static const wn_callstack *kept[MADE];
  shared = callstacks_create(&(struct callstacks_options){.kept_most = MOST});
  unsigned empty = 0;
  for (uint32_t line = 1; line <= MADE; line++) {
    kept[line - 1] = callstack_keep(stack_of(&line, 1));
    if (wn_callstack_depth(kept[line - 1]) == 0)
      empty++;
    else
      assert_int_equal(wn_callstack_frame(kept[line - 1], 0).line, line);
  }
  assert_int_equal(empty, MADE - MOST);
  assert_int_equal(callstacks_counts(shared).full, empty);
  for (unsigned i = 0; i < MADE; i++) callstack_release(kept[i]);
  const uint32_t line = 7;
  const wn_callstack *stack = callstack_keep(stack_of(&line, 1)); /* there is room again */
  assert_int_equal(wn_callstack_frame(stack, 0).line, line);
  callstacks_destroy(shared);
}

/* A place in as many stacks as there are numbers of `DIGITS` digits. */
static void ever_new_stacks_take_no_memory(void **state) {
  (void)state;
  enum { DIGITS = 10, ROUNDS = 200000, LIVE = 64 };
  wn_place places[DIGITS], stack[20];
  const wn_callstack *live[LIVE] = {NULL};
  size_t before = 0;
  shared = callstacks_create(&(struct callstacks_options){0});
  for (uint32_t i = 0; i < DIGITS; i++)
    places[i] = callstacks_place(shared, &(struct callstack_place){"f", "a file", i, 0, 0, 0, 0});
  for (uint64_t round = 0, number = 1; round < ROUNDS; round++) {
    number = number * 6364136223846793005u + 1442695040888963407u;
    uint64_t digits = number >> 4;
    for (unsigned i = 0; i < 20; i++, digits /= 8) stack[i] = places[digits % 8];
    if (live[round % LIVE]) callstack_release(live[round % LIVE]);
    live[round % LIVE] = callstack_keep(callstack_of_places(shared, stack, 20, 20));
    if (round == ROUNDS / 100) before = metadata_bytes();
  }
  assert_int_equal(metadata_bytes(), before);
  assert_int_equal(callstacks_counts(shared).kept, LIVE);
  assert_int_equal(callstacks_counts(shared).full, 0);
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
      cmocka_unit_test(equal_stacks_are_equal_wherever_they_lie),
      cmocka_unit_test(kept_stacks_last_until_each_user_has_released_them),
      cmocka_unit_test(a_full_store_gives_the_empty_stack_and_counts),
      one_thread_test(ever_new_stacks_take_no_memory),
      cmocka_unit_test(threads_that_insert_a_key_together_get_one_slot),
      one_thread_test(an_address_can_die_thousands_of_times),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
