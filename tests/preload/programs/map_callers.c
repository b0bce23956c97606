/* One function maps for three others. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((noinline)) char *map_for_others(size_t size) {
  char *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memset(mapped, 1, size);
}

__attribute__((noinline)) char many_pages(void) { return map_for_others(6 << 20)[0]; }
__attribute__((noinline)) char some_pages(void) { return map_for_others(3 << 20)[0]; }
__attribute__((noinline)) char few_pages(void) { return map_for_others(1 << 20)[0]; }

int main(void) {
  printf("%d\n", many_pages() + some_pages() + few_pages());
  return 0;
}
/* SPDX-License-Identifier: MIT */
