/* The verdict on the first screen. */
#pragma once

#include "cli/report/report.h"

/* Returns the number of lines that were printed; 0: there is no verdict. */
int screen_print_verdict(const struct view *view);
/* SPDX-License-Identifier: MIT */
