/* The text behind wn_last_error: one message per thread. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <winnow/status.h>

/* Records a message for wn_last_error and returns `status`, so that a failure is one line:
 *   return error_set(WN_EIO, "cannot open %s: %s", path, strerror(errno));
 * Truncates at 255 bytes; never allocates; keeps errno. */
wn_status error_set(wn_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
/* SPDX-License-Identifier: MIT */
