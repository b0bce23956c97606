/* Random calls of winnow/gc.h on several domains at once.
 *
 * Each domain keeps a model of what only it decides: the words that it allocated, the lists that it
 * holds, what it registered and what of that was called. What all domains decide together is known
 * within bounds: counts never go down, each call adds at least its own, and at the end the sums are
 * exact. */
#include "gc/journal.h"

#include "base/check.h"

enum { DOMAINS = 3, LISTS = 8, ALARMS = 3, STEPS = TINY ? 300 : 1500 };

/* What all domains of a run share. */
struct run {
  uint64_t seed;
  _Atomic(long) forced, registered, called, first_calls, first_registered;
};

struct alarm_model {
  wn_gc_alarm *alarm; /* NULL: deleted */
  long calls;
};

struct model {
  struct run *run;
  wn_domain *domain;
  uint64_t random;
  double words; /* allocated */
  wn_ref lists[LISTS];
  long lengths[LISTS];
  struct alarm_model alarms[ALARMS];
  wn_gc_stat last;
  bool sets; /* it alone changes the parameters */
};

static size_t pick(struct model *model, size_t below) {
  model->random = model->random * 6364136223846793005u + 1442695040888963407u;
  return (size_t)(model->random >> 33) % below;
}

/* ---- callbacks ---- */

static void count_last(wn_domain *domain, void *context) {
  (void)domain;
  atomic_fetch_add(&((struct run *)context)->called, 1);
}

static void count_first(wn_domain *domain, wn_ref value, void *context) {
  (void)domain;
  assert_true(number_of(value) >= 0);
  atomic_fetch_add(&((struct run *)context)->first_calls, 1);
}

static void count_alarm(wn_domain *domain, void *context) {
  struct alarm_model *alarm = context;
  (void)domain;
  assert_non_null(alarm->alarm);
  alarm->calls++;
}

/* ---- steps ---- */

static void allocate_some(struct model *model) {
  static const size_t sizes[] = {1, 2, 7, 40, 256, 257, 1000, 5000};
  size_t words = sizes[pick(model, 8)];
  long blocks = 1 + (long)pick(model, words > 100 ? 3 : 60);
  allocate(model->domain, blocks, words);
  model->words += (double)blocks * (double)(words + 1);
}

static void replace_list(struct model *model) {
  WN_SCOPE(model->domain);
  size_t i = pick(model, LISTS), words = 1 + pick(model, 30);
  assert_int_equal(length_of(model->domain, model->lists[i]), model->lengths[i]);
  model->lengths[i] = (long)pick(model, 100);
  wn_assign(model->lists[i], make_list(model->domain, model->lengths[i], words));
  model->words += (double)model->lengths[i] * (double)(words + 1);
}

static void register_one(struct model *model) {
  WN_SCOPE(model->domain);
  struct run *run = model->run;
  wn_ref value = block_of(model->domain, 7);
  model->words += 2;
  if (pick(model, 2)) {
    assert_int_equal(wn_gc_finalise_last(model->domain, count_last, run, value), WN_OK);
    atomic_fetch_add(&run->registered, 1);
  }
  if (pick(model, 2)) {
    assert_int_equal(wn_gc_finalise(model->domain, count_first, run, value), WN_OK);
    atomic_fetch_add(&run->first_registered, 1);
  }
}

static void turn_alarm(struct model *model) {
  struct alarm_model *alarm = &model->alarms[pick(model, ALARMS)];
  if (alarm->alarm) {
    wn_gc_delete_alarm(model->domain, alarm->alarm);
    alarm->alarm = NULL;
  } else {
    assert_int_equal(wn_gc_create_alarm(model->domain, count_alarm, alarm, &alarm->alarm), WN_OK);
  }
}

static void collect(struct model *model) {
  wn_domain *domain = model->domain;
  wn_gc_stat before = quick_stat(domain), after;
  size_t kind = pick(model, 24);
  long cycles = kind < 3, forced = kind < 2;
  switch (kind) {
  case 0: assert_int_equal(wn_gc_full_major(domain), WN_OK); break;
  case 1: assert_int_equal(wn_gc_compact(domain), WN_OK); break;
  case 2: assert_int_equal(wn_gc_major(domain), WN_OK); break;
  case 3:
  case 4:
  case 5: assert_true(wn_gc_major_slice(domain, (long)pick(model, 5000)) >= 0); break;
  case 6:
  case 7:
  case 8: assert_int_equal(wn_gc_minor(domain), WN_OK); break;
  default: wn_poll(domain); return;
  }
  after = quick_stat(domain);
  assert_true(after.minor_collections > before.minor_collections);
  assert_true(after.major_collections >= before.major_collections + cycles);
  assert_true(after.forced_major_collections >= before.forced_major_collections + forced);
  atomic_fetch_add(&model->run->forced, forced);
}

static void check_counts(struct model *model) {
  wn_domain *domain = model->domain;
  const wn_gc_stat *last = &model->last;
  wn_gc_stat now = pick(model, 4) ? quick_stat(domain) : read_stat(domain);
  double minor, promoted, major;
  wn_gc_counters(domain, &minor, &promoted, &major);
  assert_true(minor + major - promoted == model->words);
  assert_true(wn_gc_allocated_bytes(domain) == 8 * model->words);
  assert_true(now.minor_words >= last->minor_words && now.minor_words >= minor);
  assert_true(now.promoted_words >= last->promoted_words && now.promoted_words >= promoted);
  assert_true(now.major_words >= last->major_words && now.major_words >= major);
  assert_true(now.minor_words >= now.promoted_words && now.major_words >= now.promoted_words);
  assert_true(now.minor_collections >= last->minor_collections);
  assert_true(now.major_collections >= last->major_collections);
  assert_true(now.top_heap_words >= last->top_heap_words && now.top_heap_words >= now.heap_words);
  assert_true(now.stack_size >= LISTS);
  model->last = now;
}

static void change_parameters(struct model *model) {
  wn_domain *domain = model->domain;
  wn_gc_control control = get_control(domain);
  if (!model->sets) {
    assert_int_equal(wn_gc_set_domain_minor_heap(domain, 320 + (long)pick(model, 5000)), WN_OK);
    return;
  }
  control.minor_heap_size = 320 + (long)pick(model, 20000);
  control.space_overhead = 10 + (long)pick(model, 300);
  control.allocation_policy = (long)pick(model, 3);
  control.window_size = 1 + (long)pick(model, 50);
  control.major_heap_increment = (long)pick(model, 2000);
  control.stack_limit = 10000 + (long)pick(model, 10000);
  set_control(domain, &control);
  wn_gc_control after = get_control(domain);
  assert_memory_equal(&after, &control, sizeof control);
}

static void live_shortly(wn_domain *domain, void *argument) {
  struct run *run = argument;
  WN_SCOPE(domain);
  assert_int_equal(length_of(domain, make_list(domain, 30, 4)), 30);
  assert_int_equal(wn_gc_finalise_last(domain, count_last, run, block_of(domain, 1)), WN_OK);
  atomic_fetch_add(&run->registered, 1);
  if (wn_domain_number(domain) % 3 == 0) wn_gc_minor(domain);
}

static void step(struct model *model) {
  switch (pick(model, 16)) {
  case 0:
  case 1:
  case 2:
  case 3:
  case 4: allocate_some(model); break;
  case 5:
  case 6:
  case 7: replace_list(model); break;
  case 8:
  case 9: register_one(model); break;
  case 10: turn_alarm(model); break;
  case 11:
  case 12: check_counts(model); break;
  case 13:
    if (!pick(model, 8)) change_parameters(model);
    break;
  case 14:
    if (!pick(model, 32)) join_wait(model->domain, spawn(model->domain, live_shortly, model->run));
    break;
  default: collect(model);
  }
}

/* ---- runs ---- */

static void live(wn_domain *domain, struct run *run, bool sets) {
  WN_SCOPE(domain);
  struct model model = {
      .run = run, .domain = domain, .random = run->seed + wn_domain_number(domain), .sets = sets};
  for (int i = 0; i < LISTS; i++) model.lists[i] = wn_root(domain, wn_int(0));
  for (int i = 0; i < STEPS; i++) step(&model);
  check_counts(&model);
  for (int i = 0; i < LISTS; i++) assert_int_equal(length_of(domain, model.lists[i]), model.lengths[i]);
  for (int i = 0; i < ALARMS; i++) wn_gc_delete_alarm(domain, model.alarms[i].alarm);
}

static void live_in_a_domain(wn_domain *domain, void *argument) { live(domain, argument, false); }

static void run_with(uint64_t seed, const wn_heap_options *options) {
  struct journal of;
  struct run run = {.seed = seed};
  wn_join *joins[DOMAINS];
  journal_open(&of, options);
  for (int i = 1; i < DOMAINS; i++) joins[i] = spawn(of.domain, live_in_a_domain, &run);
  live(of.domain, &run, true);
  for (int i = 1; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
  for (int i = 0; i < 2; i++) assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  assert_int_equal(run.first_calls, run.first_registered);
  assert_int_equal(run.called, run.registered);
  wn_gc_stat stat = read_stat(of.domain);
  assert_int_equal(stat.live_blocks, 0);
  assert_int_equal(stat.stack_size, 0);
  assert_int_equal(stat.forced_major_collections, run.forced + 2);
  journal_close(&of);
}

static void random_calls_on_several_domains_keep_every_promise(void **state) { /* G11, G54i */
  (void)state;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    wn_heap_options options = WN_HEAP_DEFAULTS;
    options.helper_threads = (int)(seed % 3);
    options.parameters.minor_heap_size = seed % 2 ? 2000 : 20000;
    run_with(1000 * seed, &options);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_calls_on_several_domains_keep_every_promise)};
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
