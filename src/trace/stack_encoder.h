/* Stacks and modules as a chunk sees them: numbered from 1 in the order of their definitions.
 *
 * A stack is a path in a tree: each node has a parent (the caller), a module and an offset into it,
 * and stands for all frames from itself to the root; a stack's number is that of its innermost
 * node. The program's own node and module numbers never reach the file. The first time that a chunk
 * needs a stack, the encoder asks the writer's stack source for the nodes that the chunk lacks,
 * defines the modules they lie in and the names of those that are a language's places, and then the
 * nodes in one STACK record, outermost first; after that the stack costs its number.
 *
 * The dictionaries are small open-addressing tables that are emptied by counting up a generation.
 * What is forgotten is defined again when it is needed, under the chunk's next number. At each
 * checkpoint the modules and the names are forgotten, so that frames which are defined behind it
 * depend on nothing before it but on their parents. When a dictionary is full, or the chunk's
 * numbers are used up, the sink is declared full, just as for a lack of bytes. */
#ifndef TRACE_STACK_ENCODER_H
#define TRACE_STACK_ENCODER_H

#include "base/check.h"
#include "trace/codec.h"
#include "trace/event.h"

/* How the writer learns what a stack means. Called on the thread that writes, only when its chunk
 * lacks the node. Node 0 is the empty stack, module 0 is none (the offset is then the address
 * itself). */
struct trace_stack_source {
  void (*node)(void *context, uint32_t node, uint32_t *parent, uint32_t *module, uint64_t *offset);
  /* The path must stay valid until the write returns. */
  void (*module)(void *context, uint32_t module, struct trace_module *out);
  /* The name of a frame of a language; false for code. The texts must stay valid until the write
   * returns. NULL: there are no such frames. */
  bool (*place)(void *context, uint32_t module, uint64_t offset, struct trace_place *out);
  void *context;
};

enum {
  NODE_SLOTS = TINY ? 1024 : 16384,
  MODULE_SLOTS = TINY ? 64 : 1024,
  NODES_MOST = NODE_SLOTS / 4 * 3,
  MODULES_MOST = MODULE_SLOTS / 4 * 3,
  PLACE_SLOTS = TINY ? 256 : 4096,
  PLACES_MOST = PLACE_SLOTS / 4 * 3,
  /* Frames of a stack beyond these are cut off at the outer end. */
  STACK_FRAMES_MOST = 1024,
  /* The longest path that is written; the rest is cut off. */
  TRACE_PATH_MOST = TINY ? 512 : 4096,
  /* The same for a place's function and file. */
  TRACE_PLACE_MOST = TINY ? 64 : 1024,
};

struct dictionary_slot {
  uint32_t key;
  uint16_t local;
  uint16_t generation; /* the slot is empty unless this is the dictionary's */
};

struct dictionary {
  uint16_t generation;
  uint16_t count; /* numbers given in this chunk: at least as many as slots are in use */
};

/* What the numbers and the offsets of later definitions continue. */
struct stack_marks {
  uint16_t nodes, modules; /* numbers given so far */
  uint64_t address;        /* the last offset of module 0, which has no definition */
};

struct coded_frame {
  uint32_t node;
  uint32_t module; /* first the program's number, then the chunk's */
  uint64_t offset;
};

/* Zeroed memory is a good encoder, but for the source. */
struct stack_encoder {
  const struct trace_stack_source *source;
  struct dictionary nodes;
  struct dictionary modules;
  struct dictionary places; /* by the number that is the frame's offset */
  bool changed;             /* something was defined since the marks were kept */
  struct stack_marks kept;
  struct dictionary_slot node_slots[NODE_SLOTS];
  struct dictionary_slot module_slots[MODULE_SLOTS];
  struct dictionary_slot place_slots[PLACE_SLOTS];
  uint64_t last_offset[MODULES_MOST + 1];       /* by the chunk's module number */
  struct coded_frame frames[STACK_FRAMES_MOST]; /* innermost first; scratch */
};

/* Forgets everything, for a new chunk. */
void stack_encoder_reset(struct stack_encoder *encoder);

/* Forgets modules and names, behind a checkpoint; their numbers go on. */
void stack_encoder_pass_checkpoint(struct stack_encoder *encoder);

/* What is defined so far is in the chunk for good. */
void stack_encoder_keep(struct stack_encoder *encoder);

/* What was defined since found no room: forgets everything, and gives the numbers again that were
 * not kept. */
void stack_encoder_go_back(struct stack_encoder *encoder);

/* The chunk's number for a stack or module, after putting the definitions that the chunk lacks. If
 * the sink becomes full the encoder is good for nothing until it is reset or goes back. */
uint32_t stack_encode(struct stack_encoder *encoder, struct byte_sink *sink, uint32_t node);
uint32_t module_encode(struct stack_encoder *encoder, struct byte_sink *sink, uint32_t module);

#endif
/* SPDX-License-Identifier: MIT */
