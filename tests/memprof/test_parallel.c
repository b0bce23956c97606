/* A parallel host, as malloc is one: real threads allocate and free each other's blocks while
 * another one starts, stops and discards profiles. Made for the sanitizers. */
#include "support/test.h"

#include "memprof/host.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

enum { THREADS = 4, BLOCKS = 512, ROUNDS = 20000, PROFILES = 150 };

/* A thread of the host; `rearm` is set by any thread and cleared by its own. */
struct worker {
  struct memprof_thread memprof;
  atomic_bool rearm;
  int64_t left;
  struct random random;
  pthread_t thread;
};

static struct memprof engine;
static struct memprof_owner owner;
static struct worker workers[THREADS + 1];
static _Atomic(struct memprof_entry *) blocks[BLOCKS];
static atomic_bool finished;
static atomic_int contexts, births, resizes;
static _Thread_local struct memprof_thread *self;

static void rearm(struct memprof_owner *changed) {
  (void)changed;
  for (int i = 0; i <= THREADS; i++) atomic_store(&workers[i].rearm, true);
}
static const wn_callstack *capture(struct memprof_thread *thread, size_t depth) {
  (void)thread, (void)depth;
  return NULL;
}
static struct memprof_thread *current(struct memprof *of) {
  (void)of;
  return self;
}
static const struct memprof_ops ops = {
    .parallel = true, .rearm = rearm, .capture = capture, .current = current};

/* What a profile's callbacks share: freed by release, so that any later callback is a use after
 * free. */
struct context {
  atomic_int outstanding;
};
struct mark {
  struct context *context;
};

static void *new_mark(struct context *context) {
  struct mark *mark = malloc(sizeof *mark);
  mark->context = context;
  atomic_fetch_add(&context->outstanding, 1);
  return mark;
}
static void end_mark(struct mark *mark, struct context *context) {
  assert_ptr_equal(mark->context, context);
  atomic_fetch_sub(&context->outstanding, 1);
  free(mark);
}
static void *born(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain;
  atomic_fetch_add(&births, 1);
  return allocation->size % 5 ? new_mark(context) : NULL;
}
static void *resized(wn_domain *domain, void *mark, const wn_allocation *allocation, void *context) {
  (void)domain, (void)allocation;
  atomic_fetch_add(&resizes, 1);
  end_mark(mark, context);
  return new_mark(context);
}
static void died(wn_domain *domain, void *mark, void *context) {
  (void)domain;
  end_mark(mark, context);
}
static void dropped(void *mark, void *context) { end_mark(mark, context); }
static void released(void *context) {
  assert_int_equal(atomic_load(&((struct context *)context)->outstanding), 0);
  free(context);
  atomic_fetch_sub(&contexts, 1);
}

static struct memprof_entry *allocate(struct worker *worker, size_t words) {
  if (atomic_exchange(&worker->rearm, false)) worker->left = memprof_gap(&worker->memprof);
  worker->left -= (int64_t)words + 1;
  if (worker->left >= 0) return NULL;
  size_t hits = memprof_hits(&worker->memprof, &worker->left);
  if (!hits) return NULL;
  struct memprof_birth birth = {.trials = words + 1, .bytes = words * 8, .n_samples = hits};
  return memprof_allocated(&worker->memprof, &birth);
}

static void release(struct worker *worker, struct memprof_entry *entry) {
  if (!entry) return;
  bool suspended = random_bits(&worker->random) % 8 == 0;
  if (suspended) memprof_suspend(&worker->memprof);
  memprof_freed(&worker->memprof, entry);
  memprof_drain(&worker->memprof);
  if (suspended) memprof_resume(&worker->memprof);
}

static void step(struct worker *worker) {
  struct memprof_entry *entry = allocate(worker, 1 + random_bits(&worker->random) % 20);
  memprof_drain(&worker->memprof);
  if (entry && random_bits(&worker->random) % 16 == 0) {
    memprof_resized(&worker->memprof, entry, 0, 240, 31, 31);
    memprof_drain(&worker->memprof);
  }
  release(worker, atomic_exchange(&blocks[random_bits(&worker->random) % BLOCKS], entry));
}

static void *work(void *argument) {
  struct worker *worker = argument;
  self = &worker->memprof;
  for (int round = 0; round < ROUNDS || !atomic_load(&finished); round++) {
    if (round % 2000 == 1999) { /* a thread ends and another begins */
      memprof_thread_detach(&worker->memprof);
      worker->memprof = (struct memprof_thread){0};
      memprof_thread_attach(&worker->memprof, &owner, NULL, worker);
      atomic_store(&worker->rearm, true);
    }
    step(worker);
  }
  memprof_thread_detach(&worker->memprof);
  return NULL;
}

static void run_profiles(struct worker *worker) {
  const wn_memprof_options options = {.sampling_rate = 0.7, .seed = 3};
  wn_profile *before = NULL;
  for (int i = 0; i < PROFILES; i++) {
    struct context *context = calloc(1, sizeof *context);
    wn_tracker tracker = {.alloc_major = born,
                          .dealloc_major = died,
                          .drop = dropped,
                          .resize = resized,
                          .context = context,
                          .release = released};
    wn_profile *profile;
    atomic_fetch_add(&contexts, 1);
    assert_int_equal(memprof_start(&worker->memprof, &options, &tracker, &profile), WN_OK);
    for (int n = 0; n < 200; n++) step(worker);
    wn_memprof_count count;
    wn_memprof_counts(profile, &count);
    assert_true(count.live_major <= count.allocs_major);
    assert_int_equal(memprof_stop(&worker->memprof), WN_OK);
    if (before) assert_int_equal(wn_memprof_discard(before), WN_OK); /* blocks of two profiles at a time */
    before = profile;
  }
  assert_int_equal(wn_memprof_discard(before), WN_OK);
}

static void threads_free_each_others_blocks_while_profiles_come_and_go(void **state) { /* T4 */
  (void)state;
  memprof_open(&engine, &ops, NULL, 1 << 20);
  memprof_owner_create(&owner, &engine, NULL, NULL);
  for (int i = 0; i <= THREADS; i++) {
    memprof_thread_attach(&workers[i].memprof, &owner, NULL, &workers[i]);
    workers[i].left = memprof_gap(&workers[i].memprof);
    random_seed(&workers[i].random, 1, 2, (uint64_t)i);
  }
  for (int i = 0; i < THREADS; i++) pthread_create(&workers[i].thread, NULL, work, &workers[i]);
  struct worker *main_worker = &workers[THREADS];
  self = &main_worker->memprof;
  run_profiles(main_worker);
  atomic_store(&finished, true);
  for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
  memprof_check(&engine);
  assert_int_equal(atomic_load(&contexts), 0);
  assert_true(atomic_load(&births) > PROFILES && atomic_load(&resizes) > 0);
  for (int i = 0; i < BLOCKS; i++) release(main_worker, atomic_load(&blocks[i]));
  memprof_thread_detach(&main_worker->memprof);
  assert_int_equal(memprof_usage(&engine).entries, 0);
  assert_int_equal(memprof_usage(&engine).profiles, 0);
  memprof_owner_end(&owner);
  memprof_close(&engine);
}

/* Two threads start at once: one of them gets the profile, the other is refused. */
enum { WINS = 1000 };
static atomic_int holders;

static void *start_often(void *argument) {
  struct worker *worker = argument;
  const wn_memprof_options options = {.sampling_rate = 0};
  const wn_tracker tracker = {0};
  for (int won = 0; won < WINS;) {
    wn_profile *profile;
    if (memprof_start(&worker->memprof, &options, &tracker, &profile)) continue;
    won++;
    assert_int_equal(atomic_fetch_add(&holders, 1), 0);
    atomic_fetch_sub(&holders, 1);
    assert_int_equal(memprof_stop(&worker->memprof), WN_OK);
    assert_int_equal(wn_memprof_discard(profile), WN_OK);
  }
  return NULL;
}

static void of_two_threads_that_start_at_once_one_is_refused(void **state) { /* L3 */
  (void)state;
  engine = (struct memprof){0};
  owner = (struct memprof_owner){0};
  memprof_open(&engine, &ops, NULL, 10);
  memprof_owner_create(&owner, &engine, NULL, NULL);
  for (int i = 0; i < 2; i++) {
    workers[i].memprof = (struct memprof_thread){0};
    memprof_thread_attach(&workers[i].memprof, &owner, NULL, NULL);
    pthread_create(&workers[i].thread, NULL, start_often, &workers[i]);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(workers[i].thread, NULL);
    memprof_thread_detach(&workers[i].memprof);
  }
  assert_int_equal(memprof_usage(&engine).profiles, 0);
  memprof_owner_end(&owner);
  memprof_close(&engine);
}

/* Counts without allocating: it is called from a signal handler too. */
static atomic_int alive;
static void *counted_birth(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain, (void)allocation;
  atomic_fetch_add(&alive, 1);
  return context;
}
static void counted_death(wn_domain *domain, void *metadata, void *context) {
  (void)domain, (void)metadata, (void)context;
  atomic_fetch_sub(&alive, 1);
}

static atomic_int interruptions;

/* The handler is not suspended unless it interrupted a callback loop; it uses a count of its
 * own. */
static void interrupt(int signal) {
  (void)signal;
  struct memprof_birth birth = {.trials = 4, .bytes = 24};
  birth.n_samples = memprof_hits_of(&workers[0].memprof, 4);
  if (!birth.n_samples) return;
  struct memprof_entry *entry = memprof_allocated(&workers[0].memprof, &birth);
  memprof_drain(&workers[0].memprof);
  memprof_freed(&workers[0].memprof, entry);
  memprof_drain(&workers[0].memprof);
  atomic_fetch_add(&interruptions, 1);
}

static void a_signal_handler_may_allocate_and_free_at_any_moment(void **state) { /* T6 */
  (void)state;
  engine = (struct memprof){0};
  owner = (struct memprof_owner){0};
  struct worker *worker = &workers[0];
  worker->memprof = (struct memprof_thread){0};
  memprof_open(&engine, &ops, NULL, 10000);
  memprof_owner_create(&owner, &engine, NULL, NULL);
  memprof_thread_attach(&worker->memprof, &owner, NULL, NULL);
  self = &worker->memprof;
  wn_profile *profile;
  wn_memprof_options options = {.sampling_rate = 1};
  wn_tracker tracker = {.alloc_major = counted_birth, .dealloc_major = counted_death, .context = &alive};
  assert_int_equal(memprof_start(&worker->memprof, &options, &tracker, &profile), WN_OK);
  struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
  sigaction(SIGVTALRM, &action, NULL);
  struct itimerval every = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_VIRTUAL, &every, NULL);
  while (atomic_load(&interruptions) < 50) {
    struct memprof_entry *entry = allocate(worker, 5);
    memprof_drain(&worker->memprof);
    if (!entry) continue;
    memprof_freed(&worker->memprof, entry);
    memprof_drain(&worker->memprof);
  }
  setitimer(ITIMER_VIRTUAL, &never, NULL);
  memprof_drain(&worker->memprof);
  assert_int_equal(atomic_load(&alive), 0);
  memprof_check(&engine);
  assert_int_equal(memprof_usage(&engine).entries, 0);
  memprof_thread_detach(&worker->memprof);
  memprof_owner_end(&owner);
  memprof_close(&engine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_free_each_others_blocks_while_profiles_come_and_go),
      cmocka_unit_test(of_two_threads_that_start_at_once_one_is_refused),
      cmocka_unit_test(a_signal_handler_may_allocate_and_free_at_any_moment),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
