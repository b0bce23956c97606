/* A persistent balanced tree from short strings to numbers: strmap UPDATES.
 *
 * Each update makes a new path and frees the old one: every function here consumes the nodes it is
 * given. */
#include "cells.h"
#include "sequence.h"

#define KEYS (1L << 18)

struct map {
  struct map *left;
  char *key;
  int64_t count;
  struct map *right;
  int64_t height;
};

static int64_t height(const struct map *map) { return map ? map->height : 0; }

static struct map *create(struct map *left, char *key, int64_t count, struct map *right) {
  int64_t a = height(left), b = height(right);
  struct map *map = cells_new(sizeof *map);
  map->left = left;
  map->key = key;
  map->count = count;
  map->right = right;
  map->height = a >= b ? a + 1 : b + 1;
  return map;
}

/* The node's members; the node is gone. */
static struct map open(struct map *map) {
  struct map members = *map;
  cells_free(map);
  return members;
}

static struct map *lean_left(struct map *left, char *key, int64_t count, struct map *right) {
  struct map l = open(left), m;
  struct map *first;
  if (height(l.left) >= height(l.right))
    return create(l.left, l.key, l.count, create(l.right, key, count, right));
  m = open(l.right);
  first = create(l.left, l.key, l.count, m.left);
  return create(first, m.key, m.count, create(m.right, key, count, right));
}

static struct map *lean_right(struct map *left, char *key, int64_t count, struct map *right) {
  struct map r = open(right), m;
  struct map *first;
  if (height(r.right) >= height(r.left))
    return create(create(left, key, count, r.left), r.key, r.count, r.right);
  m = open(r.left);
  first = create(left, key, count, m.left);
  return create(first, m.key, m.count, create(m.right, r.key, r.count, r.right));
}

static struct map *balance(struct map *left, char *key, int64_t count, struct map *right) {
  int64_t a = height(left), b = height(right);
  if (a > b + 2) return lean_left(left, key, count, right);
  if (b > a + 2) return lean_right(left, key, count, right);
  return create(left, key, count, right);
}

static struct map *add(char *key, int64_t count, struct map *map) {
  struct map n;
  int order;
  if (!map) return create(NULL, key, count, NULL);
  n = open(map);
  order = strcmp(key, n.key);
  if (order < 0) return balance(add(key, count, n.left), n.key, n.count, n.right);
  if (order > 0) return balance(n.left, n.key, n.count, add(key, count, n.right));
  cells_free(key);
  return create(n.left, n.key, n.count + count, n.right);
}

static int64_t fold(int64_t sum, const struct map *map) {
  for (; map; map = map->right) {
    int64_t last = map->key[strlen(map->key) - 1];
    sum = fold(sum, map->left);
    sum = (sum * 31 + map->count * last + map->height) & SUM_MASK;
  }
  return sum;
}

static char *spell(int64_t number) {
  char text[SPELL_MOST];
  size_t length = sequence_spell(text, number);
  return memcpy(cells_new_text(length + 1), text, length + 1);
}

int main(int count, char **words) {
  long updates = sequence_argument(count, words, 2000000);
  uint64_t seed = 1;
  struct map *map = NULL;
  cells_begin();
  for (long i = 1; i <= updates; i++) map = add(spell(sequence_next(&seed) & (KEYS - 1)), i & 1023, map);
  printf("%ld updates: height %lld, %lld\n", updates, (long long)height(map), (long long)fold(0, map));
  return 0;
}
/* SPDX-License-Identifier: MIT */
