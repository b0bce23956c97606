/* The interpreter of scripts on Winnow's heap; the other one is interpret.ml. README.md has the
 * language, and the rules by which both write their logs.
 *
 *   differential write FIRST COUNT    writes the scripts of so many seeds
 *   differential run <SCRIPTS         runs scripts, and prints their logs */
#include "differential/operations.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAME_MOST = 16, LINE_MOST = 128 };

struct op {
  char name[NAME_MOST];
  int a[ARGUMENTS];
  struct op *body; /* of a thread, a domain or a fork */
  size_t count;    /* of its operations */
};

struct work {
  const struct op *ops;
  size_t count;
};

static void run(struct actor *actor, const struct op *ops, size_t count);

/* ---- finalisers ---- */

struct finaliser {
  struct finaliser *next;
  enum action action;
  int id, place;
};

static struct finaliser *finalisers; /* of this script */

static void finalise(wn_domain *domain, struct finaliser *of, wn_ref value) {
  switch (of->action) {
  case DO_REFUSE:
    if (!wn_is_null(value)) wn_set(domain, wn_global_get(domain, world.shelf), (size_t)of->place, value);
    break;
  case DO_ALLOCATE: wn_alloc(domain, (size_t)of->id, 0); break;
  case DO_RAISE: raise_number(domain, KIND_FINALISER, of->id); break;
  case DO_FULL:
    world.is_disordered = true;
    settle(domain);
    break;
  default: break;
  }
}

static void call_first(wn_domain *domain, wn_ref value, void *context) {
  struct finaliser *of = context;
  WN_SCOPE(domain);
  log_finalised("finalised", of->id);
  finalise(domain, of, value);
}

static void call_last(wn_domain *domain, void *context) {
  struct finaliser *of = context;
  WN_SCOPE(domain);
  log_finalised("last", of->id);
  finalise(domain, of, (wn_ref){NULL});
}

static void add_finaliser(struct actor *actor, bool is_first, const int *a) {
  struct finaliser *of = malloc(sizeof *of);
  if (!of) broken("no memory");
  *of = (struct finaliser){finalisers, (enum action)a[2], a[1], a[3]};
  finalisers = of;
  wn_ref value = register_get(actor, a[0]);
  wn_status status = is_first ? wn_gc_finalise(actor->domain, call_first, of, value)
                              : wn_gc_finalise_last(actor->domain, call_last, of, value);
  if (status == WN_EINVAL)
    puts("no finaliser");
  else if (status)
    broken("wn_gc_finalise: %s", wn_last_error());
}

static void forget_finalisers(void) {
  for (struct finaliser *next; finalisers; finalisers = next) {
    next = finalisers->next;
    free(finalisers);
  }
}

/* ---- quiet points ---- */

static void quiet(struct actor *actor, int number) {
  settle(actor->domain);
  world.is_settled = true;
  printf("quiet %d\n", number);
  log_print(world.is_ordered && !world.has_young_keys && !world.is_disordered, world.blurred);
  world.has_young_keys = world.is_disordered = false;
  print_registers(actor);
}

static void clear(struct actor *actor) {
  wn_ref shelf = wn_global_get(actor->domain, world.shelf);
  for (size_t i = 0; i < REGISTERS; i++) {
    wn_set_int(actor->domain, actor->registers, i, 0);
    wn_set_int(actor->domain, shelf, i, 0);
  }
}

/* ---- threads and domains ---- */

static void run_thread(wn_domain *domain, void *argument) {
  const struct work *work = argument;
  struct actor actor = {domain, wn_global_get(domain, world.registers), false};
  run(&actor, work->ops, work->count);
}

/* A domain has registers of its own, which it leaves to the others in the end. */
static void run_domain(wn_domain *domain, void *argument) {
  const struct work *work = argument;
  struct actor actor = {domain, wn_alloc(domain, REGISTERS, 0), false};
  run(&actor, work->ops, work->count);
  collect_minor(domain);
  if (actor.has_started) profile_stop(domain);
  for (int r = 0; r < REGISTERS; r++) {
    WN_SCOPE(domain);
    wn_ref value = register_get(&actor, r);
    if (!wn_is_int(wn_value_of(value)))
      wn_set(domain, wn_global_get(domain, world.registers), (size_t)r, value);
  }
}

static void run_beside(struct actor *actor, const struct op *op) {
  struct work work = {op->body, op->count};
  wn_join *join;
  bool is_thread = !strcmp(op->name, "thread");
  if (!is_thread) collect_minor(actor->domain);
  wn_status status = is_thread ? wn_thread_spawn(actor->domain, run_thread, &work, &join)
                               : wn_domain_spawn(actor->domain, run_domain, &work, &join);
  if (status || (wn_join_wait(actor->domain, join) == WN_EINVAL)) broken("%s: %s", op->name, wn_last_error());
}

/* ---- processes ---- */

/* All blocks die, and all finalisers run: in three steps, since one may put its value on the
 * shelf. */
static void end_script(struct actor *actor) {
  profile_stop(actor->domain);
  for (int number = -3; number < 0; number++) {
    clear(actor);
    quiet(actor, number);
  }
  world.is_clean = true;
  for (int slot = 0; slot < SLOTS; slot++) profile_discard(slot);
  forget_finalisers();
}

/* A child does these operations, and ends the script. */
static void run_in_child(struct actor *actor, const struct op *ops, size_t count) {
  int status = 0;
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    run(actor, ops, count);
    end_script(actor);
    if (wn_gc_verify(actor->domain, stderr)) broken("the heap of a child is damaged");
    fflush(stdout);
    _exit(0);
  }
  if (waitpid(child, &status, 0) != child || status)
    broken("a child ended with status %#x", (unsigned)status);
}

/* ---- operations ---- */

static bool collect(struct actor *actor, const struct op *op) {
  if (!strcmp(op->name, "minor"))
    collect_minor(actor->domain);
  else if (!strcmp(op->name, "major"))
    collect_all(actor->domain, wn_gc_major);
  else if (!strcmp(op->name, "full"))
    settle(actor->domain);
  else if (!strcmp(op->name, "compact"))
    collect_all(actor->domain, wn_gc_compact), settle(actor->domain);
  else if (!strcmp(op->name, "slice"))
    collect_slice(actor->domain, op->a[0]);
  else
    return false;
  return true;
}

static bool use_profile(struct actor *actor, const struct op *op) {
  if (!strcmp(op->name, "start")) {
    profile_start(actor, op->a[0]);
  } else if (!strcmp(op->name, "stop")) {
    if (!profile_stop(actor->domain)) puts("stop refused");
  } else if (!strcmp(op->name, "discard")) {
    profile_discard(op->a[0]);
  } else {
    return false;
  }
  return true;
}

static void operate(struct actor *actor, const struct op *op) {
  const int *a = op->a;
  WN_SCOPE(actor->domain);
  if (operate_on_blocks(actor, op->name, a) || collect(actor, op) || use_profile(actor, op)) return;
  if (!strcmp(op->name, "plan"))
    world.plans[a[0]][a[1]] = (enum action)a[2];
  else if (!strcmp(op->name, "first") || !strcmp(op->name, "last"))
    add_finaliser(actor, op->name[0] == 'f', a);
  else if (!strcmp(op->name, "ordered"))
    world.is_ordered = a[0];
  else if (!strcmp(op->name, "quiet"))
    quiet(actor, a[0]);
  else if (!strcmp(op->name, "fork"))
    run_in_child(actor, op->body, op->count);
  else if (!strcmp(op->name, "thread") || !strcmp(op->name, "domain"))
    run_beside(actor, op);
  else
    broken("no operation '%s'", op->name);
}

static void run(struct actor *actor, const struct op *ops, size_t count) {
  for (const struct op *op = ops; op < ops + count; op++) {
    world.is_reading = !strcmp(op->name, "marshal");
    operate(actor, op);
    poll_all(actor->domain);
    if (!strcmp(op->name, "quiet"))
      world.is_clean = true;
    else if (strcmp(op->name, "start") && strcmp(op->name, "stop") && strcmp(op->name, "discard"))
      world.is_clean = false;
  }
}

/* ---- scripts ---- */

static bool has_body(const struct op *op) {
  return !strcmp(op->name, "thread") || !strcmp(op->name, "domain") || !strcmp(op->name, "fork");
}

/* OCaml does not fork a process that had a domain, so that domains are in children. */
static bool has_domains(const struct op *ops, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(ops[i].name, "domain")) return true;
  return false;
}

/* Reads operations up to the line `end`. */
static struct op *read_ops(FILE *in, size_t *count) {
  struct op *ops = NULL;
  char line[LINE_MOST];
  for (*count = 0; fgets(line, sizeof line, in) && strcmp(line, "end\n"); ++*count) {
    ops = realloc(ops, (*count + 1) * sizeof *ops);
    if (!ops) broken("no memory");
    struct op *op = &ops[*count];
    *op = (struct op){.body = NULL};
    if (sscanf(line, "%15s %d %d %d %d %d", op->name, &op->a[0], &op->a[1], &op->a[2], &op->a[3], &op->a[4]) <
        1)
      broken("an empty line");
    if (has_body(op)) op->body = read_ops(in, &op->count);
  }
  return ops;
}

static void free_ops(struct op *ops, size_t count) {
  for (size_t i = 0; i < count; i++) free_ops(ops[i].body, ops[i].count);
  free(ops);
}

static void run_scripts(wn_domain *domain, FILE *in) {
  char title[LINE_MOST];
  while (fgets(title, sizeof title, in)) {
    WN_SCOPE(domain);
    struct actor actor = {domain, wn_global_get(domain, world.registers), false};
    size_t count;
    struct op *ops = read_ops(in, &count);
    fputs(title, stdout);
    world_begin_script();
    if (has_domains(ops, count)) {
      run_in_child(&actor, ops, count);
    } else {
      run(&actor, ops, count);
      end_script(&actor);
    }
    free_ops(ops, count);
  }
}

static void open_and_run(void) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  wn_heap *heap;
  wn_domain *domain;
  options.helper_threads = 0;
  options.parameters.minor_heap_size = 1 << 22;
  options.parameters.space_overhead = 1000000;
  options.parameters.custom_major_ratio = 1000000;
  options.parameters.custom_minor_ratio = 1000000;
  if (wn_heap_open(&options, &heap) || wn_domain_attach(heap, &domain)) broken("%s", wn_last_error());
  {
    WN_SCOPE(domain);
    world.registers = wn_global_new(domain, wn_alloc(domain, REGISTERS, 0));
    world.shelf = wn_global_new(domain, wn_alloc(domain, REGISTERS, 0));
    run_scripts(domain, stdin);
    if (wn_gc_verify(domain, stderr)) broken("the heap is damaged");
    wn_global_free(domain, world.registers);
    wn_global_free(domain, world.shelf);
  }
  if (wn_domain_detach(domain) || wn_heap_close(heap)) broken("%s", wn_last_error());
}

int main(int count, char **arguments) {
  if (count == 4 && !strcmp(arguments[1], "write")) {
    uint64_t first = strtoull(arguments[2], NULL, 10), number = strtoull(arguments[3], NULL, 10);
    for (uint64_t seed = first; seed < first + number; seed++) script_generate(stdout, seed);
  } else if (count == 2 && !strcmp(arguments[1], "run")) {
    open_and_run();
  } else {
    fputs("usage: differential write FIRST COUNT | differential run <SCRIPTS\n", stderr);
    return 2;
  }
  return 0;
}
/* SPDX-License-Identifier: MIT */
