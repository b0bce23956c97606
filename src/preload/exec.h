/* The exec functions, which end a trace when they succeed. */
#ifndef PRELOAD_EXEC_H
#define PRELOAD_EXEC_H

/* Finds the real functions, so that nothing is left to find where the loader must not be asked: in
 * a signal handler, or in a child of vfork. */
void exec_resolve(void);

#endif
/* SPDX-License-Identifier: MIT */
