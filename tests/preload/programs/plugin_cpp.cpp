// A C++ library for a C program, which does not know libstdc++.
#include <cstring>
#include <map>
#include <string>

extern "C" __attribute__((visibility("default"))) int plugin_works(int n) {
  std::map<std::string, int> table;
  for (int i = 0; i < n; i++) table["a key that is long enough for the heap " + std::to_string(i % 100)] += i;
  volatile std::size_t huge = PTRDIFF_MAX - 100;
  try {
    ::operator delete(::operator new(huge));
  } catch (const std::bad_alloc &) {
    return (int)table.size();
  }
  return -1;
}
// SPDX-License-Identifier: MIT
