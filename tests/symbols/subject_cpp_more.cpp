// Functions that debugging information does not name whole, and one that it does not know at all.
namespace {
template <typename Animal> struct Cage {
  Animal animal;
  explicit operator int() const { return (int)animal; }
};

template <int Depth> struct Deep {
  template <typename Animal> static __attribute__((noinline)) int go(int (*callback)(), Animal animal) {
    return callback() + (int)animal + Depth;
  }
};
} // namespace

extern "C" __attribute__((visibility("default"))) int subject_outer(int (*callback)()) {
  volatile long animal = 3;
  return Deep<3>::go(callback, Cage<Cage<long>>{{animal}}) + 2;
}

// Assembly behind functions that have lines.
#ifdef __x86_64__
asm(".text\n"
    ".globl subject_bare\n"
    ".type subject_bare, @function\n"
    "subject_bare:\n"
    "  subq $8, %rsp\n"
    "  call *%rdi\n"
    "  addq $8, %rsp\n"
    "  ret\n"
    ".size subject_bare, .-subject_bare\n");
#endif
// SPDX-License-Identifier: MIT
