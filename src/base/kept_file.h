/* A file of the system's, such as /proc/self/statm, that is kept open in a program that is not
 * ours.
 *
 * What can be opened when a process starts may be out of reach later: behind another user, another
 * root, or a filter of system calls. So such a file is opened once, and its descriptor kept out of
 * the way of the program's own, which are small numbers. The program may close it all the same, and
 * open its own file under the number: so its identity is compared before each use, and a file that
 * was closed is opened anew for that use only. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct kept_file {
  const char *path; /* lives as long as this */
  dev_t device;
  ino_t inode;
  _Atomic(int) descriptor; /* -1: none is kept */
};

/* If the file cannot be opened now, or kept out of the way, each use tries anew. */
void kept_file_open(struct kept_file *file, const char *path);

/* A descriptor for reading, until it is given back; -1 with none. */
int kept_file_take(const struct kept_file *file);
void kept_file_give_back(const struct kept_file *file, int descriptor);

/* Reads from the begin, as os_read_file does. */
long kept_file_read(const struct kept_file *file, char *buffer, size_t capacity);

/* The number in this base that follows a name, such as "\nVmHWM:". False: there is none. */
bool kept_file_number(const struct kept_file *file, const char *name, unsigned base, uint64_t *number);

void kept_file_close(struct kept_file *file);
/* SPDX-License-Identifier: MIT */
