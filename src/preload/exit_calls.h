/* _exit and _Exit, as the program sees them. */
#ifndef PRELOAD_EXIT_CALLS_H
#define PRELOAD_EXIT_CALLS_H

/* Looks up the C library's functions. Before that, ours end the process by the system call. */
void exit_calls_resolve(void);

#endif
/* SPDX-License-Identifier: MIT */
