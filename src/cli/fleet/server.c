/* Chooses a server, and leaves it alone when it fails. */
#include "cli/fleet/server.h"

#include "base/hash.h"
#include "base/os.h"
#include "cli/command.h"
#include <stdio.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)

/* Half of a wait to all of it. */
static uint64_t random_ns(unsigned seconds) {
  uint32_t bits;
  os_random_bytes(&bits, sizeof bits);
  return seconds * SECOND_NS / 2 + seconds * (SECOND_NS / 2) / UINT32_MAX * bits;
}

static void server_note_failure(struct server *server, bool is_wrong) {
  bool is_told = server->fails && (server->is_wrong || !is_wrong);
  server->rest = !server->rest ? 1 : server->rest < REST_MOST / 2 ? 2 * server->rest : REST_MOST;
  server->rest_until_ns = os_monotonic_ns() + random_ns(server->rest);
  server->fails = true;
  server->is_wrong = is_wrong;
  if (!is_told) fail_job("cannot ship to %s: %s", server->options.url, server->shipper.complaint);
}

static void note_success(struct server *server) {
  if (server->fails) fprintf(stderr, "winnow: ships to %s again\n", server->options.url);
  server->fails = server->is_wrong = false;
}

/* ---- shared ---- */

wn_status server_open(struct server *server, const struct http_options *options) {
  *server = (struct server){.options = *options};
  return http_create(&server->options, &server->shipper.http);
}

void server_close(struct server *server) {
  http_destroy(server->shipper.http);
  shipper_destroy(&server->shipper);
}

struct server *server_of(struct server *servers, size_t count, const char *host) {
  struct server *best = servers;
  uint64_t most = 0, hash = hash_bytes(host, strlen(host));
  for (size_t i = 0; i < count; i++) {
    const char *url = servers[i].options.url;
    uint64_t score = hash_combine(hash, hash_bytes(url, strlen(url)));
    if (score > most) most = score, best = &servers[i];
  }
  return best;
}

bool server_rests(const struct server *server) {
  return server->fails && os_monotonic_ns() < server->rest_until_ns;
}

void server_note(struct server *server, enum http_outcome outcome, bool is_shipped) {
  if (is_shipped || outcome == HTTP_DONE) server->rest = 0;
  if (outcome == HTTP_DONE)
    note_success(server);
  else if (outcome != HTTP_ENDING)
    server_note_failure(server, outcome == HTTP_WRONG);
}
/* SPDX-License-Identifier: MIT */
