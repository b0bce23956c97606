/* The text behind wn_last_error: one message of each thread.
 *
 * A program may use libwinnow and libwinnow-malloc together, and its wn_last_error is bound to one
 * of them. So each keeps its own text, and both share a pointer to the text of the thread's last
 * failure: the loader binds their references to `winnow_failure` to one definition. What
 * libwinnow-malloc does on its own, inside the program's malloc, must leave that pointer as the
 * program knows it, as it leaves errno: struct program_errors. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <winnow/status.h>

/* Records a message for wn_last_error and returns `status`, so that a failure is one line:
 *   return error_set(WN_EIO, "cannot open %s: %s", path, strerror(errno));
 * Truncates at 247 bytes; never allocates; keeps errno. */
wn_status error_set(wn_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* This library's last message on this thread; never NULL. */
const char *error_text(void);

/* What a program knows of its thread's failures. */
struct program_errors {
  int number; /* errno */
  const char *text;
};
struct program_errors program_errors_save(void);
void program_errors_restore(struct program_errors saved);

/* Makes this library's last message the one that wn_last_error gives, after it was restored.
 * Returns `status`. */
wn_status error_publish(wn_status status);

#endif
/* SPDX-License-Identifier: MIT */
