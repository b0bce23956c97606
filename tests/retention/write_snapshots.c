/* Writes the snapshots of the test heap_screens into the current folder. */
#include "snapshot/writer.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 100, WIDGET = 1, TEXTURE, CHAIN, KEY, WEAK, DATA, LONG_NAME };

static struct snapshot_writer writer;
static int file;

static void begin(const char *name, uint64_t process, uint64_t seconds, const char *command) {
  const struct snapshot_info info = {process, seconds * 1000000000u, command, ""};
  file = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
  snapshot_begin(&writer, file, &info);
}

static void end(void) {
  static const char *const names[] = {"Widget", "Texture", "Chain", "Key", "weak block", "Data"};
  for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) snapshot_type(&writer, i + 1, names[i]);
  snapshot_type(&writer, LONG_NAME,
                "std::unordered_map<std::string, application::session::Handle<application::Connection>, "
                "std::hash<std::string>, application::Allocator>");
  if (!snapshot_end(&writer) || close(file)) abort();
}

static void root(uint32_t holder, const char *name, uintptr_t target) {
  snapshot_holder(&writer, holder, HOLDER_GLOBALS, 0, name);
  snapshot_root(&writer, holder, target);
}

static void block(uintptr_t at, uint32_t type, enum block_shape shape, uint64_t words) {
  snapshot_block(&writer, at, &(struct snapshot_block){.shape = shape, .type = type, .words = words});
}

/* Two windows lead to one texture, and a third holder to nothing else; "few" splits in two. */
static void write_shared(void) {
  begin("shared.heap", 7, 1000, "program");
  root(1, "window 0", 0x10000);
  root(2, "window 1", 0x20000);
  root(3, "viewer", 0x30000);
  root(4, "few", 0x40000);
  block(0x10000, WIDGET, SHAPE_SCANNED, 1);
  snapshot_edge(&writer, 0, 0x30000);
  block(0x20000, WIDGET, SHAPE_SCANNED, 1);
  snapshot_edge(&writer, 0, 0x30000);
  block(0x30000, TEXTURE, SHAPE_RAW, 100000);
  block(0x40000, CHAIN, SHAPE_SCANNED, 3);
  snapshot_edge(&writer, 0, 0x50000);
  block(0x50000, WIDGET, SHAPE_SCANNED, 3);
  for (uintptr_t i = 0; i < 3; i++) snapshot_edge(&writer, i, 0x60000 + 0x10000 * i);
  block(0x60000, DATA, SHAPE_RAW, 40000);
  block(0x70000, KEY, SHAPE_RAW, 30000);
  block(0x80000, TEXTURE, SHAPE_RAW, 10);
  end();
}

/* A path of two types in turn, and at its end a block of a long name. The last step is led to by
 * another root, too. */
static void write_deep(void) {
  begin("deep.heap", 7, 1000, "program");
  root(1, "top", 0x10000);
  root(2, "other", 0x10000 + 64 * (STEPS + 1));
  for (uintptr_t i = 0; i < STEPS; i++) {
    block(0x10000 + 64 * i, i % 2 ? WIDGET : CHAIN, SHAPE_SCANNED, 7);
    snapshot_edge(&writer, 1, 0x10000 + 64 * (i + 1));
  }
  block(0x10000 + 64 * STEPS, LONG_NAME, SHAPE_RAW, 7);
  block(0x10000 + 64 * (STEPS + 1), WIDGET, SHAPE_SCANNED, 7);
  snapshot_edge(&writer, 1, 0x10000 + 64 * STEPS);
  end();
}

static void write_ephemeron(void) {
  begin("ephemeron.heap", 7, 1000, "program");
  root(1, "cache", 0x10000);
  root(2, "keys", 0x20000);
  block(0x10000, WEAK, SHAPE_WEAK, 2);
  snapshot_edge(&writer, 0, 0x30000);
  snapshot_edge(&writer, 1, 0x20000);
  block(0x20000, KEY, SHAPE_RAW, 4);
  block(0x30000, DATA, SHAPE_RAW, 1000);
  end();
}

static void write_sizes(const char *name, uint64_t process, uint64_t seconds, const char *command,
                        const uint64_t words[4]) {
  begin(name, process, seconds, command);
  for (uint32_t i = 0; i < 4; i++) {
    char holder[] = "holder 0";
    holder[7] = (char)('0' + i);
    root(i + 1, holder, 0x10000 * (i + 1));
    block(0x10000 * (i + 1), i + 1, SHAPE_RAW, words[i]);
  }
  end();
}

int main(void) {
  write_shared();
  write_deep();
  write_ephemeron();
  write_sizes("large.heap", 7, 1000, "program", (const uint64_t[]){4000, 4000, 4000, 4000});
  write_sizes("small.heap", 7, 1090, "program", (const uint64_t[]){3000, 100, 2000, 3900});
  write_sizes("mixed.heap", 8, 1095, "program", (const uint64_t[]){3000, 100, 2000, 9000});
  write_sizes("other.heap", 8, 1095, "other", (const uint64_t[]){3000, 100, 2000, 9000});
  return 0;
}
/* SPDX-License-Identifier: MIT */
