/* The model: nodes, what is reachable in it, and its comparison with the heap. */
#include "gc/shadow.h"

#include "gc/mutator_parts.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct world *the_world;

_Noreturn void broken(const char *format, ...) {
  va_list arguments;
  fprintf(stderr, "test_mutator: seed %llu, %ld steps, operations %#llx, WINNOW_PARAMS=%s: ",
          (unsigned long long)the_world->seed, the_world->steps, (unsigned long long)the_world->operations,
          getenv("WINNOW_PARAMS"));
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  abort();
}

/* Two rounds of a mixing function of multiplications and shifts. */
uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a ^ (b + 1) * UINT64_C(0x9e3779b97f4a7c15);
  for (int i = 0; i < 2; i++) {
    x = (x ^ x >> 31) * UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 29;
  }
  return x;
}

/* ---- nodes ---- */

struct node *node_new(struct actor *actor, enum node_kind kind, size_t words, unsigned tag) {
  struct node *node = calloc(1, sizeof *node);
  if (!node) broken("no memory for the model");
  node->id = atomic_fetch_add(&actor->world->next_id, 1);
  node->kind = kind;
  node->words = words;
  node->tag = tag;
  atomic_init(&node->owner, actor);
  node->next = actor->nodes;
  actor->nodes = node;
  return node;
}

void node_place_fields(struct node *node, struct worker *worker) {
  if (node->words < 2) return;
  size_t free = node->words - 1, step = free / TRACKED;
  node->tracked = free < TRACKED ? free : TRACKED;
  for (size_t i = 0; i < node->tracked; i++)
    node->fields[i].at = step > 1 ? 1 + i * step + below(worker, step) : 1 + i;
}

/* All words of a small block; of a large one every n-th, and the last. */
static size_t stride(const struct node *node) { return node->words > 512 ? node->words / 37 : 1; }

static void write_bytes(uint64_t id, size_t from, size_t words, wn_value *bytes) {
  for (size_t i = from; i < words; i++) bytes[i] = pattern(id, i);
}

void node_write(struct node *node, wn_domain *domain, wn_ref block) {
  switch (node->kind) {
  case NODE_SCANNED:
    if (node->words) wn_set_int(domain, block, 0, (intptr_t)node->id);
    break;
  case NODE_RAW: write_bytes(node->id, 0, node->words, wn_bytes(block)); break;
  case NODE_MIXED:
    write_bytes(node->id, 1 + node->tracked, node->words, (wn_value *)wn_value_of(block));
    break;
  case NODE_CUSTOM:
    write_bytes(node->id, 1, node->words, wn_bytes(block));
    *(struct node **)wn_bytes(block) = node;
    break;
  case NODE_MESSAGE: break;
  }
}

static void check_bytes(const struct node *node, const wn_value *bytes, size_t from) {
  for (size_t i = from; i < node->words; i += stride(node))
    if (bytes[i] != pattern(node->id, i))
      broken("block %llu of %zu words has wrong bytes in word %zu", (unsigned long long)node->id, node->words,
             i);
  if (node->words > from && bytes[node->words - 1] != pattern(node->id, node->words - 1))
    broken("block %llu of %zu words has wrong bytes at its end", (unsigned long long)node->id, node->words);
}

static void check_header(const struct node *node, wn_value block) {
  size_t words = node->words + (node->kind == NODE_CUSTOM ? 2 : 0);
  if (wn_is_int(block)) broken("block %llu became an integer", (unsigned long long)node->id);
  if (wn_words(block) != words || wn_tag(block) != node->tag)
    broken("block %llu has %zu words and tag %u, and not %zu and %u", (unsigned long long)node->id,
           wn_words(block), wn_tag(block), words, node->tag);
}

/* Fields that are not tracked are 0. */
static void check_numbers(const struct node *node, const wn_value *fields) {
  if (node->words && fields[0] != wn_int((intptr_t)node->id))
    broken("block %llu says that it is %lld", (unsigned long long)node->id, (long long)wn_to_int(fields[0]));
  for (size_t i = 1; i < node->words; i += stride(node)) {
    bool tracked = false;
    for (size_t j = 0; j < node->tracked; j++) tracked |= node->fields[j].at == i;
    if (!tracked && fields[i] != wn_int(0))
      broken("field %zu of block %llu should be 0", i, (unsigned long long)node->id);
  }
}

void node_check_block(struct node *node, wn_value block) {
  check_header(node, block);
  const wn_value *fields = (const wn_value *)block;
  switch (node->kind) {
  case NODE_SCANNED: check_numbers(node, fields); break;
  case NODE_RAW: check_bytes(node, fields, 0); break;
  case NODE_MIXED:
    if (fields[0] != wn_int((intptr_t)node->tracked))
      broken("mixed block %llu has another boundary", (unsigned long long)node->id);
    check_bytes(node, fields, 1 + node->tracked);
    break;
  case NODE_CUSTOM:
    check_bytes(node, fields + 2, 1);
    if (*(struct node *const *)(fields + 2) != node)
      broken("custom block %llu lost its node", (unsigned long long)node->id);
    break;
  case NODE_MESSAGE: message_check(block, node->id, MESSAGE_DEPTH); break;
  }
}

/* ---- what is reachable ---- */

struct work {
  struct actor *actor;
  struct node **stack;
  size_t count, capacity;
};

static void push(struct work *work, struct node *node) {
  if (work->count == work->capacity) {
    work->capacity = work->capacity ? 2 * work->capacity : 256;
    work->stack = realloc(work->stack, work->capacity * sizeof *work->stack);
    if (!work->stack) broken("no memory for the model");
  }
  work->stack[work->count++] = node;
}

static void reach(struct work *work, struct node *node) {
  if (!node || node->seen == work->actor->epoch) return;
  node->seen = work->actor->epoch;
  push(work, node);
}

static void mark_roots(struct work *work) {
  struct actor *actor = work->actor;
  for (struct worker *worker = actor->workers; worker; worker = worker->next)
    for (size_t i = 0; i < worker->count; i++) reach(work, worker->roots[i].node);
  for (size_t i = 0; i < GLOBALS; i++) reach(work, actor->globals[i].node);
  for (size_t i = 0; i < PINS; i++) reach(work, actor->pins[i].node);
  reach(work, actor->keep);
}

void actor_mark(struct actor *actor) {
  struct work work = {.actor = actor};
  actor->epoch++;
  mark_roots(&work);
  while (work.count) {
    struct node *node = work.stack[--work.count];
    for (size_t i = 0; i < node->tracked; i++) reach(&work, node->fields[i].to);
  }
  free(work.stack);
}

void actor_excuse(struct actor *actor, struct node *node) {
  struct node *keep = actor->keep;
  actor_mark(actor); /* what was reachable is not excused */
  uint64_t before = actor->epoch;
  for (struct node *other = actor->nodes; other; other = other->next)
    if (other->seen == before)
      other->address = 1;
    else
      other->address = 0;
  actor->keep = node;
  actor_mark(actor);
  for (struct node *other = actor->nodes; other; other = other->next)
    if (other->seen == actor->epoch && !other->address) other->resurrected = true;
  actor->keep = keep;
}

/* ---- comparing ---- */

/* What lies at an address must be this node, and the same one wherever it is met. */
static void meet(struct work *work, struct node *node, wn_value value) {
  if (node->seen == work->actor->epoch) {
    if (node->address != value) broken("block %llu is at two addresses", (unsigned long long)node->id);
    return;
  }
  node->address = value;
  node_check_block(node, value);
  if (atomic_load(&node->released)) broken("block %llu was released", (unsigned long long)node->id);
  for (const struct life *life = node->lives; life; life = life->sibling)
    if (atomic_load(&life->dead)) broken("the death of block %llu was told", (unsigned long long)node->id);
  if (!node->resurrected && (atomic_load(&node->called_first) || atomic_load(&node->called_last)))
    broken("block %llu was finalised, and is reachable", (unsigned long long)node->id);
  reach(work, node);
}

static void compare(struct work *work, struct node *node, wn_value value, intptr_t number) {
  if (node)
    meet(work, node, value);
  else if (value != wn_int(number))
    broken("a place holds %#zx instead of the integer %lld", (size_t)value, (long long)number);
}

static void compare_roots(struct work *work) {
  struct actor *actor = work->actor;
  for (struct worker *worker = actor->workers; worker; worker = worker->next)
    for (size_t i = 0; i < worker->count; i++)
      compare(work, worker->roots[i].node, wn_value_of(worker->roots[i].ref), 0);
  for (size_t i = 0; i < GLOBALS; i++) {
    if (!actor->globals[i].global) continue;
    WN_SCOPE(actor->domain);
    compare(work, actor->globals[i].node, wn_value_of(wn_global_get(actor->domain, actor->globals[i].global)),
            0);
  }
  for (size_t i = 0; i < PINS; i++)
    if (actor->pins[i].node) compare(work, actor->pins[i].node, actor->pins[i].address, 0);
  if (actor->keep) {
    WN_SCOPE(actor->domain);
    compare(work, actor->keep, wn_value_of(wn_global_get(actor->domain, actor->kept)), 0);
  }
}

void actor_check(struct actor *actor) {
  struct work work = {.actor = actor};
  actor->epoch++;
  compare_roots(&work);
  while (work.count) {
    struct node *node = work.stack[--work.count];
    for (size_t i = 0; i < node->tracked; i++)
      compare(&work, node->fields[i].to, ((wn_value *)node->address)[node->fields[i].at],
              node->fields[i].number);
  }
  free(work.stack);
}

void actor_check_calls(const struct actor *actor, bool closed) {
  for (const struct node *node = actor->nodes; node; node = node->next) {
    unsigned first = atomic_load(&node->called_first), last = atomic_load(&node->called_last);
    unsigned released = atomic_load(&node->released);
    if (first != node->registered_first || last != node->registered_last)
      broken("block %llu was finalised %u of %u times, and %u of %u at last", (unsigned long long)node->id,
             first, node->registered_first, last, node->registered_last);
    if (released > 1 || (node->kind == NODE_CUSTOM && closed && !released))
      broken("block %llu was released %u times", (unsigned long long)node->id, released);
  }
}

/* ---- handing over ---- */

void actor_adopt(struct actor *actor, struct actor *child) {
  struct node **link = &child->nodes;
  for (; *link; link = &(*link)->next) {
    atomic_store(&(*link)->owner, actor);
    (*link)->seen = 0;
  }
  *link = actor->nodes;
  actor->nodes = child->nodes;
  child->nodes = NULL;
}

void actor_destroy(struct actor *actor) {
  for (struct node *node = actor->nodes, *next; node; node = next) {
    next = node->next;
    free(node);
  }
  actor->nodes = NULL;
}

/* ---- messages ---- */

/* Words: the identity, a message or 0, bytes or 0. */
wn_ref message_new(wn_domain *domain, uint64_t id, int depth) {
  wn_scope scope = wn_scope_enter(domain);
  wn_ref message = allocate(domain, 3, MESSAGE_TAG);
  if (wn_is_null(message)) broken("no memory for a message");
  wn_set_int(domain, message, 0, (intptr_t)(id >> 1));
  if (depth && mix(id, 7) % 4) wn_set(domain, message, 1, message_new(domain, mix(id, 8), depth - 1));
  if (mix(id, 9) % 2) {
    wn_ref bytes = allocate(domain, mix(id, 10) % 9 + 1, WN_TAG_RAW);
    write_bytes(id, 0, wn_words(wn_value_of(bytes)), wn_bytes(bytes));
    wn_set(domain, message, 2, bytes);
  }
  message = wn_escape(&scope, message);
  wn_scope_leave(&scope);
  return message;
}

void message_check(wn_value message, uint64_t id, int depth) {
  const wn_value *fields = (const wn_value *)message;
  if (wn_is_int(message) || wn_tag(message) != MESSAGE_TAG || wn_words(message) != 3 ||
      fields[0] != wn_int((intptr_t)(id >> 1)))
    broken("message %#llx is not what it was", (unsigned long long)id);
  if (depth && mix(id, 7) % 4) message_check(fields[1], mix(id, 8), depth - 1);
  if (mix(id, 9) % 2) {
    size_t words = mix(id, 10) % 9 + 1;
    const wn_value *bytes = (const wn_value *)fields[2];
    if (wn_is_int(fields[2]) || wn_words(fields[2]) != words || wn_tag(fields[2]) != WN_TAG_RAW)
      broken("message %#llx has lost its bytes", (unsigned long long)id);
    for (size_t i = 0; i < words; i++)
      if (bytes[i] != pattern(id, i)) broken("message %#llx has wrong bytes", (unsigned long long)id);
  }
}
/* SPDX-License-Identifier: MIT */
