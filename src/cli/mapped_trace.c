/* Finds the trace among the shared mappings of a process. */
#include "cli/mapped_trace.h"

#include "base/array.h"
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
#include <unistd.h>

enum { FILES_MOST = 256, PATH_BYTES = PATH_MAX + 64 };

/* A file that is mapped so that writing changes it. */
struct mapped_file {
  ino_t inode;
  bool is_removed;
  char path[PATH_BYTES];
};

/* One line of /proc/PID/maps. False: it is of no such file. */
static bool read_line(char *line, struct mapped_file *file) {
  static const char removed[] = " (deleted)";
  char permissions[8], *path = strchr(line, '/');
  unsigned long long inode;
  if (!path || sscanf(line, "%*s %7s %*s %*s %llu", permissions, &inode) != 2) return false;
  if (strcmp(permissions, "rw-s") != 0 || strlen(path) >= sizeof file->path) return false;
  path[strcspn(path, "\n")] = 0;
  size_t length = strlen(path), cut = strlen(removed);
  file->is_removed = length > cut && !strcmp(path + length - cut, removed);
  if (file->is_removed) path[length - cut] = 0;
  file->inode = (ino_t)inode;
  strcpy(file->path, path);
  return true;
}

/* A device is not opened: that may do something. */
static bool is_same(const char *path, ino_t inode) {
  struct stat found;
  return !stat(path, &found) && S_ISREG(found.st_mode) && found.st_ino == inode;
}

/* By a descriptor of the process, if it has one of this file. */
static bool find_descriptor(pid_t pid, ino_t inode, char path[PATH_BYTES]) {
  char folder[40];
  bool found = false;
  snprintf(folder, sizeof folder, "/proc/%d/fd", (int)pid);
  DIR *all = opendir(folder);
  for (struct dirent *entry; all && !found && (entry = readdir(all));) {
    snprintf(path, PATH_BYTES, "%s/%s", folder, entry->d_name);
    found = entry->d_name[0] != '.' && is_same(path, inode);
  }
  if (all) closedir(all);
  return found;
}

/* A path by which this process can open the file. */
static bool find_path(pid_t pid, const struct mapped_file *file, char path[PATH_BYTES]) {
  if (!file->is_removed) {
    snprintf(path, PATH_BYTES, "%s", file->path);
    if (is_same(path, file->inode)) return true;
    if (snprintf(path, PATH_BYTES, "/proc/%d/root%s", (int)pid, file->path) < PATH_BYTES &&
        is_same(path, file->inode))
      return true;
  }
  return find_descriptor(pid, file->inode, path);
}

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

static bool check(pid_t pid, uint32_t number, const struct mapped_file *file, struct mapped_trace *found) {
  char path[PATH_BYTES];
  if (!find_path(pid, file, path) || !is_trace_of(path, number, &found->began_ns)) return false;
  found->is_removed = file->is_removed;
  found->trace = strdup(file->path);
  found->path = strdup(path);
  if (found->trace && found->path) return true;
  free(found->trace);
  free(found->path);
  return false;
}

/* ---- shared ---- */

bool mapped_trace_find(pid_t pid, uint32_t number, struct mapped_trace *found) {
  char name[40], *line = NULL;
  size_t size = 0, count = 0;
  ino_t seen[FILES_MOST];
  bool done = false;
  snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
  FILE *maps = fopen(name, "re");
  while (maps && !done && count < FILES_MOST && getline(&line, &size, maps) > 0) {
    struct mapped_file file;
    bool is_new = read_line(line, &file);
    for (size_t i = 0; is_new && i < count; i++) is_new = seen[i] != file.inode;
    if (!is_new) continue;
    seen[count++] = file.inode;
    done = check(pid, number, &file, found);
  }
  free(line);
  if (maps) fclose(maps);
  return done;
}
/* SPDX-License-Identifier: MIT */
