/* How Winnow's functions report failure.
 *
 *   wn_profile *profile;
 *   wn_status status = wn_malloc_profile_start(&options, &tracker, &profile);
 *   if (status) fprintf(stderr, "%s: %s\n", wn_status_text(status), wn_last_error());
 */
#ifndef WINNOW_STATUS_H
#define WINNOW_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#define WN_API __attribute__((visibility("default")))

/* Every public function that can fail returns one of these; WN_OK is 0. A failed call has no
 * result. Its comment says what else it may have done, such as a collection or callbacks. */
typedef enum wn_status {
  WN_OK = 0,
  WN_EINVAL,  /* an argument is out of its range */
  WN_ENOMEM,  /* memory or address space is exhausted */
  WN_EBUSY,   /* something that must end first is still in use */
  WN_ESTATE,  /* the call is not allowed in this state */
  WN_EIO,     /* reading or writing a file failed */
  WN_EFORMAT, /* a file is not what it should be */
  WN_ELIMIT,  /* a limit that was set is reached */
  WN_ESYS     /* the operating system refused */
} wn_status;

/* One short English sentence for a status; a constant string, valid for ever. Any thread. */
WN_API const char *wn_status_text(wn_status status);

/* Details of this thread's last failure: which call failed, and why. Never NULL; empty if no call
 * has failed yet. Valid until this thread's next call that fails. */
WN_API const char *wn_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
