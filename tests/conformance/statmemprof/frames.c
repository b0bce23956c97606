/* Frames of a language on callstacks.
 *
 * The language here is a function of C that "runs" levels of calls and then calls C back. What its
 * stack should look like is known from native frames alone, which the same calls give on another
 * heap, and from where the levels are run. */
#include "tracker.h"

#include "base/check.h"
#include "base/random.h"
#include "callstack/capture.h"
#include "trace/reader.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <winnow/marshal.h>
#include <winnow/trace.h>

enum { LEVELS_MOST = 4096, SEEN_MOST = 4096 };

/* ---- the language ---- */

static _Thread_local struct {
  wn_language_frame level[LEVELS_MOST]; /* outermost first */
  size_t count;
  size_t lie; /* how many more there are said to be than were written */
  bool without_native;
} calls;
static _Thread_local wn_place next_place;

static size_t tell(wn_domain *domain, wn_language_frame *frames, size_t most, void *context) {
  size_t count = 0;
  (void)domain, (void)context;
  for (; count < most && count < calls.count; count++) {
    frames[count] = calls.level[calls.count - 1 - count];
    if (calls.without_native) frames[count].native = NULL;
  }
  return count + calls.lie;
}

typedef void body_function(wn_domain *domain);
static const void *in_interpreter; /* where the interpreter's call of C returns to */

static __attribute__((noinline)) void interpret(wn_domain *domain, size_t levels,
                                                body_function *volatile body) {
  for (size_t i = 0; i < levels; i++)
    calls.level[calls.count++] = (wn_language_frame){next_place++, __builtin_frame_address(0)};
  body(domain);
  calls.count -= levels;
}

static __attribute__((noinline)) void allocate_one(wn_domain *domain) {
  WN_SCOPE(domain);
  in_interpreter = __builtin_return_address(0);
  assert_false(wn_is_null(wn_alloc(domain, 3, 0)));
}

static __attribute__((noinline)) void call_back(wn_domain *domain) {
  interpret(domain, 2, allocate_one);
  __asm__ volatile("" ::: "memory"); /* no tail call */
}

/* ---- heaps ---- */

static void open_heap(struct tracked *all, wn_frames frames) {
  wn_heap_options options = without_helpers();
  options.parameters.minor_heap_size = 1 << 19;
  options.hooks.callstack = tell;
  options.frames = frames;
  options.language = "toy";
  tracked_open_with(all, &options);
}

static void start(struct tracked *all, size_t depth) {
  wn_memprof_options options = {.sampling_rate = 1, .callstack_size = depth};
  assert_int_equal(wn_memprof_start(all->of.domain, &options, &all->tracker, &all->profile), WN_OK);
}

/* Texts in it are gone once the heap is. */
struct seen {
  wn_frame frame[SEEN_MOST];
  size_t depth;
};

static struct seen seen_of(const wn_callstack *callstack) {
  static struct seen seen;
  seen.depth = wn_callstack_depth(callstack);
  assert_true(seen.depth <= SEEN_MOST);
  for (size_t i = 0; i < seen.depth; i++) seen.frame[i] = wn_callstack_frame(callstack, i);
  return seen;
}

/* Three levels, which call C, which calls two more, which allocate. Of the stack what is the same
 * each time: not the caller. */
static __attribute__((noinline)) struct seen run_nested(wn_frames frames, size_t depth) {
  struct tracked all;
  open_heap(&all, frames);
  start(&all, depth);
  for (unsigned i = 1; i <= 5; i++) {
    char name[16];
    snprintf(name, sizeof name, "level %u", i);
    assert_int_equal(wn_place_of(all.of.heap, name, "toy.file", 10 * i), i);
  }
  next_place = 1;
  interpret(all.of.domain, 3, call_back);
  wn_poll(all.of.domain);
  struct seen seen = seen_of(last_born.callstack);
  for (size_t i = 0; i < seen.depth; i++)
    if (seen.frame[i].pc == (uintptr_t)__builtin_return_address(0)) seen.depth = i;
  tracked_close(&all);
  return seen;
}

static bool is_language(const wn_frame *frame) { return frame->function != NULL; }

static void check_level(const wn_frame *frame, unsigned level) {
  assert_int_equal(frame->offset, level);
  assert_int_equal(frame->line, 10 * level);
}

/* ---- kinds ---- */

static void a_language_alone_gives_its_frames_innermost_first(void **state) { /* M66 */
  static struct seen seen;
  (void)state;
  seen = run_nested(WN_FRAMES_LANGUAGE, SIZE_MAX);
  assert_int_equal(seen.depth, 5);
  for (unsigned i = 0; i < 5; i++) check_level(&seen.frame[i], 5 - i);
}

static void native_frames_alone_have_no_names(void **state) { /* M66 */
  static struct seen seen;
  (void)state;
  seen = run_nested(WN_FRAMES_NATIVE, SIZE_MAX);
  assert_int_equal(seen.depth, 5); /* allocate_one, interpret, call_back, interpret, run_nested */
  for (size_t i = 0; i < seen.depth; i++) assert_false(is_language(&seen.frame[i]));
  assert_ptr_equal(seen.frame[1].pc, in_interpreter);
}

static void language_frames_stand_inside_the_native_frame_that_runs_them(void **state) { /* M66b */
  static struct seen native, both;
  (void)state;
  native = run_nested(WN_FRAMES_NATIVE, SIZE_MAX);
  both = run_nested(WN_FRAMES_BOTH, SIZE_MAX);
  assert_int_equal(both.depth, native.depth + 5);
  size_t at = 0;
  unsigned level = 5;
  for (size_t i = 0; i < native.depth; i++) {
    if (native.frame[i].pc == (uintptr_t)in_interpreter)
      for (unsigned end = level == 5 ? 3 : 0; level > end; level--) check_level(&both.frame[at++], level);
    assert_int_equal(both.frame[at++].pc, native.frame[i].pc);
  }
  assert_int_equal(level, 0);
}

static void without_native_addresses_language_frames_are_innermost(void **state) { /* M66b */
  static struct seen native, both;
  (void)state;
  native = run_nested(WN_FRAMES_NATIVE, SIZE_MAX);
  calls.without_native = true;
  both = run_nested(WN_FRAMES_BOTH, SIZE_MAX);
  calls.without_native = false;
  assert_int_equal(both.depth, native.depth + 5);
  for (unsigned i = 0; i < 5; i++) check_level(&both.frame[i], 5 - i);
  for (size_t i = 0; i < native.depth; i++) assert_int_equal(both.frame[i + 5].pc, native.frame[i].pc);
}

static void a_frame_of_a_language_has_function_file_and_line(void **state) { /* M66 */
  struct tracked all;
  (void)state;
  open_heap(&all, WN_FRAMES_LANGUAGE);
  start(&all, 1);
  next_place = wn_place_of(all.of.heap, "f", "a file", 7);
  interpret(all.of.domain, 1, allocate_one);
  wn_poll(all.of.domain);
  wn_frame frame = wn_callstack_frame(last_born.callstack, 0);
  assert_string_equal(frame.function, "f");
  assert_string_equal(frame.file, "a file");
  assert_int_equal(frame.line, 7);
  assert_string_equal(frame.module, "[toy]");
  tracked_close(&all);
}

/* ---- depth ---- */

static void of_both_kinds_the_innermost_frames_are_kept(void **state) { /* M66b */
  static struct seen all, some;
  (void)state;
  all = run_nested(WN_FRAMES_BOTH, SIZE_MAX);
  for (size_t depth = 0; depth <= all.depth + 1; depth++) {
    some = run_nested(WN_FRAMES_BOTH, depth);
    assert_int_equal(some.depth, depth < all.depth ? depth : all.depth);
    for (size_t i = 0; i < some.depth; i++) {
      assert_int_equal(some.frame[i].pc, all.frame[i].pc);
      assert_int_equal(is_language(&some.frame[i]), is_language(&all.frame[i]));
    }
  }
}

static void more_frames_than_fit_are_cut_at_the_outer_end(void **state) { /* M66b */
  static struct seen seen;
  struct tracked all;
  (void)state;
  for (int frames = WN_FRAMES_BOTH; frames <= WN_FRAMES_LANGUAGE; frames++) {
    open_heap(&all, (wn_frames)frames);
    start(&all, SIZE_MAX);
    for (unsigned i = 1; i <= LEVELS_MOST - 1; i++) wn_place_of(all.of.heap, "f", "", i);
    next_place = 1;
    interpret(all.of.domain, LEVELS_MOST - 1, allocate_one);
    wn_poll(all.of.domain);
    seen = seen_of(last_born.callstack);
    size_t first = frames == WN_FRAMES_BOTH ? 1 : 0; /* allocate_one */
    if (frames != WN_FRAMES_NATIVE) {
      assert_int_equal(seen.depth, CALLSTACK_DEPTH_MOST);
      for (size_t i = first; i < seen.depth; i++)
        assert_int_equal(seen.frame[i].line, LEVELS_MOST - 1 - (i - first));
    }
    tracked_close(&all);
  }
}

/* ---- hooks that lie ---- */

static void a_hook_that_tells_of_more_than_it_wrote_does_no_harm(void **state) { /* M66c */
  static struct seen honest, lied;
  (void)state;
  for (size_t depth = 1; depth < 8; depth++) {
    honest = run_nested(WN_FRAMES_BOTH, depth);
    calls.lie = depth < 5 ? 1 : 0; /* all that were asked for were written, so one too many is said */
    lied = run_nested(WN_FRAMES_BOTH, depth);
    if (depth < 5) calls.lie = SIZE_MAX / 2;
    lied = run_nested(WN_FRAMES_BOTH, depth);
    calls.lie = 0;
    assert_int_equal(lied.depth, honest.depth);
    for (size_t i = 0; i < lied.depth; i++) assert_int_equal(lied.frame[i].pc, honest.frame[i].pc);
  }
}

static __attribute__((noinline)) void allocate_with(struct tracked *all, const wn_language_frame *frames,
                                                    size_t count) {
  memcpy(calls.level, frames, count * sizeof *frames);
  calls.count = count;
  allocate_one(all->of.domain);
  calls.count = 0;
  wn_poll(all->of.domain);
}

static size_t language_frames(const struct seen *seen) {
  size_t count = 0;
  for (size_t i = 0; i < seen->depth; i++) count += is_language(&seen->frame[i]);
  return count;
}

static void places_that_there_are_not_are_left_out(void **state) { /* M66c */
  static struct seen seen;
  static const wn_place wrong[] = {0, 3, 1 << 24, (1 << 24) - 1, UINT32_MAX, UINT32_MAX - 1};
  struct tracked all;
  (void)state;
  for (int frames = WN_FRAMES_BOTH; frames <= WN_FRAMES_LANGUAGE; frames++) {
    open_heap(&all, (wn_frames)frames);
    start(&all, SIZE_MAX);
    wn_place first = wn_place_of(all.of.heap, "first", NULL, 0),
             second = wn_place_of(all.of.heap, "second", NULL, 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      allocate_with(&all, (wn_language_frame[]){{first, &all}, {wrong[i], &all}, {second, &all}}, 3);
      seen = seen_of(last_born.callstack);
      assert_int_equal(language_frames(&seen), frames == WN_FRAMES_NATIVE ? 0 : 2);
    }
    tracked_close(&all);
  }
}

static void addresses_that_are_none_of_the_stack_lose_no_frame(void **state) { /* M66c */
  static struct seen seen;
  struct random random;
  struct tracked all;
  (void)state;
  random_seed(&random, 1, 2, 3);
  open_heap(&all, WN_FRAMES_BOTH);
  start(&all, SIZE_MAX);
  for (unsigned i = 1; i <= 8; i++) wn_place_of(all.of.heap, "f", "", i);
  for (int round = 0; round < (TINY ? 200 : 2000); round++) {
    wn_language_frame frames[8];
    for (unsigned i = 0; i < 8; i++) {
      uintptr_t any = (uintptr_t)random_bits(&random);
      if (any % 4 == 0) any = (uintptr_t)&all + any % 8192 - 4096;
      if (any % 4 == 1) any = 0;
      frames[i] = (wn_language_frame){i + 1, (const void *)any}; // NOLINT
    }
    allocate_with(&all, frames, 8);
    seen = seen_of(last_born.callstack);
    assert_int_equal(language_frames(&seen), 8);
    unsigned line = 9;
    for (size_t i = 0; i < seen.depth; i++)
      if (is_language(&seen.frame[i])) assert_int_equal(seen.frame[i].line, --line);
  }
  tracked_close(&all);
}

/* ---- places ---- */

static void equal_places_are_one_and_others_are_others(void **state) { /* M66d */
  struct tracked all;
  (void)state;
  open_heap(&all, WN_FRAMES_BOTH);
  start(&all, 1);
  wn_heap *heap = all.of.heap;
  wn_place place = wn_place_of(heap, "f", "file", 1);
  char function[] = "f", file[] = "file";
  assert_int_not_equal(place, 0);
  assert_int_equal(wn_place_of(heap, function, file, 1), place);
  assert_int_not_equal(wn_place_of(heap, "f", "file", 2), place);
  assert_int_not_equal(wn_place_of(heap, "g", "file", 1), place);
  assert_int_not_equal(wn_place_of(heap, "f", "other", 1), place);
  assert_int_not_equal(wn_place_of(heap, "f", NULL, 1), place);
  assert_int_equal(wn_place_of(heap, "f", NULL, 1), wn_place_of(heap, "f", "", 1));
  assert_int_equal(wn_place_of(NULL, "f", NULL, 1), 0);
  tracked_close(&all);
}

/* ---- our own functions ---- */

static const void *in_test; /* where the function that allocates returns to */
#define ALLOCATE(name, statements)                           \
  static __attribute__((noinline)) void name(wn_domain *d) { \
    WN_SCOPE(d);                                             \
    wn_ref list = wn_root(d, wn_int(0));                     \
    (void)list;                                              \
    in_test = __builtin_return_address(0);                   \
    statements __asm__ volatile("" ::: "memory");            \
  }
static const wn_custom_ops no_ops = {.name = "nothing"};
static const wn_shape shapes[] = {{2, 0}};
ALLOCATE(by_alloc, wn_alloc(d, 3, 0);)
ALLOCATE(by_large_alloc, wn_alloc(d, 100000, 0);)
ALLOCATE(by_alloc_bytes, wn_alloc_bytes(d, 10);)
ALLOCATE(by_large_alloc_bytes, wn_alloc_bytes(d, 1000000);)
ALLOCATE(by_group, wn_alloc_group(d, 1, shapes, &list);)
ALLOCATE(by_custom, wn_alloc_custom(d, &no_ops, 8, 0);)
ALLOCATE(by_custom_outside, wn_alloc_custom(d, &no_ops, 8, 100);)
ALLOCATE(by_large_custom, wn_alloc_custom(d, &no_ops, 100000, 1000000);)
ALLOCATE(by_adjust, wn_custom_adjust(d, wn_alloc_custom(d, &no_ops, 8, 0), 100);)
ALLOCATE(by_bump, wn_bump(d, 2, WN_TAG_RAW);)
ALLOCATE(by_bump_checked, wn_bump_checked(d, 2, WN_TAG_RAW);)
ALLOCATE(by_pair, wn_pair(d, 0, list, list);)
ALLOCATE(by_assign_pair, wn_assign_pair(d, list, 0, list, list);)
ALLOCATE(by_push_int, wn_push_int(d, list, 0, 1);)
ALLOCATE(by_string, wn_string_new(d, "text", 4);)
ALLOCATE(by_boxed, wn_boxed_new(d, WN_BOXED_INT64, 1);)
ALLOCATE(by_bigarray, wn_bigarray_new(d, WN_BIGARRAY_CHAR, false, 1, (const size_t[]){9});)
/* A block of two integers, and one of 257. */
static const unsigned char young[] = {0x84, 0x95, 0xa6, 0xbe, 0, 0, 0, 3, 0,    0,  0, 1,
                                      0,    0,    0,    3,    0, 0, 0, 3, 0xa0, 64, 64};
static const unsigned char old[25 + 257] = {0x84, 0x95, 0xa6, 0xbe, 0, 0, 1, 6, 0, 0, 0, 1,
                                            0,    0,    1,    2,    0, 0, 1, 2, 8, 0, 4, 4};
static size_t read_old(void *bytes, size_t size, void *context) {
  size_t *at = context;
  if (size > sizeof old - *at) size = sizeof old - *at;
  memcpy(bytes, old + *at, size);
  *at += size;
  return size;
}
ALLOCATE(by_read, wn_marshal_read(d, young, sizeof young, 0, &list, NULL);)
ALLOCATE(by_large_read, wn_marshal_read(d, old, sizeof old, 0, &list, NULL);)
ALLOCATE(by_read_from, wn_marshal_read_from(d, read_old, &(size_t){0}, 0, &list);)

static void a_callstack_begins_with_the_caller_of_the_heap(void **state) { /* M66e */
  static body_function *const all_ways[] = {
      by_alloc,       by_large_alloc, by_alloc_bytes,    by_large_alloc_bytes,
      by_group,       by_custom,      by_custom_outside, by_large_custom,
      by_adjust,      by_bump,        by_bump_checked,   by_pair,
      by_assign_pair, by_push_int,    by_string,         by_boxed,
      by_bigarray,    by_read,        by_large_read,     by_read_from};
  struct tracked all;
  (void)state;
  open_heap(&all, WN_FRAMES_BOTH);
  start(&all, SIZE_MAX);
  for (size_t i = 0; i < sizeof all_ways / sizeof *all_ways; i++) {
    body_function *volatile way = all_ways[i];
    last_born = (wn_allocation){0};
    way(all.of.domain);
    wn_poll(all.of.domain);
    assert_non_null(last_born.callstack);
    if (wn_callstack_frame(last_born.callstack, 1).pc != (uintptr_t)in_test) fail_msg("way %zu", i);
  }
  tracked_close(&all);
}

/* ---- traces ---- */

static void check_names(struct trace_reader *reader, uint32_t stack) {
  unsigned level = 5;
  for (struct trace_node node; stack; stack = node.parent) {
    node = trace_reader_node(reader, stack);
    const struct trace_module *module = trace_reader_module(reader, node.module);
    const struct trace_place *place = trace_reader_place(reader, node.module, node.offset);
    assert_int_equal(place != NULL, trace_is_language(module));
    if (!place) continue;
    assert_string_equal(module->path.bytes, "[toy]");
    assert_int_equal(place->line, 10 * level);
    assert_string_equal(place->file.bytes, "toy.file");
    assert_int_equal(place->function.bytes[0], (int)('a' + level--));
  }
  assert_int_equal(level, 0);
}

static void a_trace_names_the_frames_of_a_language(void **state) { /* R1b */
  char path[] = "/tmp/winnow-test-XXXXXX";
  wn_memprof_options each = {.sampling_rate = 1, .callstack_size = SIZE_MAX};
  struct tracked all;
  wn_trace *trace;
  (void)state;
  int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  close(descriptor);
  open_heap(&all, WN_FRAMES_BOTH);
  for (unsigned i = 1; i <= 5; i++)
    assert_int_equal(wn_place_of(all.of.heap, (char[]){(char)('a' + i), 0}, "toy.file", 10 * i), i);
  assert_int_equal(wn_trace_start(all.of.domain, path, &each, &trace), WN_OK);
  next_place = 1;
  interpret(all.of.domain, 3, call_back);
  assert_int_equal(wn_trace_stop(all.of.domain, trace), WN_OK);
  struct trace_reader *reader;
  struct trace_event event;
  long samples = 0;
  assert_int_equal(trace_reader_open(path, &reader), WN_OK);
  while (trace_reader_next(reader, &event)) {
    if (event.kind != TRACE_SAMPLE) continue;
    samples++;
    check_names(reader, event.sample.stack);
  }
  assert_int_equal(samples, 1);
  trace_reader_close(reader);
  journal_close(&all.of);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_language_alone_gives_its_frames_innermost_first),
      cmocka_unit_test(native_frames_alone_have_no_names),
      cmocka_unit_test(language_frames_stand_inside_the_native_frame_that_runs_them),
      cmocka_unit_test(without_native_addresses_language_frames_are_innermost),
      cmocka_unit_test(a_frame_of_a_language_has_function_file_and_line),
      cmocka_unit_test(of_both_kinds_the_innermost_frames_are_kept),
      cmocka_unit_test(more_frames_than_fit_are_cut_at_the_outer_end),
      cmocka_unit_test(a_hook_that_tells_of_more_than_it_wrote_does_no_harm),
      cmocka_unit_test(places_that_there_are_not_are_left_out),
      cmocka_unit_test(addresses_that_are_none_of_the_stack_lose_no_frame),
      cmocka_unit_test(equal_places_are_one_and_others_are_others),
      cmocka_unit_test(a_callstack_begins_with_the_caller_of_the_heap),
      cmocka_unit_test(a_trace_names_the_frames_of_a_language),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
