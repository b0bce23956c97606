/* From the names that linkers know to those that people wrote. */
#ifndef SYMBOLS_LINKAGE_H
#define SYMBOLS_LINKAGE_H

/* The readable form of a C++ or Rust name, from malloc; NULL if it has none. What compilers append
 * to the names of a function's parts and copies (".cold", ".constprop.0") is left out, of C names
 * too: they are the same function. */
char *name_demangle(const char *linkage);

/* Writes "> >" as people have written it since 2011: ">>". */
void name_join_brackets(char *name);

#endif
/* SPDX-License-Identifier: MIT */
