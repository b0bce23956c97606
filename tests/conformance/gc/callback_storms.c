/* Callbacks that work: finalisers that allocate, register and raise, on several domains, and alarms
 * that read messages while the program reads others. */
#include "gc/journal.h"

#include "base/check.h"
#include <stdlib.h>
#include <string.h>
#include <winnow/marshal.h>

/* ---- finalisers that make more work ---- */

enum { DOMAINS = 4, BROODS = TINY ? 100 : 400, GENERATIONS = 3, PATIENCE = 100000 };

/* Of one domain, whose finalisers run on it. */
struct brood {
  long registered, called, raised, taken;
};

static void hatch(wn_domain *domain, struct brood *brood, intptr_t generations);

static void collect_or_allocate(wn_domain *domain, const struct brood *brood) {
  WN_SCOPE(domain);
  assert_int_equal(length_of(domain, make_list(domain, 30, 10)), 30);
  if (brood->called % 50 == 0) wn_gc_minor(domain);
  if (brood->called % 400 == 0) wn_gc_full_major(domain);
}

/* Of each value two more come, until its last generation. */
static void work_first(wn_domain *domain, wn_ref value, void *context) {
  struct brood *brood = context;
  intptr_t generations = number_of(value);
  brood->called++;
  collect_or_allocate(domain, brood);
  assert_int_equal(number_of(value), generations);
  for (int i = 0; i < 2 && generations; i++) hatch(domain, brood, generations - 1);
  if (brood->called % 7 == 0) brood->raised++, wn_raise(domain, value);
}

static void work_last(wn_domain *domain, void *context) {
  struct brood *brood = context;
  brood->called++;
  collect_or_allocate(domain, brood);
  if (brood->called % 11 == 0) {
    WN_SCOPE(domain);
    brood->raised++;
    wn_raise(domain, block_of(domain, brood->called));
  }
}

/* A value that is dead at once, and has a finaliser of each kind. */
static void hatch(wn_domain *domain, struct brood *brood, intptr_t generations) {
  WN_SCOPE(domain);
  wn_ref value = block_of(domain, generations);
  assert_int_equal(wn_gc_finalise(domain, work_first, brood, value), WN_OK);
  assert_int_equal(wn_gc_finalise_last(domain, work_last, brood, value), WN_OK);
  brood->registered += 2;
}

static void take_exceptions(wn_domain *domain, struct brood *brood) {
  for (;;) {
    WN_SCOPE(domain);
    if (wn_is_null(wn_take_exception(domain))) return;
    brood->taken++;
  }
}

static void raise_a_brood(wn_domain *domain, void *argument) {
  struct brood *brood = argument;
  for (int i = 0; i < BROODS / DOMAINS; i++) {
    hatch(domain, brood, GENERATIONS);
    allocate(domain, 5, 20);
    wn_poll(domain);
    take_exceptions(domain, brood);
  }
  for (int i = 0; i < PATIENCE && brood->called < brood->registered; i++) {
    wn_gc_full_major(domain); /* WN_EBUSY where one has raised */
    take_exceptions(domain, brood);
  }
  take_exceptions(domain, brood);
}

static void finalisers_that_allocate_register_and_raise_are_each_called_once(void **state) { /* G33, G41 */
  (void)state;
  struct journal of;
  struct brood broods[DOMAINS] = {{0}};
  wn_join *joins[DOMAINS];
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.text = "minor_heap_size=4k";
  journal_open(&of, &options);
  for (int i = 0; i < DOMAINS; i++) joins[i] = spawn(of.domain, raise_a_brood, &broods[i]);
  for (int i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
  for (int i = 0; i < DOMAINS; i++) {
    assert_int_equal(broods[i].registered, BROODS / DOMAINS * 2 * ((2 << GENERATIONS) - 1));
    assert_int_equal(broods[i].called, broods[i].registered);
    assert_true(broods[i].raised > 0);
    assert_int_equal(broods[i].taken, broods[i].raised);
  }
  wn_gc_full_major(of.domain);
  assert_int_equal(read_stat(of.domain).live_blocks, 0);
  journal_close(&of);
}

/* ---- messages within messages ---- */

enum { READS = TINY ? 20 : 60, LINKS = 3000, PIECE = 1000 };

struct message {
  void *bytes;
  size_t size, given;
  long length;
};

static struct message message_of(wn_domain *domain, long length) {
  struct message message = {.length = length};
  WN_SCOPE(domain);
  wn_ref list = make_list(domain, length, 3);
  assert_int_equal(wn_marshal_write(domain, list, 0, &message.bytes, &message.size), WN_OK);
  return message;
}

/* Gives a message in pieces, in a blocking section, where the other threads have their turn. */
static size_t give_piece(void *bytes, size_t size, void *context) {
  struct message *message = context;
  size_t left = message->size - message->given;
  if (size > PIECE) size = PIECE;
  if (size > left) size = left;
  memcpy(bytes, (const char *)message->bytes + message->given, size);
  message->given += size;
  return size;
}

static void read_whole(wn_domain *domain, struct message *message) {
  WN_SCOPE(domain);
  wn_ref list;
  message->given = 0;
  assert_int_equal(wn_marshal_read_from(domain, give_piece, message, 0, &list), WN_OK);
  assert_int_equal(message->given, message->size);
  assert_int_equal(length_of(domain, list), message->length);
}

struct reader {
  struct message inner;
  int calls;
  _Atomic(int) over;
};

static void read_in_an_alarm(wn_domain *domain, void *context) {
  struct reader *reader = context;
  reader->calls++;
  read_whole(domain, &reader->inner);
}

static void collect_until_over(wn_domain *domain, void *argument) {
  const struct reader *reader = argument;
  while (!atomic_load(&reader->over)) {
    assert_int_equal(wn_gc_full_major(domain), WN_OK);
    wn_thread_yield(domain);
  }
}

static void a_message_that_an_alarm_reads_is_not_mixed_with_that_of_the_program(void **state) { /* V12 */
  (void)state;
  struct journal of;
  struct reader reader = {.calls = 0};
  wn_gc_alarm *alarm;
  wn_join *join;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.text = "minor_heap_size=4k";
  journal_open(&of, &options);
  struct message outer = message_of(of.domain, LINKS);
  reader.inner = message_of(of.domain, LINKS / 2);
  assert_int_equal(wn_gc_create_alarm(of.domain, read_in_an_alarm, &reader, &alarm), WN_OK);
  assert_int_equal(wn_thread_spawn(of.domain, collect_until_over, &reader, &join), WN_OK);
  for (int i = 0; i < READS || reader.calls < 3; i++) {
    read_whole(of.domain, &outer);
    wn_poll(of.domain);
  }
  atomic_store(&reader.over, 1);
  join_wait(of.domain, join);
  wn_gc_delete_alarm(of.domain, alarm);
  free(outer.bytes);
  free(reader.inner.bytes);
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finalisers_that_allocate_register_and_raise_are_each_called_once),
      cmocka_unit_test(a_message_that_an_alarm_reads_is_not_mixed_with_that_of_the_program),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
