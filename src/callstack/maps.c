/* /proc/self/maps without stdio, by bare system calls: the C library's functions are cancellation
 * points. A line is "begin-end rwxp offset major:minor inode   path". */
#include "callstack/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct maps {
  int fd;
  size_t at, filled;
  char buffer[1024];
};

struct mapping {
  uintptr_t begin, end, offset, device, inode;
  bool vdso;
};

static int next_byte(struct maps *maps) {
  if (maps->at == maps->filled) {
    long got;
    do {
      got = syscall(SYS_read, maps->fd, maps->buffer, sizeof maps->buffer);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return -1;
    maps->at = 0;
    maps->filled = (size_t)got;
  }
  return (unsigned char)maps->buffer[maps->at++];
}

static int maps_digit_of(int byte, unsigned base) {
  int digit = byte >= '0' && byte <= '9' ? byte - '0' : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
  return digit < (int)base ? digit : -1;
}

/* A number and the one byte after it. */
static uintptr_t maps_number(struct maps *maps, unsigned base) {
  uintptr_t value = 0;
  for (int digit; (digit = maps_digit_of(next_byte(maps), base)) >= 0;)
    value = value * base + (uintptr_t)digit;
  return value;
}

/* The rest of the line, as much of it as fits. */
static void rest_of_line(struct maps *maps, char *text, size_t capacity) {
  size_t length = 0;
  int byte = next_byte(maps);
  while (byte == ' ') byte = next_byte(maps);
  for (; byte >= 0 && byte != '\n'; byte = next_byte(maps))
    if (length + 1 < capacity) text[length++] = (char)byte;
  text[length] = 0;
}

static bool next_mapping(struct maps *maps, struct mapping *mapping, char *text, size_t capacity) {
  mapping->begin = maps_number(maps, 16);
  mapping->end = maps_number(maps, 16);
  if (!mapping->end) return false;
  for (int i = 0; i < 5; i++) next_byte(maps); /* "rwxp " */
  mapping->offset = maps_number(maps, 16);
  mapping->device = maps_number(maps, 16) << 32;
  mapping->device |= maps_number(maps, 16);
  mapping->inode = maps_number(maps, 10);
  rest_of_line(maps, text, capacity);
  mapping->vdso = strcmp(text, "[vdso]") == 0;
  return true;
}

static bool maps_open(struct maps *maps) {
  maps->fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
  maps->at = maps->filled = 0;
  return maps->fd >= 0;
}

static void strip_deleted(char *path) {
  static const char suffix[] = " (deleted)";
  size_t length = strlen(path), cut = sizeof suffix - 1;
  if (length > cut && strcmp(path + length - cut, suffix) == 0) path[length - cut] = 0;
}

/* ---- shared ---- */

uintptr_t maps_object_base(uintptr_t address) {
  int saved = errno;
  struct maps maps;
  struct mapping mapping, start = {0};
  char text[16];
  uintptr_t base = 0;
  if (!maps_open(&maps)) goto restore;
  while (next_mapping(&maps, &mapping, text, sizeof text)) {
    bool file = mapping.inode != 0 || mapping.vdso;
    if (file && (mapping.offset == 0 || mapping.inode != start.inode || mapping.device != start.device))
      start = mapping;
    if (address < mapping.begin || address >= mapping.end) continue;
    if (file) base = start.begin;
    break;
  }
  syscall(SYS_close, maps.fd);
restore:
  errno = saved;
  return base;
}

void maps_path(uintptr_t address, char path[OBJECT_PATH_MOST]) {
  int saved = errno;
  struct maps maps;
  struct mapping mapping;
  path[0] = 0;
  if (!maps_open(&maps)) goto restore;
  while (next_mapping(&maps, &mapping, path, OBJECT_PATH_MOST)) {
    if (address >= mapping.begin && address < mapping.end) goto close_maps;
  }
  path[0] = 0;
close_maps:
  syscall(SYS_close, maps.fd);
  strip_deleted(path);
restore:
  errno = saved;
}
/* SPDX-License-Identifier: MIT */
