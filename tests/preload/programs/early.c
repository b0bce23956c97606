/* Tells what a library's constructor put into the environment, and what else is there that nobody
 * asked for. */
#include <stdio.h>
#include <stdlib.h>

const char *early_value(void);

int main(void) {
  printf("%s %d\n", early_value(), getenv("WINNOW_TRACE") != NULL);
  return 6;
}
/* SPDX-License-Identifier: MIT */
