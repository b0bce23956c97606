/* Finds out whether a program has a collected heap, by the symbols of its files.
 *
 * `winnow record` samples only malloc, and a collected heap takes its memory directly from the
 * system, so the trace of a program with such a heap shows little and does not say why. So the
 * command looks in the program's files after the run. A program that opens a collected heap imports
 * the function that opens one, or contains it if the program is linked statically. A stripped
 * program of the second kind is not recognised.
 *
 * A program that is linked statically always contains the function that requests a trace, called or
 * not.
 */
#include "cli/collected.h"

#include "cli/elf_file.h"
#include <stdbool.h>
#include <string.h>

/* Whether a symbol is the function. Linkers append the version of an imported symbol after an @. */
static bool is_called(const char *name, const char *function) {
  size_t length = strlen(function);
  return !strncmp(name, function, length) && (!name[length] || name[length] == '@');
}

/* One bit for each function. */
enum { OPENS = 1, ASKS = 2 };

static void find_functions(const Elf64_Sym *symbol, const char *name, void *context) {
  unsigned *found = context;
  (void)symbol;
  if (is_called(name, "wn_heap_open")) *found |= OPENS;
  if (is_called(name, "wn_trace_if_requested")) *found |= ASKS;
}

/* Winnow's own library has both functions, which says nothing about the program. */
static bool is_library(const char *path) {
  const char *slash = strrchr(path, '/');
  return !strncmp(slash ? slash + 1 : path, "libwinnow.so", strlen("libwinnow.so"));
}

/* ---- shared ---- */

enum collected collected_in_file(const char *path, const unsigned char *build_id, size_t build_id_bytes) {
  struct elf_file file;
  unsigned found = 0;
  if (is_library(path)) return COLLECTED_NONE;
  if (elf_file_open(path, &file) && !elf_file_is_another(&file, build_id, build_id_bytes))
    elf_file_each_symbol(&file, find_functions, &found);
  elf_file_close(&file);
  return !(found & OPENS) ? COLLECTED_NONE : found & ASKS ? COLLECTED_ASKS : COLLECTED_SILENT;
}
/* SPDX-License-Identifier: MIT */
