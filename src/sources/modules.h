/* The files whose code a trace has, as profiles and fleets name them. */
#pragma once

#include "sources/source.h"

/* Writes the build-id of a module in hexadecimal; an id of code is none that other programs know.
 */
const char *module_build_id(const struct trace_module *module, char text[2 * TRACE_BUILD_ID_MAX + 1]);

/* The number of the file that has the name of argument 0, or else of the first that has it with a
 * version behind it, to which such a name is often a link; 0: there is none. */
uint32_t module_of_program(const struct source *source);

/* Writes the release of the program, once the source is read; "": not known. */
void release_of_program(const struct source *source, char release[RELEASE_DIGITS + 1]);
/* SPDX-License-Identifier: MIT */
