/* Linux, behind a few functions. Files are read and written by bare system calls: the C library's
 * functions are cancellation points, and a thread must not be cancelled inside malloc. */
#include "base/os.h"

#include "base/kept_file.h"
#include "base/random.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- shared ---- */

uint64_t os_monotonic_ns(void) { return clock_ns(CLOCK_MONOTONIC); }
uint64_t os_wall_ns(void) { return clock_ns(CLOCK_REALTIME); }
uint64_t os_process_cpu_ns(void) { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }
uint64_t os_thread_cpu_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }
size_t os_page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

unsigned os_processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set)) return 1;
  int count = CPU_COUNT(&set);
  return count > 0 ? (unsigned)count : 1;
}

bool os_write_all(int fd, const void *bytes, size_t count) {
  const char *from = bytes;
  while (count) {
    long written = syscall(SYS_write, fd, from, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    from += written;
    count -= (size_t)written;
  }
  return true;
}

size_t os_read_at(int fd, void *buffer, size_t count, uint64_t offset) {
  size_t length = 0;
  while (length < count) {
    long got = syscall(SYS_pread64, fd, (char *)buffer + length, count - length, offset + length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    length += (size_t)got;
  }
  return length;
}

bool os_write_at(int fd, const void *bytes, size_t count, uint64_t offset) {
  for (size_t length = 0; length < count;) {
    long put = syscall(SYS_pwrite64, fd, (const char *)bytes + length, count - length, offset + length);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    length += (size_t)put;
  }
  return true;
}

long os_read_file(const char *path, char *buffer, size_t capacity) {
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  size_t length = 0;
  while (length + 1 < capacity) {
    long got = syscall(SYS_read, fd, buffer + length, capacity - 1 - length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    length += (size_t)got;
  }
  buffer[length] = 0;
  syscall(SYS_close, fd);
  return (long)length;
}

/* The name of the process, which may have blanks, is in brackets; the 12th and 13th numbers behind it are
 * the times as user and as system. */
uint64_t os_processor_ns_of(const char *stat) {
  char text[1024];
  const char *at = os_read_file(stat, text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
  uint64_t ticks[2] = {0, 0};
  for (int blanks = 0; at && *at && blanks <= 13; at++) {
    blanks += *at == ' ';
    if (blanks >= 12 && blanks <= 13 && *at >= '0' && *at <= '9')
      ticks[blanks - 12] = 10 * ticks[blanks - 12] + (uint64_t)(*at - '0');
  }
  return (ticks[0] + ticks[1]) * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

void os_random_bytes(void *buffer, size_t count) {
  if (syscall(SYS_getrandom, buffer, count, 1 /* GRND_NONBLOCK */) == (long)count) return;
  uint64_t state = os_monotonic_ns() ^ (uint64_t)(uintptr_t)buffer;
  for (size_t i = 0; i < count; i++) ((unsigned char *)buffer)[i] = (unsigned char)splitmix64(&state);
}

void os_numbers(const char *text, uint64_t *numbers, size_t count) {
  for (size_t i = 0; i < count; i++) {
    numbers[i] = 0;
    for (; *text >= '0' && *text <= '9'; text++) numbers[i] = numbers[i] * 10 + (uint64_t)(*text - '0');
    while (*text == ' ') text++;
  }
}

uint64_t os_peak_bytes(void) {
  const struct kept_file status = {.path = "/proc/thread-self/status", .descriptor = -1};
  uint64_t kilobytes;
  return kept_file_number(&status, "\nVmHWM:", 10, &kilobytes) ? kilobytes * 1024 : 0;
}
/* SPDX-License-Identifier: MIT */
