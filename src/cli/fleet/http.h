/* Requests to a ClickHouse server by HTTP.
 *
 * libcurl makes them. It is loaded when the first client is created, so that commands which ask no
 * server do not need it.
 *
 * WHOLE. ClickHouse 18.16 inserts the rows that came before a body broke off, if it broke off between
 * two rows. So the body of an insertion is one block as ClickHouse compresses it, here with the
 * method "none": a block that is not complete is refused.
 *
 * LATE. What a process had sent when it was killed, or when it gave up waiting, the system and the
 * server may still hold. The system drops it after LATE_MS (TCP_USER_TIMEOUT), and a server that
 * answers begins within LATE_MS to execute what it has received: this is assumed, since a server
 * shows a query in system.processes only after it has read its body.
 *
 * SECRETS. The name and the password are in headers. They and the rows go in clear to an http: URL,
 * and never to a proxy, whatever http_proxy and its like say. Certificates are always verified, and
 * no redirection is followed. */
#pragma once

#include <ctype.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <winnow/status.h>

enum { LATE_MS = 1000, HTTP_BLOCK_HEAD = 25, COMPLAINT_MOST = 400 };

struct http_options {
  const char *url; /* checked by http_check_url */
  const char *database;
  const char *user, *password; /* NULL: none */
  const char *authorities;     /* a file of certificates to trust; NULL: those of the system */
  const sigset_t *ending;      /* blocked signals; when one of them is pending a request is given up */
};

enum http_outcome {
  HTTP_DONE,
  HTTP_AGAIN, /* the server cannot be reached, is overloaded, or has failed: it may work later */
  HTTP_WRONG, /* it will not work before an administrator changes something */
  HTTP_ENDING /* a signal came */
};

/* A client of one server. It keeps a connection. */
struct http;

/* NULL; or what is wrong with a URL, in words. */
const char *http_check_url(const char *url);

/* WN_ESYS: there is no libcurl; WN_ENOMEM. The options must outlive the client. */
wn_status http_create(const struct http_options *options, struct http **http);
void http_destroy(struct http *http);

/* Asks a query. The answer, a text with a NUL behind it, is valid until the next request. */
enum http_outcome http_select(struct http *http, const char *query, const char **answer);

/* Inserts a block: `query` without its rows, and HTTP_BLOCK_HEAD bytes of any content with the rows
 * behind them. All outcomes but HTTP_DONE leave open whether the rows were inserted. */
struct http_block {
  char *bytes;
  size_t size; /* with the head */
};
enum http_outcome http_insert(struct http *http, const char *query, const char *query_id,
                              const struct http_block *block);

/* LATE: waits until the server answers, and then as long as a request of a process that has ended
 * may need to reach it. */
enum http_outcome http_settle(struct http *http);

/* Writes a text as a string of a query, between quotes, whatever is in it. */
static inline void http_write_text(FILE *query, const char *text) {
  fputc('\'', query);
  for (; *text; text++) {
    bool plain = isalnum((unsigned char)*text) || *text == '-' || *text == '.';
    fprintf(query, plain ? "%c" : "\\x%02X", (unsigned char)*text);
  }
  fputc('\'', query);
}

/* What the last outcome was about, in words, unless that is HTTP_DONE. */
const char *http_complaint(const struct http *http);
/* SPDX-License-Identifier: MIT */
