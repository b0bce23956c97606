/* Loads a trace, and updates what is kept of it. */
#include "cli/scrape/target.h"

#include "analysis/load/rates.h"
#include "base/error.h"
#include "base/os.h"
#include "base/text.h"
#include "base/utf8.h"
#include "sources/files/open.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define REST_FROM_NS UINT64_C(1000000000)

/* LINKS: the path by which a trace is opened. */
static const char *target_file_of(const struct target *target, char file[PATH_MAX]) {
  return target->named && realpath(target->path, file) ? file : target->path;
}

static uint64_t stamp_of(const struct target *target) {
  char file[PATH_MAX];
  return source_stamp(target_file_of(target, file));
}

static bool is_same_target(const struct joined_identity *one, const struct joined_identity *other) {
  return !memcmp(one, other, sizeof *one); /* joined.h: they are compared as bytes */
}

/* ---- who writes it ---- */

/* The unit of systemd that a process belongs to, such as "nginx" of nginx.service. False: to none.
 */
static bool read_unit(pid_t pid, char service[SERVICE_MOST]) {
  char path[40], text[4096];
  static const char ending[] = ".service";
  snprintf(path, sizeof path, "/proc/%d/cgroup", (int)pid);
  if (os_read_file(path, text, sizeof text) <= 0) return false;
  char *line = strstr(text, "0::"), *name = line ? strtok(line, "\n") : NULL;
  for (char *slash; name && (slash = strrchr(name, '/')); *slash = 0) {
    size_t length = strlen(slash + 1), cut = sizeof ending - 1;
    if (length <= cut || length - cut >= SERVICE_MOST || strcmp(slash + 1 + length - cut, ending) != 0)
      continue;
    if (text_begins(slash + 1, "user@")) return false;
    snprintf(service, SERVICE_MOST, "%.*s", (int)(length - cut), slash + 1);
    return true;
  }
  return false;
}

static void name_service(struct target *target) {
  const char *program = target->command_length ? command_name(target->command) : "unknown";
  if (!target->growing || !read_unit(target->pid, target->service))
    snprintf(target->service, sizeof target->service, "%s", program);
  utf8_make_plain(target->service);
}

static wn_status target_read_head(struct target *target, pid_t pid) {
  struct source *source;
  char file[PATH_MAX];
  wn_status error = source_open(target_file_of(target, file), &source);
  if (error) return error;
  const struct trace_run *run = source_run(source);
  target->identity = joined_identity_of(run);
  target->pid = pid ? pid : (pid_t)run->pid;
  free(target->command);
  target->command_length = run->command.length;
  target->command = malloc(target->command_length + 1);
  if (target->command) memcpy(target->command, run->command.bytes, target->command_length);
  if (target->command) target->command[target->command_length] = 0;
  source_close(source);
  if (!target->command) return error_set(WN_ENOMEM, "not enough memory");
  name_service(target);
  return WN_OK;
}

/* ---- the trace ---- */

/* Another process may have begun to write the file. */
static wn_status check_identity(struct target *target) {
  struct joined_identity found = joined_identity_of(source_run(target->recording->samples->source));
  if (is_same_target(&found, &target->identity)) return WN_OK;
  target_forget(target);
  return target_read_head(target, 0);
}

/* Without an error and a recording the target has become that of another process. */
static wn_status load_once(struct target *target, uint64_t stamp, const struct recording_options *options) {
  char file[PATH_MAX];
  struct joined_part part = {.path = target_file_of(target, file),
                             .name = target->path,
                             .writing = target->growing,
                             .selected = true};
  struct recording *recording;
  wn_status error = recording_load_joined(&part, 1, target->path, options, &recording);
  if (error) return error;
  target_unload(target);
  target->recording = recording;
  target->stamp = stamp;
  target->period = recording->rate > 0 && recording->rate < 1 ? recording->byte_unit : 1;
  return check_identity(target);
}

static wn_status load_target(struct target *target, uint64_t stamp, const struct recording_options *options) {
  for (int tries = 0; tries < 3; tries++) {
    wn_status error = load_once(target, stamp, options);
    if (error || target->recording) return error;
  }
  return error_set(WN_EIO, "%s: one process after another writes it", target->path);
}

/* REST */
static void target_begin_rest(struct target *target, uint64_t began_ns) {
  uint64_t now = os_monotonic_ns(), took = now - began_ns;
  target->rest_until_ns = took > REST_FROM_NS ? now + 2 * took : 0;
}

static bool rests(const struct target *target) { return os_monotonic_ns() < target->rest_until_ns; }

static wn_status refuse_to_load(const struct target *target) {
  return error_set(WN_EBUSY, "%s takes long to read, and was read a moment ago: ask again later",
                   target->path);
}

/* ---- what is kept ---- */

static wn_status target_ask(const struct target *target, struct report *report) {
  return report_ask(target->recording, &(struct question){.at = AT_END}, report);
}

static void note_facts(struct target *target) {
  const struct samples *samples = target->recording->samples;
  double lost = (double)source_damage(samples->source)->records_lost;
  uint64_t cost_ns, processor_ns;
  samples_cost(samples, &cost_ns, &processor_ns);
  target->cost = processor_ns ? (double)cost_ns / (double)processor_ns : -1;
  double rate = samples->rate_change_count ? samples->rate_changes[samples->rate_change_count - 1].rate
                                           : source_run(samples->source)->rate;
  target->rate = samples->rate_share > 0 ? rate / samples->rate_share : rate; /* that of the process */
  if (lost > target->lost_records)
    target->lost_records = lost; /* a counter: records that say so may be dropped */
}

/* Loads what the state with this stamp is not of. True: there is something to update from. Loading
 * may find another process's trace, and forget the state. */
static bool is_behind(struct target *target, const uint64_t *stamp, const struct recording_options *options,
                      wn_status *error) {
  *error = WN_OK;
  if (*stamp && (rests(target) || *stamp == stamp_of(target))) return false;
  *error = target_load(target, options);
  if (!*error) return target->stamp != *stamp;
  if (*stamp) *error = WN_OK;
  return false;
}

/* ---- shared ---- */

struct target *target_open(const char *path, pid_t pid, bool growing, bool named) {
  struct target *target = calloc(1, sizeof *target);
  if (!target) return NULL;
  target->path = strdup(path);
  target->growing = growing;
  target->named = named;
  if (target->path && !target_read_head(target, pid)) return target;
  target_close(target);
  return NULL;
}

void target_close(struct target *target) {
  target_forget(target);
  free(target->command);
  free(target->path);
  free(target);
}

void target_move(struct target *target, const char *path) {
  char *copy = strdup(path);
  if (!copy) return;
  free(target->path);
  target->path = copy;
}

void target_note(struct target *target, pid_t pid, bool growing) {
  target->seen = true;
  if (target->growing && !growing) {
    target->ended_ns = os_monotonic_ns();
    target->ended_wall_ns = os_wall_ns();
  } else if (!target->growing && growing) {
    target->ended_ns = 0;
    target->growing = true; /* name_service asks */
    struct joined_identity before = target->identity;
    if (!target_read_head(target, pid) && !is_same_target(&before, &target->identity)) target_forget(target);
  }
  target->growing = growing;
}

bool target_is_same(const struct target *one, const struct target *other) {
  return one->identity.wall_ns && is_same_target(&one->identity, &other->identity);
}

bool target_is_served(const struct target *target) {
  uint64_t most = ENDED_SECONDS * UINT64_C(1000000000);
  return target->named || target->growing ||
         (target->ended_ns && os_monotonic_ns() - target->ended_ns < most);
}

wn_status target_load(struct target *target, const struct recording_options *options) {
  uint64_t began_ns = target->used_ns = os_monotonic_ns();
  if (rests(target)) return target->recording ? WN_OK : refuse_to_load(target);
  uint64_t stamp = stamp_of(target); /* what is written afterwards makes the next one differ */
  if (target->recording && target->stamp == stamp && stamp) return WN_OK;
  wn_status error = load_target(target, stamp ? stamp : 1, options);
  target_begin_rest(target, began_ns);
  return error;
}

void target_end_rest(struct target *target) { target->rest_until_ns = 0; }

unsigned target_rest_seconds(const struct target *target) {
  uint64_t now = os_monotonic_ns(), second = UINT64_C(1000000000);
  if (target->recording || now >= target->rest_until_ns) return 0;
  return (unsigned)((target->rest_until_ns - now + second - 1) / second);
}

wn_status target_update_ledger(struct target *target, const struct recording_options *options) {
  struct report report;
  wn_status error;
  target->ledger_used_ns = os_monotonic_ns();
  if (!is_behind(target, &target->ledger_stamp, options, &error)) return error;
  if (!target->ledger.values) error = ledger_create(&target->ledger);
  if (!error) error = target_ask(target, &report);
  if (error) return error;
  error = ledger_update(&target->ledger, &report, target->ledger_next_ns);
  report_destroy(&report);
  if (error) return error;
  target->ledger_stamp = target->stamp;
  target->ledger_next_ns = target->recording->samples->end_ns + 1;
  return WN_OK;
}

wn_status target_update_meters(struct target *target, const struct recording_options *options) {
  struct report report;
  wn_status error;
  if (!is_behind(target, &target->meters_stamp, options, &error)) return error;
  error = target_ask(target, &report);
  if (error) return error;
  error = meters_update(&target->meters, &report, target->meters_next_ns);
  report_destroy(&report);
  if (error) return error;
  note_facts(target);
  target->meters_stamp = target->stamp;
  target->meters_next_ns = target->recording->samples->end_ns + 1;
  return WN_OK;
}

wn_status target_window(const struct target *target, uint64_t since_ns, struct ledger *ledger) {
  struct report report;
  wn_status error = ledger_create(ledger);
  if (error) return error;
  error = target_ask(target, &report);
  if (error) return error;
  error = ledger_update(ledger, &report, since_ns);
  report_destroy(&report);
  return error;
}

bool target_is_whole(const struct target *target) {
  return !target->growing && target->stamp == stamp_of(target);
}

uint64_t target_now_ns(const struct target *target) {
  const struct samples *samples = target->recording->samples;
  uint64_t now = os_monotonic_ns(), began = source_run(samples->source)->monotonic_ns;
  if (!target->growing || !began || now < began || now - began < samples->end_ns) return samples->end_ns;
  return now - began;
}

uint64_t target_time_of(const struct target *target, uint64_t monotonic_ns) {
  const struct samples *samples = target->recording->samples;
  uint64_t began = source_run(samples->source)->monotonic_ns;
  return !began ? samples->end_ns : monotonic_ns > began ? monotonic_ns - began : 0;
}

void target_unload(struct target *target) {
  recording_free(target->recording);
  target->recording = NULL;
}

void target_drop_ledger(struct target *target) {
  if (target->ledger.values || target->ledger.modules) ledger_destroy(&target->ledger);
  target->ledger_stamp = target->ledger_next_ns = 0;
}

void target_forget(struct target *target) {
  target_unload(target);
  target_drop_ledger(target);
  target->meters = (struct meters){.count = 0};
  target->meters_stamp = target->meters_next_ns = 0;
  target->lost_records = 0;
  target->cursors = (struct cursors){.count = 0};
}
/* SPDX-License-Identifier: MIT */
