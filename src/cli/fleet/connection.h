/* How the options of a command say which server to ask, and as whom. */
#pragma once

#include "cli/fleet/http.h"
#include "cli/options.h"
#include "cli/scrape/token.h"

struct connection {
  char password[TOKEN_MOST + 1];
};

/* Checks the options, and sets those that were not given. `option`: that of the URL, "--to". Returns
 * an exit code, after a message. */
int connection_check(struct report_options *options, const char *option);

/* Reads the password. WN_EIO: it cannot be read, or others can read it. */
wn_status connection_open(struct connection *connection, const struct report_options *options);
void connection_close(struct connection *connection);

/* The options of a client of one of the URLs. */
struct http_options connection_options(const struct connection *connection,
                                       const struct report_options *options, const char *url,
                                       const sigset_t *ending);
/* SPDX-License-Identifier: MIT */
