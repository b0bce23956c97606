/* Barriers, one by one: each way to overwrite a reference while marking goes on, and each way to
 * store a young value into what is old.
 *
 * Deletion. A cycle begins, and nothing but the roots is marked yet. The program takes what it
 * wants to keep, the value, out of an old block, keeps it in a way that marking does not look at
 * again, and overwrites the field, the last thing that leads to the value for marking. After the
 * cycle the value must be there, and what it leads to. Before the field is overwritten, the value
 * is unmarked, or the case would show nothing.
 *
 * There are no helpers: every step of marking is the test's. */
#include "gc/collect/major.h"
#include "gc/small_heap.h"

#include <sched.h>
#include <winnow/weak.h>

enum { NUMBER = 4711, OTHER = 12, REUSED = 2000 };

/* The value: a block that leads to a block with a number. */
static wn_ref make_value(wn_domain *domain) {
  wn_ref value = wn_alloc(domain, 1, 1);
  WN_SCOPE(domain);
  wn_set(domain, value, 0, block_of(domain, NUMBER));
  return value;
}

static const char *way, *kept_in; /* of the case, for a failure */

static bool is_whole(wn_domain *domain, wn_ref value) {
  WN_SCOPE(domain);
  if (wn_is_null(value) || wn_is_int(wn_value_of(value)) || wn_tag(wn_value_of(value)) != 1) return false;
  wn_ref child = wn_get(domain, value, 0);
  return !wn_is_int(wn_value_of(child)) && wn_tag(wn_value_of(child)) == 3 && number_of(child) == NUMBER;
}

static void check_value(wn_domain *domain, wn_ref value) {
  if (!is_whole(domain, value)) fail_msg("%s, kept in %s: the value is gone", way, kept_in);
}

static bool is_marked(const wn_domain *domain, wn_value block) {
  return header_colour(header_of(block)) == heap_live_colour(domain->heap);
}

/* Begins a cycle, and marks nothing but the roots. */
static void begin_marking(wn_domain *domain) {
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  assert_int_equal(heap_phase(domain->heap), PHASE_IDLE);
  major_collect(domain, COLLECT_MINOR | COLLECT_CYCLE, STOP_REQUEST);
  assert_int_equal(heap_phase(domain->heap), PHASE_MARK);
}

/* Ends the cycle, and takes what it has freed. */
static void end_cycle(wn_domain *domain) {
  assert_int_equal(heap_phase(domain->heap), PHASE_MARK);
  major_finish_cycle(domain, STOP_REQUEST);
  assert_int_equal(wn_gc_verify(domain, stderr), WN_OK);
  WN_SCOPE(domain);
  for (int i = 0; i < REUSED; i++) {
    WN_SCOPE(domain);
    assert_false(wn_is_null(block_of(domain, OTHER)));
  }
  wn_gc_minor(domain);
}

/* ---- ways to overwrite a field ---- */

typedef void overwriting(wn_domain *domain, wn_ref block, size_t i);

static void by_set(wn_domain *domain, wn_ref block, size_t i) {
  WN_SCOPE(domain);
  wn_set(domain, block, i, block_of(domain, OTHER));
}

static void by_set_int(wn_domain *domain, wn_ref block, size_t i) { wn_set_int(domain, block, i, OTHER); }

static void by_store(wn_domain *domain, wn_ref block, size_t i) {
  wn_store(domain, wn_value_of(block), i, wn_int(OTHER));
}

static void by_cas(wn_domain *domain, wn_ref block, size_t i) {
  WN_SCOPE(domain);
  wn_ref none = wn_root(domain, wn_int(OTHER));
  assert_false(wn_cas(domain, block, i, none, none));
  assert_true(wn_cas(domain, block, i, wn_get(domain, block, i), none));
}

static void by_fill(wn_domain *domain, wn_ref block, size_t i) {
  assert_int_equal(wn_fill(domain, wn_value_of(block), i, 1, wn_int(OTHER)), WN_OK);
}

static void by_blit(wn_domain *domain, wn_ref block, size_t i) {
  WN_SCOPE(domain);
  wn_ref from = block_of(domain, OTHER);
  assert_int_equal(wn_blit(domain, wn_value_of(from), 0, wn_value_of(block), i, 1), WN_OK);
}

/* Moves all fields up by one, over the last. */
static void by_blit_of_all(wn_domain *domain, wn_ref block, size_t i) {
  if (!i) return by_blit(domain, block, i);
  assert_int_equal(wn_blit(domain, wn_value_of(block), 0, wn_value_of(block), 1, i), WN_OK);
}

static const struct {
  const char *name;
  overwriting *run;
} overwritings[] = {{"wn_set", by_set},
                    {"wn_set_int", by_set_int},
                    {"wn_store", by_store},
                    {"wn_cas", by_cas},
                    {"wn_fill", by_fill},

                    {"wn_blit of a field", by_blit},
                    {"wn_blit of all fields", by_blit_of_all}};
enum { OVERWRITINGS = sizeof overwritings / sizeof *overwritings };

/* ---- ways to keep a value that marking has passed ---- */

struct keeper {
  wn_ref handle; /* made before marking began */
  wn_global *global;
  wn_value pinned;
};

typedef void keeping(wn_domain *domain, struct keeper *keeper, wn_ref value);
typedef void finding(wn_domain *domain, struct keeper *keeper, wn_ref value); /* assigns to `value` */

static void in_handle(wn_domain *domain, struct keeper *keeper, wn_ref value) {
  (void)domain;
  wn_assign(keeper->handle, value);
}
static void find_handle(wn_domain *domain, struct keeper *keeper, wn_ref value) {
  (void)domain;
  wn_assign(value, keeper->handle);
}

static void in_pair(wn_domain *domain, struct keeper *keeper, wn_ref value) {
  assert_true(wn_assign_pair(domain, keeper->handle, 2, value, keeper->handle));
}
static void in_group(wn_domain *domain, struct keeper *keeper, wn_ref value) {
  wn_ref block;
  wn_shape shape = {.words = 3, .tag = 2};
  assert_int_equal(wn_alloc_group(domain, 1, &shape, &block), WN_OK);
  wn_set(domain, block, 0, value);
  wn_assign(keeper->handle, block);
}
/* Born marked: marking does not scan it. */
static void in_old_block(wn_domain *domain, struct keeper *keeper, wn_ref value) {
  wn_assign(keeper->handle, wn_alloc(domain, WN_MAX_YOUNG_WORDS + 1, 2));
  wn_set(domain, keeper->handle, 0, value);
}
static void find_field(wn_domain *domain, struct keeper *keeper, wn_ref value) {
  (void)domain;
  wn_assign_field(value, keeper->handle, 0);
}

static void in_new_global(wn_domain *domain, struct keeper *keeper, wn_ref value) {
  keeper->global = wn_global_new(domain, value);
}
static void find_global(wn_domain *domain, struct keeper *keeper, wn_ref value) {
  wn_assign(value, wn_global_get(domain, keeper->global));
  wn_global_free(domain, keeper->global);
}

static void in_exception(wn_domain *domain, struct keeper *keeper, wn_ref value) {
  (void)keeper;
  wn_raise(domain, value);
}
static void find_exception(wn_domain *domain, struct keeper *keeper, wn_ref value) {
  (void)keeper;
  wn_assign(value, wn_take_exception(domain));
}

static void in_pin(wn_domain *domain, struct keeper *keeper, wn_ref value) {
  assert_int_equal(wn_pin(domain, value), WN_OK);
  keeper->pinned = wn_value_of(value);
}
static void find_pin(wn_domain *domain, struct keeper *keeper, wn_ref value) {
  wn_assign(value, wn_root(domain, keeper->pinned));
  assert_int_equal(wn_unpin(domain, value), WN_OK);
}

static const struct {
  const char *name;
  keeping *keep;
  finding *find;
} keepers[] = {{"a handle", in_handle, find_handle},
               {"a pair", in_pair, find_field},
               {"a young block", in_group, find_field},
               {"a block born old", in_old_block, find_field},
               {"a global", in_new_global, find_global},
               {"an exception", in_exception, find_exception},
               {"a pin", in_pin, find_pin}};
enum { KEEPERS = sizeof keepers / sizeof *keepers };

static struct keeper begin_keeping(wn_domain *domain, unsigned where) {
  kept_in = keepers[where].name;
  return (struct keeper){.handle = wn_root(domain, wn_int(0))};
}

/* Small, medium and large. */
static const size_t holders[] = {1, 300, 3 << 18};
enum { HOLDERS = sizeof holders / sizeof *holders };

/* What is kept leaves the last field of the holder. */
static void take_out(wn_domain *domain, struct keeper *keeper, wn_ref holder, size_t at, unsigned how,
                     unsigned where) {
  WN_SCOPE(domain);
  wn_ref value = wn_get(domain, holder, at);
  keepers[where].keep(domain, keeper, value);
  assert_false(is_marked(domain, wn_value_of(value)));
  overwritings[how].run(domain, holder, at);
}

static void take_last_reference(wn_domain *domain, size_t words, unsigned how, unsigned where) {
  WN_SCOPE(domain);
  struct keeper keeper = begin_keeping(domain, where);
  wn_ref holder = wn_alloc(domain, words, 3), found = wn_root(domain, wn_int(0));
  way = overwritings[how].name;
  {
    WN_SCOPE(domain);
    wn_set(domain, holder, words - 1, make_value(domain));
  }
  begin_marking(domain);
  take_out(domain, &keeper, holder, words - 1, how, where);
  end_cycle(domain);
  {
    WN_SCOPE(domain);
    keepers[where].find(domain, &keeper, found);
  }
  check_value(domain, found);
}

static void what_is_taken_out_of_an_old_block_while_marking_goes_on_is_kept(void **state) { /* H1 */
  (void)state;
  wn_domain *domain = open_heap();
  for (unsigned how = 0; how < OVERWRITINGS; how++)
    for (unsigned where = 0; where < KEEPERS; where++)
      for (unsigned i = 0; i < HOLDERS; i++) take_last_reference(domain, holders[i], how, where);
  close_heap(domain);
}

/* ---- the same, of roots ---- */

typedef void dropping(wn_domain *domain, wn_ref handle, wn_global *global);

static void drop_handle(wn_domain *domain, wn_ref handle, wn_global *global) {
  (void)domain, (void)global;
  wn_assign_int(handle, 0);
}
static void set_global(wn_domain *domain, wn_ref handle, wn_global *global) {
  WN_SCOPE(domain);
  (void)handle;
  wn_global_set(domain, global, wn_root(domain, wn_int(0)));
}
static void free_global(wn_domain *domain, wn_ref handle, wn_global *global) {
  (void)handle;
  wn_global_free(domain, global);
}

/* A handle, or a global, is the only thing that leads to the value. */
static void drop_root(wn_domain *domain, dropping *drop, bool of_handle, unsigned where) {
  WN_SCOPE(domain);
  struct keeper keeper = begin_keeping(domain, where);
  wn_ref handle = wn_root(domain, wn_int(0)), found = wn_root(domain, wn_int(0));
  wn_global *global = wn_global_new(domain, handle);
  way = "a root";
  {
    WN_SCOPE(domain);
    wn_ref value = make_value(domain);
    if (of_handle) wn_assign(handle, value);
    if (!of_handle) wn_global_set(domain, global, value);
  }
  begin_marking(domain);
  {
    WN_SCOPE(domain);
    wn_ref value = of_handle ? wn_root(domain, wn_value_of(handle)) : wn_global_get(domain, global);
    keepers[where].keep(domain, &keeper, value);
    drop(domain, handle, global);
  }
  end_cycle(domain);
  {
    WN_SCOPE(domain);
    keepers[where].find(domain, &keeper, found);
  }
  check_value(domain, found);
  if (drop != free_global) wn_global_free(domain, global);
}

static void what_a_root_had_when_marking_began_is_kept(void **state) { /* H1 */
  (void)state;
  wn_domain *domain = open_heap();
  for (unsigned where = 0; where < KEEPERS; where++) {
    drop_root(domain, drop_handle, true, where);
    drop_root(domain, set_global, false, where);
    drop_root(domain, free_global, false, where);
  }
  close_heap(domain);
}

/* ---- the same, by another domain ---- */

/* What the barrier leaves to be marked is the other domain's, which is blocked, or has ended, when
 * marking ends. */
struct other {
  wn_global *holder;
  _Atomic(int) step;
  bool ends;
};

static void overwrite_and_block(wn_domain *domain, void *argument) {
  struct other *other = argument;
  WN_SCOPE(domain);
  wn_ref holder = wn_global_get(domain, other->holder);
  wait_for_step(domain, &other->step, 1);
  wn_set_int(domain, holder, 0, OTHER);
  atomic_store(&other->step, 2);
  if (other->ends) return;
  wn_blocking_begin(domain);
  while (atomic_load(&other->step) < 3) sched_yield();
  wn_blocking_end(domain);
}

static void take_out_by_another(wn_domain *domain, bool ends) {
  WN_SCOPE(domain);
  wn_ref holder = wn_alloc(domain, 1, 3), kept = wn_root(domain, wn_int(0));
  struct other other = {.holder = wn_global_new(domain, holder), .ends = ends};
  {
    WN_SCOPE(domain);
    wn_set(domain, holder, 0, make_value(domain));
  }
  wn_join *join = spawn(domain, overwrite_and_block, &other);
  way = ends ? "a domain that ends" : "a domain that blocks";
  kept_in = "a handle";
  begin_marking(domain);
  wn_assign_field(kept, holder, 0);
  assert_false(is_marked(domain, wn_value_of(kept)));
  atomic_store(&other.step, 1);
  wait_for_step(domain, &other.step, 2);
  if (ends) join_wait(domain, join);
  end_cycle(domain);
  atomic_store(&other.step, 3);
  if (!ends) join_wait(domain, join);
  check_value(domain, kept);
  wn_global_free(domain, other.holder);
}

static void what_another_domain_overwrites_while_marking_goes_on_is_kept(void **state) { /* H1 */
  (void)state;
  wn_domain *domain = open_heap();
  take_out_by_another(domain, false);
  take_out_by_another(domain, true);
  close_heap(domain);
}

/* ---- what is read from weak blocks ---- */

/* The place is the first one of an ephemeron, whose second key is alive, or its data. */
typedef wn_ref reading(wn_domain *domain, wn_ref weak);
typedef void emptying(wn_domain *domain, wn_ref weak, wn_ref alive);

static wn_ref read_place(wn_domain *domain, wn_ref weak) { return wn_weak_get(domain, weak, 0); }
static wn_ref read_key(wn_domain *domain, wn_ref weak) { return wn_ephemeron_get_key(domain, weak, 0); }
static wn_ref read_data(wn_domain *domain, wn_ref weak) { return wn_ephemeron_get_data(domain, weak); }

static void leave(wn_domain *domain, wn_ref weak, wn_ref alive) { (void)domain, (void)weak, (void)alive; }
static void set_place(wn_domain *domain, wn_ref weak, wn_ref alive) {
  assert_int_equal(wn_weak_set(domain, weak, 0, alive), WN_OK);
}
static void fill_places(wn_domain *domain, wn_ref weak, wn_ref alive) {
  assert_int_equal(wn_weak_fill(domain, weak, 0, 2, alive), WN_OK);
}
static void copy_places(wn_domain *domain, wn_ref weak, wn_ref alive) {
  (void)alive;
  assert_int_equal(wn_weak_blit(domain, weak, 1, weak, 0, 1), WN_OK);
}
static void set_key(wn_domain *domain, wn_ref weak, wn_ref alive) {
  assert_int_equal(wn_ephemeron_set_key(domain, weak, 0, alive), WN_OK);
}
static void unset_key(wn_domain *domain, wn_ref weak, wn_ref alive) {
  (void)alive;
  assert_int_equal(wn_ephemeron_unset_key(domain, weak, 0), WN_OK);
}
static void set_data(wn_domain *domain, wn_ref weak, wn_ref alive) {
  assert_int_equal(wn_ephemeron_set_data(domain, weak, alive), WN_OK);
}
static void unset_data(wn_domain *domain, wn_ref weak, wn_ref alive) {
  (void)alive;
  assert_int_equal(wn_ephemeron_unset_data(domain, weak), WN_OK);
}

static const struct {
  const char *name;
  bool is_data;
  reading *read;
  emptying *empty;
} weak_uses[] = {
    {"wn_weak_get", false, read_place, leave},
    {"wn_weak_get, wn_weak_set", false, read_place, set_place},
    {"wn_weak_get, wn_weak_fill", false, read_place, fill_places},
    {"wn_weak_get, wn_weak_blit", false, read_place, copy_places},
    {"wn_ephemeron_get_key", false, read_key, leave},
    {"wn_ephemeron_get_key, wn_ephemeron_set_key", false, read_key, set_key},
    {"wn_ephemeron_get_key, wn_ephemeron_unset_key", false, read_key, unset_key},
    {"wn_ephemeron_get_data, wn_ephemeron_set_data", true, read_data, set_data},
    {"wn_ephemeron_get_data, wn_ephemeron_unset_data", true, read_data, unset_data},
};

static void read_and_empty(wn_domain *domain, unsigned use, unsigned where) {
  WN_SCOPE(domain);
  struct keeper keeper = begin_keeping(domain, where);
  wn_ref weak = wn_ephemeron_new(domain, 2), alive = block_of(domain, OTHER);
  wn_ref found = wn_root(domain, wn_int(0));
  way = weak_uses[use].name;
  assert_int_equal(wn_ephemeron_set_key(domain, weak, 1, alive), WN_OK);
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  {
    WN_SCOPE(domain);
    wn_ref value = make_value(domain);
    wn_gc_minor(domain); /* it is old, and dies when its handle does */
    if (weak_uses[use].is_data) wn_ephemeron_set_data(domain, weak, value);
    if (!weak_uses[use].is_data) wn_ephemeron_set_key(domain, weak, 0, value);
  }
  assert_int_equal(heap_phase(domain->heap), PHASE_IDLE);
  major_collect(domain, COLLECT_MINOR | COLLECT_CYCLE, STOP_REQUEST);
  {
    WN_SCOPE(domain);
    wn_value *place = (wn_value *)wn_value_of(weak) + (weak_uses[use].is_data ? 0 : 1);
    assert_false(is_marked(domain, *place));
    keepers[where].keep(domain, &keeper, weak_uses[use].read(domain, weak));
    weak_uses[use].empty(domain, weak, alive);
  }
  end_cycle(domain);
  {
    WN_SCOPE(domain);
    keepers[where].find(domain, &keeper, found);
  }
  check_value(domain, found);
}

static void what_is_read_from_a_weak_block_while_marking_goes_on_is_kept(void **state) { /* H1 */
  (void)state;
  wn_domain *domain = open_heap();
  for (unsigned use = 0; use < sizeof weak_uses / sizeof *weak_uses; use++)
    for (unsigned where = 0; where < KEEPERS; where++) read_and_empty(domain, use, where);
  close_heap(domain);
}

/* ---- young values in old places ---- */

struct places {
  wn_ref block, weak, key;
  wn_global *global;
};

static void young_by_set(wn_domain *domain, struct places *in, wn_ref young) {
  wn_set(domain, in->block, 0, young);
}
static void young_by_store(wn_domain *domain, struct places *in, wn_ref young) {
  wn_store(domain, wn_value_of(in->block), 0, wn_value_of(young));
}
static void young_by_cas(wn_domain *domain, struct places *in, wn_ref young) {
  assert_true(wn_cas(domain, in->block, 0, wn_get(domain, in->block, 0), young));
}
static void young_after_young(wn_domain *domain, struct places *in, wn_ref young) {
  wn_set(domain, in->block, 0, block_of(domain, OTHER));
  wn_set(domain, in->block, 0, young);
}
static void young_after_integer(wn_domain *domain, struct places *in, wn_ref young) {
  wn_set(domain, in->block, 0, young);
  wn_set_int(domain, in->block, 0, OTHER);
  wn_set(domain, in->block, 0, young);
}
static wn_ref find_in_block(wn_domain *domain, const struct places *in) {
  return wn_get(domain, in->block, 0);
}

static void young_in_new_global(wn_domain *domain, struct places *in, wn_ref young) {
  wn_global_free(domain, in->global);
  in->global = wn_global_new(domain, young);
}
static void young_in_global(wn_domain *domain, struct places *in, wn_ref young) {
  wn_global_set(domain, in->global, young);
}
static wn_ref find_in_global(wn_domain *domain, const struct places *in) {
  return wn_global_get(domain, in->global);
}

static void young_data(wn_domain *domain, struct places *in, wn_ref young) {
  assert_int_equal(wn_ephemeron_set_data(domain, in->weak, young), WN_OK);
}
static wn_ref find_data(wn_domain *domain, const struct places *in) {
  return wn_ephemeron_get_data(domain, in->weak);
}

/* A weak place keeps nothing: the handle does. */
static void young_key(wn_domain *domain, struct places *in, wn_ref young) {
  wn_assign(in->key, young);
  assert_int_equal(wn_ephemeron_set_key(domain, in->weak, 0, young), WN_OK);
}
static void young_place(wn_domain *domain, struct places *in, wn_ref young) {
  wn_assign(in->key, young);
  assert_int_equal(wn_weak_fill(domain, in->weak, 0, 1, young), WN_OK);
}
static void young_copied(wn_domain *domain, struct places *in, wn_ref young) {
  wn_assign(in->key, young);
  assert_int_equal(wn_weak_set(domain, in->weak, 1, young), WN_OK);
  assert_int_equal(wn_weak_blit(domain, in->weak, 1, in->weak, 0, 1), WN_OK);
  assert_int_equal(wn_ephemeron_unset_key(domain, in->weak, 1), WN_OK);
}
static wn_ref find_key(wn_domain *domain, const struct places *in) {
  wn_ref found = wn_ephemeron_get_key(domain, in->weak, 0);
  assert_true(wn_value_of(found) == wn_value_of(in->key));
  return found;
}

static const struct {
  const char *name;
  void (*store)(wn_domain *domain, struct places *in, wn_ref young);
  wn_ref (*find)(wn_domain *domain, const struct places *in);
} young_stores[] = {
    {"wn_set", young_by_set, find_in_block},
    {"wn_store", young_by_store, find_in_block},
    {"wn_cas", young_by_cas, find_in_block},
    {"wn_set of a second young value", young_after_young, find_in_block},
    {"wn_set after wn_set_int", young_after_integer, find_in_block},
    {"wn_global_new", young_in_new_global, find_in_global},
    {"wn_global_set", young_in_global, find_in_global},
    {"wn_ephemeron_set_data", young_data, find_data},
    {"wn_ephemeron_set_key", young_key, find_key},
    {"wn_weak_fill", young_place, find_key},
    {"wn_weak_blit", young_copied, find_key},
};

static void find_old(wn_domain *domain, unsigned how, const struct places *in) {
  WN_SCOPE(domain);
  wn_ref found = young_stores[how].find(domain, in);
  check_value(domain, found);
  assert_false(heap_is_young(domain->heap, wn_value_of(found)));
}

static void store_young(wn_domain *domain, unsigned how, size_t words) {
  WN_SCOPE(domain);
  struct places in = {.block = wn_alloc(domain, words, 3),
                      .weak = wn_ephemeron_new(domain, 2),
                      .key = wn_root(domain, wn_int(0))};
  way = young_stores[how].name;
  kept_in = "an old place";
  in.global = wn_global_new(domain, in.key);
  assert_int_equal(wn_gc_minor(domain), WN_OK);
  {
    WN_SCOPE(domain);
    wn_ref young = make_value(domain);
    assert_true(heap_is_young(domain->heap, wn_value_of(young)));
    young_stores[how].store(domain, &in, young);
  }
  assert_int_equal(wn_gc_minor(domain), WN_OK);
  find_old(domain, how, &in);
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  find_old(domain, how, &in);
  wn_global_free(domain, in.global);
}

static void a_young_value_that_is_stored_into_an_old_place_is_there_after_a_minor_collection(void **state) {
  /* H1 */
  (void)state;
  wn_domain *domain = open_heap();
  for (unsigned how = 0; how < sizeof young_stores / sizeof *young_stores; how++)
    for (unsigned i = 0; i < HOLDERS; i++) store_young(domain, how, holders[i]);
  close_heap(domain);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      one_thread_test(what_is_taken_out_of_an_old_block_while_marking_goes_on_is_kept),
      cmocka_unit_test(what_a_root_had_when_marking_began_is_kept),
      cmocka_unit_test(what_another_domain_overwrites_while_marking_goes_on_is_kept),
      cmocka_unit_test(what_is_read_from_a_weak_block_while_marking_goes_on_is_kept),
      one_thread_test(a_young_value_that_is_stored_into_an_old_place_is_there_after_a_minor_collection),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
