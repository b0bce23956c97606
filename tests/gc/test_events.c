/* The table of events: each listener is told of each event once, in order, and spans nest as the
 * table says. */
#include "gc/journal.h"
#include "gc/work.h"

#include "gc/collect/listeners.h"
#include "gc/domains/domain.h"
#include "gc/domains/safepoint.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>

enum { HEARD_MOST = 1 << 16, DOMAINS = 3 };

/* A listener that keeps all it was told. */
struct ear {
  struct listener listener;
  pthread_mutex_t lock;
  size_t count;
  struct heard {
    struct event event;
    size_t order;
    uint64_t domain_number; /* UINT64_MAX: no domain */
  } heard[HEARD_MOST];
};

static _Atomic(size_t) order;

static void hear(struct listener *listener, const struct event *event) {
  struct ear *ear = (struct ear *)listener;
  pthread_mutex_lock(&ear->lock);
  if (ear->count < HEARD_MOST)
    ear->heard[ear->count++] = (struct heard){*event, atomic_fetch_add(&order, 1),
                                              event->domain ? event->domain->number : UINT64_MAX};
  pthread_mutex_unlock(&ear->lock);
  errno = EDOM; /* the table keeps errno */
}

static struct ear *ear_create(uint64_t wants) {
  struct ear *ear = test_calloc(1, sizeof *ear);
  pthread_mutex_init(&ear->lock, NULL);
  ear->listener.hear = hear;
  ear->listener.wants = wants;
  return ear;
}

static const uint64_t EVERYTHING = (UINT64_C(1) << EVENT_KINDS) - 1;

static void listen(struct journal *of, struct ear *ear) {
  while (!world_stop(of->domain, STOP_LISTENERS)) {}
  listeners_add(of->heap, &ear->listener);
  world_release(of->domain);
}

static void ignore(struct journal *of, struct ear *ear) {
  while (!world_stop(of->domain, STOP_LISTENERS)) {}
  listeners_remove(of->heap, &ear->listener);
  world_release(of->domain);
}

static size_t count_of(const struct ear *ear, enum event_kind kind) {
  size_t count = 0;
  for (size_t i = 0; i < ear->count; i++) count += ear->heard[i].event.kind == kind;
  return count;
}

static const struct event *first_of(const struct ear *ear, enum event_kind kind) {
  for (size_t i = 0; i < ear->count; i++)
    if (ear->heard[i].event.kind == kind) return &ear->heard[i].event;
  fail_msg("nothing was told of event %d", kind);
  return NULL;
}

/* Begins and ends of a span alternate, an end has its begin's time and cause. `number`: of one
 * domain; UINT64_MAX: of all. */
static void check_span(const struct ear *ear, enum event_kind begins, uint64_t number) {
  const struct event *open = NULL;
  for (size_t i = 0; i < ear->count; i++) {
    const struct event *event = &ear->heard[i].event;
    if (number != UINT64_MAX && ear->heard[i].domain_number != number) continue;
    if (event->kind == begins) {
      assert_null(open);
      open = event;
    } else if (event->kind == begins + 1) {
      if (!open) assert_true(event->began_ns <= ear->listener.since_ns); /* it began before */
      if (open && begins != EVENT_MINOR_BEGINS && begins != EVENT_CYCLE_BEGINS)
        assert_int_equal(event->began_ns, open->ns);
      if (open && begins == EVENT_PAUSE_BEGINS) assert_int_equal(event->pause, open->pause);
      if (open && begins == EVENT_STOP_BEGINS) assert_int_equal(event->stop, open->stop);
      assert_true(event->ns >= event->began_ns);
      open = NULL;
    }
  }
}

/* Minor collections and what happens to cycles are inside stops. */
static void check_inside(const struct ear *ear) {
  bool stopped = false, collects = false;
  for (size_t i = 0; i < ear->count; i++) {
    const struct event *event = &ear->heard[i].event;
    switch (event->kind) {
    case EVENT_STOP_BEGINS: stopped = true; break;
    case EVENT_STOP_ENDS: stopped = false; break;
    case EVENT_MINOR_BEGINS:
      assert_true(stopped && !collects);
      collects = true;
      break;
    case EVENT_MINOR_ENDS:
      assert_true(stopped && collects);
      collects = false;
      break;
    case EVENT_CYCLE_BEGINS:
    case EVENT_MARKING_ENDS:
    case EVENT_CYCLE_ENDS: assert_true(stopped && collects); break;
    default: break;
    }
  }
}

static void check_all(const struct ear *ear, uint64_t domains) {
  assert_true(ear->count < HEARD_MOST);
  for (uint64_t i = 0; i < domains; i++) check_span(ear, EVENT_PAUSE_BEGINS, i);
  check_span(ear, EVENT_STOP_BEGINS, UINT64_MAX);
  check_span(ear, EVENT_MINOR_BEGINS, UINT64_MAX);
  check_span(ear, EVENT_CYCLE_BEGINS, UINT64_MAX);
  check_inside(ear);
}

/* ---- one domain ---- */

static void a_heap_without_listeners_wants_the_ends_of_cycles_alone(void **state) {
  struct journal of;
  (void)state;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  struct ear *ear = ear_create(EVERYTHING);
  const uint64_t alarms = event_bit(EVENT_CYCLE_ENDS);
  assert_int_equal(atomic_load(&of.heap->events.wanted), alarms);
  assert_int_equal(event_clock(&of.heap->events, EVENT_PAUSE_BEGINS), 0);
  listen(&of, ear);
  assert_int_equal(atomic_load(&of.heap->events.wanted), EVERYTHING);
  assert_true(event_clock(&of.heap->events, EVENT_PAUSE_BEGINS) != 0);
  wn_gc_minor(of.domain);
  size_t heard = ear->count;
  assert_true(heard > 0);
  ignore(&of, ear);
  assert_int_equal(atomic_load(&of.heap->events.wanted), alarms);
  heard = ear->count;
  wn_gc_full_major(of.domain);
  allocate(of.domain, 1000, 300);
  assert_int_equal(ear->count, heard);
  test_free(ear);
  journal_close(&of);
}

static void a_collection_that_is_asked_for_is_told_in_order_with_its_cause(void **state) {
  struct journal of;
  (void)state;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  allocate(of.domain, 10, 10);
  struct ear *ear = ear_create(EVERYTHING);
  listen(&of, ear);
  ear->count = 0;
  assert_int_equal(wn_gc_minor(of.domain), WN_OK);
  static const enum event_kind expected[] = {EVENT_STOP_BEGINS, EVENT_PAUSE_BEGINS, EVENT_MINOR_BEGINS,
                                             EVENT_MINOR_ENDS,  EVENT_STOP_ENDS,    EVENT_PAUSE_ENDS};
  enum { EXPECTED = sizeof expected / sizeof *expected };
  size_t spans = 0;
  for (size_t i = 0; i < ear->count; i++) {
    const struct event *event = &ear->heard[i].event;
    if (event->kind == EVENT_HEAP_GROWS || event->kind == EVENT_TABLE_GROWS) continue; /* for the next one */
    assert_true(spans < EXPECTED);
    assert_int_equal(event->kind, expected[spans++]);
    assert_ptr_equal(event->domain, of.domain);
    if (event->kind == EVENT_PAUSE_BEGINS || event->kind == EVENT_PAUSE_ENDS)
      assert_int_equal(event->pause, PAUSE_COLLECTION);
    else
      assert_int_equal(event->stop, STOP_REQUEST);
  }
  assert_int_equal(spans, EXPECTED);
  const struct event *stop = first_of(ear, EVENT_STOP_BEGINS), *pause = first_of(ear, EVENT_PAUSE_BEGINS);
  assert_true(pause->ns <= stop->ns && stop->ns <= stop->stopped_ns);
  check_all(ear, 1);
  ignore(&of, ear);
  test_free(ear);
  journal_close(&of);
}

static void cycles_slices_growth_and_parameters_are_told(void **state) {
  struct journal of;
  (void)state;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  struct ear *ear = ear_create(EVERYTHING);
  listen(&of, ear);
  size_t mapped = atomic_load(&of.heap->store.chunks.mapped_bytes);
  wn_gc_stat before = quick_stat(of.domain);
  {
    WN_SCOPE(of.domain);
    make_list(of.domain, 1000, 400);
    struct entry entry = {&of, 7};
    dead_last(&of, &entry);
    assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
    ASSERT_JOURNAL(&of, 7);
  }
  wn_gc_major_slice(of.domain, 1000);
  assert_int_equal(wn_gc_compact(of.domain), WN_OK);
  wn_gc_control control = get_control(of.domain);
  control.space_overhead++;
  set_control(of.domain, &control);
  wn_gc_stat after = quick_stat(of.domain);
  ignore(&of, ear);
  size_t grown = 0, shrunk = 0;
  for (size_t i = 0; i < ear->count; i++) {
    const struct event *event = &ear->heard[i].event;
    if (event->kind == EVENT_HEAP_GROWS) grown += event->size.bytes;
    if (event->kind == EVENT_HEAP_SHRINKS) shrunk += event->size.bytes;
  }
  assert_int_equal(mapped + grown - shrunk, atomic_load(&of.heap->store.chunks.mapped_bytes));
  assert_int_equal(count_of(ear, EVENT_MINOR_BEGINS), after.minor_collections - before.minor_collections);
  assert_int_equal(count_of(ear, EVENT_MINOR_ENDS), after.minor_collections - before.minor_collections);
  assert_int_equal(count_of(ear, EVENT_CYCLE_ENDS), after.major_collections - before.major_collections);
  assert_int_equal(count_of(ear, EVENT_MARKING_ENDS), count_of(ear, EVENT_CYCLE_ENDS));
  assert_true(count_of(ear, EVENT_SLICE) > 0);
  assert_int_equal(count_of(ear, EVENT_COMPACTION), 1);
  assert_int_equal(first_of(ear, EVENT_FINALISERS)->finalisers, 1);
  assert_string_equal(first_of(ear, EVENT_PARAMETER)->parameter.name, "space_overhead");
  assert_int_equal(first_of(ear, EVENT_PARAMETER)->parameter.after,
                   first_of(ear, EVENT_PARAMETER)->parameter.before + 1);
  check_all(ear, 1);
  test_free(ear);
  journal_close(&of);
}

static void each_listener_is_told_once_in_the_order_of_registration(void **state) {
  struct journal of;
  (void)state;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  struct ear *first = ear_create(event_bit(EVENT_MINOR_ENDS) | event_bit(EVENT_CYCLE_ENDS));
  struct ear *second = ear_create(event_bit(EVENT_MINOR_ENDS));
  listen(&of, first);
  listen(&of, second);
  errno = 0;
  for (int i = 0; i < 3; i++) wn_gc_minor(of.domain);
  wn_gc_full_major(of.domain);
  assert_int_equal(errno, 0);
  assert_true(count_of(first, EVENT_CYCLE_ENDS) > 0);
  assert_int_equal(count_of(second, EVENT_CYCLE_ENDS), 0);
  assert_int_equal(count_of(first, EVENT_MINOR_ENDS), count_of(second, EVENT_MINOR_ENDS));
  assert_int_equal(second->count, count_of(second, EVENT_MINOR_ENDS));
  for (size_t i = 0, j = 0; i < first->count; i++) {
    if (first->heard[i].event.kind != EVENT_MINOR_ENDS) continue;
    assert_int_equal(second->heard[j].order, first->heard[i].order + 1);
    assert_int_equal(second->heard[j++].event.ns, first->heard[i].event.ns);
  }
  events_set_wants(&of.heap->events, &second->listener, event_bit(EVENT_CYCLE_BEGINS));
  ignore(&of, first);
  size_t heard = second->count;
  wn_gc_major(of.domain);
  assert_true(second->count > heard);
  for (; heard < second->count; heard++)
    assert_int_equal(second->heard[heard].event.kind, EVENT_CYCLE_BEGINS);
  ignore(&of, second);
  test_free(first);
  test_free(second);
  journal_close(&of);
}

/* ---- several domains ---- */

/* With helper threads, which map and unmap memory while the world is stopped. */
static void spans_of_several_domains_nest_and_each_domain_begins_and_ends_once(void **state) {
  struct journal of;
  struct work shared = {DOMAINS};
  wn_join *joins[DOMAINS];
  (void)state;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.helper_threads = 2;
  options.parameters.minor_heap_size = 4096;
  journal_open(&of, &options);
  struct ear *ear = ear_create(EVERYTHING);
  listen(&of, ear);
  wn_gc_stat before = quick_stat(of.domain);
  for (int i = 0; i < DOMAINS; i++) joins[i] = spawn(of.domain, work, &shared);
  for (int registrations = 0; atomic_load(&shared.left); registrations++) { /* while the others tell events */
    struct ear *other = ear_create(EVERYTHING);
    listen(&of, other);
    wn_thread_yield(of.domain);
    ignore(&of, other);
    check_all(other, DOMAINS + 1);
    test_free(other);
  }
  for (int i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
  wn_gc_stat after = quick_stat(of.domain);
  ignore(&of, ear);
  check_all(ear, DOMAINS + 1);
  assert_int_equal(count_of(ear, EVENT_MINOR_ENDS), after.minor_collections - before.minor_collections);
  assert_int_equal(count_of(ear, EVENT_DOMAIN_BEGINS), DOMAINS);
  assert_int_equal(count_of(ear, EVENT_DOMAIN_ENDS), DOMAINS);
  size_t stops = 0;
  for (size_t i = 0; i < ear->count; i++)
    stops += ear->heard[i].event.kind == EVENT_PAUSE_ENDS && ear->heard[i].event.pause == PAUSE_STOP;
  assert_true(stops > 0);
  test_free(ear);
  journal_close(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_heap_without_listeners_wants_the_ends_of_cycles_alone),
      cmocka_unit_test(a_collection_that_is_asked_for_is_told_in_order_with_its_cause),
      cmocka_unit_test(cycles_slices_growth_and_parameters_are_told),
      cmocka_unit_test(each_listener_is_told_once_in_the_order_of_registration),
      cmocka_unit_test(spans_of_several_domains_nest_and_each_domain_begins_and_ends_once),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
