/* Whose code a function of Rust is, by its name, where that is one of an implementation:
 * "<TYPE as TRAIT>::method" or, of a primitive type, "<[u8]>::to_vec". */
#pragma once

/* NOT_SAID: the name is none of an implementation, or that of a type with a path,
 * "<shop::Log>::append". */
enum rust_owner { RUST_NOT_SAID, RUST_LIBRARY, RUST_PROGRAM };

enum rust_owner rust_owner_of(const char *name);
/* SPDX-License-Identifier: MIT */
