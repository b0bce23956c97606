/* Names of threads. */
#include "compact/names.h"

#include "base/array.h"
#include "base/hash.h"

enum { USED_BITS = 1 << 20 };

static struct named_thread *names_find(const struct names *names, uint32_t thread) {
  struct index_walk walk = {.hash = hash_mix(thread)};
  uint32_t at;
  while ((at = index_next(&names->by_thread, &walk)))
    if (names->items[at - 1].thread == thread) return &names->items[at - 1];
  return NULL;
}

static bool is_used(const struct names *names, uint32_t thread) {
  uint32_t bit = thread % USED_BITS;
  return names->used && names->used[bit / 64] >> bit % 64 & 1;
}

/* NULL without memory. */
static struct named_thread *names_add(struct names *names, uint32_t thread) {
  if (!ARRAY_ADD(names->items, names->count, names->capacity, (struct named_thread){.thread = thread}) ||
      !index_add(&names->by_thread, hash_mix(thread), (uint32_t)names->count))
    return NULL;
  return &names->items[names->count - 1];
}

/* ---- shared ---- */

bool names_use(struct names *names, uint32_t thread) {
  uint32_t bit = thread % USED_BITS;
  if (!names->used && !(names->used = calloc(USED_BITS / 64, sizeof *names->used))) return false;
  names->used[bit / 64] |= UINT64_C(1) << bit % 64;
  return true;
}

bool names_note(struct names *names, const struct trace_thread_name *event) {
  struct named_thread *found = names_find(names, event->thread);
  if (!found && names->count == NAMES_MOST) return true;
  if (!found && !(found = names_add(names, event->thread))) return false;
  if (found->name && found->time_ns > event->time_ns) return true;
  free(found->name);
  found->time_ns = event->time_ns;
  return (found->name = strndup(event->name.bytes, event->name.length));
}

bool names_next(const struct names *names, size_t *at, struct trace_thread_name *event) {
  while (*at < names->count && !is_used(names, names->items[*at].thread)) ++*at;
  if (*at == names->count) return false;
  const struct named_thread *found = &names->items[(*at)++];
  *event = (struct trace_thread_name){
      .time_ns = found->time_ns, .thread = found->thread, .name = trace_text_of(found->name)};
  return true;
}

void names_clear(struct names *names) {
  for (size_t i = 0; i < names->count; i++) free(names->items[i].name);
  free(names->items);
  free(names->by_thread.slots);
  free(names->used);
  *names = (struct names){0};
}
/* SPDX-License-Identifier: MIT */
