/* Tasks, which run in domains of their own, and atoms, by which they communicate.
 *
 * A task shares its program's globals, and any value that it can reach. All fields are loaded and
 * stored atomically, so a task that reads a field sees a whole value. A value that spans several
 * fields, such as a table, must belong to one task at a time. Values that several tasks change are
 * put into an atom. */
#include "builtins.h"

#include "lisp.h"
#include <stdlib.h>

enum { TASK_ADDRESS, TASK_RESULT, TASK_WORDS };
enum { CARGO_PROCEDURE, CARGO_ENVIRONMENT, CARGO_WORDS };

struct task {
  struct lisp *lisp;
  struct program *program;
  struct task *next; /* of the program; guarded by its lock */
  wn_join *join;
  wn_global *cargo; /* the argument of the new domain, then its result */
  bool died;        /* the result is what was raised; read after the join */
};

/* ---- the new domain ---- */

static enum vm_outcome run(struct vm *vm, wn_ref cargo) {
  vm->roots[ROOT_ENVIRONMENT] = wn_field(cargo, CARGO_ENVIRONMENT);
  vm->roots[ROOT_RAISE] = wn_value_of(wn_global_get(vm->domain, vm->lisp->raise));
  return vm_run(vm, wn_get(vm->domain, cargo, CARGO_PROCEDURE), 0, NULL);
}

static void task_body(wn_domain *domain, void *argument) {
  struct task *task = argument;
  struct vm *vm = vm_create(task->lisp, domain);
  WN_SCOPE(domain);
  task->died = true;
  if (!vm) {
    wn_global_set(domain, task->cargo, wn_root(domain, FALSE));
    return;
  }
  vm->program = task->program;
  vm->reports = false;
  task->died = run(vm, wn_global_get(domain, task->cargo)) != VM_DONE;
  wn_global_set(domain, task->cargo, wn_root(domain, vm->roots[ROOT_RESULT]));
  output_flush(&vm->out, domain);
  vm_destroy(vm);
}

/* ---- its parent ---- */

static void link_task(struct task *task) {
  pthread_mutex_lock(&task->program->lock);
  task->next = task->program->tasks;
  task->program->tasks = task;
  pthread_mutex_unlock(&task->program->lock);
}

/* True for one caller only, which must then wait for the task. */
static bool take_task(struct task *task, struct program *program) {
  pthread_mutex_lock(&program->lock);
  struct task **link = &program->tasks;
  while (*link && *link != task) link = &(*link)->next;
  bool found = *link != NULL;
  if (found) *link = task->next;
  pthread_mutex_unlock(&program->lock);
  return found;
}

static wn_global *make_cargo(struct vm *vm, wn_value procedure) {
  WN_SCOPE(vm->domain);
  wn_ref procedure_ref = wn_root(vm->domain, procedure);
  wn_ref environment = wn_root(vm->domain, vm->roots[ROOT_ENVIRONMENT]);
  wn_ref cargo = wn_pair(vm->domain, TAG_VECTOR, procedure_ref, environment);
  return wn_is_null(cargo) ? NULL : wn_global_new(vm->domain, cargo);
}

static void destroy_task(struct vm *vm, struct task *task) {
  if (task->cargo) wn_global_free(vm->domain, task->cargo);
  free(task);
}

static wn_value start(struct vm *vm, struct task *task, wn_value procedure) {
  task->lisp = vm->lisp;
  task->program = vm->program;
  task->cargo = make_cargo(vm, procedure);
  if (!task->cargo) return vm_fail_memory(vm);
  output_flush(&vm->out, vm->domain);
  wn_status status = wn_domain_spawn(vm->domain, task_body, task, &task->join);
  return status ? vm_fail(vm, "spawn: %s", wn_last_error()) : NOTHING;
}

static wn_value spawn(struct vm *vm, wn_value *args, size_t count) {
  WN_SCOPE(vm->domain);
  (void)count;
  if (!is_procedure(args[0])) return vm_fail_type(vm, "spawn", "a procedure", args[0]);
  wn_value made = make_block(vm, TASK_WORDS, TAG_TASK, NIL);
  if (!made) return VM_FAILED;
  wn_ref block = wn_root(vm->domain, made);
  struct task *task = calloc(1, sizeof *task);
  if (!task) return vm_fail_memory(vm);
  if (!start(vm, task, args[0])) {
    destroy_task(vm, task);
    return VM_FAILED;
  }
  link_task(task);
  wn_store(vm->domain, wn_value_of(block), TASK_ADDRESS, make_address(task));
  return wn_value_of(block);
}

static wn_value join(struct vm *vm, wn_value *args, size_t count) {
  WN_SCOPE(vm->domain);
  (void)count;
  if (!has_tag(args[0], TAG_TASK)) return vm_fail_type(vm, "join", "a task", args[0]);
  wn_value address = field(args[0], TASK_ADDRESS);
  struct task *task = address == NIL ? NULL : address_of(address);
  if (!task || !take_task(task, vm->program)) return vm_fail(vm, "join: the task was joined already");
  wn_store(vm->domain, args[0], TASK_ADDRESS, NIL);
  output_flush(&vm->out, vm->domain);
  wn_join_wait(vm->domain, task->join);
  wn_ref result = wn_global_get(vm->domain, task->cargo);
  bool died = task->died;
  destroy_task(vm, task);
  if (!died) return wn_value_of(result);
  vm->roots[ROOT_CONDITION] = wn_value_of(result);
  return VM_FAILED;
}

void program_end(struct vm *vm) {
  struct task *task;
  while ((task = __atomic_load_n(&vm->program->tasks, __ATOMIC_ACQUIRE)) != NULL) {
    if (!take_task(task, vm->program)) continue;
    wn_join_wait(vm->domain, task->join);
    destroy_task(vm, task);
  }
  pthread_mutex_destroy(&vm->program->lock);
}

/* ---- atoms ---- */

static wn_value make_atom(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return make_block(vm, 1, TAG_ATOM, args[0]);
}

static wn_value atom_ref(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return has_tag(args[0], TAG_ATOM) ? field(args[0], 0) : vm_fail_type(vm, "atom-ref", "an atom", args[0]);
}

/* Stores the third argument if the atom still holds the second, which was read from it. */
static wn_value atom_exchange(struct vm *vm, wn_value *args, size_t count) {
  WN_SCOPE(vm->domain);
  (void)count;
  if (!has_tag(args[0], TAG_ATOM)) return vm_fail_type(vm, "atom-exchange!", "an atom", args[0]);
  wn_ref atom = wn_root(vm->domain, args[0]), old = wn_root(vm->domain, args[1]);
  return make_boolean(wn_cas(vm->domain, atom, 0, old, wn_root(vm->domain, args[2])));
}

const struct builtin builtins_tasks[] = {{"spawn", spawn, 1, 1},
                                         {"join", join, 1, 1},
                                         {"make-atom", make_atom, 1, 1},
                                         {"atom-ref", atom_ref, 1, 1},
                                         {"atom-exchange!", atom_exchange, 3, 3},
                                         {NULL, NULL, 0, 0}};
/* SPDX-License-Identifier: MIT */
