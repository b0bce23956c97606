/* Operations on the blocks in registers: allocation, stores, weak blocks, marshalling. */
#include "differential/operations.h"

#include <stdlib.h>
#include <string.h>
#include <winnow/marshal.h>
#include <winnow/weak.h>

static const wn_ref nothing = {NULL};

wn_ref register_get(struct actor *actor, int r) { return wn_get(actor->domain, actor->registers, (size_t)r); }

void register_set(struct actor *actor, int r, wn_ref value) {
  if (wn_is_null(value)) broken("an operation failed: %s", wn_last_error());
  wn_set(actor->domain, actor->registers, (size_t)(r % REGISTERS), value);
}

/* ---- what a register holds ---- */

static bool has_tag(wn_ref ref, unsigned tag) {
  return !wn_is_int(wn_value_of(ref)) && wn_tag(wn_value_of(ref)) == tag;
}
static bool is_scanned(wn_ref ref) {
  return !wn_is_int(wn_value_of(ref)) && wn_tag(wn_value_of(ref)) <= WN_TAG_SCANNED_MAX;
}
static bool is_weak(wn_ref ref) { return has_tag(ref, WN_TAG_WEAK); }
static bool is_leaf(wn_ref ref) { return has_tag(ref, WN_TAG_RAW) || has_tag(ref, WN_TAG_DOUBLE_ARRAY); }
static bool is_ephemeron(wn_ref weak) { return (wn_words(wn_value_of(weak)) & 1) == 1; }

static void print_value(wn_ref ref) {
  wn_bigarray array;
  if (wn_is_null(ref))
    printf("-");
  else if (wn_is_int(wn_value_of(ref)))
    printf("%ld", (long)wn_to_int(wn_value_of(ref)));
  else if (wn_bigarray_get(ref, &array))
    printf("#%zu", array.bytes / 8);
  else
    printf("#%zu", wn_words(wn_value_of(ref)));
}

/* ---- allocation ---- */

static wn_ref alloc(wn_domain *domain, size_t words, unsigned tag) {
  if (words > WN_MAX_YOUNG_WORDS || words % 2) return wn_alloc(domain, words, tag);
  wn_value *fields = wn_bump(domain, words, tag);
  if (!fields) return nothing;
  for (size_t i = 0; i < words; i++) fields[i] = wn_int(0);
  return wn_root(domain, (wn_value)fields);
}

static wn_ref raw(wn_domain *domain, size_t words) {
  static const char zeros[MOST_WORDS * sizeof(wn_value)];
  return wn_string_new(domain, zeros, words * sizeof(wn_value) - 1);
}

static wn_ref bigarray(wn_domain *domain, size_t words) {
  const size_t lengths[] = {words * sizeof(wn_value)};
  return wn_bigarray_new(domain, WN_BIGARRAY_CHAR, false, 1, lengths);
}

static void group(struct actor *actor, int r, size_t least) {
  const wn_shape shapes[] = {{least, 0}, {least + 1, 0}, {least + 2, 0}};
  wn_ref blocks[3];
  if (wn_alloc_group(actor->domain, 3, shapes, blocks)) broken("wn_alloc_group: %s", wn_last_error());
  for (int i = 0; i < 3; i++) register_set(actor, r + i, blocks[i]);
}

/* Of as many words as OCaml's, which has one more beside its places; the last place is not used. */
static wn_ref new_weak(wn_domain *domain, size_t words) {
  return words & 1 ? wn_ephemeron_new(domain, words - 1) : wn_weak_new(domain, words - 1);
}

static bool allocate(struct actor *actor, const char *name, const int *a) {
  wn_domain *domain = actor->domain;
  size_t words = (size_t)a[1];
  if (!strcmp(name, "alloc"))
    register_set(actor, a[0], alloc(domain, words, (unsigned)a[2]));
  else if (!strcmp(name, "raw"))
    register_set(actor, a[0], raw(domain, words));
  else if (!strcmp(name, "floats"))
    register_set(actor, a[0], wn_alloc(domain, words, WN_TAG_DOUBLE_ARRAY));
  else if (!strcmp(name, "bigarray"))
    register_set(actor, a[0], bigarray(domain, words));
  else if (!strcmp(name, "weak"))
    register_set(actor, a[0], new_weak(domain, words));
  else if (!strcmp(name, "group"))
    group(actor, a[0], words);
  else
    return false;
  return true;
}

/* ---- stores ---- */

static void take(struct actor *actor, const int *a) {
  wn_ref shelf = wn_global_get(actor->domain, world.shelf);
  if (!world.is_settled) return;
  register_set(actor, a[0], wn_get(actor->domain, shelf, (size_t)a[1]));
  wn_set_int(actor->domain, shelf, (size_t)a[1], 0);
}

static void store(struct actor *actor, int r, int i, wn_ref value) {
  wn_ref block = register_get(actor, r);
  if (is_scanned(block)) wn_set(actor->domain, block, (size_t)i, value);
}

static void load(struct actor *actor, const int *a) {
  wn_ref block = register_get(actor, a[1]);
  if (is_scanned(block)) register_set(actor, a[0], wn_get(actor->domain, block, (size_t)a[2]));
}

static bool change(struct actor *actor, const char *name, const int *a) {
  if (!strcmp(name, "link"))
    store(actor, a[0], a[1], register_get(actor, a[2]));
  else if (!strcmp(name, "store"))
    store(actor, a[0], a[1], wn_root(actor->domain, wn_int(a[2])));
  else if (!strcmp(name, "load"))
    load(actor, a);
  else if (!strcmp(name, "copy"))
    register_set(actor, a[0], register_get(actor, a[1]));
  else if (!strcmp(name, "integer"))
    register_set(actor, a[0], wn_root(actor->domain, wn_int(a[1])));
  else if (!strcmp(name, "take"))
    take(actor, a);
  else
    return false;
  return true;
}

/* ---- weak blocks ---- */

static void register_set_option(struct actor *actor, int r, wn_ref value) {
  register_set(actor, r, wn_is_null(value) ? wn_root(actor->domain, wn_int(0)) : value);
}

static void forget_plans(wn_ref block) {
  for (enum kind kind = KIND_PROMOTION; kind <= KIND_DEATH; kind++)
    world.plans[kind][wn_words(wn_value_of(block)) % MOST_WORDS] = DO_NOTHING;
}

/* A block that leads to others is old before it becomes a key: statement G54. */
static void set_key(struct actor *actor, wn_ref weak, const int *a) {
  wn_ref value = register_get(actor, a[2]);
  if (is_leaf(value)) {
    world.has_young_keys = world.blurred[wn_words(wn_value_of(value))] = true;
    forget_plans(value);
  } else if (!wn_is_int(wn_value_of(value))) {
    collect_minor(actor->domain);
  }
  if (is_ephemeron(weak) ? wn_ephemeron_set_key(actor->domain, weak, (size_t)a[1], value)
                         : wn_weak_set(actor->domain, weak, (size_t)a[1], value))
    broken("setting a key: %s", wn_last_error());
}

static void unset_key(wn_domain *domain, wn_ref weak, size_t i) {
  if (is_ephemeron(weak) ? wn_ephemeron_unset_key(domain, weak, i) : wn_weak_set(domain, weak, i, nothing))
    broken("emptying a place: %s", wn_last_error());
}

/* A block and its copy cannot be told apart, so of neither a later callback is planned. */
static void copy_key(struct actor *actor, wn_ref weak, const int *a) {
  wn_ref value = wn_weak_get(actor->domain, weak, (size_t)a[1]);
  if (!wn_is_null(value) && !wn_is_int(wn_value_of(value))) forget_plans(value);
  value = wn_weak_get_copy(actor->domain, weak, (size_t)a[1]);
  register_set_option(actor, a[2], value);
}

static bool use_ephemeron(struct actor *actor, wn_ref weak, const char *name, const int *a) {
  wn_domain *domain = actor->domain;
  if (!strcmp(name, "data")) return !wn_ephemeron_set_data(domain, weak, register_get(actor, a[1]));
  if (!strcmp(name, "undata")) return !wn_ephemeron_unset_data(domain, weak);
  register_set_option(actor, a[1], wn_ephemeron_get_data(domain, weak));
  return true;
}

static void blit(struct actor *actor, const int *a) {
  wn_ref from = register_get(actor, a[0]), to = register_get(actor, a[2]);
  if (!is_weak(from) || !is_weak(to) || is_ephemeron(from) != is_ephemeron(to)) return;
  if (wn_weak_blit(actor->domain, from, (size_t)a[1], to, (size_t)a[3], (size_t)a[4]))
    broken("wn_weak_blit: %s", wn_last_error());
}

static bool is_one_of(const char *name, const char *const *names) {
  while (*names && strcmp(name, *names)) names++;
  return *names;
}

static bool is_for_settled(const char *name) {
  return !strcmp(name, "data") || !strcmp(name, "get") || !strcmp(name, "copykey") ||
         !strcmp(name, "getdata");
}

static bool use_weak(struct actor *actor, const char *name, const int *a) {
  static const char *const names[] = {"key", "unkey", "get", "copykey", "data", "undata", "getdata", NULL};
  if (!strcmp(name, "blit")) return blit(actor, a), true;
  if (!is_one_of(name, names)) return false;
  wn_ref weak = register_get(actor, a[0]);
  if (!is_weak(weak)) return true;
  if (!strcmp(name, "key"))
    set_key(actor, weak, a);
  else if (!strcmp(name, "unkey"))
    unset_key(actor->domain, weak, (size_t)a[1]);
  else if (is_for_settled(name) && !world.is_settled)
    return true;
  else if (!strcmp(name, "get"))
    register_set_option(actor, a[2], wn_weak_get(actor->domain, weak, (size_t)a[1]));
  else if (!strcmp(name, "copykey"))
    copy_key(actor, weak, a);
  else if (is_ephemeron(weak) && !use_ephemeron(actor, weak, name, a))
    broken("%s: %s", name, wn_last_error());
  return true;
}

static void print_place(size_t i, wn_ref value) {
  if (wn_is_null(value) || wn_value_of(value) == wn_int(0)) return;
  printf(" %zu=", i);
  print_value(value);
}

static void print_weak(wn_domain *domain, wn_ref weak) {
  for (size_t i = 0; i + 1 < wn_weak_length(weak); i++) {
    WN_SCOPE(domain);
    wn_ref value = wn_weak_get(domain, weak, i);
    if (wn_is_null(value) == wn_weak_check(domain, weak, i)) broken("a place is full and empty");
    print_place(i, value);
  }
  printf(" data ");
  print_value(is_ephemeron(weak) ? wn_ephemeron_get_data(domain, weak) : nothing);
}

void print_registers(struct actor *actor) {
  for (int r = 0; r < REGISTERS; r++) {
    WN_SCOPE(actor->domain);
    wn_ref value = register_get(actor, r);
    if (wn_is_int(wn_value_of(value))) continue;
    printf("register %d ", r);
    print_value(value);
    putchar(':');
    if (is_weak(value)) print_weak(actor->domain, value);
    for (size_t i = 0; is_scanned(value) && i < wn_words(wn_value_of(value)); i++) {
      WN_SCOPE(actor->domain);
      print_place(i, wn_get(actor->domain, value, i));
    }
    putchar('\n');
  }
}

/* ---- marshalling ---- */

static void marshal(struct actor *actor, const int *a) {
  void *bytes;
  size_t size;
  wn_ref copy;
  wn_status status =
      wn_marshal_write(actor->domain, register_get(actor, a[1]), WN_MARSHAL_OCAML_STRINGS, &bytes, &size);
  if (status == WN_EINVAL) {
    puts("not marshalled");
    return;
  }
  if (status || wn_marshal_read(actor->domain, bytes, size, WN_MARSHAL_OCAML_STRINGS, &copy, NULL))
    broken("marshalling: %s", wn_last_error());
  free(bytes);
  register_set(actor, a[0], copy);
}

bool operate_on_blocks(struct actor *actor, const char *name, const int *a) {
  WN_SCOPE(actor->domain);
  if (!strcmp(name, "marshal")) return marshal(actor, a), true;
  return allocate(actor, name, a) || change(actor, name, a) || use_weak(actor, name, a);
}
/* SPDX-License-Identifier: MIT */
