/* Functions of one name in one module, such as static functions of two source files. A row stands for a name
 * and a module, so such functions get the names of their files behind their own: "grow (queue.c)". */
#ifndef ANALYSIS_NAMESAKES_H
#define ANALYSIS_NAMESAKES_H

#include "analysis/load/names.h"

/* Renames them, once wrappers are known, whose lists have plain names. WN_ENOMEM. */
wn_status namesakes_rename(struct names *names, uint32_t nodes);

#endif
/* SPDX-License-Identifier: MIT */
