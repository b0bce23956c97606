/* Serves by libmicrohttpd. */
#include "cli/serve/server.h"

#include "base/error.h"
#include "cli/load.h"
#include "cli/text.h"
#include "page/html.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
  REQUESTS_MOST = 16,
  BODY_BYTES = REQUESTS_MOST * 64 << 10,
  ANSWER_BYTES = 16 << 20,
  EVENT_BYTES = 64,
  ALIVE_MS = 1000
};

/* The page, once for all. */
static struct MHD_Response *server_make_page(const struct server_options *options, const struct live *live) {
  char *page = NULL, *text = NULL, *policy = html_served_policy();
  size_t size = 0;
  struct MHD_Response *response = NULL;
  const char *before = options->before;
  if (asprintf(&text, "This page needs scripts. As text: winnow %s %s%s%s",
               load_is_snapshot(live->recording) ? "heap"
               : before                          ? "diff"
                                                 : "report",
               before ? before : "", before ? " " : "", options->file) < 0)
    text = NULL;
  FILE *out = policy && text ? open_memstream(&page, &size) : NULL;
  if (out) html_write_served(out, &options->head, text);
  if (out && !fclose(out))
    response = web_with_headers(MHD_create_response_from_buffer(size, page, MHD_RESPMEM_MUST_COPY),
                                "text/html; charset=utf-8");
  if (response) MHD_add_response_header(response, "Content-Security-Policy", policy);
  free(page);
  free(text);
  free(policy);
  return response;
}

/* ---- answers ---- */

/* Asks. An answer that is too large is replaced by one that says so. */
static wn_status server_ask(struct answers *answers, const char *request, size_t length, char **bytes,
                            size_t *size) {
  char amount[32], why[128];
  wn_status error = answers_ask(answers, request, length, bytes, size);
  if (error) return answers_fail(answers, wn_last_error(), bytes, size);
  if (*size <= ANSWER_BYTES) return WN_OK;
  snprintf(why, sizeof why, "the answer has %s, too much for a page; narrow the query",
           text_bytes(amount, (double)*size));
  free(*bytes);
  return answers_fail(answers, why, bytes, size);
}

/* Where the request that begins at `at` ends. */
static const char *end_of_request(const char *at, const char *end) {
  const char *found = memmem(at, (size_t)(end - at), "\n\n", 2);
  return found ? found + 1 : end;
}

static size_t count_requests(const struct web_body *body) {
  const char *at = body->bytes, *end = at + body->used;
  size_t count = 0;
  for (; at < end; count++) at = end_of_request(at, end) + 1;
  return count;
}

/* Writes all answers, of one state. An empty body asks nothing. */
static wn_status write_answers(const struct server *server, const struct web_body *body, FILE *out) {
  const char *at = body->bytes, *end = at + body->used;
  wn_status error = WN_OK;
  live_hold(server->live);
  while (at < end && !error) {
    const char *next = end_of_request(at, end);
    char *bytes;
    size_t size;
    error = server_ask(&server->live->answers, at, (size_t)(next - at), &bytes, &size);
    at = next + 1;
    if (error) break;
    fwrite(&(uint32_t){(uint32_t)size}, sizeof(uint32_t), 1, out);
    fwrite(bytes, 1, size, out);
    free(bytes);
  }
  live_release(server->live);
  return error;
}

static web_result server_answer(const struct server *server, web_connection *to,
                                const struct web_body *body) {
  char *bytes = NULL;
  size_t size;
  if (count_requests(body) > REQUESTS_MOST) return web_refuse(&server->web, to, MHD_HTTP_CONTENT_TOO_LARGE);
  FILE *out = open_memstream(&bytes, &size);
  bool failed = !out || write_answers(server, body, out);
  failed = (out && fclose(out)) || failed;
  if (failed) return free(bytes), web_refuse(&server->web, to, MHD_HTTP_INTERNAL_SERVER_ERROR);
  struct MHD_Response *response = MHD_create_response_from_buffer(size, bytes, MHD_RESPMEM_MUST_FREE);
  if (!response) free(bytes);
  return web_send_once(to, MHD_HTTP_OK, web_with_headers(response, "application/octet-stream"));
}

/* ---- events ---- */

struct listener {
  struct live *live;
  uint64_t seen;
};

/* An MHD_ContentReaderCallback: waits for the next event. A line that begins with a colon is a sign
 * of life, which browsers ignore. */
static ssize_t server_read_event(void *context, uint64_t position, char *buffer, size_t most) {
  struct listener *listener = context;
  const char *text = ":\n\n";
  (void)position;
  switch (live_wait(listener->live, &listener->seen, ALIVE_MS)) {
  case NEWS_NONE: break;
  case NEWS_GROWING: text = "data: growing\n\n"; break;
  case NEWS_ENDED: text = "data: ended\n\n"; break;
  case NEWS_STOP: return MHD_CONTENT_READER_END_OF_STREAM;
  }
  size_t length = strlen(text);
  if (length > most) return MHD_CONTENT_READER_END_WITH_ERROR; /* `most` is EVENT_BYTES */
  memcpy(buffer, text, length);
  return (ssize_t)length;
}

static void free_listener(void *context) {
  struct listener *listener = context;
  live_unlisten(listener->live);
  free(listener);
}

static web_result send_events(const struct server *server, web_connection *to) {
  if (!server->live->followed) return web_refuse(&server->web, to, MHD_HTTP_NO_CONTENT);
  struct listener *listener = malloc(sizeof *listener);
  if (!listener) return MHD_NO;
  *listener = (struct listener){server->live, LIVE_NOTHING_SEEN};
  live_listen(server->live);
  struct MHD_Response *response = MHD_create_response_from_callback(
      MHD_SIZE_UNKNOWN, EVENT_BYTES, server_read_event, listener, free_listener);
  if (!response) free_listener(listener);
  return web_send_once(to, MHD_HTTP_OK, web_with_headers(response, "text/event-stream"));
}

/* ---- requests ---- */

/* What follows /TOKEN/ in a path; NULL: the path does not begin so. The time that it takes does not
 * depend on how much of the token is right. */
static const char *behind_token(const struct server *server, const char *path) {
  if (strlen(path) < TOKEN_DIGITS + 2) return NULL;
  bool is_token = web_is_equal(path + 1, server->token, TOKEN_DIGITS);
  return is_token && path[0] == '/' && path[TOKEN_DIGITS + 1] == '/' ? path + TOKEN_DIGITS + 2 : NULL;
}

static web_result server_begin_request(struct server *server, web_connection *from, const char *path,
                                       const char *method, void **state) {
  if (!web_is_own(&server->web, from)) return web_refuse(&server->web, from, MHD_HTTP_FORBIDDEN);
  const char *name = behind_token(server, path);
  if (name && !web_admit(&server->web, from))
    return web_refuse(&server->web, from, MHD_HTTP_SERVICE_UNAVAILABLE);
  bool get = !strcmp(method, MHD_HTTP_METHOD_GET), post = !strcmp(method, MHD_HTTP_METHOD_POST);
  if (name && post && !strcmp(name, "answer")) return web_begin_body(&server->web, from, BODY_BYTES, state);
  if (name && get && !strcmp(name, "events")) return send_events(server, from);
  if (!name || !get || *name) return web_refuse(&server->web, from, MHD_HTTP_NOT_FOUND);
  live_touch(server->live);
  return MHD_queue_response(from, MHD_HTTP_OK, server->page);
}

/* An MHD_AccessHandlerCallback: called first for the headers, then for each piece of the body, then
 * for its end. */
static web_result server_handle(void *context, web_connection *from, const char *path, const char *method,
                                const char *version, const char *bytes, size_t *count, void **state) {
  struct server *server = context;
  struct web_body *body = *state;
  (void)version;
  if (!body) return server_begin_request(server, from, path, method, state);
  return *count ? web_take_bytes(body, bytes, count) : server_answer(server, from, body);
}

/* ---- starting ---- */

static wn_status make_token(char token[TOKEN_DIGITS + 1]) {
  unsigned char bytes[TOKEN_DIGITS / 2];
  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
    return error_set(WN_EIO, "the system gives no random numbers: %s", strerror(errno));
  for (size_t i = 0; i < sizeof bytes; i++) snprintf(token + 2 * i, 3, "%02x", bytes[i]);
  return WN_OK;
}

/* What the server has before its first connection. */
static wn_status server_prepare(struct server *server, const struct server_options *options) {
  wn_status error = web_create(&server->web);
  if (!error) error = make_token(server->token);
  if (!error) error = endpoint_open(&server->web.endpoint, options->address, options->port);
  if (error) return error;
  snprintf(server->url, sizeof server->url, "http://%s:%u/%s/", server->web.endpoint.host,
           server->web.endpoint.port, server->token);
  server->page = server_make_page(options, server->live);
  return server->page ? WN_OK : error_set(WN_ENOMEM, "cannot start the server");
}

/* ---- shared ---- */

wn_status server_start(struct server *server, struct live *live, const struct server_options *options) {
  *server = (struct server){.live = live};
  wn_status error = server_prepare(server, options);
  /* Paths are compared as they were sent: no name needs %XX. */
  struct web_handlers handlers = {.handle = server_handle, .context = server, .escaped = true};
  if (!error) error = web_start(&server->web, &handlers);
  if (error) server_stop(server);
  return error;
}

void server_stop(struct server *server) {
  web_stop(&server->web);
  if (server->page) MHD_destroy_response(server->page);
  server->page = NULL;
}
/* SPDX-License-Identifier: MIT */
