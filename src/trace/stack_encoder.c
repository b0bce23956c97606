/* Stacks and modules as a chunk sees them: the writing side. */
#include "trace/stack_encoder.h"

#include "base/hash.h"
#include "trace/encoder.h"

/* ---- dictionaries ---- */

static void stack_encoder_forget(struct dictionary *dictionary, struct dictionary_slot *slots, size_t count) {
  if (++dictionary->generation) return;
  memset(slots, 0, count * sizeof *slots);
  dictionary->generation = 1;
}

static void forget_known(struct stack_encoder *encoder) {
  if (++encoder->nodes.generation) return;
  memset(encoder->known, 0, sizeof encoder->known);
  encoder->nodes.generation = 1;
}

/* The slot that holds the key, or the one where it belongs. There always is one, since at most 3/4
 * are in use. */
static struct dictionary_slot *stack_encoder_find(const struct dictionary *dictionary,
                                                  struct dictionary_slot *slots, uint32_t mask,
                                                  uint32_t key) {
  uint32_t i = (uint32_t)hash_mix(key) & mask;
  while (slots[i].generation == dictionary->generation && slots[i].key != key) i = (i + 1) & mask;
  return &slots[i];
}

static uint32_t local_of(const struct dictionary *dictionary, const struct dictionary_slot *slot) {
  return slot->generation == dictionary->generation ? slot->local : 0;
}

static uint32_t stack_encoder_insert(struct dictionary *dictionary, struct dictionary_slot *slot,
                                     uint32_t key) {
  dictionary->count++;
  *slot =
      (struct dictionary_slot){.key = key, .local = dictionary->count, .generation = dictionary->generation};
  return dictionary->count;
}

/* ---- definitions ---- */

static void put_cut_text(struct byte_sink *sink, struct trace_text text, uint32_t most) {
  uint32_t length = text.length < most ? text.length : most;
  put_varint(sink, length);
  put_bytes(sink, text.bytes, length);
}

static void stack_encoder_define_module(struct byte_sink *sink, const struct trace_stack_source *source,
                                        uint32_t module) {
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

/* Whether the place of that number has its name in the chunk. A frame of another kind, which needs none,
 * may have the same number. */
static bool stack_encoder_is_named(struct stack_encoder *encoder, uint64_t offset) {
  return local_of(&encoder->places, stack_encoder_find(&encoder->places, encoder->place_slots,
                                                       PLACE_SLOTS - 1, (uint32_t)offset));
}

/* Gives a frame its name in the chunk, if it is a language's that has none yet. `module` is the
 * program's number, `local` the chunk's. */
static void define_place(struct stack_encoder *encoder, struct byte_sink *sink, uint32_t module,
                         uint32_t local, uint64_t offset) {
  const struct trace_stack_source *source = encoder->source;
  struct trace_place found;
  if (!source->place || !module) return;
  if (encoder->places.count && stack_encoder_is_named(encoder, offset)) return;
  if (!source->place(source->context, module, offset, &found)) return;
  struct dictionary_slot *slot =
      stack_encoder_find(&encoder->places, encoder->place_slots, PLACE_SLOTS - 1, (uint32_t)offset);
  if (encoder->places.count == PLACES_MOST) {
    sink->full = true;
    return;
  }
  stack_encoder_insert(&encoder->places, slot, (uint32_t)offset);
  unsigned char *body = put_record_begin(sink, TRACE_RECORD_PLACE);
  put_varint(sink, local);
  put_varint(sink, offset);
  put_varint(sink, found.line);
  put_cut_text(sink, found.function, TRACE_PLACE_MOST);
  put_cut_text(sink, found.file, TRACE_PLACE_MOST);
  if (found.first_column || found.last_column || found.address) {
    put_varint(sink, found.first_column);
    put_varint(sink, found.last_column);
  }
  if (found.address) {
    put_varint(sink, found.address);
    put_varint(sink, found.since_ns);
  }
  put_record_end(sink, body);
}

static void stack_encoder_put_frame(struct stack_encoder *encoder, struct byte_sink *sink,
                                    const struct coded_frame *frame, uint32_t *module) {
  bool changes = frame->module != *module;
  put_tagged(sink, changes, zigzag(frame->offset - encoder->last_offset[frame->module]));
  if (changes) put_varint(sink, frame->module);
  encoder->last_offset[frame->module] = frame->offset;
  *module = frame->module;
}

/* Looks a stack's frames up from `from` on, and defines the modules and names that they need. */
static void define_frames(struct stack_encoder *encoder, struct byte_sink *sink, struct trace_stack stack,
                          uint32_t from) {
  const struct trace_stack_source *source = encoder->source;
  uint32_t before = UINT32_MAX; /* the module of the frame before */
  for (uint32_t i = from; i < stack.count && !sink->full; i++) {
    struct coded_frame *coded = &encoder->coded[i];
    uint32_t module;
    source->frame(source->context, stack.frame[i], &module, &coded->offset);
    coded->module = module == before ? coded[-1].module : module_encode(encoder, sink, module);
    before = module;
    define_place(encoder, sink, module, coded->module, coded->offset);
  }
}

/* ---- the last stacks ---- */

/* How many outermost frames two stacks have in common. */
static uint32_t common(const struct last_stack *last, struct trace_stack stack) {
  enum { STRIDE = 16 };
  uint32_t most = last->count < stack.count ? last->count : stack.count, i = 0;
  while (i + STRIDE <= most && !memcmp(&last->frame[i], &stack.frame[i], STRIDE * sizeof *stack.frame))
    i += STRIDE;
  while (i < most && last->frame[i] == stack.frame[i]) i++;
  return i;
}

/* The last stack that this one follows longest, and for how many frames. */
static struct last_stack *nearest(struct stack_encoder *encoder, struct trace_stack stack, uint32_t *frames) {
  struct last_stack *best = &encoder->last[0];
  *frames = common(best, stack);
  for (unsigned i = 1; i < LAST_STACKS && *frames < stack.count; i++) {
    const struct last_stack *last = &encoder->last[i];
    if (last->count <= *frames || last->frame[*frames] != stack.frame[*frames]) continue; /* not longer */
    uint32_t here = common(last, stack);
    if (here <= *frames) continue;
    best = &encoder->last[i];
    *frames = here;
  }
  return best;
}

/* Where a new stack goes that leaves `near` after so many frames: over the rest of it, or, if that
 * is long, over the oldest stack. */
static struct last_stack *stack_encoder_make_room(struct stack_encoder *encoder, struct last_stack *near,
                                                  uint32_t frames) {
  if (near->count - frames < LEFT_FRAMES) return near;
  struct last_stack *room = &encoder->last[encoder->oldest];
  encoder->oldest = (encoder->oldest + 1) % LAST_STACKS;
  if (room == near) return near;
  memcpy(room->frame, near->frame, frames * sizeof *near->frame);
  memcpy(room->local, near->local, frames * sizeof *near->local);
  return room;
}

static bool stack_encoder_is_known(const struct stack_encoder *encoder, const struct known_stack *known) {
  return known->generation == encoder->nodes.generation;
}

/* The slot that has the hash, or the one where it is to stand: a free one, or the oldest. */
static struct known_stack *known_slot(struct stack_encoder *encoder, uint64_t hash) {
  struct known_stack *ways = &encoder->known[hash % (KNOWN_STACKS / KNOWN_WAYS) * KNOWN_WAYS], *oldest = ways;
  for (struct known_stack *known = ways; known < ways + KNOWN_WAYS; known++) {
    if (!stack_encoder_is_known(encoder, known) || known->hash == hash) return known;
    if (known->local < oldest->local) oldest = known;
  }
  return oldest;
}

/* Defines the nodes of a stack that leaves `near` after `from` frames. */
static uint32_t define_stack(struct stack_encoder *encoder, struct byte_sink *sink, struct trace_stack stack,
                             struct last_stack *near, uint32_t from) {
  uint32_t module = 0;
  encoder->changed = true;
  if (encoder->nodes.count + (stack.count - from) > NODES_MOST) sink->full = true;
  define_frames(encoder, sink, stack, from);
  if (sink->full) return 0;
  struct last_stack *last = stack_encoder_make_room(encoder, near, from);
  put_byte(sink, TRACE_RECORD_STACK);
  put_varint(sink, from ? last->local[from - 1] : 0);
  put_varint(sink, stack.count - from);
  for (uint32_t i = from; i < stack.count; i++) {
    stack_encoder_put_frame(encoder, sink, &encoder->coded[i], &module);
    last->frame[i] = stack.frame[i];
    last->local[i] = ++encoder->nodes.count;
  }
  last->count = stack.count;
  return encoder->nodes.count;
}

/* ---- shared ---- */

void stack_encoder_reset(struct stack_encoder *encoder) {
  encoder->kept = (struct stack_marks){0};
  stack_encoder_go_back(encoder);
}

void stack_encoder_pass_checkpoint(struct stack_encoder *encoder) {
  stack_encoder_forget(&encoder->modules, encoder->module_slots, MODULE_SLOTS);
  stack_encoder_forget(&encoder->places, encoder->place_slots, PLACE_SLOTS);
  encoder->places.count = 0; /* no number is given to them */
}

void stack_encoder_keep(struct stack_encoder *encoder) {
  encoder->kept = (struct stack_marks){
      .nodes = encoder->nodes.count, .modules = encoder->modules.count, .address = encoder->last_offset[0]};
  encoder->changed = false;
}

void stack_encoder_go_back(struct stack_encoder *encoder) {
  for (unsigned i = 0; i < LAST_STACKS; i++) encoder->last[i].count = 0;
  forget_known(encoder);
  stack_encoder_pass_checkpoint(encoder);
  encoder->nodes.count = encoder->kept.nodes;
  encoder->modules.count = encoder->kept.modules;
  encoder->last_offset[0] = encoder->kept.address;
  encoder->changed = false;
}

uint32_t stack_encode(struct stack_encoder *encoder, struct byte_sink *sink, struct trace_stack stack) {
  if (stack.count > STACK_FRAMES_MOST) {
    stack.frame += stack.count - STACK_FRAMES_MOST;
    stack.count = STACK_FRAMES_MOST;
  }
  if (!stack.count) return 0;
  uint32_t frames;
  struct last_stack *near = nearest(encoder, stack, &frames);
  if (frames == stack.count) return near->local[frames - 1];
  uint64_t hash = hash_words(stack.frame, stack.count);
  struct known_stack *known = known_slot(encoder, hash);
  if (known->hash == hash && stack_encoder_is_known(encoder, known)) return known->local;
  uint32_t local = define_stack(encoder, sink, stack, near, frames);
  if (local)
    *known =
        (struct known_stack){.hash = hash, .local = (uint16_t)local, .generation = encoder->nodes.generation};
  return local;
}

uint32_t module_encode(struct stack_encoder *encoder, struct byte_sink *sink, uint32_t module) {
  if (!module) return 0;
  struct dictionary_slot *slot =
      stack_encoder_find(&encoder->modules, encoder->module_slots, MODULE_SLOTS - 1, module);
  uint32_t local = local_of(&encoder->modules, slot);
  if (local) return local;
  if (encoder->modules.count == MODULES_MOST) {
    sink->full = true;
    return 0;
  }
  encoder->changed = true;
  local = stack_encoder_insert(&encoder->modules, slot, module);
  encoder->last_offset[local] = 0;
  stack_encoder_define_module(sink, encoder->source, module);
  return local;
}
/* SPDX-License-Identifier: MIT */
