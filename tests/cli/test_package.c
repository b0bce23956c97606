/* Which package has the names of stripped code. */
#include "support/test.h"

#include "cli/package.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 256 };

static bool ask(const char *release, const char *package, const char *file, char text[TEXT]) {
  char path[64];
  snprintf(path, sizeof path, "os_release_%d", (int)getpid());
  FILE *made = fopen(path, "w");
  assert_non_null(made);
  fputs(release, made);
  fclose(made);
  bool known = package_say_symbols(package, file, path, text, TEXT);
  unlink(path);
  return known;
}

static void expect(const char *release, const char *package, const char *expected) {
  char text[TEXT];
  assert_true(ask(release, package, "/usr/bin/it", text));
  assert_string_equal(text, expected);
}

static void debian_has_a_package_of_symbols_for_each(void **state) {
  (void)state;
  static const char debian[] = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n";
  expect(debian, "dash", "First install dash-dbgsym, and report again");
  expect("", "dash", "First install dash-dbgsym, and report again");
  expect("NAME=Other\nID=other\nID_LIKE=debian\n", "dash", "First install dash-dbgsym, and report again");
  expect("VARIANT_ID=ubuntu\nID=debian", "dash", "First install dash-dbgsym, and report again");
}

static void ubuntu_has_them_in_an_archive_of_its_own(void **state) {
  (void)state;
  expect("NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n", "dash",
         "First install dash-dbgsym (ddebs.ubuntu.com), and report again");
  expect("ID='ubuntu'\n", "dash", "First install dash-dbgsym (ddebs.ubuntu.com), and report again");
  expect("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "dash",
         "First install dash-dbgsym (ddebs.ubuntu.com), and report again");
}

static void the_c_library_has_a_package_of_its_own(void **state) {
  (void)state;
  expect("ID=debian\n", "libc6", "First install libc6-dbg, and report again");
  expect("ID=ubuntu\n", "libc6", "First install libc6-dbg, and report again");
  expect("ID=debian\n", "libc6-dev", "First install libc6-dev-dbgsym, and report again");
}

/* Where no package is known, which only dpkg tells. */
static void other_systems_have_commands_and_servers(void **state) {
  char text[TEXT];
  (void)state;
  expect("ID=fedora\n", NULL, "For them: dnf debuginfo-install /usr/bin/it");
  expect("ID=\"rhel\"\nID_LIKE=\"fedora\"\n", NULL, "For them: dnf debuginfo-install /usr/bin/it");
  expect("ID=arch\n", NULL, "For them: DEBUGINFOD_URLS=https://debuginfod.archlinux.org");
  expect("ID=manjaro\nID_LIKE=arch\n", NULL, "For them: DEBUGINFOD_URLS=https://debuginfod.archlinux.org");
  expect("ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n", NULL,
         "For them: DEBUGINFOD_URLS=https://debuginfod.opensuse.org");
  assert_false(ask("ID=fedora\n", NULL, "/home/it/program", text)); /* a program of one's own */
  assert_false(ask("ID=other\n", NULL, "/usr/bin/it", text));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(debian_has_a_package_of_symbols_for_each),
      cmocka_unit_test(ubuntu_has_them_in_an_archive_of_its_own),
      cmocka_unit_test(the_c_library_has_a_package_of_its_own),
      cmocka_unit_test(other_systems_have_commands_and_servers),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
