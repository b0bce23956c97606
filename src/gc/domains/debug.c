/* Checks of domains, handles, values and scopes. */
#include "gc/domains/debug.h"

#include "gc/domains/caller.h"
#include "gc/domains/roots.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The addresses of slots. Slots that do not fit in the table are not checked. */
enum { SLOTS_MOST = 512 };

static struct lock table; /* rank SLOTS; protects `slots` */
static struct {
  const wn_value *begin, *end;
  bool live; /* false: of a thread that ended */
} slots[SLOTS_MOST];

_Noreturn void debug_complain(const char *function, const char *what) {
  fprintf(stderr, "winnow: %s: %s\n", function, what);
  abort();
}

/* ---- slots ---- */

/* Uses the row of a thread that ended, preferably one of the same addresses. */
void debug_note_slots(const struct domain_thread *thread) {
  size_t place = SLOTS_MOST;
  lock_acquire(&table, LOCK_RANK_SLOTS);
  for (size_t i = 0; i < SLOTS_MOST; i++) {
    if (slots[i].live) continue;
    if (slots[i].begin < thread->slots_end && slots[i].end > thread->slots)
      slots[i].begin = slots[i].end = NULL;
    if (place == SLOTS_MOST || (!slots[i].begin && slots[place].begin)) place = i;
  }
  if (place < SLOTS_MOST) {
    slots[place].begin = thread->slots;
    slots[place].end = thread->slots_end;
    slots[place].live = true;
  }
  lock_release(&table, LOCK_RANK_SLOTS);
}

void debug_forget_slots(const struct domain_thread *thread) {
  lock_acquire(&table, LOCK_RANK_SLOTS);
  for (size_t i = 0; i < SLOTS_MOST; i++)
    if (slots[i].live && slots[i].begin == thread->slots) slots[i].live = false;
  lock_release(&table, LOCK_RANK_SLOTS);
}

void debug_before_fork(void) { lock_acquire(&table, LOCK_RANK_SLOTS); }
void debug_after_fork(void) { lock_release(&table, LOCK_RANK_SLOTS); }

/* ---- domains and handles ---- */

/* SCOPES. */
static _Atomic(bool) program_notes_scopes, told_of_scopes;

bool debug_may_have_scope(const struct domain_thread *thread) {
  return !atomic_load_explicit(&program_notes_scopes, memory_order_relaxed) || thread->outermost_scopes;
}

/* A callback gets its handles in a scope of ours, which nobody notes. */
static void check_scopes(const struct domain_thread *thread, const char *function) {
  if (thread->domain->context.top == thread->slots || thread->callbacks || debug_may_have_scope(thread) ||
      atomic_exchange(&told_of_scopes, true))
    return;
  fprintf(stderr,
          "winnow: %s: before this call a handle was made outside any scope: it lives until its thread ends "
          "(said once)\n",
          function);
}

void debug_check_domain(const wn_domain *domain, const char *function) {
  const struct domain_thread *thread = thread_in(domain);
  if (!thread)
    debug_complain(function, "the calling thread is none of the domain's, or the domain has ended");
  if (domain->running != thread)
    debug_complain(function, "called in a blocking section, or by a thread whose turn it is not");
  if (CHECKS) check_scopes(thread, function);
}

/* Called by inlined functions of the header alone: the program is compiled with WN_DEBUG. */
static void check_by_program(const wn_domain *domain, const char *function) {
  atomic_store_explicit(&program_notes_scopes, true, memory_order_relaxed);
  debug_check_domain(domain, function);
}

/* Complains of a slot that does not belong to the calling thread, and says to which thread it
 * belongs or did. */
static void check_foreign_slot(const wn_value *slot, const char *function) {
  bool live = false, ended = false;
  lock_acquire(&table, LOCK_RANK_SLOTS);
  for (size_t i = 0; i < SLOTS_MOST; i++)
    if (slot >= slots[i].begin && slot < slots[i].end) *(slots[i].live ? &live : &ended) = true;
  lock_release(&table, LOCK_RANK_SLOTS);
  if (live) debug_complain(function, "the handle belongs to another thread or domain");
  if (ended) debug_complain(function, "the handle's thread or domain has ended");
}

static _Noreturn void complain_null(const char *function) {
  char text[256];
  snprintf(text, sizeof text, "a null handle: an allocation failed and was not checked (%s)",
           wn_last_error());
  debug_complain(function, text);
}

/* `thread` is NULL if the slot belongs to no thread that the calling system thread is. */
static void check_slot(const struct domain_thread *thread, const wn_value *slot, const char *function) {
  if (!slot) complain_null(function);
  if (!thread || slot < thread->slots || slot >= thread->slots_end)
    check_foreign_slot(slot, function);
  else if (slot >= thread->domain->context.top || *slot == POISON_SLOT)
    debug_complain(function, "a handle is used after its scope ended");
}

READS_POISONED bool debug_block_is_gone(wn_value block) {
  wn_value header = __atomic_load_n((const wn_value *)block - 1, __ATOMIC_RELAXED);
  return header_colour(header) == COLOUR_FREE || header == STALE_WORD;
}

void wn_check_domain(const wn_domain *domain, const char *function) { check_by_program(domain, function); }

void wn_check_handle(const wn_domain *domain, wn_ref ref, const char *function) {
  debug_check_domain(domain, function);
  check_slot(domain->running, ref.slot, function);
}

static void check_field(wn_value block, size_t i, const char *function) {
  if (wn_is_int(block)) debug_complain(function, "the value is an integer and has no fields");
  if (block % 8 || !block) debug_complain(function, "the value is no block");
  if (wn_tag(block) > WN_TAG_SCANNED_MAX) debug_complain(function, "the block has bytes and no fields");
  if (i >= wn_scanned_words(block)) debug_complain(function, "the block has fewer fields");
}

void wn_check_bytes(wn_value block, const char *function) {
  if (wn_is_int(block)) debug_complain(function, "the value is an integer and has no bytes");
  if (block % 8 || !block) debug_complain(function, "the value is no block");
  if (wn_tag(block) <= WN_TAG_SCANNED_MAX && wn_tag(block) != WN_TAG_MIXED)
    debug_complain(function, "the block has fields and no bytes");
}

/* Values in other domains' minor heaps are not checked, since those domains may be allocating. */
void debug_check_value(const wn_domain *domain, wn_value value, const char *function) {
  if (wn_is_int(value)) return;
  if (value % 8 || value < 4096) debug_complain(function, "the value is neither a block nor an integer");
  const struct wn_heap *heap = domain->heap;
  if (!heap_is_young(heap, value)) {
    if (debug_block_is_gone(value))
      debug_complain(function,
                     "a stale value: its block was freed, or has moved, by a call that may collect");
    return;
  }
  if (heap_young_index(heap, value) != domain->index) return;
  if (value <= (uintptr_t)domain->context.young_ptr || value > (uintptr_t)domain->young_end ||
      header_colour(header_of(value)))
    debug_complain(function, "a stale value: it was kept over a call that may collect");
}

/* The value of a handle may be stale too: new blocks are filled by plain stores, which nothing checks. */
static void check_block_of(wn_ref ref, const char *function) {
  const struct domain_thread *thread = ref.slot ? thread_with(ref.slot) : NULL;
  check_slot(thread, ref.slot, function);
  if (thread && thread->domain->running == thread) debug_check_value(thread->domain, *ref.slot, function);
}

void wn_check_field(wn_ref block, size_t i, const char *function) {
  check_block_of(block, function);
  check_field(*block.slot, i, function);
}

void debug_check_bytes(wn_ref raw, const char *function) {
  check_block_of(raw, function);
  wn_check_bytes(*raw.slot, function);
}

void wn_check_value(const wn_domain *domain, wn_value value, const char *function) {
  check_by_program(domain, function);
  debug_check_value(domain, value, function);
}

void wn_check_store(const wn_domain *domain, wn_value block, size_t i, wn_value value, const char *function) {
  wn_check_value(domain, block, function);
  check_field(block, i, function);
  if (!i && wn_tag(block) == WN_TAG_MIXED)
    debug_complain(function, "field 0 of a mixed block says where its bytes begin, and never changes");
  wn_check_value(domain, value, function);
}

/* ---- pauses ---- */

/* Each thread has its own random stream: where a thread pauses does not depend on the others. */
void debug_pause(void) {
  static _Atomic(uint64_t) threads;
  static _Thread_local struct random random;
  static _Thread_local bool seeded;
  if (!seeded) random_seed(&random, 0, 0, atomic_fetch_add(&threads, 1));
  seeded = true;
  uint64_t bits = random_bits(&random);
  struct timespec time = {0, (long)(bits >> 8 & 0x1ffff)};
  if (bits % 16 == 0)
    nanosleep(&time, NULL);
  else if (bits % 4 == 0)
    sched_yield();
}

/* ---- scopes ---- */

static void begin_scope(struct domain_thread *thread, const wn_value *mark) {
  if (!thread->outermost_scopes || mark < thread->outermost_mark) thread->outermost_scopes = 0;
  if (thread->outermost_scopes && mark > thread->outermost_mark) return;
  thread->outermost_mark = mark;
  thread->outermost_scopes++;
}

static wn_value product_of(wn_value name) { return name * 0x9e3779b97f4a7c15 | 1; }

enum { NAME_SLOTS = 2 };

/* Where only a last slot is left, it is for a handle. */
void wn_scope_note(wn_domain *domain, const char *function) {
  check_by_program(domain, "wn_scope_enter");
  begin_scope(domain->running, domain->context.top);
  if (!roots_have_slots(domain, NAME_SLOTS)) return;
  wn_value name = (wn_value)function << 1 | 1;
  *domain->context.top++ = name;
  *domain->context.top++ = product_of(name);
}

const char *debug_scope_named_by(const wn_value *slot, const wn_value *first) {
  return slot > first && *slot == product_of(slot[-1]) ? (const char *)(slot[-1] >> 1) : NULL;
}

/* A scope that begins at `mark` ends, and each that began later. */
static void end_scope(struct domain_thread *thread, const wn_value *mark) {
  if (!thread->outermost_scopes || mark > thread->outermost_mark) return;
  thread->outermost_scopes = mark == thread->outermost_mark ? thread->outermost_scopes - 1 : 0;
}

void wn_scope_poison(wn_domain *domain, const wn_value *mark) {
  if (!thread_in(domain)) return; /* the domain was detached in the scope: its handles died then */
  debug_check_domain(domain, "wn_scope_leave");
  if (mark > domain->context.top)
    debug_complain("wn_scope_leave", "the scope has ended: scopes end in the reverse of their order");
  for (wn_value *slot = domain->context.top; slot > mark;) *--slot = POISON_SLOT;
  end_scope(domain->running, mark);
}

/* An escape takes the first slot of the scope, and moves the mark. In a program compiled without
 * WN_DEBUG that is the slot of the scope's first handle, and here one of the name: so as many of
 * the first handles as there were escapes are refused here, too. A scope near the end of all slots
 * has no name. */
void wn_check_escape(const wn_scope *scope, wn_ref ref) {
  wn_check_handle(scope->domain, ref, "wn_escape");
  struct domain_thread *thread = scope->domain->running;
  if (ref.slot < scope->mark + (thread->accessible_end - scope->mark < NAME_SLOTS ? 0 : NAME_SLOTS))
    debug_complain("wn_escape", "the handle is of an outer scope, or an earlier escape took its slot");
  end_scope(thread, scope->mark); /* its end has another mark */
}
/* SPDX-License-Identifier: MIT */
