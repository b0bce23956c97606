/* `winnow record` samples malloc alone, and a program on a collected heap has little to show there.
 * Nobody would tell: the heap takes its memory from the system. So the reading side looks, in the
 * files, when all is over: a program that opens such a heap imports the function that does, or has
 * it inside if it is linked statically. Stripped programs of the second kind are not recognised.
 *
 * In a program that is linked statically the function that asks for a trace is always there, called
 * or not.
 */
#include "cli/collected.h"

#include "cli/elf_file.h"
#include <stdbool.h>
#include <string.h>

/* Linkers write the version of what is imported behind an @. */
static bool is_called(const char *name, const char *function) {
  size_t length = strlen(function);
  return !strncmp(name, function, length) && (!name[length] || name[length] == '@');
}

/* A bit for each of the functions. */
enum { OPENS = 1, ASKS = 2 };

static void find_functions(const Elf64_Sym *symbol, const char *name, void *context) {
  unsigned *found = context;
  (void)symbol;
  if (is_called(name, "wn_heap_open")) *found |= OPENS;
  if (is_called(name, "wn_trace_if_requested")) *found |= ASKS;
}

/* The library has the functions for others, and does not tell which of them these call. */
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
