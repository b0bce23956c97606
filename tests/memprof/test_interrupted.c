/* A parallel host whose signal handlers allocate and free: at whichever instruction one interrupts
 * the engine, all that became due is told when the engine returns, and nothing waits for what the
 * thread does next. */
#include "support/interrupted.h"
#include "support/test.h"

#include "memprof/host.h"

static struct memprof engine;
static struct memprof_owner owner;
static struct memprof_thread thread;
static wn_profile *profile;
static bool attached;
static struct memprof_entry *of_work, *of_handler;  /* blocks */
static atomic_uint births, deaths, expected_births; /* the handler counts, too */

static void rearm(struct memprof_owner *changed) { (void)changed; }
static const wn_callstack *capture(struct memprof_thread *of, size_t depth) {
  (void)of, (void)depth;
  return NULL;
}
static const struct memprof_ops ops = {.parallel = true, .rearm = rearm, .capture = capture};

static void *born(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain, (void)allocation;
  births++;
  return context;
}
static void *resized(wn_domain *domain, void *metadata, const wn_allocation *allocation, void *context) {
  (void)domain, (void)allocation, (void)context;
  return metadata;
}
static void died(wn_domain *domain, void *metadata, void *context) {
  (void)domain, (void)metadata, (void)context;
  deaths++;
}

static void attach(void) {
  if (attached) return;
  thread = (struct memprof_thread){0};
  memprof_thread_attach(&thread, &owner, NULL, NULL);
  attached = true;
}

/* NULL where the thread is suspended: then nothing is sampled. */
static struct memprof_entry *allocate(void) {
  struct memprof_birth birth = {.trials = 4, .bytes = 24};
  birth.n_samples = memprof_hits_of(&thread, 4);
  if (!birth.n_samples) return NULL;
  expected_births++;
  struct memprof_entry *entry = memprof_allocated(&thread, &birth);
  memprof_drain(&thread);
  return entry;
}

static void release(struct memprof_entry **entry) {
  if (!*entry) return;
  attach();
  memprof_freed(&thread, *entry);
  *entry = NULL;
  memprof_drain(&thread);
}

/* ---- what the handler does ---- */

static void free_a_block(void) { release(&of_handler); }

static void use_a_block(void) {
  attach();
  struct memprof_entry *entry = allocate();
  release(&entry);
  free_a_block();
}

/* ---- what it interrupts ---- */

static void begin(void) {
  static const wn_memprof_options options = {.sampling_rate = 1};
  static const wn_tracker tracker = {
      .alloc_major = born, .dealloc_major = died, .resize = resized, .context = &engine};
  engine = (struct memprof){0};
  owner = (struct memprof_owner){0};
  births = deaths = expected_births = 0;
  attached = false;
  memprof_open(&engine, &ops, NULL, 10);
  memprof_owner_create(&owner, &engine, NULL, NULL);
  attach();
  assert_int_equal(memprof_start(&thread, &options, &tracker, &profile), WN_OK);
  of_work = allocate();
  of_handler = allocate();
}

/* All was told, and nothing ended in a `drop`. */
static bool is_told(void) {
  wn_memprof_count count;
  memprof_check(&engine);
  wn_memprof_counts(profile, &count);
  return births == expected_births && births - deaths == (unsigned)(!!of_work + !!of_handler) &&
         count.dropped_major == 0;
}

static void end(void) {
  release(&of_work);
  release(&of_handler);
  assert_int_equal(memprof_usage(&engine).entries, 0);
  if (attached) memprof_thread_detach(&thread);
  memprof_owner_end(&owner);
  memprof_close(&engine);
}

static void drain(void) { memprof_drain(&thread); }
static void free_its_own(void) { release(&of_work); }
static void use_another(void) {
  struct memprof_entry *entry = allocate();
  release(&entry);
}
static void resize(void) {
  memprof_resized(&thread, of_work, 0, 40, 6, 6);
  memprof_drain(&thread);
}
static void detach(void) {
  memprof_thread_detach(&thread);
  attached = false;
}

static void interrupt_by(void (*work)(void), void (*act)(void)) {
  begin();
  struct interruptions found = interrupted(work, act, is_told);
  assert_true(is_told());
  end();
  assert_true(found.points > 10);
  if (found.wrong)
    print_error("wrong at %ld points of %ld, first at %ld\n", found.wrong, found.points, found.first_wrong);
  assert_int_equal(found.wrong, 0);
}

static void interrupt(void (*work)(void)) {
  if (!CAN_INTERRUPT) skip();
  interrupt_by(work, free_a_block);
  interrupt_by(work, use_a_block);
}

/* ---- tests ---- */

static void what_a_handler_frees_while_nothing_is_due_is_told_before_the_drain_ends(void **state) {
  (void)state;
  interrupt(drain);
}

static void what_a_handler_frees_during_a_birth_is_told_before_its_drain_ends(void **state) {
  (void)state;
  interrupt(use_another);
}

static void what_a_handler_frees_during_a_death_is_told_before_its_drain_ends(void **state) { /* T6 */
  (void)state;
  interrupt(free_its_own);
}

static void what_a_handler_frees_during_a_resize_is_told_before_its_drain_ends(void **state) {
  (void)state;
  interrupt(resize);
}

static void what_a_handler_frees_while_its_thread_ends_is_told(void **state) {
  (void)state;
  interrupt(detach);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_a_handler_frees_while_nothing_is_due_is_told_before_the_drain_ends),
      cmocka_unit_test(what_a_handler_frees_during_a_birth_is_told_before_its_drain_ends),
      cmocka_unit_test(what_a_handler_frees_during_a_death_is_told_before_its_drain_ends),
      cmocka_unit_test(what_a_handler_frees_during_a_resize_is_told_before_its_drain_ends),
      cmocka_unit_test(what_a_handler_frees_while_its_thread_ends_is_told),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
