/* The files whose code a trace has, as profiles name them. */
#ifndef EXPORT_MODULES_H
#define EXPORT_MODULES_H

#include "sources/source.h"

/* Writes the build-id of a module in hexadecimal; an id of code is none that other programs know.
 */
const char *module_build_id(const struct trace_module *module, char text[2 * TRACE_BUILD_ID_MAX + 1]);

/* The number of the file that has the name of argument 0; 0: there is none. */
uint32_t module_of_program(const struct source *source);

#endif
/* SPDX-License-Identifier: MIT */
