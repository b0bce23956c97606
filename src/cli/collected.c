/* `winnow record` samples malloc alone, and a program on a collected heap has little to show there. Nobody would tell: the heap takes
 * its memory from the system. So the reading side looks, in the files, when all is over: whoever opens such a heap imports the
 * function that does, or has it inside if it is linked statically. Stripped programs of the second kind are not recognised.
 *
 * In a program that is linked statically the function that asks for a trace is always there, called or not.
 */
#include "cli/collected.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECTION_MOST = 1 << 28, NOTES_MOST = 4096 };

struct file {
  int fd;
  Elf64_Shdr *sections;
  size_t section_count;
};

static bool read_at(int fd, void *bytes, size_t count, uint64_t offset) {
  return pread(fd, bytes, count, (off_t)offset) == (ssize_t)count;
}

static bool open_file(const char *path, struct file *file) {
  Elf64_Ehdr header;
  *file = (struct file){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (file->fd < 0) return false;
  if (!read_at(file->fd, &header, sizeof header, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr))
    return false;
  file->section_count = header.e_shnum;
  file->sections = calloc(file->section_count + 1, sizeof *file->sections);
  return file->sections &&
         read_at(file->fd, file->sections, file->section_count * sizeof *file->sections, header.e_shoff);
}

static void close_file(struct file *file) {
  if (file->fd >= 0) close(file->fd);
  free(file->sections);
}

/* A section's bytes, with a NUL byte behind them; NULL if there are none. */
static void *load(const struct file *file, size_t number, size_t most, size_t *bytes) {
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

/* ---- which file it is ---- */

static size_t padded(size_t count) { return (count + 3) & ~(size_t)3; }

/* Whether notes have a build-id that is another one. */
static bool contradict(const unsigned char *notes, size_t bytes, const unsigned char *build_id,
                       size_t build_id_bytes) {
  Elf64_Nhdr note;
  for (size_t at = 0; at + sizeof note <= bytes;) {
    memcpy(&note, notes + at, sizeof note);
    at += sizeof note;
    size_t name = padded(note.n_namesz), content = padded(note.n_descsz);
    if (name > bytes - at || content > bytes - at - name) return false;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(notes + at, "GNU", 4))
      return note.n_descsz != build_id_bytes || memcmp(notes + at + name, build_id, build_id_bytes) != 0;
    at += name + content;
  }
  return false;
}

static bool is_another(const struct file *file, const unsigned char *build_id, size_t build_id_bytes) {
  bool another = false;
  for (size_t i = 0; build_id_bytes && !another && i < file->section_count; i++) {
    size_t bytes;
    void *notes = file->sections[i].sh_type == SHT_NOTE ? load(file, i, NOTES_MOST, &bytes) : NULL;
    another = notes && contradict(notes, bytes, build_id, build_id_bytes);
    free(notes);
  }
  return another;
}

/* ---- symbols ---- */

/* Linkers write the version of what is imported behind an @. */
static bool is_called(const char *name, const char *function) {
  size_t length = strlen(function);
  return !strncmp(name, function, length) && (!name[length] || name[length] == '@');
}

/* A bit for each of the functions. */
enum { OPENS = 1, ASKS = 2 };

static unsigned find_functions(const Elf64_Sym *symbols, size_t count, const char *names, size_t name_bytes) {
  unsigned found = 0;
  for (size_t i = 0; i < count; i++) {
    const char *name = symbols[i].st_name < name_bytes ? names + symbols[i].st_name : "";
    if (is_called(name, "wn_heap_open")) found |= OPENS;
    if (is_called(name, "wn_trace_if_requested")) found |= ASKS;
  }
  return found;
}

enum { TABLES_MOST = 2 }; /* one of each type */

static bool is_table(const Elf64_Shdr *section) {
  return section->sh_type == SHT_DYNSYM || section->sh_type == SHT_SYMTAB;
}

static unsigned find_in_section(const struct file *file, size_t number) {
  size_t bytes, name_bytes;
  Elf64_Sym *symbols = load(file, number, SECTION_MOST, &bytes);
  char *names = load(file, file->sections[number].sh_link, SECTION_MOST, &name_bytes);
  unsigned found = symbols && names ? find_functions(symbols, bytes / sizeof *symbols, names, name_bytes) : 0;
  free(symbols);
  free(names);
  return found;
}

/* The library has the functions for others, and does not tell which of them these call. */
static bool is_library(const char *path) {
  const char *slash = strrchr(path, '/');
  return !strncmp(slash ? slash + 1 : path, "libwinnow.so", strlen("libwinnow.so"));
}

/* ---- shared ---- */

enum collected collected_in_file(const char *path, const unsigned char *build_id, size_t build_id_bytes) {
  struct file file;
  unsigned found = 0;
  if (is_library(path)) return COLLECTED_NONE;
  if (open_file(path, &file) && !is_another(&file, build_id, build_id_bytes))
    for (size_t i = 0, tables = 0; i < file.section_count && tables < TABLES_MOST; i++) {
      if (!is_table(&file.sections[i])) continue;
      found |= find_in_section(&file, i);
      tables++;
    }
  close_file(&file);
  return !(found & OPENS) ? COLLECTED_NONE : found & ASKS ? COLLECTED_ASKS : COLLECTED_SILENT;
}
/* SPDX-License-Identifier: MIT */
