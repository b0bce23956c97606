/* The operations of the random program on pins. Each actor has some pinned blocks: such a block is
 * reachable, and does not move, whatever collects and compacts meanwhile. */
#include "gc/mutator_parts.h"

static void pin(struct worker *worker, struct pinned *pinned) {
  struct root *root = any_root(worker);
  if (!root || !root->node) return;
  wn_ref ref = root->ref;
  struct node *node = root->node; /* wn_pin may let other threads of the domain run */
  wn_status status = wn_pin(worker->actor->domain, ref);
  if (status == WN_ENOMEM && is_stress()) return;
  check_status(status, "wn_pin");
  *pinned = (struct pinned){node, wn_value_of(ref)};
}

static void unpin(struct actor *actor, struct pinned *pinned) {
  if (!pinned->node) return;
  WN_SCOPE(actor->domain);
  check_status(wn_unpin(actor->domain, wn_root(actor->domain, pinned->address)), "wn_unpin");
  pinned->node = NULL;
}

/* Makes the pinned block a root again: nothing else need have kept it. */
static void use(struct worker *worker, const struct pinned *pinned) {
  wn_scope scope = wn_scope_enter(worker->actor->domain);
  keep(worker, &scope, wn_root(worker->actor->domain, pinned->address), pinned->node);
}

/* ---- shared ---- */

void use_pins(struct worker *worker) {
  struct pinned *pinned = &worker->actor->pins[below(worker, PINS)];
  if (!pinned->node)
    pin(worker, pinned);
  else if (draw(worker) % 2)
    use(worker, pinned);
  else
    unpin(worker->actor, pinned);
}

void pins_end(struct actor *actor) {
  for (size_t i = 0; i < PINS; i++) unpin(actor, &actor->pins[i]);
}
/* SPDX-License-Identifier: MIT */
