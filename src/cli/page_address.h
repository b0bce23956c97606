/* Which view a page opens with, as `winnow html` and `winnow view` tell it. */
#ifndef CLI_PAGE_ADDRESS_H
#define CLI_PAGE_ADDRESS_H

#include "cli/options.h"

/* The address of the view that the options ask for, as viewer/src/state/address.ts reads it. NULL:
 * the usual view. The caller frees it. */
char *page_address(const struct report_options *options);

#endif
/* SPDX-License-Identifier: MIT */
