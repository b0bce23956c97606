/* Makes a Memtrace file: make_memtrace FILE [EVENTS [DOMAINS]]. */
#include "sources/memtrace_case.h"

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  size_t events = argc > 2 ? (size_t)strtoull(argv[2], NULL, 10) : 2000;
  unsigned domains = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1;
  struct made made;
  if (!domains || domains > CASE_DOMAINS) return 2;
  made_begin(&made, 3, domains, 1);
  made_random_events(&made, domains, events, 3000);
  made_write(&made);
  FILE *file = fopen(argv[1], "wb");
  bool written =
      file && fwrite(made.writer.file.bytes, 1, made.writer.file.count, file) == made.writer.file.count;
  written = file && !fclose(file) && written;
  made_end(&made);
  return !written;
}
/* SPDX-License-Identifier: MIT */
