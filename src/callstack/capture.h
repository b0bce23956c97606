/* Capturing call stacks inside malloc: quickly, without allocation, in signal handlers too.
 *
 * `struct callstacks` holds all that captures have found out: the modules, the code addresses met
 * with the rules to get from each to its caller (pcs.h), and the stacks that are kept (stack.h).
 * Its tables grow with the program's code, up to the limits given; beyond them a capture returns
 * the empty stack and is counted. Several may exist. Any thread may call all functions. Signal
 * handlers may call them too, except create, destroy and those whose comments say so. Nothing here
 * calls malloc, takes a lock that the program can hold, or changes errno. */
#ifndef CALLSTACK_CAPTURE_H
#define CALLSTACK_CAPTURE_H

#include "callstack/object.h"
#include "callstack/stack.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <winnow/callstack.h>

struct callstacks;

struct callstacks_options {
  /* How many stacks of each size, and code addresses, to keep at most; 0 means 2^28, and 2^22. */
  uint32_t kept_most, frames_most;
  /* Innermost frames in this range of addresses are left out: Winnow's own code. */
  uintptr_t skip_begin, skip_end;
  /* The name of the language that callstacks_place is for, as for callstacks_set_language. */
  const char *language;
  /* Find modules through /proc/self/maps even if the loader can find them. */
  bool without_loader;
};

/* NULL if memory is exhausted. */
struct callstacks *callstacks_create(const struct callstacks_options *options);
void callstacks_destroy(struct callstacks *callstacks);

/* Names the language that callstacks_place is for, in up to 60 bytes; NULL is "language". Before
 * the first place; later, nothing. */
void callstacks_set_language(struct callstacks *callstacks, const char *name);

/* The lock of callstacks_place (rank PLACES), for a host that takes it around a fork. */
struct lock *callstacks_places_lock(struct callstacks *callstacks);

/* Called in the child of a fork: resets the locks that other threads of the parent held. */
void callstacks_fork_child(struct callstacks *callstacks);

/* All functions that capture return a stack that the calling thread must keep or release (LIVES of
 * stack.h); until then its captures cost more. Never NULL: the empty stack if the depth is 0, the
 * tables are full, or there is no memory.
 *
 * callstack_keep: the same stack, for as long as the caller needs it; it may be the empty one, if
 * there is no memory. callstack_share: a kept stack must be released once more. All three may be
 * called in signal handlers; a kept stack may be released by any thread. */
const wn_callstack *callstack_keep(const wn_callstack *callstack);
void callstack_share(const wn_callstack *callstack);
void callstack_release(const wn_callstack *callstack);

/* The stack of the caller of this function, its innermost `depth` frames. */
const wn_callstack *callstack_capture(struct callstacks *callstacks, size_t depth);

/* The same, but the stack begins with the caller of the function whose __builtin_frame_address(0)
 * is `from`; that function must not have returned. `*memo` remembers the last stack that was
 * captured with it. The first call makes the memo, if there is memory; the owner of `*memo`
 * destroys it by memo_destroy. Two threads must not use one memo at the same time, and its last
 * stack is released before the next capture. Not for signal handlers. */
struct memo;
const wn_callstack *callstack_capture_own(struct callstacks *callstacks, struct memo **memo, const void *from,
                                          size_t depth);
void memo_destroy(struct memo *memo);

/* A place in programs of the language. */
struct callstack_place {
  const char *function, *file; /* NULL is the empty text */
  uint32_t line;
  uint32_t first_column, last_column; /* from 1 on; 0: unknown */
  /* Of code in no module: the return address that the frame has, and since when the function is
   * there, by the monotonic clock; 0: not known. */
  uint64_t address, since_ns;
};

/* The number of a place. 0 if there is no room for it; wn_last_error then says so. Takes a lock:
 * not for signal handlers. */
wn_place callstacks_place(struct callstacks *callstacks, const struct callstack_place *place);

/* A place's number may be noted under a key, a hash of all from which the place follows (KEYS of
 * places.h). callstacks_known: 0 if none is noted. Neither takes a lock. */
wn_place callstacks_known(const struct callstacks *callstacks, uint64_t key);
void callstacks_note(struct callstacks *callstacks, uint64_t key, wn_place place);

/* A call of a language's function, which an interpreter runs. */
struct callstack_call {
  wn_place place; /* 0: unknown, or no call that a reader knows of; it is left out */
  bool is_first;  /* the outermost one that this activation of the interpreter's loop runs */
};

/* An interpreter that keeps its calls in a chain of its own, from which no call leads to a
 * native frame. A native frame in the code of its loop runs the chain's next calls, up to the
 * one that is the first of its activation. */
struct callstack_interpreter {
  /* Code addresses: of the loop, and of other code that runs calls, or 0: the part of the loop that
   * the compiler has put elsewhere, or a function outside it. */
  uintptr_t loop_begin, loop_end, other_begin, other_end;
  bool is_whole; /* no compiler has split the loop, so a stack without either has no calls */
  /* The innermost call of the calling thread; 0: there is none. Called when the walk comes to the
   * first native frame of the loop, or unless that `is_whole` to its end; but not if it passed a
   * frame that a signal interrupted: then the chain may be half written. */
  uintptr_t (*innermost)(const struct callstack_interpreter *interpreter);
  /* Describes a call and returns the one that is further out; 0: there is none. May take the
   * lock of callstacks_place. */
  uintptr_t (*describe)(const struct callstack_interpreter *interpreter, uintptr_t call,
                        struct callstack_call *out);
};

/* The part of a function that the compiler has put elsewhere. False if none was found; then nothing is
 * written. Reads the function's code. */
bool callstack_split_part(uintptr_t begin, uintptr_t end, uintptr_t *part_begin, uintptr_t *part_end);

/* Names code that is in no module: that which a runtime made. */
struct callstack_code {
  /* The place of the function that a return address is in; 0: none is known. May take the lock of
   * callstacks_place. */
  wn_place (*place)(const struct callstack_code *code, uintptr_t address);
};

/* Whether a frame of code in no module was ever captured. */
bool callstacks_have_unowned(const struct callstacks *callstacks);

/* Which stack callstack_capture_with is to return. */
struct callstack_wish {
  size_t depth; /* frames at most, the innermost ones */
  /* The stack begins with the caller of the function whose __builtin_frame_address(0) this is; that
   * function must not have returned. NULL: with the caller of callstack_capture_with. */
  const void *from;
  /* The language's frames of this thread, innermost first. Each is put on the inner side of the
   * native frame that contains its address `native`. A frame without such an address follows the
   * frame before it; the first one is then innermost of all. Frames whose native frame is not found
   * are put outermost. A frame without a place is left out. */
  const wn_language_frame *language;
  size_t language_count;
  bool language_only;                              /* no native frames: nothing is walked */
  const struct callstack_interpreter *interpreter; /* NULL: none; else there is no `language` */
  const struct callstack_code *code;               /* NULL: such code has no names */
};

/* The caller's stack with a language's frames in it. Stacks of more than 64 frames need some 5
 * KiB of stack, others 1 KiB. */
const wn_callstack *callstack_capture_with(struct callstacks *callstacks, const struct callstack_wish *wish);

/* The stack of these places of the language, innermost first, and no others; of the first `depth`.
 * Numbers that are no place's are left out. Needs some 4 KiB of stack. */
const wn_callstack *callstack_of_places(struct callstacks *callstacks, const wn_place *places, size_t count,
                                        size_t depth);

/* What a frame of a stack stands for. `offset` is an address in the module's file (a return
 * address: subtract 1 to get into the call), or in memory if module is 0. */
void callstack_frame(struct callstacks *callstacks, uint32_t frame, uint32_t *module, uint64_t *offset);

/* The place that such an offset stands for, if the module is the language's. Its texts are valid
 * until callstacks_destroy. False for code, and for offsets that are no place's. */
bool callstack_place(struct callstacks *callstacks, uint32_t module, uint64_t offset,
                     struct callstack_place *out);

struct callstack_module {
  uint32_t id;
  uint32_t
      generation; /* 1 when first loaded; one more each time the same file comes back to the same place */
  bool gone;
  uintptr_t base, bias, size;
  const char *path; /* valid until callstacks_destroy */
  size_t build_id_bytes;
  unsigned char build_id[OBJECT_BUILD_ID_MOST];
};

/* False if there is no module of that number (they count from 1). */
bool callstack_module(struct callstacks *callstacks, uint32_t module, struct callstack_module *out);

/* To be called after dlclose: calls `gone` for each module that is no longer mapped. */
void callstacks_modules_refresh(struct callstacks *callstacks, void (*gone)(void *context, uint32_t module),
                                void *context);

struct callstack_counts {
  size_t kept; /* stacks in the store; only while no thread keeps or releases one */
  uint32_t frames, modules;
  uint64_t truncated; /* stacks whose outer frames could not be found */
  uint64_t full;      /* stacks that found no room */
};
struct callstack_counts callstacks_counts(struct callstacks *callstacks);

#endif
/* SPDX-License-Identifier: MIT */
