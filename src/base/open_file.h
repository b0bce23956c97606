/* Opens the traces and profiles that commands read. */
#pragma once

/* Opens a file to read it, without waiting for the other end of a pipe. -1: errno tells why. */
int open_file(const char *path);

/* From now on open_file follows no link in the place of a file (ELOOP): for a server of root, which
 * reads what it finds in folders of other users, and shows it. Called before there are threads. */
void open_file_refuse_links(void);
/* SPDX-License-Identifier: MIT */
