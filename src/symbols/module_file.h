/* The file of a module: found, checked by its build-id, and opened. */
#ifndef SYMBOLS_MODULE_FILE_H
#define SYMBOLS_MODULE_FILE_H

#include "symbols/symbols.h"
#include <elfutils/libdwfl.h>

struct module_file {
  Dwfl *dwfl; /* NULL unless the state is OK, TABLE_ONLY or NONE */
  Dwfl_Module *module;
  enum symbols_state state;
  Dwfl_Callbacks *callbacks; /* libdwfl keeps a pointer to them */
};

/* Finds and opens the file of a module; the state tells the outcome. `debug_path` must outlive the
 * result. Addresses are those of the ELF file (bias 0). */
struct module_file module_file_open(const struct symbol_module *module, const struct symbols_options *options,
                                    char **debug_path);
void module_file_close(struct module_file *file);

/* libdwfl's list of folders for debugging symbols, with the search folders added. The caller frees
 * it. NULL without memory. */
char *module_debug_path(const char *const *search);

#endif
/* SPDX-License-Identifier: MIT */
