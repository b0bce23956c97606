/* Writes the snapshots of the tests heap_screens and hprof into the current folder. */
#include "snapshot/writer.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 100, WIDGET = 1, TEXTURE, CHAIN, KEY, WEAK, DATA, LONG_NAME };

static struct snapshot_writer writer;
static int file;

static void begin(const char *name, uint64_t process, uint64_t seconds, const char *command) {
  const struct snapshot_info info = {process, seconds * 1000000000u, command, ""};
  file = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
  snapshot_begin(&writer, file, &info);
}

static void end(void) {
  static const char *const names[] = {"Widget", "Texture", "Chain", "Key", "weak block", "Data"};
  for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) snapshot_type(&writer, i + 1, names[i]);
  snapshot_type(&writer, LONG_NAME,
                "std::unordered_map<std::string, application::session::Handle<application::Connection>, "
                "std::hash<std::string>, application::Allocator>");
  if (!snapshot_end(&writer) || close(file)) abort();
}

static void root(uint32_t holder, const char *name, uintptr_t target) {
  snapshot_holder(&writer, holder, HOLDER_GLOBALS, 0, name);
  snapshot_root(&writer, holder, target);
}

static void block(uintptr_t at, uint32_t type, enum block_shape shape, uint64_t words) {
  snapshot_block(&writer, at, &(struct snapshot_block){.shape = shape, .type = type, .words = words});
}

/* Two windows lead to one texture, and a third holder to nothing else; "few" splits in two. */
static void write_shared(void) {
  begin("shared.heap", 7, 1000, "program");
  root(1, "window 0", 0x10000);
  root(2, "window 1", 0x20000);
  root(3, "viewer", 0x30000);
  root(4, "few", 0x40000);
  block(0x10000, WIDGET, SHAPE_SCANNED, 1);
  snapshot_edge(&writer, 0, 0x30000);
  block(0x20000, WIDGET, SHAPE_SCANNED, 1);
  snapshot_edge(&writer, 0, 0x30000);
  block(0x30000, TEXTURE, SHAPE_RAW, 100000);
  block(0x40000, CHAIN, SHAPE_SCANNED, 3);
  snapshot_edge(&writer, 0, 0x50000);
  block(0x50000, WIDGET, SHAPE_SCANNED, 3);
  for (uintptr_t i = 0; i < 3; i++) snapshot_edge(&writer, i, 0x60000 + 0x10000 * i);
  block(0x60000, DATA, SHAPE_RAW, 40000);
  block(0x70000, KEY, SHAPE_RAW, 30000);
  block(0x80000, TEXTURE, SHAPE_RAW, 10);
  end();
}

/* A path of two types in turn, and at its end a block of a long name. The last step is led to by
 * another root, too. */
static void write_deep(void) {
  begin("deep.heap", 7, 1000, "program");
  root(1, "top", 0x10000);
  root(2, "other", 0x10000 + 64 * (STEPS + 1));
  for (uintptr_t i = 0; i < STEPS; i++) {
    block(0x10000 + 64 * i, i % 2 ? WIDGET : CHAIN, SHAPE_SCANNED, 7);
    snapshot_edge(&writer, 1, 0x10000 + 64 * (i + 1));
  }
  block(0x10000 + 64 * STEPS, LONG_NAME, SHAPE_RAW, 7);
  block(0x10000 + 64 * (STEPS + 1), WIDGET, SHAPE_SCANNED, 7);
  snapshot_edge(&writer, 1, 0x10000 + 64 * STEPS);
  end();
}

static void write_ephemeron(void) {
  begin("ephemeron.heap", 7, 1000, "program");
  root(1, "cache", 0x10000);
  root(2, "keys", 0x20000);
  block(0x10000, WEAK, SHAPE_WEAK, 2);
  snapshot_edge(&writer, 0, 0x30000);
  snapshot_edge(&writer, 1, 0x20000);
  block(0x20000, KEY, SHAPE_RAW, 4);
  block(0x30000, DATA, SHAPE_RAW, 1000);
  end();
}

static void edge(uint64_t field, uintptr_t to) { snapshot_edge(&writer, field, to); }

enum { LIST = LONG_NAME + 1, CELL, PORT, BRACKETS, BRACKET, NAMELESS, VARIED, UNNAMED };

static void described(uintptr_t at, uint32_t type, uint64_t words, const char *description) {
  snapshot_block(&writer, at,
                 &(struct snapshot_block){
                     .shape = SHAPE_SCANNED, .type = type, .words = words, .description = description});
}

static void port(uintptr_t at, uint64_t outside) {
  snapshot_block(
      &writer, at,
      &(struct snapshot_block){.shape = SHAPE_CUSTOM, .type = PORT, .words = 2, .outside = outside});
}

static void end_every(void) {
  static const char *const names[] = {"List", "Cell", "Port", "int[]", "[I", "", "Varied"};
  for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) snapshot_type(&writer, LIST + i, names[i]);
  snapshot_field(&writer, CELL, 0, "head");
  snapshot_field(&writer, CELL, 1, "tail");
  end();
}

static void list(uintptr_t from, uintptr_t count) {
  for (uintptr_t i = 0; i < count; i++) {
    block(from + 64 * i, CELL, SHAPE_SCANNED, 2);
    if (i + 1 < count) edge(1, from + 64 * (i + 1));
  }
}

/* A list with a name, which grows; two of one length; and data that two roots hold, which grow, too. */
static void write_lists(const char *name, uint64_t seconds, uintptr_t cells) {
  begin(name, 7, seconds, "program");
  root(1, "app", 0x10000);
  root(2, "window 0", 0x10000000);
  root(3, "window 1", 0x20000000);
  described(0x10000, KEY, 3, "names");
  for (uintptr_t i = 0; i < 3; i++) edge(i, (uintptr_t)0x20000 << i);
  described(0x20000, LIST, 1, "log");
  edge(0, 0x100000);
  list(0x40000, 50);
  list(0x80000, 50);
  list(0x100000, cells);
  block(0x10000000, WIDGET, SHAPE_SCANNED, 1);
  edge(0, 0x30000000);
  block(0x20000000, WIDGET, SHAPE_SCANNED, 1);
  edge(0, 0x30000000);
  block(0x30000000, TEXTURE, SHAPE_RAW, cells);
  end_every();
}

/* Types whose blocks have one or several numbers of words, from none to more than a class has fields;
 * strange names; a block of two ephemerons; and garbage. */
static void write_every(void) {
  static const uint64_t words[] = {0, 1, 2, 5, 63, 64, 65, 200};
  begin("every.heap", 7, 1000, "program");
  root(1, "list", 0x10000);
  snapshot_root(&writer, 1, 0x20000);
  snapshot_root(&writer, 1, 0x10000);
  root(2, "alone", 0x90000);
  snapshot_holder(&writer, 3, HOLDER_HANDLES, 2, NULL);
  for (uintptr_t i = 0; i < 70; i++) snapshot_root(&writer, 3, 0xa0000 + 64 * i);
  snapshot_holder(&writer, 4, HOLDER_PINS, 0, "nothing");
  block(0x10000, LIST, SHAPE_SCANNED, 300);
  for (uintptr_t i = 0; i < 8; i++) edge(3 * i, 0x30000 + 0x1000 * i), edge(3 * i + 1, 0x40000 + 0x1000 * i);
  edge(299, 0x20000);
  block(0x20000, CELL, SHAPE_SCANNED, 2);
  edge(0, 0x50000), edge(1, 0x50020);
  for (uintptr_t i = 0; i < 8; i++) {
    block(0x30000 + 0x1000 * i, VARIED, SHAPE_SCANNED, words[i]);
    if (words[i]) edge(words[i] - 1, 0x20000);
  }
  for (uintptr_t i = 0; i < 8; i++) {
    described(0x40000 + 0x1000 * i, VARIED, words[i], i % 2 ? "odd" : "even");
    if (words[i] > 1) edge(1, 0x40000 + 0x1000 * i);
  }
  block(0x50000, CELL, SHAPE_SCANNED, 3);
  edge(1, 0x20000), edge(2, 0x50040);
  block(0x50020, CELL, SHAPE_SCANNED, 2);
  edge(1, 0x50020);
  block(0x50040, BRACKETS, SHAPE_SCANNED, 4);
  edge(3, 0x50080);
  block(0x50080, BRACKET, SHAPE_SCANNED, 4);
  edge(0, 0x500c0);
  block(0x500c0, NAMELESS, SHAPE_SCANNED, 4);
  edge(0, 0x50100);
  block(0x50100, UNNAMED, SHAPE_SCANNED, 4);
  edge(0, 0x50040), edge(1, 0x50040);
  block(0x90000, WEAK, SHAPE_WEAK, 2);
  edge(1, 0x20000);
  for (uintptr_t i = 0; i < 70; i++) block(0xa0000 + 64 * i, KEY, SHAPE_RAW, 3);
  block(0xb0000, WEAK, SHAPE_WEAK, 2);
  edge(0, 0x90000);
  end_every();
}

/* A key of many ephemerons, and blocks with few or no words that have data below them. */
static void write_ephemerons(void) {
  begin("ephemerons.heap", 7, 1000, "program");
  root(1, "ephemerons", 0x10000);
  root(2, "keys", 0x20000);
  block(0x10000, LIST, SHAPE_SCANNED, 12);
  for (uintptr_t i = 0; i < 12; i++) edge(i, 0x30000 + 64 * i);
  block(0x20000, LIST, SHAPE_SCANNED, 1);
  edge(0, 0x28000);
  block(0x28000, LIST, SHAPE_SCANNED, 3);
  edge(0, 0x50000), edge(1, 0x50040), edge(2, 0x50080);
  for (uintptr_t i = 0; i < 12; i++) {
    block(0x30000 + 64 * i, WEAK, SHAPE_WEAK, 2);
    edge(0, 0x40000 + 64 * i), edge(1, 0x50000 + 64 * (i < 10 ? 0 : i - 9));
  }
  for (uintptr_t i = 0; i < 12; i++) block(0x40000 + 64 * i, DATA, SHAPE_RAW, 5);
  block(0x50000, KEY, SHAPE_RAW, 4);
  block(0x50040, CELL, SHAPE_RAW, 0);
  block(0x50080, CHAIN, SHAPE_RAW, 1);
  end_every();
}

/* What is outside: more than fits into a segment, too, and a few bytes. */
static void write_outside(void) {
  static const uint64_t outside[] = {0, 5, 8, 16, 1001, 4096, (uint64_t)3 << 30, ((uint64_t)5 << 29) + 8};
  begin("outside.heap", 7, 1000, "program");
  root(1, "ports", 0x10000);
  block(0x10000, LIST, SHAPE_SCANNED, 8);
  for (uintptr_t i = 0; i < 8; i++) edge(i, 0x20000 + 64 * i);
  for (uintptr_t i = 0; i < 8; i++) port(0x20000 + 64 * i, outside[i]);
  end_every();
}

/* More outside than an hprof file can have: of a block, and of all together. */
static void write_refused(void) {
  enum { MANY = 33000 };
  begin("huge.heap", 7, 1000, "program");
  root(1, "port", 0x20000);
  port(0x20000, ((uint64_t)1 << 47) + 1);
  end_every();
  begin("objects.heap", 7, 1000, "program");
  root(1, "ports", 0x10000);
  block(0x10000, LIST, SHAPE_SCANNED, MANY);
  for (uintptr_t i = 0; i < MANY; i++) edge(i, 0x100000 + 64 * i);
  for (uintptr_t i = 0; i < MANY; i++) port(0x100000 + 64 * i, (uint64_t)1 << 47);
  end_every();
}

/* Blocks of 2^24 words and of more, with pointers and without; and edges as no writer has them. */
static void write_long(void) {
  const uint64_t words = (1 << 24) + 3;
  begin("long.heap", 7, 1000, "program");
  root(1, "long", 0x10000);
  block(0x10000, LIST, SHAPE_SCANNED, words);
  edge(0, 0x10000000), edge(words - 2, 0x20000000), edge(words - 1, 0x30000000);
  block(0x10000000, DATA, SHAPE_RAW, words);
  block(0x20000000, VARIED, SHAPE_RAW, words - 3);
  block(0x30000000, VARIED, SHAPE_SCANNED, 1);
  edge(0, 0x40000000), edge(7, 0x30000000); /* it has no such field */
  block(0x40000000, VARIED, SHAPE_SCANNED, 8);
  edge(5, 0x30000000), edge(6, 0x40000000);
  writer.sink.end = writer.sink.at + 1; /* the segment is full, so that the edges begin again */
  edge(2, 0x10000), edge(5, 0x40000000);
  end_every();
}

/* More variables than the file has classes for. */
static void write_many(void) {
  enum { MANY = 20100 };
  begin("many.heap", 7, 1000, "program");
  root(1, "many", 0x10000);
  block(0x10000, LIST, SHAPE_SCANNED, MANY);
  for (uintptr_t i = 0; i < MANY; i++) edge(i, 0x1000000 + 64 * i);
  for (uintptr_t i = 0; i < MANY; i++) {
    char name[16];
    snprintf(name, sizeof name, "v%d", (int)i);
    described(0x1000000 + 64 * i, CELL, 2, name);
  }
  end_every();
}

static uint64_t state;

/* Of 0 to before `count`; Knuth's generator. */
static uint64_t random_of(uint64_t count) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % count;
}

static bool plain; /* nothing is described, and there is nothing outside */

/* A block of any kind, whose edges lead to any of `blocks`. */
static void random_block(uintptr_t at, uintptr_t blocks) {
  static const uint64_t most[] = {3, 4, 5, 70, 2, 90};
  uint32_t kind = (uint32_t)random_of(6);
  uint64_t words = kind == 4 ? 2 : random_of(most[kind]) + plain;
  static const char *const descriptions[] = {NULL, NULL, "one", "another"};
  struct snapshot_block made = {SHAPE_SCANNED, LIST + kind, words, 0,
                                plain ? NULL : descriptions[random_of(4)]};
  if (kind == 4 && !plain && random_of(2))
    made.shape = SHAPE_CUSTOM, made.outside = random_of(9) * 8, words = 0;
  if (kind == 5 && random_of(3)) made.shape = SHAPE_WEAK, words = random_of(6) + 1;
  if (made.words < words) made.words = words;
  snapshot_block(&writer, at, &made);
  for (uint64_t i = 0; i < words; i++)
    if (random_of(words) < 3 || made.shape == SHAPE_WEAK) edge(i, 0x10000 + 64 * random_of(blocks));
}

static void write_random(uint64_t seed) {
  enum { BLOCKS = 400 };
  char name[32];
  snprintf(name, sizeof name, "random%d.heap", (int)seed);
  state = seed;
  plain = seed % 2;
  begin(name, 7, 1000, "program");
  for (uint32_t i = 1; i <= 4; i++) {
    snapshot_holder(&writer, i, (enum holder_kind)random_of(HOLDER_KINDS), i, i % 2 ? "odd" : NULL);
    for (uint64_t left = random_of(6); left; left--)
      snapshot_root(&writer, i, 0x10000 + 64 * random_of(BLOCKS));
  }
  for (uintptr_t i = 0; i < BLOCKS; i++) random_block(0x10000 + 64 * i, BLOCKS);
  end_every();
}

static void write_empty(void) {
  begin("empty.heap", 7, 1000, "program");
  end();
}

/* A list whose elements are larger than its blocks; the last one has none. */
static void write_list(void) {
  begin("list.heap", 7, 1000, "program");
  root(1, "list", 0x10000);
  for (uintptr_t i = 0; i < 360; i++) {
    uintptr_t at = 0x10000 + 0x100 * i;
    block(at, CHAIN, SHAPE_SCANNED, 2);
    if (i == 359) break;
    snapshot_edge(&writer, 0, at + 0x20);
    snapshot_edge(&writer, 1, at + 0x100);
    block(at + 0x20, DATA, SHAPE_RAW, 9);
  }
  end();
}

/* Handles of functions, in one domain and in another. */
static void write_scopes(void) {
  begin("scopes.heap", 7, 1000, "program");
  snapshot_holder(&writer, 1, HOLDER_SCOPES, 0, "serve");
  snapshot_root(&writer, 1, 0x10000);
  snapshot_holder(&writer, 2, HOLDER_SCOPES, 3, "serve");
  snapshot_root(&writer, 2, 0x20000);
  block(0x10000, DATA, SHAPE_RAW, 9);
  block(0x20000, DATA, SHAPE_RAW, 9);
  end();
}

static void write_sizes(const char *name, uint64_t process, uint64_t seconds, const char *command,
                        const uint64_t words[4]) {
  begin(name, process, seconds, command);
  for (uint32_t i = 0; i < 4; i++) {
    char holder[] = "holder 0";
    holder[7] = (char)('0' + i);
    root(i + 1, holder, 0x10000 * (i + 1));
    block(0x10000 * (i + 1), i + 1, SHAPE_RAW, words[i]);
  }
  end();
}

/* With a number, that many random graphs. */
int main(int count, char **arguments) {
  write_shared();
  write_deep();
  write_ephemeron();
  write_sizes("large.heap", 7, 1000, "program", (const uint64_t[]){4000, 4000, 4000, 4000});
  write_sizes("small.heap", 7, 1090, "program", (const uint64_t[]){3000, 100, 2000, 3900});
  write_sizes("mixed.heap", 8, 1095, "program", (const uint64_t[]){3000, 100, 2000, 9000});
  write_sizes("other.heap", 8, 1095, "other", (const uint64_t[]){3000, 100, 2000, 9000});
  write_every();
  write_ephemerons();
  write_outside();
  write_refused();
  write_long();
  write_many();
  write_empty();
  write_list();
  write_scopes();
  write_lists("lists.heap", 1000, 200);
  write_lists("later.heap", 1060, 2000);
  for (uint64_t seed = 1; seed <= (count > 1 ? strtoul(arguments[1], NULL, 10) : 6); seed++)
    write_random(seed);
  return 0;
}
/* SPDX-License-Identifier: MIT */
