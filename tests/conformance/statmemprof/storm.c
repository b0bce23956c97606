/* Profiles that come and go at random moments, on several domains with several threads each, while
 * a thread outside discards what it can. Callbacks sleep, collect, raise, stop, discard, return
 * nothing and end their threads. Each metadata is a block of memory of its own, so is each
 * profile's context, which the release frees: AddressSanitizer sees what comes back twice, or too
 * late.
 *
 *   conformance_memprof_storm [SEED [STEPS]] */
#include "tracker.h"

#include "base/random.h"
#include "gc/domains/heap.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { DOMAINS = 3, THREADS = 2, SLOTS = 16, KEPT = 40 };

struct party {
  _Atomic(int) callbacks; /* that run */
};

static struct {
  _Atomic(wn_profile *) started[SLOTS]; /* not discarded yet, as far as is known */
  _Atomic(long) given, taken, profiles, released;
  _Atomic(bool) over;
  _Atomic(unsigned) threads;
  unsigned long seed;
  long steps;
} storm = {.seed = 1, .steps = 1500};

static _Thread_local struct random dice;
static _Thread_local bool may_end; /* this thread, in a callback: nobody misses it */
static unsigned draw(unsigned bound) { return (unsigned)(random_bits(&dice) % bound); }
static bool one_in(unsigned bound) { return draw(bound) == 0; }
static void seed_thread(void) { random_seed(&dice, storm.seed, 0, ++storm.threads); }

/* ---- profiles ---- */

static void discard_any(void) {
  _Atomic(wn_profile *) *slot = &storm.started[draw(SLOTS)];
  wn_profile *profile = atomic_exchange(slot, NULL), *none = NULL;
  if (!profile || wn_memprof_discard(profile) == WN_OK) return;
  while (!atomic_compare_exchange_strong(slot, &none, profile)) { /* it samples still */
    none = NULL;
    slot = &storm.started[draw(SLOTS)];
  }
}

/* ---- the tracker ---- */

static void *give(void) {
  ++storm.given;
  return malloc(1);
}
static void take(void *metadata) {
  ++storm.taken;
  free(metadata);
}

static void meddle(wn_domain *domain) {
  WN_SCOPE(domain);
  switch (draw(40)) {
  case 0:
  case 1:
    wn_blocking_begin(domain);
    sched_yield();
    wn_blocking_end(domain);
    break;
  case 2: wn_thread_yield(domain); break;
  case 3: wn_gc_minor(domain); break;
  case 4: wn_raise(domain, wn_root(domain, wn_int(1))); break;
  case 5: discard_any(); break;
  case 6:
    if (one_in(4)) wn_memprof_stop(domain);
    break;
  default: wn_alloc(domain, 1 + draw(5), 0); break;
  }
}

static void begin_call(struct party *party) { party->callbacks++; }
static void end_call(struct party *party) { party->callbacks--; }

static void *storm_alloc(wn_domain *domain, const wn_allocation *allocation, void *context) {
  size_t size = allocation->size;
  begin_call(context);
  meddle(domain);
  assert_int_equal(allocation->size, size);
  end_call(context);
  if (may_end && one_in(2000)) pthread_exit(NULL);
  return one_in(10) ? NULL : give();
}
static void *storm_promote(wn_domain *domain, void *metadata, void *context) {
  take(metadata);
  begin_call(context);
  meddle(domain);
  end_call(context);
  return one_in(10) ? NULL : give();
}
static void storm_dealloc(wn_domain *domain, void *metadata, void *context) {
  take(metadata);
  begin_call(context);
  meddle(domain);
  end_call(context);
  if (may_end && one_in(2000)) pthread_exit(NULL);
}
static void storm_drop(void *metadata, void *context) {
  begin_call(context);
  take(metadata);
  end_call(context);
}
static void storm_release(void *context) {
  struct party *party = context;
  if (party->callbacks) abort();
  storm.released++;
  free(party);
}

static void start(wn_domain *domain) {
  _Atomic(wn_profile *) *slot = &storm.started[draw(SLOTS)];
  wn_profile *profile = *slot;
  if (profile && one_in(2)) {
    wn_memprof_join(domain, profile);
    return;
  }
  wn_tracker tracker = {.alloc_minor = storm_alloc,
                        .alloc_major = storm_alloc,
                        .promote = storm_promote,
                        .dealloc_minor = storm_dealloc,
                        .dealloc_major = storm_dealloc,
                        .drop = storm_drop,
                        .context = calloc(1, sizeof(struct party)),
                        .release = storm_release};
  const wn_memprof_options options = {.sampling_rate = one_in(2) ? 1 : 0.2};
  if (wn_memprof_start(domain, &options, &tracker, &profile)) {
    free(tracker.context);
    return;
  }
  storm.profiles++;
  for (wn_profile *none = NULL; !atomic_compare_exchange_strong(slot, &none, profile); none = NULL) {
    slot = &storm.started[draw(SLOTS)];
    if (one_in(SLOTS)) discard_any();
  }
}

/* ---- domains ---- */

static void step(wn_domain *domain, wn_ref *kept) {
  WN_SCOPE(domain);
  if (one_in(100)) wn_alloc(domain, 400, 0);
  wn_ref block = wn_alloc(domain, 1 + draw(9), 0);
  if (one_in(4)) wn_assign(kept[draw(KEPT)], block);
  if (one_in(5)) wn_poll(domain);
  if (one_in(20)) wn_thread_yield(domain);
  if (one_in(40)) wn_gc_minor(domain);
  if (one_in(300)) wn_gc_full_major(domain);
  if (one_in(2)) wn_take_exception(domain);
  if (wn_memprof_is_sampling(domain)) {
    if (one_in(150)) wn_memprof_stop(domain);
    if (one_in(150)) wn_memprof_leave(domain);
  } else if (one_in(20)) {
    start(domain);
  }
}

static void work(wn_domain *domain) {
  wn_ref kept[KEPT];
  WN_SCOPE(domain);
  for (int i = 0; i < KEPT; i++) kept[i] = wn_root(domain, wn_int(0));
  for (long i = 0; i < storm.steps; i++) step(domain, kept);
}

static void be_other(wn_domain *domain, void *argument) {
  (void)argument;
  seed_thread();
  may_end = true;
  work(domain);
}

static void work_with_others(wn_domain *domain, void *argument) {
  wn_join *joins[THREADS];
  (void)argument;
  seed_thread();
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(wn_thread_spawn(domain, be_other, NULL, &joins[i]), WN_OK);
  work(domain);
  for (int i = 0; i < THREADS; i++) assert_int_equal(wn_join_wait(domain, joins[i]), WN_OK);
}

static void *discard_from_outside(void *argument) {
  seed_thread();
  while (!storm.over) {
    discard_any();
    sched_yield();
  }
  return argument;
}

static void discard_the_rest(void) {
  for (int i = 0; i < SLOTS; i++)
    if (storm.started[i]) assert_int_equal(wn_memprof_discard(storm.started[i]), WN_OK);
}

static void metadata_comes_back_once_whichever_thread_discards_when(void **state) { /* M47 */
  struct journal of;
  pthread_t outside;
  wn_join *joins[DOMAINS];
  wn_heap_options options = without_helpers();
  (void)state;
  journal_open(&of, &options);
  assert_int_equal(pthread_create(&outside, NULL, discard_from_outside, NULL), 0);
  for (int i = 0; i < DOMAINS; i++) joins[i] = spawn(of.domain, work_with_others, NULL);
  for (int i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
  storm.over = true;
  pthread_join(outside, NULL);
  discard_the_rest();
  while (wn_memprof_drain(of.domain)) wn_take_exception(of.domain);
  memprof_check(&of.heap->engine);
  assert_int_equal(storm.released, storm.profiles);
  assert_int_equal(storm.given, storm.taken);
  assert_true(storm.given > storm.steps / 10);
  journal_close(&of);
}

int main(int count, char **arguments) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(metadata_comes_back_once_whichever_thread_discards_when),
  };
  if (count > 1) storm.seed = strtoul(arguments[1], NULL, 10);
  if (count > 2) storm.steps = atol(arguments[2]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
