/* Finds the file of a module. It tries, in this order: the search folders, with the module's path
 * and with its file name; the recorded path; the debug files by build-id below the search folders
 * and below /usr/lib/debug; and those that servers sent, or that are anywhere below the search
 * folders (debug_files.h). Each file must have the recorded build-id, or else the recorded id of
 * its code (base/code_id.h), if there is one. libdwfl then finds the file of debugging symbols that
 * belongs to the module, by build-id or by debug link; if it does not, debug_files.h may. It is
 * given each file with its sections expanded (expanded.h). */
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
static const unsigned char *module_file_file_bytes(void *context, const Elf64_Phdr *segment, uint64_t offset,
                                                   size_t count) {
  const struct whole *file = context;
  uint64_t begin = segment->p_offset + offset;
  return begin < offset || begin > file->count || count > file->count - begin ? NULL : file->bytes + begin;
}

/* Whether a file has this code. One with a build-id is another than the recorded one, which had
 * none. */
static bool module_file_has_code(Elf *elf, const unsigned char *code_id) {
  unsigned char found[CODE_ID_BYTES];
  const void *id;
  struct whole file = {.count = 0};
  size_t count;
  file.bytes = (const unsigned char *)elf_rawfile(elf, &file.count);
  const Elf64_Phdr *headers = elf64_getphdr(elf);
  return dwelf_elf_gnu_build_id(elf, &id) <= 0 && file.bytes && headers && !elf_getphdrnum(elf, &count) &&
         code_id_make(headers, count, module_file_file_bytes, &file, found) &&
         !memcmp(found, code_id, sizeof found);
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
    bool same = has_code_id(module) ? module_file_has_code(elf, module->build_id) : has_build_id(elf, module);
    if (!module->build_id_bytes || same) state = SYMBOLS_OK;
  }
  elf_end(elf);
  close(fd);
  return state;
}

static int module_file_expand(int fd) {
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
  int fd = module_file_expand(regular_open(path));
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

/* Of the module's own build-id; NULL: none is known. */
static const char *known_file(const struct symbol_module *module, struct debug_files *files) {
  return has_code_id(module) ? NULL : debug_files_find(files, module->build_id, module->build_id_bytes);
}

static bool try_known(struct module_file *file, const struct symbol_module *module,
                      struct module_places *places, const Dwfl_Callbacks *callbacks) {
  const char *path = known_file(module, &places->files);
  return path && try_path(file, path, module, callbacks);
}

static bool module_file_find(struct module_file *file, const struct symbol_module *module,
                             struct module_places *places, const Dwfl_Callbacks *callbacks) {
  const char *last = path_name(module->path);
  const char *const *search = places->search;
  for (; search && *search; search++)
    if (try_below(file, *search, module->path, module, callbacks) ||
        try_below(file, *search, last, module, callbacks))
      return true;
  if (module->path[0] == '/' && try_path(file, module->path, module, callbacks)) return true;
  for (search = places->search; search && *search; search++)
    if (try_build_id(file, *search, module, callbacks)) return true;
  return try_build_id(file, standard_debug, module, callbacks) || try_known(file, module, places, callbacks);
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

/* Opens the module anew if libdwfl finds no debug file, but another one is known; or if the debug
 * file is another file than the program, and compressed. */
static void use_debug_file(struct module_file *file, const struct symbol_module *module,
                           struct debug_files *files) {
  Dwarf_Addr bias;
  const char *program, *name = NULL, *known = NULL;
  void **data;
  if (!dwfl_module_getdwarf(file->module, &bias)) known = known_file(module, files);
  dwfl_module_info(file->module, NULL, NULL, NULL, NULL, NULL, &program, &name);
  if (known && program && strcmp(known, program) != 0 && check_file(known, module) == SYMBOLS_OK)
    name = known;
  else
    known = NULL;
  int found = name && program ? regular_open(name) : -1, fd = module_file_expand(found);
  if (fd != found || known) {
    struct module_file other = {.dwfl = NULL};
    struct debug_file debug = {fd, name};
    file->callbacks->find_debuginfo = find_expanded;
    add_module(&other, program, file->callbacks);
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

/* Finds the supplement if libdwfl did not. */
static void add_supplement(struct module_file *file, struct debug_files *files) {
  Dwarf_Addr bias;
  const char *name;
  const void *id;
  struct supplement *supplement = &file->supplement;
  Dwarf *dwarf = dwfl_module_getdwarf(file->module, &bias);
  ssize_t bytes = dwarf ? dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) : 0;
  if (bytes <= 0 || (size_t)bytes > sizeof supplement->lacking || dwarf_getalt(dwarf)) return;
  const char *path = debug_files_find(files, id, (size_t)bytes);
  supplement->fd = path ? module_file_expand(regular_open(path)) : -1;
  supplement->dwarf = supplement->fd < 0 ? NULL : dwarf_begin(supplement->fd, DWARF_C_READ);
  if (supplement->dwarf) {
    dwarf_setalt(dwarf, supplement->dwarf);
  } else {
    if (supplement->fd >= 0) close(supplement->fd);
    memcpy(supplement->lacking, id, supplement->lacking_bytes = (size_t)bytes);
  }
}

static enum symbols_state content(Dwfl_Module *module) {
  Dwarf_Addr bias;
  if (dwfl_module_getdwarf(module, &bias)) return SYMBOLS_OK;
  return dwfl_module_getsymtab(module) > 1 ? SYMBOLS_TABLE_ONLY : SYMBOLS_NONE;
}

/* ---- shared ---- */

struct module_file module_file_open(const struct symbol_module *module, struct module_places *places) {
  struct module_file file = {.state = SYMBOLS_MISSING};
  file.callbacks = malloc(sizeof *file.callbacks);
  if (!file.callbacks) return file;
  *file.callbacks = (Dwfl_Callbacks){.find_elf = dwfl_build_id_find_elf,
                                     .find_debuginfo = dwfl_standard_find_debuginfo,
                                     .section_address = dwfl_offline_section_address,
                                     .debuginfo_path = &places->debug_path};
  if (module_file_find(&file, module, places, file.callbacks)) {
    use_debug_file(&file, module, &places->files);
    add_supplement(&file, &places->files);
    file.state = content(file.module);
  }
  return file;
}

void module_file_close(struct module_file *file) {
  if (file->dwfl) dwfl_end(file->dwfl);
  if (file->supplement.dwarf) {
    dwarf_end(file->supplement.dwarf);
    close(file->supplement.fd);
  }
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
