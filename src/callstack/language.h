/* How a language's frames come among the native ones, while a walk goes outwards.
 *
 * A native frame ends at the stack pointer of its caller, which is known when the frame is
 * unwound. So before the walk writes down a native frame, it writes down the language's next
 * frames, as long as their addresses lie below the stack pointer of the native frame's caller.
 * Functions that were inlined there are no frames here: reports find them by the return address, so
 * they are all further out than the language's frames.
 * Calls of an interpreter (struct callstack_interpreter) are written down before the native
 * frames of its loop. What is left of them where the walk ends is put behind the last of these, or
 * outermost if there was none: the compiler may have split the loop's code, and a walk may not get
 * through code made at run time.
 *
 * A frame of code that a runtime made is a place itself, if a name is known (struct
 * callstack_code). */
#ifndef CALLSTACK_LANGUAGE_H
#define CALLSTACK_LANGUAGE_H

#include "callstack/capture.h"
#include "callstack/memo.h"
#include "callstack/places.h"
#include "callstack/unwind.h"
#include <string.h>

/* Frames written down so far. `count` is SIZE_MAX if there was no room. */
struct frames {
  uint32_t *frame;
  size_t count;
  bool native; /* a native frame was written down */
  /* Used as in memo.h, for stacks without a language's frames. */
  struct memo *memo; /* of the thread; NULL: none */
  /* `left`: how many of the memo's steps the walk has not passed. `kept`: how many of them are the
   * outer part of this stack, and so are not in `frame`. */
  uint32_t left, kept;
  struct trail *trail;
};

/* The language's frames that are still to be written down, and the address in the stack of the last
 * one. */
struct language {
  const wn_language_frame *frame, *end;
  uintptr_t stands;
  /* Or the calls of an interpreter, from `call` on; 0: there are none left. */
  const struct callstack_interpreter *interpreter;
  uintptr_t call;
  const struct callstack_code *code; /* names code in no module; NULL: nothing does */
  bool begun, interrupted;           /* asked for the innermost call; a signal's frame was passed before */
  size_t last;                       /* where calls were written down last, as a number of frames */
};

/* Calls that are passed over at most: those without a place. */
enum { CALLS_MOST = 1 << 16 };

/* Writes down the language's next frames whose addresses are below `end`. */
static inline void put_language(const struct places *places, struct language *language, struct frames *frames,
                                size_t depth, uintptr_t end) {
  for (; language->frame < language->end && frames->count < depth; language->frame++) {
    if (language->frame->native) language->stands = (uintptr_t)language->frame->native;
    if (language->stands >= end) return;
    wn_place place = language->frame->place;
    if (places_get(places, place)) frames->frame[frames->count++] = FRAME_PLACE | place;
  }
}

/* Writes down the calls of one activation of the interpreter's loop; of all that are left if
 * `all`. */
static inline void put_calls(struct language *language, struct frames *frames, size_t depth, bool all) {
  const struct callstack_interpreter *interpreter = language->interpreter;
  struct callstack_call call = {.place = 0};
  if (!language->begun && !language->interrupted) language->call = interpreter->innermost(interpreter);
  language->begun = true;
  for (unsigned i = 0; language->call && frames->count < depth && i < CALLS_MOST; i++) {
    language->call = interpreter->describe(interpreter, language->call, &call);
    if (call.place) frames->frame[frames->count++] = FRAME_PLACE | call.place;
    if (call.is_first && !all) break;
  }
  language->last = frames->count;
}

/* Puts frames from `first` on where the calls were put last. */
static inline void put_behind_calls(const struct language *language, struct frames *frames, size_t first) {
  for (size_t to = language->last; first < frames->count; first++, to++) {
    uint32_t frame = frames->frame[first];
    memmove(&frames->frame[to + 1], &frames->frame[to], (first - to) * sizeof frame);
    frames->frame[to] = frame;
  }
}

/* The frame of a return address: its place, if it is in no module and has a name. */
static inline uint32_t named_frame(const struct language *language, uintptr_t pc, uint64_t rule,
                                   uint32_t frame) {
  wn_place place = language->code && !rule_module(rule) ? language->code->place(language->code, pc) : 0;
  return place ? FRAME_PLACE | place : frame;
}

/* The walk has stepped from the native frame at `pc`. */
static inline void put_calls_at(struct language *language, struct frames *frames, size_t depth, uintptr_t pc,
                                const struct walk *walk) {
  const struct callstack_interpreter *interpreter = language->interpreter;
  if (pc - 1 - interpreter->loop_begin < interpreter->loop_end - interpreter->loop_begin ||
      pc - 1 - interpreter->other_begin < interpreter->other_end - interpreter->other_begin)
    put_calls(language, frames, depth, false);
  else if (walk->interrupted)
    language->interrupted = true;
}

/* Puts what is left of the language's frames outermost. True if some did not find room. */
static inline bool put_rest(const struct places *places, struct language *language, struct frames *frames,
                            size_t depth, enum step_result step) {
  if (!language->interpreter) {
    put_language(places, language, frames, depth, UINTPTR_MAX);
    return language->frame < language->end;
  }
  bool may_begin = step == STEP_END && !language->interpreter->is_whole; /* LOST: before a signal's frame */
  if (!language->begun && !may_begin) return false;
  struct language rest = *language;
  size_t first = frames->count;
  if (step == STEP_END || step == STEP_LOST) put_calls(&rest, frames, depth, true);
  if (language->begun) put_behind_calls(language, frames, first);
  return rest.call;
}

#endif
/* SPDX-License-Identifier: MIT */
