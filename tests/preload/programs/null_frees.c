/* Many blocks at one time, then free(NULL) many times, then the blocks are freed. */
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 80000 };
static void *volatile block[BLOCKS];

__attribute__((noinline)) void allocate_many(void) {
  for (int i = 0; i < BLOCKS; i++) block[i] = malloc(24);
}

int main(void) {
  for (int round = 0; round < 3; round++) {
    allocate_many();
    for (int i = 0; i < 5000; i++) free(NULL);
    for (int i = 0; i < BLOCKS; i++) free(block[i]);
  }
  puts("freed");
  return 0;
}
/* SPDX-License-Identifier: MIT */
