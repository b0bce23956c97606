/* Stacks and modules as a chunk sees them: the writing side. */
#include "trace/stack_encoder.h"

#include "base/hash.h"
#include "trace/encoder.h"

/* ---- dictionaries ---- */

static void forget(struct dictionary *dictionary, struct dictionary_slot *slots, size_t count) {
  if (++dictionary->generation) return;
  memset(slots, 0, count * sizeof *slots);
  dictionary->generation = 1;
}

/* The slot that holds the key, or the one where it belongs. There always is one, since at most 3/4
 * are in use. */
static struct dictionary_slot *find(const struct dictionary *dictionary, struct dictionary_slot *slots,
                                    uint32_t mask, uint32_t key) {
  uint32_t i = (uint32_t)hash_mix(key) & mask;
  while (slots[i].generation == dictionary->generation && slots[i].key != key) i = (i + 1) & mask;
  return &slots[i];
}

static uint32_t local_of(const struct dictionary *dictionary, const struct dictionary_slot *slot) {
  return slot->generation == dictionary->generation ? slot->local : 0;
}

static uint32_t insert(struct dictionary *dictionary, struct dictionary_slot *slot, uint32_t key) {
  dictionary->count++;
  *slot =
      (struct dictionary_slot){.key = key, .local = dictionary->count, .generation = dictionary->generation};
  return dictionary->count;
}

static struct dictionary_slot *find_node(struct stack_encoder *encoder, uint32_t node) {
  return find(&encoder->nodes, encoder->node_slots, NODE_SLOTS - 1, node);
}

/* ---- definitions ---- */

static void put_cut_text(struct byte_sink *sink, struct trace_text text, uint32_t most) {
  uint32_t length = text.length < most ? text.length : most;
  put_varint(sink, length);
  put_bytes(sink, text.bytes, length);
}

static void define_module(struct byte_sink *sink, const struct trace_stack_source *source, uint32_t module) {
  struct trace_module found = {0};
  source->module(source->context, module, &found);
  if (found.build_id_bytes > TRACE_BUILD_ID_MAX) found.build_id_bytes = TRACE_BUILD_ID_MAX;
  unsigned char *body = put_record_begin(sink, TRACE_RECORD_MODULE);
  put_varint(sink, found.base);
  put_varint(sink, found.base - found.bias);
  put_varint(sink, found.size);
  put_varint(sink, found.generation);
  put_varint(sink, found.build_id_bytes);
  put_bytes(sink, found.build_id, found.build_id_bytes);
  put_cut_text(sink, found.path, TRACE_PATH_MOST);
  put_record_end(sink, body);
}

/* Gives a frame its name in the chunk, if it is a language's that has none yet. `module` is the
 * program's number, `local` the chunk's. */
static void define_place(struct stack_encoder *encoder, struct byte_sink *sink, uint32_t module,
                         uint32_t local, uint64_t offset) {
  const struct trace_stack_source *source = encoder->source;
  struct trace_place found;
  if (!source->place || !module || !source->place(source->context, module, offset, &found)) return;
  struct dictionary_slot *slot =
      find(&encoder->places, encoder->place_slots, PLACE_SLOTS - 1, (uint32_t)offset);
  if (local_of(&encoder->places, slot)) return;
  if (encoder->places.count == PLACES_MOST) {
    sink->full = true;
    return;
  }
  insert(&encoder->places, slot, (uint32_t)offset);
  unsigned char *body = put_record_begin(sink, TRACE_RECORD_PLACE);
  put_varint(sink, local);
  put_varint(sink, offset);
  put_varint(sink, found.line);
  put_cut_text(sink, found.function, TRACE_PLACE_MOST);
  put_cut_text(sink, found.file, TRACE_PLACE_MOST);
  if (found.first_column || found.last_column) {
    put_varint(sink, found.first_column);
    put_varint(sink, found.last_column);
  }
  put_record_end(sink, body);
}

/* Collects the frames that the chunk lacks and returns the chunk's number of the node they hang
 * from. */
static uint32_t collect(struct stack_encoder *encoder, uint32_t node, uint32_t *count) {
  const struct trace_stack_source *source = encoder->source;
  uint32_t known = 0;
  *count = 0;
  while (node && !known && *count < STACK_FRAMES_MOST) {
    struct coded_frame *frame = &encoder->frames[(*count)++];
    frame->node = node;
    source->node(source->context, node, &node, &frame->module, &frame->offset);
    if (node) known = local_of(&encoder->nodes, find_node(encoder, node));
  }
  return known;
}

static void put_frame(struct stack_encoder *encoder, struct byte_sink *sink, const struct coded_frame *frame,
                      uint32_t *module) {
  bool changes = frame->module != *module;
  put_tagged(sink, changes, zigzag(frame->offset - encoder->last_offset[frame->module]));
  if (changes) put_varint(sink, frame->module);
  encoder->last_offset[frame->module] = frame->offset;
  *module = frame->module;
}

static uint32_t define_stack(struct stack_encoder *encoder, struct byte_sink *sink, uint32_t node) {
  uint32_t count;
  uint32_t parent = collect(encoder, node, &count);
  encoder->changed = true;
  if (encoder->nodes.count + count > NODES_MOST) sink->full = true;
  for (uint32_t i = count; i-- > 0 && !sink->full;) {
    struct coded_frame *frame = &encoder->frames[i];
    uint32_t module = frame->module;
    frame->module = module_encode(encoder, sink, module);
    define_place(encoder, sink, module, frame->module, frame->offset);
  }
  if (sink->full) return 0;
  put_byte(sink, TRACE_RECORD_STACK);
  put_varint(sink, parent);
  put_varint(sink, count);
  uint32_t module = 0;
  for (uint32_t i = count; i-- > 0;) {
    struct coded_frame *frame = &encoder->frames[i];
    put_frame(encoder, sink, frame, &module);
    parent = insert(&encoder->nodes, find_node(encoder, frame->node), frame->node);
  }
  return parent;
}

/* ---- shared ---- */

void stack_encoder_reset(struct stack_encoder *encoder) {
  encoder->kept = (struct stack_marks){0};
  stack_encoder_go_back(encoder);
}

void stack_encoder_pass_checkpoint(struct stack_encoder *encoder) {
  forget(&encoder->modules, encoder->module_slots, MODULE_SLOTS);
  forget(&encoder->places, encoder->place_slots, PLACE_SLOTS);
  encoder->places.count = 0; /* no number is given to them */
}

void stack_encoder_keep(struct stack_encoder *encoder) {
  encoder->kept = (struct stack_marks){
      .nodes = encoder->nodes.count, .modules = encoder->modules.count, .address = encoder->last_offset[0]};
  encoder->changed = false;
}

void stack_encoder_go_back(struct stack_encoder *encoder) {
  forget(&encoder->nodes, encoder->node_slots, NODE_SLOTS);
  stack_encoder_pass_checkpoint(encoder);
  encoder->nodes.count = encoder->kept.nodes;
  encoder->modules.count = encoder->kept.modules;
  encoder->last_offset[0] = encoder->kept.address;
  encoder->changed = false;
}

uint32_t stack_encode(struct stack_encoder *encoder, struct byte_sink *sink, uint32_t node) {
  if (!node) return 0;
  uint32_t local = local_of(&encoder->nodes, find_node(encoder, node));
  return local ? local : define_stack(encoder, sink, node);
}

uint32_t module_encode(struct stack_encoder *encoder, struct byte_sink *sink, uint32_t module) {
  if (!module) return 0;
  struct dictionary_slot *slot = find(&encoder->modules, encoder->module_slots, MODULE_SLOTS - 1, module);
  uint32_t local = local_of(&encoder->modules, slot);
  if (local) return local;
  if (encoder->modules.count == MODULES_MOST) {
    sink->full = true;
    return 0;
  }
  encoder->changed = true;
  local = insert(&encoder->modules, slot, module);
  encoder->last_offset[local] = 0;
  define_module(sink, encoder->source, module);
  return local;
}
/* SPDX-License-Identifier: MIT */
