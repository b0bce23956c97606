/* A trace of Memtrace, written again as it was. */
#pragma once

#include <stdio.h>
#include <winnow/status.h>

/* Writes the events of a Memtrace file with the bytes of Memtrace's own recorder, in version 2 or 3
 * of the format. Version 2 has one domain, to which all events then belong. Frames that are lost are
 * left out. WN_ENOMEM, and the errors of memtrace_reader_open. */
wn_status memtrace_copy(FILE *out, const char *path, unsigned version);
/* SPDX-License-Identifier: MIT */
