/* What callers may not do: without a domain, with one that has ended, also when its heap is closed,
 * on a thread that is none of its, in a blocking section. Each call in a process of its own. It is
 * refused by a status or a value that is nothing, and says why; or, where the heap is built with
 * its checks, it ends the program with a line that says so. It never crashes. The same program is
 * built a second time as what ships. */
#include "gc/journal.h"

#include "base/check.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <winnow/events.h>
#include <winnow/marshal.h>
#include <winnow/trace.h>
#include <winnow/weak.h>

static wn_heap *heap;
static wn_ref handle, weak;
static wn_global *global;

static void nothing(wn_domain *domain, void *context) { (void)domain, (void)context; }
static void nothing_with(wn_domain *domain, wn_ref value, void *context) {
  (void)domain, (void)value, (void)context;
}

/* ---- the calls: each is true if it was refused ---- */

static bool minor(wn_domain *domain) { return wn_gc_minor(domain); }
static bool major(wn_domain *domain) { return wn_gc_major(domain); }
static bool full_major(wn_domain *domain) { return wn_gc_full_major(domain); }
static bool compact(wn_domain *domain) { return wn_gc_compact(domain); }
static bool verify(wn_domain *domain) { return wn_gc_verify(domain, stderr); }
static bool slice(wn_domain *domain) { return !wn_gc_major_slice(domain, 100); }
static bool read_statistics(wn_domain *domain) {
  wn_gc_stat stat;
  return wn_gc_read_stat(domain, &stat);
}
static bool quick_stat_of(wn_domain *domain) {
  wn_gc_stat stat;
  return wn_gc_quick_stat(domain, &stat);
}
static bool print_stat(wn_domain *domain) { return wn_gc_print_stat(domain, stderr); }
static bool counters(wn_domain *domain) {
  double minor_words, promoted_words, major_words;
  wn_gc_counters(domain, &minor_words, &promoted_words, &major_words);
  return minor_words <= 0 && promoted_words <= 0 && major_words <= 0;
}
static bool minor_words(wn_domain *domain) { return wn_gc_minor_words(domain) <= 0; }
static bool allocated_bytes(wn_domain *domain) { return wn_gc_allocated_bytes(domain) <= 0; }
static bool minor_free(wn_domain *domain) { return !wn_gc_get_minor_free(domain); }
static bool get_parameters(wn_domain *domain) {
  wn_gc_control control;
  return wn_gc_get(domain, &control);
}
static bool set(wn_domain *domain) {
  wn_gc_control control = {.minor_heap_size = 4096};
  return wn_gc_set(domain, &control);
}
static bool set_minor_heap(wn_domain *domain) { return wn_gc_set_domain_minor_heap(domain, 4096); }
static bool pin(wn_domain *domain) { return wn_pin(domain, handle); }
static bool unpin(wn_domain *domain) { return wn_unpin(domain, handle); }
static bool finalise(wn_domain *domain) { return wn_gc_finalise(domain, nothing_with, NULL, handle); }
static bool finalise_last(wn_domain *domain) { return wn_gc_finalise_last(domain, nothing, NULL, handle); }
static bool finalise_release(wn_domain *domain) { return wn_gc_finalise_release(domain), true; }
static bool create_alarm(wn_domain *domain) {
  wn_gc_alarm *alarm;
  return wn_gc_create_alarm(domain, nothing, NULL, &alarm);
}
static bool delete_alarm(wn_domain *domain) { return wn_gc_delete_alarm(domain, (wn_gc_alarm *)&heap), true; }
static bool raise_exception(wn_domain *domain) { return wn_raise(domain, handle), true; }
static bool take_exception(wn_domain *domain) { return wn_is_null(wn_take_exception(domain)); }
static bool spawn_domain(wn_domain *domain) {
  wn_join *join;
  return wn_domain_spawn(domain, nothing, NULL, &join);
}
static bool spawn_thread(wn_domain *domain) {
  wn_join *join;
  return wn_thread_spawn(domain, nothing, NULL, &join);
}
static bool join(wn_domain *domain) { return wn_join_wait(domain, (wn_join *)&heap); }
static bool alloc(wn_domain *domain) { return wn_is_null(wn_alloc(domain, 2, 0)); }
static bool alloc_large(wn_domain *domain) { return wn_is_null(wn_alloc(domain, 100000, 0)); }
static bool alloc_bytes(wn_domain *domain) { return wn_is_null(wn_alloc_bytes(domain, 10)); }
static bool alloc_group(wn_domain *domain) {
  const wn_shape shape = {2, 0};
  wn_ref block;
  return wn_alloc_group(domain, 1, &shape, &block);
}
static bool alloc_empty_group(wn_domain *domain) { return wn_alloc_group(domain, 0, NULL, NULL); }
static bool alloc_custom(wn_domain *domain) {
  static const wn_custom_ops ops = {"nothing", NULL};
  return wn_is_null(wn_alloc_custom(domain, &ops, 8, 0));
}
static bool custom_adjust(wn_domain *domain) { return wn_custom_adjust(domain, handle, 8); }
static bool bump_slow(wn_domain *domain) { return !wn_bump_slow(domain, 2, 0); }
static bool root_slow(wn_domain *domain) { return wn_is_null(wn_root_slow(domain, wn_int(1))); }
static bool poll_slow(wn_domain *domain) { return wn_poll_slow(domain), true; }
static bool exchange(wn_domain *domain) { return !wn_cas(domain, handle, 0, handle, handle); }
static bool new_global(wn_domain *domain) { return !wn_global_new(domain, handle); }
static bool set_global(wn_domain *domain) { return wn_global_set(domain, global, handle), true; }
static bool get_global(wn_domain *domain) { return wn_is_null(wn_global_get(domain, global)); }
static bool free_global(wn_domain *domain) { return wn_global_free(domain, global), true; }
static bool set_data(wn_domain *domain) { return wn_domain_set_data(domain, &heap), true; }
static bool start_profile(wn_domain *domain) {
  const wn_memprof_options options = WN_MEMPROF_DEFAULTS;
  const wn_tracker tracker = {.context = NULL};
  wn_profile *profile;
  return wn_memprof_start(domain, &options, &tracker, &profile);
}
static bool stop_profile(wn_domain *domain) { return wn_memprof_stop(domain); }
static bool join_profile(wn_domain *domain) { return wn_memprof_join(domain, (wn_profile *)&heap); }
static bool leave_profile(wn_domain *domain) { return wn_memprof_leave(domain); }
static bool drain(wn_domain *domain) { return wn_memprof_drain(domain); }
static bool is_sampling(wn_domain *domain) { return !wn_memprof_is_sampling(domain); }
static bool start_trace(wn_domain *domain) {
  wn_trace *trace;
  return wn_trace_start(domain, "/nowhere/at/all", NULL, &trace);
}
static bool stop_trace(wn_domain *domain) { return wn_trace_stop(domain, (wn_trace *)&heap); }
static void hear(const wn_gc_event *event, void *context) { (void)event, (void)context; }
static bool listen(wn_domain *domain) {
  wn_gc_listener *listener;
  return wn_gc_listen(domain, WN_GC_EVERY_EVENT, hear, NULL, &listener);
}
static bool unlisten(wn_domain *domain) { return wn_gc_unlisten(domain, (wn_gc_listener *)&heap); }
static bool metrics_begin(wn_domain *domain) { return wn_gc_metrics_begin(domain); }
static bool metrics(wn_domain *domain) { return wn_gc_metrics(domain, stderr); }
static bool metrics_end(wn_domain *domain) { return wn_gc_metrics_end(domain); }
static bool begin_to_block(wn_domain *domain) { return wn_blocking_begin(domain), true; }
static bool yield(wn_domain *domain) { return wn_thread_yield(domain), true; }
static bool detach(wn_domain *domain) { return wn_domain_detach(domain); }

static bool new_weak(wn_domain *domain) { return wn_is_null(wn_weak_new(domain, 1)); }
static bool set_weak(wn_domain *domain) { return wn_weak_set(domain, weak, 0, handle); }
static bool get_weak(wn_domain *domain) { return wn_is_null(wn_weak_get(domain, weak, 0)); }
static bool copy_weak(wn_domain *domain) { return wn_is_null(wn_weak_get_copy(domain, weak, 0)); }
static bool check_weak(wn_domain *domain) { return !wn_weak_check(domain, weak, 0); }
static bool fill_weak(wn_domain *domain) { return wn_weak_fill(domain, weak, 0, 1, handle); }
static bool blit_weak(wn_domain *domain) { return wn_weak_blit(domain, weak, 0, weak, 0, 1); }
static bool new_ephemeron(wn_domain *domain) { return wn_is_null(wn_ephemeron_new(domain, 1)); }
static bool set_key(wn_domain *domain) { return wn_ephemeron_set_key(domain, weak, 0, handle); }
static bool unset_key(wn_domain *domain) { return wn_ephemeron_unset_key(domain, weak, 0); }
static bool get_key(wn_domain *domain) { return wn_is_null(wn_ephemeron_get_key(domain, weak, 0)); }
static bool check_key(wn_domain *domain) { return !wn_ephemeron_check_key(domain, weak, 0); }
static bool set_weak_data(wn_domain *domain) { return wn_ephemeron_set_data(domain, weak, handle); }
static bool unset_weak_data(wn_domain *domain) { return wn_ephemeron_unset_data(domain, weak); }
static bool get_weak_data(wn_domain *domain) { return wn_is_null(wn_ephemeron_get_data(domain, weak)); }
static bool check_weak_data(wn_domain *domain) { return !wn_ephemeron_check_data(domain, weak); }

static bool write_message(wn_domain *domain) {
  void *bytes;
  size_t size;
  return wn_marshal_write(domain, handle, 0, &bytes, &size);
}
static bool write_to_file(wn_domain *domain) { return wn_marshal_write_file(domain, handle, 0, stderr); }
static wn_status take(const void *bytes, size_t size, void *context) {
  (void)bytes, (void)size, (void)context;
  return WN_OK;
}
static bool write_to_function(wn_domain *domain) {
  return wn_marshal_write_to(domain, handle, 0, take, NULL);
}
static const unsigned char message[] = {0x84, 0x95, 0xa6, 0xbe, 0, 0, 0, 1, 0, 0,   0,
                                        0,    0,    0,    0,    0, 0, 0, 0, 0, 0x41};
static bool read_message(wn_domain *domain) {
  wn_ref value;
  return wn_marshal_read(domain, message, sizeof message, 0, &value, NULL);
}
static bool read_from_file(wn_domain *domain) {
  wn_ref value;
  return wn_marshal_read_file(domain, stdin, 0, &value);
}
static size_t give(void *bytes, size_t size, void *context) {
  (void)context;
  size_t given = size < sizeof message ? size : sizeof message;
  memcpy(bytes, message, given);
  return given;
}
static bool read_from_function(wn_domain *domain) {
  wn_ref value;
  return wn_marshal_read_from(domain, give, NULL, 0, &value);
}
static bool new_string(wn_domain *domain) { return wn_is_null(wn_string_new(domain, "text", 4)); }
static bool new_boxed(wn_domain *domain) { return wn_is_null(wn_boxed_new(domain, WN_BOXED_INT64, 1)); }
static bool new_bigarray(wn_domain *domain) {
  const size_t length = 1;
  return wn_is_null(wn_bigarray_new(domain, WN_BIGARRAY_CHAR, false, 1, &length));
}

struct call {
  const char *name;
  bool (*call)(wn_domain *domain);
};

static const struct call calls[] = {
    {"wn_gc_minor", minor},
    {"wn_gc_major", major},
    {"wn_gc_full_major", full_major},
    {"wn_gc_compact", compact},
    {"wn_pin", pin},
    {"wn_unpin", unpin},
    {"wn_gc_verify", verify},
    {"wn_gc_major_slice", slice},
    {"wn_gc_read_stat", read_statistics},
    {"wn_gc_quick_stat", quick_stat_of},
    {"wn_gc_print_stat", print_stat},
    {"wn_gc_counters", counters},
    {"wn_gc_minor_words", minor_words},
    {"wn_gc_allocated_bytes", allocated_bytes},
    {"wn_gc_get_minor_free", minor_free},
    {"wn_gc_get", get_parameters},
    {"wn_gc_set", set},
    {"wn_gc_set_domain_minor_heap", set_minor_heap},
    {"wn_gc_finalise", finalise},
    {"wn_gc_finalise_last", finalise_last},
    {"wn_gc_finalise_release", finalise_release},
    {"wn_gc_create_alarm", create_alarm},
    {"wn_gc_delete_alarm", delete_alarm},
    {"wn_raise", raise_exception},
    {"wn_take_exception", take_exception},
    {"wn_domain_spawn", spawn_domain},
    {"wn_thread_spawn", spawn_thread},
    {"wn_blocking_begin", begin_to_block},
    {"wn_thread_yield", yield},
    {"wn_domain_detach", detach},
    {"wn_join_wait", join},
    {"wn_alloc", alloc},
    {"wn_alloc, large", alloc_large},
    {"wn_alloc_bytes", alloc_bytes},
    {"wn_alloc_group", alloc_group},
    {"wn_alloc_group of nothing", alloc_empty_group},
    {"wn_alloc_custom", alloc_custom},
    {"wn_custom_adjust", custom_adjust},
    {"wn_bump_slow", bump_slow},
    {"wn_root_slow", root_slow},
    {"wn_poll_slow", poll_slow},
    {"wn_cas", exchange},
    {"wn_global_new", new_global},
    {"wn_global_set", set_global},
    {"wn_global_get", get_global},
    {"wn_global_free", free_global},
    {"wn_domain_set_data", set_data},
    {"wn_memprof_start", start_profile},
    {"wn_memprof_stop", stop_profile},
    {"wn_memprof_join", join_profile},
    {"wn_memprof_leave", leave_profile},
    {"wn_memprof_drain", drain},
    {"wn_memprof_is_sampling", is_sampling},
    {"wn_trace_start", start_trace},
    {"wn_trace_stop", stop_trace},
    {"wn_gc_listen", listen},
    {"wn_gc_unlisten", unlisten},
    {"wn_gc_metrics_begin", metrics_begin},
    {"wn_gc_metrics", metrics},
    {"wn_gc_metrics_end", metrics_end},
    {"wn_weak_new", new_weak},
    {"wn_weak_set", set_weak},
    {"wn_weak_get", get_weak},
    {"wn_weak_get_copy", copy_weak},
    {"wn_weak_check", check_weak},
    {"wn_weak_fill", fill_weak},
    {"wn_weak_blit", blit_weak},
    {"wn_ephemeron_new", new_ephemeron},
    {"wn_ephemeron_set_key", set_key},
    {"wn_ephemeron_unset_key", unset_key},
    {"wn_ephemeron_get_key", get_key},
    {"wn_ephemeron_check_key", check_key},
    {"wn_ephemeron_set_data", set_weak_data},
    {"wn_ephemeron_unset_data", unset_weak_data},
    {"wn_ephemeron_get_data", get_weak_data},
    {"wn_ephemeron_check_data", check_weak_data},
    {"wn_marshal_write", write_message},
    {"wn_marshal_write_file", write_to_file},
    {"wn_marshal_write_to", write_to_function},
    {"wn_marshal_read", read_message},
    {"wn_marshal_read_file", read_from_file},
    {"wn_marshal_read_from", read_from_function},
    {"wn_string_new", new_string},
    {"wn_boxed_new", new_boxed},
    {"wn_bigarray_new", new_bigarray},
};

/* Functions that do not check the caller, but know that a domain has ended. */
static bool end_to_block(wn_domain *domain) { return wn_blocking_end(domain), true; }
static bool number(wn_domain *domain) { return wn_domain_number(domain) == UINT64_MAX; }
static bool data(wn_domain *domain) { return !wn_domain_data(domain); }
static bool bump(wn_domain *domain) { return !wn_bump(domain, 2, 0); }
static bool root(wn_domain *domain) { return wn_is_null(wn_root(domain, wn_int(1))); }
static bool poll_inlined(wn_domain *domain) { return wn_poll(domain), true; }
static bool store(wn_domain *domain) { return wn_store(domain, (wn_value)&heap, 0, wn_int(1)), true; }

static const struct call calls_that_know[] = {
    {"wn_blocking_end", end_to_block},
    {"wn_domain_number", number},
    {"wn_domain_data", data},
    {"wn_bump", bump},
    {"wn_root", root},
    {"wn_poll", poll_inlined},
    {"wn_store", store},
};
enum { KNOW = sizeof calls_that_know / sizeof *calls_that_know, KNOW_NULL = 3 }; /* these of NULL, too */

/* ---- those that are wrong in a good domain ---- */

static const wn_ref null_handle = {NULL};

static bool end_what_was_not_begun(wn_domain *domain) { return wn_blocking_end(domain), true; }
static bool join_twice(wn_domain *domain) {
  wn_join *of;
  return !wn_thread_spawn(domain, nothing, NULL, &of) && !wn_join_wait(domain, of) &&
         wn_join_wait(domain, of) == WN_EINVAL;
}
static bool has_waited;
static void wait_for_itself(wn_domain *domain, void *place) {
  wn_join *self = *(wn_join **)place;
  while (!self) {
    wn_thread_yield(domain);
    self = *(wn_join **)place;
  }
  if (wn_join_wait(domain, self) != WN_ESTATE || !*wn_last_error()) _exit(1);
  has_waited = true;
}
static bool join_oneself(wn_domain *domain) {
  static wn_join *of;
  if (wn_thread_spawn(domain, wait_for_itself, &of, &of)) return false;
  while (!has_waited) wn_thread_yield(domain);
  return !wn_join_wait(domain, of) && wn_join_wait(domain, NULL) == WN_EINVAL;
}
static bool close_twice(wn_domain *domain) {
  return !wn_domain_detach(domain) && !wn_heap_close(heap) && wn_heap_close(heap) == WN_EINVAL;
}
static bool attach_to_closed(wn_domain *domain) {
  return !wn_domain_detach(domain) && !wn_heap_close(heap) && wn_domain_attach(heap, &domain) == WN_EINVAL;
}
static bool exchange_in_null(wn_domain *domain) { return !wn_cas(domain, null_handle, 0, handle, handle); }
static bool exchange_in_integer(wn_domain *domain) {
  return !wn_cas(domain, wn_root(domain, wn_int(7)), 0, handle, handle);
}
static bool bytes_of_null(wn_domain *domain) { return (void)domain, !wn_bytes(null_handle); }
static bool bytes_of_integer(wn_domain *domain) { return !wn_bytes(wn_root(domain, wn_int(7))); }
static bool adjust_null(wn_domain *domain) { return wn_custom_adjust(domain, null_handle, 8) == WN_EINVAL; }
static bool adjust_integer(wn_domain *domain) {
  return wn_custom_adjust(domain, wn_root(domain, wn_int(7)), 8) == WN_EINVAL;
}
static bool adjust_raw(wn_domain *domain) {
  return wn_custom_adjust(domain, wn_alloc_bytes(domain, 8), 8) == WN_EINVAL;
}
static bool adjust_too_much(wn_domain *domain) {
  static const wn_custom_ops ops = {"misuse", NULL};
  wn_ref block = wn_alloc_custom(domain, &ops, 8, 8);
  return wn_custom_adjust(domain, block, SIZE_MAX / 2 + 1) == WN_EINVAL &&
         wn_is_null(wn_alloc_custom(domain, &ops, 8, SIZE_MAX / 2 + 1));
}
static bool pin_null(wn_domain *domain) { return wn_pin(domain, null_handle) == WN_EINVAL; }
static bool unpin_null(wn_domain *domain) { return wn_unpin(domain, null_handle) == WN_EINVAL; }
static bool pin_integer(wn_domain *domain) { return wn_pin(domain, wn_root(domain, wn_int(7))) == WN_EINVAL; }
static bool unpin_too_often(wn_domain *domain) {
  wn_ref block = wn_alloc(domain, 2, 0);
  return !wn_pin(domain, block) && !wn_unpin(domain, block) && wn_unpin(domain, block) == WN_EINVAL;
}
static bool string_of_null(wn_domain *domain) {
  return !wn_is_null(wn_string_new(domain, NULL, 0)) && wn_is_null(wn_string_new(domain, NULL, 5));
}
static bool new_global_of_null(wn_domain *domain) { return !wn_global_new(domain, null_handle); }
static bool get_null_global(wn_domain *domain) { return wn_is_null(wn_global_get(domain, NULL)); }
static bool set_null_global(wn_domain *domain) { return wn_global_set(domain, NULL, handle), true; }
static bool allocate_nowhere(wn_domain *domain) { return (void)domain, wn_is_null(wn_alloc(NULL, 1, 0)); }

static const struct call mistakes[] = {
    {"wn_blocking_end, in no blocking section", end_what_was_not_begun},
    {"wn_join_wait, twice", join_twice},
    {"wn_join_wait for oneself", join_oneself},
    {"wn_heap_close of a closed heap", close_twice},
    {"wn_domain_attach to a closed heap", attach_to_closed},
    {"wn_cas in a null handle", exchange_in_null},
    {"wn_cas in an integer", exchange_in_integer},
    {"wn_bytes of a null handle", bytes_of_null},
    {"wn_bytes of an integer", bytes_of_integer},
    {"wn_custom_adjust of null", adjust_null},
    {"wn_custom_adjust of an integer", adjust_integer},
    {"wn_custom_adjust of a raw block", adjust_raw},
    {"wn_custom_adjust to more bytes than there are addresses", adjust_too_much},
    {"wn_pin of a null handle", pin_null},
    {"wn_unpin of a null handle", unpin_null},
    {"wn_pin of an integer", pin_integer},
    {"wn_unpin, once too often", unpin_too_often},
    {"wn_string_new of NULL", string_of_null},
    {"wn_global_new of a null handle", new_global_of_null},
    {"wn_global_get of NULL", get_null_global},
    {"wn_global_set of NULL", set_null_global},
    {"wn_alloc in no domain", allocate_nowhere},
};

/* ---- how they are made ---- */

/* The domain that `wrong` gives is no good for the call. */
static bool is_refused(bool (*call)(wn_domain *domain), wn_domain *(*wrong)(wn_domain *domain)) {
  char text[512] = "";
  int ends[2], status;
  if (pipe(ends)) return false;
  pid_t child = fork();
  if (!child) {
    wn_domain *domain;
    dup2(ends[1], 2);
    alarm(20);
    if (wn_heap_open(NULL, &heap) || wn_domain_attach(heap, &domain)) _exit(2);
    handle = wn_alloc(domain, 2, 0);
    weak = wn_weak_new(domain, 1);
    wn_ephemeron_set_key(domain, weak, 0, handle);
    wn_ephemeron_set_data(domain, weak, handle);
    global = wn_global_new(domain, handle);
    _exit(call(wrong(domain)) && *wn_last_error() ? 0 : 1);
  }
  close(ends[1]);
  ssize_t length = read(ends[0], text, sizeof text - 1);
  close(ends[0]);
  if (child < 0 || length < 0 || waitpid(child, &status, 0) != child) return false;
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 0;
  return CHECKS && WTERMSIG(status) == SIGABRT && !strncmp(text, "winnow: wn_", 11);
}

static void check(const struct call *call, size_t count, wn_domain *(*wrong)(wn_domain *domain)) {
  int left = 0;
  for (; count--; call++) {
    if (is_refused(call->call, wrong)) continue;
    print_message("%s was not refused\n", call->name);
    left++;
  }
  assert_int_equal(left, 0);
}

static void check_all(wn_domain *(*wrong)(wn_domain *domain)) {
  check(calls, sizeof calls / sizeof *calls, wrong);
}

static wn_domain *right(wn_domain *domain) { return domain; }

static wn_domain *none(wn_domain *domain) { return (void)domain, NULL; }

static wn_domain *ended(wn_domain *domain) {
  if (wn_domain_detach(domain)) _exit(2);
  return domain;
}

static wn_domain *ended_with_its_heap(wn_domain *domain) {
  if (wn_domain_detach(domain) || wn_heap_close(heap)) _exit(2);
  return domain;
}

static wn_domain *blocked(wn_domain *domain) {
  wn_blocking_begin(domain);
  return domain;
}

static _Atomic(wn_domain *) another;

static void *attach_and_go(void *place) {
  if (wn_domain_attach(heap, place)) _exit(2);
  return NULL;
}

/* Blocked, so that no collection waits for it. */
static void *attach_another(void *unused) {
  wn_domain *domain;
  if (wn_domain_attach(heap, &domain)) _exit(2);
  wn_blocking_begin(domain);
  another = domain;
  return pause(), unused;
}

static wn_domain *of_another_thread(wn_domain *domain) {
  pthread_t thread;
  (void)domain;
  if (pthread_create(&thread, NULL, attach_another, NULL)) _exit(2);
  while (!another) usleep(100);
  return another;
}

static wn_domain *of_a_thread_that_is_gone(wn_domain *domain) {
  static wn_domain *gone;
  pthread_t thread;
  (void)domain;
  if (pthread_create(&thread, NULL, attach_and_go, &gone) || pthread_join(thread, NULL)) _exit(2);
  return gone;
}

/* What a process that opens two heaps with these parameters says. */
static void say_at_open(const char *params, char said[512]) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (!child) {
    wn_heap_options options = WN_HEAP_DEFAULTS;
    wn_heap *first, *second;
    options.text = params;
    dup2(ends[1], 2);
    _exit(wn_heap_open(&options, &first) || wn_heap_open(&options, &second));
  }
  close(ends[1]);
  ssize_t length = read(ends[0], said, 511);
  said[length > 0 ? length : 0] = 0;
  close(ends[0]);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static void stress_without_checks_is_told_once(void **state) {
  char said[512];
  (void)state;
  for (int i = 0; i < 3; i++) {
    say_at_open((const char *[]){"every=1", "polls=5", "compact=1"}[i], said);
    const char *end = strchr(said, '\n');
    if (CHECKS)
      assert_string_equal(said, "");
    else
      assert_true(strstr(said, "this library has no checks") && end && !end[1]);
  }
  say_at_open("verify", said);
  assert_string_equal(said, "");
}

static void without_a_domain(void **state) { /* H9 */
  (void)state;
  check_all(none);
  check(calls_that_know, KNOW_NULL, none);
}
static void with_a_domain_that_has_ended(void **state) { /* H9 */
  (void)state;
  check_all(ended);
  check(calls_that_know, KNOW, ended);
  check_all(ended_with_its_heap);
  check(calls_that_know, KNOW, ended_with_its_heap);
  check_all(of_a_thread_that_is_gone);
  check(calls_that_know, KNOW, of_a_thread_that_is_gone);
}
static void in_a_blocking_section(void **state) { /* H9 */
  (void)state;
  check_all(blocked);
}
static void with_a_domain_of_another_thread(void **state) { /* H9 */
  (void)state;
  check_all(of_another_thread);
}

static void with_null_handles_integers_and_closed_heaps(void **state) { /* H9 */
  (void)state;
  check(mistakes, sizeof mistakes / sizeof *mistakes, right);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(with_null_handles_integers_and_closed_heaps),
      cmocka_unit_test(stress_without_checks_is_told_once),
      cmocka_unit_test(without_a_domain),
      cmocka_unit_test(with_a_domain_that_has_ended),
      cmocka_unit_test(in_a_blocking_section),
      cmocka_unit_test(with_a_domain_of_another_thread),
  };
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
