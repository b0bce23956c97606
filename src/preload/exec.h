/* The exec functions, which end a trace when they succeed. */
#ifndef PRELOAD_EXEC_H
#define PRELOAD_EXEC_H

/* Finds the real functions beforehand, since a signal handler or a child of vfork must not call the
 * loader. */
void exec_resolve(void);

#endif
/* SPDX-License-Identifier: MIT */
