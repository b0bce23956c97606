/* Loads a trace again and again, and answers from what was loaded last. */
#include "cli/live.h"

#include "base/error.h"
#include "cli/input.h"
#include "cli/load.h"
#include "sources/source.h"
#include <errno.h>
#include <time.h>

/* See 6. */
enum { REST_LEAST_MS = 300, REST_AFTER_LOADING = 2, REST_AFTER_LOOKING = 100 };

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
  answers_destroy(&live->answers);
  live->recording = recording;
  answers_create(&live->answers, recording, live->before);
  pthread_mutex_unlock(&live->asking);
  recording_free(old);
}

/* Loads the file anew if it has changed. The stamp comes first: what is written afterwards makes the
 * next one differ. */
static bool load_changed(struct live *live) {
  struct recording *recording;
  uint64_t found = source_stamp(live->path);
  if (!found || found == live->loaded) return false;
  if (recording_load(live->path, &live->options, &recording)) return false;
  exchange(live, recording);
  live->loaded = found;
  return true;
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

static void *follow(void *context) {
  struct live *live = context;
  while (wait_for_interest(live)) {
    uint64_t began = now_ms();
    bool growing = input_is_growing(live->path), changed = load_changed(live);
    if (changed || !growing) tell(live, growing);
    if (!growing) break;
    rest(live, (now_ms() - began) * (changed ? REST_AFTER_LOADING : REST_AFTER_LOOKING));
  }
  return NULL;
}

/* ---- shared ---- */

wn_status live_open(struct live *live, const char *path, const struct recording_options *options,
                    const struct recording *before) {
  *live = (struct live){.path = path, .options = *options, .before = before};
  live->growing = live->followed = input_is_growing(path);
  if (live->followed) live->loaded = source_stamp(path);
  wn_status error = load_recording(path, options, &live->recording);
  if (error) return error;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&live->news, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&live->asking, NULL);
  pthread_mutex_init(&live->watching, NULL);
  answers_create(&live->answers, live->recording, before);
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
  pthread_mutex_destroy(&live->watching);
  pthread_mutex_destroy(&live->asking);
  pthread_cond_destroy(&live->news);
}

wn_status live_ask(struct live *live, const char *request, size_t length, char **bytes, size_t *size) {
  live_touch(live);
  pthread_mutex_lock(&live->asking);
  wn_status error = answers_ask(&live->answers, request, length, bytes, size);
  pthread_mutex_unlock(&live->asking);
  return error;
}

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
