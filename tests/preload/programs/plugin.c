/* A library that allocates. WHICH is the letter of its function's name. */
#include <stdlib.h>
#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

__attribute__((visibility("default"), noinline)) void *JOIN(plugin_allocates_, WHICH)(size_t bytes) {
  void *block = malloc(bytes);
  return memset(block, 1, bytes);
}

__attribute__((visibility("default"))) void plugin_frees(void *block) { free(block); }
/* SPDX-License-Identifier: MIT */
