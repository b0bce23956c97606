/* The symbol tables of an ELF file. */
#include "cli/elf_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECTION_MOST = 1 << 28, TABLES_MOST = 2 /* one of each type */ };

static bool read_at(int fd, void *bytes, size_t count, uint64_t offset) {
  return pread(fd, bytes, count, (off_t)offset) == (ssize_t)count;
}

static bool is_table(const Elf64_Shdr *section) {
  return section->sh_type == SHT_DYNSYM || section->sh_type == SHT_SYMTAB;
}

static void visit_section(const struct elf_file *file, size_t number, elf_file_visit *visit, void *context) {
  size_t bytes, name_bytes;
  Elf64_Sym *symbols = elf_file_section(file, number, SECTION_MOST, &bytes);
  char *names = elf_file_section(file, file->sections[number].sh_link, SECTION_MOST, &name_bytes);
  for (size_t i = 0; symbols && names && i < bytes / sizeof *symbols; i++)
    if (symbols[i].st_name < name_bytes) visit(&symbols[i], names + symbols[i].st_name, context);
  free(symbols);
  free(names);
}

/* The allocators that programs are linked with under names of their own, Rust's among them. */
static const char *known_allocator(const char *name) {
  static const char *const known[] = {"je_malloc", "_rjem_malloc", "mi_malloc",
                                      "tc_malloc", "rpmalloc",     "sn_malloc"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(name, known[i])) return known[i];
  return NULL;
}

static void find_allocator(const Elf64_Sym *symbol, const char *name, void *context) {
  struct elf_allocators *found = context;
  bool hidden =
      ELF64_ST_BIND(symbol->st_info) == STB_LOCAL || ELF64_ST_VISIBILITY(symbol->st_other) != STV_DEFAULT;
  if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) return;
  if (hidden && !strcmp(name, "malloc")) found->hides_malloc = true;
  if (!found->other) found->other = known_allocator(name);
}

/* ---- shared ---- */

bool elf_file_open(const char *path, struct elf_file *file) {
  Elf64_Ehdr header;
  *file = (struct elf_file){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (file->fd < 0) return false;
  if (!read_at(file->fd, &header, sizeof header, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr))
    return false;
  file->section_count = header.e_shnum;
  file->sections = calloc(file->section_count + 1, sizeof *file->sections);
  return file->sections &&
         read_at(file->fd, file->sections, file->section_count * sizeof *file->sections, header.e_shoff);
}

void elf_file_close(struct elf_file *file) {
  if (file->fd >= 0) close(file->fd);
  free(file->sections);
}

void *elf_file_section(const struct elf_file *file, size_t number, size_t most, size_t *bytes) {
  if (number >= file->section_count || !file->sections[number].sh_size ||
      file->sections[number].sh_size > most)
    return NULL;
  *bytes = (size_t)file->sections[number].sh_size;
  char *loaded = malloc(*bytes + 1);
  if (loaded && !read_at(file->fd, loaded, *bytes, file->sections[number].sh_offset)) {
    free(loaded);
    return NULL;
  }
  if (loaded) loaded[*bytes] = 0;
  return loaded;
}

void elf_file_each_symbol(const struct elf_file *file, elf_file_visit *visit, void *context) {
  for (size_t i = 0, tables = 0; i < file->section_count && tables < TABLES_MOST; i++) {
    if (!is_table(&file->sections[i])) continue;
    visit_section(file, i, visit, context);
    tables++;
  }
}

struct elf_allocators elf_file_allocators(const char *path) {
  struct elf_file file;
  struct elf_allocators found = {0};
  if (elf_file_open(path, &file)) elf_file_each_symbol(&file, find_allocator, &found);
  elf_file_close(&file);
  return found;
}
/* SPDX-License-Identifier: MIT */
