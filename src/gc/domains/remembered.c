/* Growing a remembered set. */
#include "gc/domains/remembered.h"

#include "base/check.h"
#include "base/metadata.h"
#include "gc/domains/domain.h"
#include <string.h>

enum { LEAST = TINY ? 64 : 4096 };

static size_t remembered_bytes_of(const struct remembered *set) {
  return (size_t)(set->end - set->begin) * sizeof *set->begin;
}

static const struct wn_domain *remembered_domain_of(const struct remembered *set) {
  return (const struct wn_domain *)((const char *)set - offsetof(struct wn_domain, remembered));
}

void remembered_grow(struct remembered *set, wn_value *field) {
  size_t used = (size_t)(set->at - set->begin), capacity = used ? 2 * used : LEAST;
  wn_value **grown = set->all ? NULL : metadata_map(capacity * sizeof *grown);
  if (!grown) {
    /* The set is not needed any more, so it begins again and need not grow at each store. */
    set->all = true;
    set->at = set->begin;
    return;
  }
  if (used) memcpy(grown, set->begin, used * sizeof *grown);
  metadata_unmap(set->begin, remembered_bytes_of(set));
  *set = (struct remembered){.begin = grown, .at = grown + used, .end = grown + capacity};
  *set->at++ = field;
  event_table_grows(&remembered_domain_of(set)->heap->events, "a remembered set", capacity);
}

void remembered_destroy(struct remembered *set) {
  metadata_unmap(set->begin, remembered_bytes_of(set));
  *set = (struct remembered){0};
}
/* SPDX-License-Identifier: MIT */
