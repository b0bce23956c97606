/* A pager for what is printed on a terminal. */
#pragma once

#include <stdio.h>

/* If standard output is a terminal, sends it from now on through $PAGER, or else through less, which
 * ends by itself if all fits on the screen. Returns what pager_end takes; NULL: there is no pager. */
FILE *pager_begin(void);

/* Waits until the user has read it all. */
void pager_end(FILE *pager);
/* SPDX-License-Identifier: MIT */
