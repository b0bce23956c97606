// C++ thread_local objects whose destructors free and allocate; and exceptions thrown through allocating frames.
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct holder {
  std::vector<std::string> texts;
  ~holder() {
    texts.push_back("allocated by a destructor, long enough not to be kept inside");
    texts.clear();
  }
};
static thread_local holder held;
static thread_local std::unique_ptr<std::string> pointed;

static void use_thread_locals() {
  for (int i = 0; i < 20; i++) held.texts.push_back(std::string(40 + i, 'x'));
  pointed = std::make_unique<std::string>(100, 'y');
}

static int throw_through(int depth) {
  std::string local(50 + depth, 'z');
  auto block = std::make_unique<int[]>(100);
  if (!depth) throw std::string("thrown from the depth of a stack whose frames own memory");
  return throw_through(depth - 1) + block[0];
}

int main() {
  for (int i = 0; i < 200; i++) {
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; k++) threads.emplace_back(use_thread_locals);
    for (auto &thread : threads) thread.join();
  }
  use_thread_locals();
  int caught = 0;
  for (int i = 0; i < 2000; i++) try {
      throw_through(i % 20);
    } catch (const std::string &text) {
      caught += text.size() > 10;
    }
  std::printf("caught %d\n", caught);
}
// SPDX-License-Identifier: MIT
