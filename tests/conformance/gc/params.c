/* The text of parameters: what is taken, and where an error is. */
#include "gc/journal.h"

#include "gc/api/control.h"
#include "gc/api/params.h"
#include "gc/collect/collector.h"
#include <stdlib.h>
#include <string.h>

static const struct good {
  const char *text, *name;
  long value;
} good[] = {
    {"", "space_overhead", 120},
    {"s=4k", "minor_heap_size", 4096},
    {"s=0x1000", "minor_heap_size", 4096},
    {"s=0x1k", "minor_heap_size", 1024},
    {"minor_heap_size=1M", "minor_heap_size", 1 << 20},
    {"i=1G", "major_heap_increment", 1L << 30},
    {"major_heap_increment=15", "major_heap_increment", 15},
    {"i=0xFFFFFFFFf", "major_heap_increment", 0xfffffffffL},
    {"o=80", "space_overhead", 80},
    {"o=80,o=90", "space_overhead", 90},
    {"space_overhead", "space_overhead", 1},
    {"v=0x7ff", "verbose", 0x7ff},
    {"v", "verbose", 1},
    {"O=1000000", "max_overhead", 1000000},
    {"O=0", "max_overhead", 0},
    {"l=256k", "stack_limit", 1 << 18},
    {"a=0", "allocation_policy", 0},
    {"a", "allocation_policy", 1},
    {"w=50", "window_size", 50},
    {"M=200,m=50,n=8192", "custom_major_ratio", 200},
    {"M=200,m=50,n=8192", "custom_minor_ratio", 50},
    {"M=200,m=50,n=8192", "custom_minor_max_size", 8192},
    {"h=4M", "initial_heap", 4 << 20},
    {"H=0", "huge_pages", 0},
    {"d=3", "domains", 3},
    {"domains=16", "domains", 16},
    {"V", "verify", 1},
    {"helpers=0", "helpers", 0},
    {"helpers=64", "helpers", 64},
    {"soft_limit=64M", "soft_limit", 64 << 20},
    {"soft_limit=5G", "soft_limit", 5L << 30},
    {"soft_limit=0x7fffffffffffffff", "soft_limit", INT64_MAX},
    {"cgroup=0", "cgroup", 0},
    {"verify,every=3,delays", "every", 3},
    {"verify,every=3,delays", "delays", 1},
    {"fail_at=1000", "fail_at", 1000},
    {"every=7,polls=3", "polls", 3},
    {"mark_stack=16", "mark_stack", 16},
    {"o=0080", "space_overhead", 80},
};

static const struct bad {
  const char *text;
  size_t byte;
  const char *expected;
} bad[] = {
    {",", 1, "name"},
    {"s=4k,", 6, "name"},
    {"o=80,,v=1", 6, "name"},
    {"q=1", 1, "name"},
    {"b", 1, "name"},
    {"o=90,R", 6, "name"},
    {"S=4k", 1, "name"},
    {" s=4k", 1, "name"},
    {"s4k", 1, "name"},
    {"minor_heap=1M", 1, "name"},
    {"minor_heap_sizes=1M", 1, "name"},
    {"=5", 1, "name"},
    {"s=", 3, "digit"},
    {"s=k", 3, "digit"},
    {"s=-5", 3, "digit"},
    {"s=0x", 5, "digit"},
    {"s=0xg", 5, "digit"},
    {"o=80,s= 4k", 8, "digit"},
    {"s=4K", 4, "k, M, G"},
    {"s=4kk", 5, "k, M, G"},
    {"s=4T", 4, "k, M, G"},
    {"s=0X400", 4, "k, M, G"},
    {"s=4k ", 5, "k, M, G"},
    {"o=12a", 5, "k, M, G"},
    {"o=80;v=1", 5, "k, M, G"},
    {"o=1=2", 4, "k, M, G"},
    {"i=9223372036854775808", 3, "63 bits"},
    {"i=0x10000000000000000", 3, "63 bits"},
    {"i=9223372036854775807k", 3, "63 bits"},
    {"i=2k,i=99999999999999999999", 8, "63 bits"},
    {"s", 1, "minor_heap_size from"},
    {"s=319", 3, "minor_heap_size from"},
    {"s=1G", 3, "minor_heap_size from"},
    {"o=0", 3, "space_overhead from"},
    {"v=0x800", 3, "verbose from"},
    {"a=3", 3, "allocation_policy from"},
    {"w=0", 3, "window_size from"},
    {"w=51", 3, "window_size from"},
    {"H=2", 3, "huge_pages from"},
    {"d=0", 3, "domains from"},
    {"d=129", 3, "domains from"},
    {"M=0", 3, "custom_major_ratio from"},
    {"o=80,verify=7", 13, "verify from"},
    {"helpers=65", 9, "helpers from"},
    {"l=63", 3, "stack_limit from"},
};

static const struct parameter *row_of(const char *name) {
  for (unsigned i = 0; i < PARAMETERS; i++)
    if (!strcmp(parameters[i].name, name)) return &parameters[i];
  fail_msg("no parameter %s", name);
  return NULL;
}

static struct params defaults(void) {
  return (struct params){.control = WN_GC_CONTROL_DEFAULTS, .domains = DOMAINS_MOST, .huge_pages = 1};
}

static void a_text_sets_parameters_by_letter_and_by_name(void **state) { /* G55, G56 */
  (void)state;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    struct params params = defaults();
    if (params_parse(good[i].text, "text", &params)) fail_msg("'%s': %s", good[i].text, wn_last_error());
    if (*parameter_in(&params, row_of(good[i].name)) != good[i].value)
      fail_msg("'%s': %s is %ld", good[i].text, good[i].name, *parameter_in(&params, row_of(good[i].name)));
  }
}

static void only_what_a_text_names_is_changed(void **state) { /* G55 */
  (void)state;
  struct params params = defaults(), before = defaults();
  assert_int_equal(params_parse("w=7", "text", &params), WN_OK);
  params.control.window_size = before.control.window_size;
  assert_memory_equal(&params, &before, sizeof params);
}

static void an_error_names_the_byte_and_what_was_expected(void **state) { /* G55, G56 */
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct params params = defaults();
    char place[40];
    snprintf(place, sizeof place, "text, byte %zu: expected ", bad[i].byte);
    if (params_parse(bad[i].text, "text", &params) != WN_EINVAL) fail_msg("'%s' is taken", bad[i].text);
    if (strncmp(wn_last_error(), place, strlen(place)) || !strstr(wn_last_error(), bad[i].expected))
      fail_msg("'%s': %s", bad[i].text, wn_last_error());
  }
}

static void a_text_with_an_error_applies_nothing(void **state) { /* G55 */
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct params params = defaults(), before = defaults();
    assert_int_equal(params_parse(bad[i].text, "text", &params), WN_EINVAL);
    assert_memory_equal(&params, &before, sizeof params);
  }
}

static void every_parameter_takes_its_range_and_no_more(void **state) { /* G55 */
  (void)state;
  for (const struct parameter *row = parameters; row < parameters + PARAMETERS; row++) {
    const long values[] = {row->least, row->most, row->least - 1, row->most + (row->most < INT64_MAX)};
    for (unsigned i = 0; i < 4; i++) {
      struct params params = defaults();
      char text[80];
      if (values[i] < 0) continue;
      snprintf(text, sizeof text, "%s=%ld", row->name, values[i]);
      bool in_range = values[i] >= row->least && values[i] <= row->most;
      assert_int_equal(params_parse(text, "text", &params), in_range ? WN_OK : WN_EINVAL);
      if (in_range) assert_int_equal(*parameter_in(&params, row), values[i]);
    }
  }
}

/* ---- opening a heap ---- */

static wn_gc_control control_of(const wn_heap_options *options) {
  struct journal of;
  journal_open(&of, options);
  wn_gc_control control = get_control(of.domain);
  journal_close(&of);
  return control;
}

static void the_variable_is_used_unless_the_options_have_a_text(void **state) { /* G55 */
  (void)state;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.parameters.window_size = 3;
  setenv("WINNOW_PARAMS", "o=77,w=9", 1);
  assert_int_equal(control_of(NULL).space_overhead, 77);
  assert_int_equal(control_of(&options).window_size, 9);
  options.text = "o=78";
  assert_int_equal(control_of(&options).space_overhead, 78);
  assert_int_equal(control_of(&options).window_size, 3);
  unsetenv("WINNOW_PARAMS");
  options.text = NULL;
  assert_int_equal(control_of(&options).space_overhead, 120);
  assert_int_equal(control_of(&options).window_size, 3);
}

static void assert_zeros(wn_gc_control control) {
  assert_int_equal(control.allocation_policy, 0);
  assert_int_equal(control.max_overhead, 0);
  assert_int_equal(control.major_heap_increment, 0);
  assert_int_equal(control.custom_minor_max_size, 0);
}

static void zero_is_zero_in_the_options_and_in_a_text(void **state) { /* G55 */
  (void)state;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.text = "a=0,O=0,i=0,n=0";
  assert_zeros(control_of(&options));
  options = (wn_heap_options)WN_HEAP_DEFAULTS;
  options.parameters.allocation_policy = options.parameters.max_overhead = 0;
  options.parameters.major_heap_increment = options.parameters.custom_minor_max_size = 0;
  assert_zeros(control_of(&options));
}

static void options_that_do_not_begin_with_the_defaults_are_told_so(void **state) { /* G55 */
  (void)state;
  wn_heap *heap = NULL;
  wn_heap_options options = {.helper_threads = 1};
  assert_int_equal(wn_heap_open(&options, &heap), WN_EINVAL);
  assert_non_null(strstr(wn_last_error(), "WN_HEAP_DEFAULTS"));
  assert_null(heap);
}

static void the_variable_counts_when_the_heap_is_opened(void **state) { /* G55 */
  (void)state;
  struct journal of;
  setenv("WINNOW_PARAMS", "o=77", 1);
  journal_open(&of, NULL);
  setenv("WINNOW_PARAMS", "o=78", 1);
  wn_gc_full_major(of.domain);
  assert_int_equal(get_control(of.domain).space_overhead, 77);
  unsetenv("WINNOW_PARAMS");
  journal_close(&of);
}

static void a_wrong_text_opens_no_heap(void **state) { /* G55 */
  (void)state;
  wn_heap *heap = NULL;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.text = "o=80,s=1";
  assert_int_equal(wn_heap_open(&options, &heap), WN_EINVAL);
  assert_non_null(strstr(wn_last_error(), "options.text, byte 8"));
  setenv("WINNOW_PARAMS", "bad", 1);
  assert_int_equal(wn_heap_open(NULL, &heap), WN_EINVAL);
  assert_non_null(strstr(wn_last_error(), "WINNOW_PARAMS, byte 1"));
  unsetenv("WINNOW_PARAMS");
  assert_null(heap);
}

static void impossible_options_open_no_heap(void **state) { /* G55 */
  (void)state;
  wn_heap *heap = NULL;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.parameters.window_size = 51;
  assert_int_equal(wn_heap_open(&options, &heap), WN_EINVAL);
  assert_non_null(strstr(wn_last_error(), "window_size"));
  options.parameters.window_size = 1;
  options.helper_threads = 65;
  assert_int_equal(wn_heap_open(&options, &heap), WN_EINVAL);
  assert_non_null(strstr(wn_last_error(), "helper_threads"));
  assert_null(heap);
}

static void settings_reach_the_heap(void **state) { /* G56 */
  (void)state;
  wn_heap *heap;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.text = "d=5,h=5M,H=0,helpers=2,soft_limit=64M,cgroup=0,verify,every=3,polls=4,fail_at=1G,mark_"
                 "stack=16,delays,a=0,i=33";
  assert_int_equal(wn_heap_open(&options, &heap), WN_OK);
  assert_true(atomic_load(&heap->store.chunks.mapped_bytes) >= 8 * (5 << 20));
  assert_int_equal(atomic_load(&heap->store.chunks.used_bytes), 0);
  assert_false(heap->store.chunks.huge_pages);
  assert_int_equal(heap->domains_most, 5);
  assert_int_equal(heap->collector->helpers.count, 2);
  assert_int_equal(heap->collector->limit.soft_bytes, 64 << 20);
  assert_false(heap->collector->limit.heeds_cgroup);
  assert_true(heap->stress.verify && heap->stress.delays);
  assert_int_equal(heap->stress.every, 3);
  assert_int_equal(heap->stress.polls, 4);
  assert_int_equal(heap->stress.fail_at, 1 << 30);
  assert_int_equal(heap->stress.mark_most, 16);
  assert_int_equal(heap->store.medium.policy, POLICY_NEXT_FIT);
  assert_int_equal(heap->store.chunks.increment, 33);
  assert_int_equal(wn_heap_close(heap), WN_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_text_sets_parameters_by_letter_and_by_name),
      cmocka_unit_test(only_what_a_text_names_is_changed),
      cmocka_unit_test(an_error_names_the_byte_and_what_was_expected),
      cmocka_unit_test(a_text_with_an_error_applies_nothing),
      cmocka_unit_test(every_parameter_takes_its_range_and_no_more),
      cmocka_unit_test(the_variable_is_used_unless_the_options_have_a_text),
      cmocka_unit_test(zero_is_zero_in_the_options_and_in_a_text),
      cmocka_unit_test(options_that_do_not_begin_with_the_defaults_are_told_so),
      cmocka_unit_test(the_variable_counts_when_the_heap_is_opened),
      cmocka_unit_test(a_wrong_text_opens_no_heap),
      cmocka_unit_test(impossible_options_open_no_heap),
      cmocka_unit_test(settings_reach_the_heap),
  };
  unsetenv("WINNOW_PARAMS");
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
