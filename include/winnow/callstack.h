/* Callstacks, as samples carry them.
 *
 *   for (size_t i = 0; i < wn_callstack_depth(stack); i++) {
 *     wn_frame frame = wn_callstack_frame(stack, i);
 *     printf("%s+%#lx\n", frame.module, (unsigned long)frame.offset);
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

typedef struct wn_callstack wn_callstack;

typedef struct wn_frame {
  uintptr_t pc;
  uintptr_t offset;
  const char *module;
} wn_frame;

WN_API size_t wn_callstack_depth(const wn_callstack *callstack);
WN_API wn_frame wn_callstack_frame(const wn_callstack *callstack, size_t index);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
