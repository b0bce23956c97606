// A C++ function whose linkage name must be taken apart.
namespace zoo {
template <typename Animal> struct cage {
  static __attribute__((noinline)) int open(int (*callback)(), Animal) { return callback() + 1; }
};
template struct cage<long>;
} // namespace zoo

extern "C" __attribute__((visibility("default"))) int subject_outer(int (*callback)()) {
  return zoo::cage<long>::open(callback, 1L) + 2;
}
// SPDX-License-Identifier: MIT
