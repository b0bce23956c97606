/* What every server of Winnow has: a daemon of libmicrohttpd with a thread for each connection,
 * which answers browsers of this machine and pages of its own alone.
 *
 * OWN. The header Host must name the server's endpoint, so that no page of another site reaches it
 * by a name that leads to this machine (DNS rebinding); and Origin, if there is one, the same. What
 * a browser fetches for a page of another site is refused; a link that its user follows is not.
 *
 * BOUNDS. 32 connections with a request that was admitted, and 32 others, of which the oldest gives
 * way to a newcomer (guests.h); 10 s without a byte, 32 KiB for the headers of each. */
#pragma once

#include "cli/serve/endpoint.h"
#include "cli/serve/guests.h"
#include <microhttpd.h>
#include <stddef.h>

typedef enum MHD_Result web_result;
typedef struct MHD_Connection web_connection;

/* Does not change while the server runs, but for the guests. */
struct web {
  struct endpoint endpoint;
  struct guests guests; /* whose lock is its own */
  struct MHD_Daemon *daemon;
  struct MHD_Response *nothing; /* an empty body, for refusals that tell nothing */
};

struct web_handlers {
  MHD_AccessHandlerCallback handle; /* whose state is a struct web_body, or NULL */
  void *context;
  bool escaped; /* paths and arguments are passed as they were sent, with %XX */
};

/* Creates what is there before any connection is. WN_ENOMEM. */
wn_status web_create(struct web *web);

/* Serves the endpoint, which is open, in threads that have the signal mask of the caller.
 * WN_ENOMEM. */
wn_status web_start(struct web *web, const struct web_handlers *handlers);

/* Ends all connections, and destroys what web_create made. A second call has no effect. */
void web_stop(struct web *web);

/* Adds the headers that each response has. `type` NULL: it has no body. NULL stays NULL. */
struct MHD_Response *web_with_headers(struct MHD_Response *response, const char *type);

/* Sends a response that nothing else refers to; NULL ends the connection. */
web_result web_send_once(web_connection *to, unsigned status, struct MHD_Response *response);

/* Sends a status and nothing else. */
web_result web_refuse(const struct web *web, web_connection *to, unsigned status);

/* A request's body as far as it has come. */
struct web_body {
  size_t length, used;
  char bytes[]; /* with room for one more */
};

/* Begins to read a body of at most so many bytes; it becomes the state of the request, which is
 * freed with it. Refuses one that is larger, or does not say how large it is. */
web_result web_begin_body(const struct web *web, web_connection *from, size_t most, void **state);

/* Takes the next bytes of a body. */
web_result web_take_bytes(struct web_body *body, const char *bytes, size_t *count);

/* OWN */
bool web_is_own(const struct web *web, web_connection *from);

/* Whether the connection is taken among those that were admitted, until its request is done:
 * guests.h. */
bool web_admit(struct web *web, web_connection *from);

/* How many seconds an admitted connection has from now on to send its request, or to read its
 * answer: guests.h, LATE. 0: no limit. */
void web_limit(struct web *web, web_connection *from, unsigned seconds);

/* Compares bytes of a secret; the time that it takes does not depend on how many of them are equal.
 */
bool web_is_equal(const char *one, const char *other, size_t length);
/* SPDX-License-Identifier: MIT */
