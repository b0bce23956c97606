/* Which Winnow this is.
 *
 *   #if WN_VERSION < 100
 *   #error "Winnow 0.1.0 or newer is needed"
 *   #endif
 *
 * Until 1.0 a new minor version may change any struct and function. The sonames of the libraries
 * contain the minor version (libwinnow.so.0.1), so a program that was linked with one minor version
 * never runs with another. A new patch version changes no struct and no function. */
#ifndef WINNOW_VERSION_H
#define WINNOW_VERSION_H

#include <winnow/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WN_VERSION_MAJOR 0
#define WN_VERSION_MINOR 1
#define WN_VERSION_PATCH 0

/* The version of these headers as one number that grows: 10203 is version 1.2.3. */
#define WN_VERSION (WN_VERSION_MAJOR * 10000 + WN_VERSION_MINOR * 100 + WN_VERSION_PATCH)

/* WN_VERSION of the library that runs. Any thread. */
WN_API int wn_version(void);

/* The same as text, such as "1.2.3"; a constant string, valid for ever. Any thread. */
WN_API const char *wn_version_text(void);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
