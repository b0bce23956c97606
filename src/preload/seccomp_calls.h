/* Filters of system calls, as the program installs them. */
#ifndef PRELOAD_SECCOMP_CALLS_H
#define PRELOAD_SECCOMP_CALLS_H

#include <linux/filter.h>
#include <stdbool.h>

/* False if the filter would end the process, or call one of its handlers, at a system call that
 * recording makes. A filter that lets such a call fail does no harm. */
bool seccomp_allows_recording(const struct sock_fprog *filter);

#endif
/* SPDX-License-Identifier: MIT */
