/* The exec functions and posix_spawn, as the program sees them.
 *
 * After a successful exec this process can write nothing, so process_becomes writes the end of the
 * trace before the exec, and process_stays takes it back if the exec fails. process_becomes also
 * decides what the next program finds in its environment (EXEC in process.c). The environment that
 * the caller passes is never written; a changed copy is on the stack, or in mapped memory if it is
 * large. system and popen of the C library do not call these functions. A child of vfork does, but
 * process_becomes writes no end for it.
 *
 * The forms with a list of arguments gather it on the stack, as the C library does, and call the
 * form with an array. All these functions may run in a signal handler.
 */
#include "preload/exec.h"

#include "base/metadata.h"
#include "preload/environment.h"
#include "preload/limits.h"
#include "preload/process.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { FOUND_MOST = 1024, STACK_MOST = 16384 };

static struct {
  int (*execve)(const char *, char *const[], char *const[]);
  int (*execvpe)(const char *, char *const[], char *const[]);
  int (*fexecve)(int, char *const[], char *const[]);
  int (*execveat)(int, const char *, char *const[], char *const[], int);
  __typeof__(posix_spawn) *posix_spawn, *posix_spawnp;
} next;

/* The head of mapped memory for an environment. */
struct room {
  _Alignas(16) size_t bytes; /* of the mapping */
  pid_t pid;                 /* of the process that mapped it */
};

/* The last room that this thread mapped. A child of vfork shares the thread's memory. Where the
 * child's exec succeeds, the room that the child mapped stays behind. The kernel suspends the
 * parent thread until that exec, so the thread finds a room with another process's number
 * afterwards, and unmaps it. */
static _Thread_local _Atomic(struct room *) last_room;

static void *map_room(size_t bytes) {
  struct room *behind = atomic_load_explicit(&last_room, memory_order_relaxed);
  pid_t pid = getpid();
  if (behind && behind->pid != pid) {
    behind = atomic_exchange_explicit(&last_room, NULL, memory_order_relaxed);
    if (behind) metadata_unmap(behind, behind->bytes);
  }
  struct room *room = metadata_map(sizeof *room + bytes);
  if (!room) return NULL;
  room->bytes = sizeof *room + bytes;
  room->pid = pid;
  atomic_store_explicit(&last_room, room, memory_order_relaxed);
  return room + 1;
}

/* Room for an environment: on the caller's stack, or mapped if it is larger than `most`, since
 * stacks of threads and signal handlers may be small. */
#define ROOM(bytes, most) ((bytes) <= (most) ? __builtin_alloca(bytes) : map_room(bytes))
static void exec_give_back(void *memory, size_t bytes, size_t most) {
  if (bytes <= most || !memory) return;
  struct room *room = (struct room *)memory - 1;
  if (atomic_load_explicit(&last_room, memory_order_relaxed) == room)
    atomic_store_explicit(&last_room, NULL, memory_order_relaxed);
  metadata_unmap(room, room->bytes);
}

/* How large a room on the stack may be: 0 on the alternate stack of a signal handler, which may be
 * all but full. */
static size_t most_on_stack(void) {
  stack_t stack;
  return !sigaltstack(NULL, &stack) && stack.ss_flags & SS_ONSTACK ? 0 : STACK_MOST;
}

/* Declares `given`, the environment for the next program. If that is a changed one, `room` is the
 * memory where it stands and `bytes` the size of the room; else `given` is the caller's environment
 * and `bytes` is 0. */
#define INHERIT(environment, inherited)                                                       \
  size_t bytes = (inherited)->kind == INHERITED_AS_IT_IS ? 0 : environment_room(environment); \
  size_t most = bytes ? most_on_stack() : 0;                                                  \
  void *room = bytes ? ROOM(bytes, most) : NULL;                                              \
  char *const *given = room ? environment_make(room, environment, inherited) : (char *const *)(environment)

/* Calls the next library's function between process_becomes and process_stays. */
#define BECOME(folder, path, found, environment, function, ...) \
  if (!next.function) exec_resolve();                           \
  struct becoming becoming;                                     \
  process_becomes(&becoming, folder, path, found, environment); \
  INHERIT(environment, &becoming.inherited);                    \
  bool lowered = limits_before_exec();                          \
  int result = next.function(__VA_ARGS__);                      \
  limits_exec_failed(lowered);                                  \
  exec_give_back(room, bytes, most);                            \
  process_stays(&becoming);                                     \
  return result

/* Declares `array`, the arguments from `first` on with the closing NULL. The next va_arg of `list`
 * is what follows the NULL. */
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

static bool exec_is_program(const char *path) {
  struct stat status;
  return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK);
}

/* Finds the file that the name of a program means, as execvp does. NULL if there is none, or if its
 * path does not fit in `found`. */
static const char *exec_search(const char *name, char found[FOUND_MOST]) {
  size_t name_bytes = strlen(name) + 1;
  if (strchr(name, '/')) return name;
  const char *folders = environment_variable("PATH");
  if (!folders) folders = "/bin:/usr/bin";
  int saved = errno;
  for (const char *folder = folders;; folder++) {
    size_t length = strcspn(folder, ":");
    if (length + 1 + name_bytes <= FOUND_MOST) {
      memcpy(found, folder, length);
      if (length) found[length] = '/';
      memcpy(found + length + (length > 0), name, name_bytes);
      if (exec_is_program(found)) break;
    }
    folder += length;
    if (!*folder) found = NULL;
    if (!found) break;
  }
  errno = saved;
  return found;
}

static int spawn(__typeof__(posix_spawn) *function, pid_t *pid, const char *path, const char *found,
                 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                 char *const arguments[], char *const environment[]) {
  struct image image;
  struct inherited inherited;
  pid_t child;
  process_spawns(&inherited, found, environment, &image);
  INHERIT(environment, &inherited);
  int error = function(&child, path, actions, attributes, arguments, given);
  exec_give_back(room, bytes, most);
  if (!error) process_spawned(&image, child);
  if (!error && pid) *pid = child;
  return error;
}

/* ---- shared ---- */

void exec_resolve(void) {
  next.execve = (__typeof__(next.execve))dlsym(RTLD_NEXT, "execve");
  next.execvpe = (__typeof__(next.execvpe))dlsym(RTLD_NEXT, "execvpe");
  next.fexecve = (__typeof__(next.fexecve))dlsym(RTLD_NEXT, "fexecve");
  next.execveat = (__typeof__(next.execveat))dlsym(RTLD_NEXT, "execveat");
  next.posix_spawn = (__typeof__(next.posix_spawn))dlsym(RTLD_NEXT, "posix_spawn");
  next.posix_spawnp = (__typeof__(next.posix_spawnp))dlsym(RTLD_NEXT, "posix_spawnp");
}

/* ---- what the program calls ---- */

EXPORT int execve(const char *path, char *const arguments[], char *const environment[]) {
  BECOME(AT_FDCWD, path, path, environment, execve, path, arguments, given);
}

EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[]) {
  char found[FOUND_MOST];
  BECOME(AT_FDCWD, file, exec_search(file, found), environment, execvpe, file, arguments, given);
}

EXPORT int fexecve(int descriptor, char *const arguments[], char *const environment[]) {
  BECOME(descriptor, NULL, "", environment, fexecve, descriptor, arguments, given);
}

EXPORT int execveat(int folder, const char *path, char *const arguments[], char *const environment[],
                    int flags) {
  BECOME(folder, path, path, environment, execveat, folder, path, arguments, given, flags);
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

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const arguments[],
                       char *const environment[]) {
  if (!next.posix_spawn) exec_resolve();
  if (!process_follows()) return next.posix_spawn(pid, path, actions, attributes, arguments, environment);
  return spawn(next.posix_spawn, pid, path, path, actions, attributes, arguments, environment);
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const arguments[],
                        char *const environment[]) {
  char found[FOUND_MOST];
  if (!next.posix_spawnp) exec_resolve();
  if (!process_follows()) return next.posix_spawnp(pid, file, actions, attributes, arguments, environment);
  return spawn(next.posix_spawnp, pid, file, exec_search(file, found), actions, attributes, arguments,
               environment);
}
/* SPDX-License-Identifier: MIT */
