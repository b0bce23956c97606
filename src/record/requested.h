/* What the environment requests of a program that writes its own trace. */
#ifndef RECORD_REQUESTED_H
#define RECORD_REQUESTED_H

#include <winnow/profile.h>

/* The default options of sampling, without a seed. */
wn_memprof_options recording_usual(void);

/* If WINNOW_TRACE names a file, `*path` becomes its name, and `*options` what the other variables
 * say, or the defaults. Else `*path` becomes NULL, and also in a process that `winnow record`
 * records: there the request is for malloc's heap. WN_EINVAL: a variable is wrong. */
wn_status recording_requested(const char **path, wn_memprof_options *options);

#endif
/* SPDX-License-Identifier: MIT */
