/* What the environment requests of a program that writes its own trace. */
#pragma once

#include <winnow/profile.h>

/* The default options of sampling, without a seed. */
wn_memprof_options recording_usual(void);

/* If WINNOW_TRACE names a file, `*path` becomes its name, and the members of `*options` become what
 * the other variables say; those for which no variable is set stay, but for a seed of 0, which
 * becomes a fresh one. Else `*path` becomes NULL, and also in a process that `winnow record`
 * records: there the request is for malloc's heap. WN_EINVAL: a variable is wrong. */
wn_status recording_requested(const char **path, wn_memprof_options *options);
/* SPDX-License-Identifier: MIT */
