// Calls every form of operator new and delete; the output must be the same with Winnow and without.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

static int handled;
static void give_up_after_three() {
  if (++handled == 3) throw std::bad_alloc();
}
static void give_up() { std::set_new_handler(nullptr); }

static volatile std::size_t huge = PTRDIFF_MAX - 100, none = 0;

static void show(const char *what, void *block, std::size_t alignment) {
  std::printf("%s: %s aligned %d\n", what, block ? "block" : "NULL", (std::uintptr_t)block % alignment == 0);
  if (block) std::memset(block, 1, 40);
}

template <class Call> static void throws(const char *what, Call call) {
  handled = 0;
  std::set_new_handler(give_up_after_three);
  try {
    void *block = call();
    std::printf("%s: no exception, %s, handler ran %d times\n", what, block ? "block" : "NULL", handled);
  } catch (const std::bad_alloc &) {
    std::printf("%s: bad_alloc, handler ran %d times\n", what, handled);
  }
  std::set_new_handler(give_up);
  try {
    std::printf("%s: no handler, %s\n", what, call() ? "block" : "NULL");
  } catch (const std::bad_alloc &) {
    std::printf("%s: bad_alloc without handler\n", what);
  }
  std::set_new_handler(nullptr);
}

static void round_trips() {
  const std::nothrow_t &nothrow = std::nothrow;
  const std::align_val_t wide{256}, page{8192};
  void *p;
  show("new", p = ::operator new(40), 16), ::operator delete(p);
  show("new, sized delete", p = ::operator new(40), 16), ::operator delete(p, (std::size_t)40);
  show("new nothrow", p = ::operator new(40, nothrow), 16), ::operator delete(p, nothrow);
  show("new aligned", p = ::operator new(40, wide), 256), ::operator delete(p, wide);
  show("new aligned, sized delete", p = ::operator new(40, page), 8192),
      ::operator delete(p, (std::size_t)40, page);
  show("new aligned nothrow", p = ::operator new(40, wide, nothrow), 256),
      ::operator delete(p, wide, nothrow);
  show("new[]", p = ::operator new[](40), 16), ::operator delete[](p);
  show("new[], sized delete", p = ::operator new[](40), 16), ::operator delete[](p, (std::size_t)40);
  show("new[] nothrow", p = ::operator new[](40, nothrow), 16), ::operator delete[](p, nothrow);
  show("new[] aligned", p = ::operator new[](40, wide), 256), ::operator delete[](p, wide);
  show("new[] aligned, sized delete", p = ::operator new[](40, page), 8192),
      ::operator delete[](p, (std::size_t)40, page);
  show("new[] aligned nothrow", p = ::operator new[](40, wide, nothrow), 256),
      ::operator delete[](p, wide, nothrow);
  p = ::operator new(none);
  std::printf("zero bytes: %s\n", p ? "block" : "NULL");
  ::operator delete(p);
  ::operator delete(nullptr), ::operator delete[](nullptr), ::operator delete(nullptr, wide);
}

static void failures() {
  throws("new", [] { return ::operator new(huge); });
  throws("new[]", [] { return ::operator new[](huge); });
  throws("new nothrow", [] { return ::operator new(huge, std::nothrow); });
  throws("new[] nothrow", [] { return ::operator new[](huge, std::nothrow); });
  throws("new aligned", [] { return ::operator new (huge, std::align_val_t{64}); });
  throws("new[] aligned", [] { return ::operator new[](huge, std::align_val_t{64}); });
  throws("new aligned nothrow", [] { return ::operator new (huge, std::align_val_t{64}, std::nothrow); });
  throws("new[] aligned nothrow", [] { return ::operator new[](huge, std::align_val_t{64}, std::nothrow); });
  throws("new odd alignment", [] { return ::operator new (40, std::align_val_t{48}, std::nothrow); });
}

struct alignas(128) wide_object {
  char bytes[300];
};
struct thrower {
  char bytes[100];
  thrower() { throw 1; }
};

static void expressions() {
  wide_object *one = new wide_object, *many = new wide_object[7];
  std::printf("expression: %d %d\n", (std::uintptr_t)one % 128 == 0, (std::uintptr_t)many % 128 == 0);
  delete one;
  delete[] many;
  int caught = 0;
  for (int i = 0; i < 1000; i++) {
    try {
      thrower *never = new thrower;
      delete never;
    } catch (int) {
      caught++;
    }
  }
  std::printf("constructors that threw: %d\n", caught);
}

int main() {
  round_trips();
  failures();
  expressions();
}
// SPDX-License-Identifier: MIT
