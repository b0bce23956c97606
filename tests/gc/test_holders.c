/* Compactions: no memory of Winnow's holds an address that a block has left.
 *
 * The verifier finds what the table of visitors has (visitors.h), so it misses a holder that the table
 * lacks. This test knows no holder. It reads each word of each page that Winnow has, and of the
 * program's own data, as if it could be an address.
 *   1. Blocks are made, and all kinds of holders for them, and a minor collection promotes all.
 *   2. What holds addresses only in minor collections and in cycles is empty now, but its memory still
 *      has those from before. It is filled with zeros.
 *   3. A compaction moves all blocks, with no marking before. Any word that still is an address of
 *      step 2 belongs to a holder that the compaction has not updated. */
#include "gc/compacting.h"
#include "gc/mappings.h"

#include "base/metadata.h"
#include "gc/collect/collector.h"
#include "gc/collect/finaliser.h"
#include "gc/collect/visitors.h"
#include "gc/domains/domain.h"
#include "gc/domains/heap.h"
#include "gc/domains/safepoint.h"
#include <sched.h>
#include <stdlib.h>
#include <winnow/weak.h>

/* ---- the addresses of blocks ---- */

enum { BLOCKS_MOST = 1 << 16 };

struct addresses {
  wn_value of[BLOCKS_MOST];
  size_t count;
};

static void add_block(wn_value *at, void *context) {
  struct addresses *addresses = context;
  if (header_colour(*at) == COLOUR_FREE) return;
  assert_true(addresses->count < BLOCKS_MOST);
  addresses->of[addresses->count++] = (wn_value)(at + 1);
}

static void add_pool(struct pool *pool, void *context) {
  for (wn_value *at = pool_first(pool); at < pool_end(pool);) {
    add_block(at, context);
    at += header_colour(*at) == COLOUR_FREE ? header_extent(*at) : class_words[pool->class];
  }
}

/* Large blocks do not move. */
static void ignore(struct large *large, void *context) { (void)large, (void)context; }

static int compare(const void *left, const void *right) {
  wn_value a = *(const wn_value *)left, b = *(const wn_value *)right;
  return (a > b) - (a < b);
}

static bool has(const struct addresses *addresses, wn_value value) {
  return bsearch(&value, addresses->of, addresses->count, sizeof value, compare);
}

/* The addresses, sorted, of all blocks of the major heap that can move. */
static struct addresses *list_blocks(wn_domain *domain) {
  struct addresses *addresses = test_calloc(1, sizeof *addresses);
  while (!world_stop(domain, STOP_VERIFY)) {}
  domains_flush_pools(domain->heap);
  pools_each(&domain->heap->store, add_pool, addresses);
  medium_each(&domain->heap->store, add_block, ignore, addresses);
  world_release(domain);
  qsort(addresses->of, addresses->count, sizeof(wn_value), compare);
  return addresses;
}

/* ---- the scan ---- */

struct scan {
  const struct addresses *before, *after;
  FILE *report; /* NULL: none */
  size_t found;
};

/* Reads between the variables that AddressSanitizer keeps apart, too. */
__attribute__((no_sanitize("address"), no_sanitize("thread"))) static void
scan_words(const wn_value *at, const wn_value *end, struct scan *scan) {
  wn_value least = scan->before->of[0], most = scan->before->of[scan->before->count - 1];
  for (; at < end; at++) {
    if (*at < least || *at > most || !has(scan->before, *at) || has(scan->after, *at)) continue;
    if (scan->found++ < 10 && scan->report)
      fprintf(scan->report, "%p holds %#zx, an address that a block has left\n", (const void *)at,
              (size_t)*at);
  }
}

static void scan_page(const char *page, void *context) {
  scan_words((const wn_value *)page, (const wn_value *)(page + 4096), context);
}

extern const wn_value __data_start[], _end[];

static void clear_between(void *begin, const void *end) {
  if (begin) memset(begin, 0, (size_t)((const char *)end - (char *)begin));
}

/* Step 2: what visitors.h says is empty, and slots of handles that have died. */
static void clear_memory_of_empty_sets(wn_domain *domain) {
  while (!world_stop(domain, STOP_VERIFY)) {}
  assert_true(visitors_have_all(domain->heap));
  for (wn_domain *at = domain_first(domain->heap); at; at = domain_next(at)) {
    struct marker *marker = domain_marker(at);
    struct weak_stores *stores = &at->collector->weak_stores;
    clear_between(marker->stack, marker->stack + marker->capacity);
    clear_between(marker->ring, marker->ring + RING);
    clear_between(marker->reserve, marker->reserve + PACKET_SPANS);
    clear_between(at->remembered.begin, at->remembered.end);
    clear_between(stores->items, stores->items + stores->capacity);
    clear_between(at->customs, at->customs + at->custom_capacity);
  }
  clear_between(domain->context.top, domain->context.top_end);
  world_release(domain);
}

/* Steps 2 and 3. Returns how many words hold an address that a block has left. Other threads of the
 * heap are in blocking sections. If `plant` is not NULL, it holds the
 * block `planted` while the compaction runs. */
static size_t missed_holders(wn_domain *domain, FILE *report, wn_value *plant, wn_ref planted) {
  assert_int_equal(heap_phase(domain->heap), PHASE_IDLE);
  major_collect(domain, COLLECT_MINOR, STOP_REQUEST);
  clear_memory_of_empty_sets(domain);
  struct addresses *before = list_blocks(domain);
  long cycles = quick_stat(domain).major_collections;
  if (plant) *plant = wn_value_of(planted);
  major_compact(domain, STOP_REQUEST);
  assert_int_equal(quick_stat(domain).major_collections, cycles);
  struct addresses *after = list_blocks(domain);
  assert_int_equal(after->count, before->count);
  struct scan scan = {.before = before, .after = after, .report = report};
  mappings_each_page(scan_page, &scan);
  scan_words(__data_start, _end, &scan);
  test_free(before);
  test_free(after);
  if (plant) *plant = 0;
  return scan.found;
}

/* ---- holders ---- */

struct holders {
  struct journal of;
  wn_value stack; /* of a language: the hook walk_roots visits it */
  wn_global *global;
  wn_profile *profile;
  _Atomic(int) step; /* of the threads and domains */
  wn_join *thread, *domain, *inherited, *orphan;
  int calls; /* of finalisers */
};

enum { RAISES = 77, ALL_HOLD = 4, END = 10, OVER = 20 };

static void walk_stack(wn_domain *domain, wn_visit *visit, void *visitor, void *context) {
  const struct holders *holders = context;
  if (domain == holders->of.domain && holders->stack) visit(visitor, &((struct holders *)context)->stack);
}

/* Raises a block in the call for the one of RAISES words, which is then not tracked. */
static void *born(wn_domain *domain, const wn_allocation *allocation, void *context) {
  if (allocation->size == RAISES) {
    WN_SCOPE(domain);
    wn_raise(domain, block_of(domain, 5));
  }
  return context;
}
static void *promoted(wn_domain *domain, void *metadata, void *context) {
  (void)domain, (void)context;
  return metadata;
}

/* In a blocking section, so that the thread holds only its handles. */
static void wait_until(wn_domain *domain, struct holders *holders, int step) {
  wn_blocking_begin(domain);
  atomic_fetch_add(&holders->step, 1);
  while (atomic_load(&holders->step) < step) sched_yield();
  wn_blocking_end(domain);
}

static void hold_handle(wn_domain *domain, void *argument) {
  WN_SCOPE(domain);
  wn_ref block = block_of(domain, 7);
  wait_until(domain, argument, OVER);
  assert_int_equal(number_of(block), 7);
}

static void count_call(wn_domain *domain, wn_ref value, void *context) {
  (void)domain;
  ++*(int *)context;
  assert_int_equal(number_of(value), 9);
}
static void count_last_call(wn_domain *domain, void *context) {
  (void)domain;
  ++*(int *)context;
}

static void register_both(wn_domain *domain, struct holders *holders, wn_ref value) {
  assert_int_equal(wn_gc_finalise(domain, count_call, &holders->calls, value), WN_OK);
  assert_int_equal(wn_gc_finalise_last(domain, count_last_call, &holders->calls, value), WN_OK);
}

/* The list of the global root keeps the value alive. */
static void register_and_end(wn_domain *domain, void *argument) {
  struct holders *holders = argument;
  WN_SCOPE(domain);
  wn_ref list = wn_global_get(domain, holders->global), value = block_of(domain, 9);
  wn_set(domain, list, 1 + (size_t)wn_domain_number(domain) % 2, value);
  register_both(domain, holders, value);
  wait_until(domain, holders, END);
}

/* The calls of the finalisers stay pending, since an exception is pending. */
static void drop_finalised_blocks(wn_domain *domain, struct holders *holders) {
  for (int i = 0; i < 2; i++) {
    WN_SCOPE(domain);
    register_both(domain, holders, block_of(domain, 9));
  }
  allocate(domain, 1, RAISES);
  assert_int_equal(wn_gc_full_major(domain), WN_EBUSY);
}

static void release_nothing(void *bytes) { (void)bytes; }
static const wn_custom_ops custom_ops = {.name = "test", .release = release_nothing};

/* The handles are in the scope of the caller. */
static void make_blocks(wn_domain *domain, struct holders *holders) {
  wn_ref block = block_of(domain, 42), list = wn_alloc(domain, 3, 0);
  wn_ref medium = wn_alloc(domain, 1000, 0), large = wn_alloc(domain, 200000, 0);
  wn_ref weak = wn_weak_new(domain, 2), ephemeron = wn_ephemeron_new(domain, 1);
  wn_ref custom = wn_alloc_custom(domain, &custom_ops, 64, 1000), value = block_of(domain, 9);
  wn_ref pinned = block_of(domain, 3);
  assert_int_equal(wn_pin(domain, pinned), WN_OK);
  assert_true(wn_identity_hash(domain, wn_value_of(medium)) && wn_identity_hash(domain, wn_value_of(list)));
  wn_set(domain, medium, 0, block);
  wn_set(domain, large, 199999, medium);
  wn_set(domain, list, 0, custom);
  wn_set(domain, pinned, 0, large);
  assert_int_equal(wn_weak_set(domain, weak, 0, block), WN_OK);
  assert_int_equal(wn_ephemeron_set_key(domain, ephemeron, 0, medium), WN_OK);
  assert_int_equal(wn_ephemeron_set_data(domain, ephemeron, block), WN_OK);
  register_both(domain, holders, value);
  holders->global = wn_global_new(domain, list);
  holders->stack = wn_value_of(block);
}

/* The domain inherits the registry of the one that it joins, and merges it into its own when no
 * exception is pending any more. The other one's is an orphan until then. */
static void end_domains(wn_domain *domain, struct holders *holders) {
  atomic_store(&holders->step, END);
  assert_int_equal(wn_join_wait(domain, holders->inherited), WN_OK);
  while (__atomic_load_n(&domain->heap->domain_count, __ATOMIC_RELAXED) > 2) wn_poll(domain);
}

static void check_what_holds(wn_domain *domain) {
  assert_true(domain->exception.pending);
  assert_non_null(domain->heap->collector->finalisers.orphans);
  assert_non_null(domain->collector->finalisers.inherited);
}

static void end_threads(wn_domain *domain, struct holders *holders) {
  atomic_store(&holders->step, OVER);
  join_wait(domain, holders->thread);
  join_wait(domain, holders->domain);
  join_wait(domain, holders->orphan);
}

static wn_ref make_tracked(wn_domain *domain) {
  wn_ref list = wn_alloc(domain, 3, 0);
  for (size_t i = 0; i < 3; i++) {
    WN_SCOPE(domain);
    wn_set(domain, list, i, wn_alloc(domain, i ? 10 : 1000, 0));
  }
  return list;
}

/* Takes the exception, ends the other holders, and looks at the blocks once more. */
static void check_values(wn_domain *domain, struct holders *holders, wn_ref tracked) {
  wn_ref raised = wn_take_exception(domain);
  assert_int_equal(number_of(raised), 5);
  assert_int_equal(holders->calls, 0);
  wn_poll(domain);
  assert_int_equal(holders->calls, 2); /* of `finalise`, which kept the blocks from `finalise_last` */
  assert_int_equal(number_of(wn_root(domain, holders->stack)), 42);
  assert_int_equal(wn_words(wn_field(tracked, 0)), 1000);
  holders->stack = 0;
  wn_global_free(domain, holders->global);
  assert_int_equal(wn_memprof_stop(domain), WN_OK);
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
}

static void open_holders(struct holders *holders) {
  wn_heap_options options = without_helpers();
  options.text = MOVES_ALL;
  options.hooks.walk_roots = walk_stack;
  options.hooks.context = holders;
  journal_open(&holders->of, &options);
}

static void no_memory_holds_an_address_that_a_block_has_left(void **state) { /* G28 */
  (void)state;
  struct holders holders = {0};
  open_holders(&holders);
  wn_domain *d = holders.of.domain;
  wn_memprof_options options = {.sampling_rate = 1, .callstack_size = 0};
  wn_tracker tracker = {.alloc_minor = born, .alloc_major = born, .promote = promoted, .context = &holders};
  {
    WN_SCOPE(d);
    make_blocks(d, &holders);
    assert_int_equal(wn_thread_spawn(d, hold_handle, &holders, &holders.thread), WN_OK);
    holders.domain = spawn(d, hold_handle, &holders);
    holders.inherited = spawn(d, register_and_end, &holders);
    holders.orphan = spawn(d, register_and_end, &holders);
    wait_for_step(d, &holders.step, ALL_HOLD);
    assert_int_equal(wn_memprof_start(d, &options, &tracker, &holders.profile), WN_OK);
    wn_ref tracked = make_tracked(d);
    drop_finalised_blocks(d, &holders);
    end_domains(d, &holders);
    check_what_holds(d);
    assert_int_equal(missed_holders(d, stderr, NULL, (wn_ref){NULL}), 0);
    check_what_holds(d);
    end_threads(d, &holders);
    check_values(d, &holders, tracked);
  }
  journal_close(&holders.of);
}

/* ---- holders that no row visits ---- */

static wn_value held_by_program;

static void the_scan_finds_a_holder_that_no_row_visits(void **state) {
  (void)state;
  struct journal of;
  wn_value *held = metadata_map(4096);
  assert_non_null(held);
  open_moving(&of);
  {
    WN_SCOPE(of.domain);
    wn_ref block = block_of(of.domain, 1);
    assert_int_equal(missed_holders(of.domain, NULL, &held[100], block), 1);
    assert_int_equal(missed_holders(of.domain, NULL, &held_by_program, block), 1);
    assert_int_equal(missed_holders(of.domain, stderr, NULL, block), 0);
    assert_int_equal(number_of(block), 1);
  }
  journal_close(&of);
  metadata_unmap(held, 4096);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_memory_holds_an_address_that_a_block_has_left),
      cmocka_unit_test(the_scan_finds_a_holder_that_no_row_visits),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
