/* The types of a snapshot. */
#include "gc/snapshot/types.h"

#include <stdio.h>

static uint32_t number(struct types *types, uint32_t *id) {
  if (!*id) *id = ++types->count;
  return *id;
}

static const char *name_of_tag(unsigned tag, char text[32]) {
  switch (tag) {
  case WN_TAG_RAW: return "bytes";
  case WN_TAG_DOUBLE: return "double";
  case WN_TAG_DOUBLE_ARRAY: return "array of doubles";
  default: snprintf(text, 32, "tag %u", tag); return text;
  }
}

static void write_language_type(const struct types *types, struct snapshot_writer *writer, unsigned type) {
  const wn_heap_hooks *hooks = types->hooks;
  const struct type *of = &types->of_language[type];
  const char *name = hooks->type_name ? hooks->type_name(type, hooks->context) : NULL;
  char text[32];
  if (!name && hooks->type_of) snprintf(text, sizeof text, "type %u", type);
  snapshot_type(writer, of->id, name ? name : hooks->type_of ? text : name_of_tag(type, text));
  if (!hooks->field_name) return;
  for (size_t field = 0; field < NAMED_FIELDS; field++) {
    name = of->fields >> field & 1 ? hooks->field_name(type, field, hooks->context) : NULL;
    if (name) snapshot_field(writer, of->id, field, name);
  }
}

/* ---- shared ---- */

struct type *types_of_block(struct types *types, wn_value block) {
  const wn_heap_hooks *hooks = types->hooks;
  unsigned tag = header_tag(header_of(block));
  struct type *type = &types->weak;
  if (tag != WN_TAG_WEAK) {
    unsigned of_language = hooks->type_of ? hooks->type_of(block, hooks->context) : tag;
    type = of_language < WN_TYPES_MOST ? &types->of_language[of_language] : &types->out_of_range;
  }
  number(types, &type->id);
  return type;
}

uint32_t types_of_custom(struct types *types, const struct wn_custom_ops *ops) {
  size_t i = 0;
  while (i < types->custom_count && types->customs[i].ops != ops) i++;
  if (i == CUSTOM_TYPES_MOST) return number(types, &types->other_customs.id);
  if (i == types->custom_count) types->customs[types->custom_count++].ops = ops;
  return number(types, &types->customs[i].id);
}

void types_write(const struct types *types, struct snapshot_writer *writer) {
  for (unsigned type = 0; type < WN_TYPES_MOST; type++)
    if (types->of_language[type].id) write_language_type(types, writer, type);
  for (size_t i = 0; i < types->custom_count; i++) {
    const char *name = types->customs[i].ops->name;
    snapshot_type(writer, types->customs[i].id, name ? name : "custom block");
  }
  if (types->weak.id) snapshot_type(writer, types->weak.id, "weak block");
  if (types->out_of_range.id) snapshot_type(writer, types->out_of_range.id, "(type out of range)");
  if (types->other_customs.id) snapshot_type(writer, types->other_customs.id, "other custom blocks");
}
/* SPDX-License-Identifier: MIT */
