/* The file of a snapshot, and the copy of the process that writes it.
 *
 * COPY. Where blocks are written while the program goes on, a copy of the process writes them, and
 * ends. It has the memory as it was, and no other thread. The system call is made directly: the
 * handlers of fork() might do anything, such as end the heap's other threads. Its exit signal is 0,
 * so that neither the program's wait functions nor a handler of SIGCHLD learn of it; signals stay
 * blocked in it, and it ends with the program. It takes no memory and no lock, since threads that it
 * does not have may hold them. Its exit status is the errno of a failure.
 *
 * The file has another name until it is whole, and then replaces what was there. */
#pragma once

#include "snapshot/writer.h"
#include <signal.h>
#include <winnow/status.h>

enum { SNAPSHOT_PATH_MOST = 4096, SNAPSHOT_ERROR_MOST = 255 /* no errno of a failure reaches it */ };

/* What may happen to the calling thread meanwhile. A thread that is cancelled in a system call
 * would leave the file and the copy. A file that is too large for the process makes a signal, which
 * would end it. */
struct snapshot_shelter {
  int cancellation;
  sigset_t signals;
};

struct snapshot_file {
  struct snapshot_writer writer;
  struct snapshot_shelter shelter;
  char name[SNAPSHOT_PATH_MOST], temporary[SNAPSHOT_PATH_MOST + 32];
};

/* Opens a file, writes its begin, and makes the calling thread safe until snapshot_file_close, which is
 * called also after a failure. WN_EINVAL: the path is NULL or too long. WN_EIO. */
wn_status snapshot_file_open(struct snapshot_file *file, const char *path, const char *language);

/* Calls `write` in a copy of the process. The copy's number; below 0: there is none, and nothing is
 * written. */
long snapshot_file_copy(struct snapshot_file *file, void (*write)(void *context), void *context);

/* Waits until the copy has ended; `copy` below 0: there was none. WN_EIO: not all was written. */
wn_status snapshot_file_wait(struct snapshot_file *file, long copy);

/* Closes the file, which is there if `status` is WN_OK and so is the result. */
wn_status snapshot_file_close(struct snapshot_file *file, wn_status status);
/* SPDX-License-Identifier: MIT */
