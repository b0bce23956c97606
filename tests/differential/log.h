/* The log of a script: what was told of profiles, finalisers and exceptions since the last quiet
 * point. One thread at a time writes it, since the threads and domains of a script take turns. */
#ifndef TESTS_DIFFERENTIAL_LOG_H
#define TESTS_DIFFERENTIAL_LOG_H

#include <stdbool.h>

/* When a callback was called. */
enum moment { AT_BIRTH, AT_PROMOTION, AT_DEATH_MINOR, AT_DEATH_MAJOR };

void log_begin_script(void);

/* How often something was told of; to see whether the heap is at rest. */
long log_activity(void);

/* Something was told of a session, or with -1 of none. */
void log_told(int session, enum moment moment, const char *format, ...) __attribute__((format(printf, 3, 4)));
void log_death(int session, enum moment moment, const char *source, int id);
void log_finalised(const char *which, int id);

/* A session was discarded, so a part of its lines does not count, but for births: all, or deaths in
 * the major heap alone. */
void log_forget(int session, bool all);

/* Prints what was told, sorted, and begins anew. The calls of finalisers keep their order if that
 * is comparable. Of a block in `blurred` it does not say where it died. */
void log_print(bool is_ordered, const bool *blurred);

#endif
/* SPDX-License-Identifier: MIT */
