/* The virtual machine: how a language runs on a heap that moves its blocks.
 *
 * Values. A value is a word (value.h). The heap must find every word that leads to a block, since
 * it moves blocks. Each word of a running program is in one of three places, and each place has its
 * rule:
 *
 *   - In a block. The heap itself finds it. Stores go through wn_store, the write barrier, except
 *     the first stores into a block that was just allocated.
 *   - On the machine's stack, or in its roots. At each collection the heap visits these through the
 *     hook walk_roots (vm_walk_roots), and updates them. Stores need no barrier. Compiled Lisp needs
 *     no handles, because every register is on this stack.
 *   - In a C variable. The heap does not find it, so it is stale after the next safepoint. A builtin
 *     that needs the value longer puts it in a handle (wn_root), or reads it again from its
 *     arguments, which are on the machine's stack.
 *
 * The stack. A function's registers begin at `fp`, and its closure stands below them. A call puts
 * the function and its arguments above the registers in use, so that the arguments are the first
 * registers of the callee. The stack is therefore one stretch of values without holes, which ends
 * at the topmost function's last live register. Each instruction says how many registers are live
 * at it: that is the stack map. Nothing above the live registers is ever read or has to be cleared.
 * The state of the callers (`struct frame`) is in a stack of its own, which no collection visits:
 * it holds addresses of instructions, which are outside the heap (code.h), and of registers, which
 * do not move.
 *
 * Safepoints. An instruction that may collect first stores the machine's state (SAVE): the program
 * counter, which leads to the stack map, and to the function's name and line for a profile
 * (lisp_frames). After the collection it reads its operands again from the registers. Functions
 * poll at their beginning, and loops at their end: every endless program passes one of these, so
 * another domain's collection waits for a few instructions at most.
 *
 * Tail calls move the function and its arguments down over the caller's registers, so they need no
 * stack. Builtins that call (apply, eval) do not run the machine again, which would need C's stack:
 * they leave function and arguments on the machine's stack and return VM_CALL. Only macros run
 * inside the compiler, by a nested vm_run.
 *
 * Profiles. A sampled allocation asks for the Lisp functions that are being called (vm_callstack).
 * Each vm_run records where its frames begin and where C's stack is then, so that the heap can put
 * them between C's own frames: a report shows a builtin, the Lisp functions that led to it, the
 * machine that runs them, the macro that is being expanded, the compiler.
 *
 * Errors. Code that fails puts a condition into a root and returns VM_FAILED. The machine calls the
 * library's `raise` with it, as if the failed instruction had been that call, so that a backtrace
 * shows it. An escape cuts both stacks back. */
#include "vm.h"

#include "builtins.h"
#include <stdio.h>

/* ---- calling ---- */

static wn_value fail_arity(struct vm *vm, wn_value name, unsigned least, bool more, size_t count) {
  return vm_fail(vm, "%s: expected %s%u argument%s, got %zu",
                 is_symbol(name) ? string_bytes(field(name, SYMBOL_NAME)) : "a procedure",
                 more ? "at least " : "", least, least == 1 ? "" : "s", count);
}

static wn_value call_builtin(struct vm *vm, wn_value callee, wn_value *args, size_t count) {
  const struct builtin *builtin = builtin_of(callee);
  if (count >= (size_t)builtin->least && (builtin->most < 0 || count <= (size_t)builtin->most))
    return builtin->function(vm, args, count);
  bool exact = builtin->least == builtin->most;
  if (exact || builtin->most < 0 || count < (size_t)builtin->least)
    return vm_fail(vm, "%s: expected %s%d argument%s, got %zu", builtin->name, exact ? "" : "at least ",
                   builtin->least, builtin->least == 1 ? "" : "s", count);
  return vm_fail(vm, "%s: expected at most %d arguments, got %zu", builtin->name, builtin->most, count);
}

/* The arguments behind the required ones become a list, which takes the first one's place. The list
 * grows in the slot behind all of them. */
static bool collect_rest(struct vm *vm, wn_value *fp, size_t required, size_t count) {
  wn_value *list = fp + count;
  *list = NIL;
  vm->top = list + 1;
  for (size_t i = count; i-- > required;) {
    wn_value *pair = wn_bump(vm->domain, 2, TAG_PAIR);
    if (!pair) return vm_fail_memory(vm), false;
    pair[0] = fp[i];
    pair[1] = *list;
    *list = (wn_value)pair;
  }
  fp[required] = *list;
  return true;
}

static bool poll_is_due(const struct wn_mutator_context *context) {
  return context->young_ptr < __atomic_load_n(&context->young_limit, __ATOMIC_RELAXED) ||
         __atomic_load_n(&context->pending, __ATOMIC_RELAXED);
}

/* The function that has just been entered has no room on the stack. The machine may now use the
 * part of the stack that is reserved for this error. */
static wn_value overflow(struct vm *vm) {
  vm->stack_limit = vm->stack_end;
  return vm_fail(vm, "recursion is too deep");
}

/* ---- what instructions do in their rarer cases ---- */

static wn_value fail_unassigned(struct vm *vm, wn_value name) {
  return vm_fail(vm, "%s has no value yet: it is used before its definition",
                 string_bytes(field(name, SYMBOL_NAME)));
}

static wn_value fail_unbound(struct vm *vm, wn_value cell) {
  return vm_fail(vm, "%s is not defined", string_bytes(field(field(cell, CELL_NAME), SYMBOL_NAME)));
}

static wn_value fail_vector(struct vm *vm, const char *procedure, wn_value vector, wn_value index) {
  if (!is_vector(vector)) return vm_fail_type(vm, procedure, "a vector", vector);
  if (!is_integer(index)) return vm_fail_type(vm, procedure, "an index", index);
  return vm_fail(vm, "%s: the index %ld is not in a vector of %zu elements", procedure,
                 (long)integer_of(index), wn_words(vector));
}

static bool has_element(wn_value vector, wn_value index) {
  return is_vector(vector) && is_integer(index) && (uintptr_t)integer_of(index) < wn_words(vector);
}

/* The closure and its captured values, which the next instructions name. */
static wn_value *make_closure(struct vm *vm, const struct instruction *ip, wn_value *fp, size_t constant,
                              size_t count) {
  wn_value *closure = wn_bump(vm->domain, count + 1, TAG_CLOSURE);
  if (!closure) return vm_fail_memory(vm), NULL;
  wn_value self = fp[-1];
  closure[0] = field(field(self, 0), constant);
  for (size_t i = 0; i < count; i++) closure[i + 1] = ip[i].a ? field(self, ip[i].b) : fp[ip[i].b];
  return closure;
}

/* ---- the machine ---- */

#define SAVE(end) (vm->ip = ip, vm->fp = fp, vm->frame = frame, vm->top = (end))
#define NEXT               \
  do {                     \
    now = ip++;            \
    goto *labels[now->op]; \
  } while (0)
#define A           fp[now->a]
#define B           fp[now->b]
#define C           fp[now->c]
#define K(i)        field(field(fp[-1], 0), (i))
#define JUMP(field) (ip += (int16_t)now->field)
#define UNLESS(condition, field)   \
  do {                             \
    if (!(condition)) JUMP(field); \
    NEXT;                          \
  } while (0)
#define FAIL(made) \
  do {             \
    SAVE(NULL);    \
    (void)(made);  \
    goto failed;   \
  } while (0)
#define BOTH_INTEGERS(x, y) ((((x) ^ 1) | ((y) ^ 1)) % 4 == 0)
#define SMALL(field)        make_integer((int16_t)now->field)

/* Two integers are compared as words; `order` is what numbers_compare gives. */
#define UNLESS_COMPARED(x, y, relation, field)                                                             \
  do {                                                                                                     \
    wn_value one = (x), two = (y);                                                                         \
    int order;                                                                                             \
    if (__builtin_expect(BOTH_INTEGERS(one, two), 1)) UNLESS((intptr_t)one relation(intptr_t) two, field); \
    SAVE(NULL);                                                                                            \
    if (!numbers_compare(vm, "a comparison", one, two, &order)) goto failed;                               \
    UNLESS(order != 2 && order relation 0, field);                                                         \
  } while (0)

#define ARITHMETIC(overflowing, procedure)                                \
  do {                                                                    \
    wn_value one = B, two = C, made;                                      \
    intptr_t result;                                                      \
    if (__builtin_expect(BOTH_INTEGERS(one, two), 1) && !(overflowing)) { \
      A = (wn_value)result;                                               \
      NEXT;                                                               \
    }                                                                     \
    SAVE(NULL);                                                           \
    made = numbers_calculate(vm, procedure, one, two);                    \
    if (!made) goto failed;                                               \
    A = made;                                                             \
    NEXT;                                                                 \
  } while (0)

static enum vm_outcome execute(struct vm *vm, wn_value *slot, size_t count) {
#define OP_LABEL(name, operands) &&do_##name,
  static const void *const labels[] = {INSTRUCTIONS(OP_LABEL)};
  const struct instruction *ip = vm->ip, *now;
  wn_value *fp = vm->fp;
  struct frame *frame = vm->frame, *const entry = frame;
  const struct wn_mutator_context *context = wn_context(vm->domain);
  wn_value value;
  /* The last byte of this function's frame: unlike a variable's address or the frame's, it takes no
   * register. */
  vm->runs[vm->nesting - 1] = (struct activation){entry, (const char *)__builtin_dwarf_cfa() - 1};

/* Calls what is in *slot, with `count` arguments behind it. */
call:
  if (__builtin_expect(has_tag(*slot, TAG_CLOSURE), 1)) {
    frame->ip = ip;
    frame->fp = fp;
    frame++;
    fp = slot + 1;
    ip = body_of_closure(*slot)->instructions;
    NEXT;
  }
  SAVE(slot + 1 + count);
  value = has_tag(*slot, TAG_BUILTIN) ? call_builtin(vm, *slot, slot + 1, count)
                                      : vm_fail_type(vm, "call", "a procedure", *slot);
  if (__builtin_expect(value > VM_UNCAUGHT || (value & 1), 1)) {
    *slot = value;
    if (__builtin_expect(frame == entry, 0)) goto done; /* vm_run was given a builtin */
    NEXT;
  }
  if (value == VM_CALL) {
    count = vm->arguments;
    if (frame > entry && ip->op == OP_RETURN && fp + ip->a == slot) goto tail_call;
    goto call;
  }
  if (value == VM_ESCAPE) goto escape;
  if (value == VM_UNCAUGHT) goto uncaught;
  goto failed;

do_ENTER:
  if (__builtin_expect(count != now->a, 0) && !(now->c && count > now->a)) {
    wn_value name = field(field(fp[-1], 0), CODE_NAME);
    unsigned least = now->a;
    bool more = now->c;
    SAVE(fp + count);
    if (frame - 1 > entry) { /* the error is the caller's */
      frame--;
      ip = frame->ip;
      fp = frame->fp;
      SAVE(vm->top);
    }
    fail_arity(vm, name, least, more, count);
    goto failed;
  }
  if (__builtin_expect(fp + now->b + count >= vm->stack_limit, 0)) {
    SAVE(fp + count);
    if (vm->stack_limit == vm->stack_end) vm->roots[ROOT_HANDLERS] = NIL; /* the handlers overflowed, too */
    overflow(vm);
    goto failed;
  }
  if (__builtin_expect(poll_is_due(context), 0)) {
    SAVE(fp + count);
    wn_poll(vm->domain);
  }
  if (now->c) {
    SAVE(NULL);
    if (!collect_rest(vm, fp, now->a, count)) goto failed;
  }
  NEXT;

do_MOVE:
  A = B;
  NEXT;
do_SMALL:
  A = (wn_value)(intptr_t)(int16_t)now->b;
  NEXT;
do_CONSTANT:
  A = K(now->b);
  NEXT;
do_GLOBAL:
  value = field(K(now->b), CELL_VALUE);
  if (__builtin_expect(value == UNASSIGNED, 0)) FAIL(fail_unbound(vm, K(now->b)));
  A = value;
  NEXT;
do_SET_GLOBAL:
  if (field(K(now->b), CELL_VALUE) == UNASSIGNED) FAIL(fail_unbound(vm, K(now->b)));
do_DEFINE:
  wn_store(vm->domain, K(now->b), CELL_VALUE, A);
  NEXT;
do_CAPTURED:
  A = field(fp[-1], now->b);
  NEXT;
do_BOX : {
  SAVE(NULL);
  wn_value *box = wn_bump(vm->domain, 1, TAG_BOX);
  if (!box) FAIL(vm_fail_memory(vm));
  box[0] = A;
  A = (wn_value)box;
  NEXT;
}
do_UNBOX:
  value = field(B, 0);
  if (__builtin_expect(value == UNASSIGNED, 0)) FAIL(fail_unassigned(vm, K(now->c)));
  A = value;
  NEXT;
do_SET_BOX:
  wn_store(vm->domain, A, 0, B);
  NEXT;
do_CHECK:
  if (A == UNASSIGNED) FAIL(fail_unassigned(vm, K(now->b)));
  NEXT;
do_CLOSURE : {
  SAVE(NULL);
  wn_value *closure = make_closure(vm, ip, fp, now->b, now->c);
  if (!closure) goto failed;
  A = (wn_value)closure;
  ip += now->c;
  NEXT;
}
do_PATCH:
  wn_store(vm->domain, A, now->b, C);
  NEXT;
do_CAPTURE:
  __builtin_unreachable(); /* CLOSURE skips it */

do_CALL:
  slot = fp + now->a;
  count = now->b;
  goto call;
do_TAIL_CALL:
  slot = fp + now->a;
  count = now->b;
/* A RETURN follows, for builtins: those need this function's frame where they fail. */
tail_call:
  if (__builtin_expect(!has_tag(*slot, TAG_CLOSURE), 0)) goto call;
  for (size_t i = 0; i <= count; i++) fp[(ptrdiff_t)i - 1] = slot[i];
  ip = body_of_closure(fp[-1])->instructions;
  NEXT;
do_RETURN:
  value = A;
return_value:
  fp[-1] = value;
  frame--;
  if (__builtin_expect(frame == entry, 0)) {
    slot = fp - 1;
    goto done;
  }
  ip = frame->ip;
  fp = frame->fp;
  NEXT;

do_JUMP:
  JUMP(a);
  NEXT;
do_LOOP:
  if (__builtin_expect(poll_is_due(context), 0)) {
    SAVE(NULL);
    wn_poll(vm->domain);
  }
  JUMP(a);
  NEXT;
do_UNLESS:
  UNLESS(A != FALSE, b);
do_UNLESS_NOT:
  UNLESS(A == FALSE, b);
do_UNLESS_LESS:
  UNLESS_COMPARED(A, B, <, c);
do_UNLESS_LESS_EQUAL:
  UNLESS_COMPARED(A, B, <=, c);
do_UNLESS_EQUAL:
  UNLESS_COMPARED(A, B, ==, c);
do_UNLESS_LESS_SMALL:
  UNLESS_COMPARED(A, SMALL(b), <, c);
do_UNLESS_LESS_EQUAL_SMALL:
  UNLESS_COMPARED(A, SMALL(b), <=, c);
do_UNLESS_GREATER_SMALL:
  UNLESS_COMPARED(A, SMALL(b), >, c);
do_UNLESS_GREATER_EQUAL_SMALL:
  UNLESS_COMPARED(A, SMALL(b), >=, c);
do_UNLESS_EQUAL_SMALL:
  UNLESS_COMPARED(A, SMALL(b), ==, c);
do_UNLESS_SAME:
  UNLESS(A == B, c);
do_UNLESS_NULL:
  UNLESS(A == NIL, b);
do_UNLESS_PAIR:
  UNLESS(is_pair(A), b);

do_ADD:
  ARITHMETIC(__builtin_add_overflow((intptr_t)one, (intptr_t)two - 1, &result), '+');
do_SUBTRACT:
  ARITHMETIC(__builtin_sub_overflow((intptr_t)one, (intptr_t)two - 1, &result), '-');
do_MULTIPLY:
  ARITHMETIC(__builtin_mul_overflow((intptr_t)one - 1, integer_of(two), &result) || (result++, false), '*');
do_ADD_SMALL : {
  intptr_t result;
  value = B;
  if (__builtin_expect(is_integer(value), 1) &&
      !__builtin_add_overflow((intptr_t)value, (intptr_t)(int16_t)now->c * 4, &result)) {
    A = (wn_value)result;
    NEXT;
  }
  SAVE(NULL);
  value = (int16_t)now->c < 0 ? numbers_calculate(vm, '-', value, make_integer(-(int16_t)now->c))
                              : numbers_calculate(vm, '+', value, SMALL(c));
  if (!value) goto failed;
  A = value;
  NEXT;
}
do_CONS : {
  SAVE(NULL);
  wn_value *pair = wn_bump(vm->domain, 2, TAG_PAIR);
  if (!pair) FAIL(vm_fail_memory(vm));
  pair[0] = B;
  pair[1] = C;
  A = (wn_value)pair;
  NEXT;
}
do_CAR:
  value = B;
  if (__builtin_expect(!is_pair(value), 0)) FAIL(vm_fail_type(vm, "car", "a pair", value));
  A = car(value);
  NEXT;
do_CDR:
  value = B;
  if (__builtin_expect(!is_pair(value), 0)) FAIL(vm_fail_type(vm, "cdr", "a pair", value));
  A = cdr(value);
  NEXT;
do_VECTOR_REF:
  if (__builtin_expect(!has_element(B, C), 0)) FAIL(fail_vector(vm, "vector-ref", B, C));
  A = field(B, (size_t)integer_of(C));
  NEXT;
do_VECTOR_SET:
  if (__builtin_expect(!has_element(A, B), 0)) FAIL(fail_vector(vm, "vector-set!", A, B));
  wn_store(vm->domain, A, (size_t)integer_of(B), C);
  NEXT;

/* The state is saved. `raise` is called with the condition, above what is live. */
failed:
  ip = vm->ip;
  fp = vm->fp;
  frame = vm->frame;
  slot = vm_live_end(vm);
  if (vm->roots[ROOT_RAISE] == NOTHING || vm->roots[ROOT_HANDLERS] == NIL) goto uncaught;
  slot[0] = vm->roots[ROOT_RAISE];
  slot[1] = vm->roots[ROOT_CONDITION];
  count = 1;
  goto call;

escape:
  if (vm->frames + vm->escape_depth <= entry) return VM_LEFT;
  vm->stack_limit = vm->soft_limit;
  frame = vm->frames + vm->escape_depth;
  fp = frame->fp;
  value = vm->roots[ROOT_RESULT];
  vm_end_escapes(vm, vm->escape_depth - 1);
  goto return_value;

uncaught:
  vm_report(vm);
  vm->roots[ROOT_RESULT] = vm->roots[ROOT_CONDITION];
  return VM_DIED;

done:
  vm->roots[ROOT_RESULT] = *slot;
  return VM_DONE;
}

/* ---- shared ---- */

enum vm_outcome vm_run(struct vm *vm, wn_ref procedure, size_t count, const wn_ref *arguments) {
  const struct instruction *ip = vm->ip;
  wn_value *fp = vm->fp, *top = vm->top;
  struct frame *frame = vm->frame;
  wn_value *slot = vm_live_end(vm);
  enum vm_outcome outcome = VM_DIED;
  if (vm->nesting == VM_NESTING_MOST) {
    vm_fail(vm, "macros are nested too deeply");
    vm_report(vm);
    return outcome;
  }
  slot[0] = wn_value_of(procedure);
  for (size_t i = 0; i < count; i++) slot[i + 1] = wn_value_of(arguments[i]);
  if (!vm->nesting++) {
    vm->stack_limit = vm->soft_limit;
    vm->reported = false;
  }
  vm->top = slot + count + 1;
  outcome = execute(vm, slot, count);
  vm->nesting--;
  vm->ip = ip;
  vm->fp = fp;
  vm->top = top;
  vm->frame = frame;
  if (outcome == VM_DIED) vm_end_escapes(vm, (size_t)(vm->frame - vm->frames));
  return outcome;
}
/* SPDX-License-Identifier: MIT */
