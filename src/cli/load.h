/* Loads recordings for the commands that answer questions about them. */
#pragma once

#include "cli/inputs.h"
#include "cli/options.h"

/* Loads the traces of these names as one recording, as a command's options say: files, folders,
 * patterns (inputs.h), or standard input for "-". Files that cannot be joined are named on standard
 * error and counted in options->unread. Returns an exit code, after a message, if nothing can be
 * loaded. */
int load_files(struct report_options *options, const char *const *names, size_t count,
               struct recording **recording);
int load_file(struct report_options *options, const char *name, struct recording **recording);

/* Loads inputs that are open, and shows progress on a terminal; load_joined loads several, and shows
 * none. `name` is for messages. */
wn_status load_inputs(struct inputs *inputs, const char *name, const struct recording_options *options,
                      struct recording **recording);
wn_status load_joined(struct inputs *inputs, const char *name, const struct recording_options *options,
                      struct recording **recording);

/* Names the files that were left out, and returns how many of them are not copies. */
size_t load_say_left_out(const struct inputs *inputs);

/* Says on standard error what a trace lacks, if something is known to be lost. Commands call it
 * whose own text does not say it. It is no failure: what is there is right. */
void load_say_missing(const char *name, const struct trace_damage *damage);

/* What is missing of a trace that dropped chunks, and why, without a full stop: "what was recorded
 * from 1.2 s to 3.4 s is missing, since …". */
enum { LOAD_DROPPED_BYTES = 320 };
const char *load_tell_dropped(char text[LOAD_DROPPED_BYTES], const struct trace_damage *damage);

/* Returns WN_EINVAL: the moment that the user asked for is after the end of the trace. */
wn_status load_refuse_time(const struct report_options *options, uint64_t end_ns);

/* The moment that a command's options ask for; without one the end, if memory ran out there. */
enum when load_moment(const struct report_options *options, const struct recording *recording);

/* Asks a recording what a command's options ask. WN_EINVAL: their moment is after the end of the
 * trace, or as report_ask says. */
wn_status load_report(const struct report_options *options, const struct recording *recording,
                      struct report *report);

/* Says on standard error if both recordings are one, loaded from these names, and what makes a comparison
 * of two heap snapshots doubtful (analysis/compare/doubts.h). */
void load_warn_of_pair(const char *before_name, const struct recording *before, const char *after_name,
                       const struct recording *after);

/* Refuses what needs single blocks, such as a page, for a profile that has totals alone. WN_EINVAL: it
 * is one. `what`: "a page". */
wn_status load_needs_events(const struct recording *recording, const char *name, const char *what);

/* The same for what needs to know when which block was freed. */
wn_status load_needs_lives(const struct recording *recording, const char *name, const char *what);

/* Where one of two files tells nothing of the peak, what both held at the end is compared, unless the
 * user asked for something else. */
bool load_asks_end(const struct report_options *options, const struct recording *before,
                   const struct recording *after);

/* Whether a recording is a heap snapshot. */
bool load_is_snapshot(const struct recording *recording);

/* WN_EFORMAT: one of two recordings, loaded from these names, is a heap snapshot, and the other is
 * none. `before`, NULL: there is one alone. */
wn_status load_refuse_unlike(const char *before_name, const struct recording *before, const char *after_name,
                             const struct recording *after);

/* WN_EINVAL: the user asked for a grouping of which the file tells nothing. load_files asks, too. */
wn_status load_check_grouping(const struct report_options *options, const struct recording *recording,
                              const char *name);

/* WN_EINVAL: the user asked for a moment, the first or second (`which`: 0, 1), of which such a profile
 * tells nothing. */
wn_status load_check_moment(const struct report_options *options, int which,
                            const struct recording *recording, const char *name);
/* SPDX-License-Identifier: MIT */
