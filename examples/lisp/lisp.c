/* The symbols, and the tables of global variables. */
#include "lisp.h"

#include "builtins.h"
#include <stdio.h>
#include <string.h>
#include <winnow/snapshot.h>
#include <winnow/weak.h>

/* The machine checks each value and handle that it makes, and raises an error that a Lisp program
 * can catch. */
static bool no_memory(wn_domain *domain, size_t words, void *context) {
  (void)domain, (void)words, (void)context;
  return false;
}
static void no_handles(wn_domain *domain, void *context) { (void)domain, (void)context; }

bool lisp_open(struct lisp *lisp, const wn_heap_options *options) {
  wn_heap_options mine = *options;
  *lisp = (struct lisp){.lock = PTHREAD_MUTEX_INITIALIZER};
  mine.hooks.out_of_memory = no_memory;
  mine.hooks.out_of_handles = no_handles;
  mine.hooks.walk_roots = vm_walk_roots;
  mine.hooks.callstack = vm_callstack;
  mine.hooks.type_of = lisp_type_of;
  mine.hooks.type_name = lisp_type_name;
  mine.hooks.field_name = lisp_field_name;
  mine.hooks.describe = lisp_describe;
  mine.language = "Lisp";
  if (!wn_heap_open(&mine, &lisp->heap)) return true;
  fprintf(stderr, "lisp: %s\n", wn_last_error());
  return false;
}

void lisp_close(struct lisp *lisp) {
  if (wn_heap_close(lisp->heap)) fprintf(stderr, "lisp: %s\n", wn_last_error());
  pthread_mutex_destroy(&lisp->lock);
}

void lisp_lock(struct vm *vm) {
  if (!pthread_mutex_trylock(&vm->lisp->lock)) return;
  wn_blocking_begin(vm->domain);
  pthread_mutex_lock(&vm->lisp->lock);
  wn_blocking_end(vm->domain);
}

void lisp_unlock(struct vm *vm) { pthread_mutex_unlock(&vm->lisp->lock); }

/* ---- symbols: the lock is held ----
 *
 * The symbols are in a weak set, so that a symbol that nothing else mentions does not stay for
 * ever. The set is a weak array of buckets of BUCKET places. A symbol is somewhere in the bucket of
 * its hash, among places that were never used and places that have become empty. The set grows when
 * a bucket is full. */

enum { BUCKET = 16, FIRST_BUCKETS = 128 };

static size_t hash_bytes(const char *bytes, size_t length) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
  return (size_t)(hash >> 10);
}

static size_t bucket_of(wn_ref set, size_t hash) { return hash % (wn_weak_length(set) / BUCKET) * BUCKET; }

static bool has_name(wn_value symbol, const char *name, size_t length) {
  wn_value string = field(symbol, SYMBOL_NAME);
  return string_length(string) == length && !memcmp(string_bytes(string), name, length);
}

static wn_value find_symbol(struct vm *vm, wn_ref set, size_t hash, const char *name, size_t length) {
  size_t bucket = bucket_of(set, hash);
  for (size_t i = bucket; i < bucket + BUCKET; i++) {
    WN_SCOPE(vm->domain);
    wn_ref symbol = wn_weak_get(vm->domain, set, i);
    if (!wn_is_null(symbol) && has_name(wn_value_of(symbol), name, length)) return wn_value_of(symbol);
  }
  return FALSE;
}

/* False if the bucket is full. */
static bool put_symbol(struct vm *vm, wn_ref set, wn_ref symbol) {
  size_t bucket = bucket_of(set, (size_t)integer_of(wn_field(symbol, SYMBOL_HASH)));
  for (size_t i = bucket; i < bucket + BUCKET; i++)
    if (!wn_weak_check(vm->domain, set, i)) return !wn_weak_set(vm->domain, set, i, symbol);
  return false;
}

static bool put_all(struct vm *vm, wn_ref to, wn_ref from) {
  for (size_t i = 0; i < wn_weak_length(from); i++) {
    WN_SCOPE(vm->domain);
    wn_ref symbol = wn_weak_get(vm->domain, from, i);
    if (!wn_is_null(symbol) && !put_symbol(vm, to, symbol)) return false;
  }
  return true;
}

/* A set of twice as many places, or more, with the symbols of the old one. Null if memory is
 * exhausted. */
static wn_ref grow_symbols(struct vm *vm, wn_ref old) {
  for (size_t places = 2 * wn_weak_length(old);; places *= 2) {
    wn_ref grown = wn_weak_new(vm->domain, places);
    if (!wn_is_null(grown) && !put_all(vm, grown, old)) continue;
    if (!wn_is_null(grown)) wn_global_set(vm->domain, vm->lisp->symbols, grown);
    return grown;
  }
}

/* Null if memory is exhausted. */
static wn_ref all_symbols(struct vm *vm) {
  struct lisp *lisp = vm->lisp;
  if (lisp->symbols) return wn_global_get(vm->domain, lisp->symbols);
  wn_ref set = wn_weak_new(vm->domain, (size_t)FIRST_BUCKETS * BUCKET);
  if (!wn_is_null(set)) lisp->symbols = wn_global_new_named(vm->domain, set, "symbols");
  return lisp->symbols ? set : (wn_ref){NULL};
}

/* Null if memory is exhausted. */
static wn_ref make_symbol(struct vm *vm, size_t hash, const char *name, size_t length) {
  wn_value string = make_string(vm, name, length);
  wn_ref null = {NULL};
  if (!string) return null;
  wn_ref name_ref = wn_root(vm->domain, string);
  wn_value *symbol = wn_bump(vm->domain, SYMBOL_WORDS, TAG_SYMBOL);
  if (!symbol) return null;
  symbol[SYMBOL_NAME] = wn_value_of(name_ref);
  symbol[SYMBOL_HASH] = make_integer((intptr_t)hash);
  symbol[SYMBOL_FORM] = make_integer(0);
  return wn_root(vm->domain, (wn_value)symbol);
}

static wn_value intern(struct vm *vm, const char *name, size_t length) {
  size_t hash = hash_bytes(name, length);
  wn_ref set = all_symbols(vm);
  if (wn_is_null(set)) return 0;
  wn_value found = find_symbol(vm, set, hash, name, length);
  if (found != FALSE) return found;
  wn_ref symbol = make_symbol(vm, hash, name, length);
  while (!wn_is_null(symbol) && !wn_is_null(set) && !put_symbol(vm, set, symbol)) set = grow_symbols(vm, set);
  return wn_is_null(symbol) || wn_is_null(set) ? 0 : wn_value_of(symbol);
}

/* ---- globals: the lock is held ---- */

/* The library's value of the name. */
static wn_value inherited(struct vm *vm, wn_ref symbol) {
  if (!vm->lisp->library) return UNASSIGNED;
  wn_value library = wn_value_of(wn_global_get(vm->domain, vm->lisp->library));
  wn_value cell = table_get(library, wn_value_of(symbol), FALSE);
  return cell == FALSE ? UNASSIGNED : field(cell, CELL_VALUE);
}

static wn_value find_cell(struct vm *vm, wn_ref symbol) {
  wn_value found = table_get(vm->roots[ROOT_ENVIRONMENT], wn_value_of(symbol), FALSE);
  if (found != FALSE) return found;
  wn_ref value = wn_root(vm->domain, inherited(vm, symbol));
  wn_ref cell = wn_pair(vm->domain, TAG_CELL, value, symbol);
  if (wn_is_null(cell)) return 0;
  wn_ref environment = wn_root(vm->domain, vm->roots[ROOT_ENVIRONMENT]);
  return table_put(vm, environment, symbol, cell) ? wn_value_of(cell) : 0;
}

/* ---- shared ---- */

static wn_ref root_unless_null(struct vm *vm, wn_value value) {
  return value ? wn_root(vm->domain, value) : (wn_ref){NULL};
}

wn_ref symbol_intern(struct vm *vm, const char *name, size_t length) {
  lisp_lock(vm);
  wn_value symbol;
  {
    WN_SCOPE(vm->domain);
    symbol = intern(vm, name, length);
  }
  lisp_unlock(vm);
  return root_unless_null(vm, symbol);
}

wn_ref global_cell(struct vm *vm, wn_ref symbol) {
  lisp_lock(vm);
  wn_value cell;
  {
    WN_SCOPE(vm->domain);
    cell = find_cell(vm, symbol);
  }
  lisp_unlock(vm);
  return root_unless_null(vm, cell);
}

bool program_begin(struct vm *vm, struct program *program) {
  wn_value table = table_create(vm);
  if (!table) return false;
  *program = (struct program){.lock = PTHREAD_MUTEX_INITIALIZER};
  vm->program = program;
  vm->roots[ROOT_ENVIRONMENT] = table;
  WN_SCOPE(vm->domain);
  if (vm->lisp->raise) vm->roots[ROOT_RAISE] = wn_value_of(wn_global_get(vm->domain, vm->lisp->raise));
  return true;
}
/* SPDX-License-Identifier: MIT */
