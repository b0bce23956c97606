/* Files of snapshots. */
#include "snapshot/file.h"

#include "base/error.h"
#include "base/os.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Exit statuses of the copy, besides those of errno. */
enum { COPY_ENDED = -1, COPY_DONE = SNAPSHOT_ERROR_MOST };

/* ---- its name ---- */

static wn_status file_failed(const char *path, const char *why) {
  return error_set(WN_EIO, "heap snapshot: %s: %s", path, why);
}

/* The name of the file: where a symbolic link leads. Only a file is replaced. */
static wn_status find_name(struct snapshot_file *of, const char *path) {
  struct stat status;
  char *target = NULL;
  if (!stat(path, &status)) {
    if (!S_ISREG(status.st_mode)) return file_failed(path, "it is no regular file");
    target = realpath(path, NULL);
  }
  snprintf(of->name, sizeof of->name, "%s", target ? target : path);
  free(target);
  return WN_OK;
}

/* Snapshots at one time, of several threads or of processes with one number, have files of their
 * own. */
static int open_temporary(struct snapshot_file *of) {
  static _Atomic(unsigned) next;
  int descriptor;
  do {
    snprintf(of->temporary, sizeof of->temporary, "%s.%ld-%u.part", of->name, (long)getpid(),
             atomic_fetch_add(&next, 1));
    descriptor = open(of->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  return descriptor;
}

static struct snapshot_shelter shelter_begin(void) {
  struct snapshot_shelter shelter;
  sigset_t too_large;
  sigemptyset(&too_large);
  sigaddset(&too_large, SIGXFSZ);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &shelter.cancellation);
  pthread_sigmask(SIG_BLOCK, &too_large, &shelter.signals);
  return shelter;
}

static void shelter_end(const struct snapshot_shelter *shelter) {
  sigset_t too_large;
  sigemptyset(&too_large);
  sigaddset(&too_large, SIGXFSZ);
  if (!sigismember(&shelter->signals, SIGXFSZ))
    while (sigtimedwait(&too_large, NULL, &(struct timespec){0}) > 0) {}
  pthread_sigmask(SIG_SETMASK, &shelter->signals, NULL);
  pthread_setcancelstate(shelter->cancellation, NULL);
}

/* ---- COPY ---- */

static void synchronise(struct snapshot_file *of) {
  if (!of->writer.error && fsync(of->writer.descriptor) && errno != EINVAL) of->writer.error = errno;
}

/* Ends with the program, and keeps none of its files, sockets and locks open. */
static void leave_program(const struct snapshot_file *of, pid_t program) {
  const struct rlimit none = {0, 0};
  unsigned file = (unsigned)of->writer.descriptor;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != program) syscall(SYS_exit_group, 0);
  if (file) syscall(SYS_close_range, 0U, file - 1, 0U);
  syscall(SYS_close_range, file + 1, ~0U, 0U);
  setrlimit(RLIMIT_CORE, &none);
  setpriority(PRIO_PROCESS, 0, 19);
}

static _Noreturn void run_copy(struct snapshot_file *of, pid_t program, void (*write)(void *),
                               void *context) {
  leave_program(of, program);
  write(context);
  synchronise(of);
  syscall(SYS_exit_group, of->writer.error ? of->writer.error : COPY_DONE);
  for (;;) {}
}

/* Returns an errno, or 0; COPY_ENDED: a signal ended the copy, or a hook did. */
static int wait_for_copy(long copy) {
  int status;
  while (waitpid((pid_t)copy, &status, __WALL) < 0)
    if (errno != EINTR) return errno;
  if (!WIFEXITED(status) || !WEXITSTATUS(status)) return COPY_ENDED;
  return WEXITSTATUS(status) == COPY_DONE ? 0 : WEXITSTATUS(status);
}

/* ---- shared ---- */

wn_status snapshot_file_open(struct snapshot_file *of, const char *path, const char *language) {
  of->shelter = shelter_begin();
  of->writer.descriptor = -1;
  if (!path || strlen(path) >= SNAPSHOT_PATH_MOST)
    return error_set(WN_EINVAL, "heap snapshot: %s", path ? "the path is too long" : "the path is NULL");
  wn_status status = find_name(of, path);
  if (status) return status;
  int descriptor = open_temporary(of);
  if (descriptor < 0) return file_failed(path, strerror(errno));
  const struct snapshot_info info = {(uint64_t)getpid(), os_wall_ns(), program_invocation_short_name,
                                     language};
  snapshot_begin(&of->writer, descriptor, &info);
  return WN_OK;
}

long snapshot_file_copy(struct snapshot_file *of, void (*write)(void *context), void *context) {
  sigset_t all, before;
  pid_t program = getpid();
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  long copy = syscall(SYS_clone, 0UL, NULL, NULL, NULL, 0UL);
  if (!copy) run_copy(of, program, write, context);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return copy;
}

wn_status snapshot_file_wait(struct snapshot_file *of, long copy) {
  if (copy > 0)
    of->writer.error = wait_for_copy(copy);
  else
    synchronise(of);
  if (!of->writer.error) return WN_OK;
  return file_failed(of->name, of->writer.error == COPY_ENDED
                                   ? "the copy of the process that wrote it was ended"
                                   : strerror(of->writer.error));
}

wn_status snapshot_file_close(struct snapshot_file *of, wn_status status) {
  if (of->writer.descriptor >= 0) {
    close(of->writer.descriptor);
    if (!status && rename(of->temporary, of->name)) status = file_failed(of->name, strerror(errno));
    if (status) unlink(of->temporary);
  }
  shelter_end(&of->shelter);
  return status;
}
/* SPDX-License-Identifier: MIT */
