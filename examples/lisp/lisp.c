/* The symbols, and the tables of global variables. */
#include "lisp.h"

#include "builtins.h"
#include <stdio.h>
#include <string.h>

enum { FIRST_BUCKETS = 1024 };

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

/* ---- symbols: the lock is held ---- */

static size_t hash_bytes(const char *bytes, size_t length) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
  return (size_t)(hash >> 8);
}

static wn_value find_symbol(wn_value buckets, size_t hash, const char *name, size_t length) {
  wn_value symbol = field(buckets, hash % wn_words(buckets));
  for (; symbol != FALSE; symbol = field(symbol, SYMBOL_NEXT)) {
    wn_value string = field(symbol, SYMBOL_NAME);
    if (string_length(string) == length && !memcmp(string_bytes(string), name, length)) break;
  }
  return symbol;
}

static void link_symbol(struct vm *vm, wn_value buckets, wn_value symbol) {
  size_t at = (size_t)integer_of(field(symbol, SYMBOL_HASH)) % wn_words(buckets);
  wn_store(vm->domain, symbol, SYMBOL_NEXT, field(buckets, at));
  wn_store(vm->domain, buckets, at, symbol);
}

static bool resize_symbols(struct vm *vm, size_t count) {
  struct lisp *lisp = vm->lisp;
  wn_value made = make_block(vm, count, TAG_VECTOR, FALSE);
  if (!made) return false;
  wn_ref grown = wn_root(vm->domain, made);
  wn_ref old = lisp->symbols ? wn_global_get(vm->domain, lisp->symbols) : wn_root(vm->domain, wn_int(0));
  for (size_t i = 0; lisp->symbols && i < wn_words(wn_value_of(old)); i++)
    for (wn_value next, symbol = wn_field(old, i); symbol != FALSE; symbol = next) {
      next = field(symbol, SYMBOL_NEXT);
      link_symbol(vm, wn_value_of(grown), symbol);
    }
  if (lisp->symbols)
    wn_global_set(vm->domain, lisp->symbols, grown);
  else
    lisp->symbols = wn_global_new(vm->domain, grown);
  return lisp->symbols != NULL;
}

static wn_value add_symbol(struct vm *vm, size_t hash, const char *name, size_t length) {
  struct lisp *lisp = vm->lisp;
  wn_value string = make_string(vm, name, length);
  if (!string) return 0;
  wn_ref name_ref = wn_root(vm->domain, string);
  wn_value *symbol = wn_bump(vm->domain, SYMBOL_WORDS, TAG_SYMBOL);
  if (!symbol) return 0;
  symbol[SYMBOL_NAME] = wn_value_of(name_ref);
  symbol[SYMBOL_HASH] = make_integer((intptr_t)(hash >> 2));
  symbol[SYMBOL_NEXT] = FALSE;
  symbol[SYMBOL_FORM] = make_integer(0);
  link_symbol(vm, wn_value_of(wn_global_get(vm->domain, lisp->symbols)), (wn_value)symbol);
  lisp->symbol_count++;
  return (wn_value)symbol;
}

static wn_value intern(struct vm *vm, const char *name, size_t length) {
  struct lisp *lisp = vm->lisp;
  size_t hash = hash_bytes(name, length);
  size_t buckets =
      lisp->symbols ? wn_words(wn_value_of(wn_global_get(vm->domain, lisp->symbols))) : FIRST_BUCKETS / 2;
  if ((!lisp->symbols || lisp->symbol_count > buckets) && !resize_symbols(vm, 2 * buckets)) return 0;
  wn_value symbol =
      find_symbol(wn_value_of(wn_global_get(vm->domain, lisp->symbols)), hash >> 2, name, length);
  return symbol == FALSE ? add_symbol(vm, hash, name, length) : symbol;
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
