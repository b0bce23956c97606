/* Tables of texts, places, modules and nodes. */
#include "sources/profiles/named_stacks.h"

#include "base/array.h"
#include "base/hash.h"
#include <stdlib.h>

enum { ITEMS_MOST = 1 << 26 };

/* ---- tables ---- */

/* ITEMS_MOST bounds what a hostile file can allocate. */
#define APPEND(items, count, capacity, item) ((count) < ITEMS_MOST && ARRAY_ADD(items, count, capacity, item))

/* Calls `is_same` with the number of each item that has the hash; the first that is the same, or 0. */
static uint32_t named_stacks_find(const struct named_stacks *stacks, const struct index *index, uint64_t hash,
                                  bool (*is_same)(const struct named_stacks *stacks, uint32_t number,
                                                  const void *item),
                                  const void *item) {
  struct index_walk walk = {.hash = hash};
  uint32_t number;
  while ((number = index_next(index, &walk)))
    if (is_same(stacks, number, item)) break;
  return number;
}

static bool named_stacks_is_text(const struct named_stacks *stacks, uint32_t number, const void *item) {
  const struct trace_text *text = item, *found = &stacks->texts[number];
  return found->length == text->length && !memcmp(found->bytes, text->bytes, text->length);
}

static bool is_place(const struct named_stacks *stacks, uint32_t number, const void *item) {
  const struct named_place *place = item, *found = &stacks->places[number];
  return found->function == place->function && found->file == place->file && found->line == place->line;
}

/* `item`: the number of the path. */
static bool named_stacks_is_module(const struct named_stacks *stacks, uint32_t number, const void *item) {
  return stacks->modules[number].path.bytes == stacks->texts[*(const uint32_t *)item].bytes;
}

static bool is_node(const struct named_stacks *stacks, uint32_t number, const void *item) {
  const struct trace_node *node = item, *found = &stacks->nodes[number];
  return found->parent == node->parent && found->module == node->module && found->offset == node->offset;
}

/* Names of templates are written in several ways, and matched as texts: "> >" becomes ">>", as in
 * the names that the symboliser gives. */
static bool function_text(struct named_stacks *stacks, uint32_t *function) {
  const char *name = stacks->texts[*function].bytes;
  if (!strstr(name, "> >")) return true;
  char *joined = strdup(name);
  size_t count = 0;
  if (!joined) return false;
  for (size_t i = 0; name[i]; i++) {
    bool between = name[i] == ' ' && count && joined[count - 1] == '>' && name[i + 1] == '>';
    bool operator_sign = count >= 9 && !strncmp(joined + count - 9, "operator>", 9);
    if (!between || operator_sign) joined[count++] = name[i];
  }
  bool done = named_text(stacks, joined, count, function);
  free(joined);
  return done;
}

/* ---- shared ---- */

bool named_stacks_create(struct named_stacks *stacks) {
  uint32_t module;
  *stacks = (struct named_stacks){.texts = NULL};
  return APPEND(stacks->texts, stacks->text_count, stacks->text_capacity, trace_text_of("")) &&
         APPEND(stacks->places, stacks->place_count, stacks->place_capacity, (struct named_place){0}) &&
         APPEND(stacks->modules, stacks->module_count, stacks->module_capacity, (struct trace_module){0}) &&
         APPEND(stacks->nodes, stacks->node_count, stacks->node_capacity, (struct trace_node){0}) &&
         named_module(stacks, 0, &module);
}

void named_stacks_destroy(struct named_stacks *stacks) {
  for (size_t i = 1; i < stacks->text_count; i++) free((void *)(uintptr_t)stacks->texts[i].bytes);
  free(stacks->texts);
  free(stacks->places);
  free(stacks->modules);
  free(stacks->nodes);
  free(stacks->by_text.slots);
  free(stacks->by_place.slots);
  free(stacks->by_module.slots);
  free(stacks->by_node.slots);
}

bool named_text(struct named_stacks *stacks, const char *bytes, size_t length, uint32_t *number) {
  struct trace_text text = {bytes, (uint32_t)strnlen(bytes, length < UINT32_MAX ? length : UINT32_MAX)};
  uint64_t hash = hash_mix(hash_bytes(bytes, text.length));
  *number = 0;
  if (!text.length ||
      (*number = named_stacks_find(stacks, &stacks->by_text, hash, named_stacks_is_text, &text)))
    return true;
  char *copy = strndup(bytes, text.length);
  if (!copy) return false;
  text.bytes = copy;
  if (!(APPEND(stacks->texts, stacks->text_count, stacks->text_capacity, text))) {
    free(copy);
    return false;
  }
  *number = (uint32_t)stacks->text_count - 1;
  return index_add(&stacks->by_text, hash, *number);
}

bool named_place(struct named_stacks *stacks, const struct named_place *given, uint32_t *number) {
  struct named_place place = *given;
  if (!function_text(stacks, &place.function)) return false;
  uint64_t hash = hash_combine(hash_combine(place.function, place.file), place.line);
  if ((*number = named_stacks_find(stacks, &stacks->by_place, hash, is_place, &place))) return true;
  if (!(APPEND(stacks->places, stacks->place_count, stacks->place_capacity, place))) return false;
  *number = (uint32_t)stacks->place_count - 1;
  return index_add(&stacks->by_place, hash, *number);
}

bool named_module(struct named_stacks *stacks, uint32_t path, uint32_t *number) {
  const char *slash = strrchr(stacks->texts[path].bytes, '/');
  if (slash && slash[1] && !named_text(stacks, slash + 1, strlen(slash + 1), &path)) return false;
  uint64_t hash = hash_mix((uint64_t)path + 1);
  if ((*number = named_stacks_find(stacks, &stacks->by_module, hash, named_stacks_is_module, &path)))
    return true;
  struct trace_module module = {.base = TRACE_LANGUAGE_BASE,
                                .bias = TRACE_LANGUAGE_BASE,
                                .size = UINT32_MAX,
                                .path = stacks->texts[path]};
  if (!(APPEND(stacks->modules, stacks->module_count, stacks->module_capacity, module))) return false;
  *number = (uint32_t)stacks->module_count - 1;
  return index_add(&stacks->by_module, hash, *number);
}

bool named_mapped(struct named_stacks *stacks, const struct trace_module *module, uint32_t *number) {
  struct trace_module copy = *module;
  uint32_t path;
  if (!named_text(stacks, module->path.bytes, module->path.length, &path)) return false;
  copy.path = stacks->texts[path];
  *number = (uint32_t)stacks->module_count;
  return APPEND(stacks->modules, stacks->module_count, stacks->module_capacity, copy);
}

bool named_node(struct named_stacks *stacks, const struct trace_node *node, uint32_t *number) {
  uint64_t hash = hash_combine(hash_combine(node->parent, node->module), node->offset);
  if ((*number = named_stacks_find(stacks, &stacks->by_node, hash, is_node, node))) return true;
  if (!(APPEND(stacks->nodes, stacks->node_count, stacks->node_capacity, *node))) return false;
  *number = (uint32_t)stacks->node_count - 1;
  return index_add(&stacks->by_node, hash, *number);
}

bool named_place_of(const struct named_stacks *stacks, uint32_t module, uint64_t offset,
                    struct trace_place *place) {
  if (!module || module >= stacks->module_count || !trace_is_language(&stacks->modules[module]) || !offset ||
      offset >= stacks->place_count)
    return false;
  const struct named_place *found = &stacks->places[offset];
  *place = (struct trace_place){
      .function = stacks->texts[found->function], .file = stacks->texts[found->file], .line = found->line};
  return true;
}
/* SPDX-License-Identifier: MIT */
