/* The frames of nodes, once they have names. names_resolve.c finds the names. */
#include "analysis/names.h"

#include <stdlib.h>

void names_destroy(struct names *names) {
  strings_free(names->strings);
  free(names->frame);
  free(names->first);
  free(names->count);
  free(names->hint);
  *names = (struct names){0};
}

struct frames names_of(const struct names *names, uint32_t node) {
  return (struct frames){names->frame + names->first[node], names->count[node]};
}
/* SPDX-License-Identifier: MIT */
