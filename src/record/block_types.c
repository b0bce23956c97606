/* Numbers and names of types. */
#include "record/block_types.h"

#include <stdio.h>

/* The number of the type at a place. */
static uint32_t block_types_number_at(struct block_types *types, unsigned place) {
  _Atomic(uint32_t) *at = &types->number[place];
  uint32_t number = atomic_load_explicit(at, memory_order_relaxed);
  if (!number) {
    uint32_t fresh = 2 * (atomic_fetch_add(&types->numbers, 1) + 1);
    if (atomic_compare_exchange_strong_explicit(at, &number, fresh, memory_order_relaxed,
                                                memory_order_relaxed))
      number = fresh;
  }
  return number / 2;
}

static bool block_types_has_name(struct block_types *types, unsigned place) {
  return atomic_load_explicit(&types->number[place], memory_order_acquire) & 1;
}

/* The place says so afterwards. The names may be forgotten meanwhile, this one too: then it does not. */
static void block_types_write_name(struct block_types *types, unsigned place, struct trace_writer *writer,
                                   const struct trace_type *event, const char *name) {
  struct trace_type_name named = {
      .time_ns = event->time_ns, .thread = event->thread, .type = event->type, .name = trace_text_of(name)};
  uint32_t forgotten = atomic_load(&types->forgotten);
  trace_write_type_name(writer, &named);
  atomic_fetch_or(&types->number[place], 1);
  if (atomic_load(&types->forgotten) != forgotten) atomic_fetch_and(&types->number[place], ~UINT32_C(1));
}

/* The place of a name among those of custom blocks. It is compared as a pointer: there are few. */
static unsigned custom_place(struct block_types *types, const char *name) {
  for (unsigned i = 0; i < TYPE_CUSTOM_MOST - 1; i++) {
    const char *known = NULL;
    if (atomic_compare_exchange_strong(&types->customs[i], &known, name) || known == name) return i;
  }
  return TYPE_CUSTOM_MOST - 1;
}

/* ---- shared ---- */

const char *type_text_of_tag(unsigned tag, char text[32]) {
  switch (tag) {
  case WN_TAG_WEAK: return "weak block";
  case WN_TAG_MIXED: return "values and bytes";
  case WN_TAG_RAW: return "bytes";
  case WN_TAG_DOUBLE: return "double";
  case WN_TAG_DOUBLE_ARRAY: return "array of doubles";
  case WN_TAG_CUSTOM: return "custom block";
  default: snprintf(text, 32, "tag %u", tag); return text;
  }
}

const char *type_text_of_number(unsigned type, char text[32]) {
  if (type >= WN_TYPES_MOST) return "(type out of range)";
  snprintf(text, 32, "type %u", type);
  return text;
}

void block_types_write_born(struct block_types *types, struct trace_writer *writer, struct trace_type event,
                            unsigned tag, const char *custom_name, block_types_name *name, void *context) {
  char text[32];
  const char *found = NULL;
  unsigned place = tag;
  if (custom_name && *custom_name) {
    place = TYPE_CUSTOM + custom_place(types, custom_name);
    found = place < TYPE_LANGUAGE - 1 ? custom_name : "other custom blocks";
  }
  event.type = block_types_number_at(types, place);
  if (!block_types_has_name(types, place)) {
    if (name && tag != WN_TAG_CUSTOM && tag != WN_TAG_WEAK) found = name(tag, context);
    block_types_write_name(types, place, writer, &event,
                           found && *found ? found : type_text_of_tag(tag, text));
  }
  trace_write_type(writer, &event);
}

void block_types_write_language(struct block_types *types, struct trace_writer *writer,
                                struct trace_type event, unsigned type, block_types_name *name,
                                void *context) {
  bool in_range = type < WN_TYPES_MOST;
  unsigned place = TYPE_LANGUAGE + (in_range ? type : WN_TYPES_MOST);
  event.type = block_types_number_at(types, place);
  if (!block_types_has_name(types, place)) {
    char text[32];
    const char *found = name && in_range ? name(type, context) : NULL;
    block_types_write_name(types, place, writer, &event,
                           found && *found ? found : type_text_of_number(type, text));
  }
  trace_write_type(writer, &event);
}

void block_types_forget_names(struct block_types *types) {
  atomic_fetch_add(&types->forgotten, 1);
  if (!atomic_load(&types->numbers)) return;
  for (unsigned place = 0; place < TYPE_PLACES; place++)
    if (block_types_has_name(types, place)) atomic_fetch_and(&types->number[place], ~UINT32_C(1));
}
/* SPDX-License-Identifier: MIT */
