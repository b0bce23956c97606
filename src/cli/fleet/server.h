/* The servers to which recordings go.
 *
 * CHOICE. Of several a host has always the same one (rendezvous hashing: a server that comes or goes
 * moves only its own hosts), in whichever order they are listed: a batch that is sent again finds what
 * was sent before. The hosts of a server that is down wait for it.
 *
 * BACK-PRESSURE. After a failure a server is left alone for a second, then for twice as long each
 * time that it takes nothing in between, up to REST_MOST seconds. A random part is left out of each
 * wait, so that many machines do not come at once. */
#pragma once

#include "cli/fleet/shipper.h"
#include <stdbool.h>

enum { REST_MOST = 900 };

struct server {
  struct http_options options;
  struct shipper shipper;
  bool fails;             /* since it was last said that it does */
  unsigned rest;          /* seconds of the wait after the last failure */
  uint64_t rest_until_ns; /* of the monotonic clock */
  bool is_wrong;          /* the last failure was HTTP_WRONG */
};

/* Creates the client of a server, with these options, which are copied. As http_create. */
wn_status server_open(struct server *server, const struct http_options *options);
void server_close(struct server *server);

/* CHOICE */
struct server *server_of(struct server *servers, size_t count, const char *host);

bool server_rests(const struct server *server);

/* BACK-PRESSURE. Notes the outcome of requests, by which something was shipped or not, and says on
 * standard error that the server fails, or that it works again. */
void server_note(struct server *server, enum http_outcome outcome, bool is_shipped);
/* SPDX-License-Identifier: MIT */
