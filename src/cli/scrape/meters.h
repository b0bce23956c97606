/* The functions of a recording that /metrics has, with what they allocated and hold.
 *
 * NAMED. A function gets a name of its own when it is among the METERS_SHOWN largest, by its share
 * of what is held and of what was allocated since the update before; all others are the rest
 * together. It keeps the name, so that its series goes on, and METERS_MOST have one at most. What
 * it allocated before is in the rest.
 *
 * MONOTONE, as in export/ledger.h: each update adds what was allocated since the one before. */
#pragma once

#include "analysis/report/report.h"

enum { METERS_SHOWN = 20, METERS_MOST = 40, METER_NAME_MOST = 200 };

struct meter {
  char name[METER_NAME_MOST];
  struct sum allocated_sum;
  struct estimate held, allocated; /* bytes */
};

/* Zeroed memory: no update came yet. */
struct meters {
  struct meter of[METERS_MOST + 1]; /* 0: the rest */
  struct meter all;                 /* what all functions did together */
  size_t count;                     /* of those with a name, and the rest: 1 or more after an update */
};

/* WN_ENOMEM; then the meters are as they were. */
wn_status meters_update(struct meters *meters, const struct report *report, uint64_t since_ns);
/* SPDX-License-Identifier: MIT */
