/* The server of `winnow view`: the page, answers to its questions, and news of a growing trace.
 *
 * RESOURCES, all below /TOKEN/, where the token is 128 random bits in hexadecimal:
 *   GET  (nothing)  the page; its policy lets it connect to this server alone
 *   POST answer     the body has one request (page/answers.h) or up to 16, each behind an empty line,
 *                   in 1 MiB; the answers' bytes, each behind its length as u32, are all of one
 *                   state. What cannot be answered (too large, no memory) has an answer with the
 *                   member `error`
 *   GET  events     server-sent events: `growing` or `ended`, at first and after each change. 204,
 *                   upon which browsers do not ask again: the trace was complete from the start.
 * Everything else is 404 with nothing in it, whatever is wrong: path, method or token. So no path
 * leads to a file, and nobody learns how much of a token is right (it is compared in constant
 * time). 403: the header Host is not this server, or Origin is not. 503: too many connections have
 * the token. 413: too large, too many requests, or without a length.
 *
 * THREADS. libmicrohttpd runs a thread for each connection, so a handler may wait: for the answers
 * before its own, or for news. Answers that take long delay other answers, but no events.
 *
 * BOUNDS. Those of web.h; 1 MiB for requests, 16 MiB for an answer. A listener that has gone is
 * noticed by the sign of life that it is sent each second. */
#pragma once

#include "cli/serve/live.h"
#include "cli/serve/web.h"
#include "page/html.h"

enum { TOKEN_DIGITS = 32 };

/* Does not change while the server runs, but for the guests. */
struct server {
  struct live *live;
  struct web web;
  char token[TOKEN_DIGITS + 1];
  char url[160]; /* of the page */
  struct MHD_Response *page;
};

struct server_options {
  const char *address; /* to listen on */
  unsigned port;       /* 0: any free one */
  struct html_head head;
  const char *before, *file; /* how messages name the trace; and that which is compared with it, or NULL */
};

/* Starts it in threads of its own. The threads have the signal mask of the caller. The live
 * recording must outlive it. */
wn_status server_start(struct server *server, struct live *live, const struct server_options *options);

/* Ends all connections. live_stop comes first, so that no listener waits. */
void server_stop(struct server *server);
/* SPDX-License-Identifier: MIT */
