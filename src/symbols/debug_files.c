/* Of several files with one build-id the last one that was added counts: while folders are looked
 * through, a file is added only if it has more than the one that is known. */
#include "symbols/debug_files.h"

#include "base/array.h"
#include "base/hash.h"
#include "symbols/expanded.h"
#include <dirent.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ID_MOST = 64 };

/* What a file has, the more the better. */
enum content { CONTENT_NONE, CONTENT_TABLE, CONTENT_DWARF, CONTENT_SENT };

struct debug_files_item {
  unsigned char build_id[ID_MOST];
  size_t bytes;
  char *path;
  enum content content;
};

static struct debug_files_item *item_of(const struct debug_files *files, const unsigned char *build_id,
                                        size_t bytes) {
  struct index_walk walk = {.hash = hash_mix(hash_bytes(build_id, bytes))};
  for (uint32_t number; (number = index_next(&files->by_id, &walk));) {
    struct debug_files_item *item = &files->items[number - 1];
    if (item->bytes == bytes && !memcmp(item->build_id, build_id, bytes)) return item;
  }
  return NULL;
}

static bool add_debug_files(struct debug_files *files, const struct debug_files_item *wanted) {
  struct debug_files_item *known = item_of(files, wanted->build_id, wanted->bytes), item = *wanted;
  if (known && known->content >= wanted->content) return true;
  if (!(item.path = strdup(wanted->path))) return false;
  if (known) {
    free(known->path);
    *known = item;
    return true;
  }
  uint64_t hash = hash_mix(hash_bytes(item.build_id, item.bytes));
  if (!ARRAY_ADD(files->items, files->count, files->capacity, item)) return free(item.path), false;
  if (index_add(&files->by_id, hash, (uint32_t)files->count)) return true;
  files->count--;
  return free(item.path), false;
}

/* ---- looking through folders ---- */

static enum content content_of(Elf *elf) {
  enum content content = CONTENT_NONE;
  size_t names;
  if (elf_getshdrstrndx(elf, &names)) return content;
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS) continue;
    const char *name = elf_strptr(elf, names, header.sh_name);
    if (name && (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info"))) return CONTENT_DWARF;
    if (header.sh_type == SHT_SYMTAB) content = CONTENT_TABLE;
  }
  return content;
}

static void look_at_file(struct debug_files *files, const char *path) {
  static const char magic[SELFMAG] = ELFMAG;
  char begin[SELFMAG];
  const void *id;
  int fd = regular_open(path);
  bool is_elf = fd >= 0 && pread(fd, begin, sizeof begin, 0) == SELFMAG && !memcmp(begin, magic, SELFMAG);
  Elf *elf = is_elf ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
  ssize_t bytes = elf ? dwelf_elf_gnu_build_id(elf, &id) : 0;
  struct debug_files_item item = {.bytes = (size_t)bytes, .path = (char *)path};
  if (bytes > 0 && bytes <= ID_MOST && (item.content = content_of(elf)) != CONTENT_NONE) {
    memcpy(item.build_id, id, (size_t)bytes);
    add_debug_files(files, &item);
  }
  elf_end(elf);
  if (fd >= 0) close(fd);
}

/* Looks at a file, or a folder with all below it that is on the same device: to read a file of
 * /proc can take forever. Links are not followed: they may lead in a circle. */
static void debug_files_look_at(struct debug_files *files, const char *path, dev_t device, int depth) {
  struct stat found;
  struct dirent *entry;
  char *inner;
  bool deep = depth > DEBUG_FILES_DEPTH, full = deep || files->looked_at >= DEBUG_FILES_MOST;
  if (full) files->cut = true;
  files->looked_at += !deep;
  if (full || (depth ? lstat(path, &found) : stat(path, &found))) return;
  if (depth && found.st_dev != device) return;
  if (S_ISREG(found.st_mode)) look_at_file(files, path);
  DIR *list = S_ISDIR(found.st_mode) ? opendir(path) : NULL;
  while (list && files->looked_at <= DEBUG_FILES_MOST && (entry = readdir(list))) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    if (asprintf(&inner, "%s/%s", path, entry->d_name) < 0) break;
    debug_files_look_at(files, inner, found.st_dev, depth + 1);
    free(inner);
  }
  if (list) closedir(list);
}

static void look_through(struct debug_files *files) {
  files->walked = true;
  for (const char *const *search = files->search; search && *search; search++)
    debug_files_look_at(files, *search, 0, 0);
}

/* ---- shared ---- */

const char *debug_files_find(struct debug_files *files, const unsigned char *build_id, size_t bytes) {
  if (!bytes || bytes > ID_MOST) return NULL;
  const struct debug_files_item *item = item_of(files, build_id, bytes);
  if (!item && !files->walked) look_through(files), item = item_of(files, build_id, bytes);
  return item ? item->path : NULL;
}

bool debug_files_add(struct debug_files *files, const unsigned char *build_id, size_t bytes,
                     const char *path) {
  struct debug_files_item item = {.bytes = bytes, .path = (char *)path, .content = CONTENT_SENT};
  if (!bytes || bytes > ID_MOST) return false;
  memcpy(item.build_id, build_id, bytes);
  return add_debug_files(files, &item);
}

void debug_files_destroy(struct debug_files *files) {
  for (size_t i = 0; i < files->count; i++) free(files->items[i].path);
  free(files->items);
  free(files->by_id.slots);
  *files = (struct debug_files){.search = files->search};
}
/* SPDX-License-Identifier: MIT */
