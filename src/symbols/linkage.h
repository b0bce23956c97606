/* Readable names from the names that the linker uses. */
#pragma once

/* The readable form of a C++ or Rust name, or of a C name with a compiler's suffix, from malloc;
 * NULL if the name stays as it is. The types of the results of templates are left out, as names of other
 * functions have none. Suffixes of a function's parts and clones (".cold",
 * ".constprop.0") are removed: they belong to the same function. */
char *name_demangle(const char *linkage);

/* Replaces "> >" in a name by ">>", the form in use since C++11. */
void name_join_brackets(char *name);
/* SPDX-License-Identifier: MIT */
