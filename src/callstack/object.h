/* What lies in memory at an address: the loaded ELF object, as the process itself sees it.
 *
 * Two ways to find it. `_dl_find_object` (glibc 2.35 and later) is lock-free and safe in signal
 * handlers; it is declared weak here, so that no newer C library is needed to build or run. Without
 * it, /proc/self/maps is read by system calls. dl_iterate_phdr and dladdr are never called: they
 * take a lock that the program may hold. */
#ifndef CALLSTACK_OBJECT_H
#define CALLSTACK_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OBJECT_BUILD_ID_MOST = 32, OBJECT_PATH_MOST = 4096 };

struct object {
  /* The range of its segments. */
  uintptr_t base, size;
  /* PT_GNU_EH_FRAME, 0 if there is none. */
  uintptr_t eh_frame_hdr;
  /* The loader's record; NULL if found through /proc/self/maps. */
  const void *loader_record;
  /* What to add to an address in the file. If the loader found the object, valid only after
   * object_complete. */
  uintptr_t bias;
  /* The name in the loader's record; NULL or empty if it has none. Valid after object_complete,
   * while the object is loaded. */
  const char *loader_name;
};

struct build_id {
  size_t bytes;
  unsigned char byte[OBJECT_BUILD_ID_MOST];
};

/* How objects are found. */
enum object_source { OBJECT_FROM_LOADER, OBJECT_FROM_MAPS };

/* The best source that this process has. */
enum object_source object_best_source(void);

/* Finds the object that covers an address. False if there is none. OBJECT_FROM_LOADER makes no
 * system call, and reads nothing that another thread's dlclose may free or unmap meanwhile. */
bool object_find(enum object_source source, uintptr_t address, struct object *object);

/* Reads the loader's record of an object that object_find found. The caller must make sure that the
 * object stays loaded during object_complete, object_build_id and object_path. */
void object_complete(struct object *object);

/* Reads the build-id from the object's notes in memory. An object without one has the id of its
 * code (base/code_id.h), or 0 bytes. */
void object_build_id(struct object *object, struct build_id *id);

/* Finds an absolute path, "[vdso]", or the empty string if no path is known. */
void object_path(const struct object *object, char path[OBJECT_PATH_MOST]);

/* True if the 8 bytes at an address can be read. One system call; keeps errno. */
bool memory_readable(uintptr_t address);

#endif
/* SPDX-License-Identifier: MIT */
