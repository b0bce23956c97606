/* Finds and checks programs, and explains to users why a program cannot be recorded. base/image.h
 * examines the file; a malloc that the program does not export is found here, in the full symbol
 * table, which takes longer to read. */
#include "cli/program.h"

#include "base/image.h"
#include "cli/command.h"
#include "cli/elf_file.h"
#include "cli/hints.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct beginning {
  char text[256];
  size_t length;
};

static bool program_is_program(const char *path) {
  struct stat status;
  return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK);
}

static bool read_beginning(const char *path, struct beginning *begin) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  ssize_t length = fd < 0 ? -1 : pread(fd, begin->text, sizeof begin->text - 1, 0);
  if (fd >= 0) close(fd);
  begin->length = length > 0 ? (size_t)length : 0;
  return length >= 0;
}

static bool names_interpreter(const char *begin, size_t length) {
  return length > 2 && !memcmp(begin, "#!", 2);
}

/* ---- scripts ---- */

/* The part of the first line after "#!/usr/bin/env "; NULL if the line is different. */
static const char *behind_env(const char *begin, size_t length) {
  static const char *const envs[] = {"/usr/bin/env ", "/bin/env "};
  size_t at = 2;
  while (at < length && begin[at] == ' ') at++;
  for (size_t i = 0; i < sizeof envs / sizeof *envs; i++) {
    size_t taken = strlen(envs[i]);
    if (length - at >= taken && !memcmp(begin + at, envs[i], taken)) return begin + at + taken;
  }
  return NULL;
}

/* The name in a first line "#!/usr/bin/env NAME". False if the line has options or settings for
 * env. */
static bool names_by_env(const char *begin, size_t length, char name[PATH_MAX]) {
  const char *word = behind_env(begin, length);
  const char *end = word ? memchr(word, '\n', length - (size_t)(word - begin)) : NULL;
  if (!end || end == word || end - word >= 256) return false;
  snprintf(name, PATH_MAX, "%.*s", (int)(end - word), word);
  return !strpbrk(name, " \t\r=\\") && *name != '-';
}

static bool is_plain_script(const char *begin, size_t length) {
  return !(length > 1 && !memcmp(begin, "#!", 2)) && !memchr(begin, 0, length);
}

/* ---- failing ---- */

/* `script` names `path` as its interpreter, or is NULL. */
static int fail_to_read(const char *path, const char *script, int error) {
  size_t length = strlen(path);
  if (!script || error != ENOENT)
    fail_job("cannot read %s: %s", path, strerror(error));
  else if (length && path[length - 1] == '\r')
    fail_job("%s cannot be run: its first line ends in a carriage return, as lines of DOS do; "
             "sed -i 's/\\r$//' removes them",
             script);
  else
    fail_job("%s cannot be run: its first line names the interpreter %s, which is not there", script, path);
  return EXIT_CANNOT_RUN;
}

/* What a user can do about a program that cannot be recorded. */
static const char *remedy(enum image_kind kind) {
  static const char *const remedies[IMAGE_KINDS] = {
      [IMAGE_STATIC] = ", so its malloc cannot be replaced; link it dynamically to record it",
      [IMAGE_PRIVILEGED] =
          " (set-uid, set-gid or capabilities), so the system ignores the preload; run winnow as the "
          "user it becomes",
      [IMAGE_NARROW] = "; only 64-bit programs can be recorded",
      [IMAGE_FOREIGN] = "; only programs for this one can be recorded",
      [IMAGE_MUSL] = "; only programs that use glibc can be recorded, so build it with glibc to record it",
      [IMAGE_ADDRESS_SANITIZER] =
          ", whose malloc cannot be sampled; build it without -fsanitize to record it",
      [IMAGE_LEAK_SANITIZER] = ", whose malloc cannot be sampled; build it without -fsanitize to record it",
      [IMAGE_MEMORY_SANITIZER] = ", whose malloc cannot be sampled; build it without -fsanitize to record it",
      [IMAGE_THREAD_SANITIZER] =
          ", which would report races in winnow; build it without -fsanitize to record it",
      [IMAGE_OWN_MALLOC] =
          ", which is linked in and cannot be replaced; to record it, link it without, or with the allocator "
          "as a shared library",
  };
  return remedies[kind] ? remedies[kind] : "";
}

static int program_fail_kind(const char *path, enum image_kind kind) {
  return fail_job("%s %s%s", path, image_reason(kind), remedy(kind));
}

/* Frees the hint. Returns the code. */
static int fail_with_hint(int code, const char *text, char *hint) {
  hint &&*hint ? fail_job("%s; %s", text, hint) : fail_job("%s", text);
  free(hint);
  return code;
}

static int fail_no_program(char *const *argv, const char *behind) {
  char text[PATH_MAX + 128];
  snprintf(text, sizeof text, "there is no program '%.*s'%s", PATH_MAX, argv[0], behind);
  return fail_with_hint(EXIT_NO_PROGRAM, text, hint_for_command_line(argv));
}

static int fail_not_executable(const char *path, char *hint) {
  char text[PATH_MAX + 128];
  snprintf(text, sizeof text, "%.*s cannot be run: it is not executable", PATH_MAX, path);
  return fail_with_hint(EXIT_CANNOT_RUN, text, hint);
}

/* Fails for a name without a folder that is not in the search path, but may be here. */
static int fail_in_search_path(char *const *argv) {
  const char *name = argv[0];
  struct stat status;
  if (program_is_program(name))
    return fail_job("there is no program '%s' in the search path; ./%s is one", name, name), EXIT_NO_PROGRAM;
  char *hint = !stat(name, &status) && S_ISREG(status.st_mode) ? hint_for_file(name) : NULL;
  if (hint && *hint) return fail_not_executable(name, hint);
  free(hint);
  return fail_no_program(argv, " in the search path");
}

/* ---- shared ---- */

bool program_find(const char *name, char path[PATH_MAX]) {
  if (strchr(name, '/')) {
    snprintf(path, PATH_MAX, "%s", name);
    return program_is_program(path);
  }
  const char *folders = getenv("PATH");
  if (!folders) folders = "/usr/local/bin:/usr/bin:/bin";
  while (*folders) {
    size_t length = strcspn(folders, ":");
    snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, folders, length ? "/" : "", name);
    if (program_is_program(path)) return true;
    folders += length + (folders[length] == ':');
  }
  return false;
}

int program_fail_to_find(char *const *argv) {
  const char *name = argv[0];
  char why[128];
  struct stat status;
  if (!strchr(name, '/')) return fail_in_search_path(argv);
  if (stat(name, &status)) {
    snprintf(why, sizeof why, ": %s", strerror(errno));
    return fail_no_program(argv, why);
  }
  if (S_ISDIR(status.st_mode)) return fail_job("%s is a directory, not a program", name), EXIT_CANNOT_RUN;
  if (!S_ISREG(status.st_mode)) return fail_job("%s cannot be run: it is not a file", name), EXIT_CANNOT_RUN;
  return fail_not_executable(name, hint_for_file(name));
}

bool program_through_env(char path[PATH_MAX], char ***argv) {
  char name[PATH_MAX], found[PATH_MAX];
  struct beginning begin = {0};
  size_t count = 0;
  if (!read_beginning(path, &begin) || !names_interpreter(begin.text, begin.length) ||
      !names_by_env(begin.text, begin.length, name) || !program_find(name, found))
    return false;
  while ((*argv)[count]) count++;
  char **changed = calloc(count + 2, sizeof *changed);
  if (!changed) return false;
  changed[0] = strdup(name);
  changed[1] = strdup(path);
  memcpy(changed + 2, *argv + 1, count * sizeof *changed); /* with the NULL */
  *argv = changed;
  strcpy(path, found);
  return changed[0] && changed[1];
}

int program_check(const char *path, const char **allocator) {
  struct image image;
  struct stat status;
  image_examine(AT_FDCWD, path, &image);
  enum image_kind kind = image.kind;
  if (kind == IMAGE_UNREADABLE && !stat(image.path, &status) && !S_ISREG(status.st_mode))
    return fail_job("%s cannot be run: its first line names %s, which is no program", image.script,
                    image.path),
           EXIT_CANNOT_RUN;
  if (kind == IMAGE_UNREADABLE) return fail_to_read(image.path, image.script, image.error);
  if (image.loader) return fail_job("%s is the dynamic loader; name the program itself", image.path);
  struct elf_allocators inside = {0};
  if (kind == IMAGE_GOOD) inside = elf_file_allocators(image.path);
  if (inside.hides_malloc) kind = IMAGE_OWN_MALLOC;
  *allocator = inside.other;
  return kind >= IMAGE_STATIC ? program_fail_kind(image.path, kind) : 0;
}

bool program_is_plain_script(const char *path) {
  struct beginning begin = {0};
  return read_beginning(path, &begin) && is_plain_script(begin.text, begin.length);
}

void program_interpreter(const char *path, char *words, size_t size) {
  struct beginning begin = {0};
  *words = 0;
  if (!read_beginning(path, &begin) || !names_interpreter(begin.text, begin.length)) return;
  const char *from = behind_env(begin.text, begin.length), *end = memchr(begin.text, '\n', begin.length);
  if (!from || *from == '-') from = begin.text + 2 + strspn(begin.text + 2, " \t");
  if (end && end > from && end[-1] == '\r') end--;
  if (!end || end <= from) return;
  for (const char *at = from; at < end; at++) /* a user may type what is shown */
    if (!isalnum((unsigned char)*at) && !strchr("_./-+,:@%= ", *at)) return;
  snprintf(words, size, "%.*s", (int)(end - from), from);
}
/* SPDX-License-Identifier: MIT */
