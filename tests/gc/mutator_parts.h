/* What the files of the random program share. */
#ifndef TESTS_GC_MUTATOR_PARTS_H
#define TESTS_GC_MUTATOR_PARTS_H

#include "gc/shadow.h"
#include <stdbool.h>

/* Fails the run, with what the library says, unless all is well. */
void check_status(wn_status status, const char *what);
wn_ref must(wn_ref ref, const char *what);

/* True if an allocation failed because the stress mode had this one request fail: the next try is
 * not. */
bool is_stress(void);

/* Never null: what the stress mode had fail is tried again. */
wn_ref allocate(wn_domain *domain, size_t words, unsigned tag);

/* NULL: there is none. */
struct root *any_root(struct worker *worker);

/* Keeps a handle: of the scope that is open, and ends here, or in the place of another root. */
void keep(struct worker *worker, wn_scope *scope, wn_ref ref, struct node *node);

/* Links a new block to roots that are there. */
void link_fields(struct worker *worker, struct node *node, wn_ref block);

/* Of the custom blocks of nodes. */
extern const wn_custom_ops node_ops;

/* Operations. */
void make_scanned(struct worker *worker);
void make_raw(struct worker *worker);
void make_mixed(struct worker *worker);
void make_custom(struct worker *worker);
void adjust_custom(struct worker *worker);
void make_group(struct worker *worker);
void make_by_raw_tier(struct worker *worker);
void make_pair(struct worker *worker);
void make_garbage(struct worker *worker);
void link_one(struct worker *worker);
void overwrite(struct worker *worker);
void overwrite_many(struct worker *worker);
void exchange(struct worker *worker);
void walk(struct worker *worker);
void identify(struct worker *worker);
void drop(struct worker *worker);

void finalise(struct worker *worker);
void forget_kept(struct worker *worker);

/* Weak blocks of an actor. */
void use_weak(struct worker *worker);
void weak_begin(struct actor *actor);
void weak_end(struct actor *actor);

/* A fork, whose child is compared with the model. */
void fork_and_compare(struct worker *worker);

/* Around what may call malloc while the world is stopped: a thread that begins, one that ends, and
 * messages that are read and written by functions. no_fork_begin is a blocking section;
 * no_fork_try is none, and returns false if a thread is about to fork. */
void no_fork_begin(wn_domain *domain);
bool no_fork_try(void);
void no_fork_end(void);

/* Marshalling there and back. The custom blocks of nodes are registered for it. */
void use_marshal(struct worker *worker);
void marshal_begin(struct world *world);

/* Pinned blocks of an actor. */
void use_pins(struct worker *worker);
void pins_end(struct actor *actor);

/* Around the allocation of a block: what is told of it is kept with its node. No roots may be
 * looked up before the second. */
void profile_before(struct worker *worker);
void profile_after(struct worker *worker, struct node *node);
void use_profile(struct worker *worker);

/* When all blocks are dead, and when the heap is closed. */
void profiles_check(struct world *world);
void profiles_end(struct world *world);

#endif
/* SPDX-License-Identifier: MIT */
