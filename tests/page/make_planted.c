/* Writes the trace of planted.h, for tests of the page and the command:
 *   make_planted malloc|collected|exits TRACE [SEED] */
#include "page/planted.h"

#include "trace/finish.h"
#include <stdio.h>

int main(int argc, char **argv) {
  struct trace_totals totals;
  if (argc < 3) return fprintf(stderr, "usage: make_planted malloc|collected|exits TRACE [SEED]\n"), 2;
  uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
  enum planted_kind kind = !strcmp(argv[1], "collected") ? PLANTED_COLLECTED
                           : !strcmp(argv[1], "exits")   ? PLANTED_EXITS
                                                         : PLANTED_MALLOC;
  if (planted_write(argv[2], kind, seed)) return fprintf(stderr, "%s\n", wn_last_error()), 1;
  return trace_finish(argv[2], &totals) != WN_OK;
}
/* SPDX-License-Identifier: MIT */
