// A C++ function whose linkage name must be taken apart. The call back is in the function itself, and its line is known.
extern "C" {
extern __attribute__((visibility("default"))) const int subject_line;
}

namespace zoo {
template <typename Animal> struct cage {
  static __attribute__((noinline)) int open(int (*callback)(), Animal) {
    return callback() + 1; // subject_line is this one's
  }
};
const int line = __LINE__ - 3;
template struct cage<long>;
} // namespace zoo

const int subject_line = zoo::line;

extern "C" __attribute__((visibility("default"))) int subject_outer(int (*callback)()) {
  return zoo::cage<long>::open(callback, 1L) + 2;
}
// SPDX-License-Identifier: MIT
