/* Asks the allocator below. glibc's malloc is asked by mallinfo2, jemalloc by mallctl, tcmalloc by its
 * MallocExtension. Each takes the allocator's locks one by one; mallinfo2 also walks all free blocks. Only functions of the library
 * whose malloc is the real one are called. mimalloc has no such counts, and is not asked.
 *
 * HANDLER: a thread that holds a lock of the allocator must not ask. So the callers ask in a call of
 * malloc or realloc before the real one is called, and at exit; never in free, since handlers may
 * free a sampled block; never in calls that map, in handlers of fork, or in a child that does not
 * write a trace of its own. A signal handler may have interrupted the allocator. A thread is taken
 * to be in one if it is on its alternate stack, or if a signal that has a handler is blocked, as the
 * kernel blocks the handler's own. A handler that asked not to be blocked (SA_NODEFER) leaves no such
 * trace, so where there is one, nothing is asked; those of faults do not count, which are not raised
 * in the allocator. A handler may be gone while it runs, since it was for once (SA_RESETHAND) or has
 * set another action: so a signal that was found with a handler counts as if it still had it, and
 * after a handler for once that is not blocked, nothing is asked any more.
 *
 * INHERITED: a program can be born under a filter of system calls (seccomp), as in a container, and
 * cannot read it. So a question makes no call that recording does not make anyway (CONFINED of
 * seccomp_calls.c), nor the program. Only for a signal that has a handler, by the kernel's file,
 * does it call sigaction: the program then did so too, since an exec ends all handlers. The
 * functions of the allocators wait for their locks; brk is malloc's own.
 *
 * During the question all signals are blocked but those of faults, with the C library's own for
 * pthread_cancel: no handler can leave by longjmp, and no thread can be cancelled while it has the
 * allocator's locks.
 *
 * PACE: the thread that moves `due` asks, and moves it to where it need not be moved back: should it
 * never return, the next question comes all the same. A question that took t is followed by none for
 * 1000 t, so that all of them, but the one at the end, take a thousandth of the time; and by none
 * before the process has used 100 t of its processors, so that a program that sleeps nearly all the
 * time, and changes little meanwhile, pays a hundredth at most. One may be longer than those before
 * it, if much was freed meanwhile; then the next one waits longer. */
#include "preload/question.h"

#include "base/kept_file.h"
#include "base/os.h"
#include "preload/info_calls.h"
#include "preload/real.h"
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/* PACE */
enum { QUESTION_PART = 1000, QUESTION_PROCESSOR_PART = 100 };
#define QUESTION_INTERVAL ((uint64_t)2 * 1000 * 1000)
#define GIVEN_UP          ((uint64_t)60 * 1000 * 1000 * 1000)

/* The kernel's own set of signals, which has those of the C library too, and its struct sigaction. */
typedef uint64_t signals;
struct action {
  uintptr_t handler;
  unsigned long flags, restorer;
  signals mask;
};
#define SIGNAL(number) ((signals)1 << ((number)-1))
#define FAULTS \
  (SIGNAL(SIGSEGV) | SIGNAL(SIGBUS) | SIGNAL(SIGFPE) | SIGNAL(SIGILL) | SIGNAL(SIGTRAP) | SIGNAL(SIGSYS))
enum { SIGNALS = 64 };

static int (*jemalloc_control)(const char *, void *, size_t *, void *, size_t);
static int (*tcmalloc_number)(const char *, size_t *);
static struct kept_file status = {.path = "/proc/self/status", .descriptor = -1};
static _Atomic(uint64_t) due, processor_due;
static _Atomic(signals) had_handlers; /* by any thread that asks */
static _Atomic(bool) was_traceless;

/* HANDLER. `blocked`: the signals that the thread blocked before. */
static bool may_be_in_handler(signals blocked) {
  stack_t stack;
  signals caught;
  bool hidden = false;
  if (sigaltstack(NULL, &stack) || stack.ss_flags & SS_ONSTACK) return true;
  if (!kept_file_number(&status, "\nSigCgt:", 16, &caught)) return true;
  for (int number = 1; number <= SIGNALS; number++) {
    struct action action = {0};
    if (!(caught & SIGNAL(number))) continue; /* INHERITED */
    if (syscall(SYS_rt_sigaction, number, NULL, &action, sizeof(signals))) continue;
    if (action.handler == (uintptr_t)SIG_DFL || action.handler == (uintptr_t)SIG_IGN) continue;
    atomic_fetch_or_explicit(&had_handlers, SIGNAL(number), memory_order_relaxed);
    if (!(action.flags & SA_NODEFER) || SIGNAL(number) & FAULTS) continue;
    hidden = true;
    if (action.flags & SA_RESETHAND) atomic_store_explicit(&was_traceless, true, memory_order_relaxed);
  }
  return hidden || atomic_load_explicit(&was_traceless, memory_order_relaxed) ||
         blocked & atomic_load_explicit(&had_handlers, memory_order_relaxed);
}

/* The old numbers are of the last epoch. What is resident has jemalloc's own tables, too. */
static bool ask_jemalloc(struct recorder_answer *answer) {
  uint64_t epoch = 1;
  size_t allocated, resident, bytes = sizeof epoch, size = sizeof(size_t);
  if (jemalloc_control("epoch", &epoch, &bytes, &epoch, sizeof epoch) ||
      jemalloc_control("stats.allocated", &allocated, &size, NULL, 0) ||
      jemalloc_control("stats.resident", &resident, &size, NULL, 0))
    return false;
  *answer =
      (struct recorder_answer){RECORDER_JEMALLOC, allocated, resident > allocated ? resident - allocated : 0};
  return true;
}

static bool ask_tcmalloc(struct recorder_answer *answer) {
  size_t allocated, heap, unmapped;
  if (!tcmalloc_number("generic.current_allocated_bytes", &allocated) ||
      !tcmalloc_number("generic.heap_size", &heap) ||
      !tcmalloc_number("tcmalloc.pageheap_unmapped_bytes", &unmapped))
    return false;
  size_t resident = heap > unmapped ? heap - unmapped : 0;
  *answer =
      (struct recorder_answer){RECORDER_TCMALLOC, allocated, resident > allocated ? resident - allocated : 0};
  return true;
}

static bool ask_glibc(struct recorder_answer *answer) {
  size_t in_use, free;
  if (!real_is_the_c_librarys() || !info_ask(&in_use, &free)) return false;
  *answer = (struct recorder_answer){RECORDER_GLIBC, in_use, free};
  return true;
}

static bool ask_question(struct recorder_answer *answer) {
  bool told = jemalloc_control  ? ask_jemalloc(answer)
              : tcmalloc_number ? ask_tcmalloc(answer)
                                : ask_glibc(answer);
  if (told) answer->in_use_bytes += info_held_bytes(false);
  return told;
}

/* ---- shared ---- */

void question_resolve(void) {
  if (real_is_the_c_librarys()) return;
  jemalloc_control = (__typeof__(jemalloc_control))real_find("mallctl");
  tcmalloc_number = (__typeof__(tcmalloc_number))real_find("MallocExtension_GetNumericProperty");
}

void question_open(void) { kept_file_open(&status, status.path); }
void question_close(void) { kept_file_close(&status); }

void question_inherit(void) {
  atomic_store_explicit(&due, 0, memory_order_relaxed);
  atomic_store_explicit(&processor_due, 0, memory_order_relaxed);
}

uint64_t question_next(uint64_t began_ns, uint64_t ended_ns) {
  uint64_t pause = (ended_ns - began_ns) * QUESTION_PART;
  return ended_ns + (pause < QUESTION_INTERVAL ? QUESTION_INTERVAL : pause);
}

bool question_ask(struct recorder_answer *answer, uint64_t processor_ns, bool last) {
  signals wanted = ~FAULTS, blocked;
  uint64_t began = os_monotonic_ns(), then = atomic_load_explicit(&due, memory_order_relaxed);
  bool early = began < then || processor_ns < atomic_load_explicit(&processor_due, memory_order_relaxed);
  if ((!last && early) ||
      !atomic_compare_exchange_strong_explicit(&due, &then, began + GIVEN_UP, memory_order_relaxed,
                                               memory_order_relaxed) ||
      syscall(SYS_rt_sigprocmask, SIG_BLOCK, &wanted, &blocked, sizeof blocked))
    return false;
  bool told = !may_be_in_handler(blocked) && ask_question(answer);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, NULL, sizeof blocked);
  uint64_t ended = os_monotonic_ns();
  atomic_store_explicit(&due, question_next(began, ended), memory_order_relaxed);
  atomic_store_explicit(&processor_due, processor_ns + (ended - began) * QUESTION_PROCESSOR_PART,
                        memory_order_relaxed);
  return told;
}
/* SPDX-License-Identifier: MIT */
