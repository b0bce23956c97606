/* The thread that holds the control page does what a command asks, or follows the budget. */
#include "preload/commands.h"

#include "base/metadata.h"
#include "base/os.h"
#include "preload/cost.h"
#include "preload/malloc_host.h"
#include "preload/process.h"
#include "record/recorder.h"

struct control process_control;
_Atomic(bool) commands_have_budget;

#define BEAT cycles_of_us(100000)

/* Between two looks at what the budget allows. The processor time is asked for less often: the system adds up
 * that of all threads. */
#define LOOK      cycles_of_us(1500)
#define PROCESSOR cycles_of_us(100000)

/* Between two looks at what is asked, and whether a time is over: a quarter of the time since a command
 * asked last, from LOOK to this. So the commands of a script are answered in milliseconds; and a program that
 * sleeps nearly all the time, in which a look takes some 20 us, as its caches are cold, looks seldom. */
#define LOOK_LONGEST cycles_of_us(200000)
enum { LOOK_PART = 4 };

/* Of the thread that holds the control page. */
static struct budget budget;
static uint64_t processor_due;

/* In cycles. */
static _Atomic(uint64_t) look_due, asked_last, publication_due;

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

/* Two threads may look at the same time: then one look is too many, or the next comes late. */
static bool look_is_due(uint64_t now) {
  return !now || now >= atomic_load_explicit(&look_due, memory_order_relaxed);
}

static void look_again(uint64_t now, bool asks) {
  uint64_t asked = atomic_load_explicit(&asked_last, memory_order_relaxed);
  if (asks || !asked) atomic_store_explicit(&asked_last, asked = now, memory_order_relaxed);
  uint64_t wait = now > asked ? (now - asked) / LOOK_PART : 0, least = LOOK, most = LOOK_LONGEST;
  if (wait < least) wait = least;
  atomic_store_explicit(&look_due, now + (wait < most ? wait : most), memory_order_relaxed);
}

static void obey(struct recorder *active, uint64_t now) {
  struct control_request request;
  if (!look_is_due(now)) return;
  bool asks = control_claim(&process_control, &request);
  look_again(now, asks);
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
  if (cost_now() >= atomic_load_explicit(&publication_due, memory_order_relaxed)) commands_publish();
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
