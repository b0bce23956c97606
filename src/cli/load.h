/* Loads recordings for the commands that answer questions about them. */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H

#include "cli/options.h"

/* As recording_load, and shows progress on a terminal. */
wn_status load_recording(const char *path, const struct recording_options *options,
                         struct recording **recording);

/* Loads the trace of that name, or standard input for "-", as a command's options say. Returns an
 * exit code, after a message, if that fails. */
int load_file(const struct report_options *options, const char *name, struct recording **recording);

#endif
/* SPDX-License-Identifier: MIT */
