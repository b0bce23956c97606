/* The parts of a function's name in C++, as demanglers and DWARF write it:
 * "void zoo::keeper<36>::feed<int>(int) const" has the scope "zoo::keeper<36>", the base "feed", the
 * arguments "<int>" and the parameters "(int)". Names of C have a base alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct cxx_part {
  const char *text; /* in the name; of no bytes: the name lacks the part */
  size_t bytes;
};

struct cxx_name {
  struct cxx_part scope, base, arguments, parameters;
};

/* The number of characters at `at` that belong to an operator's name, such as "operator<", or to
 * "(anonymous namespace)", in which brackets are no brackets; 0: it is neither. */
size_t cxx_whole_bytes(const char *name, size_t at);

/* The number of characters, behind "std::", of an inline namespace that versions of C++'s standard
 * library have there: "__cxx11::" and the like. */
size_t cxx_version_bytes(const char *text);

/* Any text has parts: of one that is no name of C++ all is the base. */
void cxx_name_parse(const char *text, struct cxx_name *name);

/* Whether two names may be of one function, although one of them lacks the scope, the arguments or the
 * parameters. Scopes are compared without their arguments and parameters. */
bool cxx_name_may_be(const struct cxx_name *one, const struct cxx_name *other);
/* SPDX-License-Identifier: MIT */
