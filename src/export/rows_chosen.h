/* The rows that an export has: those of the table of its quantity, in its order. */
#pragma once

#include "analysis/report/columns.h"
#include "export/formats.h"

struct rows_chosen {
  struct table table;
  struct sites sites;
  enum extent extent; /* for row_begin */
};

/* WN_ENOMEM. The report must outlive the rows. */
wn_status rows_choose(const struct export *export, struct rows_chosen *rows);
void rows_chosen_destroy(struct rows_chosen *rows);
/* SPDX-License-Identifier: MIT */
