/* Asks the allocator below how much the program's blocks take, and how much it keeps free. */
#ifndef PRELOAD_QUESTION_H
#define PRELOAD_QUESTION_H

#include "record/recorder.h"
#include <stdbool.h>
#include <stdint.h>

/* Finds the allocator's own functions for that. Called once, when the loader is done. */
void question_resolve(void);

/* Keep the file by which a question knows the program's signals, as pagemap.h does its own. */
void question_open(void);
void question_close(void);

/* Asks, if a question is due (PACE) and the calling thread may wait for the allocator (HANDLER).
 * `processor_ns`: what the process has used of its processors.
 * `last`: the program ends, and a question is due at any rate. The caller is in a call of malloc or
 * realloc, or in an exit handler, holds no lock, and is within host_enter. */
bool question_ask(struct recorder_answer *answer, uint64_t processor_ns, bool last);

/* Called in a followed child of a fork: a thread of the parent may have been asking. */
void question_inherit(void);

/* PACE: when the next question may come after one that took from `began_ns` to `ended_ns`. */
uint64_t question_next(uint64_t began_ns, uint64_t ended_ns);

#endif
/* SPDX-License-Identifier: MIT */
