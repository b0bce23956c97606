/* Runtimes that make functions while a program runs, and how each tells the names of these
 * functions: a sentence for users. */
#pragma once

#include "trace/reader.h"

/* Of the runtime that has this file; NULL: it is of none that is known. */
const char *runtime_of_file(const char *path);

/* Of the runtime of a trace that was read to its end, if stacks go through functions that the
 * runtime made and none of them has a name; else NULL. Where the runtime also interprets functions,
 * as Node does, its file, which is read, is enough. */
const char *runtime_of_trace(const struct trace_reader *reader);
/* SPDX-License-Identifier: MIT */
