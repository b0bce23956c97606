/* libcurl, loaded when it is needed. */
#pragma once

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

struct curl {
#define CURL_FUNCTION(result, name, arguments) result(*name) arguments;
  CURL_FUNCTIONS(CURL_FUNCTION)
#undef CURL_FUNCTION
};

/* Loads the library, once. WN_ESYS: it is not there. */
wn_status curl_load(const struct curl **curl);
/* SPDX-License-Identifier: MIT */
