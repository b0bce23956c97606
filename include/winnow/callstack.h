/* Call stacks, as callbacks see them.
 *
 *   wn_frame frames[32];
 *   size_t depth = wn_callstack_frames(stack, frames, 32);
 *   for (size_t i = 0; i < depth && i < 32; i++)
 *     printf("%s+0x%zx\n", frames[i].module ? frames[i].module : "?", (size_t)frames[i].offset);
 */
#ifndef WINNOW_CALLSTACK_H
#define WINNOW_CALLSTACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <winnow/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A call stack. Valid during the callback that gets it; a copy is valid until it is freed. */
typedef struct wn_callstack wn_callstack;

/* The number of a place in a program of a language on the heap (wn_place_of in heap.h). 0: no
 * place. */
typedef uint32_t wn_place;

/* A native frame, or a frame of a language, which has the function's name. */
typedef struct wn_frame {
  uintptr_t pc;       /* where the call returns to; for an interrupted instruction its address + 1 */
  uintptr_t offset;   /* the same as an address in the module's file */
  const char *module; /* the module's path; NULL if the code is in no file */

  /* Set for a language's frame; NULL, NULL and 0 for a native frame. For a language's frame
   * `module` is the language's name in brackets, `offset` is the wn_place, and `pc` is no address
   * but a value that differs from those of all other frames. */
  const char *function, *file; /* valid as long as the heap; empty if unknown */
  uint32_t line;               /* 0: unknown */
} wn_frame;

/* A frame of the running thread that a language tells the heap (the hook `callstack`). */
typedef struct wn_language_frame {
  wn_place place;
  /* Any address in the C stack frame of the function that runs this call, such as the interpreter's
   * loop; __builtin_frame_address(0) there returns one. NULL: unknown.
   *
   * The compiler makes one C stack frame of a function and those that it inlines there, for which a
   * report shows several functions. The language's frame stands on the inner side of all of them. So
   * a builtin that is inlined into the loop is shown as the caller of the language's function that
   * called it. Where that matters builtins are `noinline`, and so is the loop. */
  const void *native;
} wn_language_frame;

/* The number of frames; 0 if the stack could not be captured. Any thread. */
WN_API size_t wn_callstack_depth(const wn_callstack *callstack);

/* Writes the innermost frames, at most `most`, innermost first, and returns the depth, which may be
 * more than `most`. `frames` may be NULL if `most` is 0. Takes time proportional to the depth. Any
 * thread. */
WN_API size_t wn_callstack_frames(const wn_callstack *callstack, wn_frame *frames, size_t most);

/* One frame; 0 is the innermost. An index beyond the depth gives a frame of zeros. Any thread. */
WN_API wn_frame wn_callstack_frame(const wn_callstack *callstack, size_t index);

/* A hash of the frames: equal for equal stacks of one heap, for as long as the heap lives. Any
 * thread. */
WN_API uint64_t wn_callstack_hash(const wn_callstack *callstack);

/* Whether two stacks are of one heap and have the same frames. Any thread. */
WN_API bool wn_callstack_equal(const wn_callstack *one, const wn_callstack *other);

/* A copy of a stack, by malloc, of 4 bytes a frame and some 40 more; wn_callstack_free frees it.
 * NULL if there is no memory. Its frames can be read for as long as its heap lives. Any thread; not
 * in a signal handler. wn_callstack_free ignores NULL. */
WN_API wn_callstack *wn_callstack_copy(const wn_callstack *callstack);
WN_API void wn_callstack_free(wn_callstack *copy);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
