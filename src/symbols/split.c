/* Joins skeletons with their split units.
 *
 * libdw 0.188 joins them itself, but opens whatever file the skeleton names, reads no packages
 * and no sections compressed by zstd, and links units inside itself only. So this file lets
 * libdw read each split unit as a file of its own, which is put together in memory (the image of
 * a `joined`): a header, then the split unit's sections under their plain names, mapped from the
 * file, then the addresses and ranges that the unit has in the program's sections, each cut so
 * that it begins where the unit's part does. The units share them, mapped from one copy of each
 * section. libdw takes the beginning for an unknown base. The one thing that it does not find there
 * is the base address of ranges; split_next_range gives it.
 *
 * Nothing is believed. Of the program's sections a unit gets at most ADDRESSES_MOST or RANGES_MOST times
 * the bytes that it has itself. A split unit belongs to the skeleton with its id. A package is opened
 * once. */
#include "symbols/split.h"

#include "base/text.h"
#include "symbols/expanded.h"
#include <dwarf.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  PARTS_MOST = 16,
  PAGE = 4096,
  ADDRESSES_MOST = 8,
  RANGES_MOST = 64,
  COLUMNS_MOST = 16,
  RANGES_PAD = 16,
  TYPES_MOST = 4096
};

/* A section of the image: of the split file, or with `bytes` of a copy that is shared. */
struct part {
  const char *name;
  uint64_t offset, size;
  const unsigned char *bytes;
};

struct merged_tree {
  struct merged_tree *next;
  unsigned char *image;
  size_t size;
  Elf *elf;
  Dwarf *dwarf;
};

struct package {
  int fd; /* -1: there is none */
  Elf *elf;
};

/* What a unit's image is made of. */
struct parts {
  struct part part[PARTS_MOST];
  size_t count;
  uint64_t own; /* bytes of the unit, without the strings, which a package shares */
};

/* The sections that are read, and their numbers in packages of DWARF 4 and 5. */
static const struct wanted {
  const char *name, *split;
  unsigned column4, column5;
} wanted[] = {{".debug_info", ".debug_info.dwo", 1, 1},
              {".debug_abbrev", ".debug_abbrev.dwo", 3, 3},
              {".debug_str_offsets", ".debug_str_offsets.dwo", 6, 6},
              {".debug_rnglists", ".debug_rnglists.dwo", 0, 8},
              {".debug_str", ".debug_str.dwo", 0, 0}};
enum { WANTED = sizeof wanted / sizeof *wanted };

/* ---- sections ---- */

/* The section of a name; of several with this name that behind `skipped` others. */
static Elf_Scn *section_named(Elf *elf, const char *name, size_t skipped, GElf_Shdr *header) {
  size_t names;
  if (elf_getshdrstrndx(elf, &names)) return NULL;
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
    const char *found = gelf_getshdr(section, header) ? elf_strptr(elf, names, header->sh_name) : NULL;
    if (found && !strcmp(found, name) && header->sh_type != SHT_NOBITS && !skipped--) return section;
  }
  return NULL;
}

static void add_part(struct parts *parts, struct part part) {
  if (part.size && parts->count < PARTS_MOST) parts->part[parts->count++] = part;
}

static size_t split_rounded(uint64_t size) { return (size_t)((size + PAGE - 1) & ~(uint64_t)(PAGE - 1)); }

/* Finds a section of the program, and room for a copy behind a page of zeros. */
static void open_shared(struct shared *shared, Dwarf *dwarf, const char *name) {
  GElf_Shdr header;
  Elf_Scn *section = section_named(dwarf_getelf(dwarf), name, 0, &header);
  const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
  if (!data || !data->d_buf) return;
  void *at = mmap(NULL, PAGE + split_rounded(data->d_size), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at != MAP_FAILED) *shared = (struct shared){(unsigned char *)at + PAGE, data->d_buf, data->d_size};
}

static void unmap_shared(const struct shared *shared) {
  if (shared->copy) munmap(shared->copy - PAGE, PAGE + split_rounded(shared->size));
}

/* Of a section of the program, the part that a unit's attribute points to, at most so many times the
 * unit's own bytes: each of its references to an address of 8 bytes has a byte at least. `wide`: the
 * attribute is that of DWARF 5, whose table has its size before it. */
static void add_shared(struct parts *parts, struct splits *splits, Dwarf_Die *skeleton, unsigned attribute,
                       const char *name, uint64_t times, bool wide) {
  bool ranges = times == RANGES_MOST;
  uint64_t pad = ranges ? RANGES_PAD : 0;
  struct shared *shared = ranges ? &splits->ranges : &splits->addresses;
  Dwarf_Attribute found;
  Dwarf_Word base = 0;
  if (!shared->copy) open_shared(shared, dwarf_cu_getdwarf(skeleton->cu), name);
  dwarf_formudata(dwarf_attr(skeleton, attribute, &found), &base);
  if (base >= shared->size) return;
  uint64_t size = shared->size - base, most = parts->own * times;
  uint32_t length;
  if (wide && base >= 8) {
    memcpy(&length, shared->bytes + base - 8, sizeof length);
    if (length >= 4 && length - 4 < size) size = length - 4;
  }
  if (size > most) size = most;
  memcpy(shared->copy + base, shared->bytes + base, size);
  add_part(parts, (struct part){.name = name, .size = size + pad, .bytes = shared->copy + base - pad});
}

/* ---- the image ---- */

static uint64_t lead_of(const struct part *part) {
  return (part->bytes ? (uintptr_t)part->bytes : part->offset) % PAGE;
}

/* Puts a part at a page of the image. */
static bool split_place(unsigned char *at, const struct part *part, int fd) {
  uint64_t lead = lead_of(part);
  size_t size = split_rounded(lead + part->size);
  if (!part->bytes)
    return mmap(at, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, (off_t)(part->offset - lead)) != MAP_FAILED;
  void *shared = (void *)(uintptr_t)(part->bytes - lead); /* size 0: it is mapped once more */
  return mremap(shared, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, at) != MAP_FAILED;
}

/* Writes the headers in the first page: of the file, of no section, of the parts, and of their
 * names. */
static void write_headers(unsigned char *image, const struct parts *parts) {
  Elf64_Ehdr file = {.e_type = ET_DYN,
                     .e_machine = EM_X86_64,
                     .e_version = EV_CURRENT,
                     .e_shoff = sizeof file,
                     .e_ehsize = sizeof file,
                     .e_shentsize = sizeof(Elf64_Shdr),
                     .e_shnum = (Elf64_Half)(parts->count + 2),
                     .e_shstrndx = (Elf64_Half)(parts->count + 1)};
  Elf64_Shdr *header = (Elf64_Shdr *)(void *)(image + sizeof file) + 1;
  size_t names = sizeof file + (parts->count + 2) * sizeof *header, name = 1, at = PAGE;
  memcpy(file.e_ident, ELFMAG, SELFMAG);
  file.e_ident[EI_CLASS] = ELFCLASS64;
  file.e_ident[EI_DATA] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  file.e_ident[EI_VERSION] = EV_CURRENT;
  memcpy(image, &file, sizeof file);
  for (size_t i = 0; i < parts->count; i++, header++) {
    const struct part *part = &parts->part[i];
    uint64_t lead = lead_of(part);
    *header = (Elf64_Shdr){.sh_name = (Elf64_Word)name,
                           .sh_type = SHT_PROGBITS,
                           .sh_offset = at + lead,
                           .sh_size = part->size,
                           .sh_addralign = 1};
    strcpy((char *)image + names + name, part->name);
    name += strlen(part->name) + 1;
    at += split_rounded(lead + part->size);
  }
  *header = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = names, .sh_size = name, .sh_addralign = 1};
}

static void joined_close(struct merged_tree *joined) {
  dwarf_end(joined->dwarf);
  elf_end(joined->elf);
  if (joined->image) munmap(joined->image, joined->size);
  free(joined);
}

static struct merged_tree *split_join(const struct parts *parts, int fd) {
  struct merged_tree *joined = calloc(1, sizeof *joined);
  if (!joined) return NULL;
  joined->size = PAGE;
  for (size_t i = 0; i < parts->count; i++)
    joined->size += split_rounded(lead_of(&parts->part[i]) + parts->part[i].size);
  void *image = mmap(NULL, joined->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  bool done = image != MAP_FAILED;
  joined->image = done ? image : NULL;
  size_t at = PAGE;
  for (size_t i = 0; done && i < parts->count; i++) {
    done = split_place(joined->image + at, &parts->part[i], fd);
    at += split_rounded(lead_of(&parts->part[i]) + parts->part[i].size);
  }
  if (done) {
    write_headers(joined->image, parts);
    joined->elf = elf_memory((char *)joined->image, joined->size);
    joined->dwarf = joined->elf ? dwarf_begin_elf(joined->elf, DWARF_C_READ, NULL) : NULL;
    if (joined->dwarf) return joined;
  }
  joined_close(joined);
  return NULL;
}

/* ---- finding a unit ---- */

static bool split_id_of(Dwarf_CU *cu, uint8_t *type, uint64_t *id, Dwarf_Half *version) {
  return dwarf_cu_info(cu, version, type, NULL, NULL, id, NULL, NULL) == 0;
}

/* Finds in an image the unit with a skeleton's id. */
static bool split_find_unit(struct merged_tree *joined, uint64_t id, Dwarf_Die *unit) {
  Dwarf_CU *cu = NULL;
  uint8_t type;
  while (dwarf_get_units(joined->dwarf, cu, &cu, NULL, &type, unit, NULL) == 0) {
    uint64_t found;
    Dwarf_Half version;
    if (type == DW_UT_split_compile && split_id_of(cu, &type, &found, &version) && found == id) return true;
  }
  return false;
}

/* Where a package has a unit: `share` becomes the offset and size of each of its parts. */
struct share {
  uint32_t offset, size;
};
static bool find_in_package(Elf *elf, uint64_t id, unsigned version, struct share share[WANTED]) {
  GElf_Shdr header;
  Elf_Scn *section = section_named(elf, ".debug_cu_index", 0, &header);
  const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
  uint32_t head[4];
  if (!data || !data->d_buf || data->d_size < sizeof head) return false;
  memcpy(head, data->d_buf, sizeof head);
  uint64_t columns = head[1], rows = head[2], slots = head[3];
  const unsigned char *ids = (const unsigned char *)data->d_buf + sizeof head;
  if ((head[0] & 0xffff) != (version < 5 ? 2 : 5) || columns > COLUMNS_MOST || slots > data->d_size ||
      rows > data->d_size || sizeof head + slots * 12 + columns * 4 + columns * rows * 8 > data->d_size)
    return false;
  const unsigned char *numbers = ids + slots * 8, *names = numbers + slots * 4;
  uint64_t slot = 0, found;
  uint32_t row, column;
  for (; slot < slots; slot++)
    if (memcpy(&found, ids + slot * 8, 8), found == id) break;
  if (slot == slots || (memcpy(&row, numbers + slot * 4, 4), !row || row > rows)) return false;
  for (uint64_t i = 0; i < columns; i++) {
    const unsigned char *offset = names + (row * columns + i) * 4; /* the names are row 0 */
    memcpy(&column, names + i * 4, 4);
    for (size_t j = 0; j < WANTED; j++)
      if (column && column == (version < 5 ? wanted[j].column4 : wanted[j].column5)) {
        memcpy(&share[j].offset, offset, 4);
        memcpy(&share[j].size, offset + rows * columns * 4, 4);
      }
  }
  return true;
}

/* Opens the unit in a split file, in the section of entries behind `nth` others, or in a
 * package. The caller keeps the descriptor. */
static bool open_unit(struct splits *splits, Elf *elf, int fd, bool package, size_t nth, Dwarf_Die *skeleton,
                      struct split *split) {
  struct parts parts = {.count = 0};
  struct share share[WANTED] = {{0, 0}};
  struct stat file;
  uint64_t id;
  uint8_t type;
  Dwarf_Half version;
  if (fstat(fd, &file) || !split_id_of(skeleton->cu, &type, &id, &version)) return false;
  if (package && !find_in_package(elf, id, version, share)) return false;
  for (size_t i = 0; i < WANTED; i++) {
    GElf_Shdr header;
    bool shared = !wanted[i].column5;
    if (!section_named(elf, wanted[i].split, i ? 0 : nth, &header)) {
      if (!i) return false;
      continue;
    }
    uint64_t offset = package && !shared ? share[i].offset : 0;
    uint64_t size = package && !shared ? share[i].size : header.sh_size;
    if (header.sh_offset > (uint64_t)file.st_size ||
        header.sh_size > (uint64_t)file.st_size - header.sh_offset || offset > header.sh_size ||
        size > header.sh_size - offset)
      return false;
    if (!shared) parts.own += size;
    add_part(&parts,
             (struct part){.name = wanted[i].name, .offset = header.sh_offset + offset, .size = size});
  }
  bool five = version >= 5;
  add_shared(&parts, splits, skeleton, five ? DW_AT_addr_base : DW_AT_GNU_addr_base, ".debug_addr",
             ADDRESSES_MOST, five);
  if (!five) add_shared(&parts, splits, skeleton, DW_AT_GNU_ranges_base, ".debug_ranges", RANGES_MOST, false);
  struct merged_tree *joined = split_join(&parts, fd);
  if (!joined) return false;
  if (!split_find_unit(joined, id, &split->unit)) {
    joined_close(joined);
    return false;
  }
  joined->next = splits->joined;
  splits->joined = joined;
  if (dwarf_lowpc(skeleton, &split->base)) split->base = 0;
  GElf_Shdr header;
  Elf_Scn *lists = section_named(joined->elf, ".debug_rnglists", 0, &header);
  split->lists = lists ? elf_rawdata(lists, NULL) : NULL;
  split->bytes = parts.own;
  return true;
}

/* The offset of a list of ranges by its number: of DWARF 5, in a table behind the header of 12
 * bytes. -1: there is none. */
static ptrdiff_t list_at(const Elf_Data *lists, uint64_t number) {
  enum { TABLE = 12, ENTRY = 4 };
  uint32_t offset;
  if (!lists || !lists->d_buf || lists->d_size < TABLE || number >= (lists->d_size - TABLE) / ENTRY)
    return -1;
  memcpy(&offset, (const unsigned char *)lists->d_buf + TABLE + number * ENTRY, ENTRY);
  return (ptrdiff_t)offset + TABLE;
}

/* ---- finding files ---- */

static int open_expanded(struct splits *splits, const char *path) {
  uint64_t left = EXPANDED_MOST - splits->taken, before = left;
  int fd = expanded(regular_open(path), &left);
  splits->taken += before - left;
  return fd;
}

/* How many sections of entries a split file has, at most TYPES_MOST. */
static size_t units_in(Elf *elf) {
  GElf_Shdr header;
  size_t count = 0;
  while (count < TYPES_MOST && section_named(elf, wanted[0].split, count, &header)) count++;
  return count;
}

static bool try_file(struct splits *splits, const char *folder, int length, const char *name,
                     Dwarf_Die *skeleton, struct split *split) {
  char *path;
  if (asprintf(&path, "%.*s%s%s", length, folder, length ? "/" : "", name) < 0) return false;
  int fd = open_expanded(splits, path);
  free(path);
  if (fd < 0) return false;
  Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
  bool found = false;
  size_t units = elf ? units_in(elf) : 0;
  for (size_t nth = 0; !found && nth < units; nth++) /* those of types come first */
    found = open_unit(splits, elf, fd, false, nth, skeleton, split);
  elf_end(elf);
  close(fd);
  return found;
}

/* The .dwo in the search folders, in the folder where it was compiled, and beside the program. */
static bool split_find_file(struct splits *splits, const char *program, Dwarf_Die *skeleton,
                            struct split *split) {
  Dwarf_Attribute found;
  const char *name = dwarf_formstring(dwarf_attr(skeleton, DW_AT_dwo_name, &found));
  if (!name) name = dwarf_formstring(dwarf_attr(skeleton, DW_AT_GNU_dwo_name, &found));
  const char *folder = dwarf_formstring(dwarf_attr(skeleton, DW_AT_comp_dir, &found));
  if (!name || !*name) return false;
  for (const char *const *search = splits->search; search && *search; search++)
    if (try_file(splits, *search, (int)strlen(*search), name, skeleton, split) ||
        try_file(splits, *search, (int)strlen(*search), path_name(name), skeleton, split))
      return true;
  bool absolute = *name == '/';
  return (absolute && try_file(splits, "", 0, name, skeleton, split)) ||
         (!absolute && folder && try_file(splits, folder, (int)strlen(folder), name, skeleton, split)) ||
         try_file(splits, program, (int)(path_name(program) - program), path_name(name), skeleton, split);
}

/* Opens PROGRAM.dwp beside the program, or in a search folder. */
static struct package *package_of(struct splits *splits, const char *program) {
  if (splits->package) return splits->package;
  struct package *package = splits->package = calloc(1, sizeof *package);
  if (!package) return NULL;
  char *path;
  package->fd = -1;
  for (const char *const *search = splits->search; search && *search && package->fd < 0; search++)
    if (asprintf(&path, "%s/%s.dwp", *search, path_name(program)) >= 0) {
      package->fd = open_expanded(splits, path);
      free(path);
    }
  if (package->fd < 0 && asprintf(&path, "%s.dwp", program) >= 0) {
    package->fd = open_expanded(splits, path);
    free(path);
  }
  package->elf = package->fd < 0 ? NULL : elf_begin(package->fd, ELF_C_READ_MMAP, NULL);
  return package;
}

/* ---- shared ---- */

void splits_close(struct splits *splits) {
  for (struct merged_tree *joined = splits->joined, *next; joined; joined = next) {
    next = joined->next;
    joined_close(joined);
  }
  if (splits->package) {
    elf_end(splits->package->elf);
    if (splits->package->fd >= 0) close(splits->package->fd);
  }
  free(splits->package);
  unmap_shared(&splits->addresses);
  unmap_shared(&splits->ranges);
  *splits = (struct splits){.search = splits->search};
}

bool split_is_skeleton(Dwarf_Die *unit) {
  uint64_t id;
  uint8_t type;
  Dwarf_Half version;
  return split_id_of(unit->cu, &type, &id, &version) && type == DW_UT_skeleton;
}

bool split_find(struct splits *splits, Dwfl_Module *module, Dwarf_Die *skeleton, struct split *split) {
  const char *file = NULL;
  dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, NULL);
  if (!file) return false;
  struct package *package = package_of(splits, file);
  return (package && package->elf &&
          open_unit(splits, package->elf, package->fd, true, 0, skeleton, split)) ||
         split_find_file(splits, file, skeleton, split);
}

bool split_next_range(const struct split *split, Dwarf_Die *entry, ptrdiff_t *at, Dwarf_Addr *base,
                      Dwarf_Addr *begin, Dwarf_Addr *end) {
  Dwarf_Attribute found;
  Dwarf_Word value;
  if (!*at && !dwarf_formudata(dwarf_attr(entry, DW_AT_ranges, &found), &value)) {
    *base = split->base;
    *at = dwarf_whatform(&found) == DW_FORM_rnglistx ? list_at(split->lists, value)
                                                     : (ptrdiff_t)value + RANGES_PAD;
    if (*at < 0) return false;
  }
  *at = dwarf_ranges(entry, *at, base, begin, end);
  return *at > 0;
}
/* SPDX-License-Identifier: MIT */
