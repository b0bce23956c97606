/* One recording that is served: a trace, loaded when something is asked about it.
 *
 * What is asked again and again is kept apart from the loaded trace: the ledger of profiles and the
 * meters of metrics, each with the stamp of the trace that it was updated from. So an answer about
 * a trace that has not changed loads nothing, and the loaded trace can be dropped from memory at
 * any time.
 *
 * REST. A trace that takes more than a second to load, or to fail to, is loaded at most a third of
 * the time. In between its last state is served; what needs a loaded trace that there is not has to
 * wait.
 *
 * LIFE. A recording is served while its process writes the trace, and ENDED_SECONDS longer. Then it
 * is gone: but for its page, which shows any trace, and its entry, which says when it ended. A
 * trace that the user named as a file is served for ever. A trace that had ended when it was found
 * is gone from the start.
 *
 * LINKS. The path of a trace that the user named may be a link. One that was found may not, where
 * base/open_file.h refuses them: its folder may be another user's.
 *
 * MISSED. An event whose thread was delayed between taking its time and writing it, while a later
 * one was seen, is in no total: one of each thread at most, each time the state is updated.
 *
 * One thread uses a target at a time. */
#pragma once

#include "cli/scrape/ask.h"
#include "cli/scrape/meters.h"
#include "export/ledger.h"
#include "sources/files/joined.h"

enum { ENDED_SECONDS = 300 };

struct target {
  char *path;
  bool named; /* LIFE, LINKS */
  /* What the trace says of its process; anew when another process writes the file. */
  struct joined_identity identity;
  pid_t pid; /* as other processes see it, where that is known */
  char service[SERVICE_MOST];
  char *command; /* its arguments, each with a NUL behind it */
  size_t command_length;
  bool growing, seen; /* seen: since the list was last made */
  uint64_t ended_ns;  /* of the monotonic clock, when the end was noticed; 0: it grows, or had ended before */
  uint64_t ended_wall_ns;
  /* The loaded trace, or NULL, and when it was used last. */
  struct recording *recording;
  uint64_t stamp, used_ns;
  uint64_t rest_until_ns; /* REST */
  /* stamp 0: not made yet; next_ns: of the trace, what was allocated from then on is not in it. */
  struct ledger ledger;
  uint64_t ledger_stamp, ledger_next_ns, ledger_used_ns;
  struct meters meters;
  uint64_t meters_stamp, meters_next_ns;
  double cost, rate; /* as in metrics.h, with the meters */
  double period;     /* bytes between two samples, by the trace that was loaded last */
  double lost_records;
  struct cursors cursors;
};

/* Reads who writes a trace. `pid` 0: as the trace has it. `named`: by the user, as a file. NULL: it
 * cannot be read. */
struct target *target_open(const char *path, pid_t pid, bool growing, bool named);
void target_close(struct target *target);

/* The trace has another path: a recording into a folder becomes a file at its end. */
void target_move(struct target *target, const char *path);

/* Notes whether the process still writes the trace. One that does so anew is another recording. */
void target_note(struct target *target, pid_t pid, bool growing);

/* Whether two targets are one recording, by two paths. */
bool target_is_same(const struct target *one, const struct target *other);

/* LIFE */
bool target_is_served(const struct target *target);

/* Loads the trace unless it is loaded as it is. wn_last_error says why not. WN_EBUSY: REST. */
wn_status target_load(struct target *target, const struct recording_options *options);

/* target_load loads the trace now, for a command that has to have it and reads it seldom. */
void target_end_rest(struct target *target);

/* In how many seconds target_load will load a trace; 0: now, or it is loaded. */
unsigned target_rest_seconds(const struct target *target);

/* Bring the ledger, or the meters, to the state of the trace; load it if they are not. A trace that
 * cannot be read, or rests, changes nothing if there is a state before. */
wn_status target_update_ledger(struct target *target, const struct recording_options *options);
wn_status target_update_meters(struct target *target, const struct recording_options *options);

/* Sets a new ledger, which the caller destroys, to what the loaded trace has from a time on. */
wn_status target_window(const struct target *target, uint64_t since_ns, struct ledger *ledger);

/* Whether the loaded trace is all that its process ever wrote. */
bool target_is_whole(const struct target *target);

/* The time of the loaded trace at which it is now: of one that grows, since it may have allocated
 * nothing lately. */
uint64_t target_now_ns(const struct target *target);

/* The time of the loaded trace at a time of the monotonic clock; its end, if it does not have its
 * begin by that clock. */
uint64_t target_time_of(const struct target *target, uint64_t monotonic_ns);

/* Drop what takes memory: the loaded trace, the ledger, or all state, as if nothing had been asked. */
void target_unload(struct target *target);
void target_drop_ledger(struct target *target);
void target_forget(struct target *target);
/* SPDX-License-Identifier: MIT */
