/* The slow half of walking a stack: finding rules, guessing, and finding out what can be read. */
#include "callstack/unwind.h"

#include "callstack/go.h"

enum { PAGE = STACK_PAGE };

/* How many bytes above the known range a step may reach, and how many bytes below it a stack may
 * have grown since. */
static const uintptr_t reach_most = (uintptr_t)64 << 20, grown_most = (uintptr_t)1 << 20;

_Thread_local _Atomic(uint64_t) walk_known_stack;

static struct cfi_section section_of(struct modules *modules, uint32_t id) {
  const struct module *module = modules_get(modules, id);
  if (!module) return (struct cfi_section){0};
  return (struct cfi_section){
      .base = module->object.base, .size = module->object.size, .eh_frame_hdr = module->object.eh_frame_hdr};
}

/* True if every page in [from, to) can be read. */
static bool pages_readable(uintptr_t from, uintptr_t to) {
  for (uintptr_t page = from & ~(uintptr_t)(PAGE - 1); page < to; page += PAGE)
    if (!memory_readable(page)) return false;
  return true;
}

/* Takes the pages above the page of the stack pointer out of the range, so that the walk asks the
 * kernel for them again. Earlier walks found them readable, but they may have been unmapped since,
 * as the end of a larger stack that was at this place. */
static void distrust_above(struct walk *walk) {
  uintptr_t sure = (walk->sp + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
  if (sure < walk->high) walk->high = sure;
}

/* Steps by a conventional frame: the caller's frame pointer, then the return address. The step
 * counts if the frame lies on the stack, and either the return address is in some module or the
 * caller's frame pointer can be that of a further frame. */
static enum step_result step_guess(struct walk *walk, struct modules *modules) {
  uintptr_t frame = walk->bp, pc, bp;
  uint32_t id;
  distrust_above(walk);
  if (frame < walk->sp || frame & 7 || !walk_reach(walk, frame + 8)) return STEP_LOST;
  bp = stack_word(frame);
  pc = stack_word(frame + 8);
  if (!pc) return STEP_END;
  bool in_module = pc >> 63 == 0 && modules_find(modules, pc - 1, &id) == MODULE_FOUND;
  if (!in_module && !(bp > frame && bp - frame < reach_most && bp % 8 == 0)) return STEP_LOST;
  walk->pc = pc;
  walk->bp = bp;
  walk->sp = frame + 16;
  return STEP_CALLER;
}

/* ---- shared ---- */

void walk_beyond(struct walk *walk) {
  uintptr_t page = walk->sp & ~(uintptr_t)(PAGE - 1);
  if (!(page < walk->low && walk->low - page <= grown_most && pages_readable(page, walk->low)))
    walk->high = memory_readable(page) ? page + PAGE : page;
  walk->low = page;
}

void walk_end(const struct walk *walk) {
  uint64_t count = (walk->high - walk->low) >> STACK_PAGE_BITS;
  if (count >> STACK_COUNT_BITS) return;
  uint64_t known = (uint64_t)(walk->low >> STACK_PAGE_BITS) << STACK_COUNT_BITS | count;
  if (known != atomic_load_explicit(&walk_known_stack, memory_order_relaxed))
    atomic_store_explicit(&walk_known_stack, known, memory_order_relaxed);
}

bool walk_reach(struct walk *walk, uintptr_t address) {
  if (address < walk->low) return false;
  while (address + 8 > walk->high) {
    if (address - walk->high > reach_most && address >= walk->high) return false;
    if (!memory_readable(walk->high)) return false;
    walk->high += PAGE;
  }
  return true;
}

bool walk_read(void *context, uintptr_t address, uintptr_t *value) {
  struct walk *walk = context;
  bool known = address >= walk->low && address < walk->high && walk->high - address >= 8;
  if (!known && !memory_readable(address)) return false;
  *value = stack_word(address);
  return true;
}

struct slot *walk_lookup(struct modules *modules, uintptr_t pc, uint32_t *id, uint64_t *rule) {
  *rule = 0;
  if (!pc || pc >> 63) return NULL;
  /* First the module: if a module comes back (modules.h), modules_find makes its dead slots live
   * again. Then levels_insert finds the slot of this address, and makes no second one. */
  uint32_t module;
  enum module_result result = modules_find(modules, pc - 1, &module);
  struct slot *slot = levels_insert(modules->pcs, pc, id);
  if (!slot || result == MODULE_BUSY) return slot;
  *rule = atomic_load_explicit(&slot->value, memory_order_acquire);
  if (*rule) return slot;
  if (!module) atomic_store_explicit(&modules->has_unowned, true, memory_order_release);
  struct cfi_section section = section_of(modules, module);
  *rule = (module ? rule_compute(&section, pc) : rule_make(RULE_GUESS, 0, 0)) | module;
  atomic_store_explicit(&slot->value, *rule, memory_order_release);
  return slot;
}

enum step_result walk_step_slow(struct walk *walk, struct modules *modules, uint64_t rule) {
  struct cfi_section section;
  enum step_result step;
  switch (rule_kind(rule)) {
  case RULE_END: return STEP_END;
  case RULE_GUESS:
    step = step_guess(walk, modules);
    return step == STEP_LOST && rule_module(rule) && go_step(walk) ? STEP_CALLER : step;
  case RULE_SPECIAL:
    section = section_of(modules, rule_module(rule));
    return rule_step_special(walk, &section);
  default: return STEP_LOST;
  }
}
/* SPDX-License-Identifier: MIT */
