/* What verbose tells on standard error. */
#include "gc/journal.h"

#include "gc/api/params.h"
#include "gc/api/verbose.h"
#include "gc/store/chunk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Standard error goes to a file meanwhile. */
struct capture {
  FILE *file;
  int saved;
};

static struct capture capture_begin(void) {
  struct capture capture = {tmpfile(), dup(2)};
  assert_non_null(capture.file);
  fflush(stderr);
  assert_true(dup2(fileno(capture.file), 2) == 2);
  return capture;
}

/* What was told, to be freed. */
static char *capture_end(struct capture *capture) {
  dup2(capture->saved, 2);
  close(capture->saved);
  long length = lseek(fileno(capture->file), 0, SEEK_END);
  char *text = calloc(1, (size_t)length + 1);
  assert_non_null(text);
  assert_int_equal(pread(fileno(capture->file), text, (size_t)length, 0), length);
  fclose(capture->file);
  return text;
}

static void last_rites(wn_domain *domain, void *context) {
  (void)domain;
  (void)context;
}

/* Something of everything. */
static void live_a_little(const wn_heap_options *options) {
  struct journal of;
  journal_open(&of, options);
  {
    WN_SCOPE(of.domain);
    wn_ref old = wn_alloc(of.domain, 300, 1);
    for (int i = 0; i < 10000; i++) wn_root(of.domain, wn_int(i));
    wn_gc_finalise_last(of.domain, last_rites, NULL, wn_alloc(of.domain, 3, 1));
    for (int i = 0; i < 3000; i++) {
      WN_SCOPE(of.domain);
      wn_set(of.domain, old, (size_t)i % 300, wn_alloc(of.domain, 20, 1));
    }
    for (int i = 0; i < 20; i++) {
      WN_SCOPE(of.domain);
      wn_alloc(of.domain, CHUNK_WORDS, 1);
    }
    wn_gc_control control;
    wn_gc_get(of.domain, &control);
    control.space_overhead = 77;
    assert_int_equal(wn_gc_set(of.domain, &control), WN_OK);
    for (int i = 0; i < 100; i++) wn_gc_major_slice(of.domain, 0);
  }
  wn_poll(of.domain);
  wn_gc_compact(of.domain);
  wn_poll(of.domain);
  journal_close(&of);
}

static char *told_with(long verbose) {
  char text[80];
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.helper_threads = 0;
  options.parameters.minor_heap_size = 1000;
  options.soft_limit_bytes = 987654321;
  snprintf(text, sizeof text, "cgroup=0,v=%ld", verbose);
  options.text = text;
  struct capture capture = capture_begin();
  live_a_little(&options);
  return capture_end(&capture);
}

/* The bits, and what begins a line of each. */
static const struct {
  long bit;
  const char *lines[4];
} bits[] = {
    {VERBOSE_CYCLE, {"cycle "}},
    {VERBOSE_COLLECTION, {"minor collection ", "marking ends", "slice: ", "cycle "}},
    {VERBOSE_HEAP_SIZE, {"heap grows by ", "heap shrinks by ", "limit of the heap is 987654321 bytes"}},
    {VERBOSE_TABLES, {"a remembered set grows", "a mark stack grows", "handle slots grows"}},
    {VERBOSE_COMPACTION, {"compaction: "}},
    {VERBOSE_PARAMETER, {"space_overhead changes from 120 to 77"}},
    {VERBOSE_SLICE_SIZE, {"slice of "}},
    {VERBOSE_FINALISERS, {"1 finalisers are due"}},
    {VERBOSE_START, {"heap opens: s=1000,i=15,o=120"}},
    {VERBOSE_COMPACTION_COST, {"free memory is "}},
    {VERBOSE_EXIT, {"heap closes: "}},
};
enum { BITS = sizeof bits / sizeof *bits, LINES = 4 };

static void each_bit_tells_its_lines_and_no_others(void **state) { /* G58 */
  (void)state;
  for (unsigned bit = 0; bit < BITS; bit++) {
    char *told = told_with(bits[bit].bit), *rest = NULL;
    bool seen[LINES] = {false};
    for (char *line = strtok_r(told, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
      bool known = false;
      if (strncmp(line, "winnow: ", 8)) fail_msg("0x%lx: '%s'", bits[bit].bit, line);
      for (unsigned i = 0; i < LINES; i++) {
        const char *begin = bits[bit].lines[i];
        if (!begin || strncmp(line + 8, begin, strlen(begin))) continue;
        known = seen[i] = true;
      }
      if (!known) fail_msg("0x%lx: '%s'", bits[bit].bit, line);
    }
    for (unsigned i = 0; i < LINES; i++)
      if (bits[bit].lines[i] && !seen[i]) fail_msg("0x%lx: no '%s'", bits[bit].bit, bits[bit].lines[i]);
    free(told);
  }
}

static void nothing_is_told_unless_asked_for(void **state) { /* G58 */
  (void)state;
  char *told = told_with(0);
  assert_string_equal(told, "");
  free(told);
}

static void verbose_can_be_switched_on_and_off(void **state) { /* G58 */
  (void)state;
  struct journal of;
  wn_gc_control control;
  journal_open(&of, NULL);
  wn_gc_get(of.domain, &control);
  for (long on = 1; on >= 0; on--) {
    struct capture capture = capture_begin();
    control.verbose = on ? VERBOSE_COLLECTION : 0;
    wn_status status = wn_gc_set(of.domain, &control);
    wn_gc_minor(of.domain);
    char *told = capture_end(&capture);
    assert_int_equal(status, WN_OK);
    assert_true((strstr(told, "minor collection ") != NULL) == on);
    free(told);
  }
  journal_close(&of);
}

static void each_change_of_a_parameter_is_told_and_nothing_else_is(void **state) { /* G60 */
  (void)state;
  struct journal of;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.parameters.verbose = VERBOSE_PARAMETER;
  options.parameters.minor_heap_size = 3000;
  journal_open(&of, &options);
  wn_gc_control control = get_control(of.domain);
  control.minor_heap_size = 4000;
  control.custom_major_ratio = 50;
  control.custom_minor_ratio = 60;
  struct capture capture = capture_begin();
  set_control(of.domain, &control);
  set_control(of.domain, &control);
  wn_status refused = wn_gc_set_domain_minor_heap(of.domain, 1);
  wn_status set = wn_gc_set_domain_minor_heap(of.domain, 5000);
  char *told = capture_end(&capture);
  assert_int_equal(refused, WN_EINVAL);
  assert_int_equal(set, WN_OK);
  assert_string_equal(told, "winnow: minor_heap_size changes from 3000 to 4000\n"
                            "winnow: custom_major_ratio changes from 44 to 50\n"
                            "winnow: custom_minor_ratio changes from 100 to 60\n"
                            "winnow: minor heap of this domain changes from 4000 to 5000\n");
  free(told);
  journal_close(&of);
}

static void what_is_told_at_the_start_can_be_given_back_as_parameters(void **state) { /* G57 */
  (void)state;
  wn_heap *heaps[2];
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.text = "s=4000,i=33,o=77,v=0x100,O=0,l=5000,a=1,w=7,M=55,m=66,n=777,h=99999,H=0,helpers=3,"
                 "soft_limit=64M,cgroup=0,V,every=17,polls=5,delays,fail_at=1G,mark_stack=1k";
  struct capture capture = capture_begin();
  wn_status first = wn_heap_open(&options, &heaps[0]);
  char *told = capture_end(&capture);
  assert_int_equal(first, WN_OK);
  static const char begin[] = "winnow: heap opens: ";
  assert_memory_equal(told, begin, sizeof begin - 1);
  for (const struct parameter *row = parameters; row < parameters + PARAMETERS; row++) {
    char name[40] = {row->letter, 0};
    assert_non_null(strstr(told, strcat(row->letter ? name : strcpy(name, row->name), "=")));
  }
  told[strcspn(told, "\n")] = 0;
  options.text = told + sizeof begin - 1;
  capture = capture_begin();
  wn_status second = wn_heap_open(&options, &heaps[1]);
  char *again = capture_end(&capture);
  again[strcspn(again, "\n")] = 0;
  assert_int_equal(second, WN_OK);
  assert_string_equal(again, told);
  for (int i = 0; i < 2; i++) assert_int_equal(wn_heap_close(heaps[i]), WN_OK);
  free(told);
  free(again);
}

static void the_statistics_at_the_end_are_exact(void **state) { /* G59 */
  (void)state;
  struct journal of;
  char expected[1000];
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.parameters.verbose = VERBOSE_EXIT;
  options.helper_threads = 0;
  struct capture capture = capture_begin();
  journal_open(&of, &options);
  {
    WN_SCOPE(of.domain);
    for (int i = 0; i < 10; i++) wn_alloc(of.domain, 9, 1);
    wn_alloc(of.domain, 999, 1);
  }
  assert_int_equal(wn_gc_full_major(of.domain), WN_OK);
  wn_gc_stat stat = quick_stat(of.domain);
  journal_close(&of);
  char *told = capture_end(&capture);
  snprintf(expected, sizeof expected,
           "winnow: heap closes: allocated_words 1100\nwinnow: heap closes: minor_words 100\n"
           "winnow: heap closes: promoted_words %.0f\nwinnow: heap closes: major_words %.0f\n"
           "winnow: heap closes: minor_collections %ld\nwinnow: heap closes: major_collections %ld\n"
           "winnow: heap closes: compactions 0\nwinnow: heap closes: forced_major_collections 1\n"
           "winnow: heap closes: heap_words %ld\n"
           "winnow: heap closes: top_heap_words %ld\n",
           stat.promoted_words, stat.major_words, stat.minor_collections, stat.major_collections,
           stat.heap_words, stat.top_heap_words);
  assert_string_equal(told, expected);
  free(told);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      one_thread_test(each_bit_tells_its_lines_and_no_others),
      cmocka_unit_test(nothing_is_told_unless_asked_for),
      cmocka_unit_test(verbose_can_be_switched_on_and_off),
      cmocka_unit_test(each_change_of_a_parameter_is_told_and_nothing_else_is),
      cmocka_unit_test(what_is_told_at_the_start_can_be_given_back_as_parameters),
      cmocka_unit_test(the_statistics_at_the_end_are_exact),
  };
  unsetenv("WINNOW_PARAMS");
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
