/* The desktop's browser. */
#ifndef CLI_SERVE_DESKTOP_H
#define CLI_SERVE_DESKTOP_H

/* Opens an address in the user's browser if standard output is a terminal on a desktop. Nothing
 * happens otherwise, or if there is no xdg-open: the user has read the address. */
void desktop_open(const char *address);

#endif
/* SPDX-License-Identifier: MIT */
