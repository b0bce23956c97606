/* Stacks and modules as the reader sees them. */
#include "trace/stack_table.h"

#include "base/array.h"
#include "base/hash.h"
#include <stdlib.h>

enum { ITEMS_MOST = 1 << 30 };

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

/* Room for one more item behind `count`; item 0 is never used. */
static bool stack_table_make_room(void *items, size_t *capacity, uint32_t count, size_t size) {
  return count < ITEMS_MOST && array_reserve(items, capacity, (size_t)count + 2, size);
}

static bool room_for_node(struct stack_table *table) {
  return table->node_count < ITEMS_MOST &&
         stack_table_make_room(&table->nodes, &table->node_capacity,
                               table->node_count - table->nodes_forgotten, sizeof *table->nodes);
}

static bool room_for_module(struct stack_table *table) {
  return table->module_count < ITEMS_MOST &&
         stack_table_make_room(&table->modules, &table->module_capacity,
                               table->module_count - table->modules_forgotten, sizeof *table->modules);
}

static bool room_for_place(struct stack_table *table) {
  return stack_table_make_room(&table->places, &table->place_capacity, table->place_count,
                               sizeof *table->places);
}

/* A copy with a NUL byte behind. */
static bool stack_table_copy_text(struct trace_text *text) {
  char *copy = malloc((size_t)text->length + 1);
  if (!copy) return false;
  if (text->length) memcpy(copy, text->bytes, text->length);
  copy[text->length] = 0;
  text->bytes = copy;
  return true;
}

static uint32_t find_place(const struct stack_table *table, uint32_t module, uint64_t offset) {
  struct index_walk walk = {.hash = hash_place(module, offset)};
  uint32_t number;
  while ((number = index_next(&table->by_place, &walk)))
    if (table->places[number].module == module && table->places[number].offset == offset) break;
  return number;
}

/* ---- owners ---- */

static bool add_owner(struct stack_table *table, const struct trace_place *name, uint32_t module,
                      uint64_t offset) {
  struct code_owner owner = {name->address, name->since_ns, offset, module};
  table->owners_ordered = false;
  return ARRAY_ADD(table->owners, table->owner_count, table->owner_capacity, owner);
}

/* Of one address and time the first one counts: what CODE tells, in the order of the file. */
static int by_address(const void *a, const void *b) {
  const struct code_owner *one = a, *other = b;
  if (one->address != other->address) return one->address < other->address ? -1 : 1;
  if (one->since_ns != other->since_ns) return one->since_ns < other->since_ns ? -1 : 1;
  if (one->module != other->module) return one->module < other->module ? -1 : 1;
  return (one->offset > other->offset) - (one->offset < other->offset);
}

/* The first owner that is not before an address and time. */
static size_t owners_from(struct stack_table *table, uint64_t address, uint64_t since_ns) {
  const struct code_owner least = {.address = address, .since_ns = since_ns};
  size_t low = 0, high = table->owner_count;
  if (!table->owners_ordered && high) qsort(table->owners, high, sizeof *table->owners, by_address);
  table->owners_ordered = true;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (by_address(&table->owners[middle], &least) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The owner of an address at a time; before the first one, that one. NULL: it has none. */
static const struct code_owner *owner_at(struct stack_table *table, uint64_t address, uint64_t time_ns) {
  size_t from = owners_from(table, address, 0),
         behind = owners_from(table, address, time_ns + (time_ns < UINT64_MAX));
  if (behind > from) from = owners_from(table, address, table->owners[behind - 1].since_ns);
  const struct code_owner *owner = from < table->owner_count ? &table->owners[from] : NULL;
  return owner && owner->address == address ? owner : NULL;
}

/* The address of a node that is code in no module, and since when its place's function is there; 0:
 * none. */
static uint64_t address_of(const struct stack_table *table, const struct trace_node *node,
                           uint64_t *since_ns) {
  const struct trace_place *place =
      node->module && trace_is_language(stack_table_module_of(table, node->module))
          ? stack_table_place(table, node->module, node->offset)
          : NULL;
  *since_ns = place ? place->since_ns : 0;
  if (!node->module) return trace_is_cut(node) ? 0 : node->offset;
  return place ? place->address : 0;
}

/* ---- shared ---- */

bool stack_table_create(struct stack_table *table) {
  *table = (struct stack_table){0};
  if (!room_for_node(table) || !room_for_module(table)) return false;
  table->nodes[0] = (struct trace_node){0};
  table->modules[0] = (struct trace_module){.path = {.bytes = ""}};
  return true;
}

void stack_table_forget(struct stack_table *table) {
  for (uint32_t i = 1; i <= table->module_count - table->modules_forgotten; i++)
    free((void *)table->modules[i].path.bytes);
  for (uint32_t i = 1; i <= table->place_count; i++) {
    free((void *)table->places[i].name.function.bytes);
    free((void *)table->places[i].name.file.bytes);
  }
  free(table->by_place.slots);
  free(table->by_node.slots);
  free(table->by_module.slots);
  table->by_place = table->by_node = table->by_module = (struct index){0};
  table->nodes_forgotten = table->node_count;
  table->modules_forgotten = table->module_count;
  table->place_count = 0;
  table->owner_count = 0;
}

void stack_table_destroy(struct stack_table *table) {
  stack_table_forget(table);
  free(table->places);
  free(table->owners);
  free(table->modules);
  free(table->nodes);
}

uint32_t stack_table_node(struct stack_table *table, struct trace_node node) {
  struct index_walk walk = {.hash = hash_node(&node)};
  uint32_t number;
  while ((number = index_next(&table->by_node, &walk)))
    if (same_node(stack_table_node_of(table, number), &node)) return number;
  if (!room_for_node(table) || !index_add(&table->by_node, walk.hash, table->node_count + 1)) return 0;
  table->nodes[++table->node_count - table->nodes_forgotten] = node;
  return table->node_count;
}

uint32_t stack_table_module(struct stack_table *table, const struct trace_module *module) {
  struct index_walk walk = {.hash = hash_module(module)};
  struct trace_module copy = *module;
  uint32_t number;
  while ((number = index_next(&table->by_module, &walk)))
    if (same_module(stack_table_module_of(table, number), module)) return number;
  if (!room_for_module(table) || !stack_table_copy_text(&copy.path)) return 0;
  if (!index_add(&table->by_module, walk.hash, table->module_count + 1))
    return free((void *)copy.path.bytes), 0;
  table->modules[++table->module_count - table->modules_forgotten] = copy;
  return table->module_count;
}

bool stack_table_name(struct stack_table *table, uint32_t module, uint64_t offset,
                      const struct trace_place *name) {
  if (find_place(table, module, offset)) return true;
  if (!room_for_place(table)) return false;
  struct named_place named = {.module = module, .offset = offset, .name = *name};
  if (!stack_table_copy_text(&named.name.function)) return false;
  if (!stack_table_copy_text(&named.name.file)) return free((void *)named.name.function.bytes), false;
  table->places[++table->place_count] = named;
  return index_add(&table->by_place, hash_place(module, offset), table->place_count) &&
         (!name->address || add_owner(table, name, module, offset));
}

bool stack_table_code(struct stack_table *table, const struct trace_place *name) {
  bool first = !find_place(table, 0, name->address);
  return stack_table_name(table, 0, first ? name->address : CODE_OWNER_BASE + table->place_count, name);
}

bool stack_table_is_reused(struct stack_table *table, const struct trace_node *node) {
  uint64_t since_ns, address = table->owner_count ? address_of(table, node, &since_ns) : 0;
  return address &&
         owners_from(table, address + 1, 0) - owners_from(table, address, 0) > (size_t)(node->module != 0);
}

void stack_table_find_owner(struct stack_table *table, struct trace_node *node, uint64_t time_ns) {
  uint64_t since_ns, address = table->owner_count ? address_of(table, node, &since_ns) : 0;
  const struct code_owner *owner = address ? owner_at(table, address, time_ns) : NULL;
  if (!owner || (node->module && (owner->since_ns <= since_ns || owner->since_ns > time_ns))) return;
  node->module = owner->module;
  node->offset = owner->offset;
}

const struct trace_place *stack_table_place(const struct stack_table *table, uint32_t module,
                                            uint64_t offset) {
  uint32_t number = find_place(table, module, offset);
  return number ? &table->places[number].name : NULL;
}
/* SPDX-License-Identifier: MIT */
