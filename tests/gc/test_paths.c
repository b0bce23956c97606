/* Paths from a root to a block, as their steps say them. */
#include "base/check.h"
#include "support/test.h"
#include <stdio.h>
#include <string.h>
#include <winnow/gc.h>
#include <winnow/memprof.h>
#include <winnow/snapshot.h>
#include <winnow/weak.h>

enum { CELL, VARIABLE };

static const char *type_name(unsigned type, void *context) {
  return (void)context, type == CELL ? "cell" : type == VARIABLE ? "variable" : NULL;
}
static const char *field_name(unsigned type, size_t field, void *context) {
  return (void)context, type == VARIABLE && !field ? "value" : type == CELL && field ? "rest" : NULL;
}
static const char *describe(wn_value block, void *context) {
  return (void)context, wn_tag(block) == VARIABLE ? "log" : NULL;
}

struct heap {
  wn_heap *heap;
  wn_domain *domain;
  char told[1000]; /* the steps */
};

static void open_heap(struct heap *of) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.hooks.type_name = type_name;
  options.hooks.field_name = field_name;
  options.hooks.describe = describe;
  assert_int_equal(wn_heap_open(&options, &of->heap), WN_OK);
  assert_int_equal(wn_domain_attach(of->heap, &of->domain), WN_OK);
}

static void close_heap(struct heap *of) {
  assert_int_equal(wn_domain_detach(of->domain), WN_OK);
  assert_int_equal(wn_heap_close(of->heap), WN_OK);
}

static void tell(void *context, const wn_path_step *step) {
  struct heap *of = context;
  char number[24];
  size_t length = strlen(of->told);
  snprintf(number, sizeof number, "%zu", step->index);
  snprintf(of->told + length, sizeof of->told - length, "%s%s%s%s%s", *of->told ? " > ." : "",
           *of->told ? (step->field ? step->field : number) : "", *of->told ? " " : "", step->type,
           step->name ? " " : "");
  length = strlen(of->told);
  snprintf(of->told + length, sizeof of->told - length, step->blocks > 1 ? "%s x %zu" : "%s",
           step->name ? step->name : "", step->blocks);
}

static const char *path_to(struct heap *of, wn_ref ref) {
  *of->told = 0;
  assert_int_equal(wn_block_path(of->domain, ref, tell, of), WN_OK);
  return of->told;
}

/* A variable whose value is a list of cells: variable -> cell -> ... -> cell. Its handle. */
static wn_ref make_variable(struct heap *of, int cells) {
  wn_ref list = wn_root(of->domain, wn_int(0));
  for (int i = 0; i < cells; i++) {
    WN_SCOPE(of->domain);
    wn_ref cell = wn_alloc(of->domain, 2, CELL);
    wn_set(of->domain, cell, 1, list);
    *list.slot = *cell.slot;
  }
  wn_ref variable = wn_alloc(of->domain, 1, VARIABLE);
  wn_set(of->domain, variable, 0, list);
  return variable;
}

static void steps_have_names_fields_and_runs(void **state) {
  struct heap of;
  (void)state;
  open_heap(&of);
  {
    WN_SCOPE(of.domain);
    wn_ref last = wn_root(of.domain, wn_int(0));
    wn_global *global;
    {
      WN_SCOPE(of.domain);
      wn_ref variable = make_variable(&of, 1000);
      global = wn_global_new_named(of.domain, variable, "variables");
      *last.slot = wn_field(variable, 0);
      while (!(wn_field(last, 1) & 1)) wn_assign_field(last, last, 1);
    }
    assert_string_equal(path_to(&of, last), "global variables > .0 variable log > .value cell x 1000");
    wn_gc_compact(of.domain);
    assert_string_equal(path_to(&of, last), "global variables > .0 variable log > .value cell x 1000");
    wn_ref second = wn_root(of.domain, *last.slot);
    assert_string_equal(path_to(&of, last), "handle > .0 cell"); /* the shorter one */
    *second.slot = wn_int(0);
    wn_global_free(of.domain, global);
    assert_string_equal(path_to(&of, last), ""); /* its own handle is no root */
  }
  close_heap(&of);
}

static void data_of_an_ephemeron_need_its_keys(void **state) {
  struct heap of;
  (void)state;
  open_heap(&of);
  {
    WN_SCOPE(of.domain);
    wn_ref ephemeron = wn_ephemeron_new(of.domain, 1), data = wn_root(of.domain, wn_int(0));
    wn_global *global;
    {
      WN_SCOPE(of.domain);
      wn_ref key = wn_alloc(of.domain, 1, CELL), between = wn_alloc(of.domain, 1, CELL + 5);
      *data.slot = *wn_alloc(of.domain, 3, CELL + 6).slot;
      global = wn_global_new(of.domain, key);
      assert_int_equal(wn_ephemeron_set_key(of.domain, ephemeron, 0, key), WN_OK);
      wn_set(of.domain, between, 0, data);
      assert_int_equal(wn_ephemeron_set_data(of.domain, ephemeron, between), WN_OK);
    }
    assert_string_equal(path_to(&of, data), "handle > .0 weak block > .data tag 5 > .0 tag 6");
    wn_global_free(of.domain, global);
    assert_string_equal(path_to(&of, data), "");
  }
  close_heap(&of);
}

/* Each one's data are the key of the next: the search is not their square. */
static void a_chain_of_ephemerons_is_followed(void **state) {
  enum { LENGTH = TINY ? 1000 : 100000 };
  struct heap of;
  (void)state;
  open_heap(&of);
  {
    WN_SCOPE(of.domain);
    wn_ref list = wn_root(of.domain, wn_int(0)), last = wn_alloc(of.domain, 1, CELL);
    wn_global *first = wn_global_new(of.domain, last);
    for (int i = 0; i < LENGTH; i++) {
      WN_SCOPE(of.domain);
      wn_ref ephemeron = wn_ephemeron_new(of.domain, 1), data = wn_alloc(of.domain, 1, CELL);
      wn_ref cell = wn_alloc(of.domain, 2, CELL);
      assert_int_equal(wn_ephemeron_set_key(of.domain, ephemeron, 0, last), WN_OK);
      assert_int_equal(wn_ephemeron_set_data(of.domain, ephemeron, data), WN_OK);
      wn_set(of.domain, cell, 0, ephemeron);
      wn_set(of.domain, cell, 1, list);
      *list.slot = *cell.slot;
      *last.slot = *data.slot;
    }
    assert_string_equal(path_to(&of, last), "handle > .0 cell > .0 weak block > .data cell");
    wn_global_free(of.domain, first);
    assert_string_equal(path_to(&of, last), "");
  }
  close_heap(&of);
}

static void *born(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain;
  return allocation->size == 77 ? context : NULL;
}
static void *promoted(wn_domain *domain, void *metadata, void *context) {
  return (void)domain, (void)context, metadata;
}

static void a_tracked_block_is_found_by_its_metadata(void **state) {
  static int metadata;
  wn_memprof_options options = {1, 16, 1};
  wn_tracker tracker = {.alloc_minor = born, .promote = promoted, .context = &metadata};
  wn_profile *profile;
  struct heap of;
  (void)state;
  open_heap(&of);
  assert_int_equal(wn_memprof_start(of.domain, &options, &tracker, &profile), WN_OK);
  {
    WN_SCOPE(of.domain);
    wn_ref variable = make_variable(&of, 0);
    {
      WN_SCOPE(of.domain);
      wn_set(of.domain, variable, 0, wn_alloc(of.domain, 77, CELL));
    }
    *of.told = 0;
    assert_int_equal(wn_sample_path(of.domain, profile, &metadata, tell, &of), WN_OK);
    assert_string_equal(of.told, ""); /* its birth waits for its callback */
    wn_poll(of.domain);
    assert_int_equal(wn_sample_path(of.domain, profile, &metadata, tell, &of), WN_OK);
    assert_string_equal(of.told, "handle > .0 variable log > .value cell");
    *of.told = 0;
    assert_int_equal(wn_sample_path(of.domain, profile, &options, tell, &of), WN_OK);
    assert_string_equal(of.told, "");
    assert_int_equal(wn_sample_path(of.domain, NULL, &metadata, tell, &of), WN_EINVAL);
  }
  assert_int_equal(wn_memprof_stop(of.domain), WN_OK);
  assert_int_equal(wn_memprof_discard(profile), WN_OK);
  close_heap(&of);
}

static struct heap *in_visit;
static wn_status visited;
static void call_again(void *context, const wn_path_step *step) {
  (void)context, (void)step;
  visited = wn_heap_snapshot(in_visit->domain, "/nowhere");
}

static void misuse_is_told(void **state) {
  struct heap of;
  (void)state;
  open_heap(&of);
  {
    WN_SCOPE(of.domain);
    wn_ref number = wn_root(of.domain, wn_int(1)), cell = wn_alloc(of.domain, 1, CELL);
    wn_root(of.domain, *cell.slot);
    assert_int_equal(wn_block_path(of.domain, number, tell, &of), WN_EINVAL);
    assert_int_equal(wn_block_path(of.domain, (wn_ref){NULL}, tell, &of), WN_EINVAL);
    assert_int_equal(wn_block_path(of.domain, cell, NULL, &of), WN_EINVAL);
    in_visit = &of;
    assert_int_equal(wn_block_path(of.domain, cell, call_again, NULL), WN_OK);
    assert_int_equal(visited, WN_ESTATE);
  }
  close_heap(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_have_names_fields_and_runs),
      cmocka_unit_test(data_of_an_ephemeron_need_its_keys),
      cmocka_unit_test(a_chain_of_ephemerons_is_followed),
      cmocka_unit_test(a_tracked_block_is_found_by_its_metadata),
      cmocka_unit_test(misuse_is_told),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
