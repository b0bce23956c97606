/* Builds the call tree.
 *
 * The stacks of a trace already form a tree of code addresses. Each node of that tree leads to one
 * node of the call tree: the node of its caller, then one step for each function at the address,
 * the inlined ones last. When grouping by line, file or module, a step to the label of the node
 * itself stays at the node, as when two functions of one module call each other. The node of each
 * stack is kept, so that a row needs one look-up.
 *
 * Wrappers. A frame that allocates for its caller (wrappers.h) does not own what it allocates: a
 * stack belongs to the node of its innermost frame that is no wrapper. A stack that has only
 * wrappers belongs to its outermost frame.
 *
 * Rows without a callstack stay at the root. Their group has the root's label, 0, which stands for
 * no function.
 *
 * The total of a group counts each stack once, however often the group's label occurs on the stack:
 * from every tree node with rows of its own, add_path walks to the root and adds the node's sums to
 * each label that it meets for the first time.
 */
#include "analysis/call_tree.h"

#include "base/error.h"
#include "base/hash.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A hash table from 64-bit keys to 32-bit values: open addressing, at most half full. Key 0 marks a
 * free slot. */
struct index {
  uint64_t *keys;
  uint32_t *values;
  size_t size, used;
};

struct building {
  struct call_tree *tree;
  const struct names *names;
  const struct samples *samples;
  struct index children; /* parent << 32 | label -> node */
  struct index labels;   /* hash of the label -> number of the label + 1 */
  size_t label_capacity, node_capacity;
  struct stack_view view;
  uint32_t *node_of; /* trace node -> tree node + 1; 0: not known yet */
  uint32_t *own_of;  /* trace node -> tree node that owns its stack; valid where node_of is known */
  uint32_t trace_nodes;
};

static uint64_t *index_slot(const struct index *index, uint64_t key) {
  size_t mask = index->size - 1, at = hash_mix(key) & mask;
  while (index->keys[at] && index->keys[at] != key) at = (at + 1) & mask;
  return &index->keys[at];
}

static bool index_resize(struct index *index, size_t size) {
  struct index wider = {calloc(size, sizeof(uint64_t)), calloc(size, sizeof(uint32_t)), size, index->used};
  if (!wider.keys || !wider.values) {
    free(wider.keys);
    free(wider.values);
    return false;
  }
  for (size_t i = 0; i < index->size; i++) {
    if (!index->keys[i]) continue;
    uint64_t *slot = index_slot(&wider, index->keys[i]);
    *slot = index->keys[i];
    wider.values[slot - wider.keys] = index->values[i];
  }
  free(index->keys);
  free(index->values);
  *index = wider;
  return true;
}

/* The place of a key's value; a new key gets the value 0. The key must not be 0. NULL without
 * memory. */
static uint32_t *index_at(struct index *index, uint64_t key) {
  if (index->used * 2 >= index->size && !index_resize(index, index->size ? index->size * 2 : 256))
    return NULL;
  uint64_t *slot = index_slot(index, key);
  if (!*slot) {
    *slot = key;
    index->used++;
  }
  return &index->values[slot - index->keys];
}

static void index_destroy(struct index *index) {
  free(index->keys);
  free(index->values);
}

static bool grow(void **items, size_t *capacity, size_t size) {
  size_t larger = *capacity ? *capacity * 2 : 256;
  void *moved = realloc(*items, larger * size);
  if (moved) *items = moved, *capacity = larger;
  return moved != NULL;
}

static struct label label_of(const struct frame *frame, enum grouping grouping) {
  switch (grouping) {
  case BY_LINE:
    if (!frame->line) return (struct label){frame->place, frame->module, frame->file, 0};
    return (struct label){frame->function, frame->module, frame->file, frame->line};
  case BY_FILE: return (struct label){0, frame->file ? 0 : frame->module, frame->file, 0};
  case BY_MODULE: return (struct label){0, frame->module, 0, 0};
  case BY_FUNCTION:
  case BY_STACK: break;
  }
  return (struct label){frame->function, frame->module, 0, 0};
}

static bool same_label(const struct label *a, const struct label *b) { return !memcmp(a, b, sizeof *a); }

/* The number of a label; UINT32_MAX without memory. */
static uint32_t label_number(struct building *building, const struct label *label) {
  struct call_tree *tree = building->tree;
  uint64_t key =
      hash_combine(hash_combine(label->function, label->module), hash_combine(label->file, label->line)) | 1;
  uint32_t *found;
  for (;; key += 2) { /* another label has this hash: take the next key */
    if (!(found = index_at(&building->labels, key))) return UINT32_MAX;
    if (!*found || same_label(&tree->labels[*found - 1], label)) break;
  }
  if (*found) return *found - 1;
  if (tree->label_count == building->label_capacity &&
      !grow((void **)&tree->labels, &building->label_capacity, sizeof *tree->labels))
    return UINT32_MAX;
  tree->labels[tree->label_count++] = *label;
  *found = (uint32_t)tree->label_count;
  return *found - 1;
}

/* The child of a node with a label, created if it does not exist; UINT32_MAX without memory. */
static uint32_t child_of(struct building *building, uint32_t parent, uint32_t label) {
  struct call_tree *tree = building->tree;
  if (parent && tree->nodes[parent].label == label && building->tree->grouping != BY_FUNCTION &&
      building->tree->grouping != BY_STACK)
    return parent;
  for (uint32_t at = building->view.fold ? parent : 0; at; at = tree->nodes[at].parent)
    if (tree->nodes[at].label == label) return at;
  uint32_t *found = index_at(&building->children, ((uint64_t)parent << 32 | label) + 1);
  if (!found) return UINT32_MAX;
  if (*found) return *found;
  if (tree->node_count == building->node_capacity &&
      !grow((void **)&tree->nodes, &building->node_capacity, sizeof *tree->nodes))
    return UINT32_MAX;
  uint32_t node = (uint32_t)tree->node_count++;
  tree->nodes[node] =
      (struct tree_node){.parent = parent, .label = label, .next_sibling = tree->nodes[parent].first_child};
  tree->nodes[parent].first_child = node;
  return *found = node;
}

/* Whether the view has a frame. *begun tells whether the stack has begun before it, and becomes true
 * if it begins here. */
static bool shows(const struct building *building, size_t frame, bool *begun) {
  const struct stack_view *view = &building->view;
  if (view->begins && view->begins[frame]) *begun = true;
  return *begun && !(view->hidden && view->hidden[frame]);
}

/* The tree node for a code address that `parent` calls. *own is the node that owns the caller's
 * stack (0: none yet) and becomes the node that owns this one. UINT32_MAX without memory. */
static uint32_t step(struct building *building, uint32_t parent, uint32_t trace_node, uint32_t *own) {
  struct frames frames = names_of(building->names, trace_node);
  const bool *begun_at = building->view.begun;
  bool begun = !begun_at || begun_at[source_stack(building->samples->source, trace_node).parent];
  for (size_t i = frames.count; i-- > 0 && parent != UINT32_MAX;) {
    if (!shows(building, (size_t)(frames.frame - building->names->frame) + i, &begun)) continue;
    struct label label = label_of(&frames.frame[i], building->tree->grouping);
    uint32_t number = label_number(building, &label);
    parent = number == UINT32_MAX ? UINT32_MAX : child_of(building, parent, number);
    if (!frames.frame[i].wrapper || !*own) *own = parent;
  }
  return parent;
}

/* Finds the tree nodes of all nodes of a stack. Returns the node that owns the stack, or UINT32_MAX
 * without memory. Callers in a trace have smaller numbers than what they call. */
static uint32_t tree_node_of(struct building *building, uint32_t trace_node) {
  if (!trace_node || trace_node > building->trace_nodes) return 0;
  uint32_t path[64];
  for (;;) {
    size_t depth = 0;
    uint32_t at = trace_node;
    while (at && !building->node_of[at]) {
      path[depth++ % 64] = at;
      at = source_stack(building->samples->source, at).parent;
    }
    uint32_t node = at ? building->node_of[at] - 1 : 0, own = at ? building->own_of[at] : 0;
    size_t known = depth < 64 ? depth : 64; /* the outermost nodes; a deeper stack takes several rounds */
    for (size_t i = 0; i < known; i++) {
      uint32_t inner = path[(depth - 1 - i) % 64];
      if ((node = step(building, node, inner, &own)) == UINT32_MAX) return UINT32_MAX;
      building->node_of[inner] = node + 1;
      building->own_of[inner] = own;
    }
    if (depth <= 64) return own;
  }
}

static void add(struct sums *sums, const struct row *row, const struct share *share) {
  double p = row->probability;
  if (share->weight.factor > 0) {
    sum_add_weighted(&sums->bytes, share->bytes, &share->weight);
    sum_add_weighted(&sums->blocks, share->blocks, &share->weight);
    return;
  }
  if (!share->grown) {
    sum_add(&sums->bytes, share->bytes, p);
    if (share->blocks > 0) sum_add(&sums->blocks, share->blocks, p);
    return;
  }
  struct dependence bytes = grown_bytes(share->grown), calls = grown_calls(share->grown);
  sum_add_dependent(&sums->bytes, share->bytes, p, &bytes);
  if (share->blocks > 0) sum_add_dependent(&sums->blocks, share->blocks, p, &calls);
}

static void merge(struct sums *sums, const struct sums *other) {
  sum_merge(&sums->bytes, &other->bytes);
  sum_merge(&sums->blocks, &other->blocks);
}

static bool add_rows(struct building *building, row_measure *measure, void *context) {
  struct call_tree *tree = building->tree;
  for (size_t i = 0; i < building->samples->row_count; i++) {
    const struct row *row = &building->samples->rows[i];
    struct share share = {0};
    tree->node_of_row[i] = NO_NODE;
    if (row->probability <= 0 || !measure(row, &share, context)) continue;
    uint32_t node = tree_node_of(building, row->stack);
    if (node == UINT32_MAX) return false;
    tree->node_of_row[i] = node;
    if (!share.apart) add(&tree->nodes[node].self, row, &share);
  }
  for (size_t i = tree->node_count; i-- > 0;) {
    merge(&tree->nodes[i].total, &tree->nodes[i].self);
    if (i) merge(&tree->nodes[tree->nodes[i].parent].total, &tree->nodes[i].total);
  }
  return true;
}

/* By total, largest first. Groups without samples come last; a block of no bytes is a sample too.
 */
static int by_total(const void *a, const void *b) {
  const struct group *left = a, *right = b;
  if (!left->total.bytes.samples != !right->total.bytes.samples) return left->total.bytes.samples ? -1 : 1;
  if (left->total.bytes.total != right->total.bytes.total)
    return left->total.bytes.total < right->total.bytes.total ? 1 : -1;
  if (left->stacks != right->stacks) return left->stacks < right->stacks ? -1 : 1;
  if (left->self.bytes.total != right->self.bytes.total)
    return left->self.bytes.total < right->self.bytes.total ? 1 : -1;
  return left->label < right->label ? -1 : left->label > right->label;
}

/* Adds a node's self sums to each label on its path, once. last[label] is the last node that was
 * added to the label. */
static void add_path(struct call_tree *tree, struct group *groups, uint32_t *last, uint32_t node) {
  const struct sums *self = &tree->nodes[node].self;
  merge(&groups[tree->nodes[node].label].self, self);
  for (uint32_t at = node; at; at = tree->nodes[at].parent) {
    uint32_t label = tree->nodes[at].label;
    if (last[label] == node) continue;
    last[label] = node;
    merge(&groups[label].total, self);
    groups[label].stacks += hash_mix(node); /* a sum: the order does not matter */
    groups[label].example = node;
  }
}

static bool make_groups(struct call_tree *tree) {
  bool by_stack = tree->grouping == BY_STACK;
  size_t count = by_stack ? tree->node_count : tree->label_count;
  struct group *groups = calloc(count + 1, sizeof *groups);
  uint32_t *last = calloc(count + 1, sizeof *last);
  if (!groups || !last) {
    free(groups);
    free(last);
    return false;
  }
  for (uint32_t i = 0; i < count; i++) groups[i].label = i;
  for (uint32_t node = 1; node < tree->node_count; node++) {
    const struct sums *self = &tree->nodes[node].self;
    if (!self->bytes.samples && self->bytes.total <= 0) continue;
    if (by_stack)
      groups[node] = (struct group){node, *self, *self, hash_mix(node), node};
    else
      add_path(tree, groups, last, node);
  }
  free(last);
  const struct sums *bare = &tree->nodes[0].self;
  if (bare->bytes.samples) groups[0] = (struct group){0, *bare, *bare, hash_mix(0), 0};
  qsort(groups, count, sizeof *groups, by_total);
  while (count && !groups[count - 1].total.bytes.samples) count--;
  tree->groups = groups;
  tree->group_count = count;
  return true;
}

static bool prepare(struct building *building) {
  struct call_tree *tree = building->tree;
  building->trace_nodes = source_stack_count(building->samples->source);
  tree->node_of_row = malloc((building->samples->row_count + 1) * sizeof *tree->node_of_row);
  building->node_of = calloc((size_t)building->trace_nodes + 1, sizeof *building->node_of);
  building->own_of = calloc((size_t)building->trace_nodes + 1, sizeof *building->own_of);
  if (!building->node_of || !building->own_of || !tree->node_of_row ||
      !grow((void **)&tree->nodes, &building->node_capacity, sizeof *tree->nodes))
    return false;
  tree->nodes[0] = (struct tree_node){0};
  tree->node_count = 1;
  /* The root's label is not in the index, so that no function gets the number 0, not even an
   * unknown one. */
  if (!grow((void **)&tree->labels, &building->label_capacity, sizeof *tree->labels)) return false;
  tree->labels[tree->label_count++] = (struct label){0};
  return true;
}

/* Writes "function (file:line)". If that is too long for the buffer, the function is cut, not the
 * place. */
static void write_place(char *buffer, size_t size, const char *function, const char *file, uint32_t line) {
  int place = snprintf(NULL, 0, " (%s:%u)", file, line), room = (int)size - 1 - place;
  snprintf(buffer, size, "%.*s (%s:%u)", room > 0 ? room : 0, function, file, line);
}

/* ---- shared ---- */

const char *grouping_name(enum grouping grouping) {
  static const char *const names[GROUPINGS] = {[BY_FUNCTION] = "function",
                                               [BY_LINE] = "line",
                                               [BY_FILE] = "file",
                                               [BY_MODULE] = "module",
                                               [BY_STACK] = "stack"};
  return names[grouping];
}

wn_status call_tree_build(const struct samples *samples, const struct names *names, enum grouping grouping,
                          const struct stack_view *view, row_measure *measure, void *context,
                          struct call_tree *tree) {
  *tree = (struct call_tree){.grouping = grouping};
  struct building building = {.tree = tree, .names = names, .samples = samples};
  if (view) building.view = *view;
  bool done = prepare(&building) && add_rows(&building, measure, context) && make_groups(tree);
  index_destroy(&building.children);
  index_destroy(&building.labels);
  free(building.node_of);
  free(building.own_of);
  if (done) return WN_OK;
  call_tree_destroy(tree);
  return error_set(WN_ENOMEM, "not enough memory for the call tree");
}

void call_tree_destroy(struct call_tree *tree) {
  free(tree->labels);
  free(tree->nodes);
  free(tree->groups);
  free(tree->node_of_row);
  *tree = (struct call_tree){0};
}

/* Relies on parents standing before their children. */
void call_tree_mark(const struct call_tree *tree, const struct group *group, enum extent extent,
                    bool *inside) {
  if (!group->label) {
    memset(inside, 0, tree->node_count * sizeof *inside);
    inside[0] = true;
    return;
  }
  for (uint32_t node = 0; node < tree->node_count; node++)
    inside[node] = tree->grouping == BY_STACK
                       ? node == group->label
                       : node && (tree->nodes[node].label == group->label ||
                                  (extent == EXTENT_TOTAL && inside[tree->nodes[node].parent]));
}

size_t call_tree_chain(const struct call_tree *tree, size_t first, size_t *innermost) {
  const struct group *groups = tree->groups;
  size_t count = 0, with_rows = 0;
  *innermost = first;
  for (size_t i = first; i < tree->group_count && groups[i].stacks == groups[first].stacks; i++, count++)
    if (groups[i].self.bytes.samples) *innermost = i, with_rows++;
  if (with_rows > 1) return 1;
  for (uint32_t node = with_rows ? 0 : groups[first].example; node; node = tree->nodes[node].parent)
    for (size_t i = first; i < first + count; i++)
      if (groups[i].label == tree->nodes[node].label) return *innermost = i, count;
  return count;
}

void call_tree_label(const struct call_tree *tree, const struct names *names, uint32_t label, char *buffer,
                     size_t size) {
  const struct label *found = &tree->labels[label];
  const char *function = strings_text(names->strings, found->function);
  const char *module = strings_text(names->strings, found->module);
  const char *file = strings_text(names->strings, found->file);
  const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
  if (!label)
    snprintf(buffer, size, "(no callstack)");
  else if (tree->grouping == BY_LINE && found->line)
    write_place(buffer, size, function, base, found->line);
  else if (*function)
    snprintf(buffer, size, "%s", function);
  else if (*file)
    snprintf(buffer, size, "%s", file);
  else
    snprintf(buffer, size, "%s", *module ? module : "(unknown)");
}
/* SPDX-License-Identifier: MIT */
