/* A file as a stream of bytes, inflated on the way if it is compressed by gzip or Zstandard. The memory
 * that it takes does not depend on the file: a reader that keeps something has its own limits. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <winnow/status.h>

struct inflated;

/* WN_EIO, WN_ENOMEM. */
wn_status inflated_open(const char *path, struct inflated **file);
void inflated_close(struct inflated *file);

/* Reads so many bytes; fewer at the end, or where the rest cannot be inflated. `bytes` NULL: skips. */
uint64_t inflated_read(struct inflated *file, void *bytes, uint64_t count);

/* The next byte; -1 at the end, or where the rest cannot be inflated. */
int inflated_byte(struct inflated *file);

/* How many bytes were read: after they were inflated, and which fraction of the file, 0 to 1. */
uint64_t inflated_offset(const struct inflated *file);
double inflated_position(const struct inflated *file);

/* Why the rest cannot be read, such as "its compressed data is cut"; NULL: it was read to its end. */
const char *inflated_fault(const struct inflated *file);
/* SPDX-License-Identifier: MIT */
