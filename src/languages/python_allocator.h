/* CPython's allocator for small objects, pymalloc: how its functions are reached and its blocks
 * look.
 *
 * Requests of at most PYTHON_SMALL_MOST bytes of the domains "mem" and "obj" are served from arenas
 * that pymalloc maps; larger ones, and those of the domain "raw", go to malloc. An arena consists
 * of pools of one size class; each begins with a header, at a multiple of its size. A block of
 * another origin is passed on to malloc's free and realloc, since it lies in no arena.
 *
 * The functions of a domain stand in a table that the interpreter lets embedding programs
 * replace (PyMem_SetAllocator). The debugging allocators and PYTHONMALLOC replace it again when
 * the interpreter begins, before any object is made. */
#pragma once

#include "languages/python.h"

enum { PYTHON_SMALL_MOST = 512 };

/* PyMemAllocatorEx */
struct python_functions {
  void *context;
  void *(*malloc)(void *context, size_t bytes);
  void *(*calloc)(void *context, size_t count, size_t bytes);
  void *(*realloc)(void *context, void *block, size_t bytes);
  void (*free)(void *context, void *block);
};

/* PyObjectArenaAllocator */
struct python_arena_functions {
  void *context;
  void *(*alloc)(void *context, size_t bytes);
  void (*free)(void *context, void *arena, size_t bytes);
};

/* Reads the functions of pymalloc, which both domains have, and of its arenas. False if the
 * domains have others. */
bool python_allocator_get(const struct python *python, struct python_functions *functions,
                          struct python_arena_functions *arenas);

/* Replaces those functions. Before the interpreter begins, or while it makes an arena. */
void python_allocator_set(const struct python *python, const struct python_functions *functions,
                          const struct python_arena_functions *arenas);

/* Note an arena, which has been mapped or will be unmapped. Of what the interpreter takes by the
 * functions for arenas, only stretches of layout.arena_bytes are arenas: others are its stacks
 * of frames. Any thread. */
void python_arena_begins(const struct python *python, uintptr_t arena);
void python_arena_ends(const struct python *python, uintptr_t arena);

/* The size of a live block's class: at least what was asked for it. 0: it is in no arena that is
 * known. */
size_t python_block_bytes(const struct python *python, const void *block);
/* SPDX-License-Identifier: MIT */
