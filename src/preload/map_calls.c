/* mmap and its relatives, as the program sees them.
 *
 * Each function passes the program's request on and notes the result in the table of mappings
 * (mappings.h). Small mappings are not noted, and cost two comparisons. Small steps of the data
 * segment are noted once they add up to MAPPING_LEAST. The C library's own calls, those of its
 * malloc among them, do not come through these functions. The calls of an allocator library that
 * stands for malloc do, but its mappings are for blocks that are counted already. So a call whose
 * return address lies in that library is not noted.
 */
#include "preload/map_calls.h"

#include "base/os.h"
#include "preload/interpreters.h"
#include "preload/late_python.h"
#include "preload/malloc_host.h"
#include "preload/mappings.h"
#include "preload/process.h"
#include "preload/real.h"
#include "record/recorder.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* A mapping of this size or more may be what made the process largest, so the process is measured
 * before the mapping is removed. In bytes. */
#define MEASURE_BEFORE ((size_t)1 << 20)

static struct {
  void *(*mmap)(void *, size_t, int, int, int, off_t);
  int (*munmap)(void *, size_t);
  void *(*mremap)(void *, size_t, size_t, int, ...);
  int (*brk)(void *);
  void *(*sbrk)(intptr_t);
} next;

/* The part by which the data segment grew and that is not noted yet. Written by any thread without
 * a lock: a program whose threads call brk or sbrk at the same time has a race of its own. */
static struct { _Atomic(uintptr_t) begin, end; } gathered;

/* Where the real allocator's code lies, if it is not the C library's. */
static struct { uintptr_t begin, end; } allocator;

static void *map_calls_map(void *address, size_t bytes, int protection, int flags, int descriptor,
                           off_t offset) {
  return next.mmap ? next.mmap(address, bytes, protection, flags, descriptor, offset)
                   : (void *)syscall(SYS_mmap, address, bytes, protection, flags, descriptor, offset);
}

static bool is_allocators(const void *caller) {
  return (uintptr_t)caller - allocator.begin < allocator.end - allocator.begin;
}

static enum recorder_map_kind map_calls_kind_of(int flags) {
  bool shared = (flags & MAP_TYPE) == MAP_SHARED || (flags & MAP_TYPE) == MAP_SHARED_VALIDATE;
  return (flags & MAP_ANONYMOUS) == 0 ? RECORDER_MAP_FILE
         : shared                     ? RECORDER_MAP_SHARED
                                      : RECORDER_MAP_ANONYMOUS;
}

static const wn_callstack *map_calls_capture(void) {
  return callstack_keep(interpreters_capture(host_callstacks(), process_stack_depth(), 0));
}

static void map_calls_measure(void) {
  struct recorder *recorder = process_recorder();
  if (recorder) recorder_memory(recorder);
}

static void note_added(void *address, size_t bytes, enum recorder_map_kind kind) {
  struct host_visit visit = host_enter();
  mappings_add((uintptr_t)address, bytes, kind, map_calls_capture());
  map_calls_measure();
  host_leave(visit);
}

static void note_removed(void *address, size_t bytes) {
  struct host_visit visit = host_enter();
  if (bytes >= MEASURE_BEFORE) map_calls_measure();
  mappings_remove((uintptr_t)address, bytes);
  host_leave(visit);
}

/* Called after mremap: another thread may have mapped the old addresses by now, but hardly ever
 * has. */
static void note_moved(void *from, size_t bytes, void *to, size_t to_bytes, int flags) {
  struct host_visit visit = host_enter();
  bool stays = flags & MREMAP_DONTUNMAP || !bytes; /* the old addresses stay mapped */
  if (stays || !mappings_move((uintptr_t)from, bytes, (uintptr_t)to, to_bytes)) {
    if (!stays) mappings_remove((uintptr_t)from, bytes);
    mappings_add((uintptr_t)to, to_bytes, RECORDER_MAP_ANONYMOUS, map_calls_capture());
  }
  map_calls_measure();
  host_leave(visit);
}

static uintptr_t map_calls_page_of(uintptr_t address) { return address & ~(uintptr_t)(os_page_bytes() - 1); }

/* Notes that the data segment grew. Small steps are gathered until they are MAPPING_LEAST together.
 * If the C library moved the segment between two of the program's steps, gathering begins anew with
 * the later one. */
static void note_growth(uintptr_t from, uintptr_t to) {
  uintptr_t begin = atomic_load_explicit(&gathered.begin, memory_order_relaxed);
  if (from != atomic_load_explicit(&gathered.end, memory_order_relaxed)) begin = map_calls_page_of(from);
  if (map_calls_page_of(to) - begin >= MAPPING_LEAST) {
    note_added((void *)begin, map_calls_page_of(to) - begin, RECORDER_MAP_BREAK);
    begin = map_calls_page_of(to);
  }
  atomic_store_explicit(&gathered.begin, begin, memory_order_relaxed);
  atomic_store_explicit(&gathered.end, to, memory_order_relaxed);
}

/* Notes that the end of the data segment moved. */
static void note_break(uintptr_t from, uintptr_t to) {
  uintptr_t page = os_page_bytes(), left = map_calls_page_of(to + page - 1),
            end = map_calls_page_of(from + page - 1);
  if (to > from) {
    note_growth(from, to);
  } else if (from > to) {
    atomic_store_explicit(&gathered.end, 0, memory_order_relaxed);
    if (end > left) note_removed((void *)left, end - left);
  }
}

static char *end_of_data(void) { return (char *)syscall(SYS_brk, 0); }

static int map_calls_find_allocator(struct dl_phdr_info *module, size_t bytes, void *unused) {
  (void)bytes, (void)unused;
  uintptr_t begin = UINTPTR_MAX, end = 0, wanted = (uintptr_t)real.malloc;
  for (size_t i = 0; i < module->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &module->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD) continue;
    uintptr_t at = module->dlpi_addr + segment->p_vaddr;
    if (at < begin) begin = at;
    if (at + segment->p_memsz > end) end = at + segment->p_memsz;
  }
  if (wanted < begin || wanted >= end) return 0;
  allocator.begin = begin;
  allocator.end = end;
  return 1;
}

/* ---- shared ---- */

void map_calls_resolve(void) {
  next.munmap = (__typeof__(next.munmap))dlsym(RTLD_NEXT, "munmap");
  next.mremap = (__typeof__(next.mremap))dlsym(RTLD_NEXT, "mremap");
  next.brk = (__typeof__(next.brk))dlsym(RTLD_NEXT, "brk");
  next.sbrk = (__typeof__(next.sbrk))dlsym(RTLD_NEXT, "sbrk");
  next.mmap = (__typeof__(next.mmap))dlsym(RTLD_NEXT, "mmap");
  if (!real_is_the_c_librarys()) dl_iterate_phdr(map_calls_find_allocator, NULL);
}

/* ---- what the program calls ---- */

EXPORT void *mmap(void *address, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
  bool noted = bytes >= MAPPING_LEAST && mappings_wanted() && !is_allocators(__builtin_return_address(0));
  void *mapped = map_calls_map(address, bytes, protection, flags, descriptor, offset);
  bool is_arena = flags & MAP_ANONYMOUS && mapped != MAP_FAILED &&
                  late_python_mapped(__builtin_return_address(0), mapped, bytes);
  if (noted && mapped != MAP_FAILED)
    note_added(mapped, bytes, is_arena ? RECORDER_MAP_ARENA : map_calls_kind_of(flags));
  if (protection & PROT_EXEC && descriptor >= 0 && mapped != MAP_FAILED && process_is_recorded())
    interpreters_mapped(descriptor);
  return mapped;
}

EXPORT void *mmap64(void *address, size_t bytes, int protection, int flags, int descriptor, off64_t offset)
    __attribute__((alias("mmap")));

EXPORT int munmap(void *address, size_t bytes) {
  if (mappings_any() && mappings_wanted()) note_removed(address, bytes);
  return next.munmap ? next.munmap(address, bytes) : (int)syscall(SYS_munmap, address, bytes);
}

EXPORT void *mremap(void *address, size_t bytes, size_t new_bytes, int flags, ...) {
  va_list list;
  va_start(list, flags);
  void *wished = flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) ? va_arg(list, void *) : NULL;
  va_end(list);
  bool noted = mappings_wanted() && !is_allocators(__builtin_return_address(0));
  void *moved = next.mremap ? next.mremap(address, bytes, new_bytes, flags, wished)
                            : (void *)syscall(SYS_mremap, address, bytes, new_bytes, flags, wished);
  if (noted && moved != MAP_FAILED) note_moved(address, bytes, moved, new_bytes, flags);
  return moved;
}

EXPORT int brk(void *end) {
  bool noted = mappings_wanted() && !is_allocators(__builtin_return_address(0));
  char *before = noted ? end_of_data() : NULL;
  if (!next.brk) map_calls_resolve();
  int result = next.brk(end);
  if (noted && !result) note_break((uintptr_t)before, (uintptr_t)end);
  return result;
}

EXPORT void *sbrk(intptr_t bytes) {
  bool noted = bytes && mappings_wanted() && !is_allocators(__builtin_return_address(0));
  if (!next.sbrk) map_calls_resolve();
  char *before = next.sbrk(bytes);
  if (noted && before != (void *)-1) note_break((uintptr_t)before, (uintptr_t)(before + bytes));
  return before;
}
/* SPDX-License-Identifier: MIT */
