/* Numbers as users write them, read exactly: the same text is the same number in every locale.
 *
 * strtod is not used: it takes the decimal point from LC_NUMERIC. Nothing here allocates. */
#ifndef SETTINGS_DECIMAL_H
#define SETTINGS_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/* A number from 0 to 1, such as 0.25 or 1e-4, without sign or blanks: the double next to it, and of
 * two equally near ones the even one, as strtod in the C locale. False: it is no such number, or
 * it has a digit behind the 400th place, or lies between 0 and 2^-997. `*value` is written on
 * success only. */
bool decimal_fraction(const char *text, double *value);

/* A whole number below 2^64, decimal or hexadecimal behind 0x, without sign or blanks. False: it is
 * no such number. `*value` is written on success only. */
bool decimal_whole(const char *text, uint64_t *value);

#endif
/* SPDX-License-Identifier: MIT */
