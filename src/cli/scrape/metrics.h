/* The metrics of recordings in the text format of Prometheus, version 0.0.4. */
#pragma once

#include "cli/scrape/meters.h"
#include <stdio.h>
#include <sys/types.h>

/* What is exposed of a recording. */
struct metrics {
  const char *service;
  pid_t pid;
  const struct meters *meters;
  double writing; /* 1: the process still writes its trace */
  double cost;    /* below 0: not known */
  double rate, lost_records;
};

/* Writes all metrics of all recordings; no two of these have one service and pid. */
void metrics_write(FILE *out, const struct metrics *recordings, size_t count);
/* SPDX-License-Identifier: MIT */
