/* The Debian package that a file is of, and the one that has its symbols: the first line of
 * `dpkg-query --search PATH` is "name:amd64: PATH". */
#include "cli/package.h"

#include "base/text.h"
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Starts dpkg-query with its output in a pipe. -1: it cannot be started. */
static pid_t package_start(const char *path, int *output) {
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
static bool package_name_in(const char *lines, char *name, size_t size) {
  for (const char *line = lines; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    size_t length = strcspn(line, ":, \n");
    if (!length || length >= size || line[length] != ':') continue;
    memcpy(name, line, length);
    name[length] = 0;
    return true;
  }
  return false;
}

static bool package_name_of(const char *path, char *name, size_t size) {
  char lines[2 * PATH_MAX];
  int output, status;
  size_t length = 0;
  pid_t child = package_start(path, &output);
  if (child < 0) return false;
  for (ssize_t got;
       length + 1 < sizeof lines && (got = read(output, lines + length, sizeof lines - 1 - length)) > 0;)
    length += (size_t)got;
  close(output);
  waitpid(child, &status, 0);
  lines[length] = 0;
  return package_name_in(lines, name, size);
}

/* Of packages whose symbols are in a package that the source makes itself. */
static const char *debug_package_of(const char *package) {
  static const char *const names[][2] = {{"libc6", "libc6-dbg"}, {"libc6-i386", "libc6-dbg"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(package, names[i][0])) return names[i][1];
  return NULL;
}

/* Whether a line of the file is the field's, with or without quotes, and has the word in its value:
 * ID_LIKE="ubuntu debian". */
static bool release_says(const char *release, const char *field, const char *word) {
  char line[512];
  bool says = false;
  FILE *file = fopen(release, "re");
  while (file && !says && fgets(line, sizeof line, file)) {
    size_t length = strlen(field);
    if (strncmp(line, field, length) != 0 || line[length] != '=') continue;
    for (char *rest = line + length + 1, *one; !says && (one = strtok_r(rest, " \"'\n", &rest));)
      says = !strcmp(one, word);
  }
  if (file) fclose(file);
  return says;
}

/* Whether the system is of this kind, or like it. */
static bool is_like(const char *release, const char *id) {
  return release_says(release, "ID", id) || release_says(release, "ID_LIKE", id);
}

/* ---- shared ---- */

bool package_say_symbols(const char *package, const char *path, const char *release, char *text,
                         size_t size) {
  const char *own = package ? debug_package_of(package) : NULL;
  bool ubuntu = is_like(release, "ubuntu"), system = text_begins(path, "/usr/") || text_begins(path, "/lib");
  if (package)
    snprintf(text, size, "First install %s%s%s, and report again", own ? own : package, own ? "" : "-dbgsym",
             ubuntu && !own ? " (ddebs.ubuntu.com)" : "");
  else if (system && is_like(release, "fedora"))
    snprintf(text, size, "For them: dnf debuginfo-install %s", path);
  else if (system && package_server(release))
    snprintf(text, size, "For them: DEBUGINFOD_URLS=%s", package_server(release));
  else
    return false;
  return true;
}

const char *package_server(const char *release) {
  static const struct {
    const char *id, *server;
    bool of_relatives; /* which have the same builds */
  } servers[] = {{"ubuntu", "https://debuginfod.ubuntu.com", true},
                 {"debian", "https://debuginfod.debian.net", false},
                 {"fedora", "https://debuginfod.fedoraproject.org", false},
                 {"arch", "https://debuginfod.archlinux.org", true},
                 {"suse", "https://debuginfod.opensuse.org", true}};
  for (size_t i = 0; i < sizeof servers / sizeof *servers; i++)
    if (servers[i].of_relatives ? is_like(release, servers[i].id)
                                : release_says(release, "ID", servers[i].id))
      return servers[i].server;
  return NULL;
}

bool package_of_file(const char *path, char *name, size_t size) {
  char *real = realpath(path, NULL);
  if (!real) return false;
  bool plain = *real == '/' && !strpbrk(real, "*?[]\\"); /* which dpkg-query takes for patterns */
  bool found = plain && package_name_of(real, name, size);
  if (plain && !found && !strncmp(real, "/usr/", 5)) found = package_name_of(real + 4, name, size);
  free(real);
  return found;
}
/* SPDX-License-Identifier: MIT */
