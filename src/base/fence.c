/* The system's part of fences. */
#include "base/fence.h"

#include "base/os.h"
#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic(bool) fence_is_uneven;

/* ThreadSanitizer sees neither the system's fences nor the processor's, but it sees exchanges of
 * one word. */
#ifdef __SANITIZE_THREAD__
enum { WATCHED = true };
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
enum { WATCHED = true };
#else
enum { WATCHED = false };
#endif
#else
enum { WATCHED = false };
#endif

static bool barrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

/* Waits for 1 ms. It does not sleep: signals cut a sleep short, and a thread may be cancelled in
 * it. */
static void fence_rest(void) {
  for (uint64_t end = os_monotonic_ns() + 1000000; os_monotonic_ns() < end;) sched_yield();
}

void fence_prepare(void) {
  int saved = errno;
  if (!WATCHED && !atomic_load(&fence_is_uneven) && barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
    atomic_store(&fence_is_uneven, true);
  errno = saved;
}

void fence_even(void) {
  static _Atomic(unsigned) word;
  atomic_fetch_add(&word, 1);
}

/* A program may have forbidden membarrier since fence_prepare. Then this thread waits, a thousand
 * times as long as a store of another processor takes to become visible here. */
void fence_heavy(void) {
  int saved = errno;
  fence_even();
  if (atomic_load(&fence_is_uneven) && !barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) &&
      !(barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)))
    fence_rest();
  errno = saved;
}
/* SPDX-License-Identifier: MIT */
