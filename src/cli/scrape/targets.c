/* Finds recordings. */
#include "cli/scrape/targets.h"

#include "base/array.h"
#include "base/os.h"
#include "cli/input.h"
#include "cli/inputs.h"
#include "cli/recordings.h"
#include "symbols/symbols.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SYMBOLS_SECONDS = 3600 };
#define SECOND_NS UINT64_C(1000000000)

/* ---- the list ---- */

static struct target *targets_find(const struct targets *targets, const char *path) {
  for (size_t i = 0; i < targets->count; i++)
    if (!strcmp(targets->items[i]->path, path)) return targets->items[i];
  return NULL;
}

/* The recording that is known by another path. */
static struct target *find_same(const struct targets *targets, const struct target *other) {
  for (size_t i = 0; i < targets->count; i++)
    if (target_is_same(targets->items[i], other)) return targets->items[i];
  return NULL;
}

/* Where a new recording goes; NULL: there is no room. */
static struct target **targets_place_for_new(struct targets *targets, bool growing) {
  if (targets->count < targets->most &&
      array_reserve(&targets->items, &targets->capacity, targets->count + 1, sizeof *targets->items))
    return &targets->items[targets->count];
  for (size_t i = 0; i < targets->count && growing; i++)
    if (!target_is_served(targets->items[i])) return &targets->items[i];
  return NULL;
}

static void targets_add(struct targets *targets, struct target *target) {
  struct target **place = targets_place_for_new(targets, target->growing);
  target->seen = true;
  targets->left_out += !place;
  if (place == &targets->items[targets->count])
    targets->count++;
  else
    target_close(place ? *place : target);
  if (place) *place = target;
}

/* Adds a recording, or notes its state. False: it is new, and cannot be read. */
static bool targets_note(struct targets *targets, const char *path, pid_t pid, bool growing, bool named) {
  struct target *known = targets_find(targets, path),
                *target = known ? NULL : target_open(path, pid, growing, named);
  if (target && (known = find_same(targets, target))) {
    if (access(known->path, F_OK)) target_move(known, path);
    known->named |= named;
    target_close(target);
  }
  if (known)
    target_note(known, pid, growing);
  else if (target)
    targets_add(targets, target);
  return known || target;
}

/* ---- looking ---- */

static void note_processes(struct targets *targets, struct recordings *found) {
  for (size_t i = 0; i < found->count; i++)
    targets_note(targets, found->items[i].path, found->items[i].pid, true, false);
  recordings_destroy(found);
}

static bool is_process(const char *argument) { return !argument[strspn(argument, "0123456789")]; }

static wn_status targets_look_at(struct targets *targets, const char *argument) {
  struct recordings found = {0};
  struct inputs inputs;
  wn_status error;
  if (is_process(argument)) {
    error = recordings_find(&found, argument);
    note_processes(targets, &found);
    return error;
  }
  error = inputs_open(&inputs, &argument, 1);
  if (error) return error == WN_EINVAL && inputs_has_several(argument) ? WN_OK : error; /* none yet */
  for (size_t i = 0; i < inputs.count; i++)
    if (!targets_note(targets, inputs.names[i], 0, inputs.parts[i].writing, !inputs.several) &&
        !inputs.several)
      error = WN_EIO;
  inputs_close(&inputs);
  return error;
}

static wn_status look_targets(struct targets *targets) {
  struct recordings found;
  wn_status error = WN_OK;
  for (size_t i = 0; i < targets->count; i++) targets->items[i]->seen = false;
  targets->left_out = 0;
  for (int i = 0; i < targets->argument_count; i++) {
    wn_status failed = targets_look_at(targets, targets->arguments[i]);
    if (failed) error = failed;
  }
  if (!targets->argument_count && !(error = recordings_find_all(&found))) note_processes(targets, &found);
  for (size_t i = 0; i < targets->count; i++) {
    struct target *target = targets->items[i];
    if (!target->seen) target_note(target, 0, target->growing && input_is_growing(target->path));
  }
  targets->looked_ns = os_monotonic_ns();
  return error;
}

/* Whether a recording that is asked for is where it was: at its end it may move. */
static bool targets_is_known(const struct targets *targets, const struct ask *ask) {
  for (size_t i = 0; i < targets->count; i++) {
    const struct target *target = targets->items[i];
    if (targets_match(target, ask) && target_is_served(target)) return !access(target->path, F_OK);
  }
  return false;
}

/* ---- memory ---- */

static void drop_recordings(struct targets *targets) {
  uint64_t now = os_monotonic_ns();
  for (;;) {
    struct target *oldest = NULL;
    size_t loaded = 0;
    for (size_t i = 0; i < targets->count; i++) {
      struct target *target = targets->items[i];
      if (!target->recording) continue;
      loaded++;
      if (!oldest || target->used_ns < oldest->used_ns) oldest = target;
    }
    if (!oldest || (loaded <= LOADED_MOST && now - oldest->used_ns < IDLE_SECONDS * SECOND_NS)) break;
    target_unload(oldest);
  }
}

static void drop_ledgers(struct targets *targets) {
  for (;;) {
    struct target *oldest = NULL;
    size_t bytes = 0;
    for (size_t i = 0; i < targets->count; i++) {
      struct target *target = targets->items[i];
      bytes += target->ledger.bytes;
      if (target->ledger_stamp && (!oldest || target->ledger_used_ns < oldest->ledger_used_ns))
        oldest = target;
    }
    if (!oldest || bytes <= LEDGERS_BYTES) break;
    target_drop_ledger(oldest);
  }
}

static void drop_names(struct names_options *names) {
  if (!names->lasting || symbols_answer_bytes(names->lasting) <= NAMES_BYTES) return;
  symbols_close(names->lasting);
  names->lasting = NULL;
}

/* ---- shared ---- */

wn_status targets_open(struct targets *targets, size_t most, char **arguments, int count,
                       const struct recording_options *options) {
  *targets =
      (struct targets){.arguments = arguments, .argument_count = count, .options = *options, .most = most};
  pthread_mutex_init(&targets->lock, NULL);
  return look_targets(targets);
}

void targets_close(struct targets *targets) {
  for (size_t i = 0; i < targets->count; i++) target_close(targets->items[i]);
  free(targets->items);
  symbols_close(targets->options.names.lasting);
  pthread_mutex_destroy(&targets->lock);
}

void targets_look(struct targets *targets, const struct ask *ask) {
  uint64_t age_ms = (os_monotonic_ns() - targets->looked_ns) / 1000000;
  if (age_ms >= LOOK_MS || (ask && !targets_is_known(targets, ask) && age_ms >= LOOK_MS / 20))
    (void)look_targets(targets);
}

void targets_drop(struct targets *targets, size_t number) {
  target_close(targets->items[number]);
  memmove(&targets->items[number], &targets->items[number + 1],
          (--targets->count - number) * sizeof *targets->items);
}

bool targets_match(const struct target *target, const struct ask *ask) {
  return (!ask->pid || ask->pid == target->pid) && (!*ask->service || !strcmp(ask->service, target->service));
}

const struct recording_options *targets_options(struct targets *targets) {
  struct names_options *names = &targets->options.names;
  uint64_t now = os_monotonic_ns();
  if (names->lasting && now - targets->symbols_ns < SYMBOLS_SECONDS * SECOND_NS) return &targets->options;
  struct symbols_options wanted = {.search = names->search, .lasting = true};
  symbols_close(names->lasting);
  names->lasting = names->symbols ? symbols_open(&wanted) : NULL;
  targets->symbols_ns = now;
  return &targets->options;
}

void targets_tidy(struct targets *targets) {
  drop_recordings(targets);
  drop_ledgers(targets);
  drop_names(&targets->options.names);
  for (size_t i = 0; i < targets->count; i++)
    if (!target_is_served(targets->items[i]) && !targets->items[i]->recording)
      target_forget(targets->items[i]);
}
/* SPDX-License-Identifier: MIT */
