/* The end of a server, by a signal that its main thread waits for.
 *
 * The signals are blocked before any thread starts. SIGINT and SIGHUP are left alone where they
 * were ignored from the start, as a shell does for a program in the background and `nohup` does. */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* Blocks the signals, in the calling thread and those that it starts afterwards. */
void ending_block(sigset_t *ending);

/* Waits for one of them, at most so long if `seconds` is not 0. False: none came. After it came the
 * process has two seconds to end by itself, and a second signal ends it at once. */
bool ending_wait(const sigset_t *ending, unsigned seconds);
/* SPDX-License-Identifier: MIT */
