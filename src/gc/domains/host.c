/* Births, fates, and the engine's questions. */
#include "gc/domains/host.h"

#include "base/error.h"
#include "base/metadata.h"
#include "callstack/capture.h"
#include "gc/domains/caller.h"
#include "gc/events/hooks.h"
#include <stddef.h>

enum { TRACKED_MOST = TINY ? 1 << 18 : 1 << 26, UNTYPED_FIRST = TINY ? 2 : 170 };

/* ---- the next sample ---- */

/* Places the next sample `left` words below the current block. There is none if that is beyond all
 * addresses. */
static void place_sample(struct wn_domain *domain, int64_t left) {
  const int64_t most = (int64_t)1 << 56;
  domain->sample_at =
      left < most ? (intptr_t)domain->context.young_ptr - left * (int64_t)sizeof(wn_value) : DOMAIN_NO_SAMPLE;
}

/* The distance to the next sample; below 0 if allocation has passed it. */
static int64_t words_to_sample(const struct wn_domain *domain) {
  return (const wn_value *)domain->context.young_ptr - (const wn_value *)domain->sample_at;
}

static int64_t words_left(const struct wn_domain *domain) {
  return domain->sample_at == DOMAIN_NO_SAMPLE ? SAMPLER_NEVER : words_to_sample(domain);
}

/* Draws the distance to the next sample. The first call of a heap's threads sets `was_sampled`
 * (RAISING of domain.h). */
static void draw_sample(struct domain_thread *thread) {
  struct wn_domain *domain = thread->domain;
  int64_t left = memprof_gap(&thread->profiled);
  if (left != SAMPLER_NEVER && !atomic_load(&domain->heap->was_sampled))
    atomic_store(&domain->heap->was_sampled, true);
  thread->sampling_epoch = domain->sampling_epoch;
  place_sample(domain, left);
}

/* ---- the engine's questions ---- */

static void host_rearm(struct memprof_owner *owner) {
  struct wn_domain *domain = owner->host;
  domain->sampling_epoch++;
  draw_sample(domain->running);
  domain_reset_limit(domain);
}

static void host_wake(struct memprof_owner *owner) { domain_add_pending(owner->host, PENDING_PROFILE); }

static struct callstacks *create_callstacks(const struct wn_heap *heap) {
  return callstacks_create(&(struct callstacks_options){.language = *heap->language ? heap->language : NULL});
}

static bool has_language(const struct wn_heap *heap) {
  return heap->hooks.callstack && heap->frames != WN_FRAMES_NATIVE;
}

/* Returns how many frames the hook wrote; the hook itself may return more. */
static size_t ask_language(struct wn_domain *domain, wn_language_frame *frames, size_t most) {
  const wn_heap_hooks *hooks = &domain->heap->hooks;
  hooks_running++;
  size_t count = hooks->callstack(domain, frames, most, hooks->context);
  hooks_running--;
  return count < most ? count : most;
}

/* A function of its own, since it has a large frame. */
static __attribute__((noinline)) const wn_callstack *
capture_language(struct wn_domain *domain, struct callstacks *callstacks, size_t depth) {
  wn_language_frame frames[CALLSTACK_DEPTH_MOST];
  size_t most = depth < CALLSTACK_DEPTH_MOST ? depth : CALLSTACK_DEPTH_MOST;
  const struct callstack_wish wish = {.depth = depth,
                                      .from = domain->frame,
                                      .language = frames,
                                      .language_count = ask_language(domain, frames, most),
                                      .language_only = domain->heap->frames == WN_FRAMES_LANGUAGE};
  return callstack_capture_with(callstacks, &wish);
}

static const wn_callstack *host_capture(struct memprof_thread *thread, size_t depth) {
  struct wn_domain *domain = thread->domain;
  struct callstacks *callstacks = host_callstacks(domain->heap);
  if (!callstacks) return NULL;
  if (depth && has_language(domain->heap)) return capture_language(domain, callstacks, depth);
  return callstack_capture_own(callstacks, &domain->memo, domain->frame, depth);
}

static const bool *exception(struct memprof_thread *thread) { return &thread->domain->exception.pending; }

static bool host_raised(const struct memprof_thread *thread) {
  return thread->domain->exception.raiser == thread->host;
}

static struct memprof_thread *host_current(struct memprof *engine) {
  struct domain_thread *thread = thread_in_heap(engine->host);
  return thread ? &thread->profiled : NULL;
}

/* ---- TYPES ---- */

struct untyped_block {
  wn_value block;
  void *metadata;
  uint64_t profile;
};

/* False if there is no memory for a larger list. */
static bool untyped_reserve(struct untyped *untyped) {
  if (untyped->count < untyped->capacity) return true;
  size_t capacity = untyped->capacity ? 2 * untyped->capacity : UNTYPED_FIRST;
  struct untyped_block *grown = metadata_map(capacity * sizeof *grown);
  if (!grown) return false;
  if (untyped->count) memcpy(grown, untyped->blocks, untyped->count * sizeof *grown);
  metadata_unmap(untyped->blocks, untyped->capacity * sizeof *grown);
  untyped->blocks = grown;
  untyped->capacity = capacity;
  return true;
}

/* Without memory for the note, the trace lacks the block's type. */
static void told(struct memprof_thread *thread, uintptr_t address, void *metadata) {
  struct wn_domain *domain = thread->domain;
  unsigned tag = header_tag(header_of(address));
  if (!domain->heap->hooks.type_of || tag == WN_TAG_CUSTOM || tag == WN_TAG_WEAK) return;
  if (untyped_reserve(&domain->untyped))
    domain->untyped.blocks[domain->untyped.count++] =
        (struct untyped_block){address, metadata, atomic_load(&domain->owner.profile)};
}

static void ask_types_of(struct wn_domain *domain, uint64_t profile, host_tell_type *tell, void *context) {
  const wn_heap_hooks *hooks = &domain->heap->hooks;
  struct untyped *untyped = &domain->untyped;
  size_t kept = 0;
  hooks_running++;
  for (size_t i = 0; i < untyped->count; i++) {
    const struct untyped_block *noted = &untyped->blocks[i];
    if (noted->profile == profile)
      tell(context, noted->metadata, hooks->type_of(noted->block, hooks->context));
    else
      untyped->blocks[kept++] = *noted;
  }
  hooks_running--;
  untyped->count = kept;
}

static const struct memprof_ops ops = {.rearm = host_rearm,
                                       .wake = host_wake,
                                       .capture = host_capture,
                                       .keep = callstack_keep,
                                       .release = callstack_release,
                                       .exception = exception,
                                       .raised = host_raised,
                                       .told = told,
                                       .current = host_current};

struct memprof_thread *memprof_host_thread(wn_domain *domain) {
  return caller_may(domain, "memprof") ? &domain->running->profiled : NULL;
}

/* ---- births ---- */

static const char *custom_name(const struct wn_domain *domain, unsigned tag) {
  return tag == WN_TAG_CUSTOM ? domain->custom->name : NULL;
}

static struct memprof_birth host_birth_of(const struct wn_domain *domain, wn_value block, size_t hits,
                                          wn_alloc_source source) {
  size_t words = wn_words(block);
  unsigned tag = wn_tag(block);
  return (struct memprof_birth){.address = block,
                                .trials = words + 1,
                                .bytes = words * sizeof(wn_value),
                                .n_samples = hits,
                                .source = source,
                                .tag = (uint8_t)tag,
                                .custom_name = custom_name(domain, tag)};
}

/* False if the sample is lost. */
static bool host_note_birth(struct wn_domain *domain, const struct memprof_birth *birth) {
  if (!memprof_allocated(&domain->running->profiled, birth)) return false;
  domain_add_pending(domain, PENDING_PROFILE);
  return true;
}

/* TRACKED of layout.h. */
static void set_tracked(wn_value block) {
  atomic_store_explicit(header_at(block), header_of(block) | TRACKED, memory_order_relaxed);
}

/* ---- fates ---- */

/* Only for blocks that are tracked. */
static struct memprof_fate young_fate(uintptr_t address, void *context) {
  wn_value now = heap_young_fate(context, address);
  if (now) set_tracked(now);
  return (struct memprof_fate){now ? MEMPROF_OLD : MEMPROF_DEAD, now};
}

/* The owner that gets the entries of owners that ended: that of the first domain that is not lost. */
static struct memprof_owner *host_heir_of(struct wn_heap *heap) {
  struct wn_domain *domain = domain_first(heap);
  while (domain && domain->lost) domain = domain_next(domain);
  return &(domain ? domain : domain_first(heap))->owner;
}

static void tracked_died(struct store *store, wn_value block) {
  struct wn_heap *heap = (struct wn_heap *)((char *)store - offsetof(struct wn_heap, store));
  host_found_dead(heap, block);
}

/* ---- shared ---- */

void host_open(struct wn_heap *heap) {
  heap->store.tracked_died = tracked_died;
  memprof_open(&heap->engine, &ops, heap, TRACKED_MOST);
}

void host_close(struct wn_heap *heap) {
  struct callstacks *callstacks = atomic_load(&heap->callstacks);
  memprof_close(&heap->engine);
  if (callstacks) callstacks_destroy(callstacks);
}

struct callstacks *host_create_callstacks(struct wn_heap *heap) {
  struct callstacks *callstacks = NULL, *fresh = create_callstacks(heap);
  if (!fresh) return NULL;
  if (atomic_compare_exchange_strong(&heap->callstacks, &callstacks, fresh)) return fresh;
  callstacks_destroy(fresh);
  return callstacks;
}

void host_domain_begins(struct wn_domain *domain, struct wn_domain *parent) {
  domain->sample_at = DOMAIN_NO_SAMPLE;
  memprof_owner_create(&domain->owner, &domain->heap->engine, parent ? &parent->owner : NULL, domain);
}

void host_domain_ends(struct wn_domain *domain) {
  memprof_owner_end(&domain->owner);
  memo_destroy(domain->memo);
  domain->memo = NULL;
  metadata_unmap(domain->untyped.blocks, domain->untyped.capacity * sizeof *domain->untyped.blocks);
  domain->untyped = (struct untyped){0};
}

void host_thread_begins(struct domain_thread *thread) {
  thread->profiled = (struct memprof_thread){0}; /* it may have ended before, and begun again */
  memprof_thread_attach(&thread->profiled, &thread->domain->owner, thread->domain, thread);
  draw_sample(thread);
  domain_reset_limit(thread->domain);
}

void host_thread_stops(struct domain_thread *thread) { memprof_thread_stop(&thread->profiled); }

/* memprof_drain returns false where a callback raised; exception_outlives then ends that
 * exception. */
void host_thread_finishes(struct domain_thread *thread) {
  while (!memprof_drain(&thread->profiled) && exception_outlives(thread)) {}
}

void host_thread_leaves(struct domain_thread *thread) {
  memprof_thread_leave(&thread->profiled);
  thread->domain->sample_at = DOMAIN_NO_SAMPLE;
}

/* A thread that never had its first turn is not known to the engine. */
void host_thread_is_lost(struct domain_thread *thread) {
  if (!thread->profiled.owner) return;
  memprof_thread_stop(&thread->profiled);
  memprof_thread_leave(&thread->profiled);
}

void host_thread_runs(struct domain_thread *thread) {
  struct wn_domain *domain = thread->domain;
  if (thread->sampling_epoch == domain->sampling_epoch)
    place_sample(domain, thread->words_left);
  else
    draw_sample(thread);
  domain_reset_limit(domain);
  if (memprof_is_due(&thread->profiled)) domain_add_pending(domain, PENDING_PROFILE);
}

void host_thread_pauses(struct domain_thread *thread) {
  thread->words_left = words_left(thread->domain);
  memprof_thread_pauses(&thread->profiled);
}

void host_born_young(struct wn_domain *domain, wn_value block, wn_alloc_source source) {
  int64_t left = words_to_sample(domain);
  size_t hits = memprof_hits(&domain->running->profiled, &left);
  place_sample(domain, left);
  domain_move_limit(domain);
  if (!hits) return;
  struct memprof_birth birth = host_birth_of(domain, block, hits, source);
  birth.minor = true;
  if (memprof_born_young(&domain->running->profiled, &birth)) domain_add_pending(domain, PENDING_PROFILE);
}

static void born_old(struct wn_domain *domain, wn_value block, size_t hits, wn_alloc_source source) {
  const struct memprof_birth birth = host_birth_of(domain, block, hits, source);
  if (host_note_birth(domain, &birth)) set_tracked(block);
}

void host_born_old(struct wn_domain *domain, wn_value block) {
  if (domain->sample_at == DOMAIN_NO_SAMPLE) return;
  size_t hits = memprof_hits_of(&domain->running->profiled, wn_words(block) + 1);
  if (hits) born_old(domain, block, hits, WN_SOURCE_NORMAL);
}

int64_t host_gap(const struct wn_domain *domain) {
  return domain->sample_at == DOMAIN_NO_SAMPLE ? SAMPLER_NEVER : memprof_gap(&domain->running->profiled);
}

void host_born_read(struct wn_domain *domain, wn_value block, int64_t *left) {
  size_t hits = memprof_hits(&domain->running->profiled, left);
  if (hits) born_old(domain, block, hits, WN_SOURCE_MARSHAL);
}

void host_born_outside(struct wn_domain *domain, wn_value block, size_t bytes) {
  if (domain->sample_at == DOMAIN_NO_SAMPLE) return;
  size_t words = bytes / sizeof(wn_value) + (bytes % sizeof(wn_value) != 0);
  size_t hits = words ? memprof_hits_of(&domain->running->profiled, words) : 0;
  if (!hits) return;
  struct memprof_birth birth = {.address = block,
                                .trials = words,
                                .bytes = bytes,
                                .n_samples = hits,
                                .source = WN_SOURCE_CUSTOM,
                                .tag = WN_TAG_CUSTOM,
                                .custom_name = ((const struct custom *)block)->ops->name,
                                .minor = heap_is_young(domain->heap, block),
                                .outside = true};
  if (host_note_birth(domain, &birth))
    atomic_fetch_or(&((struct custom *)block)->external_bytes, CUSTOM_TRACKED);
}

void host_outside_shrank(struct wn_domain *domain, wn_value block, size_t from, size_t to) {
  if (memprof_outside_shrank(&domain->running->profiled, block, from, to))
    domain_add_pending(domain, PENDING_PROFILE);
}

void host_ask_types(struct wn_heap *heap, const wn_profile *profile, host_tell_type *tell, void *context) {
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain))
    ask_types_of(domain, (uintptr_t)profile, tell, context);
}

/* What is noted still is of profiles that have no trace, as in the child of a fork. */
void host_after_minor(struct wn_heap *heap) {
  for (struct wn_domain *domain = domain_first(heap); domain; domain = domain_next(domain)) {
    memprof_after_minor(&domain->owner, young_fate, heap);
    domain->untyped.count = 0;
  }
  host_tell(heap);
}

void host_outside_aged(struct wn_heap *heap, wn_value block, wn_value moved) {
  struct memprof_fate fate = {moved ? MEMPROF_OLD : MEMPROF_DEAD, moved};
  memprof_outside_aged(&heap->engine, block, fate, host_heir_of(heap));
}

void host_found_dead(struct wn_heap *heap, wn_value block) { memprof_found_dead(&heap->engine, block); }

void host_tell(struct wn_heap *heap) { memprof_tell(&heap->engine, host_heir_of(heap)); }

void host_visit_old(struct wn_heap *heap, wn_visit *visit, void *visitor) {
  memprof_visit_old(&heap->engine, visit, visitor);
}

void host_run_pending(struct wn_domain *domain) { memprof_drain(&domain->running->profiled); }

/* An exception that waits keeps the flag: taking it makes all callbacks pending again. */
void host_run_callbacks(struct wn_domain *domain) {
  if (exception_is_pending(domain) || host_in_callback(domain->running)) return;
  uintptr_t others = domain->context.pending & ~(uintptr_t)PENDING_PROFILE;
  __atomic_store_n(&domain->context.pending, others, __ATOMIC_RELAXED);
  host_run_pending(domain);
}

wn_place wn_place_of(wn_heap *heap, const char *function, const char *file, unsigned line) {
  if (!heap) return error_set(WN_EINVAL, "place: the heap is NULL"), 0;
  struct callstacks *callstacks = host_callstacks(heap);
  if (!callstacks) return error_set(WN_ENOMEM, "place: no memory for callstacks"), 0;
  return callstacks_place(callstacks,
                          &(struct callstack_place){.function = function, .file = file, .line = line});
}

bool host_in_callback(const struct domain_thread *thread) { return memprof_suspended(&thread->profiled); }
/* SPDX-License-Identifier: MIT */
