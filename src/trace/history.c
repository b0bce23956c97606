/* Paths, ranges and locks of histories. */
#include "trace/history.h"

#include "base/array.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>

/* Bytes that no trace has. */
#define READING    ((off_t)1 << 61)
#define COMPACTING (READING + 1)
enum { TRIES_A_SECOND = 50 };

/* Whether the lock was got, or such locks do not exist here. */
static bool try_lock(int descriptor, off_t byte, short type) {
#ifdef F_OFD_SETLK
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
  return !fcntl(descriptor, F_OFD_SETLK, &lock) || (errno != EAGAIN && errno != EACCES);
#else
  return (void)descriptor, (void)byte, (void)type, true;
#endif
}

static bool lock_within(int descriptor, short type, unsigned seconds) {
  for (unsigned tries = 0; !try_lock(descriptor, READING, type); tries++) {
    if (tries == seconds * TRIES_A_SECOND) return false;
    nanosleep(&(struct timespec){.tv_nsec = 1000000000 / TRIES_A_SECOND}, NULL);
  }
  return true;
}

/* ---- shared ---- */

char *history_path(const char *path, const char *ending) {
  char *joined;
  return asprintf(&joined, "%s%s", path, ending) < 0 ? NULL : joined;
}

bool replaced_add(struct replaced *replaced, const struct trace_replaces *range) {
  struct trace_replaces *last = replaced->count ? &replaced->ranges[replaced->count - 1] : NULL;
  if (range->first > range->last || (last && range->first < last->first)) return true;
  if (!last || (range->first > last->last && range->first - 1 > last->last))
    return ARRAY_ADD(replaced->ranges, replaced->count, replaced->capacity, *range);
  if (range->last > last->last) last->last = range->last;
  return true;
}

bool replaced_has(const struct replaced *replaced, uint64_t chunk) {
  size_t low = 0, high = replaced->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (replaced->ranges[middle].last < chunk)
      low = middle + 1;
    else
      high = middle;
  }
  return low < replaced->count && replaced->ranges[low].first <= chunk;
}

uint64_t replaced_end(const struct replaced *replaced) {
  return replaced->count ? replaced->ranges[replaced->count - 1].last + 1 : 0;
}

void replaced_destroy(struct replaced *replaced) { free(replaced->ranges); }

void history_lock_for_reading(int descriptor) { lock_within(descriptor, F_RDLCK, 1); }
bool history_lock_for_compacting(int descriptor) { return try_lock(descriptor, COMPACTING, F_WRLCK); }
bool history_lock_for_holes(int descriptor, unsigned seconds) {
  return lock_within(descriptor, F_WRLCK, seconds);
}
void history_unlock(int descriptor) { try_lock(descriptor, READING, F_UNLCK); }
/* SPDX-License-Identifier: MIT */
