/* The secret that each request must have where others than this machine's users can reach the
 * server. */
#ifndef CLI_SCRAPE_TOKEN_H
#define CLI_SCRAPE_TOKEN_H

#include <stdbool.h>
#include <winnow/status.h>

enum { TOKEN_LEAST = 16, TOKEN_MOST = 256 };

/* Empty: none is needed. */
struct token {
  char text[TOKEN_MOST];
};

/* Reads the first line of a file. WN_EIO: it cannot be read, others can read it, or it has no
 * token. */
wn_status token_read(struct token *token, const char *path);

/* Whether a text is the token. The time that it takes does not depend on the text, nor NULL on the
 * token. */
bool token_is(const struct token *token, const char *text);

/* The same of the header Authorization: "Bearer TOKEN". */
bool token_is_borne(const struct token *token, const char *authorization);

#endif
/* SPDX-License-Identifier: MIT */
