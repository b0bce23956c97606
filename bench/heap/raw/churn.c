/* Lists of 100 cells that are built, summed and dropped, in the raw tier: churn LISTS. */
#include "lists.h"

int main(int count, char **words) {
  long lists = sequence_argument(count, words, 1000000);
  struct program program = program_begin();
  int64_t total = 0;
  for (long i = 1; i <= lists; i++) {
    total = (total + sum(build(program.domain, 100, i))) & SUM_MASK;
    wn_poll(program.domain);
  }
  printf("%ld lists: %lld\n", lists, (long long)total);
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
