/* Call stacks, as callbacks see them.
 *
 *   for (size_t i = 0; i < wn_callstack_depth(stack); i++) {
 *     wn_frame frame = wn_callstack_frame(stack, i);
 *     printf("%s+0x%zx\n", frame.module ? frame.module : "?", (size_t)frame.offset);
 *   }
 */
#ifndef WINNOW_CALLSTACK_H
#define WINNOW_CALLSTACK_H

#include <stddef.h>
#include <stdint.h>
#include <winnow/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A call stack. Equal stacks of one heap are the same pointer; none is freed while its heap lives. */
typedef struct wn_callstack wn_callstack;

typedef struct wn_frame {
  uintptr_t pc;       /* where the call returns to; for an interrupted instruction its address + 1 */
  uintptr_t offset;   /* the same as an address in the module's file */
  const char *module; /* the module's path; NULL if the code is in no file */
} wn_frame;

/* The number of frames; 0 if the stack could not be captured. Any thread. */
WN_API size_t wn_callstack_depth(const wn_callstack *callstack);

/* A frame; 0 is the innermost. An index beyond the depth gives a frame of zeros. Any thread. Takes time proportional to
 * the index. */
WN_API wn_frame wn_callstack_frame(const wn_callstack *callstack, size_t index);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
