/* Places of a language: one number for equal ones, whoever asks, and names that stay. */
#include "support/test.h"

#include "base/check.h"
#include "callstack/capture.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <winnow/status.h>

enum { THREADS = 4, PLACES = TINY ? 2000 : 20000, LONGEST = 1000 };

static struct callstacks *shared;

static const wn_callstack *stack_of(struct callstacks *callstacks, const wn_place *places, size_t count) {
  wn_language_frame frames[16];
  for (size_t i = 0; i < count; i++) frames[i] = (wn_language_frame){.place = places[i]};
  const struct callstack_wish wish = {
      .depth = SIZE_MAX, .language = frames, .language_count = count, .language_only = true};
  return callstack_keep(callstack_capture_with(callstacks, &wish));
}

static wn_frame frame_of(struct callstacks *callstacks, wn_place place) {
  return wn_callstack_frame(stack_of(callstacks, &place, 1), 0);
}

/* ---- stacks of places alone ---- */

enum { RANDOM_STACKS = TINY ? 300 : 3000, DEEPEST = 700, KNOWN = 40 };

/* Changes the inner end of a stack: places, and now and then a number that is no place's. Returns
 * its new depth; innermost first. */
static size_t vary(wn_place *stack, size_t depth, uint64_t *seed) {
  wn_place outer[DEEPEST];
  size_t kept = depth ? (*seed >> 33) % (depth + 1) : 0;
  for (size_t i = 0; i < kept; i++) outer[i] = stack[depth - 1 - i];
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  size_t most = (*seed >> 40) % 8 ? 30 : DEEPEST, deeper = kept + (*seed >> 33) % most;
  if (deeper > DEEPEST) deeper = DEEPEST;
  for (size_t i = kept; i < deeper; i++) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    outer[i] = (wn_place)((*seed >> 33) % 200 ? 1 + (*seed >> 41) % KNOWN : 100000);
  }
  for (size_t i = 0; i < deeper; i++) stack[i] = outer[deeper - 1 - i];
  return deeper;
}

static void *compare_stacks(void *number) {
  wn_place stack[DEEPEST];
  wn_language_frame frames[DEEPEST];
  uint64_t seed = (uint64_t)(uintptr_t)number;
  size_t depth = 0;
  for (int run = 0; run < RANDOM_STACKS; run++) {
    depth = vary(stack, depth, &seed);
    for (size_t i = 0; i < depth; i++) frames[i] = (wn_language_frame){.place = stack[i]};
    const struct callstack_wish wish = {
        .depth = SIZE_MAX, .language = frames, .language_count = depth, .language_only = true};
    const wn_callstack *one = callstack_of_places(shared, stack, depth, depth),
                       *other = callstack_capture_with(shared, &wish);
    bool same = wn_callstack_equal(one, other);
    callstack_release(one);
    callstack_release(other);
    if (!same) return number;
  }
  return NULL;
}

static void places_alone_are_the_stack_of_language_frames_alone(void **state) {
  pthread_t threads[THREADS];
  (void)state;
  shared = callstacks_create(&(struct callstacks_options){.language = "toy"});
  for (uint32_t i = 0; i < KNOWN; i++)
    callstacks_place(shared, &(struct callstack_place){"f", "a", i + 1, 0, 0, 0, 0});
  for (uintptr_t i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, compare_stacks, (void *)(i + 1)), 0);
  for (int i = 0; i < THREADS; i++) {
    void *wrong;
    assert_int_equal(pthread_join(threads[i], &wrong), 0);
    assert_null(wrong);
  }
  callstacks_destroy(shared);
}

static void stacks_of_places_are_cut_as_those_of_language_frames(void **state) {
  enum { COUNT = 12 };
  (void)state;
  struct callstacks *callstacks = callstacks_create(&(struct callstacks_options){.language = "toy"});
  wn_language_frame frames[COUNT];
  wn_place places[COUNT];
  for (uint32_t i = 0; i < COUNT; i++) {
    places[i] = callstacks_place(callstacks, &(struct callstack_place){"f", "a", i + 1, 0, 0, 0, 0});
    frames[i] = (wn_language_frame){.place = places[i]};
  }
  for (size_t depth = 1; depth < COUNT + 2; depth++) {
    const struct callstack_wish wish = {
        .depth = depth, .language = frames, .language_count = COUNT, .language_only = true};
    const wn_callstack *stack = callstack_of_places(callstacks, places, COUNT, depth),
                       *other = callstack_capture_with(callstacks, &wish);
    assert_true(wn_callstack_equal(stack, other));
    assert_int_equal(wn_callstack_depth(stack), depth < COUNT ? depth : COUNT);
    assert_int_equal(stack->count - wn_callstack_depth(stack), depth < COUNT);
    callstack_release(stack);
    callstack_release(other);
  }
  assert_int_equal(callstack_of_places(callstacks, places, COUNT, 0)->count, 0);
  callstacks_destroy(callstacks);
}

static void numbers_that_no_place_has_are_left_out(void **state) {
  (void)state;
  struct callstacks *callstacks = callstacks_create(&(struct callstacks_options){.language = "toy"});
  wn_place first = callstacks_place(callstacks, &(struct callstack_place){"f", "a", 1, 0, 0, 0, 0}),
           last = callstacks_place(callstacks, &(struct callstack_place){"g", "a", 2, 0, 0, 0, 0});
  const wn_place whole[] = {first, last}, holes[] = {0, first, last + 1, last, UINT32_MAX};
  const wn_callstack *stack = callstack_of_places(callstacks, holes, 5, 5);
  assert_int_equal(wn_callstack_depth(stack), 2);
  const wn_callstack *kept = callstack_keep(stack), *other = callstack_of_places(callstacks, whole, 2, 2);
  assert_true(wn_callstack_equal(kept, other));
  callstack_release(other);
  callstack_release(kept);
  callstacks_destroy(callstacks);
}

/* ---- names ---- */

static void a_stack_of_places_is_one_however_often_it_is_made(void **state) {
  (void)state;
  shared = callstacks_create(&(struct callstacks_options){.language = "toy"});
  wn_place places[] = {callstacks_place(shared, &(struct callstack_place){"f", "a", 1, 0, 0, 0, 0}),
                       callstacks_place(shared, &(struct callstack_place){"g", "b", 2, 0, 0, 0, 0})};
  const wn_callstack *stack = stack_of(shared, places, 2);
  assert_true(wn_callstack_equal(stack_of(shared, places, 2), stack));
  assert_int_equal(wn_callstack_depth(stack), 2);
  assert_string_equal(wn_callstack_frame(stack, 0).function, "f");
  assert_string_equal(wn_callstack_frame(stack, 1).function, "g");
  assert_string_equal(wn_callstack_frame(stack, 1).module, "[toy]");
  assert_int_equal(wn_callstack_frame(stack, 1).offset, places[1]);
  callstacks_destroy(shared);
}

static void what_is_missing_is_empty(void **state) {
  (void)state;
  shared = callstacks_create(&(struct callstacks_options){0});
  wn_frame frame =
      frame_of(shared, callstacks_place(shared, &(struct callstack_place){NULL, NULL, 0, 0, 0, 0, 0}));
  assert_string_equal(frame.function, "");
  assert_string_equal(frame.file, "");
  assert_int_equal(frame.line, 0);
  assert_string_equal(frame.module, "[language]");
  callstacks_destroy(shared);
}

static void long_names_are_cut_between_characters(void **state) {
  char text[2 * LONGEST + 1];
  (void)state;
  shared = callstacks_create(&(struct callstacks_options){0});
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = 0;
  memcpy(text + LONGEST - 1, "\xe2\x82\xac", 3); /* one character, which the limit would cut */
  wn_frame frame =
      frame_of(shared, callstacks_place(shared, &(struct callstack_place){text, text, 1, 0, 0, 0, 0}));
  assert_int_equal(strlen(frame.function), LONGEST - 1);
  assert_int_equal(strlen(frame.file), LONGEST - 1);
  text[LONGEST] = 0;
  memset(text, 'y', LONGEST);
  assert_string_equal(
      frame_of(shared, callstacks_place(shared, &(struct callstack_place){text, text, 1, 0, 0, 0, 0}))
          .function,
      text);
  callstacks_destroy(shared);
}

static void each_context_has_its_own_places(void **state) {
  (void)state;
  struct callstacks *a = callstacks_create(&(struct callstacks_options){.language = "a"});
  struct callstacks *b = callstacks_create(&(struct callstacks_options){.language = "b"});
  wn_place in_a = callstacks_place(a, &(struct callstack_place){"in a", "", 1, 0, 0, 0, 0}),
           in_b = callstacks_place(b, &(struct callstack_place){"in b", "", 1, 0, 0, 0, 0});
  assert_int_equal(in_a, in_b);
  assert_string_equal(frame_of(a, in_a).function, "in a");
  assert_string_equal(frame_of(b, in_b).function, "in b");
  callstacks_destroy(a);
  assert_string_equal(frame_of(b, in_b).module, "[b]");
  callstacks_destroy(b);
}

static void a_language_is_never_unloaded(void **state) {
  (void)state;
  for (int without_loader = 0; without_loader < 2; without_loader++) {
    shared = callstacks_create(&(struct callstacks_options){.without_loader = without_loader});
    wn_place place = callstacks_place(shared, &(struct callstack_place){"f", "", 1, 0, 0, 0, 0});
    const wn_callstack *stack = stack_of(shared, &place, 1);
    uint32_t number;
    uint64_t offset;
    callstacks_modules_refresh(shared, NULL, NULL);
    struct callstack_module module;
    callstack_frame(shared, stack->frame[0], &number, &offset);
    assert_true(callstack_module(shared, number, &module));
    assert_false(module.gone);
    assert_true(wn_callstack_equal(stack_of(shared, &place, 1), stack));
    callstacks_destroy(shared);
  }
}

static void only_the_language_has_names(void **state) {
  (void)state;
  shared = callstacks_create(&(struct callstacks_options){0});
  struct callstack_place found;
  uint32_t module;
  uint64_t offset;
  assert_false(callstack_place(shared, 0, 1, &found));
  callstack_frame(shared, callstack_keep(callstack_capture(shared, 5))->frame[0], &module, &offset);
  wn_place place = callstacks_place(shared, &(struct callstack_place){"f", "", 1, 0, 0, 0, 0});
  assert_false(callstack_place(shared, module, offset, &found));
  assert_false(callstack_place(shared, module, place, &found));
  callstack_frame(shared, stack_of(shared, &place, 1)->frame[0], &module, &offset);
  assert_true(callstack_place(shared, module, offset, &found));
  assert_false(callstack_place(shared, module, 0, &found));
  assert_false(callstack_place(shared, module, offset + 1, &found));
  assert_false(callstack_place(shared, module, UINT64_MAX, &found));
  callstacks_destroy(shared);
}

/* ---- many ---- */

static wn_place numbers[THREADS][PLACES];

static wn_place enter(unsigned i) {
  char function[32], file[32];
  snprintf(function, sizeof function, "function %u", i / 3);
  snprintf(file, sizeof file, "file %u", i / 100);
  return callstacks_place(shared, &(struct callstack_place){function, file, i % 3, 0, 0, 0, 0});
}

/* Each thread in another order, and looks at what it got at once. */
static void *enter_all(void *argument) {
  wn_place *mine = argument;
  unsigned start = (unsigned)((mine - numbers[0]) / PLACES) * (PLACES / THREADS);
  for (unsigned n = 0; n < PLACES; n++) {
    unsigned i = (start + n) % PLACES;
    char expected[32];
    snprintf(expected, sizeof expected, "function %u", i / 3);
    mine[i] = enter(i);
    wn_frame frame = frame_of(shared, mine[i]);
    if (!frame.function || strcmp(frame.function, expected) || frame.line != i % 3) return (void *)1;
  }
  return NULL;
}

static void threads_agree_on_all_numbers(void **state) { /* M66d */
  pthread_t threads[THREADS];
  (void)state;
  shared = callstacks_create(&(struct callstacks_options){0});
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, enter_all, numbers[i]), 0);
  for (int i = 0; i < THREADS; i++) {
    void *wrong;
    pthread_join(threads[i], &wrong);
    assert_null(wrong);
  }
  for (int i = 1; i < THREADS; i++) assert_memory_equal(numbers[0], numbers[i], sizeof numbers[0]);
  unsigned char seen[PLACES + 1] = {0};
  for (unsigned i = 0; i < PLACES; i++) {
    assert_in_range(numbers[0][i], 1, PLACES);
    assert_int_equal(seen[numbers[0][i]]++, 0);
  }
  callstacks_destroy(shared);
}

/* ---- keys ---- */

/* All keys have one slot. */
static uint64_t key_of(uint64_t number) { return number << 32 | 7; }

static void *note_and_look(void *first) {
  uint64_t number = (uintptr_t)first;
  for (int i = 0; i < (TINY ? 20000 : 2000000); i++) {
    number = number * 6364136223846793005u + 1442695040888963407u;
    wn_place noted = 1 + (wn_place)(number >> 33) % KNOWN, wanted = 1 + (wn_place)(number >> 43) % KNOWN;
    if (i % 2) callstacks_note(shared, key_of(noted), noted);
    wn_place known = callstacks_known(shared, key_of(wanted));
    if (known && known != wanted) return (void *)1;
  }
  return NULL;
}

static void a_place_is_known_by_its_key_alone(void **state) {
  pthread_t threads[THREADS];
  void *wrong;
  (void)state;
  shared = callstacks_create(&(struct callstacks_options){0});
  assert_int_equal(callstacks_known(shared, 0), 0);
  assert_int_equal(callstacks_known(shared, key_of(3)), 0);
  callstacks_note(shared, key_of(3), 3);
  assert_int_equal(callstacks_known(shared, key_of(3)), 3);
  assert_int_equal(callstacks_known(shared, key_of(4)), 0);
  callstacks_note(shared, key_of(4), 4);
  assert_int_equal(callstacks_known(shared, key_of(3)), 0);
  assert_int_equal(callstacks_known(shared, key_of(4)), 4);
  for (uintptr_t i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, note_and_look, (void *)(i + 1)), 0);
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(threads[i], &wrong), 0);
    assert_null(wrong);
  }
  callstacks_destroy(shared);
}

/* In a child that may have one more MiB of addresses. */
static int enter_all_there_is_room_for(void) {
  struct rlimit limit;
  unsigned i = 0;
  long pages;
  FILE *statm = fopen("/proc/self/statm", "r");
  shared = callstacks_create(&(struct callstacks_options){0});
  if (!statm || fscanf(statm, "%ld", &pages) != 1 || getrlimit(RLIMIT_AS, &limit)) return 1;
  limit.rlim_cur = (rlim_t)pages * 4096 + (1 << 20);
  if (setrlimit(RLIMIT_AS, &limit)) return 2;
  while (enter(i)) i++;
  if (i < 2 || !strlen(wn_last_error()) || enter(i) || enter(0) != 1) return 3;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_AS, &limit)) return 2;
  return strcmp(frame_of(shared, 1).function, "function 0") ? 4 : 0;
}

static void where_there_is_no_room_there_is_no_place(void **state) {
  (void)state;
  int status;
  pid_t child = fork();
  if (!child) _exit(enter_all_there_is_room_for());
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

/* ---- where a stack begins ---- */

static const wn_callstack *captured, *first_frame;
static const void *after_inner, *after_outer;
static __attribute__((noinline)) void inner(const void *from) {
  const struct callstack_wish wish = {.depth = SIZE_MAX, .from = from}, first = {.depth = 1, .from = from};
  after_inner = __builtin_return_address(0);
  captured = callstack_keep(callstack_capture_with(shared, &wish));
  if (from) first_frame = callstack_keep(callstack_capture_with(shared, &first));
  __asm__ volatile("" ::: "memory"); /* no tail call */
}
static __attribute__((noinline)) void outer(bool from_here) {
  after_outer = __builtin_return_address(0);
  inner(from_here ? __builtin_frame_address(0) : NULL);
  __asm__ volatile("" ::: "memory");
}

static void a_stack_begins_with_the_caller_of_the_frame_that_is_named(void **state) {
  (void)state;
  shared = callstacks_create(&(struct callstacks_options){0});
  outer(false);
  size_t depth = wn_callstack_depth(captured);
  assert_int_equal(wn_callstack_frame(captured, 1).pc, (uintptr_t)after_inner);
  outer(true);
  assert_int_equal(wn_callstack_frame(captured, 0).pc, (uintptr_t)after_outer);
  assert_int_equal(wn_callstack_depth(captured), depth - 2);
  assert_int_equal(wn_callstack_depth(first_frame), 1);
  assert_int_equal(wn_callstack_frame(first_frame, 0).pc, (uintptr_t)after_outer);
  callstacks_destroy(shared);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_alone_are_the_stack_of_language_frames_alone),
      cmocka_unit_test(stacks_of_places_are_cut_as_those_of_language_frames),
      cmocka_unit_test(numbers_that_no_place_has_are_left_out),
      cmocka_unit_test(a_stack_of_places_is_one_however_often_it_is_made),
      cmocka_unit_test(what_is_missing_is_empty),
      cmocka_unit_test(long_names_are_cut_between_characters),
      cmocka_unit_test(each_context_has_its_own_places),
      cmocka_unit_test(a_language_is_never_unloaded),
      cmocka_unit_test(only_the_language_has_names),
      cmocka_unit_test(threads_agree_on_all_numbers),
      cmocka_unit_test(a_place_is_known_by_its_key_alone),
      cmocka_unit_test(where_there_is_no_room_there_is_no_place),
      cmocka_unit_test(a_stack_begins_with_the_caller_of_the_frame_that_is_named),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
