/* Serves by libmicrohttpd. */
#include "cli/scrape/scraper.h"

#include "base/error.h"
#include "base/text.h"
#include "cli/scrape/answer.h"
#include <stdlib.h>
#include <string.h>

enum { ANSWER_SECONDS = 30, BODY_BYTES = 1 << 20, LINK_MOST = 3 * TOKEN_MOST + 8 };

/* ---- answers ---- */

/* Takes the answer's bytes. NULL without memory. */
static struct MHD_Response *respond(struct answer *answer) {
  struct MHD_Response *response =
      MHD_create_response_from_buffer(answer->size, answer->bytes, MHD_RESPMEM_MUST_FREE);
  if (!response) free(answer->bytes);
  return web_with_headers(response, answer->type);
}

static web_result send_answer(web_connection *to, struct answer *answer) {
  char disposition[64], seconds[16];
  unsigned status = answer->status;
  struct MHD_Response *response = respond(answer);
  if (!response) return MHD_NO;
  if (answer->name) {
    snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"", answer->name);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION, disposition);
  }
  if (answer->retry_seconds) {
    snprintf(seconds, sizeof seconds, "%u", answer->retry_seconds);
    MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
  }
  if (status >= MHD_HTTP_BAD_REQUEST)
    MHD_add_response_header(response, "X-Go-Pprof", "1"); /* pprof prints the text */
  if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
    MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  if (status == MHD_HTTP_UNAUTHORIZED)
    MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
  return web_send_once(to, status, response);
}

static web_result scraper_refuse(web_connection *to, unsigned status, const char *why) {
  struct answer answer;
  return answer_refuse(&answer, status, "%s", why) ? send_answer(to, &answer) : MHD_NO;
}

/* ---- requests ---- */

static const char *argument(void *connection, const char *name) {
  return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

/* Whether a request may be answered. `link` becomes what links in the answer need: "token=..." if
 * the request has its token there, which has no letters but those of an address when escaped. */
static bool may_ask(const struct scraper *scraper, web_connection *from, char link[LINK_MOST]) {
  const char *borne = MHD_lookup_connection_value(from, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION),
             *given = argument(from, "token");
  *link = 0;
  if (!*scraper->token.text) return web_is_own(&scraper->web, from);
  if (token_is_borne(&scraper->token, borne)) return true;
  if (!token_is(&scraper->token, given)) return false;
  int length = snprintf(link, 8, "token=");
  for (const char *at = scraper->token.text; *at; at++)
    length += snprintf(link + length, 4, strchr("+/=", *at) ? "%%%02X" : "%c", (unsigned char)*at);
  return true;
}

/* `link`: as of may_ask. */
static web_result scraper_answer(struct scraper *scraper, web_connection *from, const char *path, bool look,
                                 const char *link, struct web_body *body) {
  struct ask ask;
  struct answer made;
  const char *wrong = ask_read(&ask, path, argument, from);
  if (wrong) return scraper_refuse(from, MHD_HTTP_BAD_REQUEST, wrong);
  if (body) body->bytes[body->used] = 0;
  ask.look = look;
  ask.words = body ? body->bytes : NULL;
  web_limit(&scraper->web, from, 0); /* other requests may be answered first */
  pthread_mutex_lock(&scraper->targets->lock);
  bool done = answer_make(scraper->targets, &ask, link, &made);
  targets_tidy(scraper->targets);
  pthread_mutex_unlock(&scraper->targets->lock);
  web_limit(&scraper->web, from, ANSWER_SECONDS);
  return done ? send_answer(from, &made) : MHD_NO;
}

static web_result scraper_begin_request(struct scraper *scraper, web_connection *from, const char *path,
                                        const char *method, void **state) {
  char link[LINK_MOST];
  bool head = !strcmp(method, MHD_HTTP_METHOD_HEAD), post = !strcmp(method, MHD_HTTP_METHOD_POST);
  if (!may_ask(scraper, from, link))
    return *scraper->token.text ? scraper_refuse(from, MHD_HTTP_UNAUTHORIZED, "a token is needed")
                                : web_refuse(&scraper->web, from, MHD_HTTP_FORBIDDEN);
  if (!web_admit(&scraper->web, from)) return web_refuse(&scraper->web, from, MHD_HTTP_SERVICE_UNAVAILABLE);
  web_limit(&scraper->web, from, ANSWER_SECONDS);
  if (post && !strcmp(path, "/debug/pprof/symbol"))
    return web_begin_body(&scraper->web, from, BODY_BYTES, state);
  if (!head && strcmp(method, MHD_HTTP_METHOD_GET) != 0)
    return scraper_refuse(from, MHD_HTTP_METHOD_NOT_ALLOWED, "GET and HEAD alone");
  return scraper_answer(scraper, from, path, head, link, NULL);
}

/* An MHD_AccessHandlerCallback. */
static web_result scraper_handle(void *context, web_connection *from, const char *path, const char *method,
                                 const char *version, const char *bytes, size_t *count, void **state) {
  struct web_body *body = *state;
  (void)version;
  if (!body) return scraper_begin_request(context, from, path, method, state);
  return *count ? web_take_bytes(body, bytes, count) : scraper_answer(context, from, path, false, "", body);
}

/* ---- starting ---- */

/* Splits "127.0.0.1:6060" or "[::1]:6060". */
static bool scraper_split(const char *text, char address[64], unsigned *port) {
  const char *colon = strrchr(text, ':');
  bool brackets = *text == '[';
  if (!colon || (brackets && (colon == text || colon[-1] != ']'))) return false;
  size_t length = (size_t)(colon - text) - 2 * brackets;
  char *end;
  unsigned long number = strtoul(colon + 1, &end, 10);
  if (colon[1] < '0' || colon[1] > '9' || *end || number > 65535 || !length || length >= 64) return false;
  memcpy(address, text + brackets, length);
  address[length] = 0;
  *port = (unsigned)number;
  return true;
}

static wn_status open_endpoint(struct endpoint *endpoint, const char *text, bool has_token) {
  char address[64];
  unsigned port;
  if (text_begins(text, "unix:")) return endpoint_open_path(endpoint, text + strlen("unix:"));
  if (!scraper_split(text, address, &port))
    return error_set(WN_EINVAL,
                     "--listen %.100s: it must be an IP address of this machine with a port, such as "
                     "127.0.0.1:6060, or unix:PATH",
                     text);
  wn_status error = endpoint_open(endpoint, address, port);
  if (error || endpoint->loopback || has_token) return error;
  return error_set(WN_EINVAL,
                   "--listen %.100s: other machines can reach it, so a token is needed (--token-file)", text);
}

/* ---- shared ---- */

wn_status scraper_start(struct scraper *scraper, struct targets *targets, const char *endpoint,
                        const struct token *token) {
  *scraper = (struct scraper){.targets = targets};
  if (token) scraper->token = *token;
  struct web_handlers handlers = {.handle = scraper_handle, .context = scraper};
  wn_status error = web_create(&scraper->web);
  if (!error) error = open_endpoint(&scraper->web.endpoint, endpoint, *scraper->token.text);
  if (!error) error = web_start(&scraper->web, &handlers);
  if (error) web_stop(&scraper->web);
  return error;
}

void scraper_tidy(struct scraper *scraper) { guests_end_late(&scraper->web.guests); }

void scraper_stop(struct scraper *scraper) { web_stop(&scraper->web); }
/* SPDX-License-Identifier: MIT */
