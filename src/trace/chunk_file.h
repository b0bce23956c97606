/* The file under a writer: grows by chunks, each mapped on its own.
 *
 * Everything here runs inside malloc of a program that may do anything, so:
 * - Space is allocated (fallocate, or zeros written where that is not known) before it is
 *   touched: a full disk is then a failed call and never a SIGBUS. (A file system that copies on
 *   write and has no fallocate can break that promise.) RLIMIT_FSIZE is looked at first, since
 *   going beyond it raises SIGXFSZ.
 * - A chunk is mapped whole, but may have space in its first part only: most processes write a
 *   few hundred bytes. Its owner asks for more as it comes to need it. Large files grow by a
 *   quarter of what they have, to save system calls. So nothing has to be given back when a process
 *   ends, which could not be done safely: exit handlers still write.
 * - The program may close our descriptor, as daemons do, and open its own under the same number.
 *   So the descriptor is compared with the file's identity before each use and opened again by its
 *   absolute path when it is not ours. (Another thread that closes and opens between the look and
 *   the use would defeat this; the window is one system call.)
 * - No lock, no cancellation point (system calls go without the C library's wrappers where those
 *   are one), errno kept.
 * - The file is locked (flock) as long as it is written, so that no other process of Winnow cuts it
 *   under our mappings: writing to a page beyond the end of the file is a SIGBUS too. A mapping of
 *   its first page, which nothing touches, keeps the lock when the program closes the descriptor.
 * - CUT: nothing keeps a program that takes no lock from cutting the file (`: > FILE`, or a rotation
 *   of logs by copying and truncating). So the writer compares the file's size with what it has
 *   made, before it grows the file and before a record if it has not looked for a while
 *   (LOOK_INTERVAL of writer.c). If the file is shorter, nothing is written to it any more. A cut
 *   between a look and a store is still a SIGBUS.
 * - FOLDER: a path that ends with a slash is a folder. The file gets a name there that no other
 *   process takes: the process number, the time in milliseconds since 1970, and ".trace". So a folder
 *   holds the traces of several programs, and of processes that had the same process number.
 *
 * Not done: huge windows. A mapping of one chunk costs two system calls for about 4,000 records,
 * and works under any ulimit -v. */
#ifndef TRACE_CHUNK_FILE_H
#define TRACE_CHUNK_FILE_H

#include "trace/dropping.h"
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
  bool fresh; /* it was created, not found */
  char path[PATH_MAX];
  /* Replaced by compare-and-swap when the program closed it. */
  _Atomic(int) descriptor;
  /* The mapping that keeps the lock; NULL: there is none. */
  _Atomic(void *) held;
  /* False once the file system refused fallocate; tests set it. */
  _Atomic(bool) can_allocate;
  /* The number of the next chunk, and where the space ends that the chunks from there on have. */
  _Atomic(uint64_t) next;
  _Atomic(uint64_t) allocated;
  /* CUT: the size that the file has been given, at least; and whether it was found shorter. */
  _Atomic(uint64_t) size;
  _Atomic(bool) cut;
  /* Why the last request was refused: enum trace_loss_cause. */
  _Atomic(uint8_t) cause;
  /* Set by chunk_file_close: the file is not to be opened again. */
  _Atomic(bool) closed;
  struct disk_bound bound;
  /* How often to say no before the system is asked again after a failure. */
  _Atomic(unsigned) refusals;
};

/* The end of a name in a folder. */
#define CHUNK_FILE_ENDING ".trace"

/* Creates the file, readable for its user alone; or empties one that is a trace of this user's, or
 * empty, and that no process writes. WN_EBUSY: a process writes it. In a folder (FOLDER) the file is
 * always new, and `file->path` tells its name. Follows no symbolic link there. Sets wn_last_error. */
wn_status chunk_file_open(struct chunk_file *file, const char *path, uint64_t limit_bytes);

/* Between chunk_file_open and the first chunk: the file never takes more disk space (dropping.h).
 * False if there is no memory. */
bool chunk_file_bind(struct chunk_file *file, uint64_t bound_bytes);

struct taken_chunk {
  uint64_t sequence;
  uint32_t space; /* so many of its bytes, from the first on, have space behind them */
};

/* Whether chunk_file_open would take the file at this path, which exists. Sets wn_last_error. */
wn_status chunk_file_check(const char *path);

/* Takes the next chunk, all zeros. `small`: with space for its first page, unless there is more in
 * advance. Chunks that are dropped for it are added to `dropped` (NULL: none may be). False, at
 * once most times, if there is no room. Any thread, signal handlers too. */
bool chunk_file_take(struct chunk_file *file, bool small, struct taken_chunk *chunk,
                     struct dropped_chunks *dropped);

/* Doubles the space of a chunk, which is the caller's. False if it has all, or there is no room. */
bool chunk_file_extend(struct chunk_file *file, struct taken_chunk *chunk, struct dropped_chunks *dropped);

/* A chunk that was taken will not be used: under a bound its space is given back. */
void chunk_file_give_back(struct chunk_file *file, uint64_t sequence);

/* Maps a chunk that was taken; NULL if the address space is exhausted. Unmapped by munmap. */
void *chunk_file_map(struct chunk_file *file, uint64_t sequence);

/* False if another process has made the file shorter. Asks the system if `look` is set, and else
 * says what was found before. */
bool chunk_file_is_whole(struct chunk_file *file, bool look);

/* Closes the descriptor, if it is still ours, and gives no more chunks. */
void chunk_file_close(struct chunk_file *file);

/* Frees what chunk_file_bind took; nothing else may follow. */
void chunk_file_free(struct chunk_file *file);

/* Closes it too; where nothing could be written: a file that was created is removed again. */
void chunk_file_give_up(struct chunk_file *file);

/* The same, and cuts the file behind its first `end` bytes. All chunks are the caller's. */
void chunk_file_cut_and_close(struct chunk_file *file, uint64_t end);

#endif
/* SPDX-License-Identifier: MIT */
