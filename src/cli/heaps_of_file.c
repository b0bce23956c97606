/* Finds out whether a program has a collected heap, by the symbols and sections of its files.
 *
 * `winnow record` samples only malloc, and a collected heap takes its memory directly from the
 * system, so the trace of a program with such a heap shows little and does not say why. So the
 * command looks in the program's files after the run. A program that opens a collected heap imports
 * the function that opens one, or contains it if the program is linked statically. A stripped
 * program of the second kind is not recognised.
 *
 * A program that is linked statically always contains the function that requests a trace, called or
 * not.
 *
 * OCaml's runtime takes the memory of its heap from malloc in version 4, in pieces with many blocks
 * each, and from the system in version 5. Its functions are exported by native programs and by the
 * bytecode interpreter, which loads the stubs of the OCaml package as a library of their own.
 *
 * Go's linker writes the section .go.buildinfo into every program and library, and strip keeps it.
 */
#include "cli/heaps_of_file.h"

#include "base/text.h"
#include "cli/elf_file.h"
#include <string.h>

/* Whether a symbol is the function. Linkers append the version of an imported symbol after an @. */
static bool heaps_of_file_is_called(const char *name, const char *function) {
  size_t length = strlen(function);
  return !strncmp(name, function, length) && (!name[length] || name[length] == '@');
}

/* One bit for each function, and one for Go's section. */
enum { OPENS = 1, ASKS = 2, OCAML = 4, OCAML_ASKS = 8, GO = 16 };

static void heaps_of_file_find_functions(const Elf64_Sym *symbol, const char *name, void *context) {
  unsigned *found = context;
  (void)symbol;
  if (heaps_of_file_is_called(name, "wn_heap_open")) *found |= OPENS;
  if (heaps_of_file_is_called(name, "wn_trace_if_requested")) *found |= ASKS;
  if (heaps_of_file_is_called(name, "caml_init_gc")) *found |= OCAML;
  if (heaps_of_file_is_called(name, "winnow_count_sample")) *found |= OCAML_ASKS;
}

/* Winnow's own library has both functions, which says nothing about the program. */
static bool is_library(const char *path) { return text_begins(path_name(path), "libwinnow.so"); }

/* ---- shared ---- */

enum collected collected_in_file(const char *path, const unsigned char *build_id, size_t build_id_bytes) {
  struct elf_file file;
  unsigned found = 0;
  if (is_library(path)) return COLLECTED_NONE;
  if (elf_file_open(path, &file) && !elf_file_is_another(&file, build_id, build_id_bytes)) {
    elf_file_each_symbol(&file, heaps_of_file_find_functions, &found);
    if (elf_file_has_section(&file, ".go.buildinfo")) found |= GO;
  }
  elf_file_close(&file);
  if (found & OCAML_ASKS) return COLLECTED_OCAML_ASKS;
  if (found & OCAML) return COLLECTED_OCAML_SILENT;
  if (found & OPENS) return found & ASKS ? COLLECTED_ASKS : COLLECTED_SILENT;
  return found & GO ? COLLECTED_GO : COLLECTED_NONE;
}

bool collected_asks(enum collected collected) {
  return collected == COLLECTED_OCAML_ASKS || collected == COLLECTED_ASKS;
}

const char *collected_heap_name(enum collected collected) {
  bool ocaml = collected == COLLECTED_OCAML_SILENT || collected == COLLECTED_OCAML_ASKS;
  return collected == COLLECTED_GO ? "Go's garbage-collected heap"
         : ocaml                   ? "OCaml's garbage-collected heap"
                                   : "a garbage-collected heap of its own";
}

const char *collected_advice(enum collected collected) {
  switch (collected) {
  case COLLECTED_GO: return "go tool pprof looks into it";
  case COLLECTED_OCAML_SILENT:
    return "it could write a trace of that heap by calling Winnow.trace_if_requested (the OCaml package "
           "winnow)";
  case COLLECTED_SILENT:
    return "it could write a trace of that heap by calling wn_trace_if_requested (winnow/trace.h)";
  case COLLECTED_OCAML_ASKS:
  case COLLECTED_ASKS: return "to trace that heap, run it with WINNOW_TRACE=FILE and without winnow record";
  case COLLECTED_NONE: break;
  }
  return "";
}
/* SPDX-License-Identifier: MIT */
