/* Loads a trace again and again, and answers from what was loaded last. */
#include "cli/live.h"

#include "base/error.h"
#include "cli/chain.h"
#include "cli/input.h"
#include "cli/load.h"
#include "sources/source.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* See 6, and EXEC: the next program's trace is there once the dynamic linker has loaded it. */
enum { REST_LEAST_MS = 300, REST_AFTER_LOADING = 2, REST_AFTER_LOOKING = 100, AFTER_EXEC_MS = 3000 };

/* ---- time ---- */

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Waits for news until a time. False: it is past. */
static bool wait_until(struct live *live, uint64_t end_ms) {
  struct timespec end = {.tv_sec = (time_t)(end_ms / 1000), .tv_nsec = (long)(end_ms % 1000) * 1000000};
  return pthread_cond_timedwait(&live->news, &live->watching, &end) != ETIMEDOUT;
}

/* ---- the file ---- */

/* Exchanges the recording for a new one. */
static void exchange(struct live *live, struct recording *recording) {
  pthread_mutex_lock(&live->asking);
  struct recording *old = live->recording;
  uint32_t state = live->answers.state + 1;
  answers_destroy(&live->answers);
  live->recording = recording;
  answers_create(&live->answers, recording, live->before);
  live->answers.state = state;
  pthread_mutex_unlock(&live->asking);
  recording_free(old);
}

/* SEVERAL: as load_changed, for the traces of a folder or a pattern, which may have become more. */
static bool load_changed_inputs(struct live *live, bool *growing) {
  struct inputs inputs;
  struct recording *recording;
  bool changed = false;
  if (inputs_open(&inputs, &live->path, 1)) return false;
  uint64_t found = inputs_stamp(&inputs);
  *growing = inputs_are_growing(&inputs);
  if (found != live->loaded && !load_joined(&inputs, live->path, &live->options, &recording)) {
    exchange(live, recording);
    live->loaded = found;
    changed = true;
  }
  inputs_close(&inputs);
  return changed;
}

/* Loads the file anew if it has changed. The stamp comes first: what is written afterwards makes the
 * next one differ. */
static bool load_changed(struct live *live) {
  struct recording *recording;
  uint64_t found = source_stamp(live->file);
  if (!found || found == live->loaded) return false;
  if (recording_load(live->file, &live->options, &recording)) return false;
  exchange(live, recording);
  live->loaded = found;
  return true;
}

/* ---- EXEC ---- */

static bool ends_with_exec(const struct recording *recording) {
  return recording->samples->ended && recording->samples->end.kind == TRACE_END_EXEC;
}

/* The trace of the program that the process became after that of `file`; NULL: none yet. */
static char *next_file(const char *file, const struct recording *recording) {
  const struct samples *samples = recording->samples;
  if (!ends_with_exec(recording)) return NULL;
  return chain_next(file, source_run(samples->source), samples->end.time_ns);
}

static void go_to(struct live *live, char *file) {
  free(live->file);
  live->file = file;
  live->loaded = 0;
}

/* Goes on with another trace, if the one that is followed has a next one or is gone. */
static bool go_on(struct live *live) {
  char *next = next_file(live->file, live->recording);
  if (!next && strcmp(live->file, live->path) && access(live->file, F_OK)) next = strdup(live->path);
  if (next && strcmp(next, live->file)) return go_to(live, next), true;
  free(next);
  return false;
}

/* The trace that the process of `file` writes now, one that came after it; NULL: it writes none. */
static char *written_after(const char *file, const struct recording *recording,
                           const struct recording_options *options) {
  struct recording *its;
  char *next = next_file(file, recording), *after = NULL;
  if (!next || input_is_growing(next)) return next;
  if (!recording_load(next, options, &its)) {
    after = written_after(next, its, options);
    recording_free(its);
  }
  free(next);
  return after;
}

/* At the beginning: goes on to the program that the process is now. */
static void go_to_writer(struct live *live) {
  char *file = written_after(live->path, live->recording, &live->options);
  if (!file) return;
  go_to(live, file);
  live->growing = live->followed = load_changed(live);
}

/* ---- the follower ---- */

static bool wait_for_interest(struct live *live) {
  pthread_mutex_lock(&live->watching);
  while (!live->stopping && !live->listeners && !live->interesting)
    pthread_cond_wait(&live->news, &live->watching);
  live->interesting = false;
  bool go_on = !live->stopping;
  pthread_mutex_unlock(&live->watching);
  return go_on;
}

static void tell(struct live *live, bool growing) {
  pthread_mutex_lock(&live->watching);
  live->generation++;
  live->growing = growing;
  pthread_cond_broadcast(&live->news);
  pthread_mutex_unlock(&live->watching);
}

static void rest(struct live *live, uint64_t rest_ms) {
  uint64_t end = now_ms() + (rest_ms > REST_LEAST_MS ? rest_ms : REST_LEAST_MS);
  pthread_mutex_lock(&live->watching);
  while (!live->stopping && wait_until(live, end)) {}
  pthread_mutex_unlock(&live->watching);
}

/* 2 and 3. Returns whether the process still writes, or may be about to. */
static bool look(struct live *live, bool *changed) {
  bool growing = false;
  if (live->several) {
    *changed = load_changed_inputs(live, &growing);
    return growing;
  }
  do {
    growing = input_is_growing(live->file);
    *changed |= load_changed(live);
  } while (!growing && go_on(live));
  if (growing) live->wrote_ms = now_ms();
  return growing || (ends_with_exec(live->recording) && now_ms() - live->wrote_ms < AFTER_EXEC_MS);
}

static void *follow(void *context) {
  struct live *live = context;
  while (wait_for_interest(live)) {
    uint64_t began = now_ms();
    bool changed = false, growing = look(live, &changed);
    if (changed || !growing) tell(live, growing);
    if (!growing) break;
    rest(live, (now_ms() - began) * (changed ? REST_AFTER_LOADING : REST_AFTER_LOOKING));
  }
  return NULL;
}

/* ---- the beginning ---- */

static wn_status load_first(struct live *live) {
  struct inputs inputs;
  wn_status error = inputs_open(&inputs, &live->path, 1);
  if (error) return error;
  live->growing = live->followed = inputs_are_growing(&inputs);
  if (live->followed) live->loaded = live->several ? inputs_stamp(&inputs) : source_stamp(live->path);
  error = load_inputs(&inputs, live->path, &live->options, &live->recording);
  if (live->several && error != WN_EINVAL) load_say_left_out(&inputs);
  inputs_close(&inputs);
  return error;
}

/* ---- shared ---- */

wn_status live_open(struct live *live, const char *path, const struct recording_options *options,
                    const struct recording *before) {
  *live =
      (struct live){.path = path, .several = inputs_has_several(path), .options = *options, .before = before};
  live->wrote_ms = now_ms();
  live->file = strdup(path);
  wn_status error =
      live->file ? load_first(live) : error_set(WN_ENOMEM, "%s: not enough memory to read it", path);
  if (error) return free(live->file), error;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&live->news, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&live->asking, NULL);
  pthread_mutex_init(&live->watching, NULL);
  answers_create(&live->answers, live->recording, before);
  live->answers.state = live->followed;
  if (!live->growing && !live->several) go_to_writer(live);
  return WN_OK;
}

wn_status live_start(struct live *live) {
  if (!live->followed) return WN_OK;
  live->following = !pthread_create(&live->follower, NULL, follow, live);
  return live->following ? WN_OK : error_set(WN_ENOMEM, "cannot start a thread");
}

void live_stop(struct live *live) {
  pthread_mutex_lock(&live->watching);
  live->stopping = true;
  pthread_cond_broadcast(&live->news);
  pthread_mutex_unlock(&live->watching);
  if (live->following) pthread_join(live->follower, NULL);
  live->following = false;
}

void live_close(struct live *live) {
  if (!live->recording) return;
  answers_destroy(&live->answers);
  recording_free(live->recording);
  free(live->file);
  pthread_mutex_destroy(&live->watching);
  pthread_mutex_destroy(&live->asking);
  pthread_cond_destroy(&live->news);
}

void live_hold(struct live *live) {
  live_touch(live);
  pthread_mutex_lock(&live->asking);
}

void live_release(struct live *live) { pthread_mutex_unlock(&live->asking); }

void live_touch(struct live *live) {
  pthread_mutex_lock(&live->watching);
  live->interesting = true;
  pthread_cond_broadcast(&live->news);
  pthread_mutex_unlock(&live->watching);
}

void live_listen(struct live *live) {
  pthread_mutex_lock(&live->watching);
  live->listeners++;
  pthread_cond_broadcast(&live->news);
  pthread_mutex_unlock(&live->watching);
}

void live_unlisten(struct live *live) {
  pthread_mutex_lock(&live->watching);
  live->listeners--;
  pthread_mutex_unlock(&live->watching);
}

enum live_news live_wait(struct live *live, uint64_t *seen, unsigned milliseconds) {
  uint64_t end = now_ms() + milliseconds;
  pthread_mutex_lock(&live->watching);
  while (!live->stopping && *seen == live->generation && wait_until(live, end)) {}
  enum live_news news = live->stopping              ? NEWS_STOP
                        : *seen == live->generation ? NEWS_NONE
                        : live->growing             ? NEWS_GROWING
                                                    : NEWS_ENDED;
  *seen = live->generation;
  pthread_mutex_unlock(&live->watching);
  return news;
}
/* SPDX-License-Identifier: MIT */
