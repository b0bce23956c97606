/* The text behind wn_last_error: one message of each thread.
 *
 * A program may use libwinnow and libwinnow-malloc together, and its wn_last_error is bound to one
 * of them. So each keeps its own text, and both share a pointer to the text of the thread's last
 * failure: the loader binds their references to `winnow_failure` to one definition. When
 * libwinnow-malloc works inside the program's malloc, it must leave both that pointer and errno
 * unchanged; struct program_errors saves them. */
#pragma once

#include <winnow/status.h>

/* Records a message for wn_last_error and returns `status`, so that a failure is one line:
 *   return error_set(WN_EIO, "cannot open %s: %s", path, strerror(errno));
 * Truncates at 247 bytes; never allocates; keeps errno. */
wn_status error_set(wn_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns this library's last message on this thread; never NULL. */
const char *error_text(void);

/* The last failure of the calling thread that the program can see. */
struct program_errors {
  int number; /* errno */
  const char *text;
};
struct program_errors program_errors_save(void);
void program_errors_restore(struct program_errors saved);

/* If `status` is not 0, makes this library's last message on this thread the one that wn_last_error
 * returns. error_set calls it; a public function also calls it after program_errors_restore, which
 * has hidden the message again. Returns `status`. */
wn_status error_publish(wn_status status);
/* SPDX-License-Identifier: MIT */
