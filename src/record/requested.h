/* What the environment asks of a program that writes its own trace. */
#ifndef RECORD_REQUESTED_H
#define RECORD_REQUESTED_H

#include <winnow/profile.h>

/* The sampling that is usual, with no seed. */
wn_memprof_options recording_usual(void);

/* Where WINNOW_TRACE names a file, `*path` is that, and `*options` what the other variables say, or
 * the defaults; else `*path` is NULL. So it is, too, in a program that `winnow record` runs: there
 * the request is for malloc's heap. WN_EINVAL: a variable is wrong. */
wn_status recording_requested(const char **path, wn_memprof_options *options);

#endif
/* SPDX-License-Identifier: MIT */
