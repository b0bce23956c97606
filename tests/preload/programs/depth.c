/* Twelve functions that call each other, each allocating 1000 bytes before; then a recursion of 60.
 * Built with -O2 and without frame pointers. */
#include <stdio.h>
#include <stdlib.h>

static void *volatile kept;
static volatile int after;

#define LEVEL(n, next)                                                          \
  __attribute__((noinline)) void level_##n(int turn) {                          \
    char buffer[n * 24];                                                        \
    for (int i = 0; i < n * 24; i++) ((volatile char *)buffer)[i] = (char)turn; \
    kept = malloc(1000);                                                        \
    next;                                                                       \
    after += buffer[turn % n]; /* so that the call above is no jump */          \
  }
LEVEL(12, (void)turn)
LEVEL(11, level_12(turn))
LEVEL(10, level_11(turn))
LEVEL(9, level_10(turn))
LEVEL(8, level_9(turn))
LEVEL(7, level_8(turn))
LEVEL(6, level_7(turn))
LEVEL(5, level_6(turn))
LEVEL(4, level_5(turn))
LEVEL(3, level_4(turn))
LEVEL(2, level_3(turn))
LEVEL(1, level_2(turn))

__attribute__((noinline)) int recurse(int depth) {
  if (!depth) {
    kept = malloc(5000);
    return 1;
  }
  return recurse(depth - 1) + after % 2 + 1;
}

static int compare(const void *a, const void *b) {
  kept = malloc(8);
  return *(const int *)a - *(const int *)b;
}

int main(void) {
  for (int i = 0; i < 10; i++) level_1(i);
  after += recurse(60);
  int few[] = {3, 1, 2};
  qsort(few, 3, sizeof *few, compare); /* through the C library and back */
  return few[0] != 1;
}
/* SPDX-License-Identifier: MIT */
