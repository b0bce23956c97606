/* The Debian package that a file is of. */
#ifndef CLI_PACKAGE_H
#define CLI_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Asks dpkg-query, without a shell: the path may come from a trace. False: the file is of no package, is
 * not there, or there is no dpkg. */
bool package_of_file(const char *path, char *name, size_t size);

/* Writes where the names of a package's stripped code are: "Debian has them in dash-dbgsym". `release` is the
 * system's os-release(5): Ubuntu has such packages in an archive of its own. */
const char *package_say_symbols(const char *package, const char *release, char *text, size_t size);

#endif
/* SPDX-License-Identifier: MIT */
