/* Public listeners (winnow/events.h): what they are told, on which threads, and when no more. */
#include "gc/journal.h"
#include "gc/work.h"

#include "gc/domains/domain.h"
#include "gc/pages_held.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <winnow/events.h>

enum { HEARD_MOST = TINY ? 1 << 17 : 1 << 16, DOMAINS = 3 };

/* What a listener was told. */
struct ear {
  wn_gc_listener *listener;
  pthread_mutex_t lock;
  _Atomic(bool) deaf; /* it must not be told anything now */
  size_t count;
  wn_gc_event heard[HEARD_MOST];
};

static void hear(const wn_gc_event *event, void *context) {
  struct ear *ear = context;
  pthread_mutex_lock(&ear->lock);
  assert_false(atomic_load(&ear->deaf));
  assert_int_equal(event->size, sizeof *event);
  if (ear->count < HEARD_MOST) ear->heard[ear->count++] = *event;
  pthread_mutex_unlock(&ear->lock);
  errno = EDOM; /* it is kept */
}

static struct ear *ear_create(wn_domain *domain, uint64_t kinds) {
  struct ear *ear = test_calloc(1, sizeof *ear);
  pthread_mutex_init(&ear->lock, NULL);
  assert_int_equal(wn_gc_listen(domain, kinds, hear, ear, &ear->listener), WN_OK);
  return ear;
}

static void ear_stop(wn_domain *domain, struct ear *ear) {
  assert_int_equal(wn_gc_unlisten(domain, ear->listener), WN_OK);
  atomic_store(&ear->deaf, true);
}

static size_t count_of(const struct ear *ear, wn_gc_event_kind kind) {
  size_t count = 0;
  for (size_t i = 0; i < ear->count; i++) count += ear->heard[i].kind == kind;
  return count;
}

static const wn_gc_event *first_of(const struct ear *ear, wn_gc_event_kind kind) {
  for (size_t i = 0; i < ear->count; i++)
    if (ear->heard[i].kind == kind) return &ear->heard[i];
  fail_msg("nothing was told of kind %d", kind);
  return NULL;
}

/* ---- what always holds ---- */

static void check_end(const wn_gc_event *begin, const wn_gc_event *end) {
  assert_int_equal(end->cause, begin->cause);
  assert_true(end->began_ns <= begin->ns && end->began_ns <= end->ns && begin->ns <= end->ns);
  if (end->kind == WN_GC_PAUSE_ENDS || end->kind == WN_GC_STOP_ENDS)
    assert_int_equal(end->began_ns, begin->ns);
  if (end->kind == WN_GC_STOP_ENDS) assert_int_equal(end->stopped_ns, begin->stopped_ns);
  if (end->kind != WN_GC_CYCLE_ENDS) assert_int_equal(end->domain, begin->domain);
}

/* Begins and ends alternate, beginning with a begin, but of a cycle that ran before. `domain`:
 * UINT64_MAX: of all. */
static void check_span(const struct ear *ear, wn_gc_event_kind begins, uint64_t domain) {
  const wn_gc_event *open = NULL;
  for (size_t i = 0; i < ear->count; i++) {
    const wn_gc_event *event = &ear->heard[i];
    if (domain != UINT64_MAX && event->domain != domain) continue;
    if (event->kind == begins) {
      assert_null(open);
      open = event;
    } else if (event->kind == begins + 1) {
      assert_true(open || begins == WN_GC_CYCLE_BEGINS);
      if (open) check_end(open, event);
      open = NULL;
    }
  }
}

/* Minor collections are inside stops, and what happens to cycles is inside minor collections. */
static void check_inside(const struct ear *ear) {
  const wn_gc_event *stop = NULL, *minor = NULL;
  for (size_t i = 0; i < ear->count; i++) {
    const wn_gc_event *event = &ear->heard[i];
    switch (event->kind) {
    case WN_GC_STOP_BEGINS:
      assert_true(event->ns <= event->stopped_ns);
      stop = event;
      break;
    case WN_GC_STOP_ENDS: stop = NULL; break;
    case WN_GC_MINOR_BEGINS:
      assert_non_null(stop);
      assert_int_equal(event->cause, stop->cause);
      assert_int_equal(event->domain, stop->domain);
      minor = event;
      break;
    case WN_GC_MINOR_ENDS: minor = NULL; break;
    case WN_GC_CYCLE_BEGINS:
    case WN_GC_MARKING_ENDS:
    case WN_GC_CYCLE_ENDS: assert_true(stop && minor && event->domain == minor->domain); break;
    default: break;
    }
  }
}

static bool is_pause(wn_gc_event_kind kind) { return kind == WN_GC_PAUSE_BEGINS || kind == WN_GC_PAUSE_ENDS; }
static bool is_caused(wn_gc_event_kind kind) { return kind <= WN_GC_MINOR_ENDS; }
static bool is_size(wn_gc_event_kind kind) { return kind >= WN_GC_HEAP_GROWS && kind <= WN_GC_COMPACTION; }

/* Each kind sets its members, and only these. */
static void check_members(const wn_gc_event *event) {
  bool stop = event->kind == WN_GC_STOP_BEGINS || event->kind == WN_GC_STOP_ENDS;
  bool ends = event->kind == WN_GC_PAUSE_ENDS || event->kind == WN_GC_STOP_ENDS ||
              event->kind == WN_GC_MINOR_ENDS || event->kind == WN_GC_CYCLE_ENDS ||
              event->kind == WN_GC_COMPACTION;
  bool homeless = event->kind == WN_GC_HEAP_GROWS || event->kind == WN_GC_HEAP_SHRINKS;
  assert_true(event->ns != 0);
  assert_true((event->began_ns != 0) == ends);
  assert_true((event->stopped_ns != 0) == stop);
  assert_true((event->domain == UINT64_MAX) == homeless);
  assert_true((event->cause != WN_GC_CAUSE_NONE) == is_caused(event->kind));
  if (is_caused(event->kind)) assert_true((event->cause < WN_GC_CAUSE_MINOR_HEAP) == is_pause(event->kind));
  if (!is_size(event->kind)) assert_true(!event->bytes && !event->mapped);
  if (event->kind != WN_GC_SLICE && event->kind != WN_GC_COMPACTION) assert_int_equal(event->words, 0);
}

static void check_all(const struct ear *ear, uint64_t domains) {
  assert_true(ear->count < HEARD_MOST);
  for (uint64_t i = 0; i < domains; i++) check_span(ear, WN_GC_PAUSE_BEGINS, i);
  check_span(ear, WN_GC_STOP_BEGINS, UINT64_MAX);
  check_span(ear, WN_GC_MINOR_BEGINS, UINT64_MAX);
  check_span(ear, WN_GC_CYCLE_BEGINS, UINT64_MAX);
  check_inside(ear);
  for (size_t i = 0; i < ear->count; i++) check_members(&ear->heard[i]);
}

/* ---- one domain ---- */

/* Something of every kind, but for domains. */
static void live_a_little(wn_domain *domain) {
  WN_SCOPE(domain);
  make_list(domain, 1000, 400);
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  allocate(domain, 20, 300000);
  wn_gc_major_slice(domain, 1000);
  assert_int_equal(wn_gc_compact(domain), WN_OK);
}

static void a_domain_that_comes_and_goes(wn_domain *domain, void *argument) { (void)domain, (void)argument; }

static void every_kind_is_told_with_its_members_and_each_begin_before_its_end(void **state) { /* N1 */
  struct journal of;
  (void)state;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  wn_gc_stat before = quick_stat(of.domain);
  struct ear *ear = ear_create(of.domain, WN_GC_EVERY_EVENT);
  live_a_little(of.domain);
  join_wait(of.domain, spawn(of.domain, a_domain_that_comes_and_goes, NULL));
  ear_stop(of.domain, ear);
  wn_gc_stat after = quick_stat(of.domain);
  check_all(ear, 2);
  for (int kind = WN_GC_PAUSE_BEGINS; kind <= WN_GC_DOMAIN_ENDS; kind++)
    assert_true(count_of(ear, (wn_gc_event_kind)kind) > 0);
  assert_int_equal(count_of(ear, WN_GC_MINOR_ENDS), after.minor_collections - before.minor_collections);
  assert_int_equal(count_of(ear, WN_GC_CYCLE_ENDS), after.major_collections - before.major_collections);
  assert_int_equal(count_of(ear, WN_GC_CYCLE_BEGINS), count_of(ear, WN_GC_CYCLE_ENDS));
  assert_int_equal(count_of(ear, WN_GC_MARKING_ENDS), count_of(ear, WN_GC_CYCLE_ENDS));
  assert_int_equal(count_of(ear, WN_GC_COMPACTION), 1);
  assert_int_equal(first_of(ear, WN_GC_DOMAIN_BEGINS)->domain, 1);
  assert_int_equal(first_of(ear, WN_GC_DOMAIN_ENDS)->domain, 1);
  test_free(ear);
  journal_close(&of);
}

static void growth_and_shrinking_add_up_to_what_is_mapped(void **state) { /* N1 */
  struct journal of;
  (void)state;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  struct ear *ear = ear_create(of.domain, WN_GC_EVENT(WN_GC_HEAP_GROWS) | WN_GC_EVENT(WN_GC_HEAP_SHRINKS));
  uint64_t mapped = atomic_load(&of.heap->store.chunks.mapped_bytes);
  live_a_little(of.domain);
  ear_stop(of.domain, ear);
  for (size_t i = 0; i < ear->count; i++) {
    assert_true(ear->heard[i].bytes > 0);
    mapped += ear->heard[i].kind == WN_GC_HEAP_GROWS ? ear->heard[i].bytes : -ear->heard[i].bytes;
    assert_int_equal(ear->heard[i].mapped, mapped);
  }
  assert_true(count_of(ear, WN_GC_HEAP_GROWS) && count_of(ear, WN_GC_HEAP_SHRINKS));
  assert_int_equal(mapped, atomic_load(&of.heap->store.chunks.mapped_bytes));
  test_free(ear);
  journal_close(&of);
}

static void a_collection_that_is_asked_for_is_told_with_its_causes(void **state) { /* N2 */
  struct journal of;
  (void)state;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  uint64_t spans = 2 * WN_GC_EVENT(WN_GC_MINOR_ENDS) - WN_GC_EVENT(WN_GC_PAUSE_BEGINS);
  struct ear *ear = ear_create(of.domain, spans);
  errno = 0;
  assert_int_equal(wn_gc_minor(of.domain), WN_OK);
  assert_int_equal(errno, 0);
  ear_stop(of.domain, ear);
  static const wn_gc_event_kind expected[] = {WN_GC_STOP_BEGINS, WN_GC_PAUSE_BEGINS, WN_GC_MINOR_BEGINS,
                                              WN_GC_MINOR_ENDS,  WN_GC_STOP_ENDS,    WN_GC_PAUSE_ENDS,
                                              WN_GC_STOP_BEGINS};
  assert_int_equal(ear->count, sizeof expected / sizeof *expected); /* the last one is of unlisten */
  for (size_t i = 0; i < ear->count; i++) {
    const wn_gc_event *event = &ear->heard[i];
    assert_int_equal(event->kind, expected[i]);
    assert_int_equal(event->cause, is_pause(event->kind) ? WN_GC_CAUSE_COLLECTION
                                   : i == ear->count - 1 ? WN_GC_CAUSE_LISTENERS
                                                         : WN_GC_CAUSE_REQUEST);
  }
  assert_true(ear->heard[1].ns <= ear->heard[0].ns && ear->heard[4].ns <= ear->heard[5].ns);
  test_free(ear);
  journal_close(&of);
}

static void a_kind_that_is_not_wanted_is_not_told(void **state) { /* N1 */
  struct journal of;
  (void)state;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  struct ear *all = ear_create(of.domain, WN_GC_EVERY_EVENT);
  for (int kind = WN_GC_PAUSE_BEGINS; kind <= WN_GC_DOMAIN_ENDS; kind++) {
    struct ear *ear = ear_create(of.domain, WN_GC_EVENT(kind));
    live_a_little(of.domain);
    ear_stop(of.domain, ear);
    assert_int_equal(count_of(ear, (wn_gc_event_kind)kind), ear->count);
    for (size_t i = 0; i < ear->count; i++) check_members(&ear->heard[i]);
    test_free(ear);
  }
  ear_stop(of.domain, all);
  test_free(all);
  journal_close(&of);
}

/* ---- clocks ---- */

static _Atomic(long) readings;

uint64_t __real_os_monotonic_ns(void);
uint64_t __wrap_os_monotonic_ns(void);
uint64_t __wrap_os_monotonic_ns(void) {
  readings++;
  return __real_os_monotonic_ns();
}

/* Of a heap whose control groups have no limit that it reads from time to time. */
static wn_heap_options without_groups(void) {
  wn_heap_options options = without_helpers();
  options.text = "cgroup=0";
  return options;
}

static long readings_of_minor_collections(wn_domain *domain) {
  long before = readings;
  for (int i = 0; i < 4; i++) {
    allocate(domain, 1000, 10);
    assert_int_equal(wn_gc_minor(domain), WN_OK);
  }
  return readings - before;
}

static void without_a_listener_minor_collections_read_no_clock(void **state) { /* N4 */
  struct journal of;
  (void)state;
  wn_heap_options options = without_groups();
  options.parameters.minor_heap_size = 65536; /* so that no cycle begins */
  journal_open(&of, &options);
  const uint64_t wanted = atomic_load(&of.heap->events.wanted);
  assert_int_equal(readings_of_minor_collections(of.domain), 0);
  struct ear *ear = ear_create(of.domain, WN_GC_EVERY_EVENT);
  assert_true(readings_of_minor_collections(of.domain) > 0);
  assert_int_equal(wn_gc_metrics_begin(of.domain), WN_OK);
  ear_stop(of.domain, ear);
  assert_int_equal(wn_gc_metrics_end(of.domain), WN_OK);
  assert_int_equal(atomic_load(&of.heap->events.wanted), wanted);
  assert_int_equal(readings_of_minor_collections(of.domain), 0);
  assert_int_equal(quick_stat(of.domain).major_collections, 0);
  test_free(ear);
  journal_close(&of);
}

/* A domain that comes back from a blocking section while another one leads a collection, which goes
 * on until the first one waits. */
static struct {
  wn_domain *waiter;
  _Atomic(bool) holds, collects; /* the next collection is to wait; it does */
} stop;

static void hold_the_stop(wn_domain *domain, wn_visit *visit, void *visitor, void *context) {
  (void)domain, (void)visit, (void)visitor, (void)context;
  if (!atomic_exchange(&stop.holds, false)) return;
  atomic_store(&stop.collects, true);
  while (atomic_load(&stop.waiter->state) != DOMAIN_CLAIMED_AWAITED) sched_yield();
}

static void collect_once(wn_domain *domain, void *argument) {
  (void)argument;
  while (!atomic_load(&stop.holds)) wn_poll(domain);
  assert_int_equal(wn_gc_minor(domain), WN_OK);
}

static long readings_of_waiting(wn_domain *domain) {
  wn_blocking_begin(domain);
  atomic_store(&stop.holds, true);
  while (!atomic_load(&stop.collects)) sched_yield();
  long before = readings;
  wn_blocking_end(domain);
  long count = readings - before;
  atomic_store(&stop.collects, false);
  return count;
}

static long readings_while_another_collects(wn_domain *domain) {
  stop.waiter = domain;
  wn_join *join = spawn(domain, collect_once, NULL);
  long count = readings_of_waiting(domain);
  join_wait(domain, join);
  return count;
}

static void without_a_listener_waiting_for_a_leader_reads_no_clock(void **state) { /* N4 */
  struct journal of;
  (void)state;
  wn_heap_options options = without_groups();
  options.hooks.walk_roots = hold_the_stop;
  journal_open(&of, &options);
  assert_int_equal(readings_while_another_collects(of.domain), 0);
  struct ear *ear = ear_create(of.domain, WN_GC_EVENT(WN_GC_PAUSE_ENDS));
  assert_true(readings_while_another_collects(of.domain) > 0);
  ear_stop(of.domain, ear);
  test_free(ear);
  journal_close(&of);
}

static long readings_of_cycles(wn_domain *domain) {
  long before = readings;
  assert_int_equal(wn_gc_full_major(domain), WN_OK);
  return readings - before;
}

static void a_listener_of_cycles_adds_no_reading_of_the_clock(void **state) { /* N4 */
  struct journal of;
  (void)state;
  wn_heap_options options = without_groups();
  journal_open(&of, &options);
  readings_of_cycles(of.domain);
  long without = readings_of_cycles(of.domain);
  struct ear *ear = ear_create(of.domain, WN_GC_EVENT(WN_GC_CYCLE_BEGINS) | WN_GC_EVENT(WN_GC_CYCLE_ENDS));
  assert_int_equal(readings_of_cycles(of.domain), without);
  ear_stop(of.domain, ear);
  assert_true(count_of(ear, WN_GC_CYCLE_ENDS) > 0);
  check_span(ear, WN_GC_CYCLE_BEGINS, UINT64_MAX);
  test_free(ear);
  journal_close(&of);
}

/* ---- wrong calls ---- */

static void wrong_arguments_are_refused(void **state) { /* N5 */
  struct journal of, other;
  wn_gc_listener *listener = NULL;
  (void)state;
  journal_open(&of, NULL);
  journal_open(&other, NULL);
  uint64_t all = WN_GC_EVERY_EVENT;
  assert_int_equal(wn_gc_listen(of.domain, all, NULL, NULL, &listener), WN_EINVAL);
  assert_int_equal(wn_gc_listen(of.domain, all, hear, NULL, NULL), WN_EINVAL);
  assert_int_equal(wn_gc_listen(of.domain, 0, hear, NULL, &listener), WN_EINVAL);
  assert_int_equal(wn_gc_listen(of.domain, 1, hear, NULL, &listener), WN_EINVAL);
  assert_int_equal(wn_gc_listen(of.domain, all + WN_GC_EVENT(1) * 2, hear, NULL, &listener), WN_EINVAL);
  assert_int_equal(wn_gc_listen(NULL, all, hear, NULL, &listener), WN_EINVAL);
  assert_null(listener);
  assert_int_equal(wn_gc_unlisten(of.domain, NULL), WN_EINVAL);
  struct ear *ear = ear_create(of.domain, all);
  assert_int_equal(wn_gc_unlisten(other.domain, ear->listener), WN_EINVAL);
  ear_stop(of.domain, ear);
  assert_int_equal(wn_gc_unlisten(of.domain, ear->listener), WN_EINVAL);
  test_free(ear);
  journal_close(&other);
  journal_close(&of);
}

struct caller {
  wn_domain *domain;
  wn_gc_listener *self;
  int refused;
};

static void call_what_is_not_allowed(const wn_gc_event *event, void *context) {
  struct caller *of = context;
  wn_gc_listener *listener;
  (void)event;
  of->refused += wn_gc_unlisten(of->domain, of->self) == WN_ESTATE;
  of->refused += wn_gc_listen(of->domain, WN_GC_EVERY_EVENT, hear, NULL, &listener) == WN_ESTATE;
  of->refused += wn_gc_metrics_begin(of->domain) == WN_ESTATE;
  of->refused += wn_gc_metrics(of->domain, stderr) == WN_ESTATE;
  of->refused += wn_gc_metrics_end(of->domain) == WN_ESTATE;
}

static void a_callback_that_calls_these_functions_is_refused(void **state) { /* N5 */
  struct journal of;
  (void)state;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  struct caller caller = {.domain = of.domain};
  assert_int_equal(
      wn_gc_listen(of.domain, WN_GC_EVENT(WN_GC_MINOR_ENDS), call_what_is_not_allowed, &caller, &caller.self),
      WN_OK);
  assert_int_equal(wn_gc_minor(of.domain), WN_OK);
  assert_int_equal(caller.refused, 5);
  assert_int_equal(wn_gc_unlisten(of.domain, caller.self), WN_OK);
  journal_close(&of);
}

static void each_cause_has_a_text_of_its_own(void **state) {
  (void)state;
  for (int a = WN_GC_CAUSE_NONE; a <= WN_GC_CAUSE_LISTENERS; a++) {
    const char *text = wn_gc_cause_text((wn_gc_cause)a);
    assert_true(*text && strspn(text, "abcdefghijklmnopqrstuvwxyz_") == strlen(text));
    for (int b = WN_GC_CAUSE_NONE; b < a; b++)
      assert_string_not_equal(text, wn_gc_cause_text((wn_gc_cause)b));
  }
  assert_string_equal(wn_gc_cause_text((wn_gc_cause)1000), "none");
}

/* ---- several domains ---- */

static void listeners_come_and_go_while_domains_run_and_hear_whole_spans_or_nothing(void **state) {
  /* N2, N3 */
  struct journal of;
  struct work shared = {DOMAINS};
  wn_join *joins[DOMAINS];
  (void)state;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.helper_threads = 2;
  options.parameters.minor_heap_size = 4096;
  journal_open(&of, &options);
  struct ear *ear = ear_create(of.domain, WN_GC_EVERY_EVENT);
  wn_gc_stat before = quick_stat(of.domain);
  for (int i = 0; i < DOMAINS; i++) joins[i] = spawn(of.domain, work, &shared);
  while (atomic_load(&shared.left)) {
    struct ear *other = ear_create(of.domain, WN_GC_EVERY_EVENT);
    wn_gc_minor(of.domain);
    wn_thread_yield(of.domain);
    ear_stop(of.domain, other);
    wn_gc_minor(of.domain);
    check_all(other, DOMAINS + 1);
    test_free(other);
  }
  for (int i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
  wn_gc_stat after = quick_stat(of.domain);
  ear_stop(of.domain, ear);
  check_all(ear, DOMAINS + 1);
  assert_int_equal(count_of(ear, WN_GC_MINOR_ENDS), after.minor_collections - before.minor_collections);
  assert_int_equal(count_of(ear, WN_GC_DOMAIN_BEGINS), DOMAINS);
  assert_int_equal(count_of(ear, WN_GC_DOMAIN_ENDS), DOMAINS);
  test_free(ear);
  journal_close(&of);
}

/* Its listeners alone: while it adds one, nobody else may want the events that happen. */
static void a_listener_that_is_alone_hears_whole_spans_or_nothing(void **state) { /* N2 */
  struct journal of;
  struct work shared = {DOMAINS};
  wn_join *joins[DOMAINS];
  (void)state;
  wn_heap_options options = WN_HEAP_DEFAULTS;
  options.parameters.minor_heap_size = 4096;
  journal_open(&of, &options);
  for (int i = 0; i < DOMAINS; i++) joins[i] = spawn(of.domain, work, &shared);
  while (atomic_load(&shared.left)) {
    struct ear *ear = ear_create(of.domain, WN_GC_EVERY_EVENT);
    wn_poll(of.domain);
    wn_thread_yield(of.domain);
    ear_stop(of.domain, ear);
    check_all(ear, DOMAINS + 1);
    test_free(ear);
  }
  for (int i = 0; i < DOMAINS; i++) join_wait(of.domain, joins[i]);
  journal_close(&of);
}

/* ---- what is left ---- */

static void a_thousand_listeners_leave_no_memory_behind(void **state) { /* N3 */
  struct journal of;
  wn_gc_listener *listeners[10];
  (void)state;
  wn_heap_options options = without_helpers();
  journal_open(&of, &options);
  struct ear *ear = test_calloc(1, sizeof *ear);
  pthread_mutex_init(&ear->lock, NULL);
  long held = atomic_load(&pages_held);
  for (int i = 0; i < 100; i++) {
    for (int j = 0; j < 10; j++)
      assert_int_equal(wn_gc_listen(of.domain, WN_GC_EVERY_EVENT, hear, ear, &listeners[j]), WN_OK);
    for (int j = 0; j < 10; j++) /* in another order */
      assert_int_equal(wn_gc_unlisten(of.domain, listeners[j * 3 % 10]), WN_OK);
    assert_int_equal(wn_gc_metrics_begin(of.domain), WN_OK);
    assert_int_equal(wn_gc_metrics_begin(of.domain), WN_ESTATE);
    assert_int_equal(wn_gc_metrics_end(of.domain), WN_OK);
    assert_int_equal(atomic_load(&pages_held), held);
  }
  test_free(ear);
  journal_close(&of);
}

static void a_heap_that_is_closed_removes_its_listeners(void **state) { /* N3 */
  (void)state;
  long held = atomic_load(&pages_held), held_after;
  struct ear *ear = NULL;
  for (int i = 0; i < 12; i++) { /* domains that ended are kept for a while */
    struct journal of;
    wn_heap_options options = without_helpers();
    journal_open(&of, &options);
    ear = ear_create(of.domain, WN_GC_EVERY_EVENT);
    assert_int_equal(wn_gc_metrics_begin(of.domain), WN_OK);
    allocate(of.domain, 10, 100000);
    journal_close(&of);
    assert_int_equal(count_of(ear, WN_GC_DOMAIN_ENDS), 1);
    test_free(ear);
    held_after = atomic_load(&pages_held);
    if (i >= 10) assert_int_equal(held_after, held);
    held = held_after;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_is_told_with_its_members_and_each_begin_before_its_end),
      cmocka_unit_test(growth_and_shrinking_add_up_to_what_is_mapped),
      cmocka_unit_test(a_collection_that_is_asked_for_is_told_with_its_causes),
      one_thread_test(a_kind_that_is_not_wanted_is_not_told),
      cmocka_unit_test(without_a_listener_minor_collections_read_no_clock),
      cmocka_unit_test(without_a_listener_waiting_for_a_leader_reads_no_clock),
      cmocka_unit_test(a_listener_of_cycles_adds_no_reading_of_the_clock),
      cmocka_unit_test(wrong_arguments_are_refused),
      cmocka_unit_test(a_callback_that_calls_these_functions_is_refused),
      cmocka_unit_test(each_cause_has_a_text_of_its_own),
      cmocka_unit_test(listeners_come_and_go_while_domains_run_and_hear_whole_spans_or_nothing),
      cmocka_unit_test(a_listener_that_is_alone_hears_whole_spans_or_nothing),
      cmocka_unit_test(a_thousand_listeners_leave_no_memory_behind),
      one_thread_test(a_heap_that_is_closed_removes_its_listeners),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
