/* Loads recordings for the commands that answer questions about them. */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H

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

/* Asks a recording what a command's options ask. WN_EINVAL: their moment is after the end of the
 * trace, or as report_ask says. */
wn_status load_report(const struct report_options *options, const struct recording *recording,
                      struct report *report);

/* Whether both names are of one file. False if one of them is of none. */
bool load_is_same_file(const char *one, const char *other);

/* Says on standard error if both recordings are one, loaded from these names. */
void load_warn_of_same(const char *before_name, const struct recording *before, const char *after_name,
                       const struct recording *after);

#endif
/* SPDX-License-Identifier: MIT */
