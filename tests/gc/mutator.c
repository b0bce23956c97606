/* The operations of the random program.
 *
 * Each worker has a stack of roots: handles with the nodes that they hold. An operation makes its
 * own handles in a scope, and carries out what is to be kept. Operations that may run finalisers,
 * or another thread of the domain, hold no raw values and leave heap and model equal; so each
 * operation begins with both equal. */
#include "gc/mutator.h"

#include "gc/mutator_parts.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void operation(struct worker *worker);

/* ---- global roots ---- */

static void use_global(struct worker *worker) {
  struct actor *actor = worker->actor;
  struct rooted_global *global = &actor->globals[below(worker, GLOBALS)];
  struct root *root = any_root(worker);
  if (!root) return;
  if (!global->global) {
    if (!(global->global = wn_global_new(actor->domain, root->ref))) broken("wn_global_new gave nothing");
    global->node = root->node;
  } else if (draw(worker) % 3 == 0) {
    wn_global_free(actor->domain, global->global);
    *global = (struct rooted_global){0};
  } else if (draw(worker) % 2) {
    wn_global_set(actor->domain, global->global, root->ref);
    global->node = root->node;
  } else {
    wn_scope scope = wn_scope_enter(actor->domain);
    keep(worker, &scope, must(wn_global_get(actor->domain, global->global), "wn_global_get"), global->node);
  }
}

/* ---- messages ---- */

static void keep_message(struct worker *worker, wn_scope *scope, wn_ref message) {
  uint64_t id = wn_field(message, 0) & ~UINT64_C(1);
  message_check(wn_value_of(message), id, MESSAGE_DEPTH);
  struct node *node = node_new(worker->actor, NODE_MESSAGE, 3, MESSAGE_TAG);
  node->id = id;
  keep(worker, scope, message, node);
}

static wn_ref new_message(struct worker *worker) {
  return message_new(worker->actor->domain, draw(worker) & ~UINT64_C(1), MESSAGE_DEPTH);
}

static void post(struct worker *worker) {
  struct world *world = worker->actor->world;
  wn_domain *domain = worker->actor->domain;
  WN_SCOPE(domain);
  wn_ref board = wn_global_get(domain, world->board), message = new_message(worker);
  size_t i = below(worker, MAILBOXES);
  switch (draw(worker) % 4) {
  case 0: wn_set(domain, board, i, message); break;
  case 1: wn_global_set(domain, world->shared[i % SHARED], message); break;
  case 2: wn_set_int(domain, board, i, 0); break;
  default: wn_cas(domain, board, i, wn_get(domain, board, i), message);
  }
}

static void take(struct worker *worker) {
  struct world *world = worker->actor->world;
  wn_domain *domain = worker->actor->domain;
  wn_scope scope = wn_scope_enter(domain);
  size_t i = below(worker, MAILBOXES);
  wn_ref message = draw(worker) % 4 ? wn_get(domain, wn_global_get(domain, world->board), i)
                                    : wn_global_get(domain, world->shared[i % SHARED]);
  if (wn_is_int(wn_value_of(message)))
    wn_scope_leave(&scope);
  else
    keep_message(worker, &scope, message);
}

/* A new board, with what was on the old one; others may still write to that. */
static void change_board(struct worker *worker) {
  struct world *world = worker->actor->world;
  wn_domain *domain = worker->actor->domain;
  WN_SCOPE(domain);
  wn_ref board = must(allocate(domain, MAILBOXES, 1), "wn_alloc");
  wn_ref old = wn_global_get(domain, world->board);
  for (size_t i = 0; i < MAILBOXES; i++) wn_set(domain, board, i, wn_get(domain, old, i));
  wn_global_set(domain, world->board, board);
}

/* ---- the collector ---- */

static void poll(struct worker *worker) { wn_poll(worker->actor->domain); }
static void yield(struct worker *worker) { wn_thread_yield(worker->actor->domain); }

static void block(struct worker *worker) {
  wn_domain *domain = worker->actor->domain;
  struct timespec time = {0, (long)below(worker, 100000)};
  bool sleep = draw(worker) % 4 == 0;
  wn_blocking_begin(domain);
  if (sleep)
    nanosleep(&time, NULL);
  else
    sched_yield();
  wn_blocking_end(domain);
}

static void collect(struct worker *worker) {
  wn_domain *domain = worker->actor->domain;
  switch (draw(worker) % 16) {
  case 0: check_status(wn_gc_full_major(domain), "wn_gc_full_major"); break;
  case 1: check_status(wn_gc_major(domain), "wn_gc_major"); break;
  case 2: check_status(wn_gc_compact(domain), "wn_gc_compact"); break;
  case 3:
  case 4:
  case 5:
  case 6: check_status(wn_gc_minor(domain), "wn_gc_minor"); break;
  default: wn_gc_major_slice(domain, (long)below(worker, 3000));
  }
}

/* Any parameters that are right, while others run. Minor heaps stay small, and slots enough for
 * what the program nests. */
static void set_parameters(struct worker *worker) {
  wn_domain *domain = worker->actor->domain;
  wn_gc_control control;
  check_status(wn_gc_get(domain, &control), "wn_gc_get");
  switch (draw(worker) % 8) {
  case 0: control.minor_heap_size = (long)(320 + below(worker, 8000)); break;
  case 1: control.space_overhead = (long)(1 + below(worker, 400)); break;
  case 2: control.max_overhead = (long)below(worker, 1000); break;
  case 3: control.allocation_policy = (long)below(worker, 3); break;
  case 4: control.window_size = (long)(1 + below(worker, 50)); break;
  case 5: control.stack_limit = (long)(1 << 15) << below(worker, 6); break;
  case 6:
    control.custom_major_ratio = (long)(1 + below(worker, 200));
    control.custom_minor_ratio = (long)(1 + below(worker, 200));
    control.custom_minor_max_size = (long)below(worker, 100000);
    break;
  default:
    check_status(wn_gc_set_domain_minor_heap(domain, (long)(320 + below(worker, 3000))), "its minor heap");
  }
  check_status(wn_gc_set(domain, &control), "wn_gc_set");
}

static void verify(struct worker *worker) {
  check_status(wn_gc_verify(worker->actor->domain, stderr), "wn_gc_verify");
}
static void compare(struct worker *worker) { actor_check(worker->actor); }

/* ---- running ---- */

static void run_scope(struct worker *worker, int depth);

static void descend(struct worker *worker, int depth) {
  if (depth < 40) run_scope(worker, depth + 1);
}

/* ---- domains and threads ---- */

struct child {
  struct actor actor;
  struct worker worker;
  struct worker *of; /* whose thread it is; NULL: a domain */
  wn_global *result;
  struct child *next; /* in world.ended */
};

static void worker_begin(struct worker *worker, struct actor *actor, uint64_t random, long steps) {
  *worker = (struct worker){.actor = actor, .next = actor->workers, .random = random, .steps = steps};
  actor->workers = worker;
}

static void worker_end(struct worker *worker) {
  struct worker **link = &worker->actor->workers;
  while (*link != worker) link = &(*link)->next;
  *link = worker->next;
}

static void thread_body(wn_domain *domain, void *argument) {
  struct child *child = argument;
  struct actor *actor = child->worker.actor;
  no_fork_end();
  child->worker.next = actor->workers;
  actor->workers = &child->worker;
  while (child->worker.steps > 0) {
    WN_SCOPE(domain);
    run_scope(&child->worker, 0);
  }
  worker_end(&child->worker);
  no_fork_begin(domain);
}

static void actor_begin(struct actor *actor, wn_domain *domain) {
  WN_SCOPE(domain);
  __atomic_store_n(&actor->domain, domain, __ATOMIC_RELEASE);
  actor->kept = wn_global_new(domain, wn_root(domain, wn_int(0)));
  weak_begin(actor);
}

static void actor_end(struct actor *actor) {
  for (size_t i = 0; i < GLOBALS; i++) wn_global_free(actor->domain, actor->globals[i].global);
  memset(actor->globals, 0, sizeof actor->globals);
  wn_global_free(actor->domain, actor->kept);
  weak_end(actor);
  pins_end(actor);
  actor->keep = NULL;
  /* Finalisers that run while it is detached leave the model alone. */
  __atomic_store_n(&actor->domain, NULL, __ATOMIC_RELEASE);
}

/* What a domain leaves to its parent: its last roots, in a block. */
static void leave_result(struct child *child) {
  struct worker *worker = &child->worker;
  wn_domain *domain = child->actor.domain;
  WN_SCOPE(domain);
  struct node *node = node_new(&child->actor, NODE_SCANNED, 7, 3);
  wn_ref block = must(allocate(domain, 7, 3), "wn_alloc");
  node_place_fields(node, worker);
  node_write(node, domain, block);
  link_fields(worker, node, block);
  child->result = wn_global_new(domain, block);
  worker->count = 0;
  worker->roots[0].node = node; /* for the parent */
}

static void domain_body(wn_domain *domain, void *argument) {
  struct child *child = argument;
  no_fork_end();
  actor_begin(&child->actor, domain);
  worker_begin(&child->worker, &child->actor, child->worker.random, child->worker.steps);
  WN_SCOPE(domain);
  while (child->worker.steps > 0) run_scope(&child->worker, 0);
  actor_check(&child->actor);
  leave_result(child);
  worker_end(&child->worker);
  actor_end(&child->actor);
  no_fork_begin(domain);
}

static void join_domain(struct worker *worker, struct child *child) {
  struct actor *actor = worker->actor;
  struct node *node = child->worker.roots[0].node;
  wn_scope scope = wn_scope_enter(actor->domain);
  actor_adopt(actor, &child->actor);
  wn_ref result = must(wn_global_get(actor->domain, child->result), "wn_global_get");
  wn_global_free(actor->domain, child->result);
  keep(worker, &scope, result, node);
}

static void bury(struct world *world, struct child *child) {
  child->next = atomic_load(&world->ended);
  while (!atomic_compare_exchange_weak(&world->ended, &child->next, child)) {}
}

static void free_ended(struct world *world) {
  for (struct child *child = atomic_load(&world->ended), *next; child; child = next) {
    next = child->next;
    free(child);
  }
}

/* Children run beside the parent's own steps, and are joined before the scope ends. */
static void with_child(struct worker *worker, int depth, bool thread) {
  struct actor *actor = worker->actor;
  struct world *world = actor->world;
  if (depth > 12 || worker->steps < 20 || atomic_fetch_add(&world->domains, 1) >= 5) {
    if (depth <= 12 && worker->steps >= 20) atomic_fetch_sub(&world->domains, 1);
    return;
  }
  struct child *child = calloc(1, sizeof *child);
  wn_join *join;
  if (!child) broken("no memory for the model");
  long steps = worker->steps / 3;
  child->actor.world = world;
  child->worker = (struct worker){.actor = actor, .random = mix(draw(worker), 3), .steps = steps};
  worker->steps -= steps;
  no_fork_begin(actor->domain);
  check_status(thread ? wn_thread_spawn(actor->domain, thread_body, child, &join)
                      : wn_domain_spawn(actor->domain, domain_body, child, &join),
               "spawn");
  run_scope(worker, depth + 1);
  check_status(wn_join_wait(actor->domain, join), "wn_join_wait");
  no_fork_end();
  if (!thread) join_domain(worker, child);
  atomic_fetch_sub(&world->domains, 1);
  bury(world, child);
}

/* What a domain that allocates nothing does: it stores a young block of its parent's into old ones,
 * and ends at once. */
struct errand {
  struct world *world;
  size_t from, to;
};

static void run_errand(wn_domain *domain, void *argument) {
  const struct errand *errand = argument;
  WN_SCOPE(domain);
  wn_ref board = wn_global_get(domain, errand->world->board);
  wn_ref message = wn_get(domain, board, errand->from);
  wn_set(domain, board, errand->to, message);
  wn_global_set(domain, errand->world->shared[errand->to % SHARED], message);
}

/* Others may have taken the message away meanwhile, or read it. */
static void send_errand(struct worker *worker) {
  struct actor *actor = worker->actor;
  struct world *world = actor->world;
  struct errand errand = {world, below(worker, MAILBOXES), below(worker, MAILBOXES)};
  wn_join *join;
  if (atomic_fetch_add(&world->domains, 1) < 5) {
    WN_SCOPE(actor->domain);
    wn_set(actor->domain, wn_global_get(actor->domain, world->board), errand.from, new_message(worker));
    no_fork_begin(actor->domain);
    check_status(wn_domain_spawn(actor->domain, run_errand, &errand, &join), "spawn");
    check_status(wn_join_wait(actor->domain, join), "wn_join_wait");
    no_fork_end();
    if (draw(worker) % 2) check_status(wn_gc_minor(actor->domain), "wn_gc_minor");
    wn_ref found = wn_get(actor->domain, wn_global_get(actor->domain, world->board), errand.to);
    if (!wn_is_int(wn_value_of(found)))
      message_check(wn_value_of(found), wn_field(found, 0) & ~UINT64_C(1), MESSAGE_DEPTH);
  }
  atomic_fetch_sub(&world->domains, 1);
}

/* ---- the table ---- */

static const struct {
  operation *run; /* NULL: one that needs the depth */
  unsigned weight;
} operations[] = {
    {make_scanned, 30},  {make_raw, 10},
    {make_mixed, 8},     {make_custom, 8},
    {make_group, 6},     {make_by_raw_tier, 12},
    {make_pair, 12},     {make_garbage, 6},
    {link_one, 30},      {overwrite, 12},
    {overwrite_many, 8}, {exchange, 14},
    {walk, 20},          {identify, 8},
    {drop, 25},          {use_global, 14},
    {finalise, 8},       {forget_kept, 3},
    {post, 10},          {take, 10},
    {poll, 10},          {yield, 10},
    {block, 4},          {collect, 3},
    {verify, 1},         {compare, 3},
    {change_board, 1},   {set_parameters, 1},
    {send_errand, 3},    {use_profile, 4},
    {use_weak, 16},      {adjust_custom, 8},
    {use_pins, 6},       {fork_and_compare, 1},
    {use_marshal, 3},    {NULL, 14},
    {NULL, 2},           {NULL, 2},
};
enum { KINDS = sizeof operations / sizeof *operations, DESCEND = KINDS - 3, THREAD, DOMAIN };

static unsigned choose(struct worker *worker) {
  unsigned sum = 0, i = 0;
  for (i = 0; i < KINDS; i++) sum += operations[i].weight;
  size_t at = below(worker, sum);
  for (i = 0; at >= operations[i].weight; i++) at -= operations[i].weight;
  return i;
}

static void step(struct worker *worker, int depth) {
  unsigned kind = choose(worker);
  worker->steps--;
  if (!(worker->actor->world->operations >> kind & 1)) return;
  if (kind == DESCEND)
    descend(worker, depth);
  else if (kind >= THREAD)
    with_child(worker, depth, kind == THREAD);
  else
    operations[kind].run(worker);
}

/* Some steps in a scope of their own; one root may escape. */
static void run_scope(struct worker *worker, int depth) {
  wn_domain *domain = worker->actor->domain;
  wn_scope scope = wn_scope_enter(domain);
  size_t base = worker->count;
  for (size_t n = 4 + below(worker, 120); n && worker->steps > 0; n--) step(worker, depth);
  if (worker->count > base && depth && draw(worker) % 2) {
    struct root *root = &worker->roots[base + below(worker, worker->count - base)];
    root->ref = wn_escape(&scope, root->ref);
    worker->roots[base++] = *root;
  }
  wn_scope_leave(&scope);
  worker->count = base;
}

/* ---- a run ---- */

/* Stress, and by how much fewer steps make up for the time that it takes. */
static const struct {
  const char *text;
  long slower;
} stresses[] = {{"", 1},
                {"verify", 2},
                {"", 1},
                {"delays", 4},
                {"", 1},
                {"every=3", 2},
                {"delays,verify", 6},
                {"every=1,verify", 10}};
enum { STRESSES = sizeof stresses / sizeof *stresses };

static void append(char text[80], const char *item, unsigned long value) {
  size_t length = strlen(text);
  snprintf(text + length, 80 - length, "%s%s=%lu", length ? "," : "", item, value);
}

/* Draws the stress mode. Returns by how much fewer steps the run has. */
static long set_stress(struct world *world, uint64_t seed) {
  size_t stress = mix(seed, 4) % STRESSES;
  strcpy(world->stress, stresses[stress].text);
  if (mix(seed, 6) % 3 == 0) append(world->stress, "mark_stack", 1 + mix(seed, 7) % 64);
  if (mix(seed, 11) % 3 == 0) append(world->stress, "move_all", 1);
  if (mix(seed, 16) % 4 == 0) append(world->stress, "compact", 20 + mix(seed, 17) % 400);
  world->fail_at = mix(seed, 8) % 2 == 0;
  if (world->fail_at) append(world->stress, "fail_at", 1 + mix(seed, 9) % (mix(seed, 10) % 2 ? 20 : 2000));
  setenv("WINNOW_PARAMS", world->stress, 1);
  return stresses[stress].slower;
}

/* The actor tries again: see allocate. */
static bool let_the_request_fail(wn_domain *domain, size_t words, void *context) {
  (void)domain, (void)words, (void)context;
  return false;
}

/* At safepoints of which the actors know. */
static void collect_beyond_limit(wn_domain *domain, size_t used_bytes, size_t limit_bytes, void *context) {
  (void)used_bytes, (void)limit_bytes, (void)context;
  wn_gc_compact(domain);
}

/* Returns how many steps the run has. */
static long set_up(struct world *world, uint64_t seed, long steps) {
  long slower = set_stress(world, seed);
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.parameters.minor_heap_size = (long)(320 + mix(seed, 1) % 4 * 1500);
  if (mix(seed, 1) % 16 == 0) options.parameters.minor_heap_size = 65536;
  if (mix(seed, 12) % 2) options.parameters.max_overhead = (long)(mix(seed, 12) >> 1) % 3 * 50;
  options.parameters.space_overhead = (long)(20 + mix(seed, 2) % 150);
  options.helper_threads = (int)(mix(seed, 3) % 3);
  options.hooks.out_of_memory = let_the_request_fail;
  if (mix(seed, 13) % 3 == 0) options.soft_limit_bytes = 1 + mix(seed, 14) % (4 << 20);
  options.hooks.over_limit = collect_beyond_limit;
  options.seed = seed;
  check_status(wn_heap_open(&options, &world->heap), "wn_heap_open");
  marshal_begin(world);
  return (steps + slower - 1) / slower;
}

static void begin_world(struct world *world, struct actor *actor) {
  wn_domain *domain;
  check_status(wn_domain_attach(world->heap, &domain), "wn_domain_attach");
  actor_begin(actor, domain);
  WN_SCOPE(domain);
  wn_ref none = wn_root(domain, wn_int(0));
  world->board = wn_global_new(domain, must(allocate(domain, MAILBOXES, 1), "wn_alloc"));
  for (size_t i = 0; i < SHARED; i++) world->shared[i] = wn_global_new(domain, none);
}

/* Everything is let go; what waits for its finaliser gets it. */
static void end_world(struct world *world, struct actor *actor) {
  wn_domain *domain = actor->domain;
  atomic_store(&world->ending, true);
  actor_end(actor);
  wn_global_free(domain, world->board);
  for (size_t i = 0; i < SHARED; i++) wn_global_free(domain, world->shared[i]);
  for (int i = 0; i < 4; i++) check_status(wn_gc_full_major(domain), "wn_gc_full_major");
  actor_check_calls(actor, false);
  profiles_check(world);
  check_status(wn_gc_verify(domain, stderr), "wn_gc_verify");
  check_status(wn_domain_detach(domain), "wn_domain_detach");
  check_status(wn_heap_close(world->heap), "wn_heap_close");
  actor_check_calls(actor, true);
  profiles_end(world);
}

void mutate(uint64_t seed, long steps, uint64_t allowed) {
  struct world world = {.seed = seed, .operations = allowed, .steps = steps};
  struct actor actor = {.world = &world};
  struct worker *worker = calloc(1, sizeof *worker);
  the_world = &world;
  if (!worker) broken("no memory for the model");
  steps = set_up(&world, seed, steps);
  begin_world(&world, &actor);
  worker_begin(worker, &actor, mix(seed, 5), steps);
  {
    WN_SCOPE(actor.domain);
    while (worker->steps > 0) run_scope(worker, 0);
    actor_check(&actor);
  }
  worker_end(worker);
  end_world(&world, &actor);
  free_ended(&world);
  actor_destroy(&actor);
  free(worker);
}
/* SPDX-License-Identifier: MIT */
