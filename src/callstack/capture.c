/* The context that owns the tables, and captures: walk outwards, then write the stack inwards.
 *
 * Nearly all frames are of the usual kind: met before, unwound by a quick rule, and within the
 * known part of the stack. `collect_usual` walks through them with all that it needs in registers.
 * It stops at a frame that must be looked up or unwound slowly, at the end, and at a step of the
 * thread's last walk that has the same caller (memo.h).
 *
 * A language's frames are merged in while walking (language.h). */
#include "callstack/capture.h"

#include "base/check.h"
#include "base/metadata.h"
#include "callstack/language.h"
#include "callstack/memo.h"
#include "callstack/places.h"
#include "callstack/unwind.h"
#include <stdio.h>
#include <string.h>

enum { FIRST_BITS = TINY ? 6 : 12, SHALLOW = 64, LANGUAGE_MOST = 64 };

struct callstacks {
  /* Set by callstacks_create; constant afterwards. */
  struct callstacks_options options;
  struct wn_callstack empty;
  char language[LANGUAGE_MOST]; /* "[lisp]" */
  /* Growing; lock-free. */
  struct levels pcs;
  struct stack_store kept;
  struct modules modules;
  struct memo memos[MEMOS];
  struct places places;
  /* Statistics, counted by any thread. */
  _Atomic(uint64_t) truncated, full;
};

static void capture_count_one(_Atomic(uint64_t) *counter) {
  atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static const wn_callstack *capture_give_up(struct callstacks *callstacks) {
  capture_count_one(&callstacks->full);
  return &callstacks->empty;
}

/* Each thread gets a memo at its first capture; the memos are given out in turn. */
static struct memo *memo_of_thread(struct callstacks *callstacks) {
  static _Atomic(unsigned) threads;
  static _Thread_local uint32_t given; /* the memo's offset in `memos`, in bytes, plus 1; 0: none yet */
  if (__builtin_expect(!given, 0))
    given = 1 + atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) % MEMOS *
                    (uint32_t)sizeof(struct memo);
  return (struct memo *)(void *)((char *)callstacks->memos + (given - 1));
}

/* Empties the memo if code addresses have become dead since it was made. */
static inline void memo_renew(struct memo *memo, const struct callstacks *callstacks) {
  uint32_t changes = atomic_load_explicit(&callstacks->modules.changes, memory_order_acquire);
  if (memo->changes != changes) memo->count = memo->ends = 0;
  memo->changes = changes;
}

/* Makes the memo ready for a capture, which has it to itself. */
static inline struct memo *memo_use(struct memo *memo, struct callstacks *callstacks) {
  if (__builtin_expect(!memo->stack.owner, 0))
    memo->stack = (struct wn_callstack){.owner = callstacks, .frame = memo->frame, .where = STACK_IN_MEMO};
  memo_renew(memo, callstacks);
  return memo;
}

/* Takes the thread's memo; NULL if it is in use. */
static inline struct memo *memo_begin(struct callstacks *callstacks) {
  struct memo *memo = memo_of_thread(callstacks);
  if (atomic_exchange_explicit(&memo->busy, true, memory_order_acquire)) return NULL;
  return memo_use(memo, callstacks);
}

static void memo_end(struct memo *memo) {
  if (memo) atomic_store_explicit(&memo->busy, false, memory_order_release);
}

/* The stack of the memo's outermost frames. */
static const wn_callstack *memo_stack(struct memo *memo, size_t frames) {
  memo->stack.count = (uint32_t)frames;
  return &memo->stack;
}

/* The frame id of a code address, and the rule to unwind it. 0 if there is no room. */
static inline uint32_t capture_look_up(struct callstacks *callstacks, uintptr_t pc, uint64_t *rule) {
  uint32_t id = 0;
  const struct slot *slot = levels_find(&callstacks->pcs, pc, &id);
  *rule = slot ? atomic_load_explicit(&((struct slot *)slot)->value, memory_order_acquire) : 0;
  if (__builtin_expect(*rule != 0, 1)) return id;
  return walk_lookup(&callstacks->modules, pc, &id, rule) ? id : 0;
}

/* The walk is at the memo's step `from`. STEP_END: all callers are the same as before, and `depth`
 * has room for the frames; they are not written down but kept in the memo. STEP_CALLER: wrote down
 * the frames whose callers are the same, as far as `depth` has room, and moved the walk to the next
 * frame. */
static __attribute__((noinline)) enum step_result go_like_the_last(struct frames *frames, struct walk *walk,
                                                                   size_t depth, uint32_t from) {
  const struct memo *memo = frames->memo;
  uint32_t to = memo_follow(memo, walk->high, from);
  if (!to && frames->count + from + 1 - memo->ends <= depth) {
    frames->kept = from + 1;
    return STEP_END;
  }
  for (; from > to && frames->count < depth; from--) {
    const struct memo_step *step = &memo->at[from];
    struct memo_step *noted = trail_at(frames->trail, frames->trail->count++);
    frames->frame[frames->count++] = step->frame;
    *noted = *step;
    noted->bp = walk->bp;
    walk->bp = memo_bp(step, step - 1, walk->bp);
  }
  frames->left = from; /* this frame has another caller, or there is no room for more */
  walk->pc = memo->at[from].pc;
  walk->sp = memo->at[from].sp;
  return STEP_CALLER;
}

/* Walks on through usual frames. True if it stops at a step of the memo that has the same caller as
 * before: the step `left` - 1. */
static inline __attribute__((always_inline)) bool
collect_usual(struct callstacks *callstacks, struct walk *walk, struct frames *frames, size_t depth) {
  const struct memo *memo = frames->memo;
  const struct memo_step *end = memo ? memo->at + memo->ends : NULL,
                         *last = memo ? memo->at + frames->left : NULL;
  const uintptr_t high = walk->high;
  uintptr_t pc = walk->pc, sp = walk->sp, bp = walk->bp;
  uint32_t noted = frames->trail->count;
  size_t count = frames->count;
  bool likewise = false;
  while (count < depth && (intptr_t)pc > 0) {
    while (last > end && last[-1].sp < sp) last--; /* stack pointers only grow */
    likewise = last > end && memo_stands(last - 1, pc, sp, bp) &&
               (last - 1 == memo->at || memo_goes_on(last - 1, high));
    if (likewise) break;
    uint32_t frame;
    struct slot *slot = levels_find(&callstacks->pcs, pc, &frame);
    uint64_t rule = slot ? atomic_load_explicit(&slot->value, memory_order_acquire) : 0;
    if (!rule_is_quick(rule)) break;
    uintptr_t cfa = rule_cfa(rule, sp, bp), saved = cfa - rule_frame_bytes(rule);
    if (cfa <= sp || cfa > high || saved < sp || cfa & 7) break;
    frames->frame[count++] = frame;
    *trail_at(frames->trail, noted++) =
        (struct memo_step){.pc = pc, .sp = sp, .bp = bp, .frame = frame, .restore = rule_restore(rule)};
    pc = stack_word(cfa - 8);
    if (saved != cfa) bp = stack_word(saved);
    sp = cfa;
  }
  walk->pc = pc;
  walk->sp = sp;
  walk->bp = bp;
  frames->trail->count = noted;
  frames->count = count;
  frames->left = memo ? (uint32_t)(last - memo->at) : 0;
  return likewise;
}

/* Walks on to a frame that is not usual. STEP_END: the walk came to its end. */
static inline __attribute__((always_inline)) enum step_result
collect_quickly(struct callstacks *callstacks, struct walk *walk, struct frames *frames, size_t depth) {
  while (collect_usual(callstacks, walk, frames, depth))
    if (go_like_the_last(frames, walk, depth, frames->left - 1) == STEP_END) return STEP_END;
  return walk->pc ? STEP_CALLER : STEP_END;
}

/* Walks outwards and writes frames down until there are `depth`. STEP_CALLER: there may be more. If
 * there are no language's frames, the caller passes a constant NULL for `language`, so that the
 * compiler leaves the code for them out. */
static inline __attribute__((always_inline)) enum step_result
capture_collect(struct callstacks *callstacks, struct walk *walk, struct frames *frames, size_t depth,
                struct language *language) {
  const struct callstacks_options *options = &callstacks->options;
  enum step_result step = STEP_CALLER;
  while (step == STEP_CALLER && frames->count < depth) {
    if (!language && frames->native && (step = collect_quickly(callstacks, walk, frames, depth)) == STEP_END)
      break;
    if (frames->count == depth) break;
    if (walk->pc >> 63) {
      step = STEP_LOST;
      break;
    }
    uint64_t rule;
    uint32_t frame = capture_look_up(callstacks, walk->pc, &rule);
    if (!frame) {
      frames->count = SIZE_MAX;
      return STEP_LOST;
    }
    if (!rule) step = STEP_LOST; /* the frame's rule cannot be found now, so the frame is not written down */
    if (!rule) break;
    bool own = walk->pc - options->skip_begin < options->skip_end - options->skip_begin;
    if (!own) frames->native = true;
    if (!language && frames->native) trail_note(frames->trail, walk, frame, rule);
    uintptr_t pc = walk->pc;
    step = walk_step(walk, &callstacks->modules, rule);
    if (language && language->interpreter)
      put_calls_at(language, frames, depth, pc, walk);
    else if (language)
      put_language(&callstacks->places, language, frames, depth, walk->sp);
    if (own && language) continue; /* an interpreter's allocator may be further in */
    if (frames->native && frames->count < depth)
      frames->frame[frames->count++] = language ? named_frame(language, pc, rule, frame) : frame;
  }
  if (step == STEP_LOST) capture_count_one(&callstacks->truncated);
  return step;
}

/* Notes the steps of a walk that came to its end: its outermost frames, inwards from those that the
 * memo keeps. */
static void note_steps(struct memo *memo, const struct walk *walk, const struct frames *frames) {
  struct trail *trail = frames->trail;
  memo_cut(memo, walk, frames->kept);
  uint32_t noted = trail->count < TRAIL ? trail->count : TRAIL, room = MEMO - memo->count;
  for (uint32_t i = noted < room ? noted : room; i; i--) memo_add(memo, trail_at(trail, --trail->count));
}

/* Writes frames, innermost first in the array, behind `*to`. */
static void write_inwards(uint32_t *to, const uint32_t *frames, size_t count) {
  while (count) *to++ = frames[--count];
}

/* Makes a stack of the frames that were written down, and of the `outer` ones that the memo keeps.
 * `memo` may be NULL. `is_cut`: there are more frames (CUT); then the memo keeps none. */
static const wn_callstack *make_stack(struct callstacks *callstacks, struct memo *memo, size_t outer,
                                      const uint32_t *frames, size_t count, bool is_cut) {
  struct wn_callstack *stack = NULL;
  uint32_t *to = memo ? memo->frame + outer : NULL;
  if (!memo && !(stack = stack_store_take(&callstacks->kept, count + is_cut, &to)))
    return capture_give_up(callstacks);
  if (is_cut) *to++ = FRAME_CUT;
  write_inwards(to, frames, count);
  if (memo) return memo_stack(memo, outer + count + is_cut);
  stack->owner = callstacks;
  return stack;
}

/* The memo's place, for a stack that no walk will compare with its own. */
static struct memo *memo_borrow(struct callstacks *callstacks) {
  struct memo *memo = memo_begin(callstacks);
  if (memo) memo->count = memo->ends = 0;
  return memo;
}

/* `step` is how the walk ended: only a walk that came to its end is remembered. */
static const wn_callstack *capture_finish(struct callstacks *callstacks, const struct walk *walk,
                                          struct frames *frames, enum step_result step) {
  struct memo *memo = frames->memo;
  walk_end(walk);
  if (frames->count == SIZE_MAX) {
    memo_end(memo);
    return capture_give_up(callstacks);
  }
  size_t outer = memo ? memo_frames(memo, frames->kept) : 0;
  if (memo && step != STEP_END) memo->count = memo->ends = 0;
  if (memo && step == STEP_END && frames->count) note_steps(memo, walk, frames);
  return make_stack(callstacks, memo, outer, frames->frame, frames->count, step == STEP_CALLER);
}

/* The usual case: the stack is the memo's, down to its innermost frame. Since stack pointers only
 * grow outwards, one call of walk_knows tells whether the whole stack can be read. */
static inline bool capture_is_remembered(const struct callstacks *callstacks, const struct memo *memo,
                                         uintptr_t pc, uintptr_t sp, uintptr_t bp, size_t depth) {
  uint32_t frames = memo_frames(memo, memo->count);
  return frames && frames <= depth && !callstacks->options.skip_end &&
         memo_stands(&memo->at[memo->count - 1], pc, sp, bp) && walk_knows(sp, memo->at[0].sp) &&
         memo_is_same(memo);
}

/* Goes on where the small array ended. This is a function of its own, so that only captures of deep
 * stacks take the memory for a large array: a signal handler may run on a stack of a few KiB,
 * whatever depth the caller asked for. */
static __attribute__((noinline)) const wn_callstack *
capture_deep(struct callstacks *callstacks, struct walk *walk, struct frames *frames, size_t depth) {
  uint32_t frame[CALLSTACK_DEPTH_MOST];
  __builtin_memcpy(frame, frames->frame, SHALLOW * sizeof *frame);
  frames->frame = frame;
  if (depth > CALLSTACK_DEPTH_MOST) depth = CALLSTACK_DEPTH_MOST;
  return capture_finish(callstacks, walk, frames, capture_collect(callstacks, walk, frames, depth, NULL));
}

static __attribute__((noinline)) const wn_callstack *capture_another(struct callstacks *callstacks,
                                                                     uintptr_t pc, uintptr_t sp, uintptr_t bp,
                                                                     size_t depth, struct memo *memo) {
  uint32_t frame[SHALLOW];
  struct trail trail;
  struct walk walk;
  struct frames frames = {.frame = frame,
                          .native = !callstacks->options.skip_end,
                          .memo = memo,
                          .left = memo ? memo->count : 0,
                          .trail = &trail};
  size_t shallow = depth < SHALLOW ? depth : SHALLOW;
  trail.count = 0;
  walk_begin(&walk, pc, sp, bp);
  enum step_result step = capture_collect(callstacks, &walk, &frames, shallow, NULL);
  if (step == STEP_CALLER && depth > SHALLOW) return capture_deep(callstacks, &walk, &frames, depth);
  return capture_finish(callstacks, &walk, &frames, step);
}

/* The stack of a function that is at `pc` with these registers. The caller has read the registers
 * from its own frame before the call: the call may be a tail call, which overwrites that frame. */
static inline const wn_callstack *capture_by(struct memo *memo, struct callstacks *callstacks, uintptr_t pc,
                                             uintptr_t sp, uintptr_t bp, size_t depth) {
  if (__builtin_expect(memo && capture_is_remembered(callstacks, memo, pc, sp, bp, depth), 1))
    return memo_stack(memo, memo_frames(memo, memo->count));
  return capture_another(callstacks, pc, sp, bp, depth, memo);
}

static inline const wn_callstack *capture_capture(struct callstacks *callstacks, uintptr_t pc, uintptr_t sp,
                                                  uintptr_t bp, size_t depth) {
  return capture_by(memo_begin(callstacks), callstacks, pc, sp, bp, depth);
}

/* Where the walk with a language's frames begins. */
struct beginning {
  uintptr_t pc, sp, bp;
};

/* Makes the stack of at most `depth` frames, for which there is room. If there are more, and it
 * must not be cut, NULL. */
static const wn_callstack *capture_up_to(struct callstacks *callstacks, const struct callstack_wish *wish,
                                         const struct beginning *from, uint32_t *room, size_t depth,
                                         bool may_cut) {
  struct language language = {.frame = wish->language,
                              .end = wish->language + wish->language_count,
                              .interpreter = wish->interpreter,
                              .code = wish->code};
  struct frames frames = {.frame = room};
  enum step_result step = STEP_END;
  struct walk walk;
  if (!wish->language_only) {
    walk_begin(&walk, from->pc, from->sp, from->bp);
    step = capture_collect(callstacks, &walk, &frames, depth, &language);
    walk_end(&walk);
  }
  if (frames.count == SIZE_MAX) return capture_give_up(callstacks);
  bool is_cut = put_rest(&callstacks->places, &language, &frames, depth, step) || step == STEP_CALLER;
  if (is_cut && !may_cut) return NULL;
  return make_stack(callstacks, memo_borrow(callstacks), 0, frames.frame, frames.count, is_cut);
}

/* A function of its own for the same reason as capture_deep. */
static __attribute__((noinline)) const wn_callstack *capture_deep_with(struct callstacks *callstacks,
                                                                       const struct callstack_wish *wish,
                                                                       const struct beginning *from) {
  uint32_t room[CALLSTACK_DEPTH_MOST];
  size_t depth = wish->depth < CALLSTACK_DEPTH_MOST ? wish->depth : CALLSTACK_DEPTH_MOST;
  return capture_up_to(callstacks, wish, from, room, depth, true);
}

static __attribute__((noinline)) const wn_callstack *
capture_with(struct callstacks *callstacks, const struct callstack_wish *wish, const struct beginning *from) {
  uint32_t room[SHALLOW];
  if (wish->depth <= SHALLOW) return capture_up_to(callstacks, wish, from, room, wish->depth, true);
  const wn_callstack *stack = capture_up_to(callstacks, wish, from, room, SHALLOW, false);
  return stack ? stack : capture_deep_with(callstacks, wish, from);
}

static bool create_tables(struct callstacks *callstacks) {
  uint32_t kept_most = callstacks->options.kept_most, frames_most = callstacks->options.frames_most;
  stack_store_open(&callstacks->kept, kept_most ? kept_most : 1u << 28);
  if (!levels_create(&callstacks->pcs, FIRST_BITS, frames_most ? frames_most : 1u << 22)) return false;
  enum object_source source = callstacks->options.without_loader ? OBJECT_FROM_MAPS : object_best_source();
  return modules_create(&callstacks->modules, &callstacks->pcs, source);
}

/* ---- shared ---- */

struct callstacks *callstacks_create(const struct callstacks_options *options) {
  struct callstacks *callstacks = metadata_map(sizeof *callstacks);
  if (!callstacks) return NULL;
  callstacks->options = *options;
  callstacks_set_language(callstacks, options->language);
  places_create(&callstacks->places, &callstacks->modules, callstacks->language);
  callstacks->empty = (struct wn_callstack){.owner = callstacks, .where = STACK_IS_EMPTY};
  if (create_tables(callstacks)) return callstacks;
  callstacks_destroy(callstacks);
  return NULL;
}

void callstacks_destroy(struct callstacks *callstacks) {
  if (!callstacks) return;
  places_destroy(&callstacks->places);
  modules_destroy(&callstacks->modules);
  levels_destroy(&callstacks->pcs);
  stack_store_close(&callstacks->kept);
  metadata_unmap(callstacks, sizeof *callstacks);
}

void callstacks_set_language(struct callstacks *callstacks, const char *name) {
  if (atomic_load_explicit(&callstacks->places.module, memory_order_acquire)) return;
  snprintf(callstacks->language, sizeof callstacks->language, "[%.60s]", name ? name : "language");
}

bool callstacks_have_unowned(const struct callstacks *callstacks) {
  return atomic_load_explicit(&callstacks->modules.has_unowned, memory_order_acquire);
}

struct lock *callstacks_places_lock(struct callstacks *callstacks) {
  return &callstacks->places.lock;
}

void callstacks_fork_child(struct callstacks *callstacks) {
  if (!lock_is_mine(&callstacks->modules.lock)) callstacks->modules.lock = (struct lock){0};
  if (!lock_is_mine(&callstacks->places.lock)) callstacks->places.lock = (struct lock){0};
}

wn_place callstacks_place(struct callstacks *callstacks, const struct callstack_place *place) {
  return places_enter(&callstacks->places, place);
}

wn_place callstacks_known(const struct callstacks *callstacks, uint64_t key) {
  return places_known(&callstacks->places, key);
}

void callstacks_note(struct callstacks *callstacks, uint64_t key, wn_place place) {
  places_note(&callstacks->places, key, place);
}

/* __builtin_frame_address gives this function a frame pointer, whatever the flags. So its caller's
 * registers can be read without unwinding. */
__attribute__((noinline)) const wn_callstack *callstack_capture(struct callstacks *callstacks, size_t depth) {
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  if (depth == 0) return &callstacks->empty;
  return capture_capture(callstacks, stack_word(frame + 8), frame + 16, stack_word(frame), depth);
}

const wn_callstack *callstack_capture_own(struct callstacks *callstacks, struct memo **own, const void *from,
                                          size_t depth) {
  uintptr_t frame = (uintptr_t)from;
  if (depth == 0) return &callstacks->empty;
  if (!*own) *own = metadata_map(sizeof **own);
  if (*own) {
    ASSERT(!atomic_load_explicit(&(*own)->busy, memory_order_relaxed));
    atomic_store_explicit(&(*own)->busy, true, memory_order_relaxed);
    memo_use(*own, callstacks);
  }
  return capture_by(*own, callstacks, stack_word(frame + 8), frame + 16, stack_word(frame), depth);
}

void memo_destroy(struct memo *memo) { metadata_unmap(memo, sizeof *memo); }

__attribute__((noinline)) const wn_callstack *callstack_capture_with(struct callstacks *callstacks,
                                                                     const struct callstack_wish *wish) {
  uintptr_t frame = (uintptr_t)(wish->from ? wish->from : __builtin_frame_address(0));
  if (!wish->depth) return &callstacks->empty;
  struct beginning from = {.pc = stack_word(frame + 8), .sp = frame + 16, .bp = stack_word(frame)};
  if (!wish->language_only && !wish->language_count && !wish->interpreter && !wish->code)
    return capture_capture(callstacks, from.pc, from.sp, from.bp, wish->depth);
  return capture_with(callstacks, wish, &from);
}

const wn_callstack *callstack_of_places(struct callstacks *callstacks, const wn_place *places, size_t count,
                                        size_t depth) {
  uint32_t frame[CALLSTACK_DEPTH_MOST];
  size_t most = depth < CALLSTACK_DEPTH_MOST ? depth : CALLSTACK_DEPTH_MOST, valid = 0, i = 0;
  uint32_t known = atomic_load_explicit(&callstacks->places.count, memory_order_acquire);
  for (; i < count && valid < most; i++)
    if (places[i] - 1 < known) frame[valid++] = FRAME_PLACE | places[i];
  return make_stack(callstacks, memo_borrow(callstacks), 0, frame, valid, i < count && depth);
}

const wn_callstack *callstack_keep(const wn_callstack *callstack) {
  uint32_t *frames;
  if (callstack->where != STACK_IN_MEMO) return callstack;
  struct wn_callstack *kept = stack_store_take(&callstack->owner->kept, callstack->count, &frames);
  if (kept) {
    kept->owner = callstack->owner;
    memcpy(frames, callstack->frame, callstack->count * sizeof *frames);
  } else {
    capture_count_one(&callstack->owner->full);
  }
  callstack_release(callstack);
  return kept ? kept : &callstack->owner->empty;
}

void callstack_share(const wn_callstack *callstack) {
  struct wn_callstack *stack = (struct wn_callstack *)callstack;
  ASSERT(stack->where != STACK_IN_MEMO);
  if (stack->where >= STACK_IN_STORE) atomic_fetch_add_explicit(&stack->references, 1, memory_order_relaxed);
}

void callstack_release(const wn_callstack *callstack) {
  struct wn_callstack *stack = (struct wn_callstack *)callstack;
  if (stack->where == STACK_IN_MEMO)
    memo_end((struct memo *)(void *)stack);
  else if (stack->where >= STACK_IN_STORE &&
           atomic_fetch_sub_explicit(&stack->references, 1, memory_order_acq_rel) == 1)
    stack_store_give(&stack->owner->kept, stack);
}

void callstack_frame(struct callstacks *callstacks, uint32_t frame, uint32_t *module, uint64_t *offset) {
  if (frame == FRAME_CUT) {
    *module = 0;
    *offset = CALLSTACK_CUT;
    return;
  }
  if (frame & FRAME_PLACE) {
    *module = atomic_load_explicit(&callstacks->places.module, memory_order_acquire);
    *offset = frame & ~FRAME_PLACE;
    return;
  }
  struct slot *slot = levels_at(&callstacks->pcs, frame);
  *module = rule_module(atomic_load_explicit(&slot->value, memory_order_acquire));
  uint64_t pc = atomic_load_explicit(&slot->key, memory_order_relaxed) & ~PC_DEAD;
  const struct module *record = modules_get(&callstacks->modules, *module);
  *offset = record ? pc - record->object.bias : pc;
}

bool callstack_place(struct callstacks *callstacks, uint32_t module, uint64_t offset,
                     struct callstack_place *out) {
  if (!module || module != atomic_load_explicit(&callstacks->places.module, memory_order_acquire))
    return false;
  const struct place *place = places_get(&callstacks->places, offset);
  if (!place) return false;
  *out = (struct callstack_place){.function = place->function,
                                  .file = place->file,
                                  .line = place->line,
                                  .first_column = place->first_column,
                                  .last_column = place->last_column,
                                  .address = place->address,
                                  .since_ns = place->since_ns};
  return true;
}

bool callstack_module(struct callstacks *callstacks, uint32_t id, struct callstack_module *out) {
  struct module *module = modules_get(&callstacks->modules, id);
  if (!module) return false;
  *out =
      (struct callstack_module){.id = id,
                                .generation = atomic_load_explicit(&module->generation, memory_order_acquire),
                                .gone = atomic_load_explicit(&module->gone, memory_order_acquire),
                                .base = module->object.base,
                                .bias = module->object.bias,
                                .size = module->object.size,
                                .path = module->path,
                                .build_id_bytes = module->build_id.bytes};
  for (size_t i = 0; i < module->build_id.bytes; i++) out->build_id[i] = module->build_id.byte[i];
  return true;
}

void callstacks_modules_refresh(struct callstacks *callstacks, void (*gone)(void *context, uint32_t module),
                                void *context) {
  modules_refresh(&callstacks->modules, gone, context);
}

struct callstack_counts callstacks_counts(struct callstacks *callstacks) {
  return (struct callstack_counts){.kept = stack_store_count(&callstacks->kept),
                                   .frames = atomic_load(&callstacks->pcs.used),
                                   .modules = atomic_load(&callstacks->modules.count),
                                   .truncated = atomic_load(&callstacks->truncated),
                                   .full = atomic_load(&callstacks->full)};
}
/* SPDX-License-Identifier: MIT */
