/* Tells files apart. */
#include "sources/source.h"

#include "base/hash.h"
#include <sys/stat.h>

uint64_t source_file_stamp(const char *path) {
  struct stat found;
  if (stat(path, &found)) return 0;
  uint64_t stamp = hash_combine((uint64_t)found.st_size, (uint64_t)found.st_mtim.tv_sec);
  stamp = hash_combine(stamp, (uint64_t)found.st_mtim.tv_nsec);
  return stamp ? stamp : 1;
}
/* SPDX-License-Identifier: MIT */
