/* Files of ELF with their compressed debugging sections (zlib, zstd) expanded, which libdw reads in
 * part only: elfutils 0.188 knows no zstd. */
#pragma once

#include <stdint.h>

/* The most bytes that copies of one file, or of the files of one module, take. */
#define EXPANDED_MOST (UINT64_C(4) << 30)

/* Opens a file for reading, if it is a regular one; -1 otherwise. A trace, or debugging
 * information, can name anything: a device is not opened, since that alone can have effects. */
int regular_open(const char *path);

/* A descriptor of the file `fd` with its sections expanded: `fd` itself if none is compressed,
 * or if it cannot be copied; otherwise that of a copy in memory, and `fd` is closed. The copy's
 * size is taken from *budget. A section that is damaged, or claims to be too large, is left out. */
int expanded(int fd, uint64_t *budget);
/* SPDX-License-Identifier: MIT */
