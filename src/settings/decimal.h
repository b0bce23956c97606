/* Reads numbers as users write them, exactly: the same text is the same number in every locale.
 *
 * strtod is not used, since it takes the decimal point from LC_NUMERIC. No function here allocates.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Reads a number from 0 to 1, such as 0.25 or 1e-4, without sign or blanks. *value becomes the
 * nearest double, ties to even, as by strtod in the C locale. False, and *value is unchanged: it is
 * not such a number, it has a digit after the 400th decimal place, or it lies between 0 and 2^-997.
 */
bool decimal_fraction(const char *text, double *value);

/* Reads a whole number below 2^64, decimal or, after 0x, hexadecimal, without sign or blanks.
 * False, and *value is unchanged: it is not such a number. */
bool decimal_whole(const char *text, uint64_t *value);

/* Reads a whole decimal number of bytes with or without a unit: K, M, G and T count by thousands,
 * Ki, Mi, Gi and Ti by 1024, and a B may follow. False, and *value is unchanged: it is not such a
 * size, or 2^64 or more. */
bool decimal_bytes(const char *text, uint64_t *value);
/* SPDX-License-Identifier: MIT */
