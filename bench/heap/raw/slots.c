/* An array of 2^18 lists, each with the last four keys that fell into its slot, in the raw tier:
 * slots UPDATES. */
#include "slots_run.h"
#include "slots_update.h"

int main(int count, char **words) { return slots_main(count, words); }
/* SPDX-License-Identifier: MIT */
