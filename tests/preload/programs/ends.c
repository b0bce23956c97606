/* ends HOW: allocates 1000 blocks and ends by return, exit, _exit, quick_exit, abort, kill, segv,
 * or term. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *volatile kept[1000];
static void *volatile late;

static void last_handler(void) {
  for (int i = 0; i < 500; i++) free(kept[i]);
  late = malloc(12345);
}

/* Of the program, so it runs after main's handlers, and before libraries' destructors. */
__attribute__((destructor)) static void destroy(void) {
  for (int i = 500; i < 900; i++) free(kept[i]);
  free(late);
}

__attribute__((noinline)) void born_in_main(void) {
  for (int i = 0; i < 1000; i++) kept[i] = malloc(100);
}

int main(int argc, char **argv) {
  const char *how = argv[1];
  if (!strcmp(how, "return") || !strcmp(how, "exit")) atexit(last_handler);
  born_in_main();
  if (!strcmp(how, "exit")) exit(5);
  if (!strcmp(how, "_exit")) _exit(6);
  if (!strcmp(how, "quick_exit")) quick_exit(7);
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
  if (!strcmp(how, "segv")) *(volatile int *)8 = 1;
  if (!strcmp(how, "term")) raise(SIGTERM);
  return 4;
}
/* SPDX-License-Identifier: MIT */
