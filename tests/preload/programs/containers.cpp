// A C++ program of the usual kind: strings, maps, vectors, shared pointers, streams; always the same.
#include <cstdio>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

struct node {
  std::string name;
  std::vector<std::shared_ptr<node>> children;
};

static std::shared_ptr<node> tree(int depth) {
  auto made = std::make_shared<node>();
  made->name = "a node at a depth that needs a long name: " + std::to_string(depth);
  for (int i = 0; depth && i < 3; i++) made->children.push_back(tree(depth - 1));
  return made;
}

int main() {
  static auto kept = tree(5);
  std::map<int, std::string> ordered;
  std::unordered_map<std::string, int> hashed;
  for (int i = 0; i < 2000; i++) {
    std::ostringstream text;
    text << "key " << i % 300 << " and some more text";
    hashed[text.str()] += i;
    ordered[i % 500] += text.str();
  }
  std::vector<int> *forgotten = new std::vector<int>;
  for (int i = 0; i < 1000; i++) forgotten->push_back(i);
  int *objects = new int[77];
  delete[] objects;
  std::printf("%zu %zu %zu\n", ordered.size(), hashed.size(), forgotten->size());
}
// SPDX-License-Identifier: MIT
