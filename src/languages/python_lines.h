/* Lines of CPython's code objects, by the table that the compiler left in each. The three
 * formats are described in CPython's sources: Objects/lnotab_notes.txt (3.9 and 3.10) and
 * InternalDocs/code_objects.md. */
#pragma once

#include "languages/python_layout.h"

/* The line of the instruction at a position in bytes, which is below 0 where the call has not
 * begun: then it is the first line. Where the compiler gave an instruction no line, the one
 * before it. Reads `count` bytes of the table at most. */
uint32_t python_line(enum python_lines format, const uint8_t *table, size_t count, int32_t first_line,
                     int64_t position);
/* SPDX-License-Identifier: MIT */
