/* What a server will be told is set in full. */
#include "support/test.h"

#include "cli/command.h"
#include "cli/fleet/connection.h"
#include "cli/fleet/http.h"
#include "cli/fleet/schema.h"
#include "cli/serve/web.h"
#include <string.h>

/* connection.c calls these. */
int fail_usage(const char *command, const char *format, ...) {
  (void)command, (void)format;
  return 2;
}
const char *http_check_url(const char *url) { return (void)url, NULL; }
bool schema_names_database(const char *text) { return *text; }
bool web_is_equal(const char *one, const char *other, size_t length) { return !memcmp(one, other, length); }

static void without_a_password_file_there_is_no_password(void **state) {
  (void)state;
  static struct report_options options;
  struct connection connection;
  memset(&connection, 0x01, sizeof connection); /* as the stack may be */
  assert_int_equal(connection_open(&connection, &options), WN_OK);
  assert_string_equal(connection.password, "");
  assert_null(connection_options(&connection, &options, "http://db:8123", NULL).password);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(without_a_password_file_there_is_no_password)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
/* SPDX-License-Identifier: MIT */
