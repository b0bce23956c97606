// A program that replaces operator new and delete with its own, over malloc.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <string>
#include <vector>

static long mine;
void *operator new(std::size_t bytes) {
  mine++;
  void *block = std::malloc(bytes + 16);
  if (!block) throw std::bad_alloc();
  return (char *)block + 16;
}
void operator delete(void *block) noexcept {
  if (block) mine--, std::free((char *)block - 16);
}
void operator delete(void *block, std::size_t) noexcept { operator delete(block); }

int main() {
  {
    std::map<std::string, std::vector<int>> table;
    for (int i = 0; i < 3000; i++) table["a rather long key number " + std::to_string(i % 500)].push_back(i);
    std::printf("entries %zu, blocks of my own %d\n", table.size(), mine > 1000);
    int *numbers = new int[100];
    delete[] numbers;
  }
  std::printf("left %ld\n", mine);
}
// SPDX-License-Identifier: MIT
