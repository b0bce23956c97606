/* The raw tier: blocks of all sizes that plain stores fill, many fields at once, and bytes. */
#include "gc/collect/major.h"
#include "gc/small_heap.h"

#include <string.h>

enum { MARKS = 5 };

static void begin_marking(wn_domain *domain) {
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  major_collect(domain, COLLECT_MINOR | COLLECT_CYCLE, STOP_REQUEST);
  assert_int_equal(heap_phase(domain->heap), PHASE_MARK);
}

/* ---- blocks ---- */

static size_t mark_at(size_t words, size_t i) { return i * (words - 1) / (MARKS - 1); }

static void check_marks(wn_ref block, size_t words, unsigned tag, const char *when) {
  assert_int_equal(wn_words(wn_value_of(block)), words);
  assert_int_equal(wn_tag(wn_value_of(block)), tag);
  for (size_t i = 0; i < MARKS; i++) {
    wn_value mark = wn_field(block, mark_at(words, i));
    if (wn_is_int(mark) || wn_to_int(wn_field_of(mark, 0)) != 100)
      fail_msg("%zu words: field %zu is lost %s", words, mark_at(words, i), when);
  }
}

/* What is stored is young when it is stored. */
static void fill_by_plain_stores(wn_domain *domain, size_t words, bool marking) {
  WN_SCOPE(domain);
  if (marking)
    begin_marking(domain);
  else
    assert_int_equal(wn_gc_minor(domain), WN_OK);
  wn_ref mark = block_of(domain, 100);
  wn_value *fields = wn_bump(domain, words, 7);
  assert_non_null(fields);
  assert_true(heap_is_young(domain->heap, wn_value_of(mark)));
  assert_int_equal(heap_is_young(domain->heap, (wn_value)fields), words <= WN_MAX_YOUNG_WORDS);
  for (size_t i = 0; i < words; i++) fields[i] = wn_int((intptr_t)i);
  for (size_t i = 0; i < MARKS; i++) fields[mark_at(words, i)] = wn_value_of(mark);
  wn_ref block = wn_root(domain, (wn_value)fields);
  wn_assign_int(mark, 0);
  assert_int_equal(wn_gc_verify(domain, stderr), WN_OK);
  assert_int_equal(wn_gc_minor(domain), WN_OK);
  check_marks(block, words, 7, "in a minor collection");
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  assert_int_equal(wn_gc_compact(domain), WN_OK);
  check_marks(block, words, 7, "in a cycle");
}

static void a_block_of_any_size_is_filled_by_plain_stores(void **state) {
  static const size_t sizes[] = {1, 2, 255, 256, 257, 300, 4000, 40000, 140000};
  wn_domain *domain = open_heap();
  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    fill_by_plain_stores(domain, sizes[i], false);
    fill_by_plain_stores(domain, sizes[i], true);
  }
  close_heap(domain);
}

static void bytes_of_any_size_are_allocated_by_the_raw_tier(void **state) {
  wn_domain *domain = open_heap();
  (void)state;
  for (size_t words = 1; words < 300000; words = words * 3 + 1) {
    WN_SCOPE(domain);
    wn_value *fields = wn_bump(domain, words, WN_TAG_RAW);
    memset(fields, 0x40, words * 8); /* even: no value */
    wn_ref block = wn_root(domain, (wn_value)fields);
    assert_int_equal(wn_gc_full_major(domain), WN_OK);
    for (size_t i = 0; i < words * 8; i++) assert_int_equal(((char *)wn_bytes(block))[i], 0x40);
  }
  close_heap(domain);
}

static void what_is_too_large_is_refused(void **state) {
  wn_domain *domain = open_heap();
  (void)state;
  assert_null(wn_bump(domain, WN_MAX_WORDS + 1, 0));
  assert_non_null(strstr(wn_last_error(), "bump: more than WN_MAX_WORDS words"));
  assert_null(wn_bump(domain, SIZE_MAX, 0));
  assert_null(wn_bump(domain, SIZE_MAX / 8, 0));
  close_heap(domain);
}

/* ---- many fields ---- */

enum { FIELDS = 600, STEPS = 3000 };

/* The model of a block: the number of what each field leads to, below 0 where the field is an
 * integer. */
struct array {
  wn_ref block;
  size_t words;
  intptr_t model[FIELDS];
};

static uint64_t random_state = 1;
static size_t below(size_t most) {
  random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (size_t)(random_state >> 33) % most;
}

static struct array new_array(wn_domain *domain, size_t words) {
  struct array array = {.block = wn_alloc(domain, words, 1), .words = words};
  for (size_t i = 0; i < words; i++) array.model[i] = -1;
  return array;
}

static intptr_t number_in(wn_value value) {
  return wn_is_int(value) ? -1 - wn_to_int(value) : wn_to_int(wn_field_of(value, 0));
}

static void check_array(const struct array *array) {
  for (size_t i = 0; i < array->words; i++)
    assert_int_equal(number_in(wn_field(array->block, i)), array->model[i]);
}

static void fill_some(wn_domain *domain, struct array *array) {
  WN_SCOPE(domain);
  size_t i = below(array->words + 1), n = below(array->words - i + 1);
  intptr_t number = (intptr_t)below(1000);
  bool block = below(3);
  wn_ref value = block ? block_of(domain, number) : wn_root(domain, wn_int(number));
  assert_int_equal(wn_fill(domain, wn_value_of(array->block), i, n, wn_value_of(value)), WN_OK);
  for (size_t k = i; k < i + n; k++) array->model[k] = block ? number : -1 - number;
}

static void copy_some(wn_domain *domain, const struct array *from, struct array *to) {
  size_t i = below(from->words + 1), j = below(to->words + 1), n = from->words - i;
  if (to->words - j < n) n = to->words - j;
  n = below(n + 1);
  assert_int_equal(wn_blit(domain, wn_value_of(from->block), i, wn_value_of(to->block), j, n), WN_OK);
  memmove(to->model + j, from->model + i, n * sizeof *to->model);
}

static void collect_some(wn_domain *domain) {
  size_t kind = below(100);
  if (kind < 10) assert_int_equal(wn_gc_minor(domain), WN_OK);
  if (kind == 10) assert_int_equal(wn_gc_full_major(domain), WN_OK);
  if (kind == 11) begin_marking(domain);
  if (kind == 12) wn_gc_major_slice(domain, 500);
  if (kind < 13) assert_int_equal(wn_gc_verify(domain, stderr), WN_OK);
}

static void fields_that_are_filled_and_copied_are_those_of_a_model(void **state) {
  static const size_t sizes[] = {1, 2, 17, 256, 257, FIELDS};
  enum { ARRAYS = sizeof sizes / sizeof *sizes };
  static struct array arrays[ARRAYS];
  wn_domain *domain = open_heap();
  (void)state;
  WN_SCOPE(domain);
  for (size_t i = 0; i < ARRAYS; i++) arrays[i] = new_array(domain, sizes[i]);
  for (long step = 0; step < STEPS; step++) {
    struct array *from = &arrays[below(ARRAYS)], *to = below(2) ? from : &arrays[below(ARRAYS)];
    if (below(2))
      fill_some(domain, to);
    else
      copy_some(domain, from, to);
    collect_some(domain);
    check_array(to);
    if (below(50)) continue; /* else it is young again */
    struct array fresh = new_array(domain, to->words);
    wn_assign(to->block, fresh.block);
    memcpy(to->model, fresh.model, sizeof fresh.model);
  }
  for (size_t i = 0; i < ARRAYS; i++) check_array(&arrays[i]);
  close_heap(domain);
}

static void fields_that_are_not_there_are_refused(void **state) {
  wn_domain *domain = open_heap();
  (void)state;
  WN_SCOPE(domain);
  wn_ref block = wn_alloc(domain, 4, 0), bytes = wn_alloc_bytes(domain, 100);
  wn_value fields = wn_value_of(block), raw = wn_value_of(bytes), one = wn_int(1);
  assert_int_equal(wn_fill(domain, fields, 0, 5, one), WN_EINVAL);
  assert_string_equal(wn_last_error(), "fill: 5 fields from 0 on, and there are 4");
  assert_int_equal(wn_fill(domain, fields, 5, 0, one), WN_EINVAL);
  assert_int_equal(wn_fill(domain, fields, 2, SIZE_MAX, one), WN_EINVAL);
  assert_int_equal(wn_fill(domain, raw, 0, 1, one), WN_EINVAL);
  assert_int_equal(wn_fill(domain, one, 0, 1, one), WN_EINVAL);
  assert_int_equal(wn_fill(domain, fields, 4, 0, one), WN_OK);
  assert_int_equal(wn_blit(domain, fields, 1, fields, 2, 3), WN_EINVAL);
  assert_int_equal(wn_blit(domain, fields, 2, fields, 1, 3), WN_EINVAL);
  assert_int_equal(wn_blit(domain, raw, 0, fields, 0, 1), WN_EINVAL);
  assert_int_equal(wn_blit(domain, fields, 0, raw, 0, 1), WN_EINVAL);
  assert_string_equal(wn_last_error(), "blit: 1 fields from 0 on, and there are 0");
  assert_int_equal(wn_fill(NULL, fields, 0, 1, one), WN_EINVAL);
  assert_int_equal(wn_blit(NULL, fields, 0, fields, 0, 1), WN_EINVAL);
  for (size_t i = 0; i < 4; i++) assert_true(wn_field(block, i) == wn_int(0));
  close_heap(domain);
}

/* ---- bytes ---- */

static const wn_custom_ops ops = {"test", NULL};

static void bytes_are_where_the_value_says(void **state) {
  wn_domain *domain = open_heap();
  (void)state;
  WN_SCOPE(domain);
  wn_ref blocks[] = {wn_alloc_bytes(domain, 20), wn_alloc_bytes(domain, 20000),
                     wn_alloc_custom(domain, &ops, 20, 0), wn_alloc_custom(domain, &ops, 20000, 0)};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
    strcpy(wn_bytes_of(wn_value_of(blocks[i])), "some bytes");
    assert_int_equal(wn_gc_minor(domain), WN_OK);
    assert_string_equal(wn_bytes_of(wn_value_of(blocks[i])), "some bytes");
    assert_ptr_equal(wn_bytes_of(wn_value_of(blocks[i])), wn_bytes(blocks[i]));
  }
  close_heap(domain);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_block_of_any_size_is_filled_by_plain_stores),
      cmocka_unit_test(bytes_of_any_size_are_allocated_by_the_raw_tier),
      cmocka_unit_test(what_is_too_large_is_refused),
      cmocka_unit_test(fields_that_are_filled_and_copied_are_those_of_a_model),
      cmocka_unit_test(fields_that_are_not_there_are_refused),
      cmocka_unit_test(bytes_are_where_the_value_says),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
