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
#pragma once

#include "cli/scrape/targets.h"
#include "cli/scrape/token.h"
#include "cli/serve/web.h"

struct scraper {
  struct web web;
  struct targets *targets;
  struct token token;
};

/* Starts it on an endpoint: ADDRESS:PORT or unix:PATH. WN_EINVAL: that is none, or needs a token;
 * WN_EIO, WN_ENOMEM. The targets must outlive it. `token` NULL: none. */
wn_status scraper_start(struct scraper *scraper, struct targets *targets, const char *endpoint,
                        const struct token *token);
void scraper_stop(struct scraper *scraper);

/* Ends the connections that are too slow. Called now and then; a newcomer that needs a place does
 * it, too. */
void scraper_tidy(struct scraper *scraper);
/* SPDX-License-Identifier: MIT */
