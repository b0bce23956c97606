/* The sections of a container (container.h) with names and stacks: STRS, FRAM, BLDS and NODE. */
#pragma once

#include "page/container_fields.h"

/* The numbers that the nodes and strings of a recording have in a container (NODES). */
struct numbering {
  uint32_t *node, *string; /* index: number in the recording; 0: not stored, or the number 0 */
  uint32_t nodes, strings; /* the largest number that a stored one has */
};
bool numbering_create(struct numbering *numbering, const struct recording *recording);
void numbering_destroy(struct numbering *numbering);

/* The distinct frames, and the distinct lists of them, innermost frame first. */
struct frame_lists {
  struct frame *frames;
  uint32_t *lengths; /* of each list */
  uint32_t *members; /* of all lists, one after another: indexes of frames */
  size_t frame_count, list_count, member_count;
};

/* A node: its number less that of its caller, 0 if it has none; and the index of its list. */
struct stored_node {
  uint32_t back, list;
};

/* A name that is an address, and its build: strings. */
struct stored_address {
  uint32_t name, build;
};

struct stored_stacks {
  struct frame_lists lists;
  uint32_t *builds; /* strings */
  size_t build_count;
  struct stored_address *addresses; /* by name, ascending */
  size_t address_count;
  struct stored_node *nodes; /* from node 1 on */
  size_t node_count;
  uint32_t *wrappers; /* strings */
  size_t wrapper_count;
  char *hint;
};
void stacks_destroy(struct stored_stacks *stacks);

/* Writing: makes the lists and nodes of a recording. `hint` is that of the recording. */
bool stacks_create(struct stored_stacks *stacks, const struct recording *recording,
                   const struct numbering *numbering);

void code_frames(struct coding *coding, struct stored_stacks *stacks);
void code_builds(struct coding *coding, struct stored_stacks *stacks);
void code_nodes(struct coding *coding, struct stored_stacks *stacks);
void write_strings(struct coding *coding, const struct recording *recording,
                   const struct numbering *numbering);
/* TYPE, after the rows: what blocks are. */
void write_types(struct coding *coding, struct samples *samples);
void read_types(struct coding *coding, struct samples *samples);

void read_strings(struct coding *coding, struct strings **strings);

/* Reading: makes the names, wrappers and nodes of a recording. Takes the wrappers, builds and the hint. The
 * error names the section. */
wn_status stacks_give(struct stored_stacks *stacks, struct recording *recording,
                      struct container_source *source);
/* SPDX-License-Identifier: MIT */
