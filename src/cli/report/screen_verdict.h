/* The verdict on the first screen. */
#ifndef CLI_REPORT_SCREEN_VERDICT_H
#define CLI_REPORT_SCREEN_VERDICT_H

#include "cli/report/report.h"

/* Returns the number of lines that were printed; 0: there is no verdict. */
int screen_print_verdict(const struct view *view);

#endif
/* SPDX-License-Identifier: MIT */
