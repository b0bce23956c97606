/* The limit of the address space, as the program sees it.
 *
 * The region reserves a tebibyte of addresses, which RLIMIT_AS counts. If there is a limit when the
 * program starts, there is no region. But a program, a shell above all, may set a limit later, and
 * then could not get a byte more. So limits_call adds our reserve to a limit that the program sets,
 * and subtracts the reserve from a limit that the program reads. Where sampled blocks of more than
 * 16 KiB take parts of the reserve, these parts count as the program's (limits_take); the smaller
 * blocks are not counted. A program that this one executes gets the soft limit as it was set here.
 * The hard limit stays larger, since it could not be raised again if the exec failed. Programs
 * started by posix_spawn or by the C library itself inherit both limits as they are, larger.
 */
#include "preload/limits.h"

#include "base/os.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(struct rlimit) == sizeof(struct rlimit64), "limits are 64 bits wide");

/* Bytes of our reserve. Written while the profile starts, and by limits_take. 0: limits are passed
 * on as they are. */
static _Atomic(uint64_t) reserved;

static uint64_t mapped_before; /* bytes; used by the thread that starts the profile */

static int system_limits(pid_t pid, int resource, const struct rlimit64 *set, struct rlimit64 *get) {
  return (int)syscall(SYS_prlimit64, pid, resource, set, get);
}

static uint64_t mapped_bytes(void) {
  char text[160];
  return os_read_file("/proc/self/statm", text, sizeof text) > 0 ? strtoull(text, NULL, 10) * os_page_bytes()
                                                                 : 0;
}

static rlim64_t limits_larger(rlim64_t limit) {
  uint64_t more = atomic_load_explicit(&reserved, memory_order_relaxed);
  if (limit == RLIM64_INFINITY) return limit;
  return limit < RLIM64_INFINITY - 1 - more ? limit + more : RLIM64_INFINITY - 1;
}

/* The limit as the program set it. A limit below our reserve was not set by limits_call, and is
 * returned as it is. */
static rlim64_t limits_smaller(rlim64_t limit) {
  uint64_t more = atomic_load_explicit(&reserved, memory_order_relaxed);
  return limit == RLIM64_INFINITY || limit < more ? limit : limit - more;
}

static bool is_shifted(pid_t pid, int resource) {
  return resource == RLIMIT_AS && atomic_load_explicit(&reserved, memory_order_relaxed) &&
         (!pid || pid == getpid());
}

/* ---- shared ---- */

int limits_call(pid_t pid, int resource, const struct rlimit64 *set, struct rlimit64 *get) {
  if (!is_shifted(pid, resource)) return system_limits(pid, resource, set, get);
  struct rlimit64 shifted, found;
  if (set) shifted = (struct rlimit64){limits_larger(set->rlim_cur), limits_larger(set->rlim_max)};
  int result = system_limits(pid, resource, set ? &shifted : NULL, &found);
  if (!result && get)
    *get = (struct rlimit64){limits_smaller(found.rlim_cur), limits_smaller(found.rlim_max)};
  return result;
}

void limits_before_reserving(void) { mapped_before = mapped_bytes(); }

void limits_after_reserving(void) {
  struct rlimit64 limit;
  uint64_t before = mapped_before, after = mapped_bytes();
  bool limited = system_limits(0, RLIMIT_AS, NULL, &limit) || limit.rlim_cur != RLIM64_INFINITY;
  if (before && after > before && !limited)
    atomic_store_explicit(&reserved, after - before, memory_order_relaxed);
}

size_t limits_program_bytes(void) {
  return mapped_bytes() - atomic_load_explicit(&reserved, memory_order_relaxed);
}

bool limits_take(size_t bytes) {
  int saved = errno;
  struct rlimit64 limit;
  bool allowed = true, limited = atomic_load_explicit(&reserved, memory_order_relaxed) > bytes &&
                                 !system_limits(0, RLIMIT_AS, NULL, &limit) &&
                                 limit.rlim_cur != RLIM64_INFINITY;
  if (limited) {
    allowed = mapped_bytes() + bytes <= limit.rlim_cur;
    limit.rlim_cur -= bytes;
    if (limit.rlim_max != RLIM64_INFINITY) limit.rlim_max -= bytes;
    allowed = allowed && !system_limits(0, RLIMIT_AS, &limit, NULL);
  }
  if (allowed && atomic_load_explicit(&reserved, memory_order_relaxed) > bytes)
    atomic_fetch_sub_explicit(&reserved, bytes, memory_order_relaxed);
  errno = saved;
  return allowed;
}

bool limits_before_exec(void) {
  int saved = errno;
  struct rlimit64 limit;
  bool lowered = false;
  if (is_shifted(0, RLIMIT_AS) && !system_limits(0, RLIMIT_AS, NULL, &limit)) {
    rlim64_t before = limit.rlim_cur;
    limit.rlim_cur = limits_smaller(before);
    lowered = limit.rlim_cur != before && !system_limits(0, RLIMIT_AS, &limit, NULL);
  }
  errno = saved;
  return lowered;
}

void limits_exec_failed(bool lowered) {
  int saved = errno;
  struct rlimit64 limit;
  if (lowered && !system_limits(0, RLIMIT_AS, NULL, &limit)) {
    limit.rlim_cur = limits_larger(limit.rlim_cur);
    system_limits(0, RLIMIT_AS, &limit, NULL);
  }
  errno = saved;
}
/* SPDX-License-Identifier: MIT */
