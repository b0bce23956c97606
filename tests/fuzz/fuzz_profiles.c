/* Any bytes as a file of another heap profiler: the readers must neither crash nor take memory out of
 * proportion, and what they give is consistent. The first byte chooses what stands before the rest: the
 * begin of a file of DHAT, for pprof or of heaptrack, or nothing. */
#include "bound.h"

#include "sources/files/open.h"
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const begins[] = {
    "",
    "{\"dhatFileVersion\":2,\"mode\":\"heap\",\"bklt\":true,\"tu\":\"instrs\",\"ftbl\":[\"[root]\",\"0x1: f "
    "(a.c:1)\","
    "\"g (in b.so)\"],\"pps\":[{\"tb\":12,\"tbk\":5,\"gb\":7,\"gbk\":2,\"eb\":0,\"ebk\":0,\"fs\":[1,2]}",
    "\x0a\x04\x08\x01\x10\x02\x32\x01 \x32\x0binuse_space\x32\x05"
    "bytes\x22\x08\x08\x01\x22\x04\x08\x01\x10\x03\x2a\x04\x08\x01"
    "\x10\x01\x12\x06\x0a\x01\x01\x12\x01\x09",
    "v 10400 3\ns 1 p\ns 1 f\ni 1 1 2 1 3\nt 1 0\na 8 1\n+ 0\n"};

static void check(bool holds) {
  if (!holds) abort();
}

static void check_event(const struct source *source, const struct trace_event *event) {
  if (event->kind != TRACE_SAMPLE) return;
  check(event->sample.stack <= source_stack_count(source) && event->sample.words);
}

static void read_all(const char *path) {
  struct source *source;
  struct trace_event event;
  struct trace_place place;
  if (source_open(path, &source)) return;
  while (source_next(source, &event)) check_event(source, &event);
  for (uint32_t i = 1; i <= source_stack_count(source); i++) {
    struct trace_node node = source_stack(source, i);
    check(node.parent < i && node.module <= source_module_count(source));
    if (node.module && trace_is_language(source_module(source, node.module)))
      check(source_place(source, node.module, node.offset, &place));
  }
  source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
  static int descriptor = -1;
  static char path[64];
  if (!count) return 0;
  if (descriptor < 0) descriptor = memfd_create("profile", MFD_CLOEXEC);
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  const char *begin = begins[bytes[0] % (sizeof begins / sizeof *begins)];
  size_t first = strlen(begin);
  if (ftruncate(descriptor, 0) || pwrite(descriptor, begin, first, 0) != (ssize_t)first ||
      pwrite(descriptor, bytes + 1, count - 1, (off_t)first) != (ssize_t)(count - 1))
    abort();
  read_all(path);
  return 0;
}
/* SPDX-License-Identifier: MIT */
