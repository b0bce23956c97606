/* Names for code addresses, found in the command `winnow`, on any machine that has the files.
 *
 * A module is opened when it is first asked about, below the search folders or under its recorded
 * path, and only if its build-id is the recorded one: another file under the same path must not
 * give its names. If there is no such file, a file of debugging symbols with that build-id is used.
 * Function names come from DWARF (inlined calls included), then from the symbol tables (.symtab,
 * .dynsym, .gnu_debugdata). A function without a name is called "libfoo+0xstart", with its start
 * from the call-frame information, or "libfoo+0xoffset" if that is missing too. Not thread-safe:
 * one thread uses a `struct symbols`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;

struct symbols_options {
  /* Folders to search first, ended by NULL: the root of another system, or a folder that has the
   * files. Each is tried with the module's whole path, with its file name, and as a folder of
   * debugging symbols; then all files below it are looked at (WALK in debug_files.h). May be NULL.
   */
  const char *const *search;
  bool lasting; /* answers outlive the files: symbols_close_files */
};

struct symbol_module {
  const char *path;
  const unsigned char *build_id;
  size_t build_id_bytes; /* 0: unknown; then no build-id is compared */
  uint64_t size;         /* bytes of address space; 0 if unknown */
};

struct symbol_frame {
  const char *function; /* never NULL; C++ and Rust names are demangled */
  const char *linkage;  /* the linker's name; NULL if there is none */
  const char *file;     /* NULL if unknown */
  int line;             /* 0 if unknown */
  const char *home;     /* the file that declares the function, without its folder; NULL if unknown */
  bool inlined;         /* was inlined into the next frame */
  bool nameless;        /* `function` is "libfoo+0xaddress" */
  uint32_t bytes;       /* of the function's code; 0: unknown, or inlined */
};

enum symbols_state {
  SYMBOLS_OK,         /* functions, inlined calls, lines */
  SYMBOLS_TABLE_ONLY, /* a symbol table, but no debugging information */
  SYMBOLS_NONE,       /* the file has neither */
  SYMBOLS_MISSING,    /* there is no file */
  SYMBOLS_MISMATCH,   /* there is a file with another build-id */
};

/* NULL if memory is exhausted. */
struct symbols *symbols_open(const struct symbols_options *options);
void symbols_close(struct symbols *symbols);

/* Closes all files and frees their memory, so that it does no harm if another program makes one of
 * them shorter. The answers stay, so that `winnow serve`, which loads the same recordings again and
 * again, opens no file for addresses that it has names of. Only with `lasting`. */
void symbols_close_files(struct symbols *symbols);

/* How many bytes the answers take, about. Only with `lasting`. */
size_t symbols_answer_bytes(const struct symbols *symbols);

/* Fetches debug files of those modules that lack them, if there are servers (fetch.h), and the
 * supplements by dwz that debug files lack. Each is asked for once; a file that is recorded without
 * a build-id is not. From the next look-up on they are used. To be called before names of the
 * modules are looked up. Returns what users should know in one line, such as that a server is
 * silent, in text that the caller frees; NULL: nothing. */
typedef void symbols_progress(double done, void *context);
char *symbols_fetch(struct symbols *symbols, const struct symbol_module *modules, size_t count,
                    symbols_progress *progress, void *context);

/* Whether the search folders have more files than were looked at. */
bool symbols_search_was_cut(const struct symbols *symbols);

/* Names a return address, given as an address in the module's file. Writes the frames, innermost
 * inlined call first, and returns their number, at least 1 unless `most` is 0. Strings are valid
 * until symbols_close. */
size_t symbols_resolve(struct symbols *symbols, const struct symbol_module *module, uint64_t offset,
                       struct symbol_frame *frames, size_t most);

/* The state of a module. *hint, if not NULL, becomes a sentence for users; it is empty if nothing
 * is missing. */
enum symbols_state symbols_state(struct symbols *symbols, const struct symbol_module *module,
                                 const char **hint);
/* SPDX-License-Identifier: MIT */
