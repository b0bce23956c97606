/* The modules that a program's code lies in. A module gets a number when a callstack first has a
 * frame in it, and keeps the number.
 *
 * A module that is unloaded is gone: its number is not used for anything else. If another object is
 * mapped at its place, that object gets another number. If the same object (path, build-id and
 * base) comes back, it gets its old number with a higher generation, so that a program which loads
 * and unloads one library for ever does not fill the table.
 *
 * Readers take no lock: a record is written before the count that covers it is published, and after
 * that, only those fields change that are written under the lock (struct module). Writers hold the
 * lock of rank LOCK_RANK_MODULES; a signal handler that interrupted a writer on its own thread
 * gives up instead of waiting for itself. */
#ifndef CALLSTACK_MODULES_H
#define CALLSTACK_MODULES_H

#include "base/lock.h"
#include "callstack/levels.h"
#include "callstack/object.h"
#include "callstack/texts.h"

enum { MODULES_MOST = 65535, MODULES_CHUNKS = 17 };

/* Where the module of a language's places lies (places.h): beyond all addresses that there are. */
#define PLACES_BASE ((uintptr_t)1 << 62)
#define PLACES_SIZE ((uintptr_t)1 << 24)

struct module {
  /* Written before the record is published; constant afterwards. */
  struct object object;
  struct build_id build_id;
  const char *path;
  /* Written under the lock, read by any thread. */
  _Atomic(const void *) loader_record;
  _Atomic(uint32_t) generation;
  _Atomic(bool) gone;
  /* Only under the lock: a thread that entered another module found this one gone; the next
   * modules_refresh reports it. */
  bool unreported;
};

struct modules {
  /* Set by modules_create; constant afterwards. */
  enum object_source source;
  struct levels *pcs;
  struct lock lock;
  /* Published with release: ids 1 to count are there. Chunk k holds `first << k` of them. */
  _Atomic(uint32_t) count;
  _Atomic(uint32_t) changes; /* how often code addresses became dead */
  _Atomic(bool) has_unowned; /* the cache has had a code address that is in no module */
  _Atomic(struct module *) chunk[MODULES_CHUNKS];
  /* Only under the lock: memory for paths, and room to find one out. */
  struct texts paths;
  char *scratch;
};

enum module_result { MODULE_NONE, MODULE_FOUND, MODULE_BUSY };

bool modules_create(struct modules *modules, struct levels *pcs, enum object_source source);
void modules_destroy(struct modules *modules);

/* The module of a code address, entered if it is new. MODULE_NONE: there is no file at this
 * address. MODULE_BUSY: the caller is a signal handler that interrupted a writer, or there is no
 * memory; a later call may find the module. */
enum module_result modules_find(struct modules *modules, uintptr_t pc, uint32_t *id);

/* Adds the module of a language's places; called once. 0 if the table is full or there is no
 * memory. */
uint32_t modules_add_language(struct modules *modules, const char *path);

/* The record of an id that was given out; NULL for any other number. Never freed before
 * modules_destroy. */
struct module *modules_get(struct modules *modules, uint32_t id);

/* Finds out which modules are gone and calls `gone` for each, without the lock. */
void modules_refresh(struct modules *modules, void (*gone)(void *context, uint32_t id), void *context);

#endif
/* SPDX-License-Identifier: MIT */
