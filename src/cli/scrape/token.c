/* Reads secrets, and compares the token. */
#include "cli/scrape/token.h"

#include "base/error.h"
#include "base/os.h"
#include "cli/serve/web.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a token of the header Authorization is made of (RFC 6750). */
static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/=";

static wn_status token_check(const char *path, const char *text) {
  size_t length = strlen(text);
  if (length < TOKEN_LEAST || length >= TOKEN_MOST || text[strspn(text, letters)])
    return error_set(
        WN_EIO,
        "%.400s: its first line must be a token of %d to %d letters, digits and -._~+/=, such as "
        "'openssl rand -hex 16' prints",
        path, TOKEN_LEAST, TOKEN_MOST - 1);
  return WN_OK;
}

wn_status secret_read(char text[TOKEN_MOST + 1], const char *path) {
  struct stat found;
  memset(text, 0, TOKEN_MOST + 1);
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 || fstat(descriptor, &found)) {
    wn_status error = error_set(WN_EIO, "cannot open %.400s: %s", path, strerror(errno));
    if (descriptor >= 0) close(descriptor);
    return error;
  }
  os_read_at(descriptor, text, TOKEN_MOST, 0);
  close(descriptor);
  text[strcspn(text, "\r\n")] = 0;
  if (found.st_mode & (S_IRWXO | S_IWGRP))
    return error_set(WN_EIO, "%.400s: others can read or change it; its mode must be 0600 or 0640", path);
  return WN_OK;
}

wn_status token_read(struct token *token, const char *path) {
  char text[TOKEN_MOST + 1];
  *token = (struct token){""};
  wn_status error = secret_read(text, path);
  if (!error) error = token_check(path, text);
  if (!error) strcpy(token->text, text);
  return error;
}

bool token_is(const struct token *token, const char *text) {
  char given[TOKEN_MOST] = "";
  if (!text || strlen(text) >= TOKEN_MOST) return false;
  strcpy(given, text);
  return web_is_equal(token->text, given, TOKEN_MOST);
}

bool token_is_borne(const struct token *token, const char *authorization) {
  static const char scheme[] = "Bearer ";
  if (!authorization || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0) return false;
  return token_is(token, authorization + sizeof scheme - 1);
}
/* SPDX-License-Identifier: MIT */
