/* The thread that holds the control page does what a command asks, or follows the budget. */
#include "preload/commands.h"

#include "base/metadata.h"
#include "base/os.h"
#include "preload/cost.h"
#include "preload/looks.h"
#include "preload/malloc_host.h"
#include "preload/process.h"
#include "record/recorder.h"

struct control process_control;
_Atomic(bool) commands_have_budget;

#define BEAT cycles_of_us(100000)

/* The processor time is asked for less often than LOOK: the system adds up that of all threads. */
#define PROCESSOR cycles_of_us(100000)

/* Of the thread that holds the control page. */
static struct budget budget;
static uint64_t processor_due;

static struct looks looks;
static _Atomic(uint64_t) publication_due; /* in cycles */

/* Written once by the thread that starts, or by a forked child while it is alone. */
static struct recorder *_Atomic recorder;
static wn_profile *profile;
static bool trace_is_bounded;

static struct budget_time commands_time_of(struct recorder *active, const struct cost *cost) {
  struct recorder_drop drop = recorder_last_drop(active);
  return (struct budget_time){.sampling = cost->sampling_ns,
                              .other = cost->other_ns,
                              .all = cost_processor_ns(),
                              .own_bytes = metadata_bytes(),
                              .time_ns = drop.now_ns,
                              .dropped_ns = drop.begun_ns};
}

static void take_budget(struct recorder *active, const struct control_sampling *sampling) {
  struct cost cost = cost_until_now();
  bool has = sampling->budget > 0 || (trace_is_bounded && sampling->rate > 0);
  struct budget_time now = has ? commands_time_of(active, &cost) : (struct budget_time){0};
  if (has) budget_begin(&budget, sampling->budget, sampling->rate, &now);
  atomic_store_explicit(&commands_have_budget, has, memory_order_relaxed);
}

static bool budget_changes(struct recorder *active) {
  uint64_t cycles = cost_now();
  struct cost cost = cost_until_now();
  if (cycles < processor_due && !budget_is_spent(&budget, cost.sampling_ns)) return false;
  processor_due = cycles + PROCESSOR;
  struct budget_time now = commands_time_of(active, &cost);
  return budget_follow(&budget, &now);
}

static void sample_at(struct recorder *active, double rate, enum recorder_rate_cause cause) {
  host_rate(profile, rate);
  recorder_rate(active, rate, cause);
}

static void follow_budget(struct recorder *active) {
  if (!control_hold(&process_control)) return;
  if (atomic_load_explicit(&commands_have_budget, memory_order_relaxed) && budget_changes(active)) {
    sample_at(active, budget_rate(&budget), RECORDER_RATE_BUDGET);
    control_set_rate(&process_control, budget_rate(&budget));
  }
  control_let_go(&process_control);
}

static void obey(struct recorder *active, uint64_t now) {
  struct control_request request;
  if (!looks_are_due(&looks, now)) return;
  bool asks = control_claim(&process_control, &request);
  looks_made(&looks, now, asks);
  if (!asks) return;
  if (request.changes) {
    take_budget(active, &request.sampling);
    sample_at(active, request.sampling.rate, request.timed ? RECORDER_RATE_TIMED : RECORDER_RATE_ASKED);
  }
  control_done(&process_control, &request);
}

/* ---- shared ---- */

bool commands_begin(struct recorder *recording, wn_profile *sampling, const struct control_sampling *first,
                    const struct control_sampling *usual, bool bounded) {
  profile = sampling;
  trace_is_bounded = bounded;
  take_budget(recording, first);
  atomic_store_explicit(&recorder, recording, memory_order_release);
  bool created = control_create(&process_control, recorder_path(recording), first, usual);
  if (created) commands_publish();
  return created;
}

void commands_publish(void) {
  atomic_store_explicit(&publication_due, cost_now() + BEAT, memory_order_relaxed);
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  if (!atomic_load_explicit(&process_control.page, memory_order_relaxed) || !active || !process_is_recorded())
    return;
  wn_memprof_count count;
  struct cost cost = cost_until_now();
  wn_memprof_counts(profile, &count);
  struct control_counts counts = {.time_ns = os_monotonic_ns(),
                                  .samples = count.allocs_major,
                                  .live = count.live_major,
                                  .lost = recorder_lost_records(active),
                                  .trace_bytes = recorder_trace_bytes(active),
                                  .cost_ns = cost.sampling_ns + cost.other_ns};
  control_publish(&process_control, &counts);
}

void commands_beat(void) {
  uint64_t now = cost_now(), due = atomic_load_explicit(&publication_due, memory_order_relaxed);
  if (now >= due && atomic_compare_exchange_strong_explicit(&publication_due, &due, now + BEAT,
                                                            memory_order_relaxed, memory_order_relaxed))
    commands_publish();
}

void commands_end(void) { control_remove(&process_control); }

void commands_forget(bool alone) {
  atomic_store_explicit(&recorder, NULL, memory_order_release);
  atomic_store_explicit(&commands_have_budget, false, memory_order_relaxed);
  control_forget(&process_control, alone);
  if (alone) cost_begin();
}

void commands_look_if_due(void) {
  static _Atomic(uint64_t) due;
  uint64_t now = cost_now(), then = atomic_load_explicit(&due, memory_order_relaxed);
  if (now && now < then) return;
  atomic_store_explicit(&due, now + LOOK, memory_order_relaxed);
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  if (!active || !process_is_recorded()) return;
  if (control_is_open(&process_control)) obey(active, now);
  if (atomic_load_explicit(&commands_have_budget, memory_order_relaxed)) follow_budget(active);
}

void commands_may_be_filtered(void) {
  atomic_store_explicit(&process_control.direct, true, memory_order_relaxed);
  cost_forgo_clocks();
}
/* SPDX-License-Identifier: MIT */
