/* How a runtime tells the names of the functions that it makes, for whom it has not told. */
#pragma once

#include "cli/report/report.h"

/* A sentence, if code in no file that has no names called for a twentieth of what was allocated,
 * and one of the runtimes that are known is in the process; else NULL. */
const char *runtime_hint(const struct view *view);
/* SPDX-License-Identifier: MIT */
