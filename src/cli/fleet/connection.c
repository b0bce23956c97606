/* Checks what a server will be told. */
#include "cli/fleet/connection.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/fleet/schema.h"
#include <string.h>
#include <unistd.h>

static bool connection_is_plain(const char *text) {
  for (; *text; text++)
    if ((unsigned char)*text < ' ' || *text == 0x7f) return false;
  return true;
}

/* ---- shared ---- */

int connection_check(struct report_options *options, const char *option) {
  struct ship_options *remote = &options->ship;
  for (int i = 0; remote->to[i]; i++) {
    const char *wrong = http_check_url(remote->to[i]); /* a password in it is not repeated */
    if (wrong) return fail_usage(options->command, "%s: %s", option, wrong);
  }
  if (remote->user && (!connection_is_plain(remote->user) || strlen(remote->user) > TOKEN_MOST))
    return fail_usage(options->command, "--user: it must be the name of a user");
  if (remote->authorities && access(remote->authorities, R_OK))
    return fail_usage(options->command, "--ca %s: it cannot be read", remote->authorities);
  if (!remote->database) remote->database = SCHEMA_DATABASE;
  if (!schema_names_database(remote->database))
    return fail_usage(options->command, "--database %s: it cannot be the name of a database",
                      remote->database);
  return 0;
}

wn_status connection_open(struct connection *connection, const struct report_options *options) {
  const char *path = options->ship.password_file;
  connection->password[0] = 0;
  wn_status error = path ? secret_read(connection->password, path) : WN_OK;
  if (!error && !connection_is_plain(connection->password))
    error = error_set(WN_EIO, "%.400s: its first line is not a password", path);
  return error;
}

void connection_close(struct connection *connection) {
  explicit_bzero(connection->password, sizeof connection->password);
}

struct http_options connection_options(const struct connection *connection,
                                       const struct report_options *options, const char *url,
                                       const sigset_t *ending) {
  const struct ship_options *remote = &options->ship;
  return (struct http_options){.url = url,
                               .database = remote->database,
                               .user = remote->user,
                               .password = remote->password_file ? connection->password : NULL,
                               .authorities = remote->authorities,
                               .ending = ending};
}
/* SPDX-License-Identifier: MIT */
