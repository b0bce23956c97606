/* Memtrace files for tests and measurements begin like this, and their codes stand for places that
 * follow from the code alone, so that a reader's names can be checked. */
#ifndef TESTS_SOURCES_MEMTRACE_CODES_H
#define TESTS_SOURCES_MEMTRACE_CODES_H

#include "memtrace/writer.h"

/* Sets `places` to the places of a code, outermost first, until the next call. Code 1 has none, and
 * code 2 more than can be written. */
size_t codes_places(uint64_t code, const struct writer_place **places);

/* Begins a file of a run whose texts are those below. */
#define CODES_EXECUTABLE "/opt/app/main.exe"
#define CODES_HOST       "somewhere"
#define CODES_PARAMETERS "s=4096,o=80"
#define CODES_CONTEXT    "a test"
enum { CODES_PID = 4321 };
void codes_begin(struct memtrace_writer *writer, unsigned version, double rate, uint64_t begin_us);

#endif
/* SPDX-License-Identifier: MIT */
