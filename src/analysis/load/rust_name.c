/* Rust allows a crate to implement a trait of the standard library for a type of that library only
 * if an argument of the trait is a type of the crate: "<alloc::string::String as
 * From<shop::Order>>::from" is code of shop. All else between the library's types and traits is
 * code of the library.
 *
 * Where the type is the program's, the method is too, unless the trait is one of `inherited`. */
#include "analysis/load/rust_name.h"

#include "base/text.h"
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct implementation {
  const char *type, *as, *trait, *end; /* the type ends at `as`, and the trait at `end`: it has no bytes */
  const char *method;
};

/* Traits whose methods are the library's for any type, but for the one that programs write. */
static const struct {
  const char *path, *written;
} inherited[] = {
    {"core::alloc::", ""}, /* of allocators */
    {"alloc::vec::", ""},
    {"alloc::slice::", ""},
    {"<[", ""}, /* of methods of slices */
    {"alloc::string::", ""},
    {"alloc::borrow::ToOwned", ""},
    {"core::convert::Into", ""},
    {"core::convert::TryInto", ""},
    {"core::iter::traits::iterator::Iterator", "next"},
    {"core::iter::traits::double_ended::DoubleEndedIterator", "next_back"},
    {"core::fmt::Write", "write_str"},
    {"std::io::Read", "read"},
    {"std::io::BufRead", "fill_buf"},
    {"std::io::Write", "write"},
};

static bool rust_name_is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool is_of_library(const char *path) {
  static const char *const crates[] = {"core::", "alloc::", "std::", "hashbrown::"};
  for (size_t i = 0; i < sizeof crates / sizeof *crates; i++)
    if (text_begins(path, crates[i])) return true;
  return false;
}

static bool rust_name_parse(const char *name, struct implementation *found) {
  const char *end = name;
  *found = (struct implementation){.type = name + 1};
  for (int depth = 0; *end; end++) {
    depth += (*end == '<') - (*end == '>' && end > name && end[-1] != '-');
    if (!depth) break;
    if (depth == 1 && !found->as && text_begins(end, " as ")) found->as = end;
  }
  if (!text_begins(end, ">::")) return false;
  found->trait = found->as ? found->as + strlen(" as ") : end;
  if (!found->as) found->as = end;
  found->end = end;
  found->method = end + strlen(">::");
  return true;
}

/* Slices, tuples, pointers, functions and numbers are the library's, whatever they are made of. */
static bool is_type_of_library(const char *type) {
  static const char *const before[] = {"&", "<", "mut ", "dyn "};
  for (size_t i = 0; i < sizeof before / sizeof *before; i++)
    if (text_begins(type, before[i])) type += strlen(before[i]), i = (size_t)-1;
  const char *behind = type;
  while (rust_name_is_word(*behind)) behind++;
  return !text_begins(behind, "::") || is_of_library(type);
}

/* Whether the trait's arguments have a path of a crate of which the type has none. */
static bool names_another_crate(const struct implementation *found) {
  const char *at = memchr(found->trait, '<', (size_t)(found->end - found->trait));
  for (; at && at < found->end; at++) {
    size_t bytes = 0;
    if (rust_name_is_word(at[-1]) || at[-1] == ':') continue;
    while (rust_name_is_word(at[bytes])) bytes++;
    if (!bytes || !text_begins(at + bytes, "::") || is_of_library(at)) continue;
    void *in_type = memmem(found->type, (size_t)(found->as - found->type), at, bytes + strlen("::"));
    if (!in_type) return true;
  }
  return false;
}

static bool is_inherited(const struct implementation *found) {
  for (size_t i = 0; i < sizeof inherited / sizeof *inherited; i++) {
    if (!text_begins(found->trait, inherited[i].path)) continue;
    size_t bytes = strlen(inherited[i].written);
    return !bytes || !text_begins(found->method, inherited[i].written) ||
           rust_name_is_word(found->method[bytes]);
  }
  return false;
}

/* A type such as [u8], *const T or str. A lambda of C++ has a name that begins as "<lambda(int)>".
 */
static bool is_primitive(const struct implementation *found) {
  enum { LONGEST = 5 }; /* "isize" */
  if (*found->type == '[' || *found->type == '*') return true;
  const char *end = found->type;
  while (islower((unsigned char)*end) || isdigit((unsigned char)*end)) end++;
  return end == found->end && end - found->type <= LONGEST;
}

/* ---- shared ---- */

enum rust_owner rust_owner_of(const char *name) {
  struct implementation found;
  if (*name != '<' || !rust_name_parse(name, &found)) return RUST_NOT_SAID;
  if (found.trait == found.end) return is_primitive(&found) ? RUST_LIBRARY : RUST_NOT_SAID;
  if (!is_type_of_library(found.trait)) return RUST_PROGRAM;
  bool library = is_inherited(&found) || (is_type_of_library(found.type) && !names_another_crate(&found));
  return library ? RUST_LIBRARY : RUST_PROGRAM;
}
/* SPDX-License-Identifier: MIT */
