/* Reads the symbol tables and the names of the sections of a 64-bit ELF file, by libelf. */
#pragma once

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

struct elf_file {
  int fd;
  Elf *elf;
};

/* False if the file is no 64-bit ELF file; it must be closed all the same. */
bool elf_file_open(const char *path, struct elf_file *file);
void elf_file_close(struct elf_file *file);

/* Whether the file has a build-id that differs from the given one. 0 bytes: the build-id is not
 * known. */
bool elf_file_is_another(const struct elf_file *file, const unsigned char *build_id, size_t build_id_bytes);

/* Calls `visit` for each symbol of the dynamic and the full symbol table. */
typedef void elf_file_visit(const Elf64_Sym *symbol, const char *name, void *context);
void elf_file_each_symbol(const struct elf_file *file, elf_file_visit *visit, void *context);

bool elf_file_has_section(const struct elf_file *file, const char *name);

/* The allocators in a program that its symbols show. */
struct elf_allocators {
  bool hides_malloc; /* it has a malloc that is not exported, so libraries call another one */
  const char *other; /* an allocator under another name, such as "je_malloc"; NULL: none */
};
struct elf_allocators elf_file_allocators(const char *path);
/* SPDX-License-Identifier: MIT */
