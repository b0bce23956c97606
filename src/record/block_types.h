/* What the sampled blocks of a collected heap are: the numbers and names of types in a trace.
 *
 * The type of a custom block is the name of its operations, that of another block what the language
 * says of it, or else its tag. A type gets its number in the trace when it is first used, so that
 * the frequent ones have small numbers, which take one byte. Its name is written before that, by each
 * of the threads that use it first at the same time; and again once chunks were dropped, which may
 * have had it.
 */
#pragma once

#include "trace/writer.h"
#include <stdatomic.h>
#include <winnow/heap.h>

/* The places of types: of tags, then of custom blocks, the last of which stands for all that are
 * too many, then of the language's types, the last of which stands for all out of range. */
enum {
  TYPE_CUSTOM_MOST = 256,
  TYPE_CUSTOM = 256,
  TYPE_LANGUAGE = TYPE_CUSTOM + TYPE_CUSTOM_MOST,
  TYPE_PLACES = TYPE_LANGUAGE + WN_TYPES_MOST + 1,
};

/* Written by any thread. */
struct block_types {
  _Atomic(const char *) customs[TYPE_CUSTOM_MOST - 1];
  _Atomic(uint32_t) numbers;   /* that were given, or a few more */
  _Atomic(uint32_t) forgotten; /* how often the names were */
  /* By place: twice the number; one more if its name is written. 0: it has none yet. */
  _Atomic(uint32_t) number[TYPE_PLACES];
};

/* The words for a tag without a language's type, and for a type to which the language gives no
 * name; in `text` unless they are constant. Snapshots use the same ones. */
const char *type_text_of_tag(unsigned tag, char text[32]);
const char *type_text_of_number(unsigned type, char text[32]);

/* What the language calls a type: called where the trace has no name of the type yet. NULL, or a
 * function that returns NULL: it has none. */
typedef const char *block_types_name(unsigned type, void *context);

/* The type of a block that was just born, by its tag and the name in its operations. `name` is of
 * tags, unless the block is custom or weak. */
void block_types_write_born(struct block_types *types, struct trace_writer *writer, struct trace_type event,
                            unsigned tag, const char *custom_name, block_types_name *name, void *context);

/* The type of a block as the language tells it. */
void block_types_write_language(struct block_types *types, struct trace_writer *writer,
                                struct trace_type event, unsigned type, block_types_name *name,
                                void *context);

/* The names may be lost. */
void block_types_forget_names(struct block_types *types);
/* SPDX-License-Identifier: MIT */
