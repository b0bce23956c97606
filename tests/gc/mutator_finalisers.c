/* The random program's finalisers, half of them with a closure. */
#include "gc/mutator_parts.h"

/* The model may be looked at only where the domain is the node's. */
static struct actor *owner_in(const struct node *node, const wn_domain *domain) {
  struct actor *actor = atomic_load(&((struct node *)node)->owner);
  return __atomic_load_n(&actor->domain, __ATOMIC_ACQUIRE) == domain ? actor : NULL;
}

static void check_unreachable(struct actor *actor, const struct node *node, const char *what) {
  actor_mark(actor);
  if (node->seen == actor->epoch && !node->resurrected)
    broken("%s of block %llu, which is reachable", what, (unsigned long long)node->id);
}

static void called_first(wn_domain *domain, wn_ref value, void *context) {
  struct node *node = context;
  struct actor *actor = owner_in(node, domain);
  node_check_block(node, wn_value_of(value));
  if (actor) check_unreachable(actor, node, "finaliser");
  atomic_fetch_add(&node->called_first, 1);
  if (!actor || atomic_load(&actor->world->ending) || mix(node->id, 77) % 4) return;
  actor_excuse(actor, node);
  actor->keep = node;
  wn_global_set(domain, actor->kept, value);
}

static void called_last(wn_domain *domain, void *context) {
  struct node *node = context;
  struct actor *actor = owner_in(node, domain);
  if (actor) check_unreachable(actor, node, "last finaliser");
  atomic_fetch_add(&node->called_last, 1);
}

/* A closure is a block that leads to one with the address of the node. */
static wn_ref closure_of(wn_domain *domain, struct node *node) {
  wn_ref closure = must(allocate(domain, 1, 2), "wn_alloc"),
         bytes = must(allocate(domain, 1, WN_TAG_RAW), "wn_alloc");
  *(struct node **)wn_bytes(bytes) = node;
  wn_set(domain, closure, 0, bytes);
  return closure;
}

static struct node *node_of(wn_ref closure) { return *(struct node **)wn_bytes_of(wn_field(closure, 0)); }

static void called_first_with(wn_domain *domain, wn_ref value, wn_ref closure) {
  called_first(domain, value, node_of(closure));
}

static void called_last_with(wn_domain *domain, wn_ref closure) { called_last(domain, node_of(closure)); }

static wn_status finalise_first(struct worker *worker, struct node *node, wn_ref value) {
  wn_domain *domain = worker->actor->domain;
  WN_SCOPE(domain);
  return draw(worker) % 2 ? wn_gc_finalise(domain, called_first, node, value)
                          : wn_gc_finalise_with(domain, called_first_with, closure_of(domain, node), value);
}

static wn_status finalise_last(struct worker *worker, struct node *node, wn_ref value) {
  wn_domain *domain = worker->actor->domain;
  WN_SCOPE(domain);
  return draw(worker) % 2
             ? wn_gc_finalise_last(domain, called_last, node, value)
             : wn_gc_finalise_last_with(domain, called_last_with, closure_of(domain, node), value);
}

void finalise(struct worker *worker) {
  struct root *root = any_root(worker);
  if (!root || !root->node || root->node->kind == NODE_MESSAGE) return;
  if (draw(worker) % 2) {
    check_status(finalise_first(worker, root->node, root->ref), "wn_gc_finalise");
    root->node->registered_first++;
    root->node->resurrected |= atomic_load(&root->node->called_first) != 0;
  } else {
    check_status(finalise_last(worker, root->node, root->ref), "wn_gc_finalise_last");
    root->node->registered_last++;
  }
}

void forget_kept(struct worker *worker) {
  struct actor *actor = worker->actor;
  WN_SCOPE(actor->domain);
  actor->keep = NULL;
  wn_global_set(actor->domain, actor->kept, wn_root(actor->domain, wn_int(0)));
}
/* SPDX-License-Identifier: MIT */
