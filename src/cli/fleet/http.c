/* Makes requests by libcurl. */
#include "cli/fleet/http.h"

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <winnow/status.h>

#define CURL_FUNCTIONS(FUNCTION)                                                            \
  FUNCTION(CURLcode, global_init, (long flags))                                             \
  FUNCTION(CURL *, easy_init, (void))                                                       \
  FUNCTION(CURLcode, easy_setopt, (CURL * easy, CURLoption option, ...))                    \
  FUNCTION(CURLcode, easy_perform, (CURL * easy))                                           \
  FUNCTION(CURLcode, easy_getinfo, (CURL * easy, CURLINFO info, ...))                       \
  FUNCTION(void, easy_cleanup, (CURL * easy))                                               \
  FUNCTION(const char *, easy_strerror, (CURLcode code))                                    \
  FUNCTION(struct curl_slist *, slist_append, (struct curl_slist * list, const char *text)) \
  FUNCTION(void, slist_free_all, (struct curl_slist * list))

/* libcurl, loaded when it is needed. */
static struct {
#define CURL_FUNCTION(result, name, arguments) result(*name) arguments;
  CURL_FUNCTIONS(CURL_FUNCTION)
#undef CURL_FUNCTION
} curl;

static bool curl_find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
  return found;
}

static bool find_all(void *library) {
#define CURL_FUNCTION(result, name, arguments) curl_find(library, "curl_" #name, &curl.name) &&
  return CURL_FUNCTIONS(CURL_FUNCTION) true;
#undef CURL_FUNCTION
}

/* Loads the library, once. WN_ESYS: it is not there. */
static wn_status curl_load(void) {
  static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
  static bool done;
  void *library = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && !done && !library; i++)
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (!done && !library) return error_set(WN_ESYS, "libcurl.so.4 is missing: install the package libcurl4");
  if (!done && (!find_all(library) || curl.global_init(CURL_GLOBAL_DEFAULT)))
    return error_set(WN_ESYS, "libcurl.so.4 cannot be used: it lacks functions, or does not start");
  done = true;
  return WN_OK;
}

enum {
  ANSWER_MOST = 16 << 20,
  CONNECT_SECONDS = 10,
  REQUEST_SECONDS = 120,
  URL_MOST = 512,
  HEADER_MOST = 400
};

/* Codes of ClickHouse: no such column, table or database; no connection to a shard. */
enum { NO_COLUMN = 16, NO_TABLE = 60, NO_DATABASE = 81, NO_CONNECTION = 279 };

/* Of ClickHouse, too, where older versions answer 500: the user may only read, is unknown, has a
 * wrong or no password, may not use the database, lacks a privilege, or may not come in. */
static const int refusals[] = {164, 192, 193, 194, 291, 497, 516};

struct http {
  const struct http_options *options;
  CURL *easy;
  struct curl_slist *headers;
  char *answer;
  size_t size, capacity;
  char complaint[COMPLAINT_MOST];
};

/* ---- the URL ---- */

const char *http_check_url(const char *url) {
  const char *host = text_begins(url, "https://") ? url + 8 : text_begins(url, "http://") ? url + 7 : NULL;
  if (!host || !*host || strchr("/:", *host)) return "it must be as https://HOST:8443 or http://HOST:8123";
  if (strlen(url) >= URL_MOST) return "it is too long";
  if (memchr(host, '@', strcspn(host, "/")))
    return "it has a name or a password: use --user and --password-file";
  for (const char *at = url; *at; at++)
    if (*at <= ' ' || *at >= 0x7f || strchr("?#\"\\<>^`{|}", *at))
      return "it must be the address of a server, without a question";
  return NULL;
}

static void write_escaped(FILE *out, const char *text) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
  for (; *text; text++) fprintf(out, strchr(plain, *text) ? "%c" : "%%%02X", (unsigned char)*text);
}

static void write_argument(FILE *out, const char *name, const char *value) {
  fprintf(out, "&%s=", name);
  write_escaped(out, value);
}

static void http_write_address(FILE *out, const struct http *http) {
  const char *url = http->options->url;
  size_t length = strlen(url);
  while (url[length - 1] == '/') length--;
  fprintf(out, "%.*s/?database=", (int)length, url);
  write_escaped(out, http->options->database);
}

/* ---- libcurl calls these ---- */

static size_t http_take(char *bytes, size_t size, size_t count, void *context) {
  struct http *http = context;
  size_t length = size * count, needed = http->size + length + 1;
  if (needed > ANSWER_MOST || !array_reserve(&http->answer, &http->capacity, needed, 1)) return 0;
  memcpy(http->answer + http->size, bytes, length);
  http->size += length;
  http->answer[http->size] = 0;
  return length;
}

/* Another value than 0 ends the request. */
static int look_at_signals(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
  const struct http *http = context;
  sigset_t pending;
  (void)a, (void)b, (void)c, (void)d;
  if (!http->options->ending || sigpending(&pending)) return 0;
  for (int number = 1; number < SIGRTMIN; number++)
    if (sigismember(&pending, number) == 1 && sigismember(http->options->ending, number) == 1) return 1;
  return 0;
}

/* LATE */
static int set_socket(void *context, curl_socket_t number, curlsocktype purpose) {
  unsigned most = LATE_MS;
  (void)context, (void)purpose;
  setsockopt(number, IPPROTO_TCP, TCP_USER_TIMEOUT, &most, sizeof most);
  return CURL_SOCKOPT_OK;
}

/* ---- the outcome ---- */

static enum http_outcome http_complain(struct http *http, enum http_outcome outcome, const char *text) {
  snprintf(http->complaint, sizeof http->complaint, "%.*s", COMPLAINT_MOST - 1, text);
  utf8_make_plain(http->complaint);
  return outcome;
}

static enum http_outcome complain_of_connection(struct http *http, CURLcode code) {
  switch (code) {
  case CURLE_ABORTED_BY_CALLBACK: return http_complain(http, HTTP_ENDING, "a signal came");
  case CURLE_WRITE_ERROR: return http_complain(http, HTTP_WRONG, "its answer is too large");
  case CURLE_PEER_FAILED_VERIFICATION:
  case CURLE_SSL_CACERT_BADFILE:
  case CURLE_SSL_ISSUER_ERROR:
  case CURLE_URL_MALFORMAT:
  case CURLE_UNSUPPORTED_PROTOCOL: return http_complain(http, HTTP_WRONG, curl.easy_strerror(code));
  default: return http_complain(http, HTTP_AGAIN, curl.easy_strerror(code));
  }
}

static bool is_passing(long status) {
  return status >= 500 || status == 408 || status == 429 || status == 200;
}

static bool is_refusal(int code) {
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    if (refusals[i] == code) return true;
  return false;
}

/* Below a NO_CONNECTION each try has a line, with the shard's address. */
static char *last_try(char *answer) {
  for (char *next = answer; (next = strstr(next, "\nCode: "));) answer = ++next;
  return answer;
}

/* ClickHouse answers "Code: 60, e.displayText() = DB::Exception: Table winnow.loads doesn't exist., e.what()
 * = DB::Exception", newer ones without the words around it. */
static enum http_outcome complain_of_answer(struct http *http, long status) {
  static const char display[] = "e.displayText() = ";
  int code = 0;
  char text[COMPLAINT_MOST];
  sscanf(http->answer, "Code: %d", &code);
  char *line = code == NO_CONNECTION ? last_try(http->answer) : http->answer;
  char *end = line + strcspn(line, "\r\n");
  *end = 0;
  if ((end = strstr(line, ", e.what() ="))) *end = 0;
  char *said = strstr(line, display);
  said = said ? said + sizeof display - 1 : line;
  bool no_table = code == NO_TABLE || code == NO_DATABASE || code == NO_COLUMN;
  snprintf(text, sizeof text, "HTTP %ld%s%s%.250s%s", status, *said ? ": " : "",
           code == NO_CONNECTION ? "a shard does not answer: " : "", said,
           no_table ? "; 'winnow fleet init' prints the tables" : "");
  return http_complain(http, is_passing(status) && !no_table && !is_refusal(code) ? HTTP_AGAIN : HTTP_WRONG,
                       text);
}

static enum http_outcome perform(struct http *http) {
  long status = 0;
  http->size = 0;
  if (!array_reserve(&http->answer, &http->capacity, 1, 1))
    return http_complain(http, HTTP_AGAIN, "not enough memory");
  *http->answer = 0;
  CURLcode code = curl.easy_perform(http->easy);
  if (code) return complain_of_connection(http, code);
  curl.easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &status);
  return status == 200 ? HTTP_DONE : complain_of_answer(http, status);
}

/* Posts a body to the URL that a stream was written to, which is closed. libcurl sends a request again
 * by itself when a connection that it had kept breaks off: an insertion has a new one. */
static enum http_outcome http_post(struct http *http, FILE *out, char **url, const void *body, size_t size,
                                   bool is_insertion) {
  enum http_outcome outcome = HTTP_AGAIN;
  if (!out || fclose(out)) {
    http_complain(http, outcome, "not enough memory");
  } else {
    curl.easy_setopt(http->easy, CURLOPT_URL, *url);
    curl.easy_setopt(http->easy, CURLOPT_FRESH_CONNECT, (long)is_insertion);
    curl.easy_setopt(http->easy, CURLOPT_POSTFIELDS, body);
    curl.easy_setopt(http->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    outcome = perform(http);
  }
  free(*url);
  return outcome;
}

/* ---- the client ---- */

static bool add_header(struct http *http, const char *name, const char *value) {
  char text[HEADER_MOST];
  if (!value) return true;
  snprintf(text, sizeof text, "%s:%s%s", name, *value ? " " : "", value);
  struct curl_slist *longer = curl.slist_append(http->headers, text);
  if (longer) http->headers = longer;
  return longer;
}

static bool set_up(struct http *http) {
  const struct http_options *options = http->options;
  if (!(http->easy = curl.easy_init()) || !add_header(http, "X-ClickHouse-User", options->user) ||
      !add_header(http, "X-ClickHouse-Key", options->password) ||
      !add_header(http, "Content-Type", "application/octet-stream") || !add_header(http, "Expect", ""))
    return false;
  curl.easy_setopt(http->easy, CURLOPT_POST, 1L);
  curl.easy_setopt(http->easy, CURLOPT_HTTPHEADER, http->headers);
  curl.easy_setopt(http->easy, CURLOPT_USERAGENT, "winnow");
  curl.easy_setopt(http->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  curl.easy_setopt(http->easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl.easy_setopt(http->easy, CURLOPT_SSL_VERIFYHOST, 2L);
  if (options->authorities) curl.easy_setopt(http->easy, CURLOPT_CAINFO, options->authorities);
  curl.easy_setopt(http->easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl.easy_setopt(http->easy, CURLOPT_PROXY, ""); /* SECRETS: none, not even that of the environment */
  curl.easy_setopt(http->easy, CURLOPT_NOSIGNAL, 1L);
  curl.easy_setopt(http->easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
  curl.easy_setopt(http->easy, CURLOPT_TIMEOUT, (long)REQUEST_SECONDS);
  curl.easy_setopt(http->easy, CURLOPT_WRITEFUNCTION, http_take);
  curl.easy_setopt(http->easy, CURLOPT_WRITEDATA, http);
  curl.easy_setopt(http->easy, CURLOPT_NOPROGRESS, 0L);
  curl.easy_setopt(http->easy, CURLOPT_XFERINFOFUNCTION, look_at_signals);
  curl.easy_setopt(http->easy, CURLOPT_XFERINFODATA, http);
  curl.easy_setopt(http->easy, CURLOPT_SOCKOPTFUNCTION, set_socket);
  return true;
}

/* WHOLE: 16 bytes of a checksum that is not looked at, the method, and both sizes, of which the first
 * counts the method and the sizes, too; in the order of x86 and ARM. */
static void write_head(const struct http_block *block) {
  uint32_t size = (uint32_t)(block->size - HTTP_BLOCK_HEAD), whole = size + 9;
  memset(block->bytes, 0, 16);
  block->bytes[16] = 2;
  for (int i = 0; i < 4; i++) {
    block->bytes[17 + i] = (char)(whole >> (8 * i));
    block->bytes[21 + i] = (char)(size >> (8 * i));
  }
}

/* ---- shared ---- */

wn_status http_create(const struct http_options *options, struct http **http) {
  wn_status error = curl_load();
  struct http *made = error ? NULL : calloc(1, sizeof *made);
  if (error) return error;
  if (!made) return error_set(WN_ENOMEM, "not enough memory");
  made->options = options;
  if (set_up(made)) return *http = made, WN_OK;
  http_destroy(made);
  return error_set(WN_ENOMEM, "not enough memory");
}

void http_destroy(struct http *http) {
  if (!http) return;
  if (http->easy) curl.easy_cleanup(http->easy);
  curl.slist_free_all(http->headers);
  free(http->answer);
  free(http);
}

enum http_outcome http_select(struct http *http, const char *query, const char **answer) {
  char *url = NULL;
  size_t length;
  FILE *out = open_memstream(&url, &length);
  if (out) http_write_address(out, http);
  enum http_outcome outcome = http_post(http, out, &url, query, strlen(query), false);
  *answer = http->answer;
  return outcome;
}

enum http_outcome http_insert(struct http *http, const char *query, const char *query_id,
                              const struct http_block *block) {
  char *url = NULL, most[32];
  size_t length;
  FILE *out = open_memstream(&url, &length);
  write_head(block);
  snprintf(most, sizeof most, "%zu", block->size); /* more than it has rows */
  if (out) {
    http_write_address(out, http);
    write_argument(out, "query", query);
    write_argument(out, "query_id", query_id);
    write_argument(out, "max_insert_block_size", most);
    write_argument(out, "decompress", "1");
    write_argument(out, "http_native_compression_disable_checksumming_on_decompress", "1");
  }
  enum http_outcome outcome = http_post(http, out, &url, block->bytes, block->size, true);
  return !outcome && http->size ? complain_of_answer(http, 200) : outcome;
}

enum http_outcome http_settle(struct http *http) {
  const struct timespec part = {.tv_nsec = 50000000};
  const char *answer;
  enum http_outcome outcome = http_select(http, "SELECT 1", &answer);
  for (int ms = 0; ms < LATE_MS && !outcome; ms += 50) {
    nanosleep(&part, NULL);
    if (look_at_signals(http, 0, 0, 0, 0)) outcome = http_complain(http, HTTP_ENDING, "a signal came");
  }
  return outcome;
}

const char *http_complaint(const struct http *http) { return http->complaint; }
/* SPDX-License-Identifier: MIT */
