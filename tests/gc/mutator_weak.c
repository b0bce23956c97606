/* The operations of the random program on weak blocks. Each actor has a weak array and some
 * ephemerons, and its shadow knows what was stored in each place.
 *
 * A place is empty only if its node is unreachable in the model, and else has its block. The data
 * of an ephemeron are there if its key is reachable, and may be kept then. What the model does not
 * reach may be there or not: it is only looked at, since a finaliser may be pending for it. */
#include "gc/mutator_parts.h"

#include <winnow/weak.h>

static bool is_reachable(struct actor *actor, const struct node *node) {
  actor_mark(actor);
  return node->seen == actor->epoch;
}

/* A root whose node belongs to this domain alone; NULL: chance found none. */
static struct root *own_root(struct worker *worker) {
  struct root *root = any_root(worker);
  return root && root->node && root->node->kind != NODE_MESSAGE ? root : NULL;
}

/* What was read from a place where this node was stored. */
static void check_read(struct actor *actor, struct node *node, wn_ref read, const char *what) {
  if (!wn_is_null(read)) {
    if (!node) broken("%s has something, and nothing was stored there", what);
    node_check_block(node, wn_value_of(read));
  } else if (node && is_reachable(actor, node)) {
    broken("%s has lost block %llu, which is reachable", what, (unsigned long long)node->id);
  }
}

/* ---- the weak array ---- */

static void store_weak(struct worker *worker, wn_ref weak, size_t i) {
  struct actor *actor = worker->actor;
  struct root *root = own_root(worker);
  wn_ref none = {NULL};
  check_status(wn_weak_set(actor->domain, weak, i, root ? root->ref : none), "wn_weak_set");
  actor->weak_nodes[i] = root ? root->node : NULL;
}

/* Ends the scope. */
static void keep_if(struct worker *worker, wn_scope *scope, bool lives, wn_ref read, struct node *node) {
  if (lives)
    keep(worker, scope, read, node);
  else
    wn_scope_leave(scope);
}

static void read_weak(struct worker *worker, wn_scope *scope, wn_ref weak, size_t i) {
  struct actor *actor = worker->actor;
  struct node *node = actor->weak_nodes[i];
  wn_ref read = wn_weak_get(actor->domain, weak, i);
  check_read(actor, node, read, "a weak place");
  if (wn_is_null(read)) actor->weak_nodes[i] = NULL;
  keep_if(worker, scope, !wn_is_null(read) && is_reachable(actor, node), read, node);
}

static void copy_weak(struct worker *worker, wn_ref weak, size_t from, size_t to) {
  struct actor *actor = worker->actor;
  size_t n = 1 + below(worker, WEAK_PLACES - (from > to ? from : to));
  struct node *copied[WEAK_PLACES];
  check_status(wn_weak_blit(actor->domain, weak, from, weak, to, n), "wn_weak_blit");
  for (size_t i = 0; i < n; i++) copied[i] = actor->weak_nodes[from + i];
  for (size_t i = 0; i < n; i++) actor->weak_nodes[to + i] = copied[i];
}

static void use_array(struct worker *worker) {
  wn_scope scope = wn_scope_enter(worker->actor->domain);
  wn_ref weak = wn_global_get(worker->actor->domain, worker->actor->weak);
  size_t i = below(worker, WEAK_PLACES), use = below(worker, 8);
  if (use > 3) {
    read_weak(worker, &scope, weak, i);
    return;
  }
  if (use)
    store_weak(worker, weak, i);
  else
    copy_weak(worker, weak, i, below(worker, WEAK_PLACES));
  wn_scope_leave(&scope);
}

/* ---- ephemerons ---- */

static void store_pair(struct worker *worker, wn_ref ephemeron, struct weak_pair *pair) {
  struct root *key = own_root(worker), *data = own_root(worker);
  if (!key || !data) return;
  check_status(wn_ephemeron_set_key(worker->actor->domain, ephemeron, 0, key->ref), "wn_ephemeron_set_key");
  check_status(wn_ephemeron_set_data(worker->actor->domain, ephemeron, data->ref), "wn_ephemeron_set_data");
  *pair = (struct weak_pair){key->node, data->node};
}

static void read_pair(struct worker *worker, wn_scope *scope, wn_ref ephemeron, struct weak_pair *pair) {
  struct actor *actor = worker->actor;
  wn_ref key = wn_ephemeron_get_key(actor->domain, ephemeron, 0),
         data = wn_ephemeron_get_data(actor->domain, ephemeron);
  check_read(actor, pair->key, key, "a key");
  if (wn_is_null(key) && !wn_is_null(data)) broken("there are data, and their key is gone");
  bool lives = pair->key && is_reachable(actor, pair->key);
  if (lives && wn_is_null(data))
    broken("the data of block %llu, which is reachable, are gone", (unsigned long long)pair->key->id);
  if (!wn_is_null(data)) node_check_block(pair->data, wn_value_of(data));
  struct node *node = pair->data;
  /* A finaliser that made the key reachable again made the data so, which the model does not see. */
  if (lives && pair->key->resurrected) actor_excuse(actor, node);
  if (wn_is_null(key)) *pair = (struct weak_pair){NULL, NULL};
  keep_if(worker, scope, lives, data, node);
}

static void use_ephemeron(struct worker *worker) {
  struct actor *actor = worker->actor;
  wn_scope scope = wn_scope_enter(actor->domain);
  size_t i = below(worker, EPHEMERONS);
  wn_ref ephemeron = wn_get(actor->domain, wn_global_get(actor->domain, actor->ephemerons), i);
  if (draw(worker) % 3) {
    read_pair(worker, &scope, ephemeron, &actor->pairs[i]);
    return;
  }
  store_pair(worker, ephemeron, &actor->pairs[i]);
  wn_scope_leave(&scope);
}

/* ---- shared ---- */

void use_weak(struct worker *worker) { draw(worker) % 2 ? use_array(worker) : use_ephemeron(worker); }

static wn_ref make(wn_domain *domain, wn_ref (*function)(wn_domain *, size_t), size_t n) {
  wn_ref made = function(domain, n);
  return must(wn_is_null(made) && is_stress() ? function(domain, n) : made, "a weak block");
}

void weak_begin(struct actor *actor) {
  wn_domain *domain = actor->domain;
  wn_ref ephemerons = must(allocate(domain, EPHEMERONS, 0), "wn_alloc");
  for (size_t i = 0; i < EPHEMERONS; i++) {
    WN_SCOPE(domain);
    wn_set(domain, ephemerons, i, make(domain, wn_ephemeron_new, 1));
  }
  actor->ephemerons = wn_global_new(domain, ephemerons);
  actor->weak = wn_global_new(domain, make(domain, wn_weak_new, WEAK_PLACES));
}

void weak_end(struct actor *actor) {
  wn_global_free(actor->domain, actor->weak);
  wn_global_free(actor->domain, actor->ephemerons);
}
/* SPDX-License-Identifier: MIT */
