/* Loaded objects: from the loader or from /proc/self/maps; program headers and notes are read in
 * memory. */
#include "callstack/object.h"

#include "base/code_id.h"
#include "callstack/maps.h"
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As in <dlfcn.h> of glibc 2.35 for 64-bit x86 and ARM, declared again because older headers do not
 * have it. */
struct found_object {
  unsigned long long flags;
  void *begin, *end;
  struct link_map *map;
  void *eh_frame;
  unsigned long long reserved[8];
};
extern int find_object(void *address, struct found_object *found) __asm__("_dl_find_object")
    __attribute__((weak));

/* The program headers. NULL if the object's first page does not hold both an ELF header and
 * them. */
static const ElfW(Phdr) * program_headers(uintptr_t base, size_t *count) {
  if (!memory_readable(base)) return NULL;
  const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)base;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phentsize != sizeof(ElfW(Phdr))) return NULL;
  if (header->e_phoff % sizeof(uintptr_t) != 0 ||
      header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) > 4096)
    return NULL;
  *count = header->e_phnum;
  return (const ElfW(Phdr) *)(base + header->e_phoff);
}

/* The range and the table of an object with these program headers, whose first segment begins at
 * `base` or, if that is 0, that the kernel mapped as the program. */
static bool from_headers(const ElfW(Phdr) * headers, size_t count, uintptr_t base, struct object *object) {
  uintptr_t low = UINTPTR_MAX, high = 0, eh_frame_hdr = 0, bias = 0;
  for (const ElfW(Phdr) *header = headers; header < headers + count; header++) {
    if (header->p_type == PT_PHDR) bias = (uintptr_t)headers - header->p_vaddr;
    if (header->p_type == PT_GNU_EH_FRAME) eh_frame_hdr = header->p_vaddr;
    if (header->p_type != PT_LOAD) continue;
    if (header->p_vaddr < low) low = header->p_vaddr & ~(uintptr_t)4095;
    if (header->p_vaddr + header->p_memsz > high) high = header->p_vaddr + header->p_memsz;
  }
  if (low >= high) return false;
  if (base) bias = base - low;
  *object = (struct object){.base = bias + low,
                            .size = high - low,
                            .bias = bias,
                            .eh_frame_hdr = eh_frame_hdr ? bias + eh_frame_hdr : 0};
  return true;
}

static bool from_maps(uintptr_t address, struct object *object) {
  uintptr_t base = maps_object_base(address);
  size_t count;
  const ElfW(Phdr) *headers = base ? program_headers(base, &count) : NULL;
  return headers && from_headers(headers, count, base, object) && address - object->base < object->size;
}

/* GAPS. The kernel leaves gaps between the segments of a program whose file aligns them to more than
 * a page. Of such a program the loader finds the one segment that has the address. */
static void object_widen(uintptr_t address, struct object *object) {
  const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
  struct object whole;
  if (!headers || !from_headers(headers, getauxval(AT_PHNUM), 0, &whole) ||
      whole.eh_frame_hdr != object->eh_frame_hdr || address - whole.base >= whole.size)
    return;
  object->base = whole.base;
  object->size = whole.size;
}

static bool from_loader(uintptr_t address, struct object *object) {
  struct found_object found;
  if (find_object((void *)address, &found) != 0) return false;
  *object = (struct object){.base = (uintptr_t)found.begin,
                            .size = (uintptr_t)found.end - (uintptr_t)found.begin,
                            .eh_frame_hdr = (uintptr_t)found.eh_frame,
                            .loader_record = found.map};
  if (object->eh_frame_hdr - object->base >= object->size) object_widen(address, object);
  return true;
}

static size_t align4(size_t bytes) { return (bytes + 3) & ~(size_t)3; }

static bool build_id_in_notes(const unsigned char *at, const unsigned char *end, struct build_id *id) {
  while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    memcpy(&note, at, sizeof note);
    const unsigned char *name = at + sizeof note;
    size_t room = (size_t)(end - name);
    if (note.n_namesz > room || note.n_descsz > room || align4(note.n_namesz) + align4(note.n_descsz) > room)
      return false;
    const unsigned char *bytes = name + align4(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
      id->bytes = note.n_descsz < OBJECT_BUILD_ID_MOST ? note.n_descsz : OBJECT_BUILD_ID_MOST;
      memcpy(id->byte, bytes, id->bytes);
      return true;
    }
    at = bytes + align4(note.n_descsz);
  }
  return false;
}

/* A code_id_bytes of an object in memory. */
static const unsigned char *loaded_bytes(void *context, const Elf64_Phdr *segment, uint64_t offset,
                                         size_t count) {
  const struct object *object = context;
  uintptr_t begin = object->bias + segment->p_vaddr + offset;
  if (begin < object->base || begin - object->base > object->size ||
      count > object->size - (begin - object->base) || !memory_readable(begin))
    return NULL;
  return (const unsigned char *)begin;
}

static void object_copy_path(char path[OBJECT_PATH_MOST], const char *from) {
  size_t length = strnlen(from, OBJECT_PATH_MOST - 1);
  memcpy(path, from, length);
  path[length] = 0;
}

/* ---- shared ---- */

enum object_source object_best_source(void) { return find_object ? OBJECT_FROM_LOADER : OBJECT_FROM_MAPS; }

bool object_find(enum object_source source, uintptr_t address, struct object *object) {
  return source == OBJECT_FROM_LOADER ? from_loader(address, object) : from_maps(address, object);
}

void object_complete(struct object *object) {
  const struct link_map *record = object->loader_record;
  if (!record) return;
  object->bias = record->l_addr;
  object->loader_name = record->l_name;
}

void object_build_id(struct object *object, struct build_id *id) {
  *id = (struct build_id){0};
  size_t count;
  const ElfW(Phdr) *headers = program_headers(object->base, &count);
  if (!headers) return;
  for (const ElfW(Phdr) *header = headers; header < headers + count; header++) {
    uintptr_t begin = object->bias + header->p_vaddr;
    if (header->p_type != PT_NOTE || begin < object->base || begin - object->base > object->size ||
        header->p_filesz > object->size - (begin - object->base))
      continue;
    if (build_id_in_notes((const unsigned char *)begin, (const unsigned char *)begin + header->p_filesz, id))
      return;
  }
  if (code_id_make(headers, count, loaded_bytes, object, id->byte)) id->bytes = CODE_ID_BYTES;
}

void object_path(const struct object *object, char path[OBJECT_PATH_MOST]) {
  int saved = errno;
  path[0] = 0;
  if (object->base == getauxval(AT_SYSINFO_EHDR)) {
    object_copy_path(path, "[vdso]");
  } else if (object->loader_name && object->loader_name[0] == '/') {
    object_copy_path(path, object->loader_name);
  } else if (object->loader_name && !object->loader_name[0] && getauxval(AT_BASE)) {
    /* The main program. If the kernel loaded no loader for it, it was started as the loader's
     * argument, and the link is the loader's. */
    ssize_t length = readlink("/proc/self/exe", path, OBJECT_PATH_MOST - 1);
    path[length > 0 ? length : 0] = 0;
  } else { /* a relative name, or no loader to ask */
    maps_path(object->base, path);
  }
  errno = saved;
}

bool memory_readable(uintptr_t address) {
  /* -1 is no way to change the mask, so the mask stays. But the kernel copies the new mask in
   * first: EFAULT if it cannot read the address, else EINVAL. */
  int saved = errno;
  long result = syscall(SYS_rt_sigprocmask, -1L, address, NULL, 8);
  bool readable = result == 0 || errno != EFAULT;
  errno = saved;
  return readable;
}
/* SPDX-License-Identifier: MIT */
