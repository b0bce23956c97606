/* Reads ELF files by libelf. Files are mapped, not read. libelf checks that each name ends inside
 * its section. */
#include "cli/elf_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void visit_table(Elf *elf, Elf_Scn *section, const Elf64_Shdr *header, elf_file_visit *visit,
                        void *context) {
  const Elf_Data *data = elf_getdata(section, NULL);
  const Elf64_Sym *symbols = data ? data->d_buf : NULL;
  for (size_t i = 0; symbols && i < data->d_size / sizeof *symbols; i++) {
    const char *name = elf_strptr(elf, header->sh_link, symbols[i].st_name);
    if (name) visit(&symbols[i], name, context);
  }
}

/* Names of allocators that are often linked into programs under their own names, also by Rust. */
static const char *known_allocator(const char *name) {
  static const char *const known[] = {"je_malloc", "_rjem_malloc", "mi_malloc",
                                      "tc_malloc", "rpmalloc",     "sn_malloc"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(name, known[i])) return known[i];
  return NULL;
}

static void elf_file_find_allocator(const Elf64_Sym *symbol, const char *name, void *context) {
  struct elf_allocators *found = context;
  bool hidden =
      ELF64_ST_BIND(symbol->st_info) == STB_LOCAL || ELF64_ST_VISIBILITY(symbol->st_other) != STV_DEFAULT;
  if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) return;
  if (hidden && !strcmp(name, "malloc")) found->hides_malloc = true;
  if (!found->other) found->other = known_allocator(name);
}

/* ---- shared ---- */

bool elf_file_open(const char *path, struct elf_file *file) {
  elf_version(EV_CURRENT);
  *file = (struct elf_file){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (file->fd < 0) return false;
  file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
  return file->elf && elf_kind(file->elf) == ELF_K_ELF && elf64_getehdr(file->elf);
}

void elf_file_close(struct elf_file *file) {
  elf_end(file->elf);
  if (file->fd >= 0) close(file->fd);
}

bool elf_file_is_another(const struct elf_file *file, const unsigned char *build_id, size_t build_id_bytes) {
  const void *found;
  ssize_t bytes = build_id_bytes ? dwelf_elf_gnu_build_id(file->elf, &found) : 0;
  return bytes > 0 && ((size_t)bytes != build_id_bytes || memcmp(found, build_id, build_id_bytes) != 0);
}

void elf_file_each_symbol(const struct elf_file *file, elf_file_visit *visit, void *context) {
  for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
    const Elf64_Shdr *header = elf64_getshdr(section);
    bool table = header && (header->sh_type == SHT_DYNSYM || header->sh_type == SHT_SYMTAB);
    if (table) visit_table(file->elf, section, header, visit, context);
  }
}

bool elf_file_has_section(const struct elf_file *file, const char *name) {
  size_t names;
  if (elf_getshdrstrndx(file->elf, &names)) return false;
  for (Elf_Scn *section = NULL; (section = elf_nextscn(file->elf, section));) {
    const Elf64_Shdr *header = elf64_getshdr(section);
    const char *found = header ? elf_strptr(file->elf, names, header->sh_name) : NULL;
    if (found && !strcmp(found, name)) return true;
  }
  return false;
}

struct elf_allocators elf_file_allocators(const char *path) {
  struct elf_file file;
  struct elf_allocators found = {0};
  if (elf_file_open(path, &file)) elf_file_each_symbol(&file, elf_file_find_allocator, &found);
  elf_file_close(&file);
  return found;
}
/* SPDX-License-Identifier: MIT */
