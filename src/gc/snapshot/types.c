/* The types of a snapshot. */
#include "gc/snapshot/types.h"

#include "record/block_types.h"

static uint32_t number_types(struct types *types, uint32_t *id) {
  if (!*id) *id = ++types->count;
  return *id;
}

static const char *name_of_language_type(const wn_heap_hooks *hooks, unsigned type, char text[32]) {
  const char *name = hooks->type_name ? hooks->type_name(type, hooks->context) : NULL;
  if (name) return name;
  return hooks->type_of ? type_text_of_number(type, text) : type_text_of_tag(type, text);
}

static const char *name_of_custom(const struct wn_custom_ops *ops) {
  return ops->name ? ops->name : "custom block";
}

static void write_language_type(const struct types *types, struct snapshot_writer *writer, unsigned type) {
  const wn_heap_hooks *hooks = types->hooks;
  const struct type *of = &types->of_language[type];
  const char *name;
  char text[32];
  snapshot_type(writer, of->id, name_of_language_type(hooks, type, text));
  if (!hooks->field_name) return;
  for (size_t field = 0; field < NAMED_FIELDS; field++) {
    name = of->fields >> field & 1 ? hooks->field_name(type, field, hooks->context) : NULL;
    if (name) snapshot_field(writer, of->id, field, name);
  }
}

/* ---- shared ---- */

struct type *types_of_block(struct types *types, wn_value block) {
  const wn_heap_hooks *hooks = types->hooks;
  struct type *type = &types->weak;
  if (header_tag(header_of(block)) != WN_TAG_WEAK) {
    unsigned of_language = types_number(hooks, block);
    type = of_language < WN_TYPES_MOST ? &types->of_language[of_language] : &types->out_of_range;
  }
  number_types(types, &type->id);
  return type;
}

uint32_t types_of_custom(struct types *types, const struct wn_custom_ops *ops) {
  size_t i = 0;
  while (i < types->custom_count && types->customs[i].ops != ops) i++;
  if (i == CUSTOM_TYPES_MOST) return number_types(types, &types->other_customs.id);
  if (i == types->custom_count) types->customs[types->custom_count++].ops = ops;
  return number_types(types, &types->customs[i].id);
}

unsigned types_number(const wn_heap_hooks *hooks, wn_value block) {
  unsigned tag = header_tag(header_of(block));
  if (tag == WN_TAG_WEAK || tag == WN_TAG_CUSTOM) return WN_TYPES_MOST;
  return hooks->type_of ? hooks->type_of(block, hooks->context) : tag;
}

const char *types_name(const wn_heap_hooks *hooks, wn_value block, char text[32]) {
  unsigned tag = header_tag(header_of(block));
  if (tag == WN_TAG_WEAK) return type_text_of_tag(tag, text);
  if (tag == WN_TAG_CUSTOM) return name_of_custom(((const struct custom *)block)->ops);
  unsigned type = types_number(hooks, block);
  return type < WN_TYPES_MOST ? name_of_language_type(hooks, type, text) : type_text_of_number(type, text);
}

void types_write(const struct types *types, struct snapshot_writer *writer) {
  char text[32];
  for (unsigned type = 0; type < WN_TYPES_MOST; type++)
    if (types->of_language[type].id) write_language_type(types, writer, type);
  for (size_t i = 0; i < types->custom_count; i++)
    snapshot_type(writer, types->customs[i].id, name_of_custom(types->customs[i].ops));
  if (types->weak.id) snapshot_type(writer, types->weak.id, type_text_of_tag(WN_TAG_WEAK, text));
  if (types->out_of_range.id)
    snapshot_type(writer, types->out_of_range.id, type_text_of_number(WN_TYPES_MOST, text));
  if (types->other_customs.id) snapshot_type(writer, types->other_customs.id, "other custom blocks");
}
/* SPDX-License-Identifier: MIT */
