/* Output for terminals and files that take only ASCII. */
#pragma once

#include <stdio.h>

/* If the locale is not UTF-8, makes *stream, stdout or stderr, a stream that writes ASCII: one
 * letter for each of the special characters that reports use, and '?' for any other. Not for JSON,
 * which is always UTF-8. */
void ascii_if_locale_asks(FILE **stream);
/* SPDX-License-Identifier: MIT */
