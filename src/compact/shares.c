/* Rates, shares and halvings. */
#include "compact/shares.h"

#include "base/words.h"
#include <math.h>
#include <stdbool.h>

static bool shares_stays(const struct shares *shares, int halvings, double rate, double least) {
  double share = shares_of(shares, halvings, rate);
  return share >= 1 || least < share;
}

/* ---- shared ---- */

double shares_wanted(const struct shares *shares, int halvings) {
  return halvings > 0 ? fmax(ldexp(shares->rate, -halvings), RATE_LEAST) : 1;
}

double shares_of(const struct shares *shares, int halvings, double rate) {
  double wanted = shares_wanted(shares, halvings);
  return wanted < rate ? wanted / rate : 1;
}

unsigned shares_survived(const struct shares *shares, double rate, double least) {
  unsigned halvings = 0;
  while (halvings < HALVINGS_ALWAYS && shares_stays(shares, (int)halvings + 1, rate, least)) halvings++;
  return halvings;
}
/* SPDX-License-Identifier: MIT */
