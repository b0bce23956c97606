/* The exec functions, as the program sees them.
 *
 * A process that becomes another program leaves no time to write anything afterwards, so the end is written before, and
 * taken back if the exec fails. posix_spawn, system and popen execute in a child without coming here; and in a child of
 * vfork, which does come, process_becomes writes nothing.
 *
 * The forms with a list of arguments gather it on the stack, as the C library does, and call the form with an array. All of
 * it may run in a signal handler.
 */
#include "preload/exec.h"

#include "preload/limits.h"
#include "preload/process.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static struct {
  int (*execve)(const char *, char *const[], char *const[]);
  int (*execvpe)(const char *, char *const[], char *const[]);
  int (*fexecve)(int, char *const[], char *const[]);
  int (*execveat)(int, const char *, char *const[], char *const[], int);
} next;

/* Calls the next library's function between the two notes. */
#define BECOME(path, function, ...)        \
  if (!next.function) exec_resolve();      \
  unsigned number = process_becomes(path); \
  bool lowered = limits_before_exec();     \
  int result = next.function(__VA_ARGS__); \
  limits_exec_failed(lowered);             \
  process_stays(number);                   \
  return result

/* `array` becomes the arguments from `first` on, with the NULL; `list` is what follows it. */
#define GATHER(array, first, list)                                                    \
  size_t count = 1;                                                                   \
  va_list list, counted;                                                              \
  va_start(list, first);                                                              \
  va_copy(counted, list);                                                             \
  for (const char *each = first; each; each = va_arg(counted, const char *)) count++; \
  va_end(counted);                                                                    \
  char **array = __builtin_alloca(count * sizeof *array);                             \
  array[0] = (char *)first;                                                           \
  for (size_t i = 1; i < count; i++) array[i] = va_arg(list, char *)

/* ---- shared ---- */

void exec_resolve(void) {
  next.execve = (__typeof__(next.execve))dlsym(RTLD_NEXT, "execve");
  next.execvpe = (__typeof__(next.execvpe))dlsym(RTLD_NEXT, "execvpe");
  next.fexecve = (__typeof__(next.fexecve))dlsym(RTLD_NEXT, "fexecve");
  next.execveat = (__typeof__(next.execveat))dlsym(RTLD_NEXT, "execveat");
}

/* ---- what the program calls ---- */

EXPORT int execve(const char *path, char *const arguments[], char *const environment[]) {
  BECOME(path, execve, path, arguments, environment);
}

EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[]) {
  BECOME(file, execvpe, file, arguments, environment);
}

EXPORT int fexecve(int descriptor, char *const arguments[], char *const environment[]) {
  BECOME(NULL, fexecve, descriptor, arguments, environment);
}

EXPORT int execveat(int folder, const char *path, char *const arguments[], char *const environment[],
                    int flags) {
  BECOME(path, execveat, folder, path, arguments, environment, flags);
}

EXPORT int execv(const char *path, char *const arguments[]) { return execve(path, arguments, environ); }
EXPORT int execvp(const char *file, char *const arguments[]) { return execvpe(file, arguments, environ); }

EXPORT int execl(const char *path, const char *argument, ...) {
  GATHER(arguments, argument, list);
  va_end(list);
  return execve(path, arguments, environ);
}

EXPORT int execlp(const char *file, const char *argument, ...) {
  GATHER(arguments, argument, list);
  va_end(list);
  return execvpe(file, arguments, environ);
}

EXPORT int execle(const char *path, const char *argument, ...) {
  GATHER(arguments, argument, list);
  char *const *environment = va_arg(list, char *const *);
  va_end(list);
  return execve(path, arguments, environment);
}
/* SPDX-License-Identifier: MIT */
