/* A library whose first allocation is made by setenv, which holds the environment's lock
 * meanwhile; the next ones are called for by code in no file. All before any other library's
 * constructor. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *kept[100];
static void allocate(void) {
  for (int i = 0; i < 100; i++) kept[i] = malloc(100);
}

__attribute__((constructor)) static void set(void) {
  setenv("EARLY", "set", 1);
#ifdef __x86_64__ /* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
  static const unsigned char calls[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
  void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) return;
  memcpy(code, calls, sizeof calls);
  ((void (*)(void (*)(void)))code)(allocate);
#endif
}

__attribute__((visibility("default"))) const char *early_value(void) { return getenv("EARLY"); }
/* SPDX-License-Identifier: MIT */
