/* Knows the functions that cgo makes by their names. In symbol tables functions of Go's assembly
 * end in ".abi0". */
#include "analysis/load/cgo.h"

#include <string.h>

static bool is_of_assembly(const char *function, const char *name) {
  size_t length = strlen(name);
  return !strncmp(function, name, length) && (!function[length] || !strcmp(function + length, ".abi0"));
}

/* ---- shared ---- */

bool cgo_is_between(const char *function) {
  if (!strncmp(function, "_cgo_", 5)) return strstr(function, "_Cfunc_") || strstr(function, "_C2func_");
  return is_of_assembly(function, "runtime.cgocall") || is_of_assembly(function, "runtime.asmcgocall") ||
         strstr(function, "._Cfunc_") || strstr(function, "._C2func_") || strstr(function, "._cgo_cmalloc");
}

void cgo_mark(struct names *names, size_t frame_count) {
  for (size_t i = 0; i < frame_count; i++) {
    struct frame *frame = &names->frame[i];
    frame->between = frame->wrapper && cgo_is_between(strings_text(names->strings, frame->function));
  }
}
/* SPDX-License-Identifier: MIT */
