/* The functions between Go and the C functions that it calls.
 *
 * For each C function cgo makes a function of Go, "main._Cfunc_strdup", and one of C,
 * "_cgo_0742e3e0f5dd_Cfunc_strdup"; between them runtime.cgocall and runtime.asmcgocall change
 * stacks. None is the user's code. They are wrappers of what the C function allocates, and call
 * paths leave them out wherever they are.
 */
#pragma once

#include "analysis/load/names.h"

bool cgo_is_between(const char *function);

/* Sets `between` in the names' frames, whose wrappers are known. */
void cgo_mark(struct names *names, size_t frame_count);
/* SPDX-License-Identifier: MIT */
