/* Loads a trace again and again, and answers from what was loaded last. */
#include "cli/serve/live.h"

#include "base/error.h"
#include "cli/load.h"
#include <errno.h>
#include <string.h>
#include <time.h>

/* See 6. */
enum { REST_LEAST_MS = 300, REST_AFTER_LOADING = 2, REST_AFTER_LOOKING = 100, MISSES_MOST = 5 };

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
static void live_exchange(struct live *live, struct recording *recording) {
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

/* Loads the traces anew if they have changed, there are more, or no process writes them any more.
 * The stamp comes first: what is written afterwards makes the next one differ. */
static bool load_changed(struct live *live, bool *growing) {
  struct inputs inputs;
  struct recording *recording;
  bool changed = false;
  if (inputs_open(&inputs, &live->path, 1)) { /* the folder may be becoming a file */
    *growing = live->misses++ < MISSES_MOST;
    return false;
  }
  live->misses = 0;
  uint64_t found = inputs_stamp(&inputs);
  *growing = inputs_are_growing(&inputs);
  if ((found != live->loaded || !*growing) && !load_joined(&inputs, live->path, &live->options, &recording)) {
    live_exchange(live, recording);
    live->loaded = found;
    changed = true;
  }
  inputs_close(&inputs);
  return changed;
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

static void live_tell(struct live *live, bool growing) {
  pthread_mutex_lock(&live->watching);
  live->generation++;
  live->growing = growing;
  pthread_cond_broadcast(&live->news);
  pthread_mutex_unlock(&live->watching);
}

static void live_rest(struct live *live, uint64_t rest_ms) {
  uint64_t end = now_ms() + (rest_ms > REST_LEAST_MS ? rest_ms : REST_LEAST_MS);
  pthread_mutex_lock(&live->watching);
  while (!live->stopping && wait_until(live, end)) {}
  pthread_mutex_unlock(&live->watching);
}

static void *live_follow(void *context) {
  struct live *live = context;
  while (wait_for_interest(live)) {
    uint64_t began = now_ms();
    bool growing = false, changed = load_changed(live, &growing); /* 2 and 3 */
    if (changed || !growing) live_tell(live, growing);
    if (!growing) break;
    live_rest(live, (now_ms() - began) * (changed ? REST_AFTER_LOADING : REST_AFTER_LOOKING));
  }
  return NULL;
}

/* ---- the beginning ---- */

static wn_status load_first(struct live *live) {
  struct inputs inputs;
  wn_status error = inputs_open(&inputs, &live->path, 1);
  if (error) return error;
  live->growing = live->followed = inputs_are_growing(&inputs);
  if (live->followed) live->loaded = inputs_stamp(&inputs);
  error = load_inputs(&inputs, live->path, &live->options, &live->recording);
  if (inputs.several && error != WN_EINVAL) load_say_left_out(&inputs);
  inputs_close(&inputs);
  return error;
}

/* ---- shared ---- */

wn_status live_open(struct live *live, const char *path, const struct recording_options *options,
                    const struct recording *before) {
  *live = (struct live){.path = path, .options = *options, .before = before};
  wn_status error = load_first(live);
  if (error) return error;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&live->news, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&live->asking, NULL);
  pthread_mutex_init(&live->watching, NULL);
  answers_create(&live->answers, live->recording, before);
  live->answers.state = live->followed;
  return WN_OK;
}

wn_status live_start(struct live *live) {
  if (!live->followed) return WN_OK;
  live->following = !pthread_create(&live->follower, NULL, live_follow, live);
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
