/* Makes addresses of modules dead and live. */
#include "callstack/pcs.h"

/* Calls `visit` for each slot that has a value. A slot that is being filled meanwhile belongs to
 * code that runs now, hence not to a module that was just unloaded or just mapped. */
static void each_slot(struct levels *pcs, void (*visit)(struct slot *, uint64_t, uint64_t), uint64_t a,
                      uint64_t b) {
  for (unsigned level = 0; level < pcs->count_most; level++) {
    struct slot *slots = atomic_load_explicit(&pcs->level[level], memory_order_acquire);
    if (!slots) return;
    for (size_t i = 0; i < levels_size(pcs, level); i++)
      if (atomic_load_explicit(&slots[i].value, memory_order_acquire)) visit(&slots[i], a, b);
  }
}

static uint32_t owner(struct slot *slot) {
  return rule_module(atomic_load_explicit(&slot->value, memory_order_relaxed));
}

static void kill_if_owned(struct slot *slot, uint64_t module, uint64_t unused) {
  (void)unused;
  if (owner(slot) == module) atomic_fetch_or_explicit(&slot->key, PC_DEAD, memory_order_release);
}

static void revive_if_owned(struct slot *slot, uint64_t module, uint64_t unused) {
  (void)unused;
  if (owner(slot) == module) atomic_fetch_and_explicit(&slot->key, ~PC_DEAD, memory_order_release);
}

static void kill_if_unowned_within(struct slot *slot, uint64_t begin, uint64_t end) {
  uint64_t pc = atomic_load_explicit(&slot->key, memory_order_relaxed);
  if (pc - 1 >= begin && pc - 1 < end && owner(slot) == 0)
    atomic_fetch_or_explicit(&slot->key, PC_DEAD, memory_order_release);
}

/* ---- shared ---- */

void pcs_kill(struct levels *pcs, uint32_t module) { each_slot(pcs, kill_if_owned, module, 0); }
void pcs_revive(struct levels *pcs, uint32_t module) { each_slot(pcs, revive_if_owned, module, 0); }

void pcs_kill_unowned(struct levels *pcs, uintptr_t begin, uintptr_t end) {
  each_slot(pcs, kill_if_unowned_within, begin, end);
}
/* SPDX-License-Identifier: MIT */
