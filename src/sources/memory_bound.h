/* A bound for the memory that reading files takes: a compressed file of some kilobytes can describe
 * gigabytes, and any file can claim more than it has.
 *
 * While a bound holds, the system refuses the process memory beyond it (RLIMIT_DATA). So the bound
 * holds for every format and every library, and needs no account of allocations: a reader that is
 * refused memory fails with WN_ENOMEM, as it does where the machine has no more. The bound ends
 * when the files are read. What comes later takes memory in proportion to that; names of functions
 * come from files of the system, which may be large.
 *
 * A bound belongs to the process: one thread at a time reads files. */
#pragma once

#include <stdint.h>
#include <winnow/status.h>

/* Unless memory_bound_set was called, the bound is so many bytes, and so many times the size of the
 * files: a record of a byte, of a compressed file of half as much, becomes 200 bytes in memory. */
#define MEMORY_BOUND_BYTES ((uint64_t)512 << 20)
enum { MEMORY_BOUND_FACTOR = 512 };

/* Every later bound is of so many bytes. */
void memory_bound_set(uint64_t bytes);

/* Begins a bound for files of so many bytes together, besides what the process has now. One that
 * begins within another changes nothing. */
void memory_bound_begin(uint64_t file_bytes);

/* Ends it, and returns the reading's status. If this is WN_ENOMEM, and the bound was in force,
 * wn_last_error says so. */
wn_status memory_bound_end(wn_status status);

/* The size of a file; 0: it has none. */
uint64_t memory_bound_file_bytes(const char *path);
/* SPDX-License-Identifier: MIT */
