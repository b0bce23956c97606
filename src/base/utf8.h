/* UTF-8 that cannot be trusted: names of functions, files and programs are any bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of the character that a text of `length` bytes begins with, and its code point; 0: it
 * begins with none. `length` is 1 or more. */
size_t utf8_decode(const char *text, size_t length, uint32_t *code);

/* Whether a terminal obeys a character instead of showing it: control characters, and those without
 * a form that turn the direction of what stands around them, join it or hide it. */
bool utf8_is_obeyed(uint32_t code);

/* Puts '?' in the place of each byte of what is obeyed, or is no UTF-8. */
void utf8_make_plain(char *text);
/* SPDX-License-Identifier: MIT */
