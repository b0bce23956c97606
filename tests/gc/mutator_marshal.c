/* The operation of the random program that marshals: it writes what a root leads to, in one of the
 * ways that there are, and reads it back in another, as more blocks of its domain.
 *
 * A *picture* is the model's part that the message must show: it is taken where the walk of the
 * writer begins, with no safepoint between, so other threads of the domain may change the original
 * afterwards. The copy belongs to this thread alone until it is kept. Its blocks carry the
 * identities of the originals, and so have the same bytes; the custom blocks among them are given
 * their nodes before the next safepoint. */
#include "gc/mutator_parts.h"

#include <stdlib.h>
#include <string.h>
#include <winnow/marshal.h>

/* Larger graphs are left alone. */
enum { BLOCKS_MOST = 300, WORDS_MOST = 1 << 17 };

/* OCaml's tags that mean something to a message. */
enum { TAG_CLOSURE = 247, TAG_OBJECT = 248, TAG_INFIX = 249 };

/* A block of the copy. */
struct drawn {
  const struct node *original;
  struct drawn *to[TRACKED]; /* NULL: the integer */
  intptr_t numbers[TRACKED];
  wn_value address;
  struct node *node;
};

struct picture {
  bool keeps_sharing; /* else it is a tree: a block is drawn each time that it is met */
  bool has_bytes;     /* raw blocks with words */
  bool has_strings;   /* which end as strings of OCaml's layout do, by chance */
  size_t count, words;
  struct drawn *atoms[256]; /* the block without words of each tag: a message knows one */
  struct drawn blocks[BLOCKS_MOST];
};

/* ---- custom blocks ---- */

/* Of some blocks the message has some words, of the others the identity alone. */
static size_t words_written(uint64_t id, size_t words) { return id % 2 ? words / 16 : 0; }

static bool write_node(const void *bytes, size_t size, wn_marshal_writer *to) {
  const struct node *node = *(struct node *const *)bytes;
  if (!node) return false; /* of a message that was wrong */
  if (size != 8 * node->words) broken("a custom block is written as %zu bytes", size);
  wn_marshal_put(to, node->id, 8);
  size_t words = words_written(node->id, node->words);
  wn_marshal_put_bytes(to, (const wn_value *)bytes + node->words - words, 8 * words);
  return true;
}

static bool read_node(void *bytes, size_t size, wn_marshal_reader *from) {
  if (!size || size % 8) return false;
  wn_value *at = bytes;
  uint64_t id = wn_marshal_get(from, 8);
  for (size_t i = 0, words = size / 8; i < words; i++) {
    if (at[i]) broken("a new custom block has bytes");
    if (i) at[i] = pattern(id, i);
  }
  for (size_t words = size / 8, left = words_written(id, words); left; left--) {
    wn_value word;
    if (!wn_marshal_get_bytes(from, &word, 8) || word != at[words - left]) return false;
  }
  wn_marshal_external(from, mix(id, 12) % (mix(id, 11) % 4 ? 1000 : 200000));
  return true;
}

static const wn_marshal_ops marshal_ops = {.write = write_node, .read = read_node};

/* ---- pictures ---- */

static struct drawn *find(const struct picture *picture, const struct actor *actor, const struct node *node) {
  if (!node->words) return picture->atoms[node->tag];
  bool known = picture->keeps_sharing && node->seen == actor->epoch;
  return known ? (struct drawn *)node->address : NULL;
}

static void note_bytes(struct picture *picture, uint64_t id, size_t words) {
  picture->has_bytes = true;
  picture->has_strings |= pattern(id, words - 1) >> 56 < 8;
}

static void note_raw_blocks(struct picture *picture, const struct node *node) {
  if (node->kind == NODE_RAW && node->words) note_bytes(picture, node->id, node->words);
  if (node->kind != NODE_MESSAGE) return;
  uint64_t id = node->id;
  for (int depth = MESSAGE_DEPTH;; depth--, id = mix(id, 8)) {
    if (mix(id, 9) % 2) note_bytes(picture, id, mix(id, 10) % 9 + 1);
    if (!depth || mix(id, 7) % 4 == 0) return;
  }
}

/* NULL: the graph is too large. */
static struct drawn *draw_node(struct picture *picture, const struct actor *actor, struct node *node) {
  struct drawn *drawn = find(picture, actor, node);
  if (drawn) return drawn;
  picture->words += node->words;
  if (picture->count == BLOCKS_MOST || picture->words > WORDS_MOST) return NULL;
  drawn = &picture->blocks[picture->count++];
  drawn->original = node;
  if (!node->words) picture->atoms[node->tag] = drawn;
  node->seen = actor->epoch;
  node->address = (wn_value)drawn;
  note_raw_blocks(picture, node);
  return drawn;
}

static bool draw_graph(struct picture *picture, struct actor *actor, struct node *root) {
  actor->epoch++;
  if (!draw_node(picture, actor, root)) return false;
  for (size_t i = 0; i < picture->count; i++) {
    struct drawn *from = &picture->blocks[i];
    for (size_t j = 0; j < from->original->tracked; j++) {
      struct node *to = from->original->fields[j].to;
      from->numbers[j] = from->original->fields[j].number;
      if (to && !(from->to[j] = draw_node(picture, actor, to))) return false;
    }
  }
  return true;
}

/* ---- what cannot be written ---- */

static bool has_31_bits(intptr_t n) { return n >= -(1 << 30) && n < 1 << 30; }

static bool is_scanned_written(const struct drawn *drawn, unsigned flags) {
  const struct node *node = drawn->original;
  if (node->tag == TAG_CLOSURE || node->tag == TAG_INFIX || (node->tag == TAG_OBJECT && node->words < 2))
    return false;
  for (size_t i = 0; flags & WN_MARSHAL_COMPAT_32 && i < node->tracked; i++)
    if (!drawn->to[i] && !has_31_bits(drawn->numbers[i])) return false;
  return true;
}

/* The message has a code, the name, two sizes, the identity and words for the block. */
static bool is_custom_written(const struct node *node) {
  size_t bytes = 1 + sizeof "node" + 12 + 8 + 8 * words_written(node->id, node->words);
  return 8 * node->words + 16 <= 24 * bytes;
}

static bool is_written(const struct drawn *drawn, unsigned flags) {
  const struct node *node = drawn->original;
  bool is_short = flags & WN_MARSHAL_COMPAT_32;
  switch (node->kind) {
  case NODE_SCANNED: return is_scanned_written(drawn, flags);
  case NODE_RAW: return true;
  case NODE_MIXED: return false;
  case NODE_CUSTOM: return is_custom_written(node);
  case NODE_MESSAGE: return !is_short || has_31_bits(wn_to_int(wn_int((intptr_t)(node->id >> 1))));
  }
  return false;
}

static bool is_all_written(const struct picture *picture, unsigned flags) {
  if (picture->has_bytes && flags & WN_MARSHAL_OCAML_STRINGS) return false;
  for (size_t i = 0; i < picture->count; i++)
    if (!is_written(&picture->blocks[i], flags)) return false;
  return true;
}

/* ---- ways there and back ---- */

struct message {
  uint8_t *bytes;
  size_t size, at; /* `at`: what was read */
  bool refuses;    /* the sink takes nothing */
};

enum way { WAY_MEMORY, WAY_FILE, WAY_FUNCTION, WAYS };

static enum way any_way(struct worker *worker) { return (enum way)below(worker, WAYS); }

static wn_status take_bytes(const void *bytes, size_t size, void *context) {
  struct message *message = context;
  if (message->refuses) return WN_EIO;
  message->bytes = realloc(message->bytes, message->size + size);
  if (!message->bytes) broken("no memory for the model");
  memcpy(message->bytes + message->size, bytes, size);
  message->size += size;
  return WN_OK;
}

/* Some of the bytes that are wanted. */
static size_t give_bytes(void *bytes, size_t size, void *context) {
  struct message *message = context;
  size_t left = message->size - message->at, n = 1 + mix(message->at, size) % size;
  if (n > left) n = left;
  memcpy(bytes, message->bytes + message->at, n);
  message->at += n;
  return n;
}

static wn_status write_message(struct worker *worker, wn_ref value, unsigned flags, enum way way,
                               struct message *message) {
  wn_domain *domain = worker->actor->domain;
  if (way == WAY_MEMORY) {
    void *bytes = NULL;
    wn_status status = wn_marshal_write(domain, value, flags, &bytes, &message->size);
    message->bytes = bytes;
    return status;
  }
  if (way == WAY_FUNCTION) return wn_marshal_write_to(domain, value, flags, take_bytes, message);
  FILE *file = open_memstream((char **)&message->bytes, &message->size);
  if (!file) broken("no memory for the model");
  wn_status status = wn_marshal_write_file(domain, value, flags, file);
  fclose(file);
  return status;
}

static wn_status read_file(wn_domain *domain, struct message *message, unsigned flags, wn_ref *value) {
  FILE *file = fmemopen(message->bytes, message->size, "r");
  if (!file) broken("no memory for the model");
  wn_status status = wn_marshal_read_file(domain, file, flags, value);
  message->at = (size_t)ftell(file);
  fclose(file);
  return status;
}

static wn_status read_once(wn_domain *domain, struct message *message, unsigned flags, enum way way,
                           wn_ref *value) {
  message->at = 0;
  switch (way) {
  case WAY_FILE: return read_file(domain, message, flags, value);
  case WAY_FUNCTION: return wn_marshal_read_from(domain, give_bytes, message, flags, value);
  default: return wn_marshal_read(domain, message->bytes, message->size, flags, value, &message->at);
  }
}

static wn_status read_message(struct worker *worker, struct message *message, unsigned flags, enum way way,
                              wn_ref *value) {
  wn_status status = read_once(worker->actor->domain, message, flags, way, value);
  if (status == WN_ENOMEM && is_stress())
    status = read_once(worker->actor->domain, message, flags, way, value);
  return status;
}

/* ---- comparing ---- */

static void make_nodes(struct picture *picture, struct actor *actor) {
  for (size_t i = 0; i < picture->count; i++) {
    const struct node *original = picture->blocks[i].original;
    struct node *node = node_new(actor, original->kind, original->words, original->tag);
    node->id = original->id;
    node->tracked = original->tracked;
    for (size_t j = 0; j < node->tracked; j++) node->fields[j].at = original->fields[j].at;
    picture->blocks[i].node = node;
  }
}

/* The place of the picture is this block, and no other. */
static void meet(struct drawn *drawn, wn_value value) {
  if (wn_is_int(value)) broken("the copy of block %llu is an integer", (unsigned long long)drawn->node->id);
  if (drawn->address && drawn->address != value)
    broken("block %llu has two copies", (unsigned long long)drawn->node->id);
  drawn->address = value;
}

static void give_node(struct node *node, wn_value block) {
  struct node **first = (struct node **)block + 2;
  if (wn_tag(block) != WN_TAG_CUSTOM || *first)
    broken("the copy of custom block %llu is none", (unsigned long long)node->id);
  *first = node;
}

static void match_block(struct drawn *drawn) {
  struct node *node = drawn->node;
  if (node->kind == NODE_CUSTOM) give_node(node, drawn->address);
  node_check_block(node, drawn->address);
  for (size_t i = 0; i < node->tracked; i++) {
    size_t at = node->fields[i].at;
    wn_value field = ((const wn_value *)drawn->address)[at];
    node->fields[i].number = drawn->numbers[i];
    if (drawn->to[i]) {
      meet(drawn->to[i], field);
      node->fields[i].to = drawn->to[i]->node;
    } else if (field != wn_int(drawn->numbers[i])) {
      broken("field %zu of a copy of block %llu has another integer", at, (unsigned long long)node->id);
    }
  }
}

/* But for messages, each of which may have several nodes. */
static void check_distinct(const struct picture *picture) {
  for (size_t i = 0; i < picture->count; i++)
    for (size_t j = 0; j < i && picture->blocks[i].node->kind != NODE_MESSAGE; j++)
      if (picture->blocks[i].address == picture->blocks[j].address)
        broken("blocks %llu and %llu have one copy", (unsigned long long)picture->blocks[i].node->id,
               (unsigned long long)picture->blocks[j].node->id);
}

/* A block is met before its turn comes, because it was drawn when one before it was looked at. */
static void match(struct picture *picture, struct actor *actor, wn_value root) {
  make_nodes(picture, actor);
  meet(&picture->blocks[0], root);
  for (size_t i = 0; i < picture->count; i++) match_block(&picture->blocks[i]);
  check_distinct(picture);
}

/* ---- reading ---- */

/* Other bytes after the message must be left alone. */
static void read_copy(struct worker *worker, struct picture *picture, struct message *message,
                      unsigned flags) {
  wn_domain *domain = worker->actor->domain;
  size_t size = message->size;
  wn_ref copy;
  if (draw(worker) % 2) take_bytes("more", 1 + below(worker, 4), message);
  wn_scope scope = wn_scope_enter(domain);
  check_status(read_message(worker, message, flags, any_way(worker), &copy), "reading a message");
  if (message->at != size) broken("%zu bytes were read of a message of %zu", message->at, size);
  match(picture, worker->actor, wn_value_of(copy));
  keep(worker, &scope, copy, picture->blocks[0].node);
}

/* A value that a wrong message meant can be written, unless it has custom blocks, or what raw
 * blocks alone have. */
static void check_value(wn_domain *domain, wn_ref value, unsigned flags) {
  void *bytes;
  size_t size;
  wn_status status = wn_marshal_write(domain, value, flags & WN_MARSHAL_OCAML_STRINGS, &bytes, &size);
  if (status && status != WN_EINVAL) check_status(status, "writing what was read");
  if (!status) free(bytes);
}

static struct message spoil(struct worker *worker, const struct message *message, bool cut) {
  struct message wrong = {.size = cut ? below(worker, message->size) : message->size};
  wrong.bytes = malloc(wrong.size ? wrong.size : 1);
  if (!wrong.bytes) broken("no memory for the model");
  memcpy(wrong.bytes, message->bytes, wrong.size);
  for (size_t n = cut ? 0 : 1 + below(worker, 3); n; n--)
    wrong.bytes[below(worker, wrong.size)] ^= (uint8_t)(1 + below(worker, 255));
  return wrong;
}

static void read_wrong(struct worker *worker, const struct message *message, unsigned flags) {
  wn_domain *domain = worker->actor->domain;
  bool cut = draw(worker) % 2;
  struct message wrong = spoil(worker, message, cut);
  enum way way = any_way(worker);
  WN_SCOPE(domain);
  wn_ref value;
  wn_status status = read_message(worker, &wrong, flags, way, &value);
  wn_status expected = wrong.size || way == WAY_MEMORY ? WN_EFORMAT : WN_EIO;
  if (status != expected && (cut || status)) broken("a wrong message gave %d: %s", status, wn_last_error());
  if (!status) check_value(domain, value, flags);
  check_status(wn_gc_verify(domain, stderr), "wn_gc_verify after a wrong message");
  free(wrong.bytes);
}

/* ---- the operation ---- */

/* One that leads to more than itself, unless chance finds none. */
static struct root *root_with_fields(struct worker *worker) {
  struct root *root = any_root(worker);
  for (int i = 0; i < 4 && root && !(root->node && root->node->tracked); i++) root = any_root(worker);
  return root;
}

static unsigned any_flags(struct worker *worker) {
  return (draw(worker) % 3 ? 0 : WN_MARSHAL_NO_SHARING) | (draw(worker) % 8 ? 0 : WN_MARSHAL_COMPAT_32) |
         (draw(worker) % 8 ? 0 : WN_MARSHAL_OCAML_STRINGS);
}

static void check_written(wn_status status, bool refused, bool sink_refused) {
  wn_status expected = refused ? WN_EINVAL : sink_refused ? WN_EIO : WN_OK;
  if (status != expected) broken("writing gave %d, and not %d: %s", status, expected, wn_last_error());
}

static void there_and_back(struct worker *worker, const struct root *root, struct picture *picture,
                           unsigned flags) {
  enum way way = any_way(worker);
  struct message message = {.refuses = way == WAY_FUNCTION && draw(worker) % 16 == 0};
  wn_status status = write_message(worker, root->ref, flags, way, &message);
  check_written(status, !is_all_written(picture, flags), message.refuses);
  message.refuses = false;
  if (!status && draw(worker) % 4 == 0) read_wrong(worker, &message, flags);
  if (!status) read_copy(worker, picture, &message, flags);
  free(message.bytes);
}

/* ---- shared ---- */

void marshal_begin(struct world *world) {
  check_status(wn_marshal_register(world->heap, &node_ops, &marshal_ops), "wn_marshal_register");
}

void use_marshal(struct worker *worker) {
  struct root *root = root_with_fields(worker);
  if (!root || !root->node) return;
  unsigned flags = any_flags(worker);
  struct picture *picture = calloc(1, sizeof *picture);
  if (!picture) broken("no memory for the model");
  picture->keeps_sharing = !(flags & WN_MARSHAL_NO_SHARING);
  bool drawn = draw_graph(picture, worker->actor, root->node);
  /* The bytes behind a string's end would be lost. */
  if (picture->has_strings) flags &= ~(unsigned)WN_MARSHAL_OCAML_STRINGS;
  if (drawn && no_fork_try()) {
    there_and_back(worker, root, picture, flags);
    no_fork_end();
  }
  free(picture);
}
/* SPDX-License-Identifier: MIT */
