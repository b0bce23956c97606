/* What a request is answered. */
#pragma once

#include "cli/scrape/targets.h"

enum { SERVED_MOST = 256 }; /* recordings */

struct answer {
  unsigned status; /* of HTTP */
  const char *type;
  const char *name; /* of a file to save it in; or NULL */
  char *bytes;      /* from malloc */
  size_t size;
  unsigned retry_seconds; /* 0: nothing is to be tried again */
};

/* Answers a request. `token`: what links of an index need to be asked behind a question mark, or
 * "". False without memory. */
bool answer_make(struct targets *targets, const struct ask *ask, const char *token, struct answer *answer);

/* Answers with a status and a line of text. */
bool answer_refuse(struct answer *answer, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* SPDX-License-Identifier: MIT */
