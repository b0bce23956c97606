/* Numbers and names of types. */
#include "record/block_types.h"

#include <stdio.h>

/* True for the first call since the names were forgotten. */
static bool first_use(struct block_types *types, uint64_t number) {
  _Atomic(uint8_t) *byte = &types->named[number / 8];
  uint8_t bit = (uint8_t)(1u << number % 8);
  if (atomic_load_explicit(byte, memory_order_relaxed) & bit) return false;
  return !(atomic_fetch_or_explicit(byte, bit, memory_order_relaxed) & bit);
}

static void write_name(struct trace_writer *writer, const struct trace_type *event, const char *name) {
  struct trace_type_name named = {
      .time_ns = event->time_ns, .thread = event->thread, .type = event->type, .name = trace_text_of(name)};
  trace_write_type_name(writer, &named);
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
                            unsigned tag, const char *custom_name) {
  char text[32];
  event.type = tag;
  const char *name = NULL;
  if (custom_name && *custom_name) {
    unsigned place = custom_place(types, custom_name);
    event.type = TYPE_CUSTOM + place;
    name = place < TYPE_CUSTOM_MOST - 1 ? custom_name : "other custom blocks";
  }
  if (first_use(types, event.type)) write_name(writer, &event, name ? name : type_text_of_tag(tag, text));
  trace_write_type(writer, &event);
}

void block_types_write_language(struct block_types *types, struct trace_writer *writer,
                                struct trace_type event, unsigned type, block_types_name *name,
                                void *context) {
  bool in_range = type < WN_TYPES_MOST;
  event.type = TYPE_LANGUAGE + (in_range ? type : WN_TYPES_MOST);
  if (first_use(types, event.type)) {
    char text[32];
    const char *found = name && in_range ? name(type, context) : NULL;
    write_name(writer, &event, found && *found ? found : type_text_of_number(type, text));
  }
  trace_write_type(writer, &event);
}

void block_types_forget_names(struct block_types *types) {
  for (size_t i = 0; i < sizeof types->named / sizeof *types->named; i++)
    atomic_store_explicit(&types->named[i], 0, memory_order_relaxed);
}
/* SPDX-License-Identifier: MIT */
