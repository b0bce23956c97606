/* The Debian package that a file is of. */
#ifndef CLI_PACKAGE_H
#define CLI_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Asks dpkg-query, without a shell: the path may come from a trace. False: the file is of no package, is
 * not there, or there is no dpkg. */
bool package_of_file(const char *path, char *name, size_t size);

#endif
/* SPDX-License-Identifier: MIT */
