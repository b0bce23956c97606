/* Which package has the names of stripped code. */
#include "support/test.h"

#include "cli/package.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void expect(const char *release, const char *package, const char *expected) {
  char path[64], text[256];
  snprintf(path, sizeof path, "os_release_%d", (int)getpid());
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(release, file);
  fclose(file);
  package_say_symbols(package, path, text, sizeof text);
  unlink(path);
  assert_string_equal(text, expected);
}

static void debian_has_a_package_of_symbols_for_each(void **state) {
  (void)state;
  static const char debian[] = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n";
  expect(debian, "dash", "Debian has them in dash-dbgsym");
  expect("", "dash", "Debian has them in dash-dbgsym");
  expect("NAME=Other\nID=other\nID_LIKE=debian\n", "dash", "Debian has them in dash-dbgsym");
  expect("VARIANT_ID=ubuntu\nID=debian", "dash", "Debian has them in dash-dbgsym");
}

static void ubuntu_has_them_in_an_archive_of_its_own(void **state) {
  (void)state;
  expect("NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n", "dash",
         "Ubuntu has them in dash-dbgsym (ddebs.ubuntu.com)");
  expect("ID='ubuntu'\n", "dash", "Ubuntu has them in dash-dbgsym (ddebs.ubuntu.com)");
  expect("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "dash",
         "Ubuntu has them in dash-dbgsym (ddebs.ubuntu.com)");
}

static void the_c_library_has_a_package_of_its_own(void **state) {
  (void)state;
  expect("ID=debian\n", "libc6", "Debian has them in libc6-dbg");
  expect("ID=ubuntu\n", "libc6", "Ubuntu has them in libc6-dbg");
  expect("ID=debian\n", "libc6-dev", "Debian has them in libc6-dev-dbgsym");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(debian_has_a_package_of_symbols_for_each),
      cmocka_unit_test(ubuntu_has_them_in_an_archive_of_its_own),
      cmocka_unit_test(the_c_library_has_a_package_of_its_own),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
