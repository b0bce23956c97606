/* A library whose first allocation is made by setenv, which holds the environment's lock
 * meanwhile. */
#include <stdlib.h>

__attribute__((constructor)) static void set(void) { setenv("EARLY", "set", 1); }

__attribute__((visibility("default"))) const char *early_value(void) { return getenv("EARLY"); }
/* SPDX-License-Identifier: MIT */
