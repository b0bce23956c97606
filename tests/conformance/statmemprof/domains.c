/* Profiles and the domains of the collected heap: which take part, which are told, and the fate of
 * blocks that change hands. */
#include "tracker.h"
#include <sched.h>

#include "gc/domains/heap.h"
#include <stdlib.h>

/* ---- which domains take part ---- */

/* One system thread with two domains: it runs in one of them, and the other is blocked. */
static wn_domain *go_to_new(const struct journal *of) {
  wn_domain *domain;
  wn_blocking_begin(of->domain);
  assert_int_equal(wn_domain_attach(of->heap, &domain), WN_OK);
  return domain;
}
static void go_to(wn_domain *from, wn_domain *to) {
  wn_blocking_begin(from);
  wn_blocking_end(to);
}
static void end_and_go_to(wn_domain *from, wn_domain *to) {
  assert_int_equal(wn_domain_detach(from), WN_OK);
  wn_blocking_end(to);
}

struct child {
  struct tracked *all;
  bool samples; /* on arrival */
  _Atomic(int) step;
  wn_global *kept;
};

static void allocate_ten(wn_domain *domain, void *argument) {
  struct child *child = argument;
  child->samples = wn_memprof_is_sampling(domain);
  allocate(domain, 10, 3);
}

static void a_spawned_domain_takes_part_and_an_attached_one_does_not(void **state) { /* M56 */
  struct tracked all;
  struct child child = {.all = &all};
  (void)state;
  tracked_open(&all, 1);
  join_wait(all.of.domain, spawn(all.of.domain, allocate_ten, &child));
  assert_true(child.samples);
  assert_int_equal(all.allocs_minor, 10);
  wn_domain *other = go_to_new(&all.of);
  assert_false(wn_memprof_is_sampling(other));
  allocate(other, 10, 3);
  end_and_go_to(other, all.of.domain);
  assert_int_equal(wn_memprof_stop(all.of.domain), WN_OK);
  join_wait(all.of.domain, spawn(all.of.domain, allocate_ten, &child));
  assert_false(child.samples);
  wn_gc_full_major(all.of.domain);
  assert_int_equal(all.allocs_minor, 10);
  assert_int_equal(all.deallocs_minor, 10);
  tracked_check(&all);
  tracked_close(&all);
}

static struct child begun;
static wn_join *begun_join;
static void *begin_domain(wn_domain *domain, const wn_allocation *allocation, void *context) {
  if (allocation->size == 9) begun_join = spawn(domain, allocate_ten, &begun);
  return tracked_alloc_minor(domain, allocation, context);
}

static void a_domain_that_a_callback_spawns_takes_part_and_is_not_suspended(void **state) { /* M38c */
  struct tracked all;
  (void)state;
  tracked_open_heap(&all);
  all.tracker.alloc_minor = begin_domain;
  tracked_start(&all, 1);
  allocate(all.of.domain, 1, 9);
  wn_poll(all.of.domain);
  join_wait(all.of.domain, begun_join);
  assert_true(begun.samples);
  assert_int_equal(all.allocs_minor, 11);
  tracked_close(&all);
}

static void a_domain_may_join_a_profile_and_leave_it(void **state) { /* M44, M57 */
  struct tracked all, elsewhere;
  (void)state;
  tracked_open(&all, 1);
  tracked_open_heap(&elsewhere);
  assert_int_equal(wn_memprof_join(elsewhere.of.domain, all.profile), WN_EINVAL);
  journal_close(&elsewhere.of);
  wn_domain *other = go_to_new(&all.of);
  assert_int_equal(wn_memprof_join(other, all.profile), WN_OK);
  assert_int_equal(wn_memprof_join(other, all.profile), WN_ESTATE);
  allocate(other, 10, 3);
  wn_poll(other);
  assert_int_equal(all.allocs_minor, 10);
  assert_int_equal(wn_memprof_leave(other), WN_OK);
  assert_int_equal(wn_memprof_leave(other), WN_ESTATE);
  allocate(other, 10, 3);
  wn_gc_minor(other);
  assert_int_equal(all.allocs_minor, 10);
  assert_int_equal(all.deallocs_minor, 10); /* they are followed on */
  go_to(other, all.of.domain);
  assert_true(wn_memprof_is_sampling(all.of.domain));
  go_to(all.of.domain, other);
  assert_int_equal(wn_memprof_join(other, all.profile), WN_OK);
  assert_int_equal(wn_memprof_stop(other), WN_OK); /* of everybody's */
  end_and_go_to(other, all.of.domain);
  assert_false(wn_memprof_is_sampling(all.of.domain));
  tracked_check(&all);
  tracked_close(&all);
}

static void start_and_end(wn_domain *domain, void *argument) {
  struct tracked *all = argument;
  wn_memprof_options options = {1, 8, 0};
  assert_int_equal(wn_memprof_start(domain, &options, &all->tracker, &all->profile), WN_OK);
  allocate(domain, 10, 3);
}

static void a_profile_stops_when_its_last_domain_ends_or_leaves(void **state) { /* M49 */
  struct tracked all;
  (void)state;
  tracked_open_heap(&all);
  join_wait(all.of.domain, spawn(all.of.domain, start_and_end, &all));
  assert_int_equal(all.allocs_minor, 10);
  assert_int_equal(wn_memprof_discard(all.profile), WN_OK);
  tracked_start(&all, 1);
  assert_int_equal(wn_memprof_leave(all.of.domain), WN_OK);
  assert_int_equal(wn_memprof_discard(all.profile), WN_OK);
  journal_close(&all.of);
}

/* The last birth waits, since the thread comes to no safepoint. */
static void allocate_and_spin(wn_domain *domain, void *argument) {
  struct child *child = argument;
  allocate(domain, 10, 3);
  child->step = 1;
  while (child->step < 2) sched_yield();
  allocate(domain, 10, 3);
  wn_poll(domain);
}

static void a_stop_by_one_domain_drops_pending_callbacks_of_others(void **state) { /* M28, M37 */
  struct tracked all;
  struct child child = {.all = &all};
  (void)state;
  tracked_open(&all, 1);
  wn_join *join = spawn(all.of.domain, allocate_and_spin, &child);
  wait_for_step(all.of.domain, &child.step, 1);
  assert_int_equal(wn_memprof_stop(all.of.domain), WN_OK);
  child.step = 2;
  join_wait(all.of.domain, join);
  assert_int_equal(all.allocs_minor, 9);
  assert_int_equal(counts_of(all.profile).dropped_minor, 1);
  tracked_close(&all);
}

static void domains_may_have_profiles_of_their_own_at_once(void **state) { /* M29, M50, M58 */
  struct tracked one, two;
  (void)state;
  tracked_open_heap(&one);
  two = one;
  two.tracker.context = &two;
  tracked_start(&one, 1);
  allocate(one.of.domain, 10, 3);
  wn_domain *other = go_to_new(&one.of);
  two.of.domain = other;
  tracked_start(&two, 1);
  allocate(other, 20, 5);
  go_to(other, one.of.domain);
  wn_gc_minor(one.of.domain);             /* of both minor heaps */
  assert_int_equal(two.allocs_minor, 20); /* on the way out of `other`, which is blocked now */
  go_to(one.of.domain, other);
  wn_poll(other);
  assert_int_equal(one.allocs_minor, 10);
  assert_int_equal(one.deallocs_minor, 10);
  assert_int_equal(two.allocs_minor, 20);
  assert_int_equal(two.deallocs_minor, 20);
  tracked_check(&one);
  tracked_check(&two);
  assert_int_equal(wn_memprof_stop(other), WN_OK);
  assert_int_equal(wn_memprof_discard(two.profile), WN_OK);
  end_and_go_to(other, one.of.domain);
  tracked_close(&one);
}

/* A callback of one heap allocates in the other: there it is the program's. */
static void *allocate_in_the_other(wn_domain *domain, const wn_allocation *allocation, void *context) {
  struct tracked *other = ((struct tracked *)context)->test;
  allocate(other->of.domain, 2, 4);
  return tracked_alloc_minor(domain, allocation, context);
}

static void profiles_of_two_heaps_know_nothing_of_each_other(void **state) { /* M58 */
  struct tracked one, two;
  (void)state;
  tracked_open_heap(&one);
  one.tracker.alloc_minor = allocate_in_the_other;
  one.test = &two;
  tracked_open(&two, 1);
  tracked_start(&one, 1);
  allocate(one.of.domain, 10, 3);
  wn_poll(one.of.domain);
  wn_poll(two.of.domain);
  assert_int_equal(one.allocs_minor, 10);
  assert_int_equal(two.allocs_minor, 20);
  wn_gc_minor(two.of.domain);
  assert_int_equal(one.deallocs_minor, 0);
  assert_int_equal(two.deallocs_minor, 20);
  tracked_check(&one);
  tracked_check(&two);
  tracked_close(&one);
  tracked_close(&two);
}

/* ---- domains that end ---- */

static void leave_a_list(wn_domain *domain, void *argument) {
  struct child *child = argument;
  WN_SCOPE(domain);
  child->kept = wn_global_new(domain, make_list(domain, 30, 3));
  wn_alloc(domain, 400, 0);
}

static void blocks_of_a_domain_that_ended_are_followed_by_others(void **state) { /* M60 */
  struct tracked all;
  struct child child = {.all = &all};
  (void)state;
  tracked_open(&all, 1);
  join_wait(all.of.domain, spawn(all.of.domain, leave_a_list, &child));
  wn_gc_full_major(all.of.domain);
  assert_int_equal(all.allocs_minor, 30);
  assert_int_equal(all.promotes, 30);
  assert_int_equal(all.deallocs_minor, 0);
  assert_int_equal(all.deallocs_major, 1);
  wn_global_free(all.of.domain, child.kept);
  wn_gc_full_major(all.of.domain);
  assert_int_equal(all.deallocs_major, 31);
  tracked_check(&all);
  tracked_close(&all);
}

static void blocks_of_an_ended_domain_and_a_discarded_profile_are_forgotten(void **state) { /* M61 */
  struct tracked all;
  struct child child = {.all = &all};
  (void)state;
  tracked_open(&all, 1);
  join_wait(all.of.domain, spawn(all.of.domain, leave_a_list, &child));
  assert_int_equal(wn_memprof_stop(all.of.domain), WN_OK);
  long calls = all.promotes + all.deallocs_minor + all.deallocs_major;
  assert_int_equal(wn_memprof_discard(all.profile), WN_OK);
  wn_global_free(all.of.domain, child.kept);
  wn_gc_full_major(all.of.domain);
  assert_int_equal(calls, all.promotes + all.deallocs_minor + all.deallocs_major);
  assert_int_equal(memprof_usage(&all.of.heap->engine).entries, 0);
  journal_close(&all.of);
}

/* ---- blocks that change hands ---- */

/* What is known of one block, which carries its address as an integer. */
struct record {
  _Atomic(int) promotes, deaths;
  struct record *next;
};
static _Atomic(struct record *) records;
static _Thread_local struct record *newest; /* of this thread */

static void *make_record(wn_domain *domain, const wn_allocation *allocation, void *context) {
  tracked_alloc_minor(domain, allocation, context);
  newest = calloc(1, sizeof *newest);
  assert_non_null(newest);
  newest->next = records;
  while (!atomic_compare_exchange_weak(&records, &newest->next, newest)) {}
  return newest;
}
static void *record_promotion(wn_domain *domain, void *minor, void *context) {
  assert_int_equal(atomic_fetch_add(&((struct record *)minor)->promotes, 1), 0);
  return tracked_promote(domain, minor, context);
}
static void record_young_death(wn_domain *domain, void *minor, void *context) {
  assert_int_equal(atomic_fetch_add(&((struct record *)minor)->deaths, 1), 0);
  assert_int_equal(((struct record *)minor)->promotes, 0);
  tracked_dealloc_minor(domain, minor, context);
}
static void record_old_death(wn_domain *domain, void *major, void *context) {
  assert_int_equal(atomic_fetch_add(&((struct record *)major)->deaths, 1), 0);
  tracked_dealloc_major(domain, major, context);
}

enum { HANDS = 4, PLACES = 8, LENGTH = 6 };
static long rounds = 4000; /* of each */
struct exchange {
  wn_global *places;
};

/* A block that knows its record: its birth is told before anything else of this thread is born. */
static wn_ref recorded_block(wn_domain *domain) {
  wn_ref block = wn_alloc(domain, 3, 0);
  newest = NULL;
  assert_int_equal(wn_memprof_drain(domain), WN_OK);
  assert_non_null(newest);
  wn_set_int(domain, block, 0, (intptr_t)newest >> 3);
  return block;
}

static struct record *record_of(wn_ref block) {
  return (struct record *)(wn_to_int(wn_field(block, 0)) << 3);
}

/* All that is reached from a place is alive, whichever domain allocated it. Returns how long the
 * chain is. */
static int check_alive(wn_domain *domain, wn_ref first) {
  WN_SCOPE(domain);
  int length = 0;
  wn_ref at = wn_root(domain, wn_value_of(first));
  for (; !wn_is_int(wn_value_of(at)); wn_assign_field(at, at, 1), length++) {
    assert_int_equal(record_of(at)->deaths, 0);
    if (length % 2) wn_poll(domain);
    assert_int_equal(record_of(at)->deaths, 0);
  }
  return length;
}

static void exchange_blocks(wn_domain *domain, void *argument) {
  const struct exchange *exchange = argument;
  unsigned random = (unsigned)wn_domain_number(domain) * 2654435761u;
  for (long round = 0; round < rounds; round++) {
    WN_SCOPE(domain);
    random = random * 1664525 + 1013904223;
    wn_ref places = wn_global_get(domain, exchange->places), mine = recorded_block(domain);
    wn_ref found = wn_get(domain, places, (random >> 8) % PLACES);
    if (check_alive(domain, found) < LENGTH) wn_set(domain, mine, 1, found);
    wn_set(domain, places, (random >> 16) % PLACES, mine);
    if (round % 40 == 0) wn_gc_minor(domain);
    if (round % 300 == 7) wn_gc_full_major(domain);
    check_alive(domain, mine);
  }
}

static void no_death_is_told_of_a_block_that_another_domain_reaches(void **state) { /* M20, M68 */
  struct tracked all;
  struct exchange exchange;
  wn_join *joins[HANDS];
  (void)state;
  tracked_open_heap(&all);
  wn_domain *domain = all.of.domain;
  {
    WN_SCOPE(domain);
    exchange.places = wn_global_new(domain, wn_alloc(domain, PLACES, 0));
  }
  all.tracker = (wn_tracker){make_record,      NULL,           record_promotion, record_young_death,
                             record_old_death, .context = &all};
  tracked_start(&all, 1);
  for (int i = 0; i < HANDS; i++) joins[i] = spawn(domain, exchange_blocks, &exchange);
  for (int i = 0; i < HANDS; i++) join_wait(domain, joins[i]);
  wn_global_free(domain, exchange.places);
  for (int i = 0; i < 3; i++) wn_gc_full_major(domain);
  assert_int_equal(all.allocs_minor, HANDS * rounds);
  assert_true(all.promotes > 0);
  tracked_check(&all);
  for (struct record *record = records, *next; record; record = next) {
    next = record->next;
    assert_int_equal(record->deaths, 1);
    free(record);
  }
  records = NULL;
  tracked_close(&all);
}

/* ---- all at once ---- */

enum { STORM = 4, STORM_ROUNDS = 1500 };
struct storm {
  struct tracked *all;
  _Atomic(wn_profile *) shared;
};

/* Each does what it can; another may have been faster, so that nothing but WN_OK and WN_ESTATE may
 * come. */
static void expect_either(wn_status status) { assert_true(status == WN_OK || status == WN_ESTATE); }

static void take_part_and_leave(wn_domain *domain, void *argument) {
  struct storm *storm = argument;
  wn_memprof_options options = {0.2, 4, 1};
  for (int round = 0; round < STORM_ROUNDS; round++) {
    WN_SCOPE(domain);
    wn_profile *shared = storm->shared, *own = NULL;
    make_list(domain, 5, 4);
    switch ((round * 7 + (int)wn_domain_number(domain)) % 6) {
    case 0:
    case 1: wn_memprof_start(domain, &options, &storm->all->tracker, &own); break;
    case 2: expect_either(wn_memprof_leave(domain)); break;
    case 3:
      if (shared) expect_either(wn_memprof_join(domain, shared));
      break;
    case 4: expect_either(wn_memprof_stop(domain)); break;
    default:
      if (shared) expect_either(wn_memprof_discard(shared));
    }
    if (own) own = atomic_exchange(&storm->shared, own);
    if (own) expect_either(wn_memprof_discard(own));
    if (round % 20 == 0) wn_gc_minor(domain);
    if (round % 150 == 0) wn_gc_full_major(domain);
    wn_poll(domain);
  }
}

static _Atomic(long) storm_metadata;
static void *count_in(wn_domain *domain, const wn_allocation *allocation, void *context) {
  storm_metadata++;
  return tracked_alloc_minor(domain, allocation, context);
}
static void count_out(wn_domain *domain, void *metadata, void *context) {
  (void)domain, (void)metadata, (void)context;
  storm_metadata--;
}
static void drop_out(void *metadata, void *context) { count_out(NULL, metadata, context); }

static void profiles_may_come_and_go_on_all_domains_at_once(void **state) { /* M22, M57 */
  struct tracked all;
  struct storm storm = {.all = &all};
  wn_join *joins[STORM];
  (void)state;
  tracked_open_heap(&all);
  all.tracker =
      (wn_tracker){count_in, count_in, NULL, count_out, count_out, .drop = drop_out, .context = &all};
  for (int i = 0; i < STORM; i++) joins[i] = spawn(all.of.domain, take_part_and_leave, &storm);
  for (int i = 0; i < STORM; i++) join_wait(all.of.domain, joins[i]);
  wn_gc_full_major(all.of.domain);
  memprof_check(&all.of.heap->engine);
  assert_true(all.allocs_minor > 0);
  journal_close(&all.of);
  assert_int_equal(storm_metadata, 0); /* each came back once */
}

/* domains [ROUNDS]: so many rounds of blocks that change hands, of all domains together, and
 * nothing else */
int main(int count, char **arguments) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_spawned_domain_takes_part_and_an_attached_one_does_not),
      cmocka_unit_test(a_domain_that_a_callback_spawns_takes_part_and_is_not_suspended),
      cmocka_unit_test(a_domain_may_join_a_profile_and_leave_it),
      cmocka_unit_test(a_profile_stops_when_its_last_domain_ends_or_leaves),
      cmocka_unit_test(a_stop_by_one_domain_drops_pending_callbacks_of_others),
      cmocka_unit_test(domains_may_have_profiles_of_their_own_at_once),
      cmocka_unit_test(profiles_of_two_heaps_know_nothing_of_each_other),
      cmocka_unit_test(blocks_of_a_domain_that_ended_are_followed_by_others),
      cmocka_unit_test(blocks_of_an_ended_domain_and_a_discarded_profile_are_forgotten),
      cmocka_unit_test(no_death_is_told_of_a_block_that_another_domain_reaches),
      cmocka_unit_test(profiles_may_come_and_go_on_all_domains_at_once),
  };
  if (count > 1) {
    rounds = atol(arguments[1]) / HANDS;
    cmocka_set_test_filter("no_death*");
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
