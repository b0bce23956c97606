/* The table of a loaded object's symbols, by the hash that linkers write for the loader. */
#include "languages/exports.h"

#include "callstack/object.h"
#include <link.h>
#include <string.h>

static uintptr_t pointer_of(const ElfW(Dyn) * entry, uintptr_t bias) {
  return entry->d_un.d_ptr < bias ? entry->d_un.d_ptr + bias : entry->d_un.d_ptr;
}

static uint32_t exports_hash_of(const char *name) {
  uint32_t hash = 5381;
  for (; *name; name++) hash = hash * 33 + (unsigned char)*name;
  return hash;
}

static bool find_object(uintptr_t address, struct object *object) {
  return object_best_source() == OBJECT_FROM_LOADER && object_find(OBJECT_FROM_LOADER, address, object) &&
         object->loader_record;
}

/* ---- shared ---- */

bool exports_open(struct exports *exports, uintptr_t address) {
  struct object object;
  *exports = (struct exports){.record = NULL};
  if (!find_object(address, &object)) return false;
  const struct link_map *record = object.loader_record;
  struct exports found = {.record = record, .address = address, .bias = record->l_addr};
  for (const ElfW(Dyn) *entry = record->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
    uintptr_t pointer = pointer_of(entry, found.bias);
    if (entry->d_tag == DT_SYMTAB) found.symbols = (const void *)pointer;
    if (entry->d_tag == DT_STRTAB) found.names = (const char *)pointer;
    if (entry->d_tag == DT_GNU_HASH) found.hash = (const uint32_t *)pointer;
  }
  if (!found.symbols || !found.names || !found.hash || !found.hash[0]) return false;
  *exports = found;
  return true;
}

bool exports_are_there(const struct exports *exports) {
  struct object object;
  return find_object(exports->address, &object) && object.loader_record == exports->record;
}

void *exports_find(const struct exports *exports, const char *name, size_t *bytes) {
  const uint32_t buckets = exports->hash[0], first = exports->hash[1], blooms = exports->hash[2];
  const uint32_t *bucket = exports->hash + 4 + blooms * (sizeof(uintptr_t) / sizeof *exports->hash),
                 *chain = bucket + buckets;
  uint32_t hash = exports_hash_of(name), at = bucket[hash % buckets];
  if (at < first) return NULL;
  for (;; at++) {
    const ElfW(Sym) *symbol = (const ElfW(Sym) *)exports->symbols + at;
    if ((chain[at - first] | 1) == (hash | 1) && !strcmp(exports->names + symbol->st_name, name)) {
      if (bytes) *bytes = symbol->st_size;
      return (void *)(exports->bias + symbol->st_value);
    }
    if (chain[at - first] & 1) return NULL;
  }
}
/* SPDX-License-Identifier: MIT */
