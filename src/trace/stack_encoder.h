/* Stacks and modules as a chunk sees them: numbered from 1 in the order of their definitions.
 *
 * A stack is a path in a tree: each node has a parent (the caller), a module and an offset into it,
 * and stands for all frames from itself to the root; a stack's number is that of its innermost
 * node. The program's own numbers of frames and modules never reach the file.
 *
 * A stack is coded against the last ones, since most of its outer frames are theirs. The encoder
 * has the frames of the last few different stacks, with the chunk's numbers of their nodes. A new
 * stack is a child of the node where it leaves the one that it follows longest: its other frames
 * are defined in one STACK record, outermost first, behind the modules they lie in and the names of
 * the frames of a language among them. A second table finds the number of a whole stack by its hash,
 * so a stack that comes back costs its number. Two different stacks of one chunk have equal hashes
 * with a probability of 2^-40 or so. The chunk may define a node twice: a reader takes both for
 * one.
 *
 * What is forgotten is defined again when it is needed, under the chunk's next number. At each
 * checkpoint the modules and the names are forgotten, so that frames which are defined behind it
 * depend on nothing before it but on their parents. When a dictionary is full, or the chunk's
 * numbers are used up, the sink is declared full, just as for a lack of bytes. */
#ifndef TRACE_STACK_ENCODER_H
#define TRACE_STACK_ENCODER_H

#include "base/check.h"
#include "trace/codec.h"
#include "trace/event.h"

/* A stack as the writer is given it: the program's numbers of its frames, the outermost first. */
struct trace_stack {
  const uint32_t *frame;
  uint32_t count;
};

/* How the writer learns what a frame means. Called on the thread that writes, only for frames of
 * new nodes. Module 0 is none (the offset is then the address itself). */
struct trace_stack_source {
  void (*frame)(void *context, uint32_t frame, uint32_t *module, uint64_t *offset);
  /* The path must stay valid until the write returns. */
  void (*module)(void *context, uint32_t module, struct trace_module *out);
  /* The name of a frame of a language; false for code. The texts must stay valid until the write
   * returns. NULL: there are no such frames. */
  bool (*place)(void *context, uint32_t module, uint64_t offset, struct trace_place *out);
  void *context;
};

enum {
  NODES_MOST = TINY ? 768 : 60000,
  /* Stacks that the encoder has at hand, and whole ones whose numbers it knows. */
  LAST_STACKS = 4,
  KNOWN_STACKS = TINY ? 512 : 2048,
  KNOWN_WAYS = 4, /* slots where a hash may stand */
  /* A stack of which a new one leaves so many frames or more stays at hand beside the new one. */
  LEFT_FRAMES = 16,
  MODULE_SLOTS = TINY ? 64 : 1024,
  MODULES_MOST = MODULE_SLOTS / 4 * 3,
  PLACE_SLOTS = TINY ? 256 : 4096,
  PLACES_MOST = PLACE_SLOTS / 4 * 3,
  /* Frames of a stack beyond these are cut off at the outer end. */
  STACK_FRAMES_MOST = 1025,
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
  uint32_t module; /* the chunk's number */
  uint64_t offset;
};

struct last_stack {
  uint32_t count;
  uint32_t frame[STACK_FRAMES_MOST]; /* outermost first */
  uint16_t local[STACK_FRAMES_MOST]; /* the chunk's number of the node of each */
};

struct known_stack {
  uint64_t hash;
  uint16_t local;
  uint16_t generation; /* as of a dictionary_slot */
};

/* Zeroed memory is a good encoder, but for the source. */
struct stack_encoder {
  const struct trace_stack_source *source;
  struct dictionary nodes;
  struct dictionary modules;
  struct dictionary places; /* by the number that is the frame's offset */
  bool changed;             /* something was defined since the marks were kept */
  unsigned oldest;          /* of `last`: the next new stack that is not put over its neighbour goes there */
  struct stack_marks kept;
  struct last_stack last[LAST_STACKS];
  struct known_stack known[KNOWN_STACKS];
  struct dictionary_slot module_slots[MODULE_SLOTS];
  struct dictionary_slot place_slots[PLACE_SLOTS];
  uint64_t last_offset[MODULES_MOST + 1];      /* by the chunk's module number */
  struct coded_frame coded[STACK_FRAMES_MOST]; /* scratch */
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
uint32_t stack_encode(struct stack_encoder *encoder, struct byte_sink *sink, struct trace_stack stack);
uint32_t module_encode(struct stack_encoder *encoder, struct byte_sink *sink, uint32_t module);

#endif
/* SPDX-License-Identifier: MIT */
