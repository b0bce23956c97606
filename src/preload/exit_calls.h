/* _exit and _Exit, as the program sees them. */
#ifndef PRELOAD_EXIT_CALLS_H
#define PRELOAD_EXIT_CALLS_H

/* Looks up the functions behind ours. Until then they are done without. */
void exit_calls_resolve(void);

#endif
/* SPDX-License-Identifier: MIT */
