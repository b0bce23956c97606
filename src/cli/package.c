/* The Debian package that a file is of: the first line of `dpkg-query --search PATH` is "name:amd64: PATH". */
#include "cli/package.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Starts dpkg-query with its output in a pipe. -1: it cannot be started. */
static pid_t start(const char *path, int *output) {
  char *arguments[] = {"dpkg-query", "--search", "--", (char *)path, NULL};
  posix_spawn_file_actions_t files;
  int ends[2];
  pid_t child = -1;
  if (pipe2(ends, O_CLOEXEC)) return -1;
  if (!posix_spawn_file_actions_init(&files)) {
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], 1);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&child, *arguments, &files, NULL, arguments, environ)) child = -1;
    posix_spawn_file_actions_destroy(&files);
  }
  close(ends[1]);
  *output = ends[0];
  if (child < 0) close(ends[0]);
  return child;
}

/* The name in the first line that has one. A file that another package has replaced has lines before
 * it: "diversion by dash from: PATH". */
static bool name_in(const char *lines, char *name, size_t size) {
  for (const char *line = lines; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    size_t length = strcspn(line, ":, \n");
    if (!length || length >= size || line[length] != ':') continue;
    memcpy(name, line, length);
    name[length] = 0;
    return true;
  }
  return false;
}

static bool name_of(const char *path, char *name, size_t size) {
  char lines[2 * PATH_MAX];
  int output, status;
  size_t length = 0;
  pid_t child = start(path, &output);
  if (child < 0) return false;
  for (ssize_t got;
       length + 1 < sizeof lines && (got = read(output, lines + length, sizeof lines - 1 - length)) > 0;)
    length += (size_t)got;
  close(output);
  waitpid(child, &status, 0);
  lines[length] = 0;
  return name_in(lines, name, size);
}

/* ---- shared ---- */

bool package_of_file(const char *path, char *name, size_t size) {
  char *real = realpath(path, NULL);
  if (!real) return false;
  bool plain = *real == '/' && !strpbrk(real, "*?[]\\"); /* which dpkg-query takes for patterns */
  bool found = plain && name_of(real, name, size);
  if (plain && !found && !strncmp(real, "/usr/", 5)) found = name_of(real + 4, name, size);
  free(real);
  return found;
}
/* SPDX-License-Identifier: MIT */
