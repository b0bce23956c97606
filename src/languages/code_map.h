/* Names of code that a runtime makes while the program runs, as it tells them to profilers.
 *
 * Such code lies in no file. A runtime that is asked to appends a line for each function that it
 * makes to /tmp/perf-PID.map ("BEGIN SIZE name" in hexadecimal, perf's format), or a record to
 * jit-PID.dump, of which it maps a page as executable, so that profilers learn where it lies. V8
 * writes either as it compiles; OpenJDK writes a whole map when it is asked for one.
 *
 * The files are read when a sampled stack has such code, at most once a millisecond, and what was
 * added is entered. The function that was entered last is the one at an address: a stack gets its
 * name, with the address and, if the file has times, since when it is there.
 *
 * LATE. A runtime may write of a function long after it made it, since it collects what it writes.
 * Until then stacks get the name of the function that was there before, or none. So each address
 * that was asked for is noted with the time of the last question. A function that is entered, and
 * was there by then, is told by `tell`, with the address and since when it is there, so that a
 * reader of the stacks can name the address by the time of each stack. A file without times tells
 * only of addresses that have no name yet. If there is no room to note an address, its name is read from
 * the file at each question, and nothing of it comes late.
 *
 * INDEX. Each bucket is a chain of the functions that have a byte in one of its pages, the last one
 * first. A function that covers an older one takes it out of the bucket, so a chain stays
 * short, and a function in no bucket is free again.
 *
 * FILES. They are believed if they are the user's or root's, regular, and were written since the
 * recording began: an older process may have had the same number. A map that was written anew is read anew.
 *
 * FULL. If there is no room for all functions that are there at a time, no address can be told any
 * more. From then on such code has one name, which says so.
 *
 * SNAPSHOTS. A map that a runtime writes all at once names what is there then. What it puts at the
 * same addresses later has the old names until the next map.
 *
 * One thread at a time uses the tables; another that comes meanwhile, also a signal handler, gets
 * no names, and notes nothing. Nothing here allocates by malloc. */
#pragma once

#include "base/check.h"
#include "callstack/capture.h"
#include <stdatomic.h>

enum { CODE_MAP, CODE_DUMP, CODE_FILES, CODE_PATH_MOST = 256, CODE_ASKED = TINY ? 1 << 14 : 1 << 18 };

struct code_file {
  char path[CODE_PATH_MOST];        /* empty: there is none, or it is not to be believed */
  uint64_t inode, read, touched_ns; /* read: bytes, so far; touched_ns: when it was written last */
  unsigned char last[32];           /* the bytes before `read` */
};

struct code_map {
  struct callstack_code code; /* what callstack_wish wants; first, so that it is the map, too */
  /* Set by code_map_begin; constant afterwards. */
  struct callstacks *callstacks;
  void (*tell)(const struct callstack_place *place);
  uint64_t begin_ns; /* by the wall clock */
  int pid;
  unsigned user;
  /* By any thread. */
  _Atomic(bool) begun;
  _Atomic(uintptr_t) busy;  /* the mark of the thread that uses the tables; 0: none does */
  _Atomic(uint64_t) due_ns; /* when the files are looked at again */
  /* The rest belongs to the thread that has set `busy`. */
  struct code_file file[CODE_FILES];
  struct code_tables *tables;       /* NULL: no file was found yet, or there was too much in it */
  struct code_addresses *addresses; /* that were asked for; NULL: none, or there was no memory */
  bool is_copy;                     /* of a parent's map, in a forked child */
  bool is_full;                     /* FULL */
  wn_place all;                     /* the name that all code has then; 0: not entered yet */
};

/* Zeroed memory becomes a map of the process's code. */
void code_map_begin(struct code_map *map, struct callstacks *callstacks,
                    void (*tell)(const struct callstack_place *place));

/* Whether it was begun: only then `code` may be asked. */
static inline bool code_map_begun(const struct code_map *map) {
  return atomic_load_explicit(&map->begun, memory_order_acquire);
}

/* The program has mapped a file as executable: it may be a jitdump. */
void code_map_mapped(struct code_map *map, int descriptor);

/* Enters what the files have got since, if it is time to look, or if `now`. A thread calls it before
 * it asks `code` for the frames of a stack, which counts as the time of these questions. */
void code_map_refresh(struct code_map *map, bool now);

/* In a forked child, which has its parent's code: of what it makes no file is read. */
void code_map_fork_child(struct code_map *map);
/* SPDX-License-Identifier: MIT */
