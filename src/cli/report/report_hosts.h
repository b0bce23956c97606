/* What a report on traces of several machines says of them. */
#pragma once

#include "cli/report/report_text.h"

/* By host: prints the hosts that hold more or less than is usual. By release: prints what the hosts of
 * each release hold on average. Otherwise, and without memory, prints nothing. */
void report_print_hosts(const struct view *view);
/* SPDX-License-Identifier: MIT */
