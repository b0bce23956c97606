/* What every cmocka test includes, in the order that cmocka wants. */
#ifndef TESTS_SUPPORT_TEST_H
#define TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A case during which no thread starts or runs beside it. ThreadSanitizer sees nothing there, so in its
 * build `make soak` alone runs it; in the other builds the case fails if it starts a thread. */
extern char one_thread[];
#define one_thread_test(f) cmocka_unit_test_prestate(f, one_thread)

#define RUN_TESTS(tests) cmocka_run_group_tests(tests, NULL, NULL)

#endif
/* SPDX-License-Identifier: MIT */
