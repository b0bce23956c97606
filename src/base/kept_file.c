/* Descriptors that are kept. Bare system calls, as in os.c: no cancellation point. */
#include "base/kept_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { HIGH_DESCRIPTOR = 900 };

static int kept_file_raw_open(const char *path) {
  return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

static bool kept_file_is_ours(const struct kept_file *file, int descriptor) {
  struct stat found;
  return descriptor >= 0 && !fstat(descriptor, &found) && found.st_dev == file->device &&
         found.st_ino == file->inode;
}

static unsigned kept_file_digit_of(char letter) {
  return letter >= '0' && letter <= '9'   ? (unsigned)(letter - '0')
         : letter >= 'a' && letter <= 'f' ? (unsigned)(letter - 'a' + 10)
                                          : 16;
}

/* ---- shared ---- */

void kept_file_open(struct kept_file *file, const char *path) {
  struct stat found;
  int low = kept_file_raw_open(path), high = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
  if (low >= 0) syscall(SYS_close, low);
  if (high >= 0 && fstat(high, &found)) {
    syscall(SYS_close, high);
    high = -1;
  }
  file->path = path;
  if (high >= 0) {
    file->device = found.st_dev;
    file->inode = found.st_ino;
  }
  atomic_store_explicit(&file->descriptor, high, memory_order_relaxed);
}

int kept_file_take(const struct kept_file *file) {
  int kept = atomic_load_explicit(&file->descriptor, memory_order_relaxed);
  return kept_file_is_ours(file, kept) ? kept : kept_file_raw_open(file->path);
}

void kept_file_give_back(const struct kept_file *file, int descriptor) {
  if (descriptor != atomic_load_explicit(&file->descriptor, memory_order_relaxed))
    syscall(SYS_close, descriptor);
}

long kept_file_read(const struct kept_file *file, char *buffer, size_t capacity) {
  int descriptor = kept_file_take(file);
  if (descriptor < 0) return -1;
  size_t length = 0;
  while (length + 1 < capacity) {
    long got = syscall(SYS_pread64, descriptor, buffer + length, capacity - 1 - length, length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    length += (size_t)got;
  }
  buffer[length] = 0;
  kept_file_give_back(file, descriptor);
  return (long)length;
}

/* In small pieces: a signal handler with a small stack may come here. */
bool kept_file_number(const struct kept_file *file, const char *name, unsigned base, uint64_t *number) {
  char text[128];
  size_t matched = 0, named = strlen(name), digits = 0;
  long got, length = 0;
  bool ended = false;
  int descriptor = kept_file_take(file);
  *number = 0;
  if (descriptor < 0) return false;
  for (; !ended && (got = syscall(SYS_pread64, descriptor, text, sizeof text, length)) > 0; length += got) {
    for (long i = 0; i < got && !ended; i++) {
      unsigned digit = kept_file_digit_of(text[i]);
      if (matched < named)
        matched = text[i] == name[matched] ? matched + 1 : text[i] == name[0];
      else if (digit < base)
        *number = *number * base + digit, digits++;
      else
        ended = digits > 0;
    }
  }
  kept_file_give_back(file, descriptor);
  return ended;
}

void kept_file_close(struct kept_file *file) {
  int kept = atomic_exchange_explicit(&file->descriptor, -1, memory_order_relaxed);
  if (kept_file_is_ours(file, kept)) syscall(SYS_close, kept);
}
/* SPDX-License-Identifier: MIT */
