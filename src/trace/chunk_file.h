/* The file under a writer: grows by chunks, each mapped on its own.
 *
 * Everything here runs inside malloc of a program that may do anything, so:
 * - Space is allocated (fallocate, or zeros written where that is not known) before it is mapped: a full disk is then a
 *   failed call and never a SIGBUS. (A file system that copies on write and has no fallocate can break that promise.)
 *   RLIMIT_FSIZE is looked at first, since going beyond it raises SIGXFSZ.
 * - The program may close our descriptor, as daemons do, and open its own under the same number. So the descriptor is
 *   compared with the file's identity before each use and opened again by its absolute path when it is not ours. (Another
 *   thread that closes and opens between the look and the use would defeat this; the window is one system call.)
 * - No lock, no cancellation point (system calls go without the C library's wrappers where those are one), errno kept.
 * - The file is locked (flock) as long as it is written, so that nobody cuts it under our mappings: writing to a page
 *   beyond the end of the file is a SIGBUS too.
 *
 * Not done: huge windows. A mapping of one chunk costs two system calls for about 4,000 records, and works under any
 * ulimit -v. */
#ifndef TRACE_CHUNK_FILE_H
#define TRACE_CHUNK_FILE_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <winnow/status.h>

struct chunk_file {
  /* Set by chunk_file_open; constant afterwards. */
  dev_t device;
  ino_t inode;
  uint64_t limit_bytes;
  char path[PATH_MAX];
  /* Replaced by compare-and-swap when the program closed it. */
  _Atomic(int) descriptor;
  /* False once the file system refused fallocate; tests set it. */
  _Atomic(bool) can_allocate;
  /* The number of the next chunk, and how many bytes of the file have space. */
  _Atomic(uint64_t) next;
  _Atomic(uint64_t) allocated;
  /* Set by chunk_file_close: the file is not to be opened again. */
  _Atomic(bool) closed;
  /* How often to say no before the system is asked again after a failure. */
  _Atomic(unsigned) refusals;
};

/* Creates the file, or empties one that nobody writes (not if `exclusive`: then it must not exist). Sets wn_last_error. */
wn_status chunk_file_open(struct chunk_file *file, const char *path, bool exclusive, uint64_t limit_bytes);

/* Takes the next chunk: zero bytes with space behind them. False, at once most times, if there is no room.
 * Any thread, signal handlers too. */
bool chunk_file_take(struct chunk_file *file, uint64_t *sequence);

/* Maps a chunk that was taken; NULL if the address space is exhausted. Unmapped by munmap. */
void *chunk_file_map(struct chunk_file *file, uint64_t sequence);

/* Closes the descriptor, if it is still ours, and gives no more chunks. */
void chunk_file_close(struct chunk_file *file);

/* The same; gives back the space behind the last chunk that was taken. All of them are the caller's. */
void chunk_file_cut_and_close(struct chunk_file *file);

#endif
/* SPDX-License-Identifier: MIT */
