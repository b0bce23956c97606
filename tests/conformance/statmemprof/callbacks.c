/* Callbacks of profiles on the collected heap: when they run, in which order, and what they may
 * do. */
#include "memprof/host.h"
#include "tracker.h"

enum { LEAST_MINOR_HEAP = 512 };

static void set_minor_heap(wn_domain *domain, long words) {
  assert_int_equal(wn_gc_set_domain_minor_heap(domain, words), WN_OK);
}

/* ---- when ---- */

static long told(const struct tracked *all) { return all->allocs_minor + all->allocs_major; }

/* A block's own allocation calls nothing; the next one does, since each takes the slow path. */
static void a_birth_is_told_at_the_next_allocation_or_safepoint(void **state) { /* M25 */
  struct tracked all;
  (void)state;
  tracked_open(&all, 1);
  set_minor_heap(all.of.domain, LEAST_MINOR_HEAP);
  for (long i = 0; i < 1000; i++) {
    allocate(all.of.domain, 1, i % 100 ? 5 : 1000);
    assert_int_equal(told(&all), i);
  }
  wn_poll(all.of.domain);
  assert_int_equal(all.allocs_minor, 990);
  assert_int_equal(all.allocs_major, 10);
  assert_true(all.deallocs_minor > 0);
  tracked_check(&all);
  tracked_close(&all);
}

/* No more than a fixed number of births wait, however long a program does not take an exception. */
static void births_that_cannot_be_told_are_lost_beyond_a_bound(void **state) { /* M25b */
  enum { BLOCKS = 1 << 17 };
  struct tracked all;
  (void)state;
  tracked_open(&all, 1);
  {
    WN_SCOPE(all.of.domain);
    wn_raise(all.of.domain, wn_root(all.of.domain, wn_int(1)));
  }
  allocate(all.of.domain, BLOCKS, 1);
  assert_int_equal(told(&all), 0);
  WN_SCOPE(all.of.domain);
  assert_false(wn_is_null(wn_take_exception(all.of.domain)));
  wn_poll(all.of.domain);
  wn_memprof_count count = counts_of(all.profile);
  assert_true(told(&all) >= BIRTHS_MOST && count.lost > 0);
  assert_int_equal((uint64_t)told(&all) + count.lost, BLOCKS);
  tracked_close(&all);
}

static void by_poll(wn_domain *domain) { wn_poll(domain); }
static void by_yield(wn_domain *domain) { wn_thread_yield(domain); }
static void by_drain(wn_domain *domain) { assert_int_equal(wn_memprof_drain(domain), WN_OK); }
static void by_minor(wn_domain *domain) { assert_int_equal(wn_gc_minor(domain), WN_OK); }
static void by_slice(wn_domain *domain) { wn_gc_major_slice(domain, 0); }
static void by_major(wn_domain *domain) { assert_int_equal(wn_gc_major(domain), WN_OK); }
static void by_full_major(wn_domain *domain) { assert_int_equal(wn_gc_full_major(domain), WN_OK); }
static void by_compact(wn_domain *domain) { assert_int_equal(wn_gc_compact(domain), WN_OK); }
static void do_nothing(wn_domain *domain, void *argument) { (void)domain, (void)argument; }
static void by_join(wn_domain *domain) {
  wn_join *join;
  assert_int_equal(wn_thread_spawn(domain, do_nothing, NULL, &join), WN_OK);
  join_wait(domain, join);
}

static void every_safepoint_runs_pending_callbacks(void **state) { /* M26 */
  static void (*const safepoints[])(wn_domain *) = {by_poll,  by_yield, by_drain,      by_minor,  by_slice,
                                                    by_major, by_join,  by_full_major, by_compact};
  enum { SAFEPOINTS = sizeof safepoints / sizeof *safepoints };
  struct tracked all;
  (void)state;
  tracked_open(&all, 1);
  for (int i = 0; i < SAFEPOINTS; i++) {
    allocate(all.of.domain, 1, 3);
    assert_int_equal(all.allocs_minor, i);
    safepoints[i](all.of.domain);
    assert_int_equal(all.allocs_minor, i + 1);
  }
  tracked_close(&all);
}

/* ---- order ---- */

static void *write_size(wn_domain *domain, const wn_allocation *allocation, void *context) {
  struct tracked *all = context;
  (void)domain;
  journal_write(&all->of, (long)allocation->size);
  return all;
}

static void births_are_told_in_the_order_of_allocation(void **state) { /* M35 */
  const wn_shape shapes[] = {{4, 0}, {7, 1}};
  struct tracked all;
  wn_ref blocks[2];
  (void)state;
  tracked_open_heap(&all);
  all.tracker.alloc_minor = all.tracker.alloc_major = write_size;
  tracked_start(&all, 1);
  {
    WN_SCOPE(all.of.domain);
    wn_alloc(all.of.domain, 9, 0);
    wn_alloc(all.of.domain, 1000, 0);
    assert_int_equal(wn_alloc_group(all.of.domain, 2, shapes, blocks), WN_OK);
    wn_alloc_bytes(all.of.domain, 40);
    wn_alloc(all.of.domain, 300, 0);
    wn_alloc(all.of.domain, 1, 0);
  }
  wn_poll(all.of.domain);
  ASSERT_JOURNAL(&all.of, 9, 1000, 4, 7, 5, 300, 1);
  tracked_close(&all);
}

/* What is known of one block. */
enum stage { UNBORN, BORN_YOUNG, BORN_OLD, PROMOTED, DEAD };
struct life {
  enum stage stage;
};
struct lives {
  struct life all[1 << 16];
  long count, died_old;
};

static void *begin_life(struct tracked *all, enum stage stage) {
  struct lives *lives = all->test;
  assert_true(lives->count < 1 << 16);
  struct life *life = &lives->all[lives->count++];
  life->stage = stage;
  return life;
}
static void *begin_young(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain, (void)allocation;
  return begin_life(context, BORN_YOUNG);
}
static void *begin_old(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain, (void)allocation;
  return begin_life(context, BORN_OLD);
}
static void *go_on(wn_domain *domain, void *minor, void *context) {
  struct life *life = minor;
  (void)domain, (void)context;
  assert_int_equal(life->stage, BORN_YOUNG);
  life->stage = PROMOTED;
  return life;
}
static void die_young(wn_domain *domain, void *minor, void *context) {
  struct life *life = minor;
  (void)domain, (void)context;
  assert_int_equal(life->stage, BORN_YOUNG);
  life->stage = DEAD;
}
static void die_old(wn_domain *domain, void *major, void *context) {
  struct life *life = major;
  (void)domain;
  assert_true(life->stage == BORN_OLD || life->stage == PROMOTED);
  life->stage = DEAD;
  ((struct lives *)((struct tracked *)context)->test)->died_old++;
}

static void calls_of_one_block_come_in_order_and_once_though_all_are_late(void **state) { /* M20, M72 */
  struct tracked all;
  static struct lives lives;
  (void)state;
  tracked_open_heap(&all);
  all.tracker = (wn_tracker){begin_young, begin_old, go_on, die_young, die_old, .context = &all};
  all.test = &lives;
  set_minor_heap(all.of.domain, LEAST_MINOR_HEAP);
  tracked_start(&all, 0.01);
  {
    WN_SCOPE(all.of.domain);
    wn_raise(all.of.domain, wn_root(all.of.domain, wn_int(1))); /* so that all calls wait */
    make_list(all.of.domain, 1000, 10);
    wn_alloc(all.of.domain, 5000, 0);
  }
  long cycles = quick_stat(all.of.domain).major_collections;
  while (quick_stat(all.of.domain).major_collections < cycles + 3) {
    WN_SCOPE(all.of.domain);
    make_list(all.of.domain, 20, 20);
  }
  assert_int_equal(lives.count, 0);
  {
    WN_SCOPE(all.of.domain);
    assert_false(wn_is_null(wn_take_exception(all.of.domain)));
  }
  wn_poll(all.of.domain);
  assert_true(lives.died_old > 20);
  assert_int_equal(wn_memprof_stop(all.of.domain), WN_OK);
  wn_gc_full_major(all.of.domain);
  for (long i = 0; i < lives.count; i++) assert_int_equal(lives.all[i].stage, DEAD);
  wn_memprof_count count = counts_of(all.profile);
  assert_int_equal(count.allocs_minor + count.allocs_major, lives.count);
  assert_int_equal(count.live_minor + count.live_major + count.dropped_minor + count.dropped_major, 0);
  tracked_close(&all);
}

static void write_dead(wn_domain *domain, void *metadata, void *context) {
  struct tracked *all = context;
  (void)domain, (void)metadata;
  journal_write(&all->of, 1);
}
static void write_alarm(wn_domain *domain, void *context) {
  (void)domain;
  journal_write(&((struct tracked *)context)->of, 2);
}

static void deaths_are_told_before_alarms_and_finalisers_run(void **state) { /* M34, M69 */
  struct tracked all;
  struct entry first = {&all.of, 3}, last = {&all.of, 4};
  wn_gc_alarm *alarm;
  (void)state;
  tracked_open_heap(&all);
  all.tracker.dealloc_minor = all.tracker.dealloc_major = write_dead;
  {
    WN_SCOPE(all.of.domain);
    register_first(&all.of, &first, block_of(all.of.domain, 1));
    tracked_start(&all, 1);
    register_last(&all.of, &last, block_of(all.of.domain, 2));
    assert_int_equal(wn_memprof_stop(all.of.domain), WN_OK);
    assert_int_equal(wn_gc_create_alarm(all.of.domain, write_alarm, &all, &alarm), WN_OK);
  }
  wn_gc_full_major(all.of.domain);
  assert_int_equal(all.of.lines[0], 1); /* its dealloc call precedes its own last finaliser */
  long alarms = 0, finalisers = 0;
  for (size_t i = 1; i < all.of.count; i++) {
    alarms += all.of.lines[i] == 2;
    finalisers += all.of.lines[i] > 2;
  }
  assert_true(alarms >= 1);
  assert_int_equal(finalisers, 2);
  wn_gc_delete_alarm(all.of.domain, alarm);
  tracked_close(&all);
}

/* ---- what they may do ---- */

/* A tracker each of whose callbacks does the same thing before it counts. */
typedef void deed(wn_domain *domain, struct tracked *all);

static void *do_alloc_minor(wn_domain *domain, const wn_allocation *allocation, void *context) {
  ((deed *)((struct tracked *)context)->test)(domain, context);
  return tracked_alloc_minor(domain, allocation, context);
}
static void *do_alloc_major(wn_domain *domain, const wn_allocation *allocation, void *context) {
  ((deed *)((struct tracked *)context)->test)(domain, context);
  return tracked_alloc_major(domain, allocation, context);
}
static void *do_promote(wn_domain *domain, void *minor, void *context) {
  ((deed *)((struct tracked *)context)->test)(domain, context);
  return tracked_promote(domain, minor, context);
}
static void do_dealloc_minor(wn_domain *domain, void *minor, void *context) {
  ((deed *)((struct tracked *)context)->test)(domain, context);
  tracked_dealloc_minor(domain, minor, context);
}
static void do_dealloc_major(wn_domain *domain, void *major, void *context) {
  ((deed *)((struct tracked *)context)->test)(domain, context);
  tracked_dealloc_major(domain, major, context);
}

/* A program with blocks of all kinds, whose tracker does that. Only the program's own blocks are
 * sampled. */
static void with_deed(deed *what) {
  struct tracked all;
  wn_domain *domain;
  tracked_open_heap(&all);
  all.tracker = (wn_tracker){do_alloc_minor,   do_alloc_major,   do_promote,
                             do_dealloc_minor, do_dealloc_major, .context = &all};
  all.test = (void *)what;
  domain = all.of.domain;
  set_minor_heap(domain, LEAST_MINOR_HEAP);
  tracked_start(&all, 1);
  for (int round = 0; round < 5; round++) {
    WN_SCOPE(domain);
    wn_ref list = make_list(domain, 20, 3);
    wn_poll(domain);
    allocate(domain, 20, 30);
    wn_alloc(domain, 400, 0);
    wn_poll(domain);
    assert_int_equal(length_of(domain, list), 20);
  }
  assert_int_equal(wn_memprof_stop(domain), WN_OK);
  wn_gc_full_major(domain);
  wn_gc_full_major(domain);
  assert_int_equal(all.allocs_minor, 200);
  assert_int_equal(all.allocs_major, 5);
  assert_int_equal(all.samples, all.trials);
  assert_int_equal(all.promotes + all.deallocs_minor, 200);
  assert_true(all.promotes > 0 && all.deallocs_minor > 0);
  assert_int_equal(all.deallocs_major, all.promotes + 5);
  tracked_check(&all);
  tracked_close(&all);
}

static void allocate_all_kinds(wn_domain *domain, struct tracked *all) {
  const wn_shape shapes[] = {{1, 0}, {20, 1}, {3, WN_TAG_RAW}};
  wn_ref blocks[3];
  WN_SCOPE(domain);
  (void)all;
  make_list(domain, 10, 5);
  wn_alloc(domain, 300, 0);
  wn_alloc_bytes(domain, 100);
  assert_int_equal(wn_alloc_group(domain, 3, shapes, blocks), WN_OK);
  for (int i = 0; i < 100; i++)
    wn_bump(domain, 2, 0)[0] = ((wn_value *)wn_context(domain)->young_ptr)[2] = wn_int(0);
}
static void what_callbacks_allocate_is_not_sampled(void **state) { /* M18, M33 */
  (void)state;
  with_deed(allocate_all_kinds);
}

static void collect_in_every_way(wn_domain *domain, struct tracked *all) {
  wn_gc_minor(domain);
  wn_gc_major_slice(domain, 1000);
  if ((all->allocs_minor + all->promotes) % 16) return;
  wn_gc_full_major(domain);
  wn_gc_major(domain);
  wn_gc_compact(domain);
  assert_int_equal(wn_gc_verify(domain, stderr), WN_OK);
}
static void callbacks_may_collect(void **state) { /* M33 */
  (void)state;
  with_deed(collect_in_every_way);
}

static int inside;
static void look_for_another(wn_domain *domain, struct tracked *all) {
  assert_int_equal(inside++, 0);
  allocate_all_kinds(domain, all);
  wn_poll(domain);
  assert_int_equal(wn_memprof_drain(domain), WN_OK);
  wn_thread_yield(domain);
  wn_gc_minor(domain);
  inside--;
}
static void callbacks_of_one_thread_never_nest(void **state) { /* M30 */
  (void)state;
  with_deed(look_for_another);
}

static void fall_asleep(wn_domain *domain, struct tracked *all) {
  (void)all;
  wn_blocking_begin(domain);
  wn_blocking_end(domain);
  wn_thread_yield(domain);
}
static void callbacks_may_block_and_yield(void **state) { /* M31 */
  (void)state;
  with_deed(fall_asleep);
}

static wn_global *records;
static void keep_a_record(wn_domain *domain, struct tracked *all) {
  WN_SCOPE(domain);
  wn_ref list = wn_global_get(domain, records);
  (void)all;
  assert_true(wn_push_int(domain, list, 0, 1));
  wn_global_set(domain, records, list);
}
static void callbacks_may_store_into_the_heap(void **state) { /* M33 */
  struct tracked all;
  (void)state;
  tracked_open_heap(&all);
  wn_domain *domain = all.of.domain;
  all.tracker.alloc_minor = do_alloc_minor;
  all.tracker.promote = do_promote;
  all.tracker.dealloc_major = do_dealloc_major;
  all.test = (void *)keep_a_record;
  {
    WN_SCOPE(domain);
    records = wn_global_new(domain, wn_root(domain, wn_int(0)));
    tracked_start(&all, 1);
    make_list(domain, 500, 3);
    wn_gc_full_major(domain);
  }
  wn_gc_full_major(domain);
  long length = 0;
  {
    WN_SCOPE(domain);
    wn_ref at = wn_global_get(domain, records);
    for (; !wn_is_int(wn_value_of(at)); wn_assign_field(at, at, 1)) length++;
  }
  assert_int_equal(length, all.allocs_minor + all.promotes + all.deallocs_major);
  assert_int_equal(length, 1500);
  wn_global_free(domain, records);
  tracked_check(&all);
  tracked_close(&all);
}

/* ---- finalisers ---- */

static void allocate_in_finaliser(wn_domain *domain, wn_ref value, void *context) {
  (void)value, (void)context;
  allocate(domain, 10, 2);
}
static void finalise_one(wn_domain *domain) {
  WN_SCOPE(domain);
  assert_int_equal(wn_gc_finalise(domain, allocate_in_finaliser, NULL, block_of(domain, 1)), WN_OK);
}
static void finalise_inside(wn_domain *domain, struct tracked *all) {
  (void)all;
  finalise_one(domain);
  wn_gc_full_major(domain);
}

static void what_a_finaliser_allocates_is_sampled_unless_it_runs_in_a_callback(void **state) { /* M18, M38b */
  struct tracked all;
  (void)state;
  tracked_open_heap(&all);
  finalise_one(all.of.domain);
  tracked_start(&all, 1);
  wn_gc_full_major(all.of.domain);
  wn_poll(all.of.domain);
  assert_int_equal(all.allocs_minor, 10);
  tracked_check(&all);
  tracked_close(&all);

  tracked_open_heap(&all);
  all.tracker.alloc_minor = do_alloc_minor;
  all.test = (void *)finalise_inside;
  tracked_start(&all, 1);
  allocate(all.of.domain, 1, 5);
  wn_poll(all.of.domain);
  wn_poll(all.of.domain);
  assert_int_equal(all.allocs_minor, 1);
  tracked_check(&all);
  tracked_close(&all);
}

/* ---- metadata ---- */

static void *forget_birth(wn_domain *domain, const wn_allocation *allocation, void *context) {
  ((struct tracked *)context)->allocs_minor += 1;
  (void)domain, (void)allocation;
  return NULL;
}
static void *forget_promotion(wn_domain *domain, void *minor, void *context) {
  tracked_promote(domain, minor, context);
  return NULL;
}

static void a_block_is_no_longer_tracked_when_a_callback_returns_null(void **state) { /* M22 */
  struct tracked all;
  (void)state;
  for (int promote = 0; promote < 2; promote++) {
    tracked_open_heap(&all);
    if (promote)
      all.tracker.promote = forget_promotion;
    else
      all.tracker.alloc_minor = forget_birth;
    tracked_start(&all, 1);
    {
      WN_SCOPE(all.of.domain);
      make_list(all.of.domain, 100, 3);
      wn_gc_full_major(all.of.domain);
    }
    wn_gc_full_major(all.of.domain);
    wn_memprof_count count = counts_of(all.profile);
    assert_int_equal(all.allocs_minor, 100);
    assert_int_equal(all.promotes, promote ? 100 : 0);
    assert_int_equal(all.deallocs_minor + all.deallocs_major, 0);
    assert_int_equal(promote ? count.dropped_major : count.dropped_minor, 100);
    tracked_close(&all);
  }
}

static void the_null_tracker_is_called_for_nothing_and_harms_nothing(void **state) { /* M39 */
  struct tracked all;
  (void)state;
  tracked_open_heap(&all);
  all.tracker = (wn_tracker){0};
  tracked_start(&all, 1);
  allocate(all.of.domain, 1000, 10);
  allocate(all.of.domain, 10, 1000);
  wn_gc_full_major(all.of.domain);
  wn_memprof_count count = counts_of(all.profile);
  assert_int_equal(count.allocs_minor, 1000);
  assert_int_equal(count.dropped_minor, 1000);
  assert_int_equal(count.allocs_major, 10);
  assert_int_equal(count.dropped_major, 10);
  tracked_close(&all);
}

/* ---- callstacks ---- */

struct stacks {
  wn_callstack *of[8]; /* copies */
  size_t count;
};
static void *note_stack(wn_domain *domain, const wn_allocation *allocation, void *context) {
  struct stacks *stacks = ((struct tracked *)context)->test;
  (void)domain;
  assert_true(stacks->count < 8);
  stacks->of[stacks->count++] = wn_callstack_copy(allocation->callstack);
  return NULL;
}
static void free_stacks(struct stacks *stacks) {
  while (stacks->count) wn_callstack_free(stacks->of[--stacks->count]);
}
static __attribute__((noinline)) void allocate_here(wn_domain *domain) {
  allocate(domain, 1, 2);
  __asm__ volatile("");
}
static __attribute__((noinline)) void allocate_there(wn_domain *domain) {
  allocate_here(domain);
  __asm__ volatile("");
}

static void a_callstack_is_that_of_the_allocation_though_the_call_is_late(void **state) { /* M63, M65, M66 */
  struct tracked all;
  struct stacks stacks = {.count = 0};
  volatile int twice = 2; /* so that the compiler leaves it one place */
  (void)state;
  tracked_open_heap(&all);
  all.tracker.alloc_minor = note_stack;
  all.test = &stacks;
  tracked_start(&all, 1);
  for (int i = 0; i < twice; i++) allocate_here(all.of.domain);
  allocate_there(all.of.domain);
  wn_poll(all.of.domain);
  assert_int_equal(stacks.count, 3);
  assert_true(wn_callstack_equal(stacks.of[0], stacks.of[1])); /* of one place */
  assert_false(wn_callstack_equal(stacks.of[0], stacks.of[2]));
  assert_int_equal(wn_callstack_depth(stacks.of[2]), wn_callstack_depth(stacks.of[0]) + 1);
  free_stacks(&stacks);
  tracked_close(&all);
}

static void blocks_of_a_group_have_one_callstack(void **state) { /* M65 */
  const wn_shape shapes[] = {{1, 0}, {2, 0}, {3, 0}};
  struct tracked all;
  struct stacks stacks = {.count = 0};
  wn_ref blocks[3];
  (void)state;
  tracked_open_heap(&all);
  all.tracker.alloc_minor = note_stack;
  all.test = &stacks;
  tracked_start(&all, 1);
  {
    WN_SCOPE(all.of.domain);
    assert_int_equal(wn_alloc_group(all.of.domain, 3, shapes, blocks), WN_OK);
    wn_poll(all.of.domain);
  }
  assert_int_equal(stacks.count, 3);
  assert_true(wn_callstack_equal(stacks.of[0], stacks.of[1]));
  assert_true(wn_callstack_equal(stacks.of[0], stacks.of[2]));
  free_stacks(&stacks);
  tracked_close(&all);
}

static void callstacks_are_as_deep_as_asked(void **state) { /* M55, M64 */
  static const size_t most[] = {0, 1, 3, SIZE_MAX};
  size_t whole = 0;
  (void)state;
  for (int i = 3; i >= 0; i--) {
    struct tracked all;
    struct stacks stacks = {.count = 0};
    wn_memprof_options options = {1, most[i], 0};
    tracked_open_heap(&all);
    all.tracker.alloc_minor = note_stack;
    all.test = &stacks;
    assert_int_equal(wn_memprof_start(all.of.domain, &options, &all.tracker, &all.profile), WN_OK);
    allocate_there(all.of.domain);
    wn_poll(all.of.domain);
    assert_int_equal(stacks.count, 1);
    size_t depth = wn_callstack_depth(stacks.of[0]);
    if (i == 3) whole = depth;
    assert_true(whole > 3);
    assert_int_equal(depth, most[i] < whole ? most[i] : whole);
    free_stacks(&stacks);
    tracked_close(&all);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_birth_is_told_at_the_next_allocation_or_safepoint),
      one_thread_test(births_that_cannot_be_told_are_lost_beyond_a_bound),
      cmocka_unit_test(every_safepoint_runs_pending_callbacks),
      cmocka_unit_test(births_are_told_in_the_order_of_allocation),
      one_thread_test(calls_of_one_block_come_in_order_and_once_though_all_are_late),
      cmocka_unit_test(deaths_are_told_before_alarms_and_finalisers_run),
      cmocka_unit_test(what_callbacks_allocate_is_not_sampled),
      cmocka_unit_test(callbacks_may_collect),
      cmocka_unit_test(callbacks_of_one_thread_never_nest),
      cmocka_unit_test(callbacks_may_block_and_yield),
      cmocka_unit_test(callbacks_may_store_into_the_heap),
      cmocka_unit_test(what_a_finaliser_allocates_is_sampled_unless_it_runs_in_a_callback),
      cmocka_unit_test(a_block_is_no_longer_tracked_when_a_callback_returns_null),
      cmocka_unit_test(the_null_tracker_is_called_for_nothing_and_harms_nothing),
      cmocka_unit_test(a_callstack_is_that_of_the_allocation_though_the_call_is_late),
      cmocka_unit_test(blocks_of_a_group_have_one_callstack),
      cmocka_unit_test(callstacks_are_as_deep_as_asked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
