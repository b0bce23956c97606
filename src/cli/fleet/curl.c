/* Loads libcurl. */
#include "cli/fleet/curl.h"

#include "base/error.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

static struct curl loaded;

static bool curl_find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
  return found;
}

static bool find_all(void *library) {
#define CURL_FUNCTION(result, name, arguments) curl_find(library, "curl_" #name, &loaded.name) &&
  return CURL_FUNCTIONS(CURL_FUNCTION) true;
#undef CURL_FUNCTION
}

wn_status curl_load(const struct curl **curl) {
  static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
  static bool done;
  void *library = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && !done && !library; i++)
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (!done && !library) return error_set(WN_ESYS, "libcurl.so.4 is missing: install the package libcurl4");
  if (!done && (!find_all(library) || loaded.global_init(CURL_GLOBAL_DEFAULT)))
    return error_set(WN_ESYS, "libcurl.so.4 cannot be used: it lacks functions, or does not start");
  done = true;
  *curl = &loaded;
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
