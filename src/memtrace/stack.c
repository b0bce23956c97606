/* The cache, and the stack that it extends. */
#include "memtrace/stack.h"

#include <stdlib.h>

enum { FRAMES_MOST = 256 /* of a codeword */, DEPTH_FIRST = 1024 };

/* Codes are OCaml's integers: the top bit is a copy of the one below it. */
static uint64_t code_of(uint64_t bits) { return (uint64_t)((int64_t)(bits << 1) >> 1); }

/* Has room for `depth` frames and those of one codeword more. */
static bool stack_make_room(struct memtrace_stacks *stacks, size_t depth) {
  size_t capacity = stacks->capacity;
  while (capacity < depth + FRAMES_MOST) capacity *= 2;
  if (capacity == stacks->capacity) return true;
  uint64_t *codes = depth > MEMTRACE_DEPTH_MOST ? NULL : realloc(stacks->codes, capacity * sizeof *codes);
  if (!codes) return false;
  stacks->codes = codes;
  stacks->capacity = capacity;
  return true;
}

/* Where the stack before is not known, the frames that an allocation takes from it are lost codes. */
static void lose_common(struct memtrace_stacks *stacks, size_t common) {
  stacks->depth = 0;
  stacks->depth_lost = false;
  if (common > MEMTRACE_DEPTH_MOST || !stack_make_room(stacks, common)) return;
  for (size_t i = 0; i < common; i++) stacks->codes[i] = MEMTRACE_LOST;
  stacks->depth = common;
}

static bool has_lost(const uint64_t *codes, size_t depth) {
  while (depth && codes[depth - 1] != MEMTRACE_LOST) depth--;
  return depth;
}

/* Also where a slot that is not known has another prediction from now on: it can be any. */
static void lose_predictions(struct memtrace_stacks *stacks) {
  for (size_t i = 0; i < MEMTRACE_SLOTS; i++) stacks->next[i] = MEMTRACE_NO_SLOT;
}

/* ---- shared ---- */

struct memtrace_stacks *memtrace_stacks_create(void) {
  struct memtrace_stacks *stacks = calloc(1, sizeof *stacks);
  if (!stacks) return NULL;
  stacks->capacity = DEPTH_FIRST;
  stacks->codes = malloc(DEPTH_FIRST * sizeof *stacks->codes);
  stacks->code[MEMTRACE_NO_SLOT] = MEMTRACE_LOST;
  stacks->next[MEMTRACE_NO_SLOT] = MEMTRACE_NO_SLOT;
  if (stacks->codes) return stacks;
  free(stacks);
  return NULL;
}

void memtrace_stacks_destroy(struct memtrace_stacks *stacks) {
  if (!stacks) return;
  free(stacks->codes);
  free(stacks);
}

/* A stack that has fewer frames than its successor takes from it was cut by the writer, which goes on
 * from the whole one. Where the successor's own frames belong is not known then, so the cut stack is
 * repeated. A stack that is too deep is cut here, by the same rule. */
void memtrace_stack_decode(struct memtrace_stacks *stacks, struct memtrace_bytes *events,
                           const struct memtrace_allocation *allocation, struct memtrace_stack *stack) {
  uint64_t *code = stacks->code;
  uint16_t *next = stacks->next;
  size_t common = (size_t)allocation->common, before = stacks->depth, kept = SIZE_MAX;
  bool unknown = stacks->depth_lost;
  if (unknown) lose_common(stacks, common), before = stacks->depth;
  bool cut = common > before;
  size_t depth = cut ? before : common;
  unsigned slot = 0;
  enum { BYTES_MOST = 2 + 8 /* of a codeword */ };
  struct memtrace_bytes rest = *events, *bytes = &rest; /* in registers */
  bool safe = memtrace_left(bytes) >= (size_t)BYTES_MOST * allocation->codewords;
  for (unsigned left = allocation->codewords; left; left--) {
    unsigned word = (unsigned)memtrace_take(bytes, 2, safe), tag = word & 3, predicted = tag;
    if (slot == MEMTRACE_NO_SLOT)
      lose_predictions(stacks);
    else
      next[slot] = (uint16_t)(word >> 2);
    slot = word >> 2;
    if (tag == 2) predicted = (unsigned)memtrace_take(bytes, 1, safe);
    if (tag == 3) code[slot] = code_of(memtrace_take(bytes, 8, safe)), predicted = 0;
    if (stacks->capacity - depth < FRAMES_MOST && !stack_make_room(stacks, depth)) {
      depth -= FRAMES_MOST;
      if (depth < kept) kept = depth;
    }
    uint64_t *to = stacks->codes + depth;
    depth += 1 + predicted;
    *to++ = code[slot];
    for (; predicted; predicted--) {
      slot = next[slot];
      *to++ = code[slot];
    }
  }
  *events = rest;
  bool deep = kept != SIZE_MAX;
  stacks->depth = cut ? before : deep ? kept : depth;
  bool lost = deep || (unknown && cut) || (stacks->has_lost && has_lost(stacks->codes, stacks->depth));
  *stack = (struct memtrace_stack){stacks->codes, stacks->depth, cut ? before : common, common, lost};
  if (unknown) stack->common = 0;
  if (stack->common > stack->depth) stack->common = stack->depth;
}

void memtrace_stack_lose(struct memtrace_stacks *stacks) {
  stacks->depth_lost = stacks->has_lost = true;
  lose_predictions(stacks);
  for (size_t i = 0; i < MEMTRACE_SLOTS; i++)
    if (!stacks->code[i]) stacks->code[i] = MEMTRACE_LOST;
}

void memtrace_cache_lose(struct memtrace_stacks *stacks) {
  memtrace_stack_lose(stacks);
  for (size_t i = 0; i < MEMTRACE_SLOTS; i++) stacks->code[i] = MEMTRACE_LOST;
}

bool memtrace_cache_fits(struct memtrace_stacks *stacks, const struct memtrace_header *header) {
  unsigned slot = header->verify_slot;
  uint64_t code = code_of(header->verify_code);
  if (slot == MEMTRACE_UNVERIFIED) return true;
  if (slot >= MEMTRACE_SLOTS || header->verify_next >= MEMTRACE_SLOTS) return false;
  bool fits = (stacks->code[slot] == code || stacks->code[slot] == MEMTRACE_LOST) &&
              (stacks->next[slot] == header->verify_next || stacks->next[slot] == MEMTRACE_NO_SLOT);
  if (!fits) return false;
  stacks->code[slot] = code;
  stacks->next[slot] = header->verify_next;
  return true;
}
/* SPDX-License-Identifier: MIT */
