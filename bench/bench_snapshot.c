/* Makes a heap snapshot of MILLIONS of blocks of 4 words, each with 2 edges: a tree, whose leaves
 * lead to random blocks. `winnow heap` of it takes how much memory and time?
 *
 *   bench_snapshot FILE MILLIONS */
#include "base/random.h"
#include "snapshot/writer.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK_BYTES = 40, TYPES = 50, FIRST = 1 << 20 };

static struct snapshot_writer writer;

static uintptr_t address_of(uint64_t block) { return FIRST + block * BLOCK_BYTES; }

int main(int argc, char **argv) {
  const struct snapshot_info info = {.process = 1, .command = "bench_snapshot", .language = ""};
  const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000000 : 0;
  int file = count ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
  struct random random;
  if (file < 0) return fprintf(stderr, "bench_snapshot FILE MILLIONS\n"), 2;
  random_seed(&random, 1, 0, 0);
  snapshot_begin(&writer, file, &info);
  snapshot_holder(&writer, 1, HOLDER_GLOBALS, 0, "tree");
  snapshot_root(&writer, 1, address_of(0));
  snapshot_holder(&writer, 2, HOLDER_GLOBALS, 0, "last");
  snapshot_root(&writer, 2, address_of(count - 1));
  for (uint64_t block = 0; block < count; block++) {
    const struct snapshot_block made = {
        .shape = SHAPE_SCANNED, .type = 1 + (uint32_t)(random_bits(&random) % TYPES), .words = 4};
    snapshot_block(&writer, address_of(block), &made);
    for (uint64_t edge = 0; edge < 2; edge++) {
      uint64_t child = 2 * block + 1 + edge;
      snapshot_edge(&writer, 2 * edge, address_of(child < count ? child : random_bits(&random) % count));
    }
  }
  for (uint32_t type = 1; type <= TYPES; type++) {
    char name[32];
    snprintf(name, sizeof name, "type %u", type);
    snapshot_type(&writer, type, name);
  }
  return snapshot_end(&writer) ? 0 : (perror(argv[1]), 1);
}
/* SPDX-License-Identifier: MIT */
