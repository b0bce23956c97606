/* Chains, and the blocks below them. */
#include "cli/heap/chain.h"

enum { STEP_COLUMNS = 36 };

/* The block below a block of a run that may be the next: of its type, with half of what it holds; or, if
 * the run has begun, the only one of its type. So the last blocks of a list, which hold less than their
 * elements do, are of the run, and a tree with two branches is none. */
static uint32_t one_of_type(const struct heap_file *file, uint32_t node, bool begun) {
  const struct graph *graph = &file->graph;
  const struct dominators *of = &file->dominators;
  uint32_t found = NOWHERE, count = 0;
  for (uint32_t child = of->nodes[node].child; child != NOWHERE; child = of->nodes[child].sibling) {
    if (graph_type(graph, child) != graph_type(graph, node) || graph_description(graph, child)) continue;
    if (2 * of->nodes[child].retained >= of->nodes[node].retained) return child;
    found = child;
    count++;
  }
  return begun && count == 1 ? found : NOWHERE;
}

/* The next block of a run, to which the same field leads from each; NOWHERE: there is none. *field
 * is NOWHERE at the begin of a run. */
static uint32_t next_of_run(const struct heap_file *file, uint32_t node, uint32_t *field) {
  if (node < file->graph.first_block || graph_description(&file->graph, node)) return NOWHERE;
  uint32_t child = one_of_type(file, node, *field != NOWHERE);
  uint32_t by = child == NOWHERE ? NOWHERE : graph_field_to(&file->graph, node, child);
  if (child == NOWHERE || (*field != NOWHERE && *field != by)) return NOWHERE;
  *field = by;
  return child;
}

static void enter_run(struct below *below, uint32_t node) {
  below->child = below->file->dominators.nodes[node].child;
  below->next_of_run = node == below->last ? NOWHERE : next_of_run(below->file, node, &below->field);
}

static void add_text(struct chain *chain, const char *text) {
  size_t length = strlen(chain->text);
  snprintf(chain->text + length, sizeof chain->text - length, "%s", text);
}

static void add_run(const struct heap_file *file, struct chain *chain, uint32_t node) {
  char name[NAME_MOST], fitted[NAME_MOST], count[32];
  uint32_t repeated = 1, field = NOWHERE;
  chain->first = chain->last = node;
  for (uint32_t next; (next = next_of_run(file, chain->last, &field)) != NOWHERE; repeated++)
    chain->last = next;
  if (*chain->text) add_text(chain, " > ");
  add_text(chain, heap_fit(block_name(&file->graph, node, name), STEP_COLUMNS, fitted));
  if (repeated > 1) add_text(chain, " x "), add_text(chain, text_count(count, repeated));
}

/* The block below a chain with which it goes on; NOWHERE: it ends. */
static uint32_t chain_next_step(const struct heap_file *file, const struct chain *chain) {
  struct below below = below_of(file, chain);
  for (uint32_t node; (node = below_next(&below)) != NOWHERE;)
    if (10 * file->dominators.nodes[node].retained >= 9 * chain->bytes) {
      bool named = graph_description(&file->graph, node) != NULL;
      return named && !graph_description(&file->graph, chain->begin) ? NOWHERE : node;
    }
  return NOWHERE;
}

static void chain_extend(const struct heap_file *file, struct chain *chain) {
  for (uint32_t node; (node = chain_next_step(file, chain)) != NOWHERE;) add_run(file, chain, node);
}

/* ---- shared ---- */

void chain_of_holder(struct chain *chain, const struct heap_file *file, uint32_t node, const char *name) {
  *chain = (struct chain){.begin = node, .first = node, .last = node};
  chain->bytes = node == NODE_ALL ? file->several : file->dominators.nodes[node].retained;
  add_text(chain, name);
  if (node != NODE_ALL) chain_extend(file, chain);
}

void chain_of_block(struct chain *chain, const struct heap_file *file, uint32_t node) {
  *chain = (struct chain){.begin = node, .bytes = file->dominators.nodes[node].retained};
  add_run(file, chain, node);
  chain_extend(file, chain);
}

struct below below_of(const struct heap_file *file, const struct chain *chain) {
  struct below below = {.file = file, .last = chain->last, .field = NOWHERE};
  enter_run(&below, chain->first);
  return below;
}

uint32_t below_next(struct below *below) {
  for (;;) {
    uint32_t node = below->child;
    if (node == NOWHERE && below->next_of_run == NOWHERE) return NOWHERE;
    if (node == NOWHERE) {
      enter_run(below, below->next_of_run);
      continue;
    }
    below->child = below->file->dominators.nodes[node].sibling;
    if (node >= below->file->graph.first_block && node != below->next_of_run) return node;
  }
}
/* SPDX-License-Identifier: MIT */
