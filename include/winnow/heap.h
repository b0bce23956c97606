/* A garbage-collected heap: opening it, domains and threads, allocation, fields, roots.
 *
 *   wn_heap *heap;
 *   wn_domain *d;
 *   if (wn_heap_open(NULL, &heap) || wn_domain_attach(heap, &d)) return puts(wn_last_error()), 1;
 *   {
 *     WN_SCOPE(d);
 *     wn_ref list = wn_root(d, wn_int(0));
 *     for (int i = 0; i < 1000; i++) wn_push_int(d, list, 0, i);
 *   }
 *   wn_domain_detach(d);
 *   wn_heap_close(heap);
 *
 * Functions marked "may collect" can move blocks: a raw wn_value or field pointer from before the
 * call is stale after it; handles stay valid. Unless its comment says otherwise, a function that
 * takes a domain must be called by the running thread of that domain. In every build, functions
 * that are not inlined refuse other callers, and domains that are NULL or have ended.
 *
 * With WN_DEBUG defined, the inline functions check their arguments. To find stale values at their
 * first use, also build the heap with WINNOW_CHECKS and set WINNOW_PARAMS to "compact=1,verify":
 * then each call that may collect moves all blocks, old ones too, and the heap is verified before
 * and after. If the program is built with AddressSanitizer, that reports a use of memory that a
 * block has left, or of what is behind a block, at its line. */
#ifndef WINNOW_HEAP_H
#define WINNOW_HEAP_H

#include <winnow/callstack.h>
#include <winnow/gc_control.h>
#include <winnow/value.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- heaps ---- */

typedef struct wn_heap wn_heap;

/* The function that the hook walk_roots calls for each root of the language; it may replace the
 * value. The hook runs while the world is stopped, or while the domain is blocked, on any thread.
 * It must not allocate, and must not look into blocks, not even at a tag: some blocks have moved
 * already, and the collector may use the first field of their old place. */
typedef void wn_visit(void *visitor, wn_value *slot);

/* Few programs check each handle that they make. So by default a heap that has no memory or no
 * handles left ends the process by abort, after one line on standard error. A program that sets the
 * hooks out_of_memory and out_of_handles decides itself. Such a hook may leave by longjmp or end
 * the program. If it returns, the call that failed returns what its comment says, mostly a null
 * handle. The program must check for that, since a null handle has no value. Both hooks run on the
 * thread that made the request, outside any collection, and may use the heap. A language should
 * make the error value that it raises then in advance. */
enum { WN_TYPES_MOST = 65536 };
typedef struct wn_heap_hooks {
  /* Memory is exhausted: `words` words cannot be allocated. The hook may free what the program can
   * spare. If it returns true, the heap tries once more. */
  bool (*out_of_memory)(wn_domain *domain, size_t words, void *context);
  /* The thread's handles are used up (stack_limit), or there is no memory for more of them;
   * wn_last_error says which. The hook itself can make a handle only after it has left a scope. */
  void (*out_of_handles)(wn_domain *domain, void *context);
  /* Gets an exception that a callback raised, at a safepoint, when the heap is consistent; may
   * leave by longjmp. The code that longjmp returns to leaves the scopes that were skipped, by
   * wn_scope_leave of a scope that was entered before them. */
  void (*raise)(wn_domain *domain, wn_ref exception, void *context);
  /* The heap is beyond its limit (soft_limit_bytes), and the collector cannot help: two cycles and a
   * compaction have left it there (two cycles, if max_overhead is 1000000), or the collector has
   * spent its half of the processor time. The program may let something go, such as a cache, or end
   * some of its work; otherwise it goes on as soft_limit_bytes says, until there is no memory.
   * Called once for each excess: again after the heap was below the limit, or when it has grown by a
   * tenth. Called where finalisers run, at wn_poll for example, and outside all callbacks; by the
   * first domain that comes there. The hook may use the heap, raise, and leave by longjmp. */
  void (*over_limit)(wn_domain *domain, size_t used_bytes, size_t limit_bytes, void *context);
  /* See wn_visit. Also called for a domain that the language has not set up yet (wn_domain_data is
   * NULL). */
  void (*walk_roots)(wn_domain *domain, wn_visit *visit, void *visitor, void *context);
  /* Tells a profile the language's frames of the running thread: writes the innermost ones, at most
   * `most`, innermost first, and returns how many it wrote. Called in the middle of an allocation:
   * it may read blocks, but may call no functions of the heap other than wn_domain_data,
   * wn_place_of and those that read fields. See wn_language_frame. */
  size_t (*callstack)(wn_domain *domain, wn_language_frame *frames, size_t most, void *context);
  /* Names for heap snapshots (snapshot.h), of blocks that are neither custom nor weak, and the
   * first two for traces (trace.h) as well. type_of returns the number of a block's type, less than
   * WN_TYPES_MOST; without this hook it is the block's tag. type_name returns the name of such a
   * type, field_name that of a field of its blocks, describe what tells a block from others of its
   * type, such as the name of a variable; NULL: nothing. Texts are copied. They are called in a
   * copy of the process that has no other thread, or while the world is stopped; type_name, if there
   * is no type_of, in the middle of an allocation as well. For a trace
   * type_of is asked for each sampled block once, at the beginning of the first minor collection
   * after its birth, or at the end of the trace: where the type is a field, that must be set by
   * then. type_of and describe may read the block and what it leads to, unless that is weak. They
   * may call only functions that are async-signal-safe, and none of the heap but those that read
   * fields. */
  unsigned (*type_of)(wn_value block, void *context);
  const char *(*type_name)(unsigned type, void *context);
  const char *(*field_name)(unsigned type, size_t field, void *context);
  const char *(*describe)(wn_value block, void *context);
  void *context;
} wn_heap_hooks;

/* Which frames the callstacks of profiles have, if the hook `callstack` is set. WN_FRAMES_BOTH:
 * native frames, and each frame of the language inside the native frame that runs it.
 * WN_FRAMES_LANGUAGE costs least. */
typedef enum wn_frames { WN_FRAMES_BOTH, WN_FRAMES_NATIVE, WN_FRAMES_LANGUAGE } wn_frames;

typedef struct wn_heap_options {
  wn_gc_control parameters;
  const char *text; /* as WINNOW_PARAMS and in its place, applied after `parameters`; NULL: the variable */
  /* Of the major heap; 0: none. The collector keeps the heap below as far as it can: it works more
   * near the limit, and compacts beyond it unless max_overhead is 1000000, and then calls the hook
   * over_limit. Marking, sweeping and compaction for the limit take at most half of the process's
   * processor time, one second in two, of all heaps together; when that is spent, the collector works
   * as if there were no limit until it has earned more. Only work in progress exceeds the half, a
   * compaction for example, and the collector earns that first. Minor collections are the ordinary
   * work of allocation, and do not count. The limits of the process's control groups (memory.max and
   * memory.high on Linux) are limits too, as far as the rest of the group leaves room; "cgroup=0" in
   * `text` ignores them. */
  size_t soft_limit_bytes;
  int helper_threads;     /* that mark and sweep; below 0: as many as processors are idle, at most 4 */
  uint64_t seed;          /* of everything random; equal seeds repeat a run */
  bool finalise_at_close; /* wn_heap_close runs the finalisers that are left */
  wn_heap_hooks hooks;
  wn_frames frames;     /* of callstacks; without the hook `callstack` they are native */
  const char *language; /* its name, up to 60 bytes, for reports; NULL is "language" */
} wn_heap_options;

/* The initialiser of every wn_heap_options; set members afterwards. */
#define WN_HEAP_DEFAULTS \
  { .parameters = WN_GC_CONTROL_DEFAULTS, .helper_threads = -1 }

/* Opens a heap. `options` may be NULL for WN_HEAP_DEFAULTS. WN_EINVAL: a parameter is out of range;
 * wn_last_error names it. WN_ENOMEM. */
WN_API wn_status wn_heap_open(const wn_heap_options *options, wn_heap **heap);

/* Closes the heap and frees its memory; custom blocks are released. WN_EBUSY: a domain is still
 * attached. Any thread. */
WN_API wn_status wn_heap_close(wn_heap *heap);

/* The number of a place in a program of a language, for frames of its hook `callstack`. Equal
 * places have one number, which is valid as long as the heap. The texts are copied, and cut after
 * 1000 bytes; NULL is the empty text. `line` may be 0. Each call searches a table, so a language
 * should keep the number with its code. Returns 0 if there is no memory, or if the heap has 2^24
 * places; wn_last_error says which. Any thread; not in a signal handler. */
WN_API wn_place wn_place_of(wn_heap *heap, const char *function, const char *file, unsigned line);

/* ---- domains and threads ---- */

typedef struct wn_join wn_join;
typedef void wn_body(wn_domain *domain, void *argument);

/* The calling thread becomes the first thread of a new domain. WN_ESTATE: the thread already runs
 * in a domain of this heap. (A thread can be in several domains if they are of different heaps, or
 * if it is in a blocking section of the others.) WN_ELIMIT: there are too many domains. WN_ENOMEM.
 *
 * A call of one heap is no safepoint of another, and most calls may wait. So a thread in domains of
 * several heaps keeps all but the one that it uses in blocking sections: two that do not, or one
 * that does not and one that forks, can wait for each other for ever. */
WN_API wn_status wn_domain_attach(wn_heap *heap, wn_domain **domain);

/* Ends the domain; the blocks that it allocated stay. Its handles die, and none of its scopes may
 * be open. WN_ESTATE: called by a thread of another domain, in a blocking section, or in a
 * callback. WN_EBUSY: the domain has other threads. May collect. If the thread ends without this
 * call, the domain ends with its last thread, and no callback runs. */
WN_API wn_status wn_domain_detach(wn_domain *domain);

/* Runs `body` in a new domain, on a new thread of the operating system. The new domain joins the
 * parent's profile. It ends when `body` has returned and its other threads have ended. */
WN_API wn_status wn_domain_spawn(wn_domain *parent, wn_body *body, void *argument, wn_join **join);

/* Runs `body` on a new thread of the same domain. One of a domain's threads runs at a time. Waiting
 * threads get their turn in the order in which they asked: when the running thread blocks, yields
 * or ends, or else after about 10 ms, at its next wn_poll or call that may collect.
 *
 * The body of a thread or a domain may end by pthread_exit anywhere in user code, except in the
 * hooks walk_roots and callstack and in `release`. The thread's handles die and its last callbacks
 * run. If there is a raise hook, exceptions that these callbacks raise, and pending exceptions of
 * the thread, are lost, because the frames that could catch them have ended. Call wn_poll before
 * the end to get them. */
WN_API wn_status wn_thread_spawn(wn_domain *domain, wn_body *body, void *argument, wn_join **join);

/* Waits until the spawned thread or domain has ended, and frees `join`. Blocks; may collect. */
WN_API wn_status wn_join_wait(wn_domain *domain, wn_join *join);

/* Lets the waiting threads of the domain run first. May collect. */
WN_API void wn_thread_yield(wn_domain *domain);

/* Enclose a system call or a wait for a lock: collections and the domain's other threads go on
 * without this thread. Between the two calls the thread must not call a function of the domain or
 * look at a value. Neither call fails; wn_blocking_end may wait. No scope may end in between, so
 * neither a C++ exception nor, where it unwinds scopes (-fexceptions), pthread_exit may leave both
 * a blocking section and a scope. */
WN_API void wn_blocking_begin(wn_domain *domain);
WN_API void wn_blocking_end(wn_domain *domain);

/* fork. Parent and child both go on with all heaps, without a call of the program. As a collection
 * does, a fork waits until the other domains are at a safepoint or in a blocking section; it moves
 * no block. The child has the calling thread alone:
 *   - The domains of other threads end, without callbacks: their handles die, their blocks stay as
 *     long as something else leads to them, their finalisers run in the domains that are left.
 *     The calling thread's other threads end likewise.
 *   - wn_join_wait of a thread that is not in the child frees the join, and is WN_ESTATE.
 *   - Profiles go on, with the domains that are left. A trace stays the parent's: the child takes
 *     no part in it any more, and may start its own.
 * A thread in a blocking section or in no domain may fork, too, and any callback. In the hooks
 * walk_roots and callstack, in `release`, in a listener, and in a signal handler that interrupted
 * one of these functions, a program may fork only to execute another. So it is with a child of
 * vfork, and of the bare system call. */

/* The number of a domain: 0 for the first, and never reused while the heap exists. UINT64_MAX for
 * NULL and for a domain that has ended. Any thread. */
WN_API uint64_t wn_domain_number(const wn_domain *domain);

/* A pointer of the language's own for each domain, initially NULL. A running thread of the domain
 * may set and read it; the hook walk_roots may read it, also while the domain is blocked. */
WN_API void wn_domain_set_data(wn_domain *domain, void *data);
WN_API void *wn_domain_data(const wn_domain *domain);

/* ---- the fast paths ---- */

/* For functions that allocate: they are no frames on callstacks, with and without optimisation. */
#define WN_TRANSPARENT static inline __attribute__((always_inline, artificial))

/* The first members of a domain, which inlined code and generated code may use. */
struct wn_mutator_context {
  char *young_ptr;         /* the youngest block's header; allocation goes down */
  char *young_limit;       /* allocation below it takes the slow path; read and written atomically */
  uintptr_t young_base;    /* of the addresses of all minor heaps of the heap; constant */
  uintptr_t young_span;    /* of these addresses; constant */
  wn_value *top, *top_end; /* of the handle slots */
  uintptr_t pending;       /* not 0: callbacks are pending; read and written atomically */
};

static inline struct wn_mutator_context *wn_context(wn_domain *domain) {
  return (struct wn_mutator_context *)domain;
}

WN_API wn_value *wn_bump_slow(wn_domain *domain, size_t words, unsigned tag);
WN_API wn_ref wn_root_slow(wn_domain *domain, wn_value value);
WN_API void wn_set_slow(wn_domain *domain, wn_value block, size_t i, wn_value value);
WN_API void wn_check_handle(const wn_domain *domain, wn_ref ref, const char *function);
WN_API void wn_check_field(wn_ref block, size_t i, const char *function);
WN_API void wn_check_domain(const wn_domain *domain, const char *function);
WN_API void wn_check_value(const wn_domain *domain, wn_value value, const char *function);
WN_API void wn_check_store(const wn_domain *domain, wn_value block, size_t i, wn_value value,
                           const char *function);
WN_API void wn_check_bytes(wn_value block, const char *function);
WN_API wn_value *wn_bump_checked(wn_domain *domain, size_t words, unsigned tag);
WN_API void wn_scope_note(wn_domain *domain, const char *function);
WN_API void wn_scope_poison(wn_domain *domain, const wn_value *mark);

#ifdef WN_DEBUG
#define WN_CHECK_HANDLE(domain, ref)            wn_check_handle(domain, ref, __func__)
#define WN_CHECK_FIELD(block, i)                wn_check_field(block, i, __func__)
#define WN_CHECK_DOMAIN(domain)                 wn_check_domain(domain, __func__)
#define WN_CHECK_VALUE(domain, value)           wn_check_value(domain, value, __func__)
#define WN_CHECK_STORE(domain, block, i, value) wn_check_store(domain, block, i, value, __func__)
#define WN_CHECK_BYTES(block)                   wn_check_bytes(block, __func__)
#else
#define WN_CHECK_HANDLE(domain, ref)            ((void)0)
#define WN_CHECK_FIELD(block, i)                ((void)0)
#define WN_CHECK_DOMAIN(domain)                 ((void)0)
#define WN_CHECK_VALUE(domain, value)           ((void)0)
#define WN_CHECK_STORE(domain, block, i, value) ((void)0)
#define WN_CHECK_BYTES(block)                   ((void)0)
#endif

/* A safepoint, for loops that do not allocate. Pending finalisers, alarms and profile callbacks run
 * here, in wn_thread_yield, in wn_join_wait and in the functions of gc.h, and never inside an
 * allocation. May collect. */
WN_API void wn_poll_slow(wn_domain *domain);
static inline void wn_poll(wn_domain *domain) {
  struct wn_mutator_context *context = wn_context(domain);
  WN_CHECK_DOMAIN(domain);
  if (context->young_ptr < __atomic_load_n(&context->young_limit, __ATOMIC_RELAXED) ||
      __atomic_load_n(&context->pending, __ATOMIC_RELAXED))
    wn_poll_slow(domain);
}

/* True if `at` is not below the limit. The limit is read anew each time: other threads raise it to
 * stop this one. */
static inline bool wn_above_limit(const struct wn_mutator_context *context, const char *at) {
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__) && !defined(__SANITIZE_THREAD__)
  bool above; /* as below, but the compiler does not load the limit into a register first */
  __asm__ volatile("cmpq %2, %1" : "=@ccae"(above) : "r"(at), "m"(context->young_limit));
  return above;
#else
  return at >= __atomic_load_n(&context->young_limit, __ATOMIC_RELAXED);
#endif
}

/* The raw tier, for generated code and hot C code: a block of 1 to WN_MAX_WORDS words, with the tags
 * of wn_alloc or WN_TAG_MIXED, without a handle. Its fields are not set. The caller sets every
 * field, by plain stores whatever the block's size, before it calls any other function of this
 * header. NULL if memory is exhausted, or if there are more words; wn_last_error says which. May
 * collect.
 *
 * Where `words` is a constant up to WN_MAX_YOUNG_WORDS, the fast path is seven instructions; for
 * other numbers it has a comparison more. */
WN_TRANSPARENT wn_value *wn_bump(wn_domain *domain, size_t words, unsigned tag) {
#ifdef WN_DEBUG
  return wn_bump_checked(domain, words, tag);
#endif
  if (__builtin_expect(words > WN_MAX_YOUNG_WORDS, 0)) return wn_bump_slow(domain, words, tag);
  struct wn_mutator_context *context = wn_context(domain);
  char *at = context->young_ptr - (words + 1) * sizeof(wn_value);
  if (__builtin_expect(!wn_above_limit(context, at), 0)) return wn_bump_slow(domain, words, tag);
  context->young_ptr = at;
  *(wn_value *)at = WN_HEADER(words, tag);
  return (wn_value *)at + 1;
}

/* ---- handles ---- */

/* A scope: handles made after its beginning die at the end of the enclosing C block, however
 * control leaves the block. In programs compiled with WN_DEBUG a scope notes its function, in two
 * handle slots, so that snapshots can name it (winnow/snapshot.h). */
typedef struct wn_scope {
  wn_domain *domain;
  wn_value *mark;
} wn_scope;

static inline wn_scope wn_scope_enter_in(wn_domain *domain, const char *function) {
  wn_scope scope = {domain, wn_context(domain)->top};
#ifdef WN_DEBUG
  wn_scope_note(domain, function);
#endif
  (void)function;
  return scope;
}
#define wn_scope_enter(domain) wn_scope_enter_in(domain, __func__)
static inline void wn_scope_leave(wn_scope *scope) {
#ifdef WN_DEBUG
  wn_scope_poison(scope->domain, scope->mark);
#endif
  if (wn_context(scope->domain)->top > scope->mark) wn_context(scope->domain)->top = scope->mark;
}
/* Declares the scope `wn_here`, which may shadow that of an outer block. */
#define WN_SCOPE(domain)                                                                         \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") wn_scope wn_here \
      __attribute__((cleanup(wn_scope_leave), unused)) = wn_scope_enter(domain);                 \
  _Pragma("GCC diagnostic pop")(void) 0

/* Makes a handle of a value. Null if the slots are used up (wn_heap_hooks.out_of_handles). */
static inline wn_ref wn_root(wn_domain *domain, wn_value value) {
  struct wn_mutator_context *context = wn_context(domain);
  wn_ref ref;
  WN_CHECK_VALUE(domain, value);
  if (__builtin_expect(context->top == context->top_end, 0)) return wn_root_slow(domain, value);
  ref.slot = context->top++;
  *ref.slot = value;
  return ref;
}

WN_API void wn_check_escape(const wn_scope *scope, wn_ref ref);

/* Makes a handle in the enclosing scope of the value of a handle in this scope. It must be the last
 * operation in the scope, since it uses the scope's first slot. */
static inline wn_ref wn_escape(wn_scope *scope, wn_ref ref) {
#ifdef WN_DEBUG
  wn_check_escape(scope, ref);
#endif
  wn_ref out = {scope->mark};
  *scope->mark++ = *ref.slot;
  return out;
}

/* The value of a handle, stale after the next call that may collect. */
static inline wn_value wn_value_of(wn_ref ref) { return *ref.slot; }
static inline bool wn_is_null(wn_ref ref) { return !ref.slot; }

/* Assign another handle's value or an integer to a handle. With these, and wn_assign_field and
 * wn_assign_pair below, a loop needs neither new handles nor scopes. */
static inline void wn_assign(wn_ref ref, wn_ref from) { *ref.slot = *from.slot; }
static inline void wn_assign_int(wn_ref ref, intptr_t n) { *ref.slot = wn_int(n); }

/* ---- allocation: all of it may collect, and gives a null handle if memory or handles are used up,
 * unless wn_heap_hooks decide otherwise ---- */

/* A block whose fields are wn_int(0), or whose bytes are 0. `words` may be up to WN_MAX_WORDS,
 * `tag` up to WN_TAG_SCANNED_MAX but not WN_TAG_MIXED, or WN_TAG_RAW, WN_TAG_DOUBLE or
 * WN_TAG_DOUBLE_ARRAY. For other arguments the handle is null, and wn_last_error says why. */
WN_API wn_ref wn_alloc(wn_domain *domain, size_t words, unsigned tag);

/* Zeroed bytes that are not scanned; at least one word. */
WN_API wn_ref wn_alloc_bytes(wn_domain *domain, size_t bytes);

/* A mixed block (WN_TAG_MIXED): its fields 1 to `values` are wn_int(0), and `bytes` zeroed bytes
 * follow (wn_bytes). It cannot be marshalled. wn_bump makes one, too, if its caller sets field 0. */
WN_API wn_ref wn_alloc_mixed(wn_domain *domain, size_t values, size_t bytes);

/* A block of two fields. */
WN_TRANSPARENT wn_ref wn_pair(wn_domain *domain, unsigned tag, wn_ref first, wn_ref second) {
  wn_value *fields;
  WN_CHECK_HANDLE(domain, first);
  WN_CHECK_HANDLE(domain, second);
  fields = wn_bump(domain, 2, tag);
  if (__builtin_expect(!fields, 0)) {
    wn_ref null = {NULL};
    return null;
  }
  fields[0] = *first.slot;
  fields[1] = *second.slot;
  return wn_root(domain, (wn_value)fields);
}

/* The same, assigned to `into`, which may be one of the other handles. If memory is exhausted,
 * returns false, and `into` is unchanged. */
WN_TRANSPARENT bool wn_assign_pair(wn_domain *domain, wn_ref into, unsigned tag, wn_ref first,
                                   wn_ref second) {
  wn_value *fields;
  WN_CHECK_HANDLE(domain, into);
  WN_CHECK_HANDLE(domain, first);
  WN_CHECK_HANDLE(domain, second);
  fields = wn_bump(domain, 2, tag);
  if (__builtin_expect(!fields, 0)) return false;
  fields[0] = *first.slot;
  fields[1] = *second.slot;
  *into.slot = (wn_value)fields;
  return true;
}

/* Puts an integer in front of a list: assigns to `list` a new pair of the integer and the old value
 * of `list`. If memory is exhausted, returns false. */
WN_TRANSPARENT bool wn_push_int(wn_domain *domain, wn_ref list, unsigned tag, intptr_t n) {
  wn_value *fields;
  WN_CHECK_HANDLE(domain, list);
  fields = wn_bump(domain, 2, tag);
  if (__builtin_expect(!fields, 0)) return false;
  fields[0] = wn_int(n);
  fields[1] = *list.slot;
  *list.slot = (wn_value)fields;
  return true;
}

/* The size and tag of one block of a group. */
typedef struct wn_shape {
  size_t words;
  unsigned tag;
} wn_shape;
/* Allocates `n` blocks, of together at most WN_MAX_YOUNG_WORDS words, headers included. No
 * collection happens between them. WN_ENOMEM, WN_EINVAL. */
WN_API wn_status wn_alloc_group(wn_domain *domain, size_t n, const wn_shape *shapes, wn_ref *blocks);

/* The operations of a custom block, which stands for something outside the heap. `release` is
 * called once with the block's bytes, when the block is dead or the heap is closed. It runs on any
 * thread, perhaps while all domains stand still, so it must neither use the heap nor wait for a
 * lock that a domain may hold. In the child of a fork it may get the zeroed bytes of a block that
 * another thread had just allocated. */
typedef struct wn_custom_ops {
  const char *name;
  void (*release)(void *bytes);
} wn_custom_ops;
/* A custom block with `bytes` zeroed bytes. `external_bytes` is the memory that it keeps outside
 * the heap, at most SIZE_MAX / 2 bytes; the more there is, the more often the heap collects. */
WN_API wn_ref wn_alloc_custom(wn_domain *domain, const wn_custom_ops *ops, size_t bytes,
                              size_t external_bytes);
/* The block now keeps `external_bytes` outside the heap, more or less than before. Growth hastens
 * collections as allocation does, and may collect at once, before it counts. A shrink takes back
 * what its growth hastened, if no cycle has begun since. A profile samples growth, as one more
 * allocation outside. A shrink takes the same share of all parts that a profile sampled, of which
 * its `resize` is told; a part of which nothing is left is dead. Several domains may adjust one
 * block at once. WN_EINVAL: the handle is of no custom block, or the bytes are more than
 * SIZE_MAX / 2. */
WN_API wn_status wn_custom_adjust(wn_domain *domain, wn_ref block, size_t external_bytes);

/* ---- fields ---- */

/* A field's value, stale after the next call that may collect. */
static inline wn_value wn_field(wn_ref block, size_t i) {
  WN_CHECK_FIELD(block, i);
  return __atomic_load_n((wn_value *)*block.slot + i, __ATOMIC_ACQUIRE);
}

/* A handle of a field's value. */
static inline wn_ref wn_get(wn_domain *domain, wn_ref block, size_t i) {
  WN_CHECK_HANDLE(domain, block);
  return wn_root(domain, wn_field(block, i));
}

static inline void wn_assign_field(wn_ref ref, wn_ref block, size_t i) { *ref.slot = wn_field(block, i); }

/* The raw tier: stores a value into a field of a scanned block. Neither the value nor the block may
 * be stale; the call does not collect. A domain that reads the field also sees the contents of the
 * block that was stored, and all that this domain stored before. */
static inline void wn_store(wn_domain *domain, wn_value block, size_t i, wn_value value) {
  struct wn_mutator_context *context = wn_context(domain);
  WN_CHECK_STORE(domain, block, i, value);
  if (block - context->young_base < context->young_span)
    __atomic_store_n((wn_value *)block + i, value, __ATOMIC_RELEASE);
  else
    wn_set_slow(domain, block, i, value);
}

/* The same with handles. */
static inline void wn_set(wn_domain *domain, wn_ref block, size_t i, wn_ref value) {
  WN_CHECK_HANDLE(domain, block);
  WN_CHECK_HANDLE(domain, value);
  WN_CHECK_FIELD(block, i);
  wn_store(domain, *block.slot, i, *value.slot);
}
static inline void wn_set_int(wn_domain *domain, wn_ref block, size_t i, intptr_t n) {
  WN_CHECK_HANDLE(domain, block);
  WN_CHECK_FIELD(block, i);
  wn_store(domain, *block.slot, i, wn_int(n));
}

/* Stores `desired` if the field holds `expected` (the same integer, or the same block).
 * Sequentially consistent. */
WN_API bool wn_cas(wn_domain *domain, wn_ref block, size_t i, wn_ref expected, wn_ref desired);

/* The raw tier: stores one value into `n` fields, from `i` on. Copies `n` fields, from `i` of one
 * scanned block to `j` of another, or of the same, which may overlap. Both do what wn_store does for
 * each field, in less time, and each field changes at once; do not collect; and may be called with
 * what wn_value_of returns. WN_EINVAL: a value has no fields, or not so many; nothing is stored. */
WN_API wn_status wn_fill(wn_domain *domain, wn_value block, size_t i, size_t n, wn_value value);
WN_API wn_status wn_blit(wn_domain *domain, wn_value from, size_t i, wn_value to, size_t j, size_t n);

/* The bytes of a raw, custom or mixed block. The address is valid until the next call that may
 * collect, and no longer: the block can move then. It can move while the calling thread is in a
 * blocking section, too. The address of a pinned block is valid until it is unpinned. */
static inline void *wn_bytes_of(wn_value block) {
  WN_CHECK_BYTES(block);
  return (wn_value *)block + (wn_tag(block) == WN_TAG_CUSTOM ? 2 : wn_scanned_words(block));
}
/* The same with a handle. NULL if the handle is null, or of no block. */
WN_API void *wn_bytes(wn_ref raw);

/* ---- pins ---- */

/* Pins a block: it stays alive, and where it is, until wn_unpin was called for it as often as
 * wn_pin. For bytes whose address something outside the heap keeps, such as a system call in a
 * blocking section:
 *
 *   if (wn_pin(domain, raw)) return report(wn_last_error());
 *   void *bytes = wn_bytes(raw);
 *   wn_blocking_begin(domain);
 *   ssize_t got = read(file, bytes, 8 * wn_words(*raw.slot));
 *   wn_blocking_end(domain);
 *   wn_unpin(domain, raw);
 *
 * A young block moves once more, in wn_pin, which collects for that. A pin can hold up to 2 MiB
 * around its block, too, in which other blocks have room: pins are for few blocks, or for short
 * times. Any domain of the heap may unpin.
 * WN_EINVAL: the handle is null, or an integer's. WN_ENOMEM, and the block is not pinned. */
WN_API wn_status wn_pin(wn_domain *domain, wn_ref block);
/* WN_EINVAL: the block is not pinned. */
WN_API wn_status wn_unpin(wn_domain *domain, wn_ref block);

/* ---- identity ---- */

/* A number of a block, never 0, that stays the same while the block lives and moves, and that no
 * other block of the heap ever has: for hash tables by identity. The first call for a block puts
 * it into a table of the heap, which has 24 to 48 bytes for each such block that lives; a block
 * that is never asked for costs nothing. Equal seeds (wn_heap_options) give the same numbers in the
 * same order. Does not collect. 0: the value is an integer, or there is no memory; wn_last_error
 * says which. */
WN_API uint64_t wn_identity_hash(wn_domain *domain, wn_value block);

/* ---- global roots ---- */

/* A root of the whole heap, which lives until it is freed; any thread of a domain may use it. */
typedef struct wn_global wn_global;
WN_API wn_global *wn_global_new(wn_domain *domain, wn_ref ref); /* NULL if memory is exhausted */
WN_API void wn_global_set(wn_domain *domain, wn_global *global, wn_ref ref);
WN_API wn_ref wn_global_get(wn_domain *domain, const wn_global *global);
WN_API void wn_global_free(wn_domain *domain, wn_global *global);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
