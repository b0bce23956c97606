/* Functions without a name. The compiler may have inlined all of a stripped program into one function,
 * and a table with one row for it would say nothing. So each call by which a function without a name
 * allocates is a frame of its own, as if it were inlined there: "prog+0x113f" in "prog+0x1090". A reader
 * looks up its line by that address. Its callers are those of the function (chains_follow). */
#pragma once

#include "analysis/load/names.h"

/* Adds those frames. Called after the wrappers were found. WN_ENOMEM. */
wn_status nameless_split(const struct samples *samples, struct names *names);
/* SPDX-License-Identifier: MIT */
