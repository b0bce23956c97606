/* Safepoints, and custom blocks. */
#include "gc/marshal/place.h"

#include "gc/collect/customs.h"
#include "gc/collect/major.h"
#include <string.h>

/* Of a block that `read` has not filled, or could not. */
static const wn_custom_ops unread = {.name = "unread"};

static bool place_find_room(struct wn_domain *domain, size_t extent) {
  return allocate_has_room(domain, extent) || allocate_room(domain, extent);
}

/* Custom blocks of a message may take a third more than its header tells: one word of three. */
static size_t room_for_customs(size_t words) {
  size_t most = WN_MAX_YOUNG_WORDS + 1;
  return words + words / 3 < most ? words / 3 : most - words;
}

static bool begin_young(struct place *place, size_t words) {
  place->room = room_for_customs(words);
  return !words || place_find_room(place->domain, words + place->room);
}

wn_value *place_medium(struct place *place, size_t words, unsigned tag) {
  bool zeroed;
  wn_value *at = allocate_take(place->domain, words, tag, &zeroed);
  if (!at) return NULL;
  place->old_words += words + 1;
  place->to_sample -= (int64_t)words + 1;
  if (place->to_sample < 0) host_born_read(place->domain, (wn_value)(at + 1), &place->to_sample);
  return at + 1;
}

bool place_begin(struct place *place, struct wn_domain *domain, size_t words, const void *frame) {
  *place = (struct place){.domain = domain, .young = words <= WN_MAX_YOUNG_WORDS};
  if (allocate_custom_is_due(domain, 0)) major_collect_and_slice(domain, STOP_EXTERNAL);
  if (!(place->young ? begin_young(place, words) : allocate_begin_old(domain, words))) return false;
  place->live = heap_live_colour(domain->heap);
  place->to_sample = host_gap(domain);
  domain->frame = frame;
  return true;
}

void place_end(struct place *place) {
  allocate_pay_old(place->domain, place->old_words);
  place->old_words = 0;
}

static wn_value *young_custom(struct place *place, size_t words) {
  struct wn_domain *domain = place->domain;
  place->room--;
  wn_value *fields = allocate_cut(domain, words, WN_TAG_CUSTOM, WN_SOURCE_MARSHAL);
  domain->customs[domain->custom_count++] = (wn_value)fields;
  return fields;
}

struct custom *place_custom(struct place *place, const wn_custom_ops *ops, size_t bytes) {
  place->domain->custom = ops;
  size_t words = CUSTOM_WORDS + bytes / 8 + (bytes % 8 != 0);
  bool young = place->young && place->room && customs_reserve(place->domain);
  wn_value *fields = young ? young_custom(place, words) : place_old(place, words, WN_TAG_CUSTOM);
  if (!fields) return NULL;
  memset(fields, 0, words * 8);
  struct custom *custom = (struct custom *)fields;
  custom->ops = &unread;
  return custom;
}

void place_own_custom(struct place *place, struct custom *custom, const wn_custom_ops *ops,
                      size_t external_bytes) {
  struct wn_domain *domain = place->domain;
  *custom = (struct custom){ops, external_bytes};
  if (!external_bytes) return;
  atomic_fetch_add(&domain->heap->store.external, external_bytes);
  if (heap_is_young(domain->heap, (wn_value)custom))
    domain->young_external += external_bytes;
  else
    domain->external_words += customs_count_old(domain->heap, external_bytes);
  host_born_outside(domain, (wn_value)custom, external_bytes);
}
/* SPDX-License-Identifier: MIT */
