/* Traces: a profile whose tracker is the recorder's. A trace is known by its profile; the recorder goes when that is released, by
 * whoever was the last to use it. */
#include "base/error.h"
#include "gc/caller.h"
#include "gc/gc_host.h"
#include "record/recorder.h"
#include <stdlib.h>
#include <winnow/trace.h>

enum { DEPTH_FIRST = 512 };

static const wn_memprof_options first_options = {1e-4, DEPTH_FIRST, 0};

static uint32_t thread_number(wn_domain *domain) {
  return domain && domain->running ? (uint32_t)domain->running->profiled.sequence + 1 : 1;
}

static void released(void *context) {
  recorder_stop(context);
  recorder_close(context);
}

static wn_status check(wn_domain *domain, const char *path, const wn_memprof_options *options,
                       wn_trace **trace) {
  if (!domain || !path || !trace) return error_set(WN_EINVAL, "trace: an argument is NULL");
  if (!(options->sampling_rate >= 0 && options->sampling_rate <= 1))
    return error_set(WN_EINVAL, "trace: the sampling rate is not from 0 to 1");
  wn_status status = caller_check(domain, "trace");
  if (status) return status;
  if (wn_memprof_is_sampling(domain)) return error_set(WN_ESTATE, "trace: the domain is sampling already");
  return WN_OK;
}

static wn_status open_recorder(wn_domain *domain, const char *path, const wn_memprof_options *options,
                               struct recorder **recorder) {
  struct callstacks *callstacks = host_callstacks(domain->heap);
  if (!callstacks) return error_set(WN_ENOMEM, "trace: no memory for callstacks");
  size_t depth = options->callstack_size;
  struct recorder_options of = {.path = path,
                                .heap = "winnow",
                                .rate = options->sampling_rate,
                                .seed = options->seed,
                                .stack_depth = depth < UINT32_MAX ? (uint32_t)depth : UINT32_MAX,
                                .callstacks = callstacks,
                                .thread = thread_number};
  return recorder_open(&of, recorder);
}

/* A variable's number. False if it is none, or out of range. */
static bool read_number(const char *name, double most, double *number) {
  const char *text = secure_getenv(name);
  char *end;
  if (!text || !*text) return true;
  *number = strtod(text, &end);
  if (!*end && *number >= 0 && *number <= most) return true;
  error_set(WN_EINVAL, "%s is %s, which is no number from 0 to %.0f", name, text, most);
  return false;
}

/* ---- public ---- */

wn_status wn_trace_start(wn_domain *domain, const char *path, const wn_memprof_options *options,
                         wn_trace **trace) {
  struct recorder *recorder;
  wn_profile *profile;
  if (!options) options = &first_options;
  wn_status status = check(domain, path, options, trace);
  if (status || (status = open_recorder(domain, path, options, &recorder))) return status;
  wn_tracker tracker = recorder_tracker(recorder);
  tracker.release = released;
  status = wn_memprof_start(domain, options, &tracker, &profile);
  if (status)
    recorder_close(recorder);
  else
    *trace = (wn_trace *)profile;
  return status;
}

wn_status wn_trace_if_requested(wn_domain *domain, wn_trace **trace) {
  const char *path = secure_getenv("WINNOW_TRACE");
  double rate = first_options.sampling_rate, depth = DEPTH_FIRST, seed = 0;
  if (!domain || !trace) return error_set(WN_EINVAL, "trace: an argument is NULL");
  *trace = NULL;
  if (!path || !*path) return WN_OK;
  if (!read_number("WINNOW_RATE", 1, &rate) || !read_number("WINNOW_DEPTH", UINT32_MAX, &depth) ||
      !read_number("WINNOW_SEED", (double)(1L << 53), &seed))
    return WN_EINVAL;
  wn_memprof_options options = {rate, (size_t)depth, (uint64_t)seed};
  return wn_trace_start(domain, path, &options, trace);
}

wn_status wn_trace_stop(wn_domain *domain, wn_trace *trace) {
  if (!domain || !trace) return error_set(WN_EINVAL, "trace: an argument is NULL");
  wn_status status = wn_memprof_stop(domain);
  return status ? status : wn_memprof_discard((wn_profile *)trace);
}
/* SPDX-License-Identifier: MIT */
