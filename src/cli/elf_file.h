/* The symbol tables of an ELF file of 64 bits, by libelf. */
#ifndef CLI_ELF_FILE_H
#define CLI_ELF_FILE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>

struct elf_file {
  int fd;
  Elf *elf;
};

/* False if it is no such file; it must be closed all the same. */
bool elf_file_open(const char *path, struct elf_file *file);
void elf_file_close(struct elf_file *file);

/* Whether the file has a build-id that is another one than this (of no bytes: not known). */
bool elf_file_is_another(const struct elf_file *file, const unsigned char *build_id, size_t build_id_bytes);

/* Visits each symbol of the dynamic table and of the full one. */
typedef void elf_file_visit(const Elf64_Sym *symbol, const char *name, void *context);
void elf_file_each_symbol(const struct elf_file *file, elf_file_visit *visit, void *context);

/* Allocators inside a program that the symbols show. */
struct elf_allocators {
  bool hides_malloc; /* a malloc that is not exported: libraries call another one */
  const char *other; /* one under another name, such as "je_malloc"; NULL: none */
};
struct elf_allocators elf_file_allocators(const char *path);

#endif
/* SPDX-License-Identifier: MIT */
