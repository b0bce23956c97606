/* A model, in plain C, of what is in a collected heap: what test_mutator compares the heap with.
 *
 * A *node* stands for a block. It knows the block's identity, which the block carries, its bytes,
 * which follow from that, and what its tracked fields hold; the other fields hold wn_int(0). Nodes
 * are never freed before the end, so that calls that come late, or twice, are seen.
 *
 * An *actor* is a domain with its nodes. Its shadow is touched by the thread that has the domain's
 * turn. Messages are blocks that all domains share: they never change, and their contents follow
 * from their identity, so they need no shadow.
 *
 * What must not be called for a reachable block (finalisers, release functions) counts itself in
 * the node, on any thread; since what is unreachable stays so, it is enough to look at the counts
 * of reachable nodes later. */
#ifndef TESTS_GC_SHADOW_H
#define TESTS_GC_SHADOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <winnow/gc.h>

enum {
  TRACKED = 6,
  MAILBOXES = 16,
  SHARED = 4,
  ROOTS = 512,
  GLOBALS = 12,
  WEAK_PLACES = 24,
  EPHEMERONS = 16,
  PINS = 8
};

/* What a profile's callbacks said of a block (mutator_profiles.c). */
struct life {
  struct life *next, *sibling; /* of the world; of one block, which several samples may have */
  _Atomic(int) stage;
  size_t bytes;
  _Atomic(unsigned) ended;
  _Atomic(bool) dead;
};

enum node_kind { NODE_SCANNED, NODE_RAW, NODE_MIXED, NODE_CUSTOM, NODE_MESSAGE };

struct node {
  uint64_t id;
  enum node_kind kind;
  size_t words; /* of the program: without what the collector needs of a custom block */
  unsigned tag;
  size_t tracked; /* fields: where they are, and the node in each; NULL: the integer */
  struct {
    size_t at;
    struct node *to;
    intptr_t number;
  } fields[TRACKED];
  struct node *next; /* of the actor */
  wn_value address;  /* during a comparison */
  uint64_t seen;     /* epochs of marking and comparing */
  unsigned registered_first, registered_last;
  _Atomic(struct actor *) owner;
  _Atomic(unsigned) called_first, called_last, released;
  bool resurrected;
  uint64_t hash; /* its identity hash; 0: it was not asked */
  struct life *lives;
};

struct session;

/* A handle or a global root, and what it holds. */
struct root {
  wn_ref ref;
  struct node *node;
};
struct rooted_global {
  wn_global *global; /* NULL: none */
  struct node *node;
};

/* A thread of an actor. */
struct worker {
  struct actor *actor;
  struct worker *next;
  uint64_t random;
  struct root roots[ROOTS];
  size_t count; /* of roots */
  long steps;
};

/* What was stored in an ephemeron. */
struct weak_pair {
  struct node *key, *data;
};

/* A pinned block, and where it is. */
struct pinned {
  struct node *node; /* NULL: none */
  wn_value address;
};

struct actor {
  struct world *world;
  wn_domain *domain;
  struct node *nodes;
  struct worker *workers;
  struct rooted_global globals[GLOBALS];
  struct node *keep; /* what a finaliser made reachable again, through `kept` */
  wn_global *kept;
  wn_global *weak, *ephemerons;         /* a weak array, and a block of ephemerons */
  struct node *weak_nodes[WEAK_PLACES]; /* what was stored there; NULL: nothing, or it was found gone */
  struct weak_pair pairs[EPHEMERONS];
  struct pinned pins[PINS];
  uint64_t epoch;
  unsigned children;
};

struct child;

struct world {
  uint64_t seed, operations; /* a bit for each that is allowed */
  long steps;
  char stress[80];            /* WINNOW_PARAMS */
  bool fail_at;               /* the stress mode has one request of memory fail */
  _Atomic(unsigned) failures; /* of that kind, so far */
  wn_heap *heap;
  wn_global *board, *shared[SHARED]; /* mailboxes, and messages */
  _Atomic(uint64_t) next_id;
  _Atomic(int) domains;
  _Atomic(bool) ending;
  _Atomic(struct child *) ended; /* a list: finalisers may still look whose a block was */
  _Atomic(struct session *) sessions;
  _Atomic(struct life *) lives;
};

/* The world that is on: for messages of failure. */
extern struct world *the_world;

/* Says the seed and what is wrong, and aborts. */
_Noreturn __attribute__((format(printf, 1, 2))) void broken(const char *format, ...);

uint64_t mix(uint64_t a, uint64_t b);
static inline uint64_t draw(struct worker *worker) { return worker->random = mix(worker->random, 1); }
static inline size_t below(struct worker *worker, size_t most) { return (size_t)(draw(worker) >> 11) % most; }

struct node *node_new(struct actor *actor, enum node_kind kind, size_t words, unsigned tag);

/* Where the tracked fields are: all but the first of a small block, some of a large one. */
void node_place_fields(struct node *node, struct worker *worker);

/* Writes the identity and the bytes into a new block. */
void node_write(struct node *node, wn_domain *domain, wn_ref block);

/* The word `i` of the bytes of the block with this identity. */
static inline uint64_t pattern(uint64_t id, size_t i) { return mix(id, i); }

/* Compares a block, without what it leads to. */
void node_check_block(struct node *node, wn_value block);

/* Marks what the actor's roots lead to: node->seen becomes actor->epoch. */
void actor_mark(struct actor *actor);

/* The node becomes reachable again, by a finaliser: finalisers may have been called for it, and for
 * what it alone leads to. */
void actor_excuse(struct actor *actor, struct node *node);

/* Compares everything that the actor's roots lead to with the heap. Collects nothing. */
void actor_check(struct actor *actor);

/* At the end: everything that was to be called was, once. */
void actor_check_calls(const struct actor *actor, bool closed);

/* Takes over what another actor, whose domain has ended, had. */
void actor_adopt(struct actor *actor, struct actor *child);
void actor_destroy(struct actor *actor);

/* A message: a tree whose shape and numbers follow from its identity. */
wn_ref message_new(wn_domain *domain, uint64_t id, int depth);
void message_check(wn_value message, uint64_t id, int depth);
enum { MESSAGE_DEPTH = 3, MESSAGE_TAG = 77 };

#endif
/* SPDX-License-Identifier: MIT */
