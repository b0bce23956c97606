/* Names of C++ as programmers write them: "shop::copy(std::vector<std::string> const&)" for
 * "shop::copy(std::vector<std::__cxx11::basic_string<char, std::char_traits<char>,
 * std::allocator<char>>, std::allocator<…>> const&)". Tables show these; all else has the whole
 * name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Writes the plain name, and returns whether it differs. A name of another language, or of many
 * kilobytes, is not changed. What has no room in the buffer is cut off. */
bool cxx_name_plain(const char *name, char *buffer, size_t size);
/* SPDX-License-Identifier: MIT */
