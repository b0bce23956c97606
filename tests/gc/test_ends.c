/* Threads end anywhere: in a callback, a hook, a blocking section, while something is raised.
 * Nothing of that keeps the others waiting, and nothing is left behind. */
#include "gc/journal.h"
#include "gc/pages_held.h"

#include "gc/domains/heap.h"
#include <pthread.h>
#include <stdlib.h>

/* ---- a heap whose callbacks end their thread, if that asks for it ---- */

enum place { NOWHERE, BIRTH, DEATH, FINALISER, LAST_FINALISER, ALARM, MEMORY_HOOK, RAISE_HOOK, BODY, PLACES };
static const char *const places[PLACES] = {"returns",        "in a birth",          "in a death",
                                           "in a finaliser", "in a last finaliser", "in an alarm",
                                           "out of memory",  "in the raise hook",   "in its body"};

static _Thread_local enum place end_in; /* the calling thread ends there */
static _Thread_local bool ends_blocked;

static _Atomic(long) births, deaths, finalisers, alarms, raises;

static void pass(wn_domain *domain, enum place place) {
  if (end_in != place) return;
  if (ends_blocked) wn_blocking_begin(domain);
  pthread_exit(NULL);
}

static void *note_birth(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)allocation;
  pass(domain, BIRTH);
  births++;
  return context;
}
static void *note_promotion(wn_domain *domain, void *metadata, void *context) {
  (void)domain, (void)context;
  return metadata;
}
static void note_death(wn_domain *domain, void *metadata, void *context) {
  (void)metadata, (void)context;
  pass(domain, DEATH);
  deaths++;
}
static void note_finaliser(wn_domain *domain, wn_ref value, void *context) {
  (void)value, (void)context;
  pass(domain, FINALISER);
  finalisers++;
}
static void note_last_finaliser(wn_domain *domain, void *context) {
  (void)context;
  pass(domain, LAST_FINALISER);
  finalisers++;
}
static void note_alarm(wn_domain *domain, void *context) {
  (void)context;
  pass(domain, ALARM);
  alarms++;
}
static bool note_shortage(wn_domain *domain, size_t words, void *context) {
  (void)words, (void)context;
  pass(domain, MEMORY_HOOK);
  return false;
}
static void note_raise(wn_domain *domain, wn_ref exception, void *context) {
  (void)exception, (void)context;
  pass(domain, RAISE_HOOK);
  raises++;
}

struct scene {
  struct journal of;
  wn_profile *profile;
  enum place place;
  bool blocked;
};

static void scene_open_with(struct scene *scene, bool has_hook, double rate) {
  static char metadata;
  wn_heap_options options = without_helpers();
  wn_tracker tracker = {.alloc_minor = note_birth,
                        .alloc_major = note_birth,
                        .promote = note_promotion,
                        .dealloc_minor = note_death,
                        .dealloc_major = note_death,
                        .context = &metadata};
  wn_memprof_options sampling = {rate, 4, 0};
  wn_gc_alarm *alarm;
  options.hooks.out_of_memory = note_shortage;
  if (has_hook) options.hooks.raise = note_raise;
  *scene = (struct scene){.place = NOWHERE};
  births = deaths = finalisers = alarms = raises = 0;
  journal_open(&scene->of, &options);
  assert_int_equal(wn_gc_create_alarm(scene->of.domain, note_alarm, NULL, &alarm), WN_OK);
  assert_int_equal(wn_memprof_start(scene->of.domain, &sampling, &tracker, &scene->profile), WN_OK);
}

static void scene_open(struct scene *scene) { scene_open_with(scene, true, 1); }

static void scene_close(struct scene *scene) {
  assert_int_equal(wn_memprof_stop(scene->of.domain), WN_OK);
  assert_int_equal(wn_memprof_discard(scene->profile), WN_OK);
  journal_close(&scene->of);
}

/* Callbacks of every kind are called as ever. */
static void check_goes_on(struct scene *scene) {
  wn_domain *domain = scene->of.domain;
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  long before[] = {births, deaths, finalisers, alarms};
  {
    WN_SCOPE(domain);
    assert_int_equal(wn_gc_finalise(domain, note_finaliser, NULL, block_of(domain, 1)), WN_OK);
    assert_int_equal(wn_gc_finalise_last(domain, note_last_finaliser, NULL, block_of(domain, 2)), WN_OK);
  }
  for (int i = 0; i < 3; i++) assert_int_equal(wn_gc_full_major(domain), WN_OK);
  assert_int_equal(births, before[0] + 2);
  assert_int_equal(deaths, before[1] + 2);
  assert_int_equal(finalisers, before[2] + 2);
  assert_true(alarms > before[3]);
}

/* ---- bodies: they come to the place that they are told ---- */

/* No scope: one that ended by itself would end in the blocking section. */
static void come_to(wn_domain *domain, const struct scene *scene) {
  end_in = scene->place;
  ends_blocked = scene->blocked;
  wn_ref first = block_of(domain, 1), last = block_of(domain, 2);
  switch (scene->place) {
  case BIRTH: wn_poll(domain); break;
  case FINALISER: wn_gc_finalise(domain, note_finaliser, NULL, first); break;
  case LAST_FINALISER: wn_gc_finalise_last(domain, note_last_finaliser, NULL, last); break;
  case MEMORY_HOOK: wn_alloc(domain, WN_MAX_WORDS, WN_TAG_RAW); break;
  case RAISE_HOOK: wn_raise(domain, first); break;
  case BODY: pass(domain, BODY); break;
  default: break;
  }
  wn_assign_int(first, 0);
  wn_assign_int(last, 0);
  if (scene->place) wn_gc_full_major(domain);
}

static void end_somewhere(wn_domain *domain, void *argument) {
  const struct scene *scene = argument;
  come_to(domain, scene);
  assert_int_equal(scene->place, NOWHERE); /* it came there */
}

static void create_own_alarm(wn_domain *domain, void *argument) {
  wn_gc_alarm *alarm;
  assert_int_equal(wn_gc_create_alarm(domain, note_alarm, NULL, &alarm), WN_OK);
  end_somewhere(domain, argument);
}

static void *attach_and_end(void *argument) {
  const struct scene *scene = argument;
  wn_domain *domain;
  assert_int_equal(wn_domain_attach(scene->of.heap, &domain), WN_OK);
  assert_int_equal(wn_memprof_join(domain, scene->profile), WN_OK);
  create_own_alarm(domain, argument);
  return NULL;
}

static void end_thread(struct scene *scene) {
  wn_join *join;
  assert_int_equal(wn_thread_spawn(scene->of.domain, end_somewhere, scene, &join), WN_OK);
  join_wait(scene->of.domain, join);
}
static void end_domain(struct scene *scene) {
  join_wait(scene->of.domain, spawn(scene->of.domain, create_own_alarm, scene));
}
static void end_attached(struct scene *scene) {
  pthread_t thread;
  wn_blocking_begin(scene->of.domain);
  assert_int_equal(pthread_create(&thread, NULL, attach_and_end, scene), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  wn_blocking_end(scene->of.domain);
}

static void check_ends(void (*end)(struct scene *)) {
  struct scene scene;
  scene_open(&scene);
  for (int place = NOWHERE; place < PLACES; place++)
    for (int blocked = 0; blocked < 2; blocked++) {
      if (blocked) print_message("[ ends     ] %s, and in a blocking section there\n", places[place]);
      scene.place = (enum place)place;
      scene.blocked = blocked;
      end(&scene);
      check_goes_on(&scene);
    }
  assert_int_equal(scene.of.heap->domain_count, 1);
  scene_close(&scene);
}

static void a_thread_may_end_anywhere(void **state) { /* H16 */
  (void)state;
  check_ends(end_thread);
}
static void a_domain_may_end_anywhere(void **state) { /* H16 */
  (void)state;
  check_ends(end_domain);
}
static void a_thread_that_attached_may_end_anywhere_and_its_domain_ends(void **state) { /* H16 */
  (void)state;
  check_ends(end_attached);
}

/* ---- its last callbacks ---- */

static void leave_births(wn_domain *domain, void *argument) {
  const struct scene *scene = argument;
  const wn_shape shapes[] = {{3, 0}, {3, 0}, {3, 0}, {3, 0}, {3, 0}};
  wn_ref blocks[5];
  WN_SCOPE(domain);
  end_in = scene->place;
  assert_int_equal(wn_alloc_group(domain, 5, shapes, blocks), WN_OK); /* all wait for its end */
}

static void a_thread_may_end_in_its_last_callbacks(void **state) { /* H16 */
  struct scene scene;
  wn_join *join;
  (void)state;
  scene_open(&scene);
  scene.place = BIRTH;
  assert_int_equal(wn_thread_spawn(scene.of.domain, leave_births, &scene, &join), WN_OK);
  join_wait(scene.of.domain, join);
  join_wait(scene.of.domain, spawn(scene.of.domain, leave_births, &scene));
  wn_memprof_count count;
  wn_memprof_counts(scene.profile, &count);
  assert_int_equal(births, 0);
  assert_int_equal(count.dropped_minor, 10); /* no callback follows one that ended its thread */
  check_goes_on(&scene);
  scene_close(&scene);
}

static void leave_births_and_exit(wn_domain *domain, void *argument) {
  (void)argument;
  allocate(domain, 5, 3);
  pthread_exit(NULL);
}

static void a_thread_that_exits_tells_its_births_first(void **state) { /* H16 */
  struct scene scene;
  wn_join *join;
  (void)state;
  scene_open(&scene);
  assert_int_equal(wn_thread_spawn(scene.of.domain, leave_births_and_exit, &scene, &join), WN_OK);
  join_wait(scene.of.domain, join);
  assert_int_equal(births, 5);
  join_wait(scene.of.domain, spawn(scene.of.domain, leave_births_and_exit, &scene));
  assert_int_equal(births, 10);
  check_goes_on(&scene);
  scene_close(&scene);
}

static wn_join *left;
static void exit_and_leave_threads(wn_domain *domain, void *argument) {
  assert_int_equal(wn_thread_spawn(domain, leave_births, argument, &left), WN_OK);
  pthread_exit(NULL);
}

static void a_domain_whose_first_thread_exits_ends_with_the_last(void **state) { /* H16 */
  struct scene scene;
  (void)state;
  scene_open(&scene);
  join_wait(scene.of.domain, spawn(scene.of.domain, exit_and_leave_threads, &scene));
  join_wait(scene.of.domain, left);
  assert_int_equal(births, 5);
  assert_int_equal(scene.of.heap->domain_count, 1);
  check_goes_on(&scene);
  scene_close(&scene);
}

/* ---- what is raised ---- */

static void raise_and_return(wn_domain *domain, void *argument) {
  (void)argument;
  WN_SCOPE(domain);
  wn_raise(domain, wn_root(domain, wn_int(7)));
}

static void what_a_thread_raised_is_lost_with_it_where_a_hook_would_catch_it(void **state) { /* H17 */
  struct scene scene;
  wn_join *join;
  (void)state;
  scene_open(&scene);
  wn_domain *domain = scene.of.domain;
  assert_int_equal(wn_thread_spawn(domain, raise_and_return, NULL, &join), WN_OK);
  join_wait(domain, join);
  assert_int_equal(wn_gc_minor(domain), WN_OK);
  assert_true(wn_is_null(wn_take_exception(domain)));
  join_wait(domain, spawn(domain, raise_and_return, NULL));
  assert_int_equal(raises, 0); /* whom should the hook leave to? */
  check_goes_on(&scene);
  scene_close(&scene);
}

static void without_a_hook_what_a_thread_raised_waits_for_the_others_to_take_it(void **state) { /* H17 */
  struct scene scene;
  wn_join *join;
  (void)state;
  scene_open_with(&scene, false, 1);
  wn_domain *domain = scene.of.domain;
  assert_int_equal(wn_thread_spawn(domain, raise_and_return, NULL, &join), WN_OK);
  join_wait(domain, join);
  assert_int_equal(wn_gc_minor(domain), WN_EBUSY);
  {
    WN_SCOPE(domain);
    wn_ref taken = wn_take_exception(domain);
    assert_false(wn_is_null(taken));
    assert_int_equal(wn_to_int(wn_value_of(taken)), 7);
  }
  join_wait(domain, spawn(domain, raise_and_return, NULL)); /* that of a domain goes with it */
  check_goes_on(&scene);
  scene_close(&scene);
}

static void *raise_in_birth(wn_domain *domain, const wn_allocation *allocation, void *context) {
  WN_SCOPE(domain);
  note_birth(domain, allocation, context);
  wn_raise(domain, wn_root(domain, wn_int(1)));
  return context;
}

static void last_callbacks_that_raise_are_all_called(void **state) { /* H17 */
  struct scene scene;
  wn_join *join;
  wn_tracker tracker = {.alloc_minor = raise_in_birth, .context = &scene};
  wn_memprof_options options = {1, 4, 0};
  (void)state;
  scene_open(&scene);
  wn_domain *domain = scene.of.domain;
  assert_int_equal(wn_memprof_stop(domain), WN_OK);
  assert_int_equal(wn_memprof_discard(scene.profile), WN_OK);
  assert_int_equal(wn_memprof_start(domain, &options, &tracker, &scene.profile), WN_OK);
  assert_int_equal(wn_thread_spawn(domain, leave_births, &scene, &join), WN_OK);
  join_wait(domain, join);
  assert_int_equal(births, 5);
  join_wait(domain, spawn(domain, leave_births, &scene));
  assert_int_equal(births, 10);
  assert_int_equal(raises, 0);
  scene_close(&scene);
}

/* ---- nothing is left ---- */

static long exits = 2000;

static void end_often(struct scene *scene, long times) {
  wn_join *join;
  for (long i = 0; i < times; i++) {
    scene->place = i % 3 == 0 ? NOWHERE : i % 3 == 1 ? BIRTH : BODY;
    scene->blocked = i % 2;
    assert_int_equal(wn_thread_spawn(scene->of.domain, end_somewhere, scene, &join), WN_OK);
    join_wait(scene->of.domain, join);
  }
  assert_int_equal(wn_gc_full_major(scene->of.domain), WN_OK);
  assert_int_equal(wn_gc_full_major(scene->of.domain), WN_OK);
}

static void threads_that_end_with_pending_callbacks_leave_no_memory_behind(void **state) { /* H16 */
  struct scene scene;
  (void)state;
  scene_open(&scene);
  end_often(&scene, exits); /* the heap and its tables get as large as they ever will be */
  long before = pages_held;
  end_often(&scene, exits);
  assert_true(pages_held <= before);
  assert_int_equal(memprof_usage(&scene.of.heap->engine).entries, 0);
  memprof_check(&scene.of.heap->engine);
  scene_close(&scene);
}

/* test_ends [EXITS] */
int main(int count, char **arguments) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_thread_may_end_anywhere),
      cmocka_unit_test(a_domain_may_end_anywhere),
      cmocka_unit_test(a_thread_that_attached_may_end_anywhere_and_its_domain_ends),
      cmocka_unit_test(a_thread_may_end_in_its_last_callbacks),
      cmocka_unit_test(a_thread_that_exits_tells_its_births_first),
      cmocka_unit_test(a_domain_whose_first_thread_exits_ends_with_the_last),
      cmocka_unit_test(what_a_thread_raised_is_lost_with_it_where_a_hook_would_catch_it),
      cmocka_unit_test(without_a_hook_what_a_thread_raised_waits_for_the_others_to_take_it),
      cmocka_unit_test(last_callbacks_that_raise_are_all_called),
      cmocka_unit_test(threads_that_end_with_pending_callbacks_leave_no_memory_behind),
  };
  if (count > 1) exits = atol(arguments[1]);
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
