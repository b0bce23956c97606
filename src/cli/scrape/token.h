/* Secrets in files, and the token that each request must have where others than this machine's
 * users can reach the server. */
#pragma once

#include <stdbool.h>
#include <winnow/status.h>

enum { TOKEN_LEAST = 16, TOKEN_MOST = 256 };

/* Empty: none is needed. */
struct token {
  char text[TOKEN_MOST];
};

/* Reads the first line of a file. WN_EIO: it cannot be read, or others can read it. */
wn_status secret_read(char text[TOKEN_MOST + 1], const char *path);

/* The same of a token. WN_EIO also if that is none. */
wn_status token_read(struct token *token, const char *path);

/* Whether a text is the token. The time that it takes does not depend on the text, nor NULL on the
 * token. */
bool token_is(const struct token *token, const char *text);

/* The same of the header Authorization: "Bearer TOKEN". */
bool token_is_borne(const struct token *token, const char *authorization);
/* SPDX-License-Identifier: MIT */
