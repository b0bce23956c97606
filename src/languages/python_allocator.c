/* The tables of functions, and the set of arenas.
 *
 * ARENAS. All arenas have one size, a power of two, and each begins at some page. So in each
 * stretch of that size at most one arena begins, and a table of the pages where they begin tells
 * whether an address is in one: it is the arena that begins in the same stretch, or the one
 * before. The table has two levels, and its lower parts are mapped when they are needed. No
 * thread waits. */
#include "languages/python_allocator.h"

#include "base/metadata.h"
#include <stdatomic.h>
#include <string.h>

enum { DOMAIN_RAW, DOMAIN_MEM, DOMAIN_OBJECT };

typedef void get_function(int domain, struct python_functions *functions);
typedef void set_function(int domain, struct python_functions *functions);
typedef void arenas_function(struct python_arena_functions *functions);

/* ---- arenas ---- */

enum { ADDRESS_BITS = 47, STRETCH_BITS_LEAST = 18, PAGE_BITS = 12, LOWER_BITS = 14 };
enum { UPPER = 1 << (ADDRESS_BITS - STRETCH_BITS_LEAST - LOWER_BITS), LOWER = 1 << LOWER_BITS };

static _Atomic(_Atomic(uint16_t) *)
    tables[UPPER]; /* of LOWER stretches: 1 + the page of it where one begins */

/* Of the arenas' size. */
static uint32_t python_allocator_bits_of(const struct python *python) {
  return (uint32_t)__builtin_ctz(python->layout.arena_bytes);
}

/* NULL: there is none. */
static inline _Atomic(uint16_t) *entry_of(uintptr_t stretch) {
  if (stretch >> LOWER_BITS >= UPPER) return NULL;
  _Atomic(uint16_t) *table = atomic_load_explicit(&tables[stretch >> LOWER_BITS], memory_order_acquire);
  return table ? &table[stretch & (LOWER - 1)] : NULL;
}

static void python_allocator_make_entry(uintptr_t stretch) {
  if (stretch >> LOWER_BITS >= UPPER || entry_of(stretch)) return;
  void *made = metadata_map(LOWER * sizeof(uint16_t));
  _Atomic(uint16_t) *none = NULL;
  if (made && !atomic_compare_exchange_strong(&tables[stretch >> LOWER_BITS], &none, made))
    metadata_unmap(made, LOWER * sizeof(uint16_t));
}

static void python_allocator_note(uintptr_t arena, uint32_t bits, bool begins) {
  if (begins) python_allocator_make_entry(arena >> bits);
  _Atomic(uint16_t) *entry = entry_of(arena >> bits);
  uintptr_t page = (arena & (((uintptr_t)1 << bits) - 1)) >> PAGE_BITS;
  if (entry) atomic_store_explicit(entry, begins ? (uint16_t)(page + 1) : 0, memory_order_relaxed);
}

/* Whether an arena that begins in the stretch has the address. */
static inline bool python_allocator_has(uintptr_t stretch, uint32_t bits, uintptr_t address) {
  const _Atomic(uint16_t) *entry = entry_of(stretch);
  uint32_t page = entry ? atomic_load_explicit(entry, memory_order_relaxed) : 0;
  uintptr_t begin = (stretch << bits) + ((uintptr_t)(page - 1) << PAGE_BITS);
  return page && address - begin < (uintptr_t)1 << bits;
}

static inline bool python_allocator_is_in_arena(const struct python *python, uintptr_t address) {
  uint32_t bits = python_allocator_bits_of(python);
  uintptr_t stretch = address >> bits;
  return python_allocator_has(stretch, bits, address) || python_allocator_has(stretch - 1, bits, address);
}

/* ---- shared ---- */

bool python_allocator_get(const struct python *python, struct python_functions *functions,
                          struct python_arena_functions *arenas) {
  get_function *get = (get_function *)python_symbol(python, "PyMem_GetAllocator");
  arenas_function *get_arenas = (arenas_function *)python_symbol(python, "PyObject_GetArenaAllocator");
  struct python_functions raw = {0}, object = {0};
  if (!get || !get_arenas || !python_symbol(python, "PyMem_SetAllocator") ||
      !python_symbol(python, "PyObject_SetArenaAllocator"))
    return false;
  get(DOMAIN_RAW, &raw);
  get(DOMAIN_MEM, functions);
  get(DOMAIN_OBJECT, &object);
  get_arenas(arenas);
  return functions->malloc && functions->malloc != raw.malloc && functions->malloc == object.malloc &&
         functions->context == object.context && arenas->alloc;
}

void python_allocator_set(const struct python *python, const struct python_functions *functions,
                          const struct python_arena_functions *arenas) {
  set_function *set = (set_function *)python_symbol(python, "PyMem_SetAllocator");
  arenas_function *set_arenas = (arenas_function *)python_symbol(python, "PyObject_SetArenaAllocator");
  struct python_functions copy = *functions;
  struct python_arena_functions arenas_copy = *arenas;
  set_arenas(&arenas_copy);
  set(DOMAIN_MEM, &copy);
  set(DOMAIN_OBJECT, &copy);
}

void python_arena_begins(const struct python *python, uintptr_t arena) {
  python_allocator_note(arena, python_allocator_bits_of(python), true);
}

void python_arena_ends(const struct python *python, uintptr_t arena) {
  python_allocator_note(arena, python_allocator_bits_of(python), false);
}

/* struct pool_header of obmalloc.c: five words and counts before it, the same in all versions. */
enum { POOL_CLASS_AT = 36, CLASS_BYTES = 16, CLASSES = PYTHON_SMALL_MOST / CLASS_BYTES };

size_t python_block_bytes(const struct python *python, const void *block) {
  uintptr_t address = (uintptr_t)block, pool = address & -(uintptr_t)python->layout.pool_bytes;
  uint32_t class;
  if (!python_allocator_is_in_arena(python, address)) return 0; /* then the pool is there too */
  memcpy(&class, (const void *)(pool + POOL_CLASS_AT), sizeof class);
  return class < CLASSES ? ((size_t) class + 1) * CLASS_BYTES : 0;
}
/* SPDX-License-Identifier: MIT */
