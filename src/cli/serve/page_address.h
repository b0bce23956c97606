/* Which view a page opens with, as `winnow html` and `winnow view` tell it. */
#pragma once

#include "cli/options.h"
#include "page/html.h"

/* The address of the view that the options ask for, as viewer/src/state/address.ts reads it, at
 * this moment (load_moment). NULL: the usual view. The caller frees it. */
char *page_address(const struct report_options *options, enum when at);

/* The head of a page that opens with this address. `folders`: the traces' names have their folders,
 * for people on this machine. The options must outlive it. */
struct html_head page_head(const struct report_options *options, const char *address, bool folders);
/* SPDX-License-Identifier: MIT */
