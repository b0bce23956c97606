/* Finds the trace among the shared mappings of a process.
 *
 * DEVICES. Files of two file systems can have the same number, so a file is looked for by its device
 * too. But some file systems (btrfs, overlays) report another device in a file's status than in the
 * list of mappings. Where no file on the same device is the trace, a file with the same number on
 * another device is accepted; that it is the trace of this process, its RUN record says. */
#include "cli/mapped_trace.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/os.h"
#include "trace/chunk.h"
#include "trace/reader.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { PATH_BYTES = PATH_MAX + 64 };

/* A file that is mapped so that writing changes it. */
struct mapped_file {
  dev_t device;
  ino_t inode;
  bool is_removed;
  char *path; /* as the process has it */
};

struct search {
  pid_t pid;
  uint32_t number;
  struct mapped_file *files; /* each once */
  size_t count, capacity;
  struct index by_inode;
  bool on_other_devices; /* DEVICES */
  struct mapped_trace *found;
};

/* ---- what is mapped ---- */

/* One line of /proc/PID/maps; the path is in the line. False: it is of no such file. */
static bool mapped_trace_read_line(char *line, struct mapped_file *file) {
  static const char removed[] = " (deleted)";
  char permissions[8], *path = strchr(line, '/');
  unsigned major, minor;
  unsigned long long inode;
  if (!path || sscanf(line, "%*s %7s %*s %x:%x %llu", permissions, &major, &minor, &inode) != 4) return false;
  if (strcmp(permissions, "rw-s") != 0) return false;
  path[strcspn(path, "\n")] = 0;
  size_t length = strlen(path), cut = strlen(removed);
  *file = (struct mapped_file){.device = makedev(major, minor), .inode = (ino_t)inode, .path = path};
  file->is_removed = length > cut && !strcmp(path + length - cut, removed);
  if (file->is_removed) path[length - cut] = 0;
  return true;
}

/* The next file of a number; NULL: there is none. */
static const struct mapped_file *mapped_trace_next_of(const struct search *search, ino_t inode,
                                                      struct index_walk *walk) {
  uint32_t number;
  while ((number = index_next(&search->by_inode, walk)))
    if (search->files[number - 1].inode == inode) return &search->files[number - 1];
  return NULL;
}

/* Of the many mappings of a file the first counts. False without memory. */
static bool mapped_trace_add(struct search *search, struct mapped_file file) {
  struct index_walk walk = {.hash = hash_mix(file.inode)};
  for (const struct mapped_file *known; (known = mapped_trace_next_of(search, file.inode, &walk));)
    if (known->device == file.device) return true;
  file.path = strdup(file.path);
  if (file.path && ARRAY_ADD(search->files, search->count, search->capacity, file))
    return index_add(&search->by_inode, walk.hash, (uint32_t)search->count);
  free(file.path);
  return false;
}

static void read_maps(struct search *search) {
  char name[40], *line = NULL;
  size_t size = 0;
  struct mapped_file file;
  snprintf(name, sizeof name, "/proc/%d/maps", (int)search->pid);
  FILE *maps = fopen(name, "re");
  for (bool done = maps; done && getline(&line, &size, maps) > 0;)
    if (mapped_trace_read_line(line, &file)) done = mapped_trace_add(search, file);
  free(line);
  if (maps) fclose(maps);
}

/* ---- which of it is the trace ---- */

/* Whether it is the trace of this process, and since when. */
static bool is_trace_of(const char *path, uint32_t number, uint64_t *began_ns) {
  unsigned char magic[sizeof chunk_magic];
  struct trace_reader *reader;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  bool begins = descriptor >= 0 && os_read_at(descriptor, magic, sizeof magic, 0) == sizeof magic &&
                !memcmp(magic, chunk_magic, sizeof magic);
  if (descriptor >= 0) close(descriptor);
  if (!begins || trace_reader_open(path, &reader)) return false;
  *began_ns = trace_reader_run(reader)->monotonic_ns;
  bool is_own = trace_reader_run(reader)->pid == number;
  trace_reader_close(reader);
  return is_own;
}

/* A device is not opened: that may do something. */
static bool mapped_trace_look(const char *path, struct stat *found) {
  return !stat(path, found) && S_ISREG(found->st_mode);
}

/* The file at a path that this process can open. */
static bool mapped_trace_check(const struct search *search, const struct mapped_file *file, const char *path,
                               const struct stat *status) {
  struct mapped_trace *found = search->found;
  bool is_same =
      status->st_ino == file->inode && (status->st_dev != file->device) == search->on_other_devices;
  if (!is_same || !is_trace_of(path, search->number, &found->began_ns)) return false;
  found->is_removed = file->is_removed;
  found->trace = strdup(file->path);
  found->path = strdup(path);
  if (found->trace && found->path) return true;
  free(found->trace);
  free(found->path);
  return false;
}

static bool find_by_path(const struct search *search, const struct mapped_file *file) {
  char path[PATH_BYTES];
  struct stat status;
  if (file->is_removed) return false;
  if (mapped_trace_look(file->path, &status) && mapped_trace_check(search, file, file->path, &status))
    return true;
  return snprintf(path, sizeof path, "/proc/%d/root%s", (int)search->pid, file->path) < PATH_BYTES &&
         mapped_trace_look(path, &status) && mapped_trace_check(search, file, path, &status);
}

static bool find_by_descriptor(const struct search *search, const char *path) {
  struct stat status;
  if (!mapped_trace_look(path, &status)) return false;
  struct index_walk walk = {.hash = hash_mix(status.st_ino)};
  for (const struct mapped_file *file; (file = mapped_trace_next_of(search, status.st_ino, &walk));)
    if (mapped_trace_check(search, file, path, &status)) return true;
  return false;
}

/* Of files to which no path leads the process may have descriptors. */
static bool find_by_descriptors(const struct search *search) {
  char folder[40], path[PATH_BYTES];
  bool found = false;
  snprintf(folder, sizeof folder, "/proc/%d/fd", (int)search->pid);
  DIR *all = opendir(folder);
  for (struct dirent *entry; all && !found && (entry = readdir(all));) {
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    found = entry->d_name[0] != '.' && find_by_descriptor(search, path);
  }
  if (all) closedir(all);
  return found;
}

static bool find_mapped_trace(const struct search *search) {
  for (size_t i = 0; i < search->count; i++)
    if (find_by_path(search, &search->files[i])) return true;
  return find_by_descriptors(search);
}

/* ---- shared ---- */

bool mapped_trace_find(pid_t pid, uint32_t number, struct mapped_trace *found) {
  struct search search = {.pid = pid, .number = number, .found = found};
  read_maps(&search);
  bool done = find_mapped_trace(&search);
  if (!done) search.on_other_devices = true, done = find_mapped_trace(&search);
  for (size_t i = 0; i < search.count; i++) free(search.files[i].path);
  free(search.files);
  free(search.by_inode.slots);
  return done;
}
/* SPDX-License-Identifier: MIT */
