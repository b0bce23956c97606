/* Captures through all kinds of frames, each compared with the compiler's own unwinder. */
#include "support/test.h"

#include "callpaths.h"
#include "callstack/capture.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>

enum { FRAMES = 512 };

static struct callstacks *callstacks;
static unsigned comparisons;

struct trace {
  uintptr_t pc[FRAMES];
  size_t count;
};

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *argument) {
  struct trace *trace = argument;
  int before = 0;
  uintptr_t pc = _Unwind_GetIPInfo(context, &before);
  if (pc && trace->count < FRAMES) trace->pc[trace->count++] = pc + (uintptr_t)before;
  return _URC_NO_REASON;
}

/* Captures, and compares every frame but this function's own, whose two calls are at different
 * places. */
static __attribute__((noinline)) int compare_here(void *unused) {
  (void)unused;
  struct trace expected = {.count = 0};
  const wn_callstack *stack = callstack_keep(callstack_capture(callstacks, FRAMES));
  _Unwind_Backtrace(note, &expected);
  size_t depth = wn_callstack_depth(stack);
  /* Some unwinders count the entry of the process or thread, which has no caller, and some do
   * not. */
  assert_in_range(depth, 2, expected.count);
  assert_true(expected.count - depth <= 1);
  for (size_t i = 1; i < depth; i++) assert_int_equal(wn_callstack_frame(stack, i).pc, expected.pc[i]);
  comparisons++;
  return (int)depth;
}

static int with_many_registers(void *context) { return path_many_registers(3, compare_here, context); }
static int with_alloca(void *context) { return path_alloca(1000, with_many_registers, context); }
static int with_realigned(void *context) { return path_realigned(300, with_alloca, context); }
static int with_qsort(void *context) { return path_qsort(with_realigned, context); }
static int with_catch(void *context) { return path_catch(with_realigned, context); }
static int with_signal(void *context) { return path_signal(with_realigned, context); }

static void every_kind_of_frame_agrees_with_the_compilers_unwinder(void **state) {
  (void)state;
  comparisons = 0;
  path_chain(compare_here, NULL);
  path_recursion(100, compare_here, NULL);
  path_alloca(40, compare_here, NULL);
  path_big_frame(compare_here, NULL);
  path_realigned(5, compare_here, NULL);
  path_many_registers(9, compare_here, NULL);
  path_chain(with_qsort, NULL);
  path_chain(with_catch, NULL);
  assert_int_equal(comparisons, 10);
}

static void threads_end_where_the_library_starts_them(void **state) {
  (void)state;
  uint64_t truncated = callstacks_counts(callstacks).truncated;
  comparisons = 0;
  path_thread(compare_here, NULL);
  path_thread(with_realigned, NULL);
  assert_int_equal(comparisons, 2);
  assert_int_equal(callstacks_counts(callstacks).truncated, truncated);
}

static void signal_handlers_are_seen_through(void **state) {
  (void)state;
  uint64_t truncated = callstacks_counts(callstacks).truncated;
  comparisons = 0;
  for (int i = 0; i < 3; i++) {
    path_signal(compare_here, NULL);
    path_alternate_stack(compare_here, NULL);
    path_fault(compare_here, NULL);
    path_alternate_stack(with_signal, NULL);
  }
  assert_int_equal(comparisons, 12);
  assert_int_equal(callstacks_counts(callstacks).truncated, truncated);
}

static const wn_callstack *captured;
static int capture_ten(void *unused) {
  (void)unused;
  captured = callstack_keep(callstack_capture(callstacks, 10));
  return 0;
}

static void depth_keeps_the_innermost_frames(void **state) { /* B11, M64 */
  (void)state;
  path_recursion(50, capture_ten, NULL);
  assert_int_equal(wn_callstack_depth(captured), 10);
  for (size_t i = 3; i < 10; i++)
    assert_int_equal(wn_callstack_frame(captured, i).pc, wn_callstack_frame(captured, 2).pc);
  assert_null(wn_callstack_frame(captured, 10).module);
  assert_int_equal(wn_callstack_frame(captured, 10).pc, 0);
  const wn_callstack *empty = callstack_keep(callstack_capture(callstacks, 0));
  assert_int_equal(wn_callstack_depth(empty), 0);
}

static int capture_all(void *unused) {
  (void)unused;
  captured = callstack_keep(callstack_capture(callstacks, SIZE_MAX));
  return 0;
}

static size_t wanted;
static int capture_wanted(void *unused) {
  (void)unused;
  captured = callstack_keep(callstack_capture(callstacks, wanted));
  return 0;
}

static void very_deep_stacks_are_cut(void **state) {
  (void)state;
  path_recursion(5000, capture_all, NULL);
  assert_int_equal(wn_callstack_depth(captured), CALLSTACK_DEPTH_MOST);
}

/* A handler on the smallest stack that programs usually give it, above a page that cannot be
 * touched. */
enum { SMALL_STACK_BYTES = 8192, GUARD_BYTES = 4096 };
static void capture_in_handler(int signal) {
  (void)signal;
  captured = callstack_keep(callstack_capture(callstacks, CALLSTACK_DEPTH_MOST));
}

static void a_capture_of_any_depth_fits_on_a_small_signal_stack(void **state) {
  (void)state;
#ifdef __SANITIZE_ADDRESS__
  skip(); /* its frames are many times as large */
#endif
  char *memory =
      mmap(NULL, GUARD_BYTES + SMALL_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(memory != MAP_FAILED);
  assert_int_equal(mprotect(memory, GUARD_BYTES, PROT_NONE), 0);
  stack_t small = {.ss_sp = memory + GUARD_BYTES, .ss_size = SMALL_STACK_BYTES}, old;
  struct sigaction action = {.sa_handler = capture_in_handler, .sa_flags = SA_ONSTACK}, before;
  assert_int_equal(sigaltstack(&small, &old), 0);
  assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
  struct callstacks *all = callstacks;
  callstacks = callstacks_create(&(struct callstacks_options){0}); /* knows nothing yet: the longest way */
  raise(SIGUSR1);
  assert_in_range(wn_callstack_depth(captured), 5, 64);
  callstacks_destroy(callstacks);
  callstacks = all;
  sigaction(SIGUSR1, &before, NULL);
  sigaltstack(&old, NULL);
  munmap(memory, GUARD_BYTES + SMALL_STACK_BYTES);
}

/* Depths around the size of the first array: nothing is lost or repeated where the second one takes
 * over. */
static void stacks_longer_than_the_first_array_are_whole(void **state) {
  (void)state;
  path_recursion(200, capture_all, NULL);
  const wn_callstack *whole = captured;
  assert_true(wn_callstack_depth(whole) > 200);
  for (wanted = 62; wanted < 68; wanted++) {
    path_recursion(200, capture_wanted, NULL);
    assert_int_equal(wn_callstack_depth(captured), wanted);
  }
  size_t depth = wn_callstack_depth(whole);
  uint64_t truncated = callstacks_counts(callstacks).truncated;
  for (int recursion = 200; recursion > 0; recursion -= 3) {
    path_recursion(recursion, capture_all, NULL);
    assert_int_equal(wn_callstack_depth(captured), depth - (size_t)(200 - recursion));
  }
  assert_int_equal(callstacks_counts(callstacks).truncated, truncated);
}

/* Whether the outermost node is the mark of a stack that was cut. */
static bool has_mark(const wn_callstack *stack) { return stack->count && stack->frame[0] == FRAME_CUT; }

static void only_a_stack_that_was_cut_ends_in_a_mark(void **state) {
  (void)state;
  path_recursion(100, capture_all, NULL);
  size_t depth = wn_callstack_depth(captured);
  assert_false(has_mark(captured));
  for (wanted = 1; wanted < depth + 3; wanted++) {
    path_recursion(100, capture_wanted, NULL);
    assert_int_equal(has_mark(captured), wanted < depth);
    assert_int_equal(wn_callstack_depth(captured), wanted < depth ? wanted : depth);
    wn_frame frames[2];
    assert_int_equal(wn_callstack_frames(captured, frames, 1), wn_callstack_depth(captured));
    assert_int_equal(wn_callstack_frame(captured, wanted).pc, 0);
  }
}

static void frames_are_in_this_program_and_its_library(void **state) {
  (void)state;
  char self[4096];
  assert_non_null(realpath("/proc/self/exe", self));
  path_qsort(capture_all, NULL);
  size_t libc = 0, program = 0;
  for (size_t i = 0; i < wn_callstack_depth(captured); i++) {
    wn_frame frame = wn_callstack_frame(captured, i);
    assert_non_null(frame.module);
    program += strcmp(frame.module, self) == 0;
    libc += strstr(frame.module, "/libc.so") != NULL;
  }
  assert_true(program >= 4 && libc >= 2);
}

/* push rbx; mov rbx, ...; call the leaf; no unwind information, no frame pointer. */
static void code_without_unwind_information_does_not_crash(void **state) {
  (void)state;
  static const unsigned char without_frame[] = {0x53, 0x48, 0x83, 0xec, 0x30, 0x48, 0x89, 0xf8, 0x48, 0x89,
                                                0xf7, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x30, 0x5b, 0xc3};
  static const unsigned char with_frame[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8,
                                             0x48, 0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3};
  unsigned char *page =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(page != MAP_FAILED);
  memcpy(page, without_frame, sizeof without_frame);
  memcpy(page + 256, with_frame, sizeof with_frame);
  int (*first)(leaf_function *, void *), (*second)(leaf_function *, void *);
  void *second_code = page + 256;
  memcpy(&first, &page, sizeof first);
  memcpy(&second, &second_code, sizeof second);
  first(capture_all, NULL);
  assert_true(wn_callstack_depth(captured) >= 2);
  second(capture_all, NULL);
  assert_true(wn_callstack_depth(captured) >= 4); /* its frame pointer leads on to this function and beyond */
  munmap(page, 4096);
}

/* push rbp; mov rbp, rdx; mov rax, rdi; mov rdi, rsi; call rax; pop rbp; ret */
static const unsigned char believer[] = {0x55, 0x48, 0x89, 0xd5, 0x48, 0x89, 0xf8,
                                         0x48, 0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3};

/* Frame pointers of every kind of nonsense, below code that believes in them. */
static void nonsense_in_the_frame_pointer_does_not_crash(void **state) {
  (void)state;
  unsigned char *page =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(page != MAP_FAILED);
  memcpy(page, believer, sizeof believer);
  int (*call)(leaf_function *, void *, uintptr_t);
  memcpy(&call, &page, sizeof call);
  uintptr_t on_stack[64];
  for (size_t i = 0; i < 64; i++) on_stack[i] = (uintptr_t)&on_stack[(i * 7) % 64] + (i % 3);
  uint64_t random = 1;
  for (int i = 0; i < 20000; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    uintptr_t kinds[] = {0,
                         8,
                         (uintptr_t)on_stack + (random >> 55) * 8,
                         random,
                         random >> 17,
                         (uintptr_t)page,
                         (uintptr_t)on_stack + (random >> 40),
                         UINTPTR_MAX - 7};
    call(capture_all, NULL, kinds[i % 8]);
    assert_true(wn_callstack_depth(captured) >= 1);
  }
  munmap(page, 4096);
}

/* A stack whose upper part, once walked, was given back; a frame pointer of code without unwind
 * information still points there. */
enum { COROUTINE_BYTES = 1 << 20, COROUTINE_KEPT = 3 << 18 };
static ucontext_t coroutine_caller, coroutine_context;
static char *coroutine_stack;
static int (*coroutine_call)(leaf_function *, void *, uintptr_t);

static void coroutine_deep(void) { path_alloca(COROUTINE_BYTES / 2, capture_all, NULL); }
static void coroutine_guess(void) {
  coroutine_call(capture_all, NULL, (uintptr_t)coroutine_stack + COROUTINE_KEPT + 4096);
}
static void run_on_coroutine(void (*function)(void), size_t bytes) {
  getcontext(&coroutine_context);
  coroutine_context.uc_stack.ss_sp = coroutine_stack;
  coroutine_context.uc_stack.ss_size = bytes;
  coroutine_context.uc_link = &coroutine_caller;
  makecontext(&coroutine_context, function, 0);
  swapcontext(&coroutine_caller, &coroutine_context);
}

static void guessing_reads_no_memory_that_is_gone(void **state) {
  (void)state;
  unsigned char *page =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  coroutine_stack = mmap(NULL, COROUTINE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(page != MAP_FAILED && coroutine_stack != MAP_FAILED);
  memcpy(page, believer, sizeof believer);
  memcpy(&coroutine_call, &page, sizeof page);
  run_on_coroutine(coroutine_deep, COROUTINE_BYTES);
  assert_int_equal(mprotect(coroutine_stack + COROUTINE_KEPT, COROUTINE_BYTES - COROUTINE_KEPT, PROT_NONE),
                   0);
  run_on_coroutine(coroutine_guess, COROUTINE_KEPT);
  assert_in_range(wn_callstack_depth(captured), 1, 3);
  munmap(coroutine_stack, COROUTINE_BYTES);
  munmap(page, 4096);
}

static void capturing_keeps_errno(void **state) {
  (void)state;
  struct callstacks *fresh = callstacks_create(&(struct callstacks_options){0});
  errno = 4711;
  callstack_keep(callstack_capture(fresh, 20));
  assert_int_equal(errno, 4711);
  callstacks_destroy(fresh);
}

static void a_range_of_innermost_frames_can_be_left_out(void **state) {
  (void)state;
  path_chain(capture_all, NULL);
  uintptr_t own = wn_callstack_frame(captured, 0).pc, caller = wn_callstack_frame(captured, 1).pc;
  struct callstacks *all = callstacks;
  callstacks = callstacks_create(&(struct callstacks_options){.skip_begin = own - 1, .skip_end = own + 1});
  path_chain(capture_all, NULL);
  assert_int_equal(wn_callstack_frame(captured, 0).pc, caller);
  callstacks_destroy(callstacks);
  callstacks = all;
}

/* The same functions of the C library are wrapped, so that any call would be counted. */
static unsigned long allocations;
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes) {
  allocations++;
  return __real_malloc(bytes);
}
static void nothing_is_allocated_by_malloc(void **state) {
  (void)state;
  struct callstacks *all = callstacks;
  unsigned long before = allocations;
  callstacks = callstacks_create(&(struct callstacks_options){0});
  path_recursion(40, capture_all, NULL);
  path_realigned(40, capture_all, NULL);
  assert_int_equal(allocations, before);
  void *volatile block = malloc(1);
  free(block);
  assert_true(allocations > before); /* the counter works */
  callstacks_destroy(callstacks);
  callstacks = all;
}

int main(void) {
  callstacks = callstacks_create(&(struct callstacks_options){0});
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_of_frame_agrees_with_the_compilers_unwinder),
      cmocka_unit_test(threads_end_where_the_library_starts_them),
      cmocka_unit_test(signal_handlers_are_seen_through),
      cmocka_unit_test(depth_keeps_the_innermost_frames),
      cmocka_unit_test(only_a_stack_that_was_cut_ends_in_a_mark),
      cmocka_unit_test(very_deep_stacks_are_cut),
      cmocka_unit_test(a_capture_of_any_depth_fits_on_a_small_signal_stack),
      cmocka_unit_test(stacks_longer_than_the_first_array_are_whole),
      cmocka_unit_test(guessing_reads_no_memory_that_is_gone),
      cmocka_unit_test(frames_are_in_this_program_and_its_library),
      cmocka_unit_test(code_without_unwind_information_does_not_crash),
      cmocka_unit_test(nonsense_in_the_frame_pointer_does_not_crash),
      cmocka_unit_test(capturing_keeps_errno),
      cmocka_unit_test(a_range_of_innermost_frames_can_be_left_out),
      cmocka_unit_test(nothing_is_allocated_by_malloc),
  };
  int failed = RUN_TESTS(tests);
  callstacks_destroy(callstacks);
  return failed;
}
/* SPDX-License-Identifier: MIT */
