/* Finds the file of a module. It tries, in this order: the search folders, with the module's path
 * and with its file name; the recorded path; the debug files by build-id below the search folders
 * and below /usr/lib/debug; and a debuginfod server, if the user allowed it. Each file must have
 * the recorded build-id, or else the recorded id of its code (base/code_id.h), if there is one.
 * libdwfl then finds the file of debugging symbols that belongs to the module, by build-id or by
 * debug link. It is given each file with its sections expanded (expanded.h). */
#include "symbols/module_file.h"

#include "base/code_id.h"
#include "base/text.h"
#include "symbols/expanded.h"
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char standard_debug[] = "/usr/lib/debug";

struct whole {
  const unsigned char *bytes;
  size_t count;
};

/* A code_id_bytes of a file. */
static const unsigned char *file_bytes(void *context, const Elf64_Phdr *segment, uint64_t offset,
                                       size_t count) {
  const struct whole *file = context;
  uint64_t begin = segment->p_offset + offset;
  return begin < offset || begin > file->count || count > file->count - begin ? NULL : file->bytes + begin;
}

/* Whether a file has this code. One with a build-id is another than the recorded one, which had
 * none. */
static bool has_code(Elf *elf, const unsigned char *code_id) {
  unsigned char found[CODE_ID_BYTES];
  const void *id;
  struct whole file = {.count = 0};
  size_t count;
  file.bytes = (const unsigned char *)elf_rawfile(elf, &file.count);
  const Elf64_Phdr *headers = elf64_getphdr(elf);
  return dwelf_elf_gnu_build_id(elf, &id) <= 0 && file.bytes && headers && !elf_getphdrnum(elf, &count) &&
         code_id_make(headers, count, file_bytes, &file, found) && !memcmp(found, code_id, sizeof found);
}

static bool has_build_id(Elf *elf, const struct symbol_module *module) {
  const void *id;
  ssize_t bytes = dwelf_elf_gnu_build_id(elf, &id);
  return bytes == (ssize_t)module->build_id_bytes && !memcmp(id, module->build_id, (size_t)bytes);
}

static bool has_code_id(const struct symbol_module *module) {
  return code_id_is(module->build_id, module->build_id_bytes);
}

/* Whether the file at a path is the recorded module. */
static enum symbols_state check_file(const char *path, const struct symbol_module *module) {
  int fd = regular_open(path);
  if (fd < 0) return SYMBOLS_MISSING;
  enum symbols_state state = SYMBOLS_MISMATCH;
  Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
  if (elf && elf_kind(elf) == ELF_K_ELF) {
    bool same = has_code_id(module) ? has_code(elf, module->build_id) : has_build_id(elf, module);
    if (!module->build_id_bytes || same) state = SYMBOLS_OK;
  }
  elf_end(elf);
  close(fd);
  return state;
}

static int expand(int fd) {
  uint64_t budget = EXPANDED_MOST;
  return expanded(fd, &budget);
}

/* A debug file that is expanded. */
struct debug_file {
  int fd;
  const char *name;
};

static void add_module(struct module_file *file, const char *path, const Dwfl_Callbacks *callbacks) {
  file->dwfl = dwfl_begin(callbacks);
  if (!file->dwfl) return;
  dwfl_report_begin(file->dwfl);
  int fd = expand(regular_open(path));
  file->module = dwfl_report_elf(file->dwfl, path, path, fd, 0, true);
  if (!file->module && fd >= 0) close(fd);
  dwfl_report_end(file->dwfl, NULL, NULL);
}

/* Opens the file at this path if it is the right one. If a wrong one is there, notes that in
 * file->state. */
static bool try_path(struct module_file *file, const char *path, const struct symbol_module *module,
                     const Dwfl_Callbacks *callbacks) {
  enum symbols_state state = check_file(path, module);
  if (state == SYMBOLS_MISMATCH) file->state = SYMBOLS_MISMATCH;
  if (state != SYMBOLS_OK) return false;
  add_module(file, path, callbacks);
  return file->module != NULL;
}

static bool try_below(struct module_file *file, const char *folder, const char *path,
                      const struct symbol_module *module, const Dwfl_Callbacks *callbacks) {
  char *joined;
  if (asprintf(&joined, "%s/%s", folder, path) < 0) return false;
  bool found = try_path(file, joined, module, callbacks);
  free(joined);
  return found;
}

static bool try_build_id(struct module_file *file, const char *folder, const struct symbol_module *module,
                         const Dwfl_Callbacks *callbacks) {
  char name[160];
  if (module->build_id_bytes < 2 || module->build_id_bytes > 64 || has_code_id(module)) return false;
  size_t length = (size_t)snprintf(name, sizeof name, ".build-id/%02x/", module->build_id[0]);
  for (size_t i = 1; i < module->build_id_bytes; i++)
    length += (size_t)snprintf(name + length, sizeof name - length, "%02x", module->build_id[i]);
  snprintf(name + length, sizeof name - length, ".debug");
  return try_below(file, folder, name, module, callbacks);
}

/* Lets libdwfl find the file by its build-id, which may ask a server. */
static bool try_server(struct module_file *file, const struct symbol_module *module,
                       const Dwfl_Callbacks *callbacks) {
  if (!module->build_id_bytes || !module->size || has_code_id(module)) return false;
  file->dwfl = dwfl_begin(callbacks);
  if (!file->dwfl) return false;
  dwfl_report_begin(file->dwfl);
  file->module = dwfl_report_module(file->dwfl, module->path, 0, module->size);
  GElf_Addr bias;
  bool found = file->module &&
               dwfl_module_report_build_id(file->module, module->build_id, module->build_id_bytes, 0) == 0 &&
               dwfl_module_getelf(file->module, &bias) != NULL;
  dwfl_report_end(file->dwfl, NULL, NULL);
  if (found) return true;
  dwfl_end(file->dwfl);
  file->dwfl = NULL;
  file->module = NULL;
  return false;
}

static bool find(struct module_file *file, const struct symbol_module *module,
                 const struct symbols_options *options, const Dwfl_Callbacks *callbacks) {
  const char *last = path_name(module->path);
  const char *const *search = options->search;
  for (; search && *search; search++)
    if (try_below(file, *search, module->path, module, callbacks) ||
        try_below(file, *search, last, module, callbacks))
      return true;
  if (module->path[0] == '/' && try_path(file, module->path, module, callbacks)) return true;
  for (search = options->search; search && *search; search++)
    if (try_build_id(file, *search, module, callbacks)) return true;
  return try_build_id(file, standard_debug, module, callbacks) ||
         (options->debuginfod && try_server(file, module, callbacks));
}

/* What libdwfl calls to find the debug file, once it is expanded. Not around
 * dwfl_standard_find_debuginfo, which leaves the file that it has found inside the module. */
static int find_expanded(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                         const char *file_name, const char *link, GElf_Word sum, char **debug_name) {
  struct debug_file *debug = *data;
  if (!debug) return dwfl_standard_find_debuginfo(module, data, name, base, file_name, link, sum, debug_name);
  *data = NULL;
  *debug_name = strdup(debug->name);
  return dup(debug->fd);
}

/* Opens the module anew if its debug file is another file, and compressed. */
static void expand_debug_file(struct module_file *file, Dwfl_Callbacks *callbacks) {
  Dwarf_Addr bias;
  const char *program, *name = NULL;
  void **data;
  dwfl_module_getdwarf(file->module, &bias);
  dwfl_module_info(file->module, NULL, NULL, NULL, NULL, NULL, &program, &name);
  int found = name && program ? regular_open(name) : -1, fd = expand(found);
  if (fd != found) {
    struct module_file other = {.dwfl = NULL};
    struct debug_file debug = {fd, name};
    callbacks->find_debuginfo = find_expanded;
    add_module(&other, program, callbacks);
    if (other.module) {
      dwfl_module_info(other.module, &data, NULL, NULL, NULL, NULL, NULL, NULL);
      *data = &debug;
      dwfl_module_getdwarf(other.module, &bias);
      *data = NULL;
      dwfl_end(file->dwfl);
      file->dwfl = other.dwfl;
      file->module = other.module;
    } else if (other.dwfl) {
      dwfl_end(other.dwfl);
    }
  }
  if (fd >= 0) close(fd);
}

static enum symbols_state content(Dwfl_Module *module) {
  Dwarf_Addr bias;
  if (dwfl_module_getdwarf(module, &bias)) return SYMBOLS_OK;
  return dwfl_module_getsymtab(module) > 1 ? SYMBOLS_TABLE_ONLY : SYMBOLS_NONE;
}

/* ---- shared ---- */

struct module_file module_file_open(const struct symbol_module *module, const struct symbols_options *options,
                                    char **debug_path) {
  struct module_file file = {.state = SYMBOLS_MISSING};
  file.callbacks = malloc(sizeof *file.callbacks);
  if (!file.callbacks) return file;
  *file.callbacks = (Dwfl_Callbacks){.find_elf = dwfl_build_id_find_elf,
                                     .find_debuginfo = dwfl_standard_find_debuginfo,
                                     .section_address = dwfl_offline_section_address,
                                     .debuginfo_path = debug_path};
  if (find(&file, module, options, file.callbacks)) {
    expand_debug_file(&file, file.callbacks);
    file.state = content(file.module);
  }
  return file;
}

void module_file_close(struct module_file *file) {
  if (file->dwfl) dwfl_end(file->dwfl);
  free(file->callbacks);
  *file = (struct module_file){.state = SYMBOLS_MISSING};
}

/* Uses absolute names: libdwfl takes a relative folder as relative to the module, and looks for no
 * build-ids there. */
char *module_debug_path(const char *const *search) {
  char *path = strdup("+:.debug:/usr/lib/debug");
  for (; path && search && *search; search++) {
    char *longer, *absolute = realpath(*search, NULL);
    const char *folder = absolute ? absolute : *search;
    if (asprintf(&longer, "%s:%s:%s%s", path, folder, folder, standard_debug) < 0) longer = NULL;
    free(absolute);
    free(path);
    path = longer;
  }
  return path;
}
/* SPDX-License-Identifier: MIT */
