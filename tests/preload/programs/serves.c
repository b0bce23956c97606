/* Allocates 100 bytes again and again until its standard input ends; one block in ten stays for a
 * while. With an argument it tries again and again to become that program. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { KEPT = 1000 };

int main(int count, char **arguments) {
  static void *kept[KEPT];
  char byte;
  fcntl(0, F_SETFL, O_NONBLOCK);
  for (unsigned i = 0; i % 256 || read(0, &byte, 1) < 0; i++) {
    void *volatile block = malloc(100);
    void **place = &kept[i / 10 % KEPT];
    if (i % 10) {
      free(block);
    } else {
      free(*place);
      *place = block;
    }
    if (i % 256 == 0) usleep(1000);
    if (i % 256 == 0 && count > 1) execv(arguments[1], arguments);
  }
  return 0;
}
/* SPDX-License-Identifier: MIT */
