/* The part of a function that the compiler has put elsewhere is found. */
#include "callstack/capture.h"
#include "callstack/cfi.h"
#include "callstack/object.h"
#include "support/test.h"
#include <stdlib.h>

static uintptr_t seldom_at;

__attribute__((noinline, cold)) static int seldom(int number) {
  seldom_at = (uintptr_t)__builtin_return_address(0) - 1;
  __asm__ volatile("");
  return number + 3;
}

/* The call of what is cold is in another part, which jumps back. */
__attribute__((noinline)) static int splits(int number) {
  int sum = 0;
  for (int i = 0; i < number; i++) {
    if (__builtin_expect(i % 1000 == 999, 0)) sum += seldom(i) * sum;
    __asm__ volatile("" : "+r"(sum));
  }
  return sum;
}

__attribute__((noinline)) static int stays_whole(int number) {
  int sum = 0;
  for (int i = 0; i < number; i++) __asm__ volatile("" : "+r"(sum));
  return sum;
}

static void range_of(int (*function)(int), uintptr_t *begin, uintptr_t *end) {
  struct object object;
  assert_true(object_find(object_best_source(), (uintptr_t)function, &object));
  const struct cfi_section section = {object.base, object.size, object.eh_frame_hdr};
  assert_true(cfi_find_function(&section, (uintptr_t)function, begin, end));
}

static void the_part_of_a_split_function_is_found(void **state) {
  (void)state;
  uintptr_t begin, end, part_begin = 0, part_end = 0;
  range_of(splits, &begin, &end);
  splits(1001);
  if (seldom_at - begin < end - begin) skip(); /* this compiler does not split it */
  assert_true(callstack_split_part(begin, end, &part_begin, &part_end));
  assert_true(seldom_at - part_begin < part_end - part_begin);
}

static void a_whole_function_has_no_other_part(void **state) {
  (void)state;
  uintptr_t begin, end, part_begin, part_end;
  range_of(stays_whole, &begin, &end);
  assert_false(callstack_split_part(begin, end, &part_begin, &part_end));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_part_of_a_split_function_is_found),
                                     cmocka_unit_test(a_whole_function_has_no_other_part)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
