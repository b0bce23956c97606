/* Which records of states stay. */
#include "compact/states.h"

#include "base/array.h"

/* ---- what a record is about ---- */

/* Mappings have one thing each, whatever the kind of the record. */
static bool states_describe(const struct trace_event *event, struct state *state) {
  *state = (struct state){.time_ns = event->at.time_ns, .kind = (uint8_t)event->kind, .thing = event->kind};
  switch ((int)event->kind) {
  case TRACE_MEMORY: state->value = event->memory.rss_bytes; return true;
  case TRACE_GROUP: state->value = event->group.kills; return true;
  case TRACE_RATE: state->value = event->rate.rate > 0; return true;
  case TRACE_COLLECTION:
    state->thing |= (uint64_t)event->collection.kind << 8;
    state->value = event->collection.ns;
    return true;
  case TRACE_PAUSE:
    state->thing |= (uint64_t)event->pause.kind << 8;
    state->value = event->pause.ns;
    return true;
  case TRACE_MAP: state->thing = event->map.mapping; break;
  case TRACE_MAP_SIZE: state->thing = event->map_size.mapping, state->value = event->map_size.bytes; break;
  case TRACE_MAP_TOUCHED:
    state->thing = event->map_touched.mapping, state->value = event->map_touched.bytes;
    break;
  default: return false;
  }
  state->thing |= UINT64_C(1) << 63;
  return true;
}

static bool is_mapping(const struct state *state) { return state->thing >> 63; }

/* ---- moments ---- */

static int by_thing(const void *a, const void *b) {
  const struct state *left = a, *right = b;
  if (left->thing != right->thing) return left->thing < right->thing ? -1 : 1;
  if (left->time_ns != right->time_ns) return left->time_ns < right->time_ns ? -1 : 1;
  return (left->number > right->number) - (left->number < right->number);
}

/* Of the records of one thing, `first` to `end`, the last and the largest of each part stay. */
static void states_keep_largest(const struct states *states, struct state *first, struct state *end) {
  for (struct state *begin = first, *next; begin < end; begin = next) {
    uint64_t part = begin->time_ns / states->part_ns;
    struct state *largest = begin;
    for (next = begin; next < end && next->time_ns / states->part_ns == part; next++)
      if (next->value > largest->value) largest = next;
    largest->stays = next[-1].stays = true;
  }
}

static bool note_moments(struct states *states, const struct state *first, const struct state *end) {
  free(states->moments);
  states->moment_count = 0;
  states->moments = malloc((size_t)(end - first + 1) * sizeof *states->moments);
  if (!states->moments) return false;
  for (const struct state *state = first; state < end; state++)
    if (state->stays) states->moments[states->moment_count++] = state->time_ns;
  return true;
}

/* Whether a moment lies in [from, until). */
static bool has_moment(const struct states *states, uint64_t from, uint64_t until) {
  size_t at = array_place(states->moments, states->moment_count, from);
  return at < states->moment_count && states->moments[at] < until;
}

/* ---- one thing ---- */

static bool states_is_gone(const struct state *last) { return last->kind == TRACE_MAP_SIZE && !last->value; }

/* All that a moment sees of a mapping, with its begin and its end. */
static void keep_mapping(const struct states *states, struct state *first, struct state *end) {
  struct state *last = end - 1;
  if (states_is_gone(last) && !has_moment(states, first->time_ns, last->time_ns)) return;
  for (struct state *state = first; state < end; state++) {
    struct state *next = state + 1;
    while (next < end && next->kind != state->kind) next++;
    uint64_t until = next < end ? next->time_ns : UINT64_MAX;
    state->stays = state->kind == TRACE_MAP || states_is_gone(state) || next == end ||
                   has_moment(states, state->time_ns, until);
  }
}

static void keep_thing(const struct states *states, struct state *first, struct state *end) {
  if (is_mapping(first)) {
    keep_mapping(states, first, end);
    return;
  }
  if (first->kind == TRACE_COLLECTION || first->kind == TRACE_PAUSE) states_keep_largest(states, first, end);
  first->stays = end[-1].stays = true;
  for (struct state *state = first; state + 1 < end; state++) {
    state->stays |= has_moment(states, state->time_ns, state[1].time_ns);
    bool counts = state->kind == TRACE_RATE || state->kind == TRACE_GROUP;
    if (counts && state->value != state[1].value) state->stays = state[1].stays = true;
  }
}

static struct state *end_of_thing(struct states *states, struct state *first) {
  struct state *end = states->items + states->count, *next = first;
  while (next < end && next->thing == first->thing) next++;
  return next;
}

/* Chooses with parts of this length. False without memory. */
static bool choose_states(struct states *states, size_t *left) {
  struct state *end = states->items + states->count, *first, *next;
  *left = 0;
  for (first = states->items; first < end; first++) first->stays = false;
  for (first = states->items; first < end; first = next) {
    next = end_of_thing(states, first);
    if (first->kind != TRACE_MEMORY || is_mapping(first)) continue;
    states_keep_largest(states, first, next);
    first->stays = true;
    if (!note_moments(states, first, next)) return false;
  }
  for (first = states->items; first < end; first = next) {
    next = end_of_thing(states, first);
    if (first->kind != TRACE_MEMORY || is_mapping(first)) keep_thing(states, first, next);
  }
  for (first = states->items; first < end; first++) *left += first->stays;
  return true;
}

/* Sorts by things, and finds what stays. False without memory. */
static bool choose_all(struct states *states, uint64_t now_ns) {
  bool done = true;
  array_sort(states->items, states->count, sizeof *states->items, by_thing);
  size_t left = SIZE_MAX;
  for (unsigned parts = STATES_PARTS; done && parts && left > STATES_MOST; parts /= 2) {
    states->part_ns = now_ns / parts + 1;
    done = choose_states(states, &left);
  }
  return done;
}

/* False without memory. */
static bool states_make_room(struct states *states) {
  uint32_t newest = states->noted - (uint32_t)(states->count / 4);
  size_t left = 0;
  if (!choose_all(states, states->now_ns)) return false;
  for (size_t i = 0; i < states->count; i++) {
    const struct state *state = &states->items[i];
    if (state->stays || state->number >= newest) states->items[left++] = *state;
  }
  states->count = left;
  if (2 * left > states->room) states->room = 2 * left;
  return true;
}

/* ---- shared ---- */

bool states_have(const struct trace_event *event) {
  struct state state;
  return states_describe(event, &state);
}

bool states_note(struct states *states, const struct trace_event *event) {
  struct state state;
  if (!states_describe(event, &state)) return true;
  if (!states->room) states->room = STATES_ROOM;
  if (states->count == states->room && !states_make_room(states)) return false;
  if (state.time_ns > states->now_ns) states->now_ns = state.time_ns;
  state.number = states->noted++;
  return ARRAY_ADD(states->items, states->count, states->capacity, state);
}

bool states_choose(struct states *states, uint64_t now_ns) {
  states->stays = calloc(states->noted / 64 + 1, sizeof *states->stays);
  if (!states->stays || !choose_all(states, now_ns)) return false;
  for (size_t i = 0; i < states->count; i++) {
    const struct state *state = &states->items[i];
    states->stays[state->number / 64] |= (uint64_t)state->stays << state->number % 64;
  }
  free(states->items);
  states->items = NULL;
  states->count = states->capacity = 0;
  return true;
}

bool states_keep(struct states *states) {
  uint32_t number = states->next++;
  return number < states->noted && states->stays[number / 64] >> number % 64 & 1;
}

void states_destroy(struct states *states) {
  free(states->items);
  free(states->moments);
  free(states->stays);
}
/* SPDX-License-Identifier: MIT */
