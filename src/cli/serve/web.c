/* Starts libmicrohttpd, and answers what is the same for all servers. */
#include "cli/serve/web.h"

#include "base/error.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SILENCE_MOST_SECONDS = 10, HEADER_BYTES = 32 << 10 };

static const char *const headers[][2] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-store"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

/* NULL: there was no memory for one. */
static struct guest *guest_of(web_connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

/* An MHD_RequestCompletedCallback. */
static void finish_request(void *context, web_connection *from, void **state,
                           enum MHD_RequestTerminationCode why) {
  struct web *web = context;
  (void)why;
  free(*state);
  *state = NULL;
  guests_finish(&web->guests, guest_of(from));
}

/* The length that the request's body says it has. False: it says none, or it is too large. */
static bool read_length(web_connection *from, size_t most, size_t *length) {
  const char *text = MHD_lookup_connection_value(from, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
  char *end;
  if (!text || MHD_lookup_connection_value(from, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING))
    return false;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  *length = (size_t)value;
  return !errno && *text >= '0' && *text <= '9' && !*end && value <= most;
}

/* An MHD_NotifyConnectionCallback. */
static void note_connection(void *context, web_connection *of, void **guest,
                            enum MHD_ConnectionNotificationCode what) {
  struct web *web = context;
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(of, MHD_CONNECTION_INFO_CONNECTION_FD);
  if (what == MHD_CONNECTION_NOTIFY_STARTED)
    *guest = info ? guests_add(&web->guests, info->connect_fd) : NULL;
  else
    guests_remove(&web->guests, *guest);
}

static size_t leave_escaped(void *context, web_connection *from, char *text) {
  (void)context, (void)from;
  return strlen(text);
}

static size_t web_unescape(void *context, web_connection *from, char *text) {
  (void)context, (void)from;
  return MHD_http_unescape(text);
}

/* ---- shared ---- */

wn_status web_create(struct web *web) {
  *web = (struct web){.endpoint = {.descriptor = -1}};
  guests_create(&web->guests);
  web->nothing = web_with_headers(MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT), NULL);
  return web->nothing ? WN_OK : error_set(WN_ENOMEM, "cannot start the server");
}

wn_status web_start(struct web *web, const struct web_handlers *handlers) {
  web->daemon = MHD_start_daemon(
      MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO | MHD_USE_ITC, 0, NULL,
      NULL, handlers->handle, handlers->context, MHD_OPTION_LISTEN_SOCKET, web->endpoint.descriptor,
      MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MOST, MHD_OPTION_CONNECTION_TIMEOUT,
      (unsigned)SILENCE_MOST_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES,
      MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_UNESCAPE_CALLBACK,
      handlers->escaped ? leave_escaped : web_unescape, NULL, MHD_OPTION_NOTIFY_COMPLETED, finish_request,
      web, MHD_OPTION_NOTIFY_CONNECTION, note_connection, web, MHD_OPTION_END);
  return web->daemon ? WN_OK : error_set(WN_ENOMEM, "cannot start the server");
}

void web_stop(struct web *web) {
  if (!web->nothing) return;
  if (web->daemon)
    MHD_stop_daemon(web->daemon); /* which closes the descriptor */
  else if (web->endpoint.descriptor >= 0)
    close(web->endpoint.descriptor);
  endpoint_remove_path(&web->endpoint);
  guests_destroy(&web->guests);
  MHD_destroy_response(web->nothing);
  web->daemon = NULL;
  web->nothing = NULL;
}

struct MHD_Response *web_with_headers(struct MHD_Response *response, const char *type) {
  for (size_t i = 0; response && i < sizeof headers / sizeof *headers; i++)
    MHD_add_response_header(response, headers[i][0], headers[i][1]);
  if (response && type) MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  return response;
}

web_result web_send_once(web_connection *to, unsigned status, struct MHD_Response *response) {
  if (!response) return MHD_NO;
  web_result sent = MHD_queue_response(to, status, response);
  MHD_destroy_response(response);
  return sent;
}

web_result web_refuse(const struct web *web, web_connection *to, unsigned status) {
  return MHD_queue_response(to, status, web->nothing);
}

web_result web_begin_body(const struct web *web, web_connection *from, size_t most, void **state) {
  size_t length;
  if (!read_length(from, most, &length)) return web_refuse(web, from, MHD_HTTP_CONTENT_TOO_LARGE);
  struct web_body *body = malloc(sizeof *body + length + 1);
  if (!body) return MHD_NO;
  *body = (struct web_body){.length = length};
  *state = body;
  return MHD_YES;
}

web_result web_take_bytes(struct web_body *body, const char *bytes, size_t *count) {
  if (*count > body->length - body->used) return MHD_NO;
  memcpy(body->bytes + body->used, bytes, *count);
  body->used += *count;
  *count = 0;
  return MHD_YES;
}

bool web_is_own(const struct web *web, web_connection *from) {
  const char *host = MHD_lookup_connection_value(from, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST),
             *origin = MHD_lookup_connection_value(from, MHD_HEADER_KIND, MHD_HTTP_HEADER_ORIGIN),
             *site = MHD_lookup_connection_value(from, MHD_HEADER_KIND, "Sec-Fetch-Site"),
             *target = MHD_lookup_connection_value(from, MHD_HEADER_KIND, "Sec-Fetch-Dest");
  bool is_foreign = site && strcmp(site, "same-origin") && strcmp(site, "none");
  if (is_foreign && (!target || strcmp(target, "document"))) return false;
  if (!host || !endpoint_is_host(&web->endpoint, host)) return false;
  return !origin || (!strncmp(origin, "http://", 7) && !strcmp(origin + 7, host));
}

bool web_admit(struct web *web, web_connection *from) { return guests_admit(&web->guests, guest_of(from)); }

void web_limit(struct web *web, web_connection *from, unsigned seconds) {
  guests_limit(&web->guests, guest_of(from), seconds);
}

bool web_is_equal(const char *one, const char *other, size_t length) {
  unsigned differs = 0;
  for (size_t i = 0; i < length; i++) differs |= (unsigned)(one[i] ^ other[i]);
  return !differs;
}
/* SPDX-License-Identifier: MIT */
