/* Names for code addresses, found in the reading command, on any machine that has the files.
 *
 * A module is opened when it is first asked about, under its recorded path or below the search
 * paths, and only if its build-id is the recorded one: another file that has taken its place must
 * not lend its names. Failing that, a file of debugging symbols with that build-id will do.
 * Function names come from DWARF (inlined calls included), then from the symbol tables (.symtab,
 * .dynsym, .gnu_debugdata); a function without a name is called "module+0xstart", its start taken
 * from the call-frame information, or "module+0xoffset" where even that is missing. Not
 * thread-safe: one thread uses a `struct symbols`. */
#ifndef SYMBOLS_SYMBOLS_H
#define SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;

struct symbols_options {
  /* Fetch what is missing from the servers in DEBUGINFOD_URLS. If false, the variable is emptied in
   * this process. */
  bool debuginfod;
  /* Folders to look into first, NULL at the end: the root of another system, or a folder that has
   * the files. Each is tried with the module's whole path, with its last part, and as a place of
   * debugging symbols. May be NULL. */
  const char *const *search;
};

struct symbol_module {
  const char *path;
  const unsigned char *build_id;
  size_t build_id_bytes; /* 0: unknown, and then not checked */
  uint64_t size;         /* bytes of address space; 0 if unknown */
};

struct symbol_frame {
  const char *function; /* never NULL; C++ and Rust names are demangled */
  const char *linkage;  /* as the linker knows it; NULL if there is none */
  const char *file;     /* NULL if unknown */
  int line;             /* 0 if unknown */
  bool inlined;         /* was compiled into the next frame */
  bool nameless;        /* `function` is an address */
};

enum symbols_state {
  SYMBOLS_OK,         /* functions, inlined calls, lines */
  SYMBOLS_TABLE_ONLY, /* a symbol table, but no debugging information */
  SYMBOLS_NONE,       /* the file is there and says nothing */
  SYMBOLS_MISSING,    /* the file is not there */
  SYMBOLS_MISMATCH,   /* another file has its path */
};

/* NULL if memory is exhausted. */
struct symbols *symbols_open(const struct symbols_options *options);
void symbols_close(struct symbols *symbols);

/* Names a return address, given as an address in the module's file, innermost inlined call first.
 * Returns the number of frames written, at least 1 if `most` is. Strings are valid until
 * symbols_close. */
size_t symbols_resolve(struct symbols *symbols, const struct symbol_module *module, uint64_t offset,
                       struct symbol_frame *frames, size_t most);

/* What is known about a module, and in *hint (if not NULL) one sentence for the user; empty if all
 * is well. */
enum symbols_state symbols_state(struct symbols *symbols, const struct symbol_module *module,
                                 const char **hint);

#endif
/* SPDX-License-Identifier: MIT */
