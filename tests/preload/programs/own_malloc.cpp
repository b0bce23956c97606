// A program with its own malloc: of an arena, or of the next malloc with a header before each block (PASSES_ON). Each
// block that a library function or an operator allocates must be of it, or else its free would not know the block.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <malloc.h>
#include <new>
#include <unistd.h>

struct header {
  size_t bytes, mark;
};
static const size_t MARK = 0x6d696e652e2e2e31;
static long born, died;

#ifdef PASSES_ON
static void *next(size_t bytes) {
  static auto function = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
  return function(bytes);
}
static void next_free(void *block) {
  static auto function = (void (*)(void *))dlsym(RTLD_NEXT, "free");
  function(block);
}
static bool in_reach(void *) { return true; }
#else
alignas(16) static char arena[1 << 24];
static size_t used;
static void *next(size_t bytes) {
  bytes = (bytes + 15) & ~(size_t)15;
  size_t at = __atomic_fetch_add(&used, bytes, __ATOMIC_RELAXED);
  return at + bytes <= sizeof arena ? arena + at : nullptr;
}
static void next_free(void *) {}
static bool in_reach(void *block) { return (char *)block >= arena && (char *)block < arena + sizeof arena; }
#endif

static header *header_of(void *block) {
  header *found = (header *)block - 1;
  return in_reach(block) && found->mark == MARK ? found : nullptr;
}
static header *checked(void *block, const char *line) {
  header *found = header_of(block);
  if (found) return found;
  (void)!write(2, line, strlen(line));
  abort();
}

extern "C" void *malloc(size_t bytes) {
  header *made = (header *)next(bytes + sizeof(header));
  if (!made) return nullptr;
  *made = {bytes, MARK};
  born++;
  return made + 1;
}
extern "C" void free(void *block) {
  if (!block) return;
  header *found = checked(block, "a foreign block is freed\n");
  found->mark = 0;
  died++;
  next_free(found);
}
extern "C" void *calloc(size_t count, size_t bytes) {
  void *made = malloc(count * bytes);
  return made ? memset(made, 0, count * bytes) : nullptr;
}
extern "C" void *realloc(void *block, size_t bytes) {
  size_t before = block ? checked(block, "a foreign block is reallocated\n")->bytes : 0;
  void *made = malloc(bytes);
  if (made && block) memcpy(made, block, before < bytes ? before : bytes), free(block);
  return made;
}

template <class Function> static Function *find(const char *name) {
  return (Function *)dlsym(RTLD_DEFAULT, name);
}

static void *check(void *block, const char *maker) {
  if (!header_of(block)) printf("%s: foreign\n", maker);
  return block;
}
#define CHECK(call) check(call, #call)

static void library_functions() {
  void *grown = CHECK(reallocarray(nullptr, 10, 10));
  free(CHECK(reallocarray(grown, 1000, 10)));
  free(CHECK(strdup("text")));
  char *printed = nullptr;
  (void)!asprintf(&printed, "%d", 12);
  free(check(printed, "asprintf"));
  if (auto old = find<void(void *)>("cfree")) old(malloc(10));
  if (auto sized = find<void(void *, size_t)>("free_sized")) sized(malloc(20), 20);
  if (auto aligned = find<void(void *, size_t, size_t)>("free_aligned_sized")) aligned(malloc(64), 16, 64);
}

static void operators() {
  operator delete(CHECK(operator new(10)));
  operator delete(CHECK(operator new(20)), (size_t)20);
  operator delete(CHECK(operator new(30, std::nothrow)), std::nothrow);
  operator delete[](CHECK(operator new[](10)));
  operator delete[](CHECK(operator new[](20)), (size_t)20);
  operator delete[](CHECK(operator new[](30, std::nothrow)), std::nothrow);
}

__attribute__((noinline)) static void allocate_six_thousand() {
  for (int i = 0; i < 3000; i++) {
    free(CHECK(operator new(40)));
    operator delete(malloc(50));
  }
}

int main() {
  long before = born;
  library_functions();
  printf("of the library: %d\n", born - before >= 4);
  operators();
  allocate_six_thousand();
  long freed = died;
  for (int i = 0; i < 10; i++) delete[] new char[100];
  printf("by operators: %ld\n", died - freed);
}
// SPDX-License-Identifier: MIT
