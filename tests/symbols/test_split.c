/* Units of split DWARF in a package: it is opened once, and only files that are regular are. The
 * compiler and dwp make the package; without them there is nothing to test. */
#include "support/test.h"

#include "symbols/expanded.h"
#include "symbols/symbols.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/test_split.XXXXXX";
static unsigned packages_opened;

int __real_regular_open(const char *path);
int __wrap_regular_open(const char *path);
int __wrap_regular_open(const char *path) {
  packages_opened += strstr(path, ".dwp") != NULL;
  return __real_regular_open(path);
}

static bool run(const char *command) { return system(command) == 0; }

static int set_up(void **state) {
  (void)state;
  return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int tear_down(void **state) {
  char command[64];
  (void)state;
  snprintf(command, sizeof command, "rm -r %s", folder);
  return chdir("/") == 0 && run(command) ? 0 : -1;
}

static void a_package_is_opened_once(void **state) {
  static const char *const names[] = {"first", "second", "third"};
  enum { NAMES = 3 };
  unsigned found[NAMES] = {0};
  (void)state;
  if (!run("for f in first second third; do echo \"int $f(int *p) { return *p; }\" >$f.c; done; "
           "cc -O1 -g -gdwarf-4 -gsplit-dwarf -shared -fPIC -o three first.c second.c third.c 2>/dev/null && "
           "dwp -e three -o three.dwp 2>/dev/null && rm -f *.dwo"))
    skip();
  struct symbols *symbols = symbols_open(&(struct symbols_options){.search = NULL});
  char path[64];
  snprintf(path, sizeof path, "%s/three", folder);
  struct symbol_module module = {.path = path};
  for (uint64_t offset = 0x1000; offset < 0x1400; offset++) {
    struct symbol_frame frame;
    symbols_resolve(symbols, &module, offset, &frame, 1);
    for (size_t i = 0; i < NAMES; i++)
      found[i] += !strcmp(frame.function, names[i]) && frame.file && strstr(frame.file, names[i]);
  }
  for (size_t i = 0; i < NAMES; i++) assert_true(found[i]);
  assert_int_equal(packages_opened, 1);
  symbols_close(symbols);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_package_is_opened_once)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
/* SPDX-License-Identifier: MIT */
