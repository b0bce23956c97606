/* A recording that follows its trace while a program writes it.
 *
 * LOCKS. `asking` protects the recording and the answers; a thread holds it as long as it computes
 * answers, so one answer is computed at a time, and those that are asked for together are of one
 * state (page/answers.h). `watching` protects what listeners and the follower tell each other, and is
 * held for moments. No thread holds both.
 *
 * THE FOLLOWER is a thread, started for a growing trace only. It repeats:
 * 1. Wait until somebody is interested: a listener is there, or something was asked since 2.
 * 2. Test whether a process still writes the trace (its lock).
 * 3. Compare the file with what was loaded last. If it differs, or 2 found no writer, which a
 *    recording knows
 *    of its process, load it anew, and exchange the recording under `asking`. A trace that cannot
 *    be loaded changes nothing: the last one stays.
 * 4. Tell the listeners, if 3 exchanged the recording, or 2 found no writer.
 * 5. End if 2 found no writer. All that the program wrote was there at 3, then.
 * 6. Rest twice as long as 2 to 4 took if 3 loaded, so that at most a third of the time is spent
 *    loading; a hundred times if it only compared, so that a trace that does not change costs
 *    1 % of a processor at most; but at least 300 ms.
 * The comparison is by the stamp of the files (inputs_stamp).
 *
 * FOLDER. The path may be a folder or a pattern. It is looked through anew each time, and followed as long
 * as any of its traces grows or `winnow record` has the folder (folder.h), which becomes a file at the end
 * if a single trace is kept.
 *
 * While the trace is loaded anew, two recordings are in memory. */
#pragma once

#include "page/answers.h"
#include <pthread.h>

struct live {
  /* Set by live_open; constant afterwards. */
  const char *path; /* a trace; or a folder or a pattern: FOLDER */
  struct recording_options options;
  const struct recording *before; /* with which the trace is compared, or NULL */
  bool followed;                  /* the trace was growing */
  /* Protected by `asking`. */
  pthread_mutex_t asking;
  struct recording *recording;
  struct answers answers;
  /* Protected by `watching`; `news` is signalled at each change. */
  pthread_mutex_t watching;
  pthread_cond_t news;
  uint64_t generation; /* changes so far */
  bool growing, interesting, stopping;
  unsigned listeners;
  /* The follower's, after live_open. */
  uint64_t loaded; /* the stamp of what is loaded */
  unsigned misses; /* how often in a row the traces could not be listed */
  pthread_t follower;
  bool following; /* `follower` is to be joined; the owner's */
};

/* Loads the trace, with progress on a terminal. The path, the options' texts and `before` (or NULL)
 * must outlive it. */
wn_status live_open(struct live *live, const char *path, const struct recording_options *options,
                    const struct recording *before);

/* Begins to follow the trace, if it grows. WN_ENOMEM: there is no thread. */
wn_status live_start(struct live *live);

/* Ends the follower, and has live_wait return NEWS_STOP. live_close comes once no thread asks. */
void live_stop(struct live *live);
void live_close(struct live *live);

/* For any thread: waits until no other one asks, and keeps the state until live_release. Meanwhile the
 * thread asks live->answers. */
void live_hold(struct live *live);
void live_release(struct live *live);

/* Somebody looks at the trace: see 1. */
void live_touch(struct live *live);

/* A listener comes and goes, and waits at most so long for a change since *seen, which begins as
 * LIVE_NOTHING_SEEN: so that a listener is told the state first. */
enum live_news { NEWS_NONE, NEWS_GROWING, NEWS_ENDED, NEWS_STOP };
#define LIVE_NOTHING_SEEN UINT64_MAX
void live_listen(struct live *live);
void live_unlisten(struct live *live);
enum live_news live_wait(struct live *live, uint64_t *seen, unsigned milliseconds);
/* SPDX-License-Identifier: MIT */
