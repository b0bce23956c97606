/* Slots, as entries and profiles use them. */
#include "support/test.h"

#include "base/slots.h"
#include <pthread.h>
#include <string.h>

enum { SLOT = 64, LIMIT = 1000, THREADS = 16, ROUNDS = 20000, KEPT = 20 };

static struct slots slots;

static void *take_all(void *count) {
  uint32_t number;
  while (slots_take(&slots, stripe_of_thread(), &number)) ++*(size_t *)count;
  return NULL;
}

static void every_slot_up_to_the_limit_can_be_had(void **state) {
  (void)state;
  size_t count = 0;
  slots_open(&slots, SLOT, LIMIT);
  take_all(&count);
  assert_int_equal(count, LIMIT);
  slots_close(&slots);
}

static void at_the_limit_a_thread_takes_what_others_left(void **state) {
  (void)state;
  static void *taken[LIMIT];
  size_t count = 0;
  uint32_t number;
  pthread_t others[STRIPES];
  slots_open(&slots, SLOT, LIMIT);
  while (slots_take(&slots, stripe_of_thread(), &number)) taken[number] = slots_at(&slots, number);
  for (number = 0; number < LIMIT; number++) slots_give(&slots, taken[number], number);
  assert_int_equal(slots_free_count(&slots), LIMIT);
  /* One thread of each stripe, one after another: the first has everything, whatever its stripe. */
  for (unsigned i = 0; i < STRIPES; i++) {
    assert_int_equal(pthread_create(&others[i], NULL, take_all, &count), 0);
    pthread_join(others[i], NULL);
    assert_int_equal(count, LIMIT);
  }
  slots_close(&slots);
}

static _Atomic(int) owners[LIMIT];

/* Takes and gives back; a slot that two have at once is seen. */
static void *churn(void *argument) {
  (void)argument;
  uint32_t kept[KEPT];
  for (int round = 0; round < ROUNDS / KEPT; round++) {
    int count = 0;
    for (int i = 0; i < KEPT; i++)
      if (slots_take(&slots, stripe_of_thread(), &kept[count]))
        assert_int_equal(atomic_fetch_add(&owners[kept[count++]], 1), 0);
    while (count--) {
      atomic_fetch_sub(&owners[kept[count]], 1);
      slots_give(&slots, slots_at(&slots, kept[count]), kept[count]);
    }
  }
  return NULL;
}

static void no_slot_is_taken_by_two_threads(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  slots_open(&slots, SLOT, THREADS * KEPT / 2);
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, churn, NULL), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  assert_int_equal(slots_free_count(&slots), slots_numbered(&slots));
  slots_close(&slots);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_slot_up_to_the_limit_can_be_had),
      cmocka_unit_test(at_the_limit_a_thread_takes_what_others_left),
      cmocka_unit_test(no_slot_is_taken_by_two_threads),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
