/* Stacks and modules as the reader sees them. */
#include "trace/stack_table.h"

#include "base/array.h"
#include "base/hash.h"
#include <stdlib.h>

enum { SLOTS_FIRST = 64, ITEMS_MOST = 1 << 30 };

static uint64_t hash_node(const struct trace_node *node) {
  return hash_combine(hash_combine(hash_mix(node->parent), node->module), node->offset);
}

static uint64_t hash_module(const struct trace_module *module) {
  uint64_t hash = hash_combine(hash_mix(module->base), module->generation);
  hash = hash_combine(hash, hash_bytes(module->build_id, module->build_id_bytes));
  return hash_combine(hash, hash_bytes(module->path.bytes, module->path.length));
}

static uint64_t hash_place(uint32_t module, uint64_t offset) {
  return hash_combine(hash_mix(module), offset);
}

static bool same_node(const struct trace_node *a, const struct trace_node *b) {
  return a->parent == b->parent && a->module == b->module && a->offset == b->offset;
}

static bool same_module(const struct trace_module *a, const struct trace_module *b) {
  return a->base == b->base && a->generation == b->generation && a->build_id_bytes == b->build_id_bytes &&
         a->path.length == b->path.length && !memcmp(a->build_id, b->build_id, a->build_id_bytes) &&
         !memcmp(a->path.bytes, b->path.bytes, a->path.length);
}

/* ---- growing ---- */

static void place(struct number_set *set, uint64_t hash, uint32_t number) {
  uint32_t i = (uint32_t)hash & set->mask;
  while (set->slots[i]) i = (i + 1) & set->mask;
  set->slots[i] = number;
}

static bool resize_set(struct number_set *set, uint32_t slots) {
  uint32_t *fresh = calloc(slots, sizeof *fresh);
  if (!fresh) return false;
  free(set->slots);
  *set = (struct number_set){.slots = fresh, .mask = slots - 1};
  return true;
}

static bool rehash_nodes(struct stack_table *table) {
  if (!resize_set(&table->node_set, 2 * (table->node_set.mask + 1))) return false;
  for (uint32_t i = 1; i <= table->node_count; i++) place(&table->node_set, hash_node(&table->nodes[i]), i);
  return true;
}

static bool rehash_modules(struct stack_table *table) {
  if (!resize_set(&table->module_set, 2 * (table->module_set.mask + 1))) return false;
  for (uint32_t i = 1; i <= table->module_count; i++)
    place(&table->module_set, hash_module(&table->modules[i]), i);
  return true;
}

static bool rehash_places(struct stack_table *table) {
  if (!resize_set(&table->place_set, 2 * (table->place_set.mask + 1))) return false;
  for (uint32_t i = 1; i <= table->place_count; i++)
    place(&table->place_set, hash_place(table->places[i].module, table->places[i].offset), i);
  return true;
}

/* Room for one more item behind `count`; item 0 is never used. */
static bool make_room(void *items, size_t *capacity, uint32_t count, size_t size) {
  return count < ITEMS_MOST && array_reserve(items, capacity, (size_t)count + 2, size);
}

static bool full(const struct number_set *set, uint32_t count) { return count >= set->mask / 2; }

static bool room_for_node(struct stack_table *table) {
  return make_room(&table->nodes, &table->node_capacity, table->node_count, sizeof *table->nodes) &&
         (!full(&table->node_set, table->node_count) || rehash_nodes(table));
}

static bool room_for_module(struct stack_table *table) {
  return make_room(&table->modules, &table->module_capacity, table->module_count, sizeof *table->modules) &&
         (!full(&table->module_set, table->module_count) || rehash_modules(table));
}

static bool room_for_place(struct stack_table *table) {
  return make_room(&table->places, &table->place_capacity, table->place_count, sizeof *table->places) &&
         (!full(&table->place_set, table->place_count) || rehash_places(table));
}

/* A copy with a NUL byte behind. */
static bool copy_text(struct trace_text *text) {
  char *copy = malloc((size_t)text->length + 1);
  if (!copy) return false;
  if (text->length) memcpy(copy, text->bytes, text->length);
  copy[text->length] = 0;
  text->bytes = copy;
  return true;
}

static uint32_t find_place(const struct stack_table *table, uint32_t module, uint64_t offset) {
  const struct number_set *set = &table->place_set;
  uint32_t i = (uint32_t)hash_place(module, offset) & set->mask;
  for (; set->slots[i]; i = (i + 1) & set->mask) {
    const struct named_place *found = &table->places[set->slots[i]];
    if (found->module == module && found->offset == offset) break;
  }
  return set->slots[i];
}

/* ---- shared ---- */

bool stack_table_create(struct stack_table *table) {
  *table = (struct stack_table){0};
  if (!resize_set(&table->node_set, SLOTS_FIRST) || !resize_set(&table->module_set, SLOTS_FIRST) ||
      !resize_set(&table->place_set, SLOTS_FIRST))
    return false;
  if (!room_for_node(table) || !room_for_module(table)) return false;
  table->nodes[0] = (struct trace_node){0};
  table->modules[0] = (struct trace_module){.path = {.bytes = ""}};
  return true;
}

void stack_table_destroy(struct stack_table *table) {
  for (uint32_t i = 1; i <= table->module_count; i++) free((void *)table->modules[i].path.bytes);
  for (uint32_t i = 1; i <= table->place_count; i++) {
    free((void *)table->places[i].name.function.bytes);
    free((void *)table->places[i].name.file.bytes);
  }
  free(table->places);
  free(table->place_set.slots);
  free(table->modules);
  free(table->nodes);
  free(table->node_set.slots);
  free(table->module_set.slots);
}

uint32_t stack_table_node(struct stack_table *table, struct trace_node node) {
  uint64_t hash = hash_node(&node);
  const struct number_set *set = &table->node_set;
  for (uint32_t i = (uint32_t)hash & set->mask; set->slots[i]; i = (i + 1) & set->mask)
    if (same_node(&table->nodes[set->slots[i]], &node)) return set->slots[i];
  if (!room_for_node(table)) return 0;
  table->nodes[++table->node_count] = node;
  place(&table->node_set, hash, table->node_count);
  return table->node_count;
}

uint32_t stack_table_module(struct stack_table *table, const struct trace_module *module) {
  uint64_t hash = hash_module(module);
  const struct number_set *set = &table->module_set;
  for (uint32_t i = (uint32_t)hash & set->mask; set->slots[i]; i = (i + 1) & set->mask)
    if (same_module(&table->modules[set->slots[i]], module)) return set->slots[i];
  if (!room_for_module(table)) return 0;
  struct trace_module copy = *module;
  if (!copy_text(&copy.path)) return 0;
  table->modules[++table->module_count] = copy;
  place(&table->module_set, hash, table->module_count);
  return table->module_count;
}

bool stack_table_name(struct stack_table *table, uint32_t module, uint64_t offset,
                      const struct trace_place *name) {
  if (find_place(table, module, offset)) return true;
  if (!room_for_place(table)) return false;
  struct named_place named = {.module = module, .offset = offset, .name = *name};
  if (!copy_text(&named.name.function)) return false;
  if (!copy_text(&named.name.file)) {
    free((void *)named.name.function.bytes);
    return false;
  }
  table->places[++table->place_count] = named;
  place(&table->place_set, hash_place(module, offset), table->place_count);
  return true;
}

const struct trace_place *stack_table_place(const struct stack_table *table, uint32_t module,
                                            uint64_t offset) {
  uint32_t number = find_place(table, module, offset);
  return number ? &table->places[number].name : NULL;
}
/* SPDX-License-Identifier: MIT */
