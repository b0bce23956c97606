/* The public interface of winnow/malloc.h: a tracker of malloc blocks in the engine's terms, where
 * all blocks are major. */
#include "base/error.h"
#include "base/metadata.h"
#include "preload/malloc_host.h"
#include "preload/process.h"
#include <winnow/malloc.h>

/* Lives as long as its profile. */
struct adaptor {
  wn_malloc_tracker tracker;
};

static void *profile_allocated(wn_domain *domain, const wn_allocation *allocation, void *context) {
  (void)domain;
  const wn_malloc_tracker *tracker = context;
  return tracker->alloc(allocation, tracker->context);
}

static void *profile_resized(wn_domain *domain, void *metadata, const wn_allocation *allocation,
                             void *context) {
  (void)domain;
  const wn_malloc_tracker *tracker = context;
  return tracker->resize(metadata, allocation, tracker->context);
}

static void freed(wn_domain *domain, void *metadata, void *context) {
  (void)domain;
  const wn_malloc_tracker *tracker = context;
  tracker->free(metadata, tracker->context);
}

static void profile_dropped(void *metadata, void *context) {
  const wn_malloc_tracker *tracker = context;
  tracker->drop(metadata, tracker->context);
}

static void release_profile(void *context) { metadata_unmap(context, sizeof(struct adaptor)); }

/* ---- public ---- */

wn_status wn_malloc_profile_start(const wn_memprof_options *options, const wn_malloc_tracker *tracker,
                                  wn_profile **profile) {
  if (!options || !tracker || !profile)
    return error_set(WN_EINVAL, "wn_malloc_profile_start: a NULL argument");
  struct adaptor *adaptor = metadata_map(sizeof *adaptor);
  if (!adaptor) return error_set(WN_ENOMEM, "no memory for a profile");
  adaptor->tracker = *tracker;
  wn_tracker engine_tracker = {
      .alloc_major = tracker->alloc ? profile_allocated : NULL,
      .dealloc_major = tracker->free ? freed : NULL,
      .drop = tracker->drop ? profile_dropped : NULL,
      .context = &adaptor->tracker,
      .resize = tracker->resize ? profile_resized : NULL,
      .release = release_profile,
  };
  wn_status status = host_start(options, &engine_tracker, false, profile);
  if (status) release_profile(adaptor);
  return error_publish(status);
}

wn_status wn_malloc_profile_stop(void) {
  if (process_is_recording()) return error_set(WN_ESTATE, "the profile was started by winnow record");
  return error_publish(host_stop());
}

wn_status wn_malloc_profile_discard(wn_profile *profile) { return error_publish(host_discard(profile)); }
/* SPDX-License-Identifier: MIT */
