/* Heap snapshots of a heap that is not Winnow's own. The host, which is another runtime or a
 * binding of one, walks its heap, and tells its roots, blocks and references. `winnow heap` and
 * `winnow view` read the file as they do one of wn_heap_snapshot.
 *
 *   static void roots(wn_snapshot *snapshot, void *vm) {
 *     for (each root) wn_snapshot_root(snapshot, WN_ROOT_GLOBAL, name, address);
 *   }
 *   static void blocks(wn_snapshot *snapshot, void *vm) {
 *     wn_snapshot_type(snapshot, 1, "pair");
 *     for (each block) {
 *       wn_snapshot_block(snapshot, address, &(wn_block_info){.type = 1, .words = 2});
 *       for (each reference) wn_snapshot_reference(snapshot, field, address);
 *     }
 *   }
 *   wn_snapshot_source source = {"lisp", roots, blocks, vm};
 *   wn_snapshot *snapshot;
 *   if (wn_snapshot_begin("now.heap", &source, &snapshot) || wn_snapshot_end(snapshot))
 *     puts(wn_last_error()); */
#ifndef WINNOW_SNAPSHOT_WRITER_H
#define WINNOW_SNAPSHOT_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <winnow/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wn_snapshot wn_snapshot;

typedef struct wn_snapshot_source {
  const char *language; /* the name of the language, for reports */
  /* Tells the roots, in the calling thread. */
  void (*roots)(wn_snapshot *snapshot, void *context);
  /* Tells the blocks and the types, in a copy of the process that has the memory as it is when
   * `roots` returns, and no other thread: so it must take no lock, and no memory of malloc. Where
   * the process cannot be copied, in the calling thread. */
  void (*blocks)(wn_snapshot *snapshot, void *context);
  void *context;
} wn_snapshot_source;

/* Begins a snapshot in a file, which is replaced if it exists, and is there as a whole or not at
 * all. Nothing may change the heap until the function returns; from then on the program goes on. The
 * copy is as wn_heap_snapshot's. `source` is copied. WN_EIO: the file cannot be written, or it is no
 * regular file. WN_EINVAL: an argument is NULL, or the path is too long. WN_ENOMEM. Any thread. */
WN_API wn_status wn_snapshot_begin(const char *path, const wn_snapshot_source *source,
                                   wn_snapshot **snapshot);

/* Waits until the file is written, and frees the snapshot. Called once, by the thread that began.
 * WN_EIO: it could not be written, or the copy was ended. */
WN_API wn_status wn_snapshot_end(wn_snapshot *snapshot);

typedef enum wn_root_kind {
  WN_ROOT_STACK,     /* variables of callstacks, and handles */
  WN_ROOT_LANGUAGE,  /* others of the language's */
  WN_ROOT_GLOBAL,    /* global variables */
  WN_ROOT_FINALISER, /* finalisers that are to run */
  WN_ROOT_PIN
} wn_root_kind;

/* In `roots`: a root leads to a block. Roots of one kind and name that follow each other are one
 * holder. `name` may be NULL, and is copied. */
WN_API void wn_snapshot_root(wn_snapshot *snapshot, wn_root_kind kind, const char *name, uintptr_t block);

typedef struct wn_block_info {
  uint32_t type;    /* a number from 1 on */
  size_t words;     /* of 8 bytes, without a header of one word that is counted to it */
  size_t outside;   /* bytes outside the heap that go with the block, which then has no references */
  bool weak;        /* its references are: of field 0 to its data, of the others to its keys */
  const char *name; /* what tells it from others of its type; NULL: nothing. Copied */
} wn_block_info;

/* In `blocks`: the blocks, in ascending order of address, each with its references directly behind
 * it, in ascending order of fields, which count from 0. Addresses are multiples of 8. What no root
 * leads to may be told as well. A reference to a block that is not told is counted as lost. */
WN_API void wn_snapshot_block(wn_snapshot *snapshot, uintptr_t at, const wn_block_info *info);
WN_API void wn_snapshot_reference(wn_snapshot *snapshot, size_t field, uintptr_t block);

/* In `blocks`: the name of a type, before or after its blocks, and of a field. */
WN_API void wn_snapshot_type(wn_snapshot *snapshot, uint32_t type, const char *name);
WN_API void wn_snapshot_field(wn_snapshot *snapshot, uint32_t type, size_t field, const char *name);

/* In `roots` or `blocks`: the host cannot tell the rest, for the reason of an errno. Nothing more is
 * written, and the snapshot fails. */
WN_API void wn_snapshot_fail(wn_snapshot *snapshot, int error);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
