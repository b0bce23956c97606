/* A program in C++ that was not built with Winnow: heaps, domains, scopes and roots as objects. */
#include <winnow/heap.hpp>

#include <cstring>
#include <stdexcept>
#include <utility>

#define CHECK(condition)                                       \
  do {                                                         \
    if (!(condition)) {                                        \
      std::printf("line %d: %s\n", __LINE__, wn_last_error()); \
      std::exit(1);                                            \
    }                                                          \
  } while (0)

static long handles(wn_domain *d) {
  wn_gc_stat stat;
  CHECK(!wn_gc_quick_stat(d, &stat));
  return stat.stack_size;
}

static winnow::handle make_list(wn_domain *d, intptr_t length) {
  winnow::scope here(d);
  winnow::handle list(d, wn_int(0));
  for (intptr_t i = 0; i < length; i++) CHECK(wn_push_int(d, list, 0, i));
  return here.escape(list);
}

static void scopes_end_by_themselves(wn_domain *d) {
  winnow::scope outer(d);
  long before = handles(d);
  winnow::handle list = make_list(d, 100000);
  CHECK(handles(d) == before + 1 && list[0].to_int() == 99999);
  try {
    winnow::scope inner(d);
    winnow::handle lost = winnow::alloc(d, 3, 0);
    CHECK(lost);
    throw std::runtime_error("leaves the scope");
  } catch (const std::runtime_error &) {
    CHECK(handles(d) == before + 2); /* the list, and its first number */
  }
}

static void handles_are_used_by_both_interfaces(wn_domain *d) {
  winnow::scope here(d);
  winnow::handle block = winnow::alloc(d, 2, 7), text = winnow::alloc_bytes(d, 20), none;
  block.set(0, text);
  block.set(1, 5);
  std::strcpy(static_cast<char *>(text.bytes()), "some bytes");
  CHECK(!wn_gc_full_major(d) && !none);
  CHECK(block.tag() == 7 && block.words() == 2 && block[1].is_int() && block[1].to_int() == 5);
  CHECK(!std::strcmp(static_cast<char *>(block[0].bytes()), "some bytes"));
  CHECK(wn_value_of(text) == wn_field(block, 0));
  winnow::handle copy = block;
  copy.assign(text);
  CHECK(block.value() == text.value());
}

static void roots_and_pins_hold_blocks(wn_domain *d) {
  winnow::scope here(d);
  winnow::global moved;
  {
    winnow::scope inner(d);
    winnow::global root(d, make_list(d, 10));
    CHECK(root);
    moved = std::move(root);
    CHECK(!root);
  }
  CHECK(!wn_gc_compact(d) && moved.get()[0].to_int() == 9);
  moved.set(winnow::handle(d, wn_int(3)));
  CHECK(moved.get().to_int() == 3);
  winnow::handle bytes = winnow::alloc_bytes(d, 100);
  winnow::pin pinned(d, bytes);
  CHECK(!pinned.status());
  char *at = static_cast<char *>(bytes.bytes());
  {
    winnow::blocking section(d);
    std::strcpy(at, "written in a blocking section");
  }
  CHECK(!wn_gc_compact(d) && at == bytes.bytes() && !std::strncmp(at, "written", 7));
  winnow::pin refused(d, winnow::handle(d, wn_int(1)));
  CHECK(refused.status() == WN_EINVAL);
}

int main() {
  wn_heap_options options = winnow::defaults();
  options.parameters.minor_heap_size = 4096;
  options.helper_threads = 0;
  winnow::heap first, heap;
  CHECK(!first.open(options) && first.open() == WN_ESTATE);
  heap = std::move(first);
  CHECK(!first && heap && !first.close());
  {
    winnow::domain d;
    CHECK(!d.attach(heap) && d.attach(heap) == WN_ESTATE);
    CHECK(heap.close() == WN_EBUSY);
    scopes_end_by_themselves(d);
    handles_are_used_by_both_interfaces(d);
    roots_and_pins_hold_blocks(d);
    CHECK(!wn_gc_verify(d, stderr));
  }
  CHECK(!heap.close() && !heap);
  winnow::heap last;
  return last.open() != WN_OK;
}
/* SPDX-License-Identifier: MIT */
