/* Heap snapshots of OCaml (winnow/snapshot_writer.h).
 *
 * STOP. All domains stop, after a minor collection, so that no block is young. Then the roots are
 * told: the values of each module by its name, those that C code has registered, and the rest, which
 * are on stacks. A root that was told once, as a value of a module, is not told again (`told`).
 *
 * COPY. A copy of the process follows the roots, sorts what it has met by address, and tells it. It
 * has memory of its own by mmap, since other threads may hold malloc's locks.
 *
 * Only blocks of the heap are told. Static data of the program, which the collector does not
 * follow, lead to blocks by the fields of modules alone, and those are roots. */
#define CAML_NAME_SPACE
#define CAML_INTERNALS
#include <caml/alloc.h>
#include <caml/bigarray.h>
#include <caml/custom.h>
#include <caml/fail.h>
#include <caml/finalise.h>
#include <caml/globroots.h>
#include <caml/intext.h>
#include <caml/major_gc.h>
#include <caml/memory.h>
#include <caml/minor_gc.h>
#include <caml/mlvalues.h>
#include <caml/roots.h>
#include <caml/signals.h>
#include <caml/version.h>
#include <caml/weak.h>
#if OCAML_VERSION_MAJOR >= 5
#include <caml/domain.h>
#include <caml/fiber.h>
#include <caml/shared_heap.h>
#else
#include <caml/address_class.h>
#include <caml/memprof.h>
#endif

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <winnow/snapshot_writer.h>

enum {
  SIZE_MOST = 17,
  CUSTOMS_MOST = 256,
  SHARED_MOST = 1 << 14,
  FIRST_CUSTOM = 256 * (SIZE_MOST + 1),
  NAME_MOST = 200
};

/* Native code has a table of its modules, bytecode has a block of them. */
extern value *caml_globals[] __attribute__((weak));
extern char caml_globals_map[] __attribute__((weak));
extern value caml_global_data __attribute__((weak));

/* ---- sets of words ---- */

/* Open addressing, at most half full; 0 is no member. */
struct set {
  uintptr_t *slots;
  size_t size, count;
};

static void *map(size_t bytes) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

static size_t place_in(const struct set *set, uintptr_t member) {
  size_t at = member * 0x9e3779b97f4a7c15u >> 20 & (set->size - 1);
  while (set->slots[at] && set->slots[at] != member) at = (at + 1) & (set->size - 1);
  return at;
}

static bool has(const struct set *set, uintptr_t member) {
  return set->size && set->slots[place_in(set, member)] == member;
}

static bool grow(struct set *set) {
  struct set larger = {.size = set->size ? 2 * set->size : 1 << 12, .count = set->count};
  if (!(larger.slots = map(larger.size * sizeof *larger.slots))) return false;
  for (size_t i = 0; i < set->size; i++)
    if (set->slots[i]) larger.slots[place_in(&larger, set->slots[i])] = set->slots[i];
  if (set->slots) munmap(set->slots, set->size * sizeof *set->slots);
  *set = larger;
  return true;
}

/* False: it is there, or there is no memory (*no_memory). */
static bool add(struct set *set, uintptr_t member, bool *no_memory) {
  if (2 * set->count >= set->size && !grow(set)) return *no_memory = true, false;
  size_t at = place_in(set, member);
  if (set->slots[at]) return false;
  set->slots[at] = member;
  set->count++;
  return true;
}

static void discard(struct set *set) {
  if (set->slots) munmap(set->slots, set->size * sizeof *set->slots);
  *set = (struct set){0};
}

/* ---- the snapshot ---- */

/* What bigarrays share, and the one of them that has most of it. */
struct shared {
  const struct caml_ba_proxy *proxy;
  const struct caml_ba_array *array;
  size_t bytes;
};

struct taking {
  wn_snapshot *snapshot;
  value modules; /* their names, an array of strings */
  struct set told, weak, met;
  uintptr_t *queue; /* the blocks that were met */
  size_t count, capacity;
  bool no_memory;
  wn_root_kind kind; /* of the roots that are told */
  const char *name;
  char text[NAME_MOST];
  bool has_type[FIRST_CUSTOM]; /* by tag and size: a block has this type */
  const struct custom_operations *customs[CUSTOMS_MOST];
  uint32_t custom_count;
  struct shared shared[SHARED_MOST]; /* a hash table; what does not fit counts for each bigarray */
  const char *path;
  wn_status status;
#if OCAML_VERSION_MAJOR >= 5
  caml_domain_state *caller, **domains;
  int domain_count;
#endif
};

#if OCAML_VERSION_MAJOR >= 5
enum { FIRST_NAMED = Cont_tag };
#else
enum { FIRST_NAMED = Lazy_tag };
static struct taking *now; /* for actions, which have no argument; under the runtime's lock */
#endif

static bool is_in_heap(value v) {
#if OCAML_VERSION_MAJOR >= 5
  return Is_block(v) && !Has_status_hd(Hd_val(v), NOT_MARKABLE);
#else
  return Is_block(v) && Is_in_heap(v);
#endif
}

/* The block that a value leads to; 0: to none of the heap. A function of a closure with several lies
 * in the middle of it, and its header there tells nothing else. */
static value block_of(value v) {
#if OCAML_VERSION_MAJOR < 5
  if (!is_in_heap(v)) return 0; /* it may be no value at all */
#endif
  if (Is_block(v) && Tag_val(v) == Infix_tag) v -= (value)Infix_offset_val(v);
  return is_in_heap(v) ? v : 0;
}

/* Closures begin with code. */
static mlsize_t first_field(value block) {
  return Tag_val(block) == Closure_tag ? Start_env_closinfo(Closinfo_val(block)) : 0;
}

/* ---- roots ---- */

static void meet(struct taking *of, value block) {
  if (of->count == of->capacity) {
    size_t capacity = of->capacity ? 2 * of->capacity : 1 << 12;
    uintptr_t *queue = map(capacity * sizeof *queue);
    if (!queue) {
      of->no_memory = true;
      return;
    }
    if (of->count) memcpy(queue, of->queue, of->count * sizeof *queue);
    if (of->queue) munmap(of->queue, of->capacity * sizeof *queue);
    of->queue = queue;
    of->capacity = capacity;
  }
  if (add(&of->met, (uintptr_t)block, &of->no_memory)) of->queue[of->count++] = (uintptr_t)block;
}

static void tell_root(struct taking *of, value v, const volatile value *slot) {
  value block = block_of(v);
  if (!block || !add(&of->told, (uintptr_t)slot, &of->no_memory)) return;
  wn_snapshot_root(of->snapshot, of->kind, of->name, (uintptr_t)block);
  meet(of, block);
}

#if OCAML_VERSION_MAJOR >= 5
static void visit_root(void *of, value v, volatile value *slot) { tell_root(of, v, slot); }
#else
static void visit_root(value v, value *slot) { tell_root(now, v, slot); }
#endif

static void begin_roots(struct taking *of, wn_root_kind kind, const char *name) {
  of->kind = kind;
  of->name = name;
}

static void tell_module(struct taking *of, size_t module, value block) {
  char number[32];
  const char *name = number;
  snprintf(number, sizeof number, "module %zu", module + 1);
  if (module < Wosize_val(of->modules)) name = String_val(Field(of->modules, module));
  begin_roots(of, WN_ROOT_GLOBAL, of->text);
  if (!Is_block(block) || Tag_val(block) >= No_scan_tag) return;
  for (mlsize_t i = first_field(block); i < Wosize_val(block); i++) {
    snprintf(of->text, sizeof of->text, "%s, value %zu", name, (size_t)i + 1);
    tell_root(of, Field(block, i), &Field(block, i));
  }
}

static void tell_modules(struct taking *of) {
  if (caml_globals)
    for (size_t i = 0; caml_globals[i]; i++)
      for (value *block = caml_globals[i]; *block; block++) tell_module(of, i, *block);
  if (!&caml_global_data || !is_in_heap(caml_global_data)) return;
  for (mlsize_t i = 0; i < Wosize_val(caml_global_data); i++) tell_module(of, i, Field(caml_global_data, i));
  add(&of->told, (uintptr_t)&caml_global_data, &of->no_memory);
}

#if OCAML_VERSION_MAJOR >= 5
static void add_weak(struct taking *of, value list) {
  for (; list; list = Ephe_link(list)) add(&of->weak, (uintptr_t)list, &of->no_memory);
}

static void tell_roots_of_runtime(struct taking *of) {
  begin_roots(of, WN_ROOT_LANGUAGE, "C");
  caml_scan_global_roots(visit_root, of);
  for (int i = 0; i < of->domain_count; i++) {
    caml_domain_state *domain = of->domains[i];
    add_weak(of, domain->ephe_info->live);
    add_weak(of, domain->ephe_info->todo);
    begin_roots(of, WN_ROOT_STACK, "stacks");
    caml_do_roots(visit_root, 0, of, domain, 0);
  }
}
#else
static void tell_roots_of_runtime(struct taking *of) {
  now = of;
  for (value list = caml_ephe_list_head; list; list = Field(list, CAML_EPHE_LINK_OFFSET))
    add(&of->weak, (uintptr_t)list, &of->no_memory);
  begin_roots(of, WN_ROOT_LANGUAGE, "C");
  caml_scan_global_roots(visit_root);
  begin_roots(of, WN_ROOT_FINALISER, NULL);
  caml_final_do_roots(visit_root);
  begin_roots(of, WN_ROOT_LANGUAGE, "Gc.Memprof");
  caml_memprof_do_roots(visit_root);
  begin_roots(of, WN_ROOT_STACK, "stacks");
  caml_do_roots(visit_root, 0);
}
#endif

static void roots(wn_snapshot *snapshot, void *context) {
  struct taking *of = context;
  of->snapshot = snapshot;
  tell_modules(of);
  tell_roots_of_runtime(of);
}

/* ---- COPY: what the roots lead to ---- */

typedef void visit_field(struct taking *of, size_t field, value block);

#if OCAML_VERSION_MAJOR >= 5
struct stack_walk {
  struct taking *of;
  visit_field *visit;
  size_t count;
};

static void visit_slot(void *context, value v, volatile value *slot) {
  struct stack_walk *walk = context;
  value block = block_of(v);
  (void)slot;
  if (block) walk->visit(walk->of, walk->count++, block);
}

/* What a continuation has on its stack. */
static void visit_stack(struct taking *of, value continuation, visit_field *visit) {
  struct stack_walk walk = {of, visit, 0};
  struct stack_info *stack = Ptr_val(Field(continuation, 0));
  if (stack) caml_scan_stack(visit_slot, 0, &walk, stack, NULL);
}
#endif

static void visit_fields(struct taking *of, value block, visit_field *visit) {
  for (mlsize_t i = first_field(block); i < Wosize_val(block); i++) {
    value target = block_of(Field(block, i));
    if (target) visit(of, i, target);
  }
}

static void visit_block(struct taking *of, value block, visit_field *visit) {
#if OCAML_VERSION_MAJOR >= 5
  if (Tag_val(block) == Cont_tag) {
    visit_stack(of, block, visit);
    return;
  }
#endif
  if (Tag_val(block) < No_scan_tag) visit_fields(of, block, visit);
}

static void meet_target(struct taking *of, size_t field, value block) {
  (void)field;
  meet(of, block);
}

/* The data of an ephemeron are met, and hang on nothing if a key is not. */
static void follow(struct taking *of) {
  for (size_t at = 0; at < of->count && !of->no_memory; at++) {
    value block = (value)of->queue[at], data;
    if (!has(&of->weak, (uintptr_t)block))
      visit_block(of, block, meet_target);
    else if ((data = block_of(Field(block, CAML_EPHE_DATA_OFFSET))))
      meet(of, data);
  }
}

/* By their lowest 48 bits, which are all that addresses of programs have. */
static void sort_by_address(struct taking *of) {
  enum { DIGITS = 1 << 16 };
  uintptr_t *from = of->queue, *to = map((of->count + 1) * sizeof *to);
  size_t *places = map(DIGITS * sizeof *places);
  if (!to || !places) {
    of->no_memory = true;
    return;
  }
  for (unsigned shift = 0; shift < 48; shift += 16) {
    size_t place = 0;
    memset(places, 0, DIGITS * sizeof *places);
    for (size_t i = 0; i < of->count; i++) places[from[i] >> shift & (DIGITS - 1)]++;
    for (size_t i = 0, count; i < DIGITS; i++, place += count) count = places[i], places[i] = place;
    for (size_t i = 0; i < of->count; i++) to[places[from[i] >> shift & (DIGITS - 1)]++] = from[i];
    uintptr_t *sorted = to;
    to = from;
    from = sorted;
  }
  munmap(places, DIGITS * sizeof *places);
  munmap(of->queue, of->capacity * sizeof *of->queue); /* three passes end in the other one */
  of->queue = from;
  of->capacity = of->count + 1;
}

/* ---- COPY: telling it ---- */

static uint32_t type_of_custom(struct taking *of, value block) {
  const struct custom_operations *ops = Custom_ops_val(block);
  uint32_t i = 0;
  while (i < of->custom_count && of->customs[i] != ops) i++;
  if (i == CUSTOMS_MOST) return FIRST_CUSTOM + CUSTOMS_MOST;
  if (i == of->custom_count) of->customs[of->custom_count++] = ops;
  return FIRST_CUSTOM + i;
}

static struct caml_ba_array *managed_array(value block) {
  if (Tag_val(block) != Custom_tag || strncmp(Custom_ops_val(block)->identifier, "_bigarr", 7)) return NULL;
  struct caml_ba_array *array = Caml_ba_array_val(block);
  return (array->flags & CAML_BA_MANAGED_MASK) == CAML_BA_MANAGED ? array : NULL;
}

static struct shared *shared_by(struct taking *of, const struct caml_ba_proxy *proxy) {
  size_t at = (uintptr_t)proxy * 0x9e3779b97f4a7c15u >> 20 & (SHARED_MOST - 1);
  for (size_t tries = 0; tries < SHARED_MOST; tries++, at = (at + 1) & (SHARED_MOST - 1))
    if (!of->shared[at].proxy || of->shared[at].proxy == proxy) return &of->shared[at];
  return NULL;
}

/* Memory that several bigarrays share goes with the one of them that has most of it. */
static void find_shared(struct taking *of) {
  for (size_t i = 0; i < of->count; i++) {
    struct caml_ba_array *array = managed_array((value)of->queue[i]);
    struct shared *shared = array && array->proxy ? shared_by(of, array->proxy) : NULL;
    size_t bytes = shared ? caml_ba_byte_size(array) : 0;
    if (shared && (!shared->proxy || bytes > shared->bytes))
      *shared = (struct shared){array->proxy, array, bytes};
  }
}

static size_t bytes_outside(struct taking *of, value block) {
  struct caml_ba_array *array = managed_array(block);
  if (!array) return 0;
  const struct shared *shared = array->proxy ? shared_by(of, array->proxy) : NULL;
  return !shared || shared->array == array ? caml_ba_byte_size(array) : 0;
}

static void tell_reference(struct taking *of, size_t field, value block) {
  wn_snapshot_reference(of->snapshot, field, (uintptr_t)block);
}

static void tell_ephemeron(struct taking *of, value block) {
  bool alive = true;
  for (mlsize_t i = CAML_EPHE_FIRST_KEY; i < Wosize_val(block); i++) {
    value key = block_of(Field(block, i));
    alive &= !key || has(&of->met, (uintptr_t)key);
  }
  value data = alive ? block_of(Field(block, CAML_EPHE_DATA_OFFSET)) : 0;
  if (data) tell_reference(of, 0, data);
  for (mlsize_t i = CAML_EPHE_FIRST_KEY; i < Wosize_val(block); i++) {
    value key = block_of(Field(block, i));
    if (key && has(&of->met, (uintptr_t)key)) tell_reference(of, i - CAML_EPHE_FIRST_KEY + 1, key);
  }
}

static void tell_block(struct taking *of, value block) {
  mlsize_t words = Wosize_val(block), size = words < SIZE_MOST ? words : SIZE_MOST;
  bool weak = has(&of->weak, (uintptr_t)block), custom = Tag_val(block) == Custom_tag;
  uint32_t type = Tag_val(block) < FIRST_NAMED ? Tag_val(block) * (SIZE_MOST + 1) + (uint32_t)size
                                               : Tag_val(block) * (SIZE_MOST + 1);
  if (weak) type++;
  wn_block_info info = {.type = (custom ? type_of_custom(of, block) : type) + 1,
                        .words = words,
                        .outside = custom ? bytes_outside(of, block) : 0,
                        .weak = weak};
  if (!custom) of->has_type[type] = true;
  wn_snapshot_block(of->snapshot, (uintptr_t)block, &info);
  if (weak)
    tell_ephemeron(of, block);
  else
    visit_block(of, block, tell_reference);
}

static const char *name_of_tag(unsigned tag, bool weak) {
  switch (tag) {
  case Lazy_tag: return "lazy";
  case Closure_tag: return "closure";
  case Object_tag: return "object";
  case Forward_tag: return "lazy value";
  case Abstract_tag: return weak ? "weak" : "abstract";
  case String_tag: return "string";
  case Double_tag: return "float";
  case Double_array_tag: return "float array";
#if OCAML_VERSION_MAJOR >= 5
  case Cont_tag: return "continuation";
#endif
  default: return "block";
  }
}

static void tell_type(struct taking *of, unsigned tag, unsigned size) {
  char text[NAME_MOST];
  const char *plural = size == SIZE_MOST ? "s or more" : size == 1 ? "" : "s";
  if (tag)
    snprintf(text, sizeof text, "%u field%s, tag %u", size, plural, tag);
  else
    snprintf(text, sizeof text, "%u field%s", size, plural);
  uint32_t type = tag * (SIZE_MOST + 1) + size;
  wn_snapshot_type(of->snapshot, type + 1, tag < FIRST_NAMED ? text : name_of_tag(tag, size));
}

static const char *name_of_custom(const char *identifier) {
  static const char *const names[][2] = {
      {"_i", "int32"}, {"_j", "int64"}, {"_n", "nativeint"}, {"_chan", "channel"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(identifier, names[i][0])) return names[i][1];
  return strncmp(identifier, "_bigarr", 7) ? identifier : "bigarray";
}

static void tell_types(struct taking *of) {
  for (unsigned type = 0; type < FIRST_CUSTOM; type++)
    if (of->has_type[type]) tell_type(of, type / (SIZE_MOST + 1), type % (SIZE_MOST + 1));
  for (uint32_t i = 0; i < of->custom_count; i++)
    wn_snapshot_type(of->snapshot, FIRST_CUSTOM + i + 1, name_of_custom(of->customs[i]->identifier));
  wn_snapshot_type(of->snapshot, FIRST_CUSTOM + CUSTOMS_MOST + 1, "other custom blocks");
}

static void blocks(wn_snapshot *snapshot, void *context) {
  struct taking *of = context;
  (void)snapshot;
  follow(of);
  if (!of->no_memory) sort_by_address(of);
  if (!of->no_memory) find_shared(of);
  for (size_t i = 0; i < of->count && !of->no_memory; i++) tell_block(of, (value)of->queue[i]);
  if (of->no_memory)
    wn_snapshot_fail(snapshot, ENOMEM);
  else
    tell_types(of);
}

/* ---- STOP ---- */

static void begin(struct taking *of) {
  const wn_snapshot_source source = {"OCaml", roots, blocks, of};
  of->status = wn_snapshot_begin(of->path, &source, &of->snapshot);
}

#if OCAML_VERSION_MAJOR >= 5
static void stw_begin(caml_domain_state *domain, void *context, int count, caml_domain_state **domains) {
  struct taking *of = context;
  caml_empty_minor_heap_no_major_slice_from_stw(domain, NULL, count, domains);
  caml_global_barrier(count);
  if (domain == of->caller) {
    of->domains = domains;
    of->domain_count = count;
    begin(of);
  }
  caml_global_barrier(count);
}

static void stop_and_begin(struct taking *of) {
  of->caller = Caml_state;
  while (!caml_try_run_on_all_domains(stw_begin, of, caml_empty_minor_heap_setup)) continue;
}
#else
static void stop_and_begin(struct taking *of) {
  caml_empty_minor_heap();
  begin(of);
}
#endif

/* ---- primitives ---- */

/* What Dynlink reads: the units of a native program, in the order of its table of modules. */
CAMLprim value winnow_units(value unit) {
  (void)unit;
  return caml_globals_map ? caml_input_value_from_block(caml_globals_map, INT_MAX) : Val_emptylist;
}

/* No signal handler of the program's runs before the end: it might raise. */
CAMLprim value winnow_snapshot(value path, value modules) {
  CAMLparam2(path, modules);
  if (!caml_string_is_c_safe(path)) caml_invalid_argument("Winnow.snapshot: the path has a NUL");
  char *name = caml_stat_strdup(String_val(path));
  struct taking *of = map(sizeof *of);
  if (!of) {
    caml_stat_free(name);
    caml_raise_out_of_memory();
  }
  of->path = name;
  of->modules = modules;
  caml_register_generational_global_root(&of->modules);
  stop_and_begin(of);
  caml_remove_generational_global_root(&of->modules);
  caml_enter_blocking_section_no_pending();
  if (!of->status) of->status = wn_snapshot_end(of->snapshot);
  caml_leave_blocking_section();
  bool failed = of->status != WN_OK;
  discard(&of->told), discard(&of->weak), discard(&of->met);
  if (of->queue) munmap(of->queue, of->capacity * sizeof *of->queue);
  munmap(of, sizeof *of);
  caml_stat_free(name);
  if (failed) caml_failwith(wn_last_error());
  CAMLreturn(Val_unit);
}
/* SPDX-License-Identifier: MIT */
