/* A snapshot as an hprof file, JAVA PROFILE 1.0.2, which VisualVM and Eclipse MAT load.
 *
 * The file is a header and records, big-endian: the strings, the classes by their names, and then
 * segments of less than 4 GiB, one directly behind the other, with the roots, what the classes are,
 * and the objects. An id is the number of an object or of a string; 0 is null. Garbage is left out,
 * and weak edges are none.
 *
 * SIZES. The tools compute the size of an object from its record, and ids of 4 bytes are what makes
 * that come out: an object has a header of 8 bytes, as a block has, and a reference 4, so there is
 * room in the words of a block for a reference of each word and for what else it leads to. An array
 * has a header of 12 bytes. Sizes are rounded up to 8.
 *
 * OBJECTS. A block is an instance of a class, or an array of references. The class has the name of
 * the block's type with what the language says of the block. A class has as many fields as its blocks
 * have words, which are references, null where there is no pointer; and fields "(rest)", which fill
 * the size. An array of n words has 2 n - 1 elements, of which the first n are the words. A block is
 * an instance if all blocks of its type have as many words, if the type's fields have names, or if
 * the language describes the block; but an array if it has more than FIELDS_MOST words. Blocks of
 * one name that have other numbers of words are of a class of their own, "pair (3 words)". If there
 * are more than CLASSES_MOST, descriptions are left out.
 *
 * A block of more than LONG_WORDS, or of a wrong file, is an array of its pointers alone, in their
 * order, and its other bytes are bytes outside.
 *
 * BELOW A BLOCK. What a custom block has outside is an array of bytes, or several in an array of
 * objects where there are more than PART_BYTES. The data of an ephemeron are below the condition
 * that was met last (EPHEMERONS of retention/graph.h); in an array of objects if there are several.
 * Both are fields behind the others, or elements.
 *
 * HOLDERS are instances or arrays, too, and the roots: JNI globals, which the tools explain best.
 *
 * WHAT DIFFERS. A holder has a size, which 0 bytes are in a snapshot. What is outside has a multiple
 * of 8 bytes, and 16 at least. Arrays of several data, or of parts, are added; and a word to the
 * blocks of a class that has no word for what is below one of them.
 *
 * What the tools demand: strings come before their use; VisualVM asks for java.lang.ref.Reference
 * and what is derived from it, and takes the size of a header from java.lang.Object; a name that
 * looks like that of an array is that of an array, so other such names are put in parentheses. */
#include "analysis/load/strings.h"
#include "base/array.h"
#include "base/error.h"
#include "cli/heap/heap_text.h"
#include <stdio.h>
#include <string.h>

enum {
  ID_BYTES = 4,
  HEADER_BYTES = 8,
  ARRAY_BYTES = 12,
  FIELDS_MOST = 64,
  CLASSES_MOST = 20000,
  LONG_WORDS = 1 << 24,
  REFERENCES_MOST = 1 << 29, /* of a block, or to its data */
  PART_BYTES = 1 << 30,
  PARTS_MOST = 1 << 17, /* of a block: 128 TiB, all addresses of a process */
  SEGMENT_FULL = 1 << 30,
  HOLE_BYTES = 1 << 16, /* as many zeros are a hole in the file */
};

enum { RECORD_STRING = 1, RECORD_CLASS = 2, RECORD_SEGMENT = 0x1c, RECORD_END = 0x2c };
enum { ITEM_ROOT = 1, ITEM_CLASS = 0x20, ITEM_INSTANCE, ITEM_OBJECTS, ITEM_PRIMITIVES };
enum { TYPE_OBJECT = 2, TYPE_BYTE = 8, TYPE_INT = 10, TYPE_LONG = 11 };

/* Classes that are always there: their numbers, which are their ids, too. */
enum { CLASS_OBJECT = 1, CLASS_REFERENCE = 4, CLASS_BYTES = 9, CLASS_OBJECTS };
static const char *const fixed[] = {
    "java/lang/Object",
    "java/lang/Class",
    "java/lang/ClassLoader",
    "java/lang/ref/Reference",
    "java/lang/ref/SoftReference",
    "java/lang/ref/WeakReference",
    "java/lang/ref/FinalReference",
    "java/lang/ref/PhantomReference",
    "[B",
    "[Ljava/lang/Object;",
};
enum { CLASSES_FIXED = sizeof fixed / sizeof *fixed };

/* What a node is to be. `in_order`: its references are its edges in their order, whose fields are not
 * its elements. */
struct shape {
  uint64_t fields, words, data, outside; /* data: how many; outside: bytes */
  bool is_array, in_order;
};

struct class {
  uint32_t type; /* whose fields have names; 0: they have none */
  uint32_t fields, words;
  bool is_array, has_data, has_outside;
};

struct type_facts {
  uint64_t words; /* of one block, + 1; 0: there is none yet */
  bool varied, named;
};

struct writing {
  const struct graph *graph;
  FILE *out;
  struct strings *class_names, *field_names;
  struct class *classes; /* by their number, that of the name */
  size_t class_count, class_capacity;
  uint32_t *class_of;       /* by node */
  struct type_facts *types; /* the last one: of all types that the snapshot does not name */
  uint64_t at;              /* bytes written */
  uint64_t segment;         /* where the open one has its first item; 0: none is open */
  uint64_t below;           /* how many objects are below blocks */
  uint32_t next;            /* the next id of these */
  wn_status status;
};

static void hprof_refuse(struct writing *of, const char *what) {
  if (!of->status) of->status = error_set(WN_EIO, "%s than an hprof file can have", what);
}

static uint32_t hprof_intern(struct writing *of, struct strings *strings, const char *text) {
  uint32_t number = strings_intern(strings, text);
  if (!number && *text) of->status = error_set(WN_ENOMEM, "no memory for its names");
  return number;
}

/* ---- what a node is ---- */

static struct type_facts *facts_of(const struct writing *of, uint32_t node) {
  uint32_t type = graph_type(of->graph, node);
  return &of->types[type < of->graph->type_count ? type : of->graph->type_count];
}

static void find_types(struct writing *of) {
  const struct graph *graph = of->graph;
  for (size_t i = 0; i < graph->field_count; i++)
    if (graph->fields[i].type < graph->type_count) of->types[graph->fields[i].type].named = true;
  for (uint32_t i = 0; i < graph->reached; i++) {
    if (graph->order[i] < graph->first_block) continue;
    struct type_facts *facts = facts_of(of, graph->order[i]);
    uint64_t words = graph_words(graph, graph->order[i]);
    if (!facts->words) facts->words = words + 1;
    facts->varied |= facts->words != words + 1;
  }
}

static uint64_t up_to_8(uint64_t bytes) { return (bytes + 7) & ~(uint64_t)7; }

static uint64_t elements_of(const struct shape *shape) {
  uint64_t least = shape->fields + (shape->data != 0) + (shape->outside != 0);
  return shape->words && 2 * shape->words - 1 > least ? 2 * shape->words - 1 : least;
}

/* `in_order`: the edges are not of words of the block in ascending order, as in each file that is right.
 * The words of a holder are as many as its references need; so it is never `outside`. */
static struct shape shape_of(const struct writing *of, uint32_t node) {
  const struct graph *graph = of->graph;
  struct shape shape = {0};
  uint64_t words = graph_words(graph, node), next = 0; /* next: the lowest field that can come */
  bool ascend = true;
  for (struct edge_walk edge = graph_edges(graph, node); edge_next(&edge);) {
    if (edge.field == FIELD_DATA) {
      shape.data++; /* behind all others */
      continue;
    }
    ascend &= edge.field >= next && edge.field < words;
    next = (uint64_t)edge.field + 1;
    shape.fields++;
  }
  if (node < graph->first_block) {
    shape.words = (shape.fields + 1) / 2;
    shape.in_order = true;
    shape.is_array = shape.fields > FIELDS_MOST;
    return shape;
  }
  shape.in_order = words > LONG_WORDS || !ascend;
  if (shape.in_order) {
    shape.is_array = true;
    shape.outside = 1; /* so that its place counts */
    uint64_t own = up_to_8(ARRAY_BYTES + ID_BYTES * elements_of(&shape));
    shape.outside = graph_bytes(graph, node) > own ? graph_bytes(graph, node) - own : 0;
    return shape;
  }
  const struct type_facts *facts = facts_of(of, node);
  shape.fields = shape.words = words;
  shape.outside = graph_outside(graph, node);
  shape.is_array =
      words > FIELDS_MOST || (words && facts->varied && !facts->named && !graph_description(graph, node));
  return shape;
}

/* ---- classes ---- */

static bool ends_as_array(const char *name) {
  size_t length = strlen(name);
  return length >= 2 && !strcmp(name + length - 2, "[]");
}

/* The class of this name, which is made if there is none. */
static uint32_t class_named(struct writing *of, const char *name, struct class made) {
  uint32_t number = hprof_intern(of, of->class_names, name);
  if (number == of->class_count && !ARRAY_ADD(of->classes, of->class_count, of->class_capacity, made))
    of->status = error_set(WN_ENOMEM, "no memory for its names");
  return of->status ? 0 : number;
}

static uint32_t find_class(struct writing *of, uint32_t node, const struct shape *shape) {
  const struct graph *graph = of->graph;
  char name[NAME_MOST], shown[NAME_MOST + 8], own[NAME_MOST + 64];
  uint32_t type = graph_type(graph, node);
  if (node < graph->first_block)
    holder_name(graph, node, name);
  else if (of->class_count < CLASSES_MOST)
    block_name(graph, node, name);
  else
    snprintf(name, sizeof name, "%s", graph_type_name(graph, type));
  struct class made = {type, (uint32_t)shape->fields, (uint32_t)shape->words, shape->is_array, false, false};
  const char *format = shape->is_array ? "[L%s;" : *name == '[' || ends_as_array(name) ? "(%s)" : "%s";
  snprintf(shown, sizeof shown, format, *name ? name : "(unknown)");
  uint32_t number = class_named(of, shown, made);
  const struct class *found = &of->classes[number];
  if (of->status || shape->is_array || (found->fields == made.fields && found->words == made.words))
    return number;
  snprintf(own, sizeof own, "%s (%u word%s)", shown, made.words, made.words == 1 ? "" : "s");
  return class_named(of, own, made);
}

/* Of what a block has outside. */
static uint64_t parts_of(const struct shape *shape) { return (shape->outside + PART_BYTES - 1) / PART_BYTES; }

static void classify(struct writing *of, uint32_t node) {
  struct shape shape = shape_of(of, node);
  uint64_t parts = parts_of(&shape);
  uint32_t number = of->class_of[node] = find_class(of, node, &shape);
  if (of->status) return;
  if (shape.fields > REFERENCES_MOST || shape.data > REFERENCES_MOST)
    hprof_refuse(of, "a block has more references");
  if (parts > PARTS_MOST) hprof_refuse(of, "a block has more memory outside the heap");
  of->below += (shape.data > 1) + parts + (parts > 1);
  of->classes[number].has_data |= shape.data != 0;
  of->classes[number].has_outside |= shape.outside != 0;
}

static void find_classes(struct writing *of) {
  class_named(of, "", (struct class){0}); /* so that the others begin with 1 */
  for (size_t i = 0; i < CLASSES_FIXED; i++)
    class_named(of, fixed[i], (struct class){.is_array = *fixed[i] == '['});
  for (uint32_t i = 0; i < of->graph->reached && !of->status; i++)
    if (of->graph->order[i] != NODE_ALL) classify(of, of->graph->order[i]);
  if (of->class_count + of->graph->node_count + of->below > UINT32_MAX)
    hprof_refuse(of, "it has more objects");
}

static uint32_t references_of(const struct class *class) {
  return class->fields + class->has_data + class->has_outside;
}

/* What an instance has besides its header. */
static uint64_t hprof_body_of(const struct class *class) {
  uint64_t references = up_to_8(ID_BYTES * (uint64_t)references_of(class)),
           words = 8 * (uint64_t) class->words;
  return references > words ? references : words;
}

/* ---- bytes ---- */

static void hprof_put(struct writing *of, uint64_t number, int bytes) {
  for (int i = bytes; i--;) putc_unlocked((int)(number >> 8 * i & 0xff), of->out);
  of->at += (uint64_t)bytes;
}

static void put_id(struct writing *of, uint64_t id) { hprof_put(of, id, ID_BYTES); }

/* The end of the file never is a hole, for a record follows. A hole that would end behind the
 * largest offset of a file is written, which makes an error of the stream. */
static void put_zeros(struct writing *of, uint64_t count) {
  static const char zeros[4096];
  of->at += count;
  if (count >= HOLE_BYTES && !fseeko(of->out, (off_t)count, SEEK_CUR)) return;
  for (size_t now; count && !ferror(of->out); count -= now) {
    now = count < sizeof zeros ? (size_t)count : sizeof zeros;
    fwrite(zeros, 1, now, of->out);
  }
}

static void put_record(struct writing *of, int kind, uint64_t bytes) {
  hprof_put(of, (uint64_t)kind, 1);
  hprof_put(of, 0, 4); /* microseconds */
  hprof_put(of, bytes, 4);
}

static void hprof_put_string(struct writing *of, uint64_t id, const char *text) {
  size_t length = strlen(text);
  put_record(of, RECORD_STRING, ID_BYTES + length);
  put_id(of, id);
  fwrite(text, 1, length, of->out);
  of->at += length;
}

/* Writes how long the open segment is. What fails is an error of the stream, too. Does nothing if
 * the stream has an error: errno says which. */
static void hprof_end_segment(struct writing *of) {
  uint64_t bytes = of->at - of->segment;
  if (!of->segment || ferror(of->out)) return;
  fseeko(of->out, (off_t)of->segment - 4, SEEK_SET);
  hprof_put(of, bytes, 4);
  of->at -= 4;
  fseeko(of->out, (off_t)of->at, SEEK_SET);
  of->segment = 0;
}

static void put_item(struct writing *of, int kind) {
  if (of->segment && of->at - of->segment > SEGMENT_FULL) hprof_end_segment(of);
  if (!of->segment) put_record(of, RECORD_SEGMENT, 0), of->segment = of->at;
  hprof_put(of, (uint64_t)kind, 1);
}

/* ---- strings and classes ---- */

static const char *field_name(const struct writing *of, const struct class *class, uint32_t field,
                              char number[16]) {
  const char *name = class->type ? graph_field_name(of->graph, class->type, field) : NULL;
  snprintf(number, 16, "%u", field);
  return name && *name ? name : number;
}

/* Ids of strings: those of the classes' names are their numbers. */
static uint64_t field_id(struct writing *of, const char *name) {
  return of->class_count + hprof_intern(of, of->field_names, name);
}

static void put_field(struct writing *of, const char *name, int type) {
  put_id(of, field_id(of, name));
  hprof_put(of, (uint64_t)type, 1);
}

static const char data_name[] = "data of an ephemeron", outside_name[] = "memory outside the heap",
                  rest_name[] = "(rest)", referent[] = "referent";

static void hprof_put_strings(struct writing *of) {
  const char *const others[] = {data_name, outside_name, rest_name, referent};
  char number[16];
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) hprof_intern(of, of->field_names, others[i]);
  for (size_t i = 1; i < of->class_count; i++) {
    const struct class *class = &of->classes[i];
    for (uint32_t field = 0; !class->is_array && field < class->fields; field++)
      hprof_intern(of, of->field_names, field_name(of, class, field, number));
  }
  for (uint32_t i = 1; i < of->class_count; i++) hprof_put_string(of, i, strings_text(of->class_names, i));
  for (uint32_t i = 1; i < of->field_names->count; i++)
    hprof_put_string(of, of->class_count + i, strings_text(of->field_names, i));
  for (uint32_t i = 1; i < of->class_count; i++) {
    put_record(of, RECORD_CLASS, 2 * 4 + 2 * ID_BYTES);
    hprof_put(of, i, 4);
    put_id(of, i);
    hprof_put(of, 0, 4);
    put_id(of, i);
  }
}

static void put_fields(struct writing *of, const struct class *class) {
  uint32_t references = references_of(class), rest = (uint32_t)hprof_body_of(class) - ID_BYTES * references;
  char number[16];
  hprof_put(of, references + rest / 8 + rest % 8 / 4, 2);
  for (uint32_t i = 0; i < class->fields; i++) put_field(of, field_name(of, class, i, number), TYPE_OBJECT);
  if (class->has_data) put_field(of, data_name, TYPE_OBJECT);
  if (class->has_outside) put_field(of, outside_name, TYPE_OBJECT);
  if (rest % 8) put_field(of, rest_name, TYPE_INT);
  for (uint32_t i = 0; i < rest / 8; i++) put_field(of, rest_name, TYPE_LONG);
}

static void put_class(struct writing *of, uint32_t number) {
  const struct class *class = &of->classes[number];
  bool is_reference = number >= CLASS_REFERENCE && number < CLASS_BYTES;
  put_item(of, ITEM_CLASS);
  put_id(of, number);
  hprof_put(of, 0, 4); /* no stack */
  put_id(of, number == CLASS_OBJECT                      ? 0
             : is_reference && number != CLASS_REFERENCE ? CLASS_REFERENCE
                                                         : CLASS_OBJECT);
  for (int i = 0; i < 5; i++) put_id(of, 0); /* loader, signers, domain, and two without a meaning */
  hprof_put(of, class->is_array ? 0 : HEADER_BYTES + (is_reference ? ID_BYTES : hprof_body_of(class)), 4);
  hprof_put(of, 0, 2); /* constants */
  hprof_put(of, 0, 2); /* static fields */
  if (class->is_array)
    hprof_put(of, 0, 2);
  else if (number == CLASS_REFERENCE)
    hprof_put(of, 1, 2), put_field(of, referent, TYPE_OBJECT);
  else
    put_fields(of, class);
}

/* ---- objects ---- */

static uint64_t hprof_id_of(const struct writing *of, uint32_t node) { return of->class_count + node; }

static void put_objects(struct writing *of, uint64_t id, uint64_t count, uint32_t class) {
  put_item(of, ITEM_OBJECTS);
  put_id(of, id);
  hprof_put(of, 0, 4);
  hprof_put(of, count, 4);
  put_id(of, class);
}

/* An array of bytes that has this size. */
static void put_outside(struct writing *of, uint64_t id, uint64_t size) {
  uint64_t count = size > ARRAY_BYTES ? size - ARRAY_BYTES : 0;
  put_item(of, ITEM_PRIMITIVES);
  put_id(of, id);
  hprof_put(of, 0, 4);
  hprof_put(of, count, 4);
  hprof_put(of, TYPE_BYTE, 1);
  put_zeros(of, count);
}

/* The references of a node to so many fields, as they are in it. */
static void put_references(struct writing *of, uint32_t node, uint64_t fields, bool in_order) {
  const struct graph *graph = of->graph;
  uint64_t done = 0;
  for (struct edge_walk edge = graph_edges(graph, node); edge_next(&edge);) {
    uint64_t field = in_order ? done : edge.field;
    if (edge.field == FIELD_DATA || field >= fields) break;
    put_zeros(of, ID_BYTES * (field - done));
    put_id(of, hprof_id_of(of, edge.to));
    done = field + 1;
  }
  put_zeros(of, ID_BYTES * (fields - done));
}

static void put_instance(struct writing *of, uint32_t node, const struct shape *shape, uint64_t data,
                         uint64_t outside) {
  const struct class *class = &of->classes[of->class_of[node]];
  uint64_t body = hprof_body_of(class);
  put_item(of, ITEM_INSTANCE);
  put_id(of, hprof_id_of(of, node));
  hprof_put(of, 0, 4);
  put_id(of, of->class_of[node]);
  hprof_put(of, body, 4);
  put_references(of, node, class->fields, shape->in_order);
  if (class->has_data) put_id(of, data);
  if (class->has_outside) put_id(of, outside);
  put_zeros(of, body - ID_BYTES * references_of(class));
}

static void put_array(struct writing *of, uint32_t node, const struct shape *shape, uint64_t data,
                      uint64_t outside) {
  uint64_t count = elements_of(shape), done = shape->fields + (data != 0) + (outside != 0);
  put_objects(of, hprof_id_of(of, node), count, of->class_of[node]);
  put_references(of, node, shape->fields, shape->in_order);
  if (data) put_id(of, data);
  if (outside) put_id(of, outside);
  put_zeros(of, ID_BYTES * (count - done));
}

/* A node and what is below it. */
static void hprof_put_node(struct writing *of, uint32_t node) {
  const struct graph *graph = of->graph;
  struct shape shape = shape_of(of, node);
  const uint32_t *data = graph->edges + graph->edge_begin[node + 1] - shape.data;
  uint64_t parts = parts_of(&shape);
  uint64_t data_id = shape.data == 1 ? hprof_id_of(of, *data) : shape.data ? of->next++ : 0;
  uint64_t outside_id = parts ? of->next++ : 0;
  (shape.is_array ? put_array : put_instance)(of, node, &shape, data_id, outside_id);
  if (shape.data > 1) {
    put_objects(of, data_id, shape.data, CLASS_OBJECTS);
    for (uint64_t i = 0; i < shape.data; i++) put_id(of, hprof_id_of(of, data[i]));
  }
  if (parts == 1) put_outside(of, outside_id, shape.outside);
  if (parts <= 1) return;
  put_objects(of, outside_id, parts, CLASS_OBJECTS);
  for (uint64_t i = 0; i < parts; i++) put_id(of, of->next + i);
  for (uint64_t left = shape.outside; left && !ferror(of->out); left -= left < PART_BYTES ? left : PART_BYTES)
    put_outside(of, of->next++, left < PART_BYTES ? left : PART_BYTES);
}

static void put_dump(struct writing *of) {
  const struct graph *graph = of->graph;
  static const char magic[] = "JAVA PROFILE 1.0.2";
  fwrite(magic, 1, sizeof magic, of->out);
  of->at = sizeof magic;
  hprof_put(of, ID_BYTES, 4);
  hprof_put(of, graph->time_ns / 1000000, 8);
  hprof_put_strings(of);
  for (uint32_t node = NODE_HOLDERS; node < graph->first_block; node++) {
    put_item(of, ITEM_ROOT);
    put_id(of, hprof_id_of(of, node));
    put_id(of, 0);
  }
  for (uint32_t i = 1; i < of->class_count; i++) put_class(of, i);
  of->next = (uint32_t)(of->class_count + graph->node_count);
  for (uint32_t i = 0; i < graph->reached && !ferror(of->out); i++)
    if (graph->order[i] != NODE_ALL) hprof_put_node(of, graph->order[i]);
  hprof_end_segment(of);
  put_record(of, RECORD_END, 0);
}

/* ---- shared ---- */

wn_status heap_put_hprof(const struct graph *graph, FILE *out) {
  struct writing of = {.graph = graph, .out = out};
  of.class_names = strings_create();
  of.field_names = strings_create();
  of.class_of = calloc(graph->node_count, sizeof *of.class_of);
  of.types = calloc(graph->type_count + 1, sizeof *of.types);
  if (!of.class_names || !of.field_names || !of.class_of || !of.types)
    of.status = error_set(WN_ENOMEM, "no memory for its names");
  if (!of.status) find_types(&of), find_classes(&of);
  if (!of.status) put_dump(&of);
  strings_free(of.class_names), strings_free(of.field_names);
  free(of.classes), free(of.class_of), free(of.types);
  return of.status;
}
/* SPDX-License-Identifier: MIT */
