/* The part of a function that the compiler has put elsewhere.
 *
 * GCC puts what a profile says is seldom run, or has no profile, into a part of its own, which the
 * symbol does not cover and a stripped file does not name. The function jumps into it, and it jumps
 * back into the middle of the function, as no other function does. The bytes are read one by one,
 * so what looks like a jump may be part of another instruction: then nothing jumps back. */
#include "callstack/capture.h"
#include "callstack/cfi.h"
#include "callstack/object.h"
#include "callstack/unwind.h"

struct code {
  uintptr_t begin, end;
};

static bool split_has(const struct code *code, uintptr_t address) {
  return address - code->begin < code->end - code->begin;
}

/* The function or part that a jump leads to; false: `at` is no jump out of this code. */
static bool leads_elsewhere(const struct cfi_section *section, const struct code *code, uintptr_t at,
                            struct code *found) {
  uintptr_t target = code_jump_target(at, code->end);
  return target && !split_has(code, target) && cfi_find_function(section, target, &found->begin, &found->end);
}

static bool leads_back(const struct code *part, const struct code *whole) {
  bool back = false;
  for (uintptr_t at = part->begin; !back && at < part->end; at++) {
    uintptr_t target = code_jump_target(at, part->end);
    back = split_has(whole, target) && target != whole->begin;
  }
  return back;
}

/* ---- shared ---- */

bool callstack_split_part(uintptr_t begin, uintptr_t end, uintptr_t *part_begin, uintptr_t *part_end) {
  const struct code whole = {begin, end};
  struct code found;
  struct object object;
  if (!object_find(object_best_source(), begin, &object)) return false;
  const struct cfi_section section = {object.base, object.size, object.eh_frame_hdr};
  for (uintptr_t at = begin; at < end; at++) {
    if (!leads_elsewhere(&section, &whole, at, &found) || !leads_back(&found, &whole)) continue;
    *part_begin = found.begin;
    *part_end = found.end;
    return true;
  }
  return false;
}
/* SPDX-License-Identifier: MIT */
