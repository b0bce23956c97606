/* The desktop's browser. */
#pragma once

/* Opens an address in the user's browser if standard output is a terminal on a desktop. Nothing
 * happens otherwise, or if there is no xdg-open: the user has read the address. */
void desktop_open(const char *address);
/* SPDX-License-Identifier: MIT */
