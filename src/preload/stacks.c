/* pthread_create, as the program sees it, and the first thread's stack. */
#include "preload/stacks.h"

#include "base/lock.h"
#include "base/metadata.h"
#include "base/os.h"
#include "preload/interpreters.h"
#include "preload/malloc_host.h"
#include "preload/mappings.h"
#include "preload/pagemap.h"
#include "preload/process.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <threads.h>

#define EXPORT __attribute__((visibility("default")))

/* The first thread's stack is noted once it is at least so large. In bytes. */
#define FIRST_LEAST ((uintptr_t)1 << 20)
/* Its largest size, where the process has no limit for it. */
#define FIRST_MOST ((uintptr_t)1 << 30)

static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*next_c11)(thrd_t *, thrd_start_t, void *); /* does not call pthread_create */

static struct { uintptr_t begin, end; } first; /* constant after stacks_resolve */
enum { FIRST_UNNOTED, FIRST_WITHOUT_CALLERS, FIRST_NOTED };
static _Atomic(int) first_state;

static uintptr_t page_behind(uintptr_t address) {
  uintptr_t size = os_page_bytes();
  return address / size * size + size;
}

static const wn_callstack *stacks_capture(void) {
  return callstack_keep(interpreters_capture(host_callstacks(), process_stack_depth(), 0));
}

/* The size of a new thread's stack. 0 if it is not known, or if the program provides the stack. */
static size_t stack_bytes(const pthread_attr_t *attributes) {
  pthread_attr_t standard;
  void *begin = NULL;
  size_t bytes = 0;
  if (attributes) {
    if (pthread_attr_getstack(attributes, &begin, &bytes) || (uintptr_t)begin + bytes) return 0;
    if (bytes) return bytes;
  }
  if (pthread_getattr_default_np(&standard)) return 0;
  if (pthread_attr_getstacksize(&standard, &bytes)) bytes = 0;
  pthread_attr_destroy(&standard);
  return bytes;
}

struct start { /* HANDED OVER */
  void *(*run)(void *);
  int (*run_c11)(void *); /* or this one */
  void *argument;
  size_t stack_bytes;
  const wn_callstack *stack; /* kept by the one that uses the place */
};

/* Places for `struct start`; not from malloc, since the caller may be a signal handler that
 * interrupted malloc. Each has a bit in `taken`. If all are taken, take_start maps a page. */
enum { STARTS = 64 };
static struct start starts[STARTS];
static _Atomic(uint64_t) taken;

static struct start *take_start(void) {
  uint64_t bits = atomic_load_explicit(&taken, memory_order_relaxed);
  do
    if (!~bits) return metadata_map(sizeof(struct start));
  while (!atomic_compare_exchange_weak_explicit(&taken, &bits, bits | (bits + 1), memory_order_acquire,
                                                memory_order_relaxed));
  return &starts[__builtin_ctzll(~bits)];
}

static void stacks_give_back(struct start *start) {
  if (start >= starts && start < starts + STARTS)
    atomic_fetch_and_explicit(&taken, ~((uint64_t)1 << (start - starts)), memory_order_release);
  else
    metadata_unmap(start, sizeof *start);
}

static void stacks_give_up(struct start *start) {
  callstack_release(start->stack);
  stacks_give_back(start);
}

/* What begin_thread needs. NULL: the new thread calls the program's function without begin_thread,
 * and its stack is not noted, since the program provides the stack, or it is smaller than
 * MAPPING_LEAST, or there is no memory. */
static struct start *start_of(const pthread_attr_t *attributes, void *(*run)(void *), int (*run_c11)(void *),
                              void *argument) {
  struct host_visit visit = host_enter();
  size_t bytes = stack_bytes(attributes) / os_page_bytes() * os_page_bytes();
  struct start *start = bytes >= MAPPING_LEAST ? take_start() : NULL;
  if (start) *start = (struct start){run, run_c11, argument, bytes, stacks_capture()};
  host_leave(visit);
  return start;
}

static void note_own_stack(const struct start *start) {
  uintptr_t end = page_behind((uintptr_t)pthread_self());
  if (start->stack_bytes < end)
    mappings_add(end - start->stack_bytes, start->stack_bytes, RECORDER_MAP_STACK, start->stack);
  else
    callstack_release(start->stack);
}

static struct start note_begin(struct start *handed_over) {
  struct start start = *handed_over;
  bool wanted = mappings_wanted();
  struct host_visit visit = host_enter();
  stacks_give_back(handed_over);
  if (wanted)
    note_own_stack(&start);
  else
    callstack_release(start.stack);
  host_leave(visit);
  return start;
}

static void *begin_thread(void *handed_over) {
  struct start start = note_begin(handed_over);
  return start.run(start.argument);
}

static int begin_thread_c11(void *handed_over) {
  struct start start = note_begin(handed_over);
  return start.run_c11(start.argument);
}

/* Whether the calling thread is the first one, and deep in its stack. */
static bool is_deep(void) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return here - first.begin < first.end - first.begin && first.end - here >= FIRST_LEAST;
}

/* FIRST: whether the first thread was deep in its stack at some time: then pages of the second
 * mebibyte are resident. */
static bool was_deep(void) {
  uintptr_t end = first.end - FIRST_LEAST,
            begin = end - first.begin > FIRST_LEAST ? end - FIRST_LEAST : first.begin;
  size_t budget = FIRST_LEAST;
  struct resident_bytes resident;
  int pagemap = pagemap_take();
  bool counted = pagemap >= 0 && pagemap_count(pagemap, begin, end, &budget, &resident);
  if (pagemap >= 0) pagemap_give_back(pagemap);
  return counted && resident.all;
}

/* ---- shared ---- */

void stacks_resolve(void) {
  struct rlimit limit;
  next = (__typeof__(next))dlsym(RTLD_NEXT, "pthread_create");
  next_c11 = (__typeof__(next_c11))dlsym(RTLD_NEXT, "thrd_create");
  uintptr_t most = FIRST_MOST, end = (uintptr_t)getauxval(AT_RANDOM);
  if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < most) most = limit.rlim_cur;
  most = most / os_page_bytes() * os_page_bytes();
  if (!end || end < most) return;
  first.end = page_behind(end);
  first.begin = first.end - most;
}

void stacks_look(void) {
  int state = atomic_load_explicit(&first_state, memory_order_relaxed);
  if (state == FIRST_NOTED || first.end - first.begin < FIRST_LEAST || lock_must_not_wait(LOCK_RANK_MAPPINGS))
    return;
  bool deep = is_deep();
  if (!deep && (state == FIRST_WITHOUT_CALLERS || !was_deep())) return;
  atomic_store_explicit(&first_state, deep ? FIRST_NOTED : FIRST_WITHOUT_CALLERS, memory_order_relaxed);
  mappings_add(first.begin, first.end - first.begin, RECORDER_MAP_STACK, deep ? stacks_capture() : NULL);
}

void stacks_thread_ends(void) { mappings_stack_ends((uintptr_t)__builtin_frame_address(0)); }

/* ---- what the program calls ---- */

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument) {
  if (!next) stacks_resolve();
  struct start *start = mappings_wanted() ? start_of(attributes, run, NULL, argument) : NULL;
  if (!start) return next(thread, attributes, run, argument);
  int error = next(thread, attributes, begin_thread, start);
  if (error) stacks_give_up(start);
  return error;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t run, void *argument) {
  if (!next_c11) stacks_resolve();
  struct start *start = mappings_wanted() ? start_of(NULL, NULL, run, argument) : NULL;
  if (!start) return next_c11(thread, run, argument);
  int result = next_c11(thread, begin_thread_c11, start);
  if (result != thrd_success) stacks_give_up(start);
  return result;
}
/* SPDX-License-Identifier: MIT */
