/* Numbers modules and stacks when the first event needs them. A caller gets its number before what it
 * calls, so it has the smaller one. */
#include "sources/files/joined_stacks.h"

#include "base/array.h"
#include "base/hash.h"
#include <stdlib.h>

/* Makes an index of numbers reach up to `number`; new entries are 0. */
static bool joined_stacks_reach(uint32_t **numbers, size_t *capacity, uint32_t number) {
  size_t larger = *capacity ? *capacity : 64;
  if (number < *capacity) return true;
  while (larger <= number) larger *= 2;
  uint32_t *moved = realloc(*numbers, larger * sizeof *moved);
  if (!moved) return false;
  memset(moved + *capacity, 0, (larger - *capacity) * sizeof *moved);
  *numbers = moved;
  *capacity = larger;
  return true;
}

/* ---- modules ---- */

/* Without build-ids, files of one name and size count as the same. */
static bool is_same_file(const struct trace_module *one, const struct trace_module *other) {
  bool alike = one->path.length == other->path.length && one->build_id_bytes == other->build_id_bytes &&
               !trace_is_language(one) && !trace_is_language(other) &&
               !memcmp(one->path.bytes, other->path.bytes, one->path.length);
  return alike && (one->build_id_bytes ? !memcmp(one->build_id, other->build_id, one->build_id_bytes)
                                       : one->size == other->size);
}

static char *joined_stacks_copy_path(const struct trace_text *path) {
  char *copy = malloc((size_t)path->length + 1);
  if (!copy) return NULL;
  if (path->length) memcpy(copy, path->bytes, path->length);
  copy[path->length] = 0;
  return copy;
}

uint32_t joined_module(struct joined_stacks *stacks, const struct trace_module *module, uint32_t index,
                       uint32_t local) {
  for (size_t i = 0; i < stacks->module_count; i++) {
    const struct joined_module *known = &stacks->modules[i];
    if (is_same_file(&known->module, module) || (known->source == index && known->local == local))
      return (uint32_t)i + 1;
  }
  if (!array_reserve(&stacks->modules, &stacks->module_capacity, stacks->module_count + 1,
                     sizeof *stacks->modules))
    return 0;
  char *path = joined_stacks_copy_path(&module->path);
  if (!path) return 0;
  struct joined_module *entry = &stacks->modules[stacks->module_count++];
  *entry = (struct joined_module){*module, index, local};
  entry->module.path.bytes = path;
  return (uint32_t)stacks->module_count;
}

static bool join_module(struct joined_stacks *stacks, struct joined_numbers *numbers,
                        const struct source *source, uint32_t index, uint32_t *module) {
  uint32_t local = *module;
  if (!local || local > source_module_count(source)) return *module = 0, true;
  if (!joined_stacks_reach(&numbers->modules, &numbers->module_capacity, local)) return false;
  uint32_t *number = &numbers->modules[local];
  if (!*number) *number = joined_module(stacks, source_module(source, local), index, local);
  return *module = *number, *number != 0;
}

/* ---- nodes ---- */

static bool is_same_node(const struct trace_node *one, const struct trace_node *other) {
  return one->parent == other->parent && one->module == other->module && one->offset == other->offset;
}

uint32_t joined_node(struct joined_stacks *stacks, const struct trace_node *node) {
  struct index_walk walk = {.hash = hash_combine(hash_combine(node->parent, node->module), node->offset)};
  uint32_t known;
  while ((known = index_next(&stacks->by_node, &walk)))
    if (is_same_node(&stacks->nodes[known - 1], node)) return known;
  if (!ARRAY_ADD(stacks->nodes, stacks->node_count, stacks->node_capacity, *node) ||
      !index_add(&stacks->by_node, walk.hash, (uint32_t)stacks->node_count))
    return 0;
  return (uint32_t)stacks->node_count;
}

/* ---- shared ---- */

bool joined_stack(struct joined_stacks *stacks, struct joined_numbers *numbers, const struct source *source,
                  uint32_t index, uint32_t *stack) {
  uint32_t local = *stack, above = 0;
  size_t depth = 0;
  if (!local || local > source_stack_count(source)) return *stack = 0, true;
  if (!joined_stacks_reach(&numbers->stacks, &numbers->stack_capacity, local)) return false;
  while (local && !numbers->stacks[local]) {
    if (!array_reserve(&numbers->path, &numbers->path_capacity, depth + 1, sizeof *numbers->path))
      return false;
    numbers->path[depth++] = local;
    uint32_t parent = source_stack(source, local).parent;
    local = parent < local ? parent : 0;
  }
  if (local) above = numbers->stacks[local];
  while (depth) {
    struct trace_node node = source_stack(source, numbers->path[--depth]);
    node.parent = above;
    if (!join_module(stacks, numbers, source, index, &node.module)) return false;
    above = numbers->stacks[numbers->path[depth]] = joined_node(stacks, &node);
    if (!above) return false;
  }
  return *stack = above, true;
}

void joined_numbers_destroy(struct joined_numbers *numbers) {
  free(numbers->modules);
  free(numbers->stacks);
  free(numbers->path);
  *numbers = (struct joined_numbers){.modules = NULL};
}

void joined_stacks_destroy(struct joined_stacks *stacks) {
  for (size_t i = 0; i < stacks->module_count; i++)
    free((void *)(uintptr_t)stacks->modules[i].module.path.bytes);
  free(stacks->modules);
  free(stacks->nodes);
  free(stacks->by_node.slots);
  *stacks = (struct joined_stacks){.modules = NULL};
}
/* SPDX-License-Identifier: MIT */
