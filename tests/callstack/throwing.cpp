// A C++ frame with a catch clause, a destructor that runs while an exception passes, and a capture in each.
#include "callpaths.h"

namespace {
struct guard {
  leaf_function *leaf;
  void *context;
  ~guard() { leaf(context); }
};
__attribute__((noinline)) int throw_it(leaf_function *leaf, void *context) {
  guard cleanup = {leaf, context};
  int value = leaf(context);
  throw value;
}
} // namespace

int path_catch(leaf_function *leaf, void *context) {
  try {
    return throw_it(leaf, context);
  } catch (int value) {
    return leaf(context) + value;
  }
}
// SPDX-License-Identifier: MIT
