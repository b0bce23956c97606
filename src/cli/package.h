/* The Debian package that a file is of. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Asks dpkg-query, without a shell: the path may come from a trace. False: the file is of no package, is
 * not there, or there is no dpkg. */
bool package_of_file(const char *path, char *name, size_t size);

#define PACKAGE_RELEASE "/etc/os-release" /* of this system */

/* Writes what gives names to the stripped code of a file: the package that has them, "Debian has
 * them in dash-dbgsym", or a command or variable, "For them: dnf debuginfo-install PATH".
 * `package`: of the file; NULL: not known, as where there is no dpkg. `release` is the system's
 * os-release(5). False: nothing is known to help. */
bool package_say_symbols(const char *package, const char *path, const char *release, char *text, size_t size);

/* The debuginfod server of the system's makers; NULL: none is known. */
const char *package_server(const char *release);
/* SPDX-License-Identifier: MIT */
