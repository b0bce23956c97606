/* Loads CPython's library, runs it and unloads it, several times, while other threads allocate.
 *   opens_python LIBRARY LOCAL|GLOBAL ROUNDS THREADS */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char program[] = "def keep(n):\n"
                              "    return [bytearray(50021) for _ in range(n)] + [(i, i) for i in range(n)]\n"
                              "held = keep(500)\n"
                              "print(len(held), flush=True)\n";

static atomic_bool ends;

static void *allocate(void *unused) {
  while (!ends)
    for (int bytes = 1; bytes < 1000; bytes++) free(malloc(bytes));
  return unused;
}

static int run(const char *path, int flags) {
  void *library = dlopen(path, flags);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
  void (*begin)(void) = (void (*)(void))dlsym(library, "Py_Initialize");
  int (*run_text)(const char *) = (int (*)(const char *))dlsym(library, "PyRun_SimpleString");
  int (*end)(void) = (int (*)(void))dlsym(library, "Py_FinalizeEx");
  begin();
  int failed = run_text(program);
  failed |= end();
  failed |= dlclose(library);
  return failed;
}

int main(int count, char **word) {
  pthread_t thread[16];
  int threads = atoi(word[4]), failed = 0;
  int flags = RTLD_NOW | (strcmp(word[2], "GLOBAL") ? RTLD_LOCAL : RTLD_GLOBAL);
  for (int i = 0; i < threads; i++) pthread_create(&thread[i], NULL, allocate, NULL);
  for (int i = 0; i < atoi(word[3]); i++) failed |= run(word[1], flags);
  printf("%s\n", dlopen(word[1], RTLD_NOLOAD | RTLD_NOW) ? "still loaded" : "unloaded");
  ends = true;
  for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  return failed;
}
/* SPDX-License-Identifier: MIT */
