/* The file of a module: found, checked by its build-id, and opened. */
#pragma once

#include "symbols/debug_files.h"
#include "symbols/symbols.h"
#include <elfutils/libdwfl.h>

struct module_file {
  Dwfl *dwfl; /* NULL unless the state is OK, TABLE_ONLY or NONE */
  Dwfl_Module *module;
  enum symbols_state state;
  Dwfl_Callbacks *callbacks; /* libdwfl keeps a pointer to them */
  struct supplement {        /* the file that dwz made of what several debug files have in common */
    Dwarf *dwarf;            /* if libdwfl does not find it, but `debug_files` has it; else NULL */
    int fd;
    unsigned char lacking[64]; /* the build-id of one that is nowhere */
    size_t lacking_bytes;      /* 0: none is lacking */
  } supplement;
};

/* Where files are looked for, beside their recorded paths. */
struct module_places {
  const char *const *search; /* symbols_options */
  char *debug_path;          /* module_debug_path */
  struct debug_files files;
};

/* Finds and opens the file of a module; the state tells the outcome. `places` must outlive the
 * result. Addresses are those of the ELF file (bias 0). */
struct module_file module_file_open(const struct symbol_module *module, struct module_places *places);
void module_file_close(struct module_file *file);

/* libdwfl's list of folders for debugging symbols, with the search folders added. The caller frees
 * it. NULL without memory. */
char *module_debug_path(const char *const *search);
/* SPDX-License-Identifier: MIT */
