/* The state of a script that runs, and its exceptions. */
#include "differential/world.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct world world;

noreturn void broken(const char *format, ...) {
  va_list arguments;
  fflush(stdout);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

void world_begin_script(void) {
  world.sessions = 0;
  world.is_clean = world.has_young_keys = world.is_disordered = false;
  world.is_settled = world.is_ordered = true;
  memset(world.plans, 0, sizeof world.plans);
  memset(world.blurred, 0, sizeof world.blurred);
  for (size_t i = 0; i < sizeof world.raisers / sizeof *world.raisers; i++)
    world.raisers[i] = (struct raiser){-1, AT_BIRTH};
  log_begin_script();
}

void raise_number(wn_domain *domain, enum kind kind, int id) {
  WN_SCOPE(domain);
  wn_raise(domain, wn_root(domain, wn_int((int)kind * MOST_WORDS + id)));
}

bool surfaced(wn_domain *domain) {
  WN_SCOPE(domain);
  wn_ref exception = wn_take_exception(domain);
  if (wn_is_null(exception)) return false;
  world.is_disordered = true;
  int number = (int)wn_to_int(wn_value_of(exception));
  log_told(world.raisers[number].session, world.raisers[number].moment, "exception %d %d",
           number / MOST_WORDS, number % MOST_WORDS);
  return true;
}

void poll_all(wn_domain *domain) {
  do {
    wn_poll(domain);
  } while (surfaced(domain));
}

void collect_slice(wn_domain *domain, long words) {
  collect_minor(domain);
  world.is_settled = false;
  do {
    wn_gc_major_slice(domain, words);
  } while (surfaced(domain));
}

static void collect_until(wn_domain *domain, wn_status (*collect)(wn_domain *)) {
  wn_status status;
  do {
    status = collect(domain);
  } while (status == WN_EBUSY && surfaced(domain));
  if (status) broken("a collection: %s", wn_last_error());
}

void collect_all(wn_domain *domain, wn_status (*collect)(wn_domain *)) {
  world.is_settled = false;
  collect_until(domain, collect);
}

void settle(wn_domain *domain) {
  for (int silent = 0; silent < 2;) {
    long before = log_activity();
    collect_all(domain, wn_gc_full_major);
    poll_all(domain);
    silent = log_activity() == before ? silent + 1 : 0;
  }
}

/* Keys that are young and lead nowhere die in minor collections of Winnow, and not in those of
 * OCaml: statement G54. */
void collect_minor(wn_domain *domain) {
  if (world.has_young_keys) world.is_settled = false;
  collect_until(domain, wn_gc_minor);
}
/* SPDX-License-Identifier: MIT */
