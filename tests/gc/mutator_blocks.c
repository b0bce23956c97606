/* The operations of the random program on blocks and their fields. */
#include "gc/mutator_parts.h"

#include <string.h>

void check_status(wn_status status, const char *what) {
  if (status) broken("%s: %s", what, wn_last_error());
}

wn_ref must(wn_ref ref, const char *what) {
  if (wn_is_null(ref)) broken("%s gave a null handle: %s", what, wn_last_error());
  return ref;
}

bool is_stress(void) {
  if (!the_world->fail_at || strncmp(wn_last_error(), "stress: this request fails", 26)) return false;
  if (atomic_fetch_add(&the_world->failures, 1)) broken("more than one request failed by stress");
  return true;
}

wn_ref allocate(wn_domain *domain, size_t words, unsigned tag) {
  wn_ref block = wn_alloc(domain, words, tag);
  return wn_is_null(block) && is_stress() ? wn_alloc(domain, words, tag) : block;
}

/* ---- roots ---- */

struct root *any_root(struct worker *worker) {
  return worker->count ? &worker->roots[below(worker, worker->count)] : NULL;
}

/* One whose node is of that kind, if chance finds it. Mixed blocks have fields, as scanned ones. */
static struct root *root_of(struct worker *worker, enum node_kind kind) {
  for (int i = 0; i < 8; i++) {
    struct root *root = any_root(worker);
    bool mixed = kind == NODE_SCANNED && root && root->node && root->node->kind == NODE_MIXED;
    if (mixed || (root && root->node && root->node->kind == kind)) return root;
  }
  return NULL;
}

/* Keeps a handle: of the scope that is open, or in the place of another root. */
void keep(struct worker *worker, wn_scope *scope, wn_ref ref, struct node *node) {
  bool full = worker->count + 8 > ROOTS;
  if (full || (worker->count > 60 && draw(worker) % 8)) {
    struct root *root = any_root(worker);
    wn_assign(root->ref, ref);
    root->node = node;
    wn_scope_leave(scope);
    return;
  }
  ref = wn_escape(scope, ref);
  wn_scope_leave(scope);
  worker->roots[worker->count++] = (struct root){ref, node};
}

/* ---- allocation ---- */

static size_t any_size(struct worker *worker) {
  uint64_t kind = draw(worker) % 1000;
  if (kind < 30) return 0;
  if (kind < 800) return 1 + below(worker, 12);
  if (kind < 960) return 1 + below(worker, 256);
  if (kind < 995) return 257 + below(worker, 4000);
  return kind < 999 ? 257 + below(worker, 131071 - 256) : 131072 + below(worker, 40000);
}

/* Links a new block to roots that are there. */
void link_fields(struct worker *worker, struct node *node, wn_ref block) {
  for (size_t i = 0; i < node->tracked; i++) {
    struct root *to = any_root(worker);
    if (!to || draw(worker) % 3 == 0) continue;
    node->fields[i].to = to->node;
    wn_set(worker->actor->domain, block, node->fields[i].at, to->ref);
  }
}

void make_scanned(struct worker *worker) {
  wn_domain *domain = worker->actor->domain;
  unsigned tag = (unsigned)below(worker, WN_TAG_SCANNED_MAX + 1);
  struct node *node = node_new(worker->actor, NODE_SCANNED, any_size(worker), tag == WN_TAG_MIXED ? 0 : tag);
  wn_scope scope = wn_scope_enter(domain);
  profile_before(worker);
  wn_ref block = must(allocate(domain, node->words, node->tag), "wn_alloc");
  profile_after(worker, node);
  node_place_fields(node, worker);
  node_write(node, domain, block);
  link_fields(worker, node, block);
  keep(worker, &scope, block, node);
}

static wn_ref allocate_bytes(wn_domain *domain, size_t bytes) {
  wn_ref block = wn_alloc_bytes(domain, bytes);
  return wn_is_null(block) && is_stress() ? wn_alloc_bytes(domain, bytes) : block;
}

void make_raw(struct worker *worker) {
  wn_domain *domain = worker->actor->domain;
  size_t words = any_size(worker);
  wn_scope scope = wn_scope_enter(domain);
  wn_ref block;
  profile_before(worker);
  if (words && draw(worker) % 2)
    block = allocate_bytes(domain, words * 8 - below(worker, 8));
  else
    block = allocate(domain, words, WN_TAG_RAW);
  must(block, "wn_alloc_bytes");
  struct node *node = node_new(worker->actor, NODE_RAW, words, WN_TAG_RAW);
  profile_after(worker, node);
  node_write(node, domain, block);
  keep(worker, &scope, block, node);
}

/* Values and then bytes, by either tier. */
void make_mixed(struct worker *worker) {
  wn_domain *domain = worker->actor->domain;
  size_t values = below(worker, TRACKED + 1), bytes = 1 + any_size(worker);
  struct node *node = node_new(worker->actor, NODE_MIXED, 1 + values + bytes, WN_TAG_MIXED);
  node->tracked = values;
  for (size_t i = 0; i < values; i++) node->fields[i].at = 1 + i;
  wn_scope scope = wn_scope_enter(domain);
  wn_ref block = {NULL};
  if (draw(worker) % 2) {
    block = wn_alloc_mixed(domain, values, 8 * bytes);
    if (wn_is_null(block) && is_stress()) block = wn_alloc_mixed(domain, values, 8 * bytes);
  } else {
    wn_value *fields = wn_bump(domain, node->words, WN_TAG_MIXED);
    if (!fields && is_stress()) fields = wn_bump(domain, node->words, WN_TAG_MIXED);
    if (!fields) broken("wn_bump gave nothing");
    for (size_t i = 0; i < node->words; i++) fields[i] = wn_int(i ? 0 : (intptr_t)values);
    block = wn_root(domain, (wn_value)fields);
  }
  node_write(node, domain, must(block, "wn_alloc_mixed"));
  link_fields(worker, node, block);
  keep(worker, &scope, block, node);
}

/* In the child of a fork, the bytes of a block that another thread was about to fill are 0. */
static void release(void *bytes) {
  struct node *node = *(struct node **)bytes;
  if (node) atomic_fetch_add(&node->released, 1);
}
const wn_custom_ops node_ops = {"node", release};

void make_custom(struct worker *worker) {
  wn_domain *domain = worker->actor->domain;
  size_t words = 1 + (draw(worker) % 16 ? below(worker, 6) : any_size(worker));
  size_t outside = draw(worker) % 4 ? below(worker, 1000) : below(worker, 200000);
  wn_scope scope = wn_scope_enter(domain);
  profile_before(worker);
  wn_ref block = wn_alloc_custom(domain, &node_ops, words * 8, outside);
  if (wn_is_null(block) && is_stress()) block = wn_alloc_custom(domain, &node_ops, words * 8, outside);
  must(block, "wn_alloc_custom");
  struct node *node = node_new(worker->actor, NODE_CUSTOM, words, WN_TAG_CUSTOM);
  profile_after(worker, node);
  node_write(node, domain, block);
  keep(worker, &scope, block, node);
}

/* The collector's own sum, which wn_gc_verify compares, is the model. */
void adjust_custom(struct worker *worker) {
  struct root *root = root_of(worker, NODE_CUSTOM);
  size_t outside = draw(worker) % 4 ? below(worker, 1000) : below(worker, 1 << 20);
  if (root) check_status(wn_custom_adjust(worker->actor->domain, root->ref, outside), "wn_custom_adjust");
}

void make_group(struct worker *worker) {
  enum { MOST = 5 };
  wn_domain *domain = worker->actor->domain;
  size_t n = 1 + below(worker, MOST);
  wn_shape shapes[MOST];
  wn_ref blocks[MOST];
  struct node *nodes[MOST];
  for (size_t i = 0; i < n; i++)
    shapes[i] = (wn_shape){below(worker, 40), draw(worker) % 3 ? (unsigned)below(worker, 240) : WN_TAG_RAW};
  wn_scope scope = wn_scope_enter(domain);
  wn_status status = wn_alloc_group(domain, n, shapes, blocks);
  if (status && is_stress()) status = wn_alloc_group(domain, n, shapes, blocks);
  check_status(status, "wn_alloc_group");
  for (size_t i = 0; i < n; i++) {
    bool raw = shapes[i].tag == WN_TAG_RAW;
    nodes[i] = node_new(worker->actor, raw ? NODE_RAW : NODE_SCANNED, shapes[i].words, shapes[i].tag);
    if (!raw) node_place_fields(nodes[i], worker);
    node_write(nodes[i], domain, blocks[i]);
  }
  for (size_t i = 0; i + 1 < n; i++)
    if (nodes[i]->tracked) {
      nodes[i]->fields[0].to = nodes[i + 1];
      wn_set(domain, blocks[i], nodes[i]->fields[0].at, blocks[i + 1]);
    }
  keep(worker, &scope, blocks[0], nodes[0]);
}

void make_by_raw_tier(struct worker *worker) {
  wn_domain *domain = worker->actor->domain;
  size_t words = any_size(worker);
  if (!words) return;
  struct node *node = node_new(worker->actor, NODE_SCANNED, words, (unsigned)below(worker, 240));
  node_place_fields(node, worker);
  wn_scope scope = wn_scope_enter(domain);
  wn_value *fields = wn_bump(domain, words, node->tag);
  if (!fields && is_stress()) fields = wn_bump(domain, words, node->tag);
  if (!fields) broken("wn_bump gave nothing");
  for (size_t i = 0; i < words; i++) fields[i] = wn_int(i ? 0 : (intptr_t)node->id);
  for (size_t i = 0; i < node->tracked; i++) {
    struct root *to = any_root(worker);
    node->fields[i].to = to ? to->node : NULL;
    fields[node->fields[i].at] = to ? wn_value_of(to->ref) : wn_int(0);
  }
  keep(worker, &scope, must(wn_root(domain, (wn_value)fields), "wn_root"), node);
}

void make_pair(struct worker *worker) {
  wn_domain *domain = worker->actor->domain;
  struct root *to = any_root(worker);
  struct node *node = node_new(worker->actor, NODE_SCANNED, 2, 5);
  node_place_fields(node, worker);
  wn_scope scope = wn_scope_enter(domain);
  wn_ref id = wn_root(domain, wn_int((intptr_t)node->id));
  wn_ref second = to ? to->ref : wn_root(domain, wn_int(0));
  node->fields[0].to = to ? to->node : NULL;
  wn_ref pair = wn_pair(domain, 5, id, second);
  if (wn_is_null(pair) && is_stress()) pair = wn_pair(domain, 5, id, second);
  keep(worker, &scope, must(pair, "wn_pair"), node);
}

/* Garbage: what fills minor heaps. */
void make_garbage(struct worker *worker) {
  wn_domain *domain = worker->actor->domain;
  for (size_t i = below(worker, 200); i--;) {
    WN_SCOPE(domain);
    must(allocate(domain, 1 + below(worker, 20), 0), "wn_alloc");
  }
}

/* ---- fields ---- */

/* A scanned root with a tracked field, and which. */
static struct root *any_field(struct worker *worker, size_t *i) {
  struct root *root = root_of(worker, NODE_SCANNED);
  if (!root || !root->node->tracked) return NULL;
  *i = below(worker, root->node->tracked);
  return root;
}

void link_one(struct worker *worker) {
  size_t i;
  struct root *from = any_field(worker, &i), *to = any_root(worker);
  if (!from) return;
  wn_set(worker->actor->domain, from->ref, from->node->fields[i].at, to->ref);
  from->node->fields[i].to = to->node;
  from->node->fields[i].number = 0;
}

void overwrite(struct worker *worker) {
  size_t i;
  struct root *from = any_field(worker, &i);
  if (!from) return;
  intptr_t number = (intptr_t)draw(worker) >> 2;
  wn_set_int(worker->actor->domain, from->ref, from->node->fields[i].at, number);
  from->node->fields[i].to = NULL;
  from->node->fields[i].number = number;
}

/* A root whose tracked fields are all its fields but the first. */
static struct root *any_full(struct worker *worker) {
  struct root *root = root_of(worker, NODE_SCANNED);
  return root && root->node->tracked && root->node->words == root->node->tracked + 1 ? root : NULL;
}

/* Many fields at once: copies them within a block or from another, or fills them. */
void overwrite_many(struct worker *worker) {
  wn_domain *domain = worker->actor->domain;
  struct root *to = any_full(worker), *from = draw(worker) % 2 ? to : any_full(worker),
              *value = any_root(worker);
  if (!to || !from) return;
  size_t i = below(worker, from->node->tracked), j = below(worker, to->node->tracked);
  size_t from_most = from->node->tracked - i, most = to->node->tracked - j;
  if (draw(worker) % 2) {
    size_t n = below(worker, most + 1);
    check_status(wn_fill(domain, wn_value_of(to->ref), 1 + j, n, wn_value_of(value->ref)), "wn_fill");
    for (size_t k = j; k < j + n; k++) to->node->fields[k].to = value->node, to->node->fields[k].number = 0;
    return;
  }
  struct node copy = *from->node;
  size_t n = below(worker, (most < from_most ? most : from_most) + 1);
  check_status(wn_blit(domain, wn_value_of(from->ref), 1 + i, wn_value_of(to->ref), 1 + j, n), "wn_blit");
  for (size_t k = 0; k < n; k++) {
    to->node->fields[j + k].to = copy.fields[i + k].to;
    to->node->fields[j + k].number = copy.fields[i + k].number;
  }
}

/* Exchanges with what is expected, or with something that may be. */
void exchange(struct worker *worker) {
  size_t i;
  wn_domain *domain = worker->actor->domain;
  struct root *from = any_field(worker, &i), *to = any_root(worker), *other = any_root(worker);
  if (!from) return;
  WN_SCOPE(domain);
  struct node *node = from->node;
  size_t at = node->fields[i].at;
  wn_ref expected = draw(worker) % 3 ? wn_get(domain, from->ref, at) : other->ref;
  bool equal = wn_value_of(expected) == wn_field(from->ref, at);
  if (wn_cas(domain, from->ref, at, expected, to->ref) != equal)
    broken("wn_cas of block %llu went wrong", (unsigned long long)node->id);
  if (!equal) return;
  node->fields[i].to = to->node;
  node->fields[i].number = 0;
}

/* Walks some fields deep, and keeps what is there. */
void walk(struct worker *worker) {
  wn_domain *domain = worker->actor->domain;
  struct root *from = root_of(worker, NODE_SCANNED);
  if (!from) return;
  wn_scope scope = wn_scope_enter(domain);
  struct node *node = from->node;
  wn_ref at = wn_root(domain, wn_value_of(from->ref));
  for (size_t deep = below(worker, 12); deep && node->tracked; deep--) {
    size_t i = below(worker, node->tracked);
    if (!node->fields[i].to) break;
    at = wn_get(domain, at, node->fields[i].at);
    node = node->fields[i].to;
    node_check_block(node, wn_value_of(at));
  }
  keep(worker, &scope, at, node);
}

/* The hash of a block is what it was when it was first asked. */
void identify(struct worker *worker) {
  struct root *root = any_root(worker);
  if (!root || !root->node || root->node->kind == NODE_MESSAGE) return;
  wn_domain *domain = worker->actor->domain;
  uint64_t hash = wn_identity_hash(domain, wn_value_of(root->ref));
  if (!hash) broken("wn_identity_hash: %s", wn_last_error());
  if (root->node->hash && root->node->hash != hash)
    broken("block %llu has another identity hash", (unsigned long long)root->node->id);
  root->node->hash = hash;
}

void drop(struct worker *worker) {
  for (size_t n = 1 + below(worker, 6); n--;) {
    struct root *root = any_root(worker);
    if (!root) return;
    wn_assign_int(root->ref, 0);
    root->node = NULL;
  }
}
/* SPDX-License-Identifier: MIT */
