/* What commands ask of the recorded process. */
#include "preload/commands.h"

#include "base/os.h"
#include "preload/cost.h"
#include "preload/malloc_host.h"
#include "preload/process.h"
#include "record/recorder.h"

struct control process_control;

/* A tenth of a second or so. A store takes a microsecond or two. */
#define BEAT_CYCLES ((uint64_t)1 << 28)

/* Some milliseconds: between two looks whether a time is over. */
#define LOOK_CYCLES ((uint64_t)1 << 24)

/* Written once by the thread that starts, or by a forked child while it is alone. */
static struct recorder *_Atomic recorder;
static wn_profile *profile;

/* ---- shared ---- */

void commands_begin(struct recorder *recording, wn_profile *sampling, double rate, double usual_rate) {
  profile = sampling;
  atomic_store_explicit(&recorder, recording, memory_order_release);
  if (control_create(&process_control, recorder_path(recording), rate, usual_rate)) commands_publish();
}

void commands_obey(void) {
  struct control_request request;
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  if (!active || !process_is_recorded() || !control_claim(&process_control, &request)) return;
  host_rate(profile, request.rate);
  recorder_rate(active, request.rate, request.timed ? RECORDER_RATE_TIMED : RECORDER_RATE_ASKED);
  control_done(&process_control, &request);
}

#define PUBLISH(counts, name, value) \
  atomic_store_explicit(&(counts)->name, (uint64_t)(value), memory_order_relaxed)

void commands_publish(void) {
  struct control_page *page = atomic_load_explicit(&process_control.page, memory_order_acquire);
  struct recorder *active = atomic_load_explicit(&recorder, memory_order_acquire);
  if (!page || !active || !process_is_recorded()) return;
  wn_memprof_count count;
  wn_memprof_counts(profile, &count);
  PUBLISH(&page->counts, time_ns, os_monotonic_ns());
  PUBLISH(&page->counts, samples, count.allocs_major);
  PUBLISH(&page->counts, live, count.live_major);
  PUBLISH(&page->counts, lost, recorder_lost_records(active));
  PUBLISH(&page->counts, trace_bytes, recorder_trace_bytes(active));
  PUBLISH(&page->counts, cost_ns, cost_ns());
}

void commands_beat(void) {
  static _Atomic(uint64_t) due;
  uint64_t now = cost_now(), then = atomic_load_explicit(&due, memory_order_relaxed);
  if (now >= then && atomic_compare_exchange_strong_explicit(&due, &then, now + BEAT_CYCLES,
                                                             memory_order_relaxed, memory_order_relaxed))
    commands_publish();
}

void commands_end(void) { control_remove(&process_control); }

void commands_forget(bool alone) {
  atomic_store_explicit(&recorder, NULL, memory_order_release);
  control_forget(&process_control, alone);
  if (alone) cost_begin();
}

void commands_look_at_time(void) {
  static _Atomic(uint64_t) due;
  uint64_t now = cost_now(), then = atomic_load_explicit(&due, memory_order_relaxed);
  if (now < then) return;
  atomic_store_explicit(&due, now + LOOK_CYCLES, memory_order_relaxed);
  commands_obey();
}
/* SPDX-License-Identifier: MIT */
