/* A process that compacts shares processors, disks and a limit of memory with the program that is
 * recorded. */
#ifndef CLI_RECORD_STEP_BACK_H
#define CLI_RECORD_STEP_BACK_H

/* From now on others go first, as far as the system lets this process give way: with processors and
 * disks, and it is the first that is killed where memory is short. */
void step_back(void);

#endif
/* SPDX-License-Identifier: MIT */
