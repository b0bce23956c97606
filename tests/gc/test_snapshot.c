/* Snapshots of random heaps, against a model of what the program built: nodes, edges, roots, and
 * what is reachable. And snapshots that fail. */
#include "base/check.h"
#include "base/random.h"
#include "retention/graph.h"
#include "support/runs.h"
#include "support/test.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <winnow/gc.h>
#include <winnow/snapshot.h>
#include <winnow/weak.h>

enum { NODES = 200, ROOTED = 8, FIELDS = 6, LONG_WORDS = TINY ? 3000 : 150000, NONE = -1 };

/* ---- the model ---- */

struct node {
  unsigned tag;
  size_t words, outside;
  int fields[FIELDS]; /* nodes, or NONE; of a weak block: its data and its keys */
  size_t edges;       /* FIELDS, or 0 */
  bool reachable;
};

struct model {
  struct random random;
  struct node nodes[NODES];
  int globals[3], pins[2], roots[ROOTED]; /* nodes */
  wn_value slots[ROOTED];                 /* what walk_roots visits */
  wn_heap *heap;
  wn_domain *domain;
};

static size_t below(struct model *model, size_t count) {
  return (size_t)(random_bits(&model->random) % count);
}

static const wn_custom_ops ops = {"file", NULL};
static const char *const global_names[] = {"first", "second", NULL};

/* Each node has a size of its own, by which a test finds it in a snapshot. */
static void plan_node(struct model *model, int number) {
  static const unsigned tags[] = {0, 0, 1, 2, 3, WN_TAG_RAW, WN_TAG_CUSTOM, WN_TAG_WEAK};
  struct node *node = &model->nodes[number];
  *node =
      (struct node){.tag = tags[below(model, sizeof tags / sizeof *tags)], .words = FIELDS + (size_t)number};
  if (node->tag == WN_TAG_CUSTOM) node->outside = below(model, 3) * 1000;
  if (node->tag < 4 && !below(model, 50)) node->words += LONG_WORDS;
  if (node->tag > WN_TAG_SCANNED_MAX && node->tag != WN_TAG_WEAK) return;
  node->edges = FIELDS;
  for (size_t i = 0; i < FIELDS; i++)
    node->fields[i] = below(model, node->tag == WN_TAG_WEAK ? 2 : 8) ? NONE : (int)below(model, NODES);
}

static wn_ref make_node(struct model *model, const struct node *node) {
  switch (node->tag) {
  case WN_TAG_WEAK: return wn_ephemeron_new(model->domain, node->words - 1);
  case WN_TAG_CUSTOM: return wn_alloc_custom(model->domain, &ops, (node->words - 2) * 8, node->outside);
  default: return wn_alloc(model->domain, node->words, node->tag);
  }
}

/* The last field of a long block, so that its edges are in several pieces. */
static size_t place_of(const struct node *node, size_t i) {
  return i == FIELDS - 1 && node->words > LONG_WORDS ? node->words - 1 : i;
}

static void link_node(struct model *model, const struct node *node, wn_ref made, const wn_ref *all) {
  for (size_t i = 0; i < node->edges; i++) {
    if (node->fields[i] == NONE) continue;
    wn_ref to = all[node->fields[i]];
    if (node->tag != WN_TAG_WEAK)
      wn_set(model->domain, made, place_of(node, i), to);
    else if (i)
      assert_int_equal(wn_ephemeron_set_key(model->domain, made, i - 1, to), WN_OK);
    else
      assert_int_equal(wn_ephemeron_set_data(model->domain, made, to), WN_OK);
  }
}

static void reach(struct model *model, int from) {
  struct node *node = &model->nodes[from];
  if (node->reachable) return;
  node->reachable = true;
  for (size_t i = 0; i < node->edges && node->tag != WN_TAG_WEAK; i++)
    if (node->fields[i] != NONE) reach(model, node->fields[i]);
}

static bool has_data(const struct model *model, const struct node *node) {
  if (node->tag != WN_TAG_WEAK || !node->reachable || node->fields[0] == NONE) return false;
  for (size_t i = 1; i < node->edges; i++)
    if (node->fields[i] != NONE && !model->nodes[node->fields[i]].reachable) return false;
  return true;
}

static size_t reach_all(struct model *model) {
  size_t count = 0, before;
  for (int i = 0; i < 3; i++) reach(model, model->globals[i]);
  for (int i = 0; i < 2; i++) reach(model, model->pins[i]);
  for (int i = 0; i < ROOTED; i++) reach(model, model->roots[i]);
  do {
    before = count;
    for (int i = 0; i < NODES; i++)
      if (has_data(model, &model->nodes[i])) reach(model, model->nodes[i].fields[0]);
    count = 0;
    for (int i = 0; i < NODES; i++) count += model->nodes[i].reachable;
  } while (count != before);
  return count;
}

static void walk_roots(wn_domain *domain, wn_visit *visit, void *visitor, void *context) {
  struct model *model = context;
  if (domain != model->domain) return;
  for (int i = 0; i < ROOTED; i++) {
    wn_root_name(visit, visitor, i % 2 ? "odd" : NULL);
    visit(visitor, &model->slots[i]);
  }
}

/* ---- types ---- */

static unsigned type_of(wn_value block, void *context) { return (void)context, 1000 + wn_tag(block); }
static const char *type_name(unsigned type, void *context) {
  return (void)context, type == 1001 ? "one" : type == 1002 ? "two" : NULL;
}
static const char *field_name(unsigned type, size_t field, void *context) {
  return (void)context, type == 1001 && field == 2 ? "third" : NULL;
}
static const char *describe(wn_value block, void *context) {
  return (void)context, wn_tag(block) == 2 ? "described" : NULL;
}

static void open_heap(struct model *model, bool named) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.hooks.walk_roots = walk_roots;
  options.hooks.context = model;
  options.text = "";
  if (named) {
    options.language = "named";
    options.hooks.type_of = type_of;
    options.hooks.type_name = type_name;
    options.hooks.field_name = field_name;
    options.hooks.describe = describe;
  }
  for (int i = 0; i < ROOTED; i++) model->slots[i] = wn_int(0);
  model->domain = NULL;
  assert_int_equal(wn_heap_open(&options, &model->heap), WN_OK);
  assert_int_equal(wn_domain_attach(model->heap, &model->domain), WN_OK);
}

/* ---- the snapshot's graph is the model's ---- */

static int number_of(const struct graph *graph, uint32_t node) {
  size_t words = graph_words(graph, node);
  assert_true(node >= graph->first_block);
  return (int)((words >= LONG_WORDS ? words - LONG_WORDS : words) - FIELDS);
}

static bool is_condition(const struct node *weak, int number, int condition) {
  for (size_t i = 1; i < weak->edges; i++)
    if (weak->fields[i] == condition) return true;
  return number == condition;
}

/* The data of an ephemeron hang on one of its conditions. */
static void check_data(const struct model *model, int from, int to) {
  for (int i = 0; i < NODES; i++)
    if (has_data(model, &model->nodes[i]) && model->nodes[i].fields[0] == to &&
        is_condition(&model->nodes[i], i, from))
      return;
  fail_msg("node %d leads to the data %d of no ephemeron", from, to);
}

static void check_names(const struct graph *graph, uint32_t node, const struct node *planned) {
  const char *type = graph_type_name(graph, graph_type(graph, node));
  const char *description = graph_description(graph, node);
  bool named = strncmp(graph->language, "named", 5) == 0;
  if (planned->tag == WN_TAG_CUSTOM) assert_string_equal(type, "file");
  if (planned->tag == WN_TAG_WEAK) assert_string_equal(type, "weak block");
  if (planned->tag == WN_TAG_RAW) assert_string_equal(type, named ? "type 1252" : "bytes");
  if (planned->tag == 1) assert_string_equal(type, named ? "one" : "tag 1");
  if (planned->tag == 3) assert_string_equal(type, named ? "type 1003" : "tag 3");
  assert_int_equal(description != NULL, named && planned->tag == 2);
}

/* Returns how many data of ephemerons the node leads to. */
static size_t check_node(const struct model *model, const struct graph *graph, uint32_t node) {
  int number = number_of(graph, node);
  const struct node *planned = &model->nodes[number];
  struct edge_walk edge = graph_edges(graph, node);
  size_t data = 0;
  assert_true(planned->reachable);
  assert_int_equal(graph_bytes(graph, node), 8 * (planned->words + 1) + planned->outside);
  check_names(graph, node, planned);
  for (size_t i = 0; i < planned->edges && planned->tag != WN_TAG_WEAK; i++) {
    if (planned->fields[i] == NONE) continue;
    assert_true(edge_next(&edge));
    assert_int_equal(edge.field, place_of(planned, i));
    assert_int_equal(number_of(graph, edge.to), planned->fields[i]);
  }
  for (; edge_next(&edge); data++) {
    assert_int_equal(edge.field, FIELD_DATA);
    check_data(model, number, number_of(graph, edge.to));
  }
  return data;
}

/* A holder leads to these nodes, in some order. */
static void check_holder(const struct graph *graph, enum holder_kind kind, const char *name, const int *nodes,
                         size_t step, size_t count) {
  size_t found = 0, wanted = 0;
  for (uint32_t node = NODE_HOLDERS; node < graph->first_block; node++) {
    const struct graph_holder *holder = &graph->holders[node - NODE_HOLDERS];
    if (holder->kind != kind || strcmp(holder->name, name) != 0) continue;
    assert_int_equal(graph->edge_begin[node + 1] - graph->edge_begin[node], count);
    for (size_t i = 0; i < count; i++) {
      found += (size_t)number_of(graph, graph->edges[graph->edge_begin[node] + i]);
      wanted += (size_t)nodes[i * step];
    }
    assert_int_equal(found, wanted);
    return;
  }
  fail_msg("there is no holder '%s'", name);
}

static void load(const char *path, struct graph *graph) {
  struct stat status;
  int file = open(path, O_RDONLY);
  assert_true(file >= 0 && !fstat(file, &status));
  void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  assert_int_equal(graph_load(graph, bytes, (size_t)status.st_size), WN_OK);
  munmap(bytes, (size_t)status.st_size);
  close(file);
  assert_true(graph->complete);
  assert_true(graph_search(graph));
  assert_int_equal(graph->lost, 0);
}

/* ---- a path is as short as the graph's ---- */

static void count_blocks(void *context, const wn_path_step *step) {
  *(size_t *)context += step->blocks;
  assert_non_null(step->type);
}

static uint32_t node_of(const struct graph *graph, int number) {
  for (uint32_t node = graph->first_block; node < graph->node_count; node++)
    if (graph_is_reachable(graph, node) && number_of(graph, node) == number) return node;
  fail_msg("node %d is not in the graph", number);
  return NODE_ALL;
}

/* Of a block some steps away from a root. In the graph the data of ephemerons hang on the last of
 * their conditions, so a path with them may be longer there. */
static void check_path(struct model *model, const struct graph *graph) {
  WN_SCOPE(model->domain);
  size_t blocks = 0, wanted = 0, data = 0;
  wn_ref at = wn_root(model->domain, model->slots[below(model, ROOTED)]);
  for (size_t steps = below(model, 12); steps; steps--) {
    size_t words = wn_words(wn_value_of(at)), field = below(model, words < FIELDS ? words : FIELDS);
    if (wn_tag(wn_value_of(at)) > WN_TAG_SCANNED_MAX || wn_field(at, field) & 1) continue;
    wn_assign_field(at, at, field);
  }
  size_t words = wn_words(wn_value_of(at));
  uint32_t node = node_of(graph, (int)((words >= LONG_WORDS ? words - LONG_WORDS : words) - FIELDS));
  for (; node != NODE_ALL; node = graph->parent[node])
    wanted++, data += graph_field_to(graph, graph->parent[node], node) == FIELD_DATA;
  assert_int_equal(wn_block_path(model->domain, at, count_blocks, &blocks), WN_OK);
  assert_true(blocks > 1 && (data || blocks <= wanted));
}

static void check(struct model *model, const char *path) {
  struct graph graph;
  size_t reachable = reach_all(model), data = 0, has = 0;
  load(path, &graph);
  assert_int_equal(graph.process, getpid());
  assert_int_equal(graph.reached, reachable + graph.first_block);
  for (uint32_t i = 0; i < graph.reached; i++)
    if (graph.order[i] >= graph.first_block) data += check_node(model, &graph, graph.order[i]);
  for (int i = 0; i < NODES; i++) has += has_data(model, &model->nodes[i]);
  assert_int_equal(data, has);
  for (int i = 0; i < 3; i++)
    check_holder(&graph, HOLDER_GLOBALS, global_names[i] ? global_names[i] : "", &model->globals[i], 1, 1);
  check_holder(&graph, HOLDER_PINS, "", model->pins, 1, 2);
  check_holder(&graph, HOLDER_ROOTS, "", model->roots, 2, ROOTED / 2);
  check_holder(&graph, HOLDER_ROOTS, "odd", model->roots + 1, 2, ROOTED / 2);
  for (int i = 0; i < 10; i++) check_path(model, &graph);
  graph_free(&graph);
}

/* ---- building ---- */

/* Pins of one node count as one. */
static void root(struct model *model, const wn_ref *all, wn_global *globals[3]) {
  for (int i = 0; i < ROOTED; i++)
    model->slots[i] = wn_value_of(all[model->roots[i] = (int)below(model, NODES)]);
  for (int i = 0; i < 3; i++) {
    wn_ref ref = all[model->globals[i] = (int)below(model, NODES)];
    globals[i] = global_names[i] ? wn_global_new_named(model->domain, ref, global_names[i])
                                 : wn_global_new(model->domain, ref);
    assert_non_null(globals[i]);
  }
  model->pins[0] = (int)below(model, NODES - 1);
  model->pins[1] = model->pins[0] + 1;
  for (int i = 0; i < 2; i++) assert_int_equal(wn_pin(model->domain, all[model->pins[i]]), WN_OK);
}

static void build(struct model *model, wn_global *globals[3]) {
  WN_SCOPE(model->domain);
  wn_ref all[NODES];
  for (int i = 0; i < NODES; i++) plan_node(model, i);
  for (int i = 0; i < NODES; i++) {
    all[i] = make_node(model, &model->nodes[i]);
    assert_false(wn_is_null(all[i]));
  }
  for (int i = 0; i < NODES; i++) link_node(model, &model->nodes[i], all[i], all);
  root(model, all, globals);
}

/* In any phase of a cycle. */
static void work(struct model *model) {
  for (size_t i = below(model, 6); i; i--) wn_gc_major_slice(model->domain, (long)(1 + below(model, 5000)));
  if (!below(model, 4)) assert_int_equal(wn_gc_full_major(model->domain), WN_OK);
  if (!below(model, 4)) assert_int_equal(wn_gc_compact(model->domain), WN_OK);
}

static char path[4096];

static void run(uint64_t seed) {
  struct model model = {0};
  wn_global *globals[3];
  random_seed(&model.random, seed, 0, 0);
  open_heap(&model, seed % 2);
  build(&model, globals);
  work(&model);
  assert_int_equal(wn_heap_snapshot(model.domain, path), WN_OK);
  assert_int_equal(wn_gc_verify(model.domain, stderr), WN_OK);
  check(&model, path);
  work(&model); /* the heap goes on */
  assert_int_equal(wn_domain_detach(model.domain), WN_OK);
  assert_int_equal(wn_heap_close(model.heap), WN_OK);
}

static void snapshots_are_what_the_program_built(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= (uint64_t)runs_of(200); seed++) run(seed);
}

/* ---- without a copy, and with one that dies ---- */

static bool no_copies;
static size_t copies;
long __real_syscall(long number, ...);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (number == SYS_clone) copies++;
  if (number == SYS_clone && no_copies) return errno = ENOMEM, -1;
  return __real_syscall(number, a, b, c, d, e, f);
}

static void where_no_copy_can_be_made_the_world_waits(void **state) {
  (void)state;
  no_copies = true;
  copies = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) run(seed);
  assert_int_equal(copies, 20);
  no_copies = false;
}

static long program;
static const char *die(wn_value block, void *context) {
  (void)block, (void)context;
  if (__real_syscall(SYS_getpid) != program) __real_syscall(SYS_kill, __real_syscall(SYS_getpid), SIGKILL);
  return NULL;
}
static const char *leave(wn_value block, void *context) {
  (void)block, (void)context;
  if (__real_syscall(SYS_getpid) != program) __real_syscall(SYS_exit_group, 0);
  return NULL;
}

static bool exists(const char *name) { return !access(name, F_OK); }

static void nothing_is_left(void) {
  char pattern[4200];
  glob_t found;
  snprintf(pattern, sizeof pattern, "%s*.part", path);
  assert_int_equal(glob(pattern, 0, NULL, &found), GLOB_NOMATCH);
  globfree(&found);
}

static void copy_ends(const char *(*describe_block)(wn_value, void *)) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  wn_heap *heap;
  wn_domain *domain;
  program = getpid();
  unlink(path);
  options.hooks.describe = describe_block;
  assert_int_equal(wn_heap_open(&options, &heap), WN_OK);
  assert_int_equal(wn_domain_attach(heap, &domain), WN_OK);
  {
    WN_SCOPE(domain);
    assert_false(wn_is_null(wn_alloc(domain, 2, 0)));
    assert_int_equal(wn_heap_snapshot(domain, path), WN_EIO);
    assert_non_null(strstr(wn_last_error(), "was ended"));
    assert_false(exists(path));
    nothing_is_left();
  }
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
}

static void a_copy_that_ends_is_told_and_leaves_nothing(void **state) {
  (void)state;
  copy_ends(die);
  copy_ends(leave);
}

static wn_status status_in_hook;
static void take_in_hook(wn_domain *domain, wn_visit *visit, void *visitor, void *context) {
  (void)visit, (void)visitor, (void)context;
  status_in_hook = wn_heap_snapshot(domain, path);
}

static void a_hook_takes_none(void **state) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  wn_heap *heap;
  wn_domain *domain;
  (void)state;
  options.hooks.walk_roots = take_in_hook;
  assert_int_equal(wn_heap_open(&options, &heap), WN_OK);
  assert_int_equal(wn_domain_attach(heap, &domain), WN_OK);
  assert_int_equal(wn_gc_minor(domain), WN_OK);
  assert_int_equal(status_in_hook, WN_ESTATE);
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
}

/* A file that cannot be written stays as it was. */
static void a_failure_leaves_the_file_that_was_there(void **state) {
  struct rlimit before, little = {1, 1};
  struct model model = {0};
  wn_global *globals[3];
  struct stat status;
  (void)state;
  random_seed(&model.random, 1, 0, 0);
  open_heap(&model, false);
  build(&model, globals);
  assert_int_equal(wn_heap_snapshot(model.domain, path), WN_OK);
  assert_int_equal(stat(path, &status), 0);
  off_t size = status.st_size;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  little.rlim_max = before.rlim_max;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
  assert_int_equal(wn_heap_snapshot(model.domain, path), WN_EIO);
  no_copies = true; /* no signal ends the program either */
  assert_int_equal(wn_heap_snapshot(model.domain, path), WN_EIO);
  no_copies = false;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  assert_non_null(strstr(wn_last_error(), strerror(EFBIG)));
  assert_int_equal(stat(path, &status), 0);
  assert_int_equal(status.st_size, size);
  nothing_is_left();
  assert_int_equal(wn_heap_snapshot(model.domain, "/no/such/folder/file"), WN_EIO);
  assert_int_equal(wn_heap_snapshot(model.domain, NULL), WN_EINVAL);
  assert_int_equal(wn_domain_detach(model.domain), WN_OK);
  assert_int_equal(wn_heap_close(model.heap), WN_OK);
}

static void only_a_file_is_replaced(void **state) {
  char other[4200];
  wn_heap *heap;
  wn_domain *domain;
  struct stat status;
  (void)state;
  snprintf(other, sizeof other, "%s.other", path);
  unlink(path), unlink(other);
  assert_int_equal(wn_heap_open(NULL, &heap), WN_OK);
  assert_int_equal(wn_domain_attach(heap, &domain), WN_OK);
  assert_int_equal(mkfifo(other, 0600), 0);
  assert_int_equal(wn_heap_snapshot(domain, other), WN_EIO);
  assert_true(!lstat(other, &status) && S_ISFIFO(status.st_mode));
  unlink(other);
  assert_int_equal(wn_heap_snapshot(domain, path), WN_OK);
  assert_int_equal(symlink(path, other), 0);
  assert_int_equal(wn_heap_snapshot(domain, other), WN_OK);
  assert_true(!lstat(other, &status) && S_ISLNK(status.st_mode));
  unlink(other);
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
}

/* ---- other domains go on ---- */

static _Atomic(bool) over;

static void allocate(wn_domain *domain, void *argument) {
  (void)argument;
  while (!over) {
    WN_SCOPE(domain);
    wn_ref list = wn_root(domain, wn_int(0));
    for (int i = 0; i < 1000; i++) wn_push_int(domain, list, 0, i);
  }
}

static void take_some(wn_domain *domain, void *argument) {
  int *wrong = argument;
  for (int i = 0; i < 20; i++) *wrong += wn_heap_snapshot(domain, path) != WN_OK;
}

static void domains_take_snapshots_at_once(void **state) {
  struct graph graph;
  wn_heap *heap;
  wn_domain *domain;
  wn_join *join;
  int wrong = 0, too = 0;
  (void)state;
  assert_int_equal(wn_heap_open(NULL, &heap), WN_OK);
  assert_int_equal(wn_domain_attach(heap, &domain), WN_OK);
  assert_int_equal(wn_domain_spawn(domain, take_some, &wrong, &join), WN_OK);
  take_some(domain, &too);
  load(path, &graph);
  graph_free(&graph);
  assert_int_equal(wn_join_wait(domain, join), WN_OK);
  assert_int_equal(wrong + too, 0);
  nothing_is_left();
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
}

static void other_domains_go_on_meanwhile(void **state) {
  wn_heap *heap;
  wn_domain *domain;
  wn_join *joins[3];
  (void)state;
  over = false;
  assert_int_equal(wn_heap_open(NULL, &heap), WN_OK);
  assert_int_equal(wn_domain_attach(heap, &domain), WN_OK);
  for (int i = 0; i < 3; i++) assert_int_equal(wn_domain_spawn(domain, allocate, NULL, &joins[i]), WN_OK);
  for (int i = 0; i < 8; i++) {
    struct graph graph;
    assert_int_equal(wn_heap_snapshot(domain, path), WN_OK);
    load(path, &graph);
    graph_free(&graph);
  }
  over = true;
  for (int i = 0; i < 3; i++) assert_int_equal(wn_join_wait(domain, joins[i]), WN_OK);
  assert_int_equal(wn_domain_detach(domain), WN_OK);
  assert_int_equal(wn_heap_close(heap), WN_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(snapshots_are_what_the_program_built),
      cmocka_unit_test(where_no_copy_can_be_made_the_world_waits),
      cmocka_unit_test(a_copy_that_ends_is_told_and_leaves_nothing),
      cmocka_unit_test(a_hook_takes_none),
      cmocka_unit_test(a_failure_leaves_the_file_that_was_there),
      cmocka_unit_test(only_a_file_is_replaced),
      cmocka_unit_test(domains_take_snapshots_at_once),
      cmocka_unit_test(other_domains_go_on_meanwhile),
  };
  snprintf(path, sizeof path, "%s/test_snapshot.%ld", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
           (long)getpid());
  int code = RUN_TESTS(tests);
  unlink(path);
  return code;
}
/* SPDX-License-Identifier: MIT */
