/* What a profile costs allocations that it does not sample: their instructions are counted as they
 * run.
 *
 * The processor is asked to trap after each instruction: a breakpoint begins that, and the next one
 * ends it. */
#include "tracker.h"

#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

#if defined(__x86_64__) && defined(__linux__)

enum { TRAP_FLAG = 0x100 };

static volatile long steps; /* since the first breakpoint */

static void at_trap(int signal, siginfo_t *information, void *context) {
  greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
  (void)signal;
  if (information->si_code == TRAP_TRACE)
    steps++;
  else
    *flags ^= TRAP_FLAG;
}

static inline void begin_or_end(void) { __asm__ volatile("int3" ::: "memory"); }

typedef void allocation(wn_domain *domain);

static void by_bump(wn_domain *domain) {
  wn_value *fields = wn_bump(domain, 2, 0);
  fields[0] = fields[1] = wn_int(0);
}
static void by_alloc(wn_domain *domain) { wn_alloc(domain, 5, 0); }
static void by_group(wn_domain *domain) {
  static const wn_shape shapes[] = {{1, 0}, {2, WN_TAG_RAW}, {30, 0}};
  wn_ref blocks[3];
  wn_alloc_group(domain, 3, shapes, blocks);
}

/* Of twenty allocations, at the same addresses each time, none of which is the first of its minor
 * heap. */
static __attribute__((noinline)) long count(wn_domain *domain, allocation *one) {
  WN_SCOPE(domain);
  wn_gc_minor(domain);
  one(domain);
  steps = 0;
  begin_or_end();
  for (int i = 0; i < 20; i++) one(domain);
  begin_or_end();
  return steps;
}

/* Where each allocation takes the slow path, and does no more than find that there is room: the
 * count sees that. */
static long count_slow(allocation *one) {
  wn_heap_options options = without_helpers();
  struct journal of;
  options.text = "every=1000000000";
  journal_open(&of, &options);
  long found = count(of.domain, one);
  journal_close(&of);
  return found;
}

static void between_samples_an_allocation_costs_no_instruction(void **state) { /* M74 */
  static allocation *const ways[] = {by_bump, by_alloc, by_group};
  struct sigaction action = {.sa_sigaction = at_trap, .sa_flags = SA_SIGINFO}, before;
  (void)state;
  assert_int_equal(sigaction(SIGTRAP, &action, &before), 0);
  for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
    struct tracked all;
    tracked_open_heap(&all);
    long off = count(all.of.domain, ways[way]);
    assert_true(off >= 20 * 7);
    tracked_start(&all, 1e-9);
    assert_int_equal(count(all.of.domain, ways[way]), off);
    wn_poll(all.of.domain);
    assert_int_equal(all.allocs_minor, 0);
    assert_int_equal(wn_memprof_stop(all.of.domain), WN_OK);
    assert_int_equal(count(all.of.domain, ways[way]), off);
    assert_int_equal(wn_memprof_discard(all.profile), WN_OK);
    journal_close(&all.of);
    assert_true(count_slow(ways[way]) > off + 20);
  }
  assert_int_equal(sigaction(SIGTRAP, &before, NULL), 0);
}

#else

static void between_samples_an_allocation_costs_no_instruction(void **state) { /* M74 */
  (void)state;
  skip();
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(between_samples_an_allocation_costs_no_instruction),
  };
  unsetenv("WINNOW_PARAMS"); /* stress has its own paths */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
