/* What a loaded object exports, looked up without the loader's lock. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exports {
  const void *record;  /* the loader's, of the object; NULL: none was opened */
  uintptr_t address;   /* an address in the object */
  uintptr_t bias;      /* what to add to an address in the file */
  const void *symbols; /* ElfW(Sym) */
  const char *names;
  const uint32_t *hash; /* the section .gnu.hash */
};

/* Opens the object that has an address. It must stay loaded while this is used: the caller runs in
 * it, say. False if the C library cannot find it without a lock, or if it has no table of the usual
 * kind. */
bool exports_open(struct exports *exports, uintptr_t address);

/* Whether the object that was opened is still there, as far as the loader says. */
bool exports_are_there(const struct exports *exports);

/* NULL: there is none of that name. `bytes` may be NULL; else it gets the size. */
void *exports_find(const struct exports *exports, const char *name, size_t *bytes);
/* SPDX-License-Identifier: MIT */
