/* Stress: each call that may collect moves young blocks, and with `compact` old ones, so that a
 * value or a pointer that was kept over the call is stale; and old places have an evident pattern. */
#include "gc/blocks.h"

#include "base/check.h"
#include "base/poison.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <winnow/events.h>
#include <winnow/marshal.h>
#include <winnow/snapshot.h>
#include <winnow/trace.h>
#include <winnow/weak.h>

static const wn_custom_ops custom_ops = {"a test's", NULL};
static const wn_shape shape = {2, 0};

/* What the calls use, made before the blocks that must move. */
static struct {
  wn_ref list, custom, weak, other, block;
  void *message;
  size_t size;
  FILE *file;
  wn_join *join;
  wn_trace *trace;
  wn_gc_listener *listener;
  char path[64], snapshot[64];
} with;

static void body(wn_domain *domain, void *argument) { (void)domain, (void)argument; }
static void hear(const wn_gc_event *event, void *context) { (void)event, (void)context; }
static wn_status sink(const void *bytes, size_t size, void *context) {
  (void)bytes, (void)size, (void)context;
  return WN_OK;
}
static size_t source(void *bytes, size_t size, void *context) {
  size_t *given = context, left = with.size - *given, some = size < left ? size : left;
  memcpy(bytes, (const char *)with.message + *given, some);
  *given += some;
  return some;
}

/* ---- the calls: true if all went well ---- */

static bool poll(wn_domain *d) { return wn_poll(d), true; }
static bool yield(wn_domain *d) { return wn_thread_yield(d), true; }
static bool blocking(wn_domain *d) { return wn_blocking_begin(d), wn_blocking_end(d), true; }
static bool spawn_domain(wn_domain *d) { return !wn_domain_spawn(d, body, NULL, &with.join); }
static bool join(wn_domain *d) { return !wn_join_wait(d, with.join); }
static bool bump(wn_domain *d) {
  wn_value *fields = wn_bump(d, 1, 0);
  fields[0] = wn_int(1);
  return true;
}
static bool alloc(wn_domain *d) { return !wn_is_null(wn_alloc(d, 2, 0)); }
static bool alloc_medium(wn_domain *d) { return !wn_is_null(wn_alloc(d, 2000, 0)); }
static bool alloc_large(wn_domain *d) { return !wn_is_null(wn_alloc(d, 200000, 0)); }
static bool alloc_bytes(wn_domain *d) { return !wn_is_null(wn_alloc_bytes(d, 10)); }
static bool pair(wn_domain *d) { return !wn_is_null(wn_pair(d, 0, with.list, with.list)); }
static bool assign_pair(wn_domain *d) { return wn_assign_pair(d, with.list, 0, with.list, with.list); }
static bool push(wn_domain *d) { return wn_push_int(d, with.list, 0, 1); }
static bool group(wn_domain *d) { return !wn_alloc_group(d, 1, &shape, &with.block); }
static bool custom(wn_domain *d) { return !wn_is_null(wn_alloc_custom(d, &custom_ops, 8, 0)); }
static bool custom_old(wn_domain *d) { return !wn_is_null(wn_alloc_custom(d, &custom_ops, 8000, 0)); }
static bool grow(wn_domain *d) { return !wn_custom_adjust(d, with.custom, 2); }
static bool shrink(wn_domain *d) { return !wn_custom_adjust(d, with.custom, 0); }
static bool pin(wn_domain *d) { return !wn_pin(d, with.other); }

static bool new_weak(wn_domain *d) { return !wn_is_null(wn_weak_new(d, 1)); }
static bool new_ephemeron(wn_domain *d) { return !wn_is_null(wn_ephemeron_new(d, 1)); }
static bool copy_weak(wn_domain *d) { return !wn_is_null(wn_weak_get_copy(d, with.weak, 0)); }
static bool copy_weak_number(wn_domain *d) { return !wn_is_null(wn_weak_get_copy(d, with.weak, 1)); }

static bool minor(wn_domain *d) { return !wn_gc_minor(d); }
static bool slice(wn_domain *d) { return wn_gc_major_slice(d, 1), true; }
static bool major(wn_domain *d) { return !wn_gc_major(d); }
static bool full_major(wn_domain *d) { return !wn_gc_full_major(d); }
static bool compact(wn_domain *d) { return !wn_gc_compact(d); }
static bool set(wn_domain *d) {
  wn_gc_control control;
  return !wn_gc_get(d, &control) && !wn_gc_set(d, &control);
}
static bool set_minor_heap(wn_domain *d) {
  wn_gc_control control;
  return !wn_gc_get(d, &control) && !wn_gc_set_domain_minor_heap(d, control.minor_heap_size);
}

static bool write_file(wn_domain *d) { return !wn_marshal_write_file(d, with.list, 0, with.file); }
static bool write_to(wn_domain *d) { return !wn_marshal_write_to(d, with.list, 0, sink, NULL); }
static bool read_bytes(wn_domain *d) {
  return !wn_marshal_read(d, with.message, with.size, 0, &with.block, NULL);
}
static bool read_file(wn_domain *d) { return !wn_marshal_read_file(d, with.file, 0, &with.block); }
static bool read_from(wn_domain *d) {
  size_t given = 0;
  return !wn_marshal_read_from(d, source, &given, 0, &with.block);
}
static bool string(wn_domain *d) { return !wn_is_null(wn_string_new(d, "abc", 3)); }
static bool boxed(wn_domain *d) { return !wn_is_null(wn_boxed_new(d, WN_BOXED_INT64, 3)); }
static bool bigarray(wn_domain *d) {
  return !wn_is_null(wn_bigarray_new(d, WN_BIGARRAY_UINT8, false, 1, &with.size));
}

static bool listen(wn_domain *d) { return !wn_gc_listen(d, WN_GC_EVERY_EVENT, hear, NULL, &with.listener); }
static bool unlisten(wn_domain *d) { return !wn_gc_unlisten(d, with.listener); }
static bool metrics_begin(wn_domain *d) { return !wn_gc_metrics_begin(d); }
static bool metrics(wn_domain *d) { return !wn_gc_metrics(d, with.file); }
static bool metrics_end(wn_domain *d) { return !wn_gc_metrics_end(d); }
static bool trace_start(wn_domain *d) { return !wn_trace_start(d, with.path, NULL, &with.trace); }
static void see(const wn_gc_block *block, void *context) { (void)block, (void)context; }
static void step(void *context, const wn_path_step *path_step) { (void)context, (void)path_step; }
static bool walk(wn_domain *d) { return !wn_gc_walk(d, see, NULL); }
static bool snapshot(wn_domain *d) { return !wn_heap_snapshot(d, with.snapshot); }
static bool block_path(wn_domain *d) { return !wn_block_path(d, with.other, step, NULL); }
static bool trace_stop(wn_domain *d) { return !wn_trace_stop(d, with.trace); }

/* Each function of the public headers whose comment says that it may collect. `before` and `after`
 * are calls around it. */
static const struct {
  const char *name;
  bool (*call)(wn_domain *), (*before)(wn_domain *), (*after)(wn_domain *);
} calls[] = {
    {"wn_poll", poll, NULL, NULL},
    {"wn_thread_yield", yield, NULL, NULL},
    {"wn_blocking_begin", blocking, NULL, NULL},
    {"wn_domain_spawn", spawn_domain, NULL, join},
    {"wn_join_wait", join, spawn_domain, NULL},
    {"wn_bump", bump, NULL, NULL},
    {"wn_alloc", alloc, NULL, NULL},
    {"wn_alloc of a medium block", alloc_medium, NULL, NULL},
    {"wn_alloc of a large block", alloc_large, NULL, NULL},
    {"wn_alloc_bytes", alloc_bytes, NULL, NULL},
    {"wn_pair", pair, NULL, NULL},
    {"wn_assign_pair", assign_pair, NULL, NULL},
    {"wn_push_int", push, NULL, NULL},
    {"wn_alloc_group", group, NULL, NULL},
    {"wn_alloc_custom", custom, NULL, NULL},
    {"wn_alloc_custom of an old block", custom_old, NULL, NULL},
    {"wn_custom_adjust, more", grow, NULL, NULL},
    {"wn_custom_adjust, less", shrink, NULL, NULL},
    {"wn_pin", pin, NULL, NULL},
    {"wn_pin of an old block", pin, minor, NULL},
    {"wn_weak_new", new_weak, NULL, NULL},
    {"wn_ephemeron_new", new_ephemeron, NULL, NULL},
    {"wn_weak_get_copy", copy_weak, NULL, NULL},
    {"wn_weak_get_copy of a number", copy_weak_number, NULL, NULL},
    {"wn_gc_minor", minor, NULL, NULL},
    {"wn_gc_major_slice", slice, NULL, NULL},
    {"wn_gc_major", major, NULL, NULL},
    {"wn_gc_full_major", full_major, NULL, NULL},
    {"wn_gc_compact", compact, NULL, NULL},
    {"wn_gc_set", set, NULL, NULL},
    {"wn_gc_set_domain_minor_heap", set_minor_heap, NULL, NULL},
    {"wn_marshal_write_file", write_file, NULL, NULL},
    {"wn_marshal_write_to", write_to, NULL, NULL},
    {"wn_marshal_read", read_bytes, NULL, NULL},
    {"wn_marshal_read_file", read_file, NULL, NULL},
    {"wn_marshal_read_from", read_from, NULL, NULL},
    {"wn_string_new", string, NULL, NULL},
    {"wn_boxed_new", boxed, NULL, NULL},
    {"wn_bigarray_new", bigarray, NULL, NULL},
    {"wn_gc_listen", listen, NULL, unlisten},
    {"wn_gc_unlisten", unlisten, listen, NULL},
    {"wn_gc_metrics_begin", metrics_begin, NULL, metrics_end},
    {"wn_gc_metrics", metrics, metrics_begin, metrics_end},
    {"wn_gc_metrics_end", metrics_end, metrics_begin, NULL},
    {"wn_gc_walk", walk, NULL, NULL},
    {"wn_heap_snapshot", snapshot, NULL, NULL},
    {"wn_block_path", block_path, NULL, NULL},
    {"wn_trace_start", trace_start, NULL, trace_stop},
    {"wn_trace_stop", trace_stop, trace_start, NULL},
};

/* A message of a number: a call that reads it allocates nothing. */
static void prepare(wn_domain *d) {
  with.list = wn_root(d, wn_int(7));
  assert_int_equal(wn_marshal_write(d, with.list, 0, &with.message, &with.size), WN_OK);
  with.file = tmpfile();
  assert_non_null(with.file);
  assert_int_equal(fwrite(with.message, 1, with.size, with.file), with.size);
  rewind(with.file);
  with.custom = wn_alloc_custom(d, &custom_ops, 8, 1);
  with.weak = wn_weak_new(d, 2);
  with.other = wn_alloc(d, 1, 0);
  assert_int_equal(wn_weak_set(d, with.weak, 0, with.other), WN_OK);
  assert_int_equal(wn_weak_set(d, with.weak, 1, with.list), WN_OK);
}

static void finish(void) {
  free(with.message);
  fclose(with.file);
}

static wn_domain *begin(wn_heap **heap, const char *params) {
  wn_domain *domain;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.text = params;
  assert_int_equal(wn_heap_open(&options, heap), WN_OK);
  assert_int_equal(wn_domain_attach(*heap, &domain), WN_OK);
  return domain;
}

static void end(wn_heap *heap, wn_domain *domain) {
  assert_int_equal(wn_gc_verify(domain, stderr), WN_OK);
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
}

enum { BLOCKS = 3 }; /* old, medium, young */

/* Returns bits of the blocks that the call has moved. */
static unsigned moved_by(size_t row, const char *params) {
  wn_heap *heap;
  wn_domain *d = begin(&heap, params);
  unsigned moved = 0;
  {
    WN_SCOPE(d);
    prepare(d);
    if (calls[row].before) assert_true(calls[row].before(d));
    wn_ref blocks[BLOCKS] = {wn_alloc(d, 2, 0), wn_alloc(d, 1000, 0)};
    assert_int_equal(wn_gc_minor(d), WN_OK);
    blocks[2] = wn_alloc(d, 2, 0);
    wn_value values[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) values[i] = wn_value_of(blocks[i]);
    assert_true(calls[row].call(d));
    for (int i = 0; i < BLOCKS; i++) moved |= (unsigned)(values[i] != wn_value_of(blocks[i])) << i;
    if (calls[row].after) assert_true(calls[row].after(d));
  }
  end(heap, d);
  finish();
  return moved;
}

static void check_all(const char *params, unsigned expected) {
  int missed = 0;
  for (size_t row = 0; row < sizeof calls / sizeof *calls; row++) {
    unsigned moved = moved_by(row, params);
    if ((moved & expected) == expected) continue;
    print_message("%s: %s%s%s moved\n", calls[row].name, moved & 1 ? "" : "the old block has not, ",
                  moved & 2 ? "" : "the medium block has not, ", moved & 4 ? "" : "the young block has not");
    missed++;
  }
  assert_int_equal(missed, 0);
}

static void each_call_that_may_collect_moves_young_blocks(void **state) {
  (void)state;
  check_all("every=1,polls=1", 4);
}

static void each_call_that_may_collect_moves_old_blocks(void **state) {
  (void)state;
  check_all("compact=1", 7);
}

READS_POISONED static wn_value read_stale(wn_value block, size_t i) { return ((const wn_value *)block)[i]; }

/* The first block of its pool, too, whose place begins a free run. */
static void the_places_of_old_blocks_have_a_pattern(void **state) {
  enum { WORDS = 5, COUNT = 3 };
  wn_heap *heap;
  wn_domain *d = begin(&heap, "compact=1");
  (void)state;
  {
    WN_SCOPE(d);
    wn_ref blocks[COUNT];
    wn_value before[COUNT];
    for (int i = 0; i < COUNT; i++) blocks[i] = wn_alloc(d, i == COUNT - 1 ? 1000 : WORDS, 0);
    wn_poll(d);
    for (int i = 0; i < COUNT; i++) before[i] = wn_value_of(blocks[i]);
    wn_poll(d);
    for (int i = 0; i < COUNT; i++)
      for (size_t word = 0; word < WORDS; word++)
        assert_int_equal(read_stale(before[i], word), 0x5a5a5a5a5a5a5a5a);
  }
  end(heap, d);
}

/* An address becomes that of another block only after a few compactions. */
static void an_old_place_is_not_used_again_soon(void **state) {
  enum { COMPACTIONS = 3 };
  wn_heap *heap;
  wn_domain *d = begin(&heap, "compact=1");
  (void)state;
  {
    WN_SCOPE(d);
    wn_ref block = wn_alloc(d, 3, 0);
    wn_poll(d);
    wn_value before = wn_value_of(block);
    for (int i = 0; i < COMPACTIONS; i++) {
      wn_poll(d);
      assert_int_equal(read_stale(before, 0), 0x5a5a5a5a5a5a5a5a);
    }
  }
  end(heap, d);
}

int main(void) {
  char folder[] = "/tmp/test_stress_XXXXXX";
  if (!mkdtemp(folder)) return 1;
  snprintf(with.path, sizeof with.path, "%s/trace", folder);
  snprintf(with.snapshot, sizeof with.snapshot, "%s/snapshot", folder);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_call_that_may_collect_moves_young_blocks),
      cmocka_unit_test(each_call_that_may_collect_moves_old_blocks),
      cmocka_unit_test(the_places_of_old_blocks_have_a_pattern),
      cmocka_unit_test(an_old_place_is_not_used_again_soon),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  unlink(with.path), unlink(with.snapshot);
  rmdir(folder);
  return failed;
}
/* SPDX-License-Identifier: MIT */
