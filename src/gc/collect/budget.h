/* The processor time that collectors may take because of limits (limit.h): one account of the
 * process, from which all of its heaps take.
 *
 * HALF. Collectors may take half of the processor time of the process: in each two seconds they earn
 * SHARE / SHARE_OF of them, and they save up SAVED_MOST_NS; together that is one second. What they
 * take beyond what is saved must be earned before anything is saved again. Times are of processors,
 * not of clocks: a machine with too few processors then takes from both alike, and a program that
 * sleeps does not lend its time to the collector.
 *
 * All functions may be called by any thread. tests/models/budget.pml explores it. */
#ifndef GC_COLLECT_BUDGET_H
#define GC_COLLECT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* Adds what was earned since the last look. Whether anything is saved now. */
bool budget_look(void);

/* Takes nanoseconds, whether they are saved or not. */
void budget_take(uint64_t ns);

/* Nothing is saved, and the next look earns what the process has had since its start, as far as it
 * can be saved up: a new process begins so, and so does the child of a fork, whose time begins anew. */
void budget_begin(void);

#endif
/* SPDX-License-Identifier: MIT */
