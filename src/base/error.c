/* Status texts and the last error of each thread. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_error[248];

/* NULL: no public call failed on this thread. Of all of Winnow's libraries in the process. */
extern _Thread_local const char *winnow_failure;
WN_API _Thread_local const char *winnow_failure;

wn_status error_set(wn_status status, const char *format, ...) {
  int saved = errno;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_error, sizeof last_error, format, arguments);
  va_end(arguments);
  errno = saved;
  return error_publish(status);
}

const char *error_text(void) { return last_error; }

struct program_errors program_errors_save(void) {
  return (struct program_errors){errno, winnow_failure};
}

void program_errors_restore(struct program_errors saved) {
  errno = saved.number;
  winnow_failure = saved.text;
}

wn_status error_publish(wn_status status) {
  if (status) winnow_failure = last_error;
  return status;
}

/* ---- public ---- */

const char *wn_last_error(void) { return winnow_failure ? winnow_failure : ""; }

const char *wn_status_text(wn_status status) {
  switch (status) {
  case WN_OK: return "success";
  case WN_EINVAL: return "invalid argument";
  case WN_ENOMEM: return "out of memory";
  case WN_EBUSY: return "still in use";
  case WN_ESTATE: return "not allowed in this state";
  case WN_EIO: return "input or output failed";
  case WN_EFORMAT: return "wrong or damaged format";
  case WN_ELIMIT: return "limit reached";
  case WN_ESYS: return "refused by the operating system";
  }
  return "unknown status";
}
/* SPDX-License-Identifier: MIT */
