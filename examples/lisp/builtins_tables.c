/* Hash tables: buckets of entries, compared by equal?.
 *
 * A block's address cannot be its hash, since blocks move, so keys are hashed by their contents.
 * Keys without contents of their own, such as procedures, all have the same hash. */
#include "builtins.h"

enum { TABLE_BUCKETS, TABLE_COUNT, TABLE_WORDS };
enum { ENTRY_KEY, ENTRY_VALUE, ENTRY_NEXT, ENTRY_HASH, ENTRY_WORDS };
enum { FIRST_BUCKETS = 8 };

static bool is_table(wn_value v) { return has_tag(v, TAG_TABLE); }

static size_t bucket_of(wn_value buckets, size_t hash) { return hash & (wn_words(buckets) - 1); }

static bool is_key(wn_value entry, wn_value key, size_t hash) {
  wn_value other = field(entry, ENTRY_KEY);
  return other == key ||
         (integer_of(field(entry, ENTRY_HASH)) == (intptr_t)hash && values_are_equal(other, key));
}

static wn_value find(wn_value table, wn_value key, size_t hash) {
  wn_value buckets = field(table, TABLE_BUCKETS);
  wn_value entry = field(buckets, bucket_of(buckets, hash));
  while (entry != NIL && !is_key(entry, key, hash)) entry = field(entry, ENTRY_NEXT);
  return entry;
}

static void link_entry(struct vm *vm, wn_value buckets, wn_value entry) {
  size_t at = bucket_of(buckets, (size_t)integer_of(field(entry, ENTRY_HASH)));
  wn_store(vm->domain, entry, ENTRY_NEXT, field(buckets, at));
  wn_store(vm->domain, buckets, at, entry);
}

/* Twice as many buckets. */
static bool grow(struct vm *vm, wn_ref table) {
  wn_value made = make_block(vm, 2 * wn_words(wn_field(table, TABLE_BUCKETS)), TAG_VECTOR, NIL);
  if (!made) return false;
  wn_value old = wn_field(table, TABLE_BUCKETS);
  for (size_t i = 0; i < wn_words(old); i++)
    for (wn_value next, entry = field(old, i); entry != NIL; entry = next) {
      next = field(entry, ENTRY_NEXT);
      link_entry(vm, made, entry);
    }
  wn_store(vm->domain, wn_value_of(table), TABLE_BUCKETS, made);
  return true;
}

static bool add_entry(struct vm *vm, wn_ref table, wn_ref key, size_t hash, wn_ref value) {
  intptr_t count = integer_of(wn_field(table, TABLE_COUNT)) + 1;
  if ((size_t)count > wn_words(wn_field(table, TABLE_BUCKETS)) && !grow(vm, table)) return false;
  wn_value *entry = wn_bump(vm->domain, ENTRY_WORDS, TAG_ENTRY);
  if (!entry) return vm_fail_memory(vm), false;
  entry[ENTRY_KEY] = wn_value_of(key);
  entry[ENTRY_VALUE] = wn_value_of(value);
  entry[ENTRY_NEXT] = NIL;
  entry[ENTRY_HASH] = make_integer((intptr_t)hash);
  link_entry(vm, wn_field(table, TABLE_BUCKETS), (wn_value)entry);
  wn_store(vm->domain, wn_value_of(table), TABLE_COUNT, make_integer(count));
  return true;
}

/* ---- shared ---- */

wn_value table_create(struct vm *vm) {
  WN_SCOPE(vm->domain);
  wn_value buckets = make_block(vm, FIRST_BUCKETS, TAG_VECTOR, NIL);
  wn_ref buckets_ref = buckets ? wn_root(vm->domain, buckets) : (wn_ref){NULL};
  wn_value *table = buckets ? wn_bump(vm->domain, TABLE_WORDS, TAG_TABLE) : NULL;
  if (!table) return vm_fail_memory(vm);
  table[TABLE_BUCKETS] = wn_value_of(buckets_ref);
  table[TABLE_COUNT] = make_integer(0);
  return (wn_value)table;
}

/* A hash fits an integer. */
static size_t hash_of(wn_value key) { return value_hash(key) >> 1; }

wn_value table_get(wn_value table, wn_value key, wn_value otherwise) {
  wn_value entry = find(table, key, hash_of(key));
  return entry == NIL ? otherwise : field(entry, ENTRY_VALUE);
}

bool table_put(struct vm *vm, wn_ref table, wn_ref key, wn_ref value) {
  size_t hash = hash_of(wn_value_of(key));
  wn_value entry = find(wn_value_of(table), wn_value_of(key), hash);
  if (entry == NIL) return add_entry(vm, table, key, hash, value);
  wn_store(vm->domain, entry, ENTRY_VALUE, wn_value_of(value));
  return true;
}

/* ---- builtins ---- */

static bool check_table(struct vm *vm, const char *procedure, wn_value value) {
  if (is_table(value)) return true;
  vm_fail_type(vm, procedure, "a table", value);
  return false;
}

static wn_value make_table(struct vm *vm, wn_value *args, size_t count) {
  (void)args, (void)count;
  return table_create(vm);
}

static wn_value is_table_p(struct vm *vm, wn_value *args, size_t count) {
  (void)vm, (void)count;
  return make_boolean(is_table(args[0]));
}

static wn_value ref(struct vm *vm, wn_value *args, size_t count) {
  if (!check_table(vm, "table-ref", args[0])) return VM_FAILED;
  return table_get(args[0], args[1], count > 2 ? args[2] : FALSE);
}

static wn_value set(struct vm *vm, wn_value *args, size_t count) {
  WN_SCOPE(vm->domain);
  (void)count;
  if (!check_table(vm, "table-set!", args[0])) return VM_FAILED;
  wn_ref table = wn_root(vm->domain, args[0]), key = wn_root(vm->domain, args[1]);
  return table_put(vm, table, key, wn_root(vm->domain, args[2])) ? NOTHING : VM_FAILED;
}

static wn_value delete_key(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  if (!check_table(vm, "table-delete!", args[0])) return VM_FAILED;
  size_t hash = hash_of(args[1]);
  wn_value entry = find(args[0], args[1], hash), buckets = field(args[0], TABLE_BUCKETS);
  if (entry == NIL) return FALSE;
  size_t at = bucket_of(buckets, hash);
  wn_value next = field(entry, ENTRY_NEXT), before = field(buckets, at);
  if (before == entry) {
    wn_store(vm->domain, buckets, at, next);
  } else {
    while (field(before, ENTRY_NEXT) != entry) before = field(before, ENTRY_NEXT);
    wn_store(vm->domain, before, ENTRY_NEXT, next);
  }
  wn_store(vm->domain, args[0], TABLE_COUNT, make_integer(integer_of(field(args[0], TABLE_COUNT)) - 1));
  return TRUE;
}

static wn_value table_count(struct vm *vm, wn_value *args, size_t count) {
  (void)count;
  return check_table(vm, "table-count", args[0]) ? field(args[0], TABLE_COUNT) : VM_FAILED;
}

/* Puts the entries from `first` on, each as a pair, in front of the list. */
static bool list_bucket(struct vm *vm, wn_value first, wn_ref list) {
  WN_SCOPE(vm->domain);
  wn_ref entry = wn_root(vm->domain, first);
  for (; wn_value_of(entry) != NIL; *entry.slot = wn_field(entry, ENTRY_NEXT)) {
    WN_SCOPE(vm->domain);
    wn_ref key = wn_get(vm->domain, entry, ENTRY_KEY), value = wn_get(vm->domain, entry, ENTRY_VALUE);
    wn_ref pair = wn_pair(vm->domain, TAG_PAIR, key, value);
    wn_ref grown = wn_is_null(pair) ? pair : wn_pair(vm->domain, TAG_PAIR, pair, list);
    if (wn_is_null(grown)) return false;
    wn_assign(list, grown);
  }
  return true;
}

static wn_value table_to_list(struct vm *vm, wn_value *args, size_t count) {
  WN_SCOPE(vm->domain);
  (void)count;
  if (!check_table(vm, "table->list", args[0])) return VM_FAILED;
  wn_ref list = wn_root(vm->domain, NIL), buckets = wn_root(vm->domain, field(args[0], TABLE_BUCKETS));
  for (size_t i = 0; i < wn_words(wn_value_of(buckets)); i++)
    if (!list_bucket(vm, wn_field(buckets, i), list)) return vm_fail_memory(vm);
  return wn_value_of(list);
}

const struct builtin builtins_tables[] = {{"make-table", make_table, 0, 0},
                                          {"table?", is_table_p, 1, 1},
                                          {"table-ref", ref, 2, 3},
                                          {"table-set!", set, 3, 3},
                                          {"table-delete!", delete_key, 2, 2},
                                          {"table-count", table_count, 1, 1},
                                          {"table->list", table_to_list, 1, 1},
                                          {NULL, NULL, 0, 0}};
/* SPDX-License-Identifier: MIT */
