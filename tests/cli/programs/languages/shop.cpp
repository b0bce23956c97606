// Allocates as programs in C++ do. cases_languages.bash says which functions have rows.
#include <algorithm>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#define NOINLINE __attribute__((noinline))

namespace shop {

using Prices = std::map<std::string, std::vector<std::pair<int, double>>>;
struct Item {
  std::string name;
  std::vector<int> sizes;
};

template <class T, class Compare = std::less<T>> class Pool {
public:
  NOINLINE T *make(int n) {
    kept.push_back(std::make_unique<T>());
    kept.back()->sizes.resize(n);
    return kept.back().get();
  }
  NOINLINE void raw(int n) { blocks.push_back(new char[n]); }
  template <class F> NOINLINE void each(F f) {
    for (auto &item : kept) f(*item);
  }

private:
  std::vector<std::unique_ptr<T>> kept;
  std::vector<char *> blocks;
};

NOINLINE void price(Prices &prices, const std::string &name, int i) { prices[name].emplace_back(i, i * 1.5); }

NOINLINE std::shared_ptr<Item> share(int i) {
  auto item = std::make_shared<Item>();
  item->name = "an item with a long name " + std::to_string(i);
  return item;
}

NOINLINE std::function<int(int)> closure(int i) {
  long big[8] = {i};
  return [big](int j) { return int(big[0]) + j; };
}

NOINLINE void fill(std::unordered_map<std::string, std::vector<std::pair<std::string, int>>> &map) {
  for (int i = 0; i < 300; i++)
    map["key with a long text " + std::to_string(i % 50)].emplace_back("value that is long enough", i);
}

NOINLINE std::string describe(int n) {
  std::ostringstream out;
  for (int i = 0; i < n; i++) out << i << ", ";
  return out.str();
}

NOINLINE void sort_them(std::vector<int> &numbers) { std::stable_sort(numbers.begin(), numbers.end()); }

NOINLINE void texts(const std::vector<int> &from, std::vector<std::string> &to) {
  std::transform(from.begin(), from.end(), std::back_inserter(to), [](int) { return std::string(); });
}

struct Shape {
  virtual ~Shape() {}
  virtual std::vector<double> outline() const = 0;
};
struct Square : Shape {
  NOINLINE std::vector<double> outline() const override { return std::vector<double>(400, 1.0); }
};

NOINLINE int run(const std::function<int(int)> &function, int i) { return function(i); }

} // namespace shop

static std::vector<std::string> names;

NOINLINE static std::function<int(int)> keeper() {
  return [](int i) {
    names.emplace_back(200, 'x');
    return i;
  };
}

int main() {
  using namespace shop;
  Prices prices;
  Pool<Item> pool;
  std::unordered_map<std::string, std::vector<std::pair<std::string, int>>> map;
  std::vector<int> numbers;
  std::vector<std::string> empty;
  Square square;
  Shape *shape = &square;
  size_t n = 0;
  numbers.resize(500);
  std::iota(numbers.rbegin(), numbers.rend(), 0);
  for (int i = 0; i < 100; i++) {
    price(prices, i % 2 ? "odd" : "even", i);
    pool.make(i * 3 + 1);
    pool.raw(100);
    n += share(i)->name.size() + closure(i)(1) + shape->outline().size() + run(keeper(), i);
  }
  pool.each([&](Item &item) { names.emplace_back(item.sizes.size(), 'y'); });
  fill(map);
  sort_them(numbers);
  texts(numbers, empty);
  std::cout << describe(500).size() << ' ' << n << '\n';
}
// SPDX-License-Identifier: MIT
