/* The file of a module: found, checked by its build-id, and opened. */
#ifndef SYMBOLS_MODULE_FILE_H
#define SYMBOLS_MODULE_FILE_H

#include "symbols/symbols.h"
#include <elfutils/libdwfl.h>

struct module_file {
  Dwfl *dwfl; /* NULL unless the state is one of the first three */
  Dwfl_Module *module;
  enum symbols_state state;
  Dwfl_Callbacks *callbacks; /* libdwfl keeps a pointer to them */
};

/* `debug_path` must outlive the file. Addresses in it are those of the ELF file: nothing is
 * added. */
struct module_file module_file_open(const struct symbol_module *module, const struct symbols_options *options,
                                    char **debug_path);
void module_file_close(struct module_file *file);

/* libdwfl's list of places for debugging symbols, with the search folders; to be freed. NULL
 * without memory. */
char *module_debug_path(const char *const *search);

#endif
/* SPDX-License-Identifier: MIT */
