/* The table of modules. */
#include "callstack/modules.h"

#include "base/check.h"
#include "base/metadata.h"
#include "callstack/maps.h"
#include "callstack/pcs.h"
#include <string.h>

enum { CHUNK_FIRST = TINY ? 1 : 64 };

static unsigned modules_chunk_of(uint32_t index) {
  return 31u - (unsigned)__builtin_clz(index / CHUNK_FIRST + 1);
}
static size_t modules_chunk_bytes(unsigned chunk) {
  return ((size_t)CHUNK_FIRST << chunk) * sizeof(struct module);
}

/* The record at an index from 0 on. If it is not mapped, `map` says whether to map it. */
static struct module *modules_record_at(struct modules *modules, uint32_t index, bool map) {
  unsigned chunk = modules_chunk_of(index);
  if (chunk >= MODULES_CHUNKS) return NULL;
  struct module *records = atomic_load_explicit(&modules->chunk[chunk], memory_order_acquire);
  if (!records && map) {
    records = metadata_map(modules_chunk_bytes(chunk));
    atomic_store_explicit(&modules->chunk[chunk], records, memory_order_release);
  }
  return records ? &records[index - (((uint32_t)1 << chunk) - 1) * CHUNK_FIRST] : NULL;
}

static bool is_live(const struct module *module) {
  return !atomic_load_explicit(&module->gone, memory_order_acquire);
}

static bool covers(const struct module *module, uintptr_t pc) {
  return pc - module->object.base < module->object.size;
}

static bool overlap(const struct module *module, const struct object *object) {
  return covers(module, object->base) || module->object.base - object->base < object->size;
}

static bool has_layout(const struct module *module, const struct object *object) {
  return module->object.base == object->base && module->object.size == object->size &&
         module->object.eh_frame_hdr == object->eh_frame_hdr;
}

static bool modules_is_same(const struct module *module, const struct object *object,
                            const struct build_id *id, const char *path) {
  return has_layout(module, object) && module->build_id.bytes == id->bytes &&
         memcmp(module->build_id.byte, id->byte, id->bytes) == 0 && strcmp(module->path, path) == 0;
}

static void modules_bury(struct modules *modules, uint32_t id, struct module *module) {
  atomic_store_explicit(&module->gone, true, memory_order_release);
  module->unreported = true;
  pcs_kill(modules->pcs, id);
  atomic_fetch_add(&modules->changes, 1);
}

/* The addresses come back before the module does: a thread that sees the module live must find
 * them, or it would insert them again. */
static void revive(struct modules *modules, uint32_t id, struct module *module) {
  pcs_revive(modules->pcs, id);
  atomic_fetch_add_explicit(&module->generation, 1, memory_order_relaxed);
  module->unreported = false;
  atomic_store_explicit(&module->gone, false, memory_order_release);
}

/* Adds a record. Readers see it once the count covers it. 0 if the table is full or there is no
 * memory. */
static uint32_t modules_append(struct modules *modules, const struct object *object,
                               const struct build_id *build_id, const char *path) {
  uint32_t count = atomic_load_explicit(&modules->count, memory_order_relaxed);
  if (count == MODULES_MOST) return 0;
  struct module *module = modules_record_at(modules, count, true);
  const char *copy = texts_copy(&modules->paths, path, strlen(path));
  if (!module || !copy) return 0;
  module->object = *object;
  module->object.loader_name = NULL; /* dangles once the object is unloaded */
  module->build_id = *build_id;
  module->path = copy;
  atomic_store_explicit(&module->loader_record, object->loader_record, memory_order_relaxed);
  atomic_store_explicit(&module->generation, 1, memory_order_relaxed);
  atomic_store_explicit(&modules->count, count + 1, memory_order_release);
  return count + 1;
}

/* Enters an object under the lock. It has a live record already, or its record comes back, or it
 * gets a new one. The function reads the object's headers and the loader's record of the object.
 * Both stay meanwhile, because code of the object is on the stack that is being captured: to unload
 * a library while a thread runs in it is an error of the program. */
static uint32_t modules_enter(struct modules *modules, struct object *object) {
  struct build_id build_id;
  object_complete(object);
  object_build_id(object, &build_id);
  object_path(object, modules->scratch);
  uint32_t count = atomic_load_explicit(&modules->count, memory_order_relaxed), same = 0;
  for (uint32_t id = 1; id <= count; id++) {
    struct module *module = modules_record_at(modules, id - 1, false);
    if (modules_is_same(module, object, &build_id, modules->scratch))
      same = id;
    else if (is_live(module) && overlap(module, object))
      modules_bury(modules, id, module); /* its object is gone, since another one is at its addresses */
  }
  if (atomic_load_explicit(&modules->has_unowned, memory_order_acquire))
    pcs_kill_unowned(modules->pcs, object->base, object->base + object->size);
  atomic_fetch_add(&modules->changes, 1);
  if (!same) return modules_append(modules, object, &build_id, modules->scratch);
  struct module *module = modules_record_at(modules, same - 1, false);
  atomic_store_explicit(&module->loader_record, object->loader_record, memory_order_relaxed);
  if (!is_live(module)) revive(modules, same, module);
  return same;
}

/* True if an object that the loader found is the one of this record, and the record is live. */
static bool is_current(const struct modules *modules, const struct module *module,
                       const struct object *object) {
  return is_live(module) && has_layout(module, object) &&
         (modules->source == OBJECT_FROM_MAPS ||
          atomic_load_explicit(&module->loader_record, memory_order_relaxed) == object->loader_record);
}

static uint32_t find_live(struct modules *modules, uintptr_t pc) {
  for (uint32_t id = atomic_load_explicit(&modules->count, memory_order_acquire); id; id--) {
    const struct module *module = modules_record_at(modules, id - 1, false);
    if (covers(module, pc) && is_live(module)) return id;
  }
  return 0;
}

/* True if a live module's object is still mapped, and seems to be the same one. Another thread may
 * be unloading it now, so this function reads neither the object's headers nor the loader's record
 * of it. So it takes another object for the module's if the new one has the same layout and the
 * loader put its record at the same address, or, with OBJECT_FROM_MAPS, if the new one has the same
 * path. That happens only if another thread calls dlopen between a dlclose and the refresh after
 * it. Needs the lock. */
static bool still_there(struct modules *modules, const struct module *module) {
  if (module->object.base == PLACES_BASE) return true;
  if (modules->source == OBJECT_FROM_MAPS) {
    maps_path(module->object.base, modules->scratch);
    return strcmp(module->path, modules->scratch) == 0;
  }
  struct object object;
  return object_find(OBJECT_FROM_LOADER, module->object.base, &object) &&
         is_current(modules, module, &object);
}

/* Marks the modules that are gone, under the lock. */
static void bury_the_gone(struct modules *modules) {
  for (uint32_t id = 1; id <= atomic_load_explicit(&modules->count, memory_order_relaxed); id++) {
    struct module *module = modules_record_at(modules, id - 1, false);
    if (is_live(module) && !still_there(modules, module)) modules_bury(modules, id, module);
  }
}

/* The next module after `id` that was found gone and is not reported yet; 0 at the end. */
static uint32_t next_unreported(struct modules *modules, uint32_t id) {
  uint32_t found = 0;
  lock_acquire(&modules->lock, LOCK_RANK_MODULES);
  while (!found && ++id <= atomic_load_explicit(&modules->count, memory_order_relaxed)) {
    struct module *module = modules_record_at(modules, id - 1, false);
    if (module->unreported) found = id;
    module->unreported = false;
  }
  lock_release(&modules->lock, LOCK_RANK_MODULES);
  return found;
}

/* ---- shared ---- */

bool modules_create(struct modules *modules, struct levels *pcs, enum object_source source) {
  *modules = (struct modules){.source = source, .pcs = pcs};
  modules->scratch = metadata_map(OBJECT_PATH_MOST);
  return modules->scratch != NULL;
}

void modules_destroy(struct modules *modules) {
  for (unsigned chunk = 0; chunk < MODULES_CHUNKS; chunk++)
    metadata_unmap(atomic_load(&modules->chunk[chunk]), modules_chunk_bytes(chunk));
  texts_destroy(&modules->paths);
  metadata_unmap(modules->scratch, OBJECT_PATH_MOST);
}

enum module_result modules_find(struct modules *modules, uintptr_t pc, uint32_t *id) {
  struct object object;
  *id = find_live(modules, pc);
  if (*id && modules->source == OBJECT_FROM_MAPS) return MODULE_FOUND;
  if (!object_find(modules->source, pc, &object)) {
    *id = 0;
    return MODULE_NONE;
  }
  if (*id && is_current(modules, modules_get(modules, *id), &object)) return MODULE_FOUND;
  *id = 0;
  if (lock_must_not_wait(LOCK_RANK_MODULES)) return MODULE_BUSY;
  lock_acquire(&modules->lock, LOCK_RANK_MODULES);
  *id = modules_enter(modules, &object);
  lock_release(&modules->lock, LOCK_RANK_MODULES);
  return *id ? MODULE_FOUND : MODULE_BUSY;
}

uint32_t modules_add_language(struct modules *modules, const char *path) {
  const struct object object = {.base = PLACES_BASE, .bias = PLACES_BASE, .size = PLACES_SIZE};
  lock_acquire(&modules->lock, LOCK_RANK_MODULES);
  uint32_t id = modules_append(modules, &object, &(struct build_id){0}, path);
  lock_release(&modules->lock, LOCK_RANK_MODULES);
  return id;
}

struct module *modules_get(struct modules *modules, uint32_t id) {
  if (id == 0 || id > atomic_load_explicit(&modules->count, memory_order_acquire)) return NULL;
  return modules_record_at(modules, id - 1, false);
}

void modules_refresh(struct modules *modules, void (*gone)(void *context, uint32_t id), void *context) {
  if (lock_must_not_wait(LOCK_RANK_MODULES)) return;
  lock_acquire(&modules->lock, LOCK_RANK_MODULES);
  bury_the_gone(modules);
  lock_release(&modules->lock, LOCK_RANK_MODULES);
  for (uint32_t id = 0; (id = next_unreported(modules, id));)
    if (gone) gone(context, id);
}
/* SPDX-License-Identifier: MIT */
