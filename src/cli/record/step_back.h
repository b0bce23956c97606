/* A process that compacts shares processors, disks and a limit of memory with the program that is
 * recorded. */
#pragma once

/* From now on others go first, as far as the system lets this process give way: with processors and
 * disks, and it is the first that is killed where memory is short. */
void step_back(void);
/* SPDX-License-Identifier: MIT */
