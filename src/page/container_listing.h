/* The section SRCS of a container (container.h): source lines. */
#pragma once

#include "page/coding.h"
#include "page/container_names.h"

void code_listing(struct coding *coding, struct listing *listing);

/* Writing: the listing with the strings of a container, without the files that it does not have.
 * Its texts are those of the recording; free its two arrays alone. False: not enough memory. */
bool listing_renumber(const struct listing *listing, const struct numbering *numbering,
                      struct listing *renumbered);

/* Reading: fails the coding unless the listing is whole and its strings exist. */
void listing_verify(struct coding *coding, const struct listing *listing, uint32_t strings);
/* SPDX-License-Identifier: MIT */
