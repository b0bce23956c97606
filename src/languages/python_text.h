/* Texts of CPython's str objects as UTF-8, read without a function of the interpreter. */
#pragma once

#include "languages/python_layout.h"

enum { PYTHON_TEXT_BYTES = 512 };

/* The text of a str: its own characters if they are ASCII, else at most PYTHON_TEXT_BYTES - 1
 * bytes of it in `buffer`, which has room for so many or is NULL. NULL: there is no buffer for
 * it, or it is kept in a way that names never are. The caller knows that it is a str. */
const char *python_text(const struct python_layout *layout, const void *str, char *buffer);
/* SPDX-License-Identifier: MIT */
