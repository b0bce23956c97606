/* What the program calls about limits: setrlimit and its relatives, and mlockall.
 *
 * mlockall: without privileges the kernel locks the mappings only if all of them are within
 * RLIMIT_MEMLOCK, and the kernel counts the addresses that we reserved, too. Where it refuses for
 * that reason alone, our mlockall locks the mappings one by one: first the mappings that have
 * names, which are the program's, then the rest, our tables among them, as far as the limit allows.
 * It passes over inaccessible mappings.
 */
#include "base/metadata.h"
#include "base/os.h"
#include "preload/limits.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { MAPS_BYTES = 4 << 20, ONFAULT = 1 };

static bool fits_without_us(void) {
  struct rlimit limit;
  return !getrlimit(RLIMIT_MEMLOCK, &limit) && limits_program_bytes() <= limit.rlim_cur;
}

/* Locks the mapping of one line of /proc/self/maps, if it has a name or if it has none, as `named`
 * says. A line is "begin-end rwxp offset major:minor inode name". A failure is ignored: the
 * kernel's mlockall, too, passes over mappings that cannot be locked. */
static void lock_mapping(const char *line, const char *end, bool named, int flags) {
  char *after;
  unsigned long begin = strtoul(line, &after, 16);
  unsigned long past = *after == '-' ? strtoul(after + 1, &after, 16) : begin;
  bool has_name = memchr(after, '/', (size_t)(end - after)) || memchr(after, '[', (size_t)(end - after));
  if (past > begin && strncmp(after, " ---", 4) && has_name == named)
    syscall(SYS_mlock2, begin, past - begin, flags);
}

static void lock_mappings(const char *maps, bool named, int flags) {
  for (const char *end; (end = strchr(maps, '\n')); maps = end + 1) lock_mapping(maps, end, named, flags);
}

static bool lock_each(int flags) {
  char *maps = metadata_map(MAPS_BYTES);
  if (!maps) return false;
  bool read = os_read_file("/proc/self/maps", maps, MAPS_BYTES) > 0;
  lock_mappings(maps, true, flags & MCL_ONFAULT ? ONFAULT : 0);
  lock_mappings(maps, false, flags & MCL_ONFAULT ? ONFAULT : 0);
  metadata_unmap(maps, MAPS_BYTES);
  return read;
}

/* ---- what the program calls: under two names, which mean the same on 64 bits ---- */

EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) {
  return limits_call(0, (int)resource, (const struct rlimit64 *)(const void *)limit, NULL);
}
EXPORT int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit) {
  return limits_call(0, (int)resource, limit, NULL);
}
EXPORT int getrlimit(__rlimit_resource_t resource, struct rlimit *limit) {
  return limits_call(0, (int)resource, NULL, (struct rlimit64 *)(void *)limit);
}
EXPORT int getrlimit64(__rlimit_resource_t resource, struct rlimit64 *limit) {
  return limits_call(0, (int)resource, NULL, limit);
}
EXPORT int prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *set, struct rlimit *get) {
  return limits_call(pid, (int)resource, (const struct rlimit64 *)(const void *)set,
                     (struct rlimit64 *)(void *)get);
}
EXPORT int prlimit64(pid_t pid, enum __rlimit_resource resource, const struct rlimit64 *set,
                     struct rlimit64 *get) {
  return limits_call(pid, (int)resource, set, get);
}

EXPORT int mlockall(int flags) {
  int saved = errno, result = (int)syscall(SYS_mlockall, flags);
  if (!result || errno != ENOMEM || !(flags & MCL_CURRENT) || !fits_without_us()) return result;
  if (flags & MCL_FUTURE && syscall(SYS_mlockall, flags & ~MCL_CURRENT)) return -1;
  if (!lock_each(flags)) {
    errno = ENOMEM;
    return -1;
  }
  errno = saved;
  return 0;
}
/* SPDX-License-Identifier: MIT */
