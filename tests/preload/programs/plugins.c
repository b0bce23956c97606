/* plugins reload|deepbind|cpp FOLDER: what is loaded by dlopen allocates too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *allocates(size_t);
static void *volatile kept[40];
static const char *folder;

static void *open_plugin(const char *name, int flags) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  void *library = dlopen(path, flags);
  if (!library) fprintf(stderr, "%s\n", dlerror()), exit(9);
  return library;
}

/* Two libraries of one size take each other's place in the address space. */
static void reload(void) {
  void *places[2] = {0};
  for (int i = 0; i < 40; i++) {
    void *library = open_plugin(i % 2 ? "libplugin_b.so" : "libplugin_a.so", RTLD_NOW | RTLD_LOCAL);
    allocates *function = (allocates *)dlsym(library, i % 2 ? "plugin_allocates_b" : "plugin_allocates_a");
    kept[i] = function(i % 2 ? 200 : 100);
    places[i % 2] = (void *)function;
    dlclose(library);
  }
  printf("near each other: %d\n", labs((char *)places[0] - (char *)places[1]) < 1 << 24);
}

static void deepbind(void) {
  void *library = open_plugin("libplugin_a.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  allocates *allocate = (allocates *)dlsym(library, "plugin_allocates_a");
  void (*release)(void *) = (void (*)(void *))dlsym(library, "plugin_frees");
  for (int i = 0; i < 1000; i++) {
    free(allocate(100));
    release(malloc(200));
    release(realloc(allocate(50), 500));
  }
  dlclose(library);
  puts("deep");
}

static void cpp(void) {
  void *library = open_plugin("libplugin_cpp.so", RTLD_NOW | RTLD_LOCAL);
  int (*function)(int) = (int (*)(int))dlsym(library, "plugin_works");
  printf("%d\n", function(1000));
  dlclose(library);
}

/* A name without a folder is sought where the calling program's RUNPATH says. */
static void runpath(void) {
  void *library = dlopen("libplugin_a.so", RTLD_NOW);
  printf("found %d\n", library != NULL);
  if (!library) puts(dlerror());
}

int main(int argc, char **argv) {
  folder = argc > 2 ? argv[2] : ".";
  if (!strcmp(argv[1], "reload")) reload();
  if (!strcmp(argv[1], "deepbind")) deepbind();
  if (!strcmp(argv[1], "cpp")) cpp();
  if (!strcmp(argv[1], "runpath")) runpath();
  return 0;
}
/* SPDX-License-Identifier: MIT */
