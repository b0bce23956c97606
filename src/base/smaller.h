/* The smaller and the larger of two numbers. */
#ifndef BASE_SMALLER_H
#define BASE_SMALLER_H

#include <stdint.h>

static inline uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

static inline uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

#endif
/* SPDX-License-Identifier: MIT */
