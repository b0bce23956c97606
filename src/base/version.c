/* The version of what runs. */
#include <winnow/version.h>

#define TEXT_OF(number) #number
#define TEXT(number)    TEXT_OF(number)

int wn_version(void) { return WN_VERSION; }

const char *wn_version_text(void) {
  return TEXT(WN_VERSION_MAJOR) "." TEXT(WN_VERSION_MINOR) "." TEXT(WN_VERSION_PATCH);
}
/* SPDX-License-Identifier: MIT */
