/* One buffer that realloc makes larger by 10 MB each 10 ms, up to 300 MB. Nothing else is allocated. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEP = 10000000, STEPS = 30 };

int main(void) {
  const struct timespec pause = {0, 10000000};
  char *buffer = NULL;
  for (size_t i = 0; i < STEPS; i++) {
    buffer = realloc(buffer, (i + 1) * STEP);
    if (!buffer) return 1;
    memset(buffer + i * STEP, 1, STEP);
    nanosleep(&pause, NULL);
  }
  return buffer[STEP - 1] != 1;
}
/* SPDX-License-Identifier: MIT */
