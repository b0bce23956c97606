/* Functions of one name in one module, such as static functions of two source files. A row of a
 * table stands for a name and a module. So that each has a row of its own, the name of its source
 * file is appended: "grow (queue.c)". */
#ifndef ANALYSIS_NAMESAKES_H
#define ANALYSIS_NAMESAKES_H

#include "analysis/load/names.h"

/* Renames them. Called after the wrappers were found, whose lists have names without files.
 * WN_ENOMEM. */
wn_status namesakes_rename(struct names *names, uint32_t nodes);

#endif
/* SPDX-License-Identifier: MIT */
