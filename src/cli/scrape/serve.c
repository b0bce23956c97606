/* winnow serve: serves profiles and metrics of recordings until a signal comes. */
#include "base/error.h"
#include "base/open_file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/scrape/answer.h"
#include "cli/scrape/targets.h"
#include "cli/scrape/token.h"
#include "cli/serve/ending.h"
#include "cli/serve/web.h"
#include "cli/text.h"
#include <getopt.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Samples of a recording unless the user gives another number: bench/results/figures.md. */
enum { USUAL_SAMPLES = 50000, TIDY_SECONDS = 20 };

/* ---- the server ---- */

/* The server of `winnow serve`: profiles and metrics of recordings, for scrapers.
 *
 * RESOURCES (ask.h): GET and HEAD alone, and POST for what pprof asks by it (symbol), else 405. A
 * request that is wrong is 400, an unknown path or recording 404, a recording whose process ended
 * some time ago 410, one that cannot be read again so soon 503 with Retry-After (target.h, REST),
 * each with a line of text.
 *
 * ACCESS. Without a token the endpoint is a loopback address or a socket of mode 0600, so its
 * clients are processes of this machine, or of this user; the header Host, and Origin if there is
 * one, must name the endpoint (web.h), else 403. With a token each request must have it, in the
 * header Authorization or as the argument token, else 401; Host then may be any name of this
 * machine.
 *
 * THREADS. Each connection has a thread; one answer is computed at a time.
 *
 * BOUNDS. Those of web.h; 16 MiB for an answer; ANSWER_SECONDS to send a request, and as long to
 * read its answer. */
struct scraper {
  struct web web;
  struct targets *targets;
  struct token token;
};

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

/* Starts it on an endpoint: ADDRESS:PORT or unix:PATH. WN_EINVAL: that is none, or needs a token;
 * WN_EIO, WN_ENOMEM. The targets must outlive it. `token` NULL: none. */
static wn_status scraper_start(struct scraper *scraper, struct targets *targets, const char *endpoint,
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

/* Ends the connections that are too slow. Called now and then; a newcomer that needs a place does
 * it, too. */
static void scraper_tidy(struct scraper *scraper) { guests_end_late(&scraper->web.guests); }

static void scraper_stop(struct scraper *scraper) { web_stop(&scraper->web); }

/* ---- the command ---- */

static void serve_announce(const struct scraper *scraper, size_t count) {
  const struct endpoint *endpoint = &scraper->web.endpoint;
  char number[64];
  if (*endpoint->path)
    printf("unix:%s serves ", endpoint->path);
  else
    printf("http://%s:%u/ serves ", endpoint->host, endpoint->port);
  printf("%s; Ctrl-C ends it\n", text_number_of(number, (double)count, "recording"));
  fflush(stdout);
}

static wn_status serve_serve(const struct report_options *options, struct targets *targets,
                             const struct token *token) {
  struct scraper scraper;
  sigset_t ending;
  ending_block(&ending);
  wn_status error =
      scraper_start(&scraper, targets, options->listen ? options->listen : "127.0.0.1:6060", token);
  if (error) return error;
  serve_announce(&scraper, targets->count);
  while (!ending_wait(&ending, TIDY_SECONDS)) {
    scraper_tidy(&scraper);
    pthread_mutex_lock(&targets->lock);
    targets_tidy(targets);
    malloc_trim(0);
    pthread_mutex_unlock(&targets->lock);
  }
  scraper_stop(&scraper);
  return WN_OK;
}

/* ---- shared ---- */

void serve_print_options(FILE *out) { options_print(out, FOR_SERVE); }

int command_serve(int argc, char **argv) {
  struct report_options options = {0};
  struct targets targets;
  struct token token = {""};
  int code = options_parse(&options, FOR_SERVE, argc, argv);
  if (code) return code;
  mallopt(M_ARENA_MAX, 1); /* one thread computes at a time, and what it frees is for the next */
  size_t given = options.recording.samples_most;
  options.recording.samples_most = options.full ? 0 : given ? given : USUAL_SAMPLES;
  if (options.token_file && token_read(&token, options.token_file)) return fail_job("%s", wn_last_error());
  if (!geteuid()) open_file_refuse_links();
  inputs_trim(argv + optind, argc - optind);
  wn_status error = targets_open(&targets, SERVED_MOST, argv + optind, argc - optind, &options.recording);
  bool found = !error;
  if (!error) error = serve_serve(&options, &targets, options.token_file ? &token : NULL);
  targets_close(&targets);
  return found && error == WN_EINVAL ? fail_usage("serve", "%s", wn_last_error())
         : error                     ? fail_job("%s", wn_last_error())
                                     : 0;
}
/* SPDX-License-Identifier: MIT */
