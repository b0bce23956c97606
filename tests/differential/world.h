/* The state of a script that runs: its registers, profiles and plans. See world.c and interpret.c. */
#ifndef TESTS_DIFFERENTIAL_WORLD_H
#define TESTS_DIFFERENTIAL_WORLD_H

#include "differential/log.h"
#include "differential/script.h"

#include <stdnoreturn.h>
#include <winnow/gc.h>
#include <winnow/memprof.h>

struct profile {
  wn_profile *handle; /* NULL: the slot is free */
  int session;
};

/* Who raised a number. */
struct raiser {
  int session;
  enum moment moment;
};

struct world {
  wn_global *registers, *shelf;
  int sessions;
  bool is_clean;       /* nothing happened since the last quiet point */
  bool is_settled;     /* no collection began since then, so that it is known what is dead */
  bool has_young_keys; /* since then */
  bool is_reading;     /* a message */
  bool is_ordered;     /* finalisers run in an order that can be compared */
  bool is_disordered;  /* but not since the last quiet point */
  struct profile profiles[SLOTS];
  enum action plans[KINDS][MOST_WORDS];
  bool blurred[MOST_WORDS]; /* see README.md */
  struct raiser raisers[(KINDS + 1) * MOST_WORDS];
};

/* A thread that runs operations. */
struct actor {
  wn_domain *domain;
  wn_ref registers; /* a block */
  bool has_started; /* a profile */
};

extern struct world world;

noreturn void broken(const char *format, ...) __attribute__((format(printf, 1, 2)));

void world_begin_script(void);

/* A number that is raised tells who raised it. */
void raise_number(wn_domain *domain, enum kind kind, int id);
/* Takes the pending exception, if there is one, and notes it. */
bool surfaced(wn_domain *domain);
/* Runs what is pending, until nothing raises. */
void poll_all(wn_domain *domain);
/* As wn_gc_major_slice. */
void collect_slice(wn_domain *domain, long words);
/* Calls `collect` until it is not interrupted by an exception. */
void collect_minor(wn_domain *domain);
void collect_all(wn_domain *domain, wn_status (*collect)(wn_domain *));

/* Collects until nothing more is told. OCaml's full_major collects three times, Winnow's twice at
 * most: statement G27 promises what a second one finds. */
void settle(wn_domain *domain);

/* ---- profiles: profile.c ---- */

void profile_start(struct actor *actor, int slot);
bool profile_stop(wn_domain *domain); /* false: the domain does not sample */
void profile_discard(int slot);

#endif
/* SPDX-License-Identifier: MIT */
