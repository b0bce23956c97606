/* Output for terminals and files that take ASCII alone. */
#ifndef CLI_ASCII_H
#define CLI_ASCII_H

#include <stdio.h>

/* Where the locale is not one of UTF-8, makes *stream, stdout or stderr, one that writes ASCII: a
 * letter for each of our signs, and '?' for each other one. Not for JSON, which is always UTF-8. */
void ascii_if_locale_asks(FILE **stream);

#endif
/* SPDX-License-Identifier: MIT */
