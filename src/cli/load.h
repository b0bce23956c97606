/* Loads recordings for the commands that answer questions about them. */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H

#include "analysis/recording.h"

/* As recording_load, and shows progress on a terminal. */
wn_status load_recording(const char *path, const struct recording_options *options,
                         struct recording **recording);

#endif
/* SPDX-License-Identifier: MIT */
