/* The C half of Winnow for OCaml: gives what Gc.Memprof's callbacks are told to a wn_writer
 * (winnow/writer.h).
 *
 * CODES. A callstack of Memprof is an array of codes, each a place in the program. A code stands
 * for several places if functions are inlined there. The OCaml half finds out which, once for each
 * code, and defines it here; `alloc` answers with the first code that it does not know. A table of
 * codes only grows. Readers take no lock: they see a table that is whole, with each entry either
 * empty or complete. A table that became too small stays until the recorder is freed, since a
 * reader of another domain may still be in it.
 *
 * CLOSE. Memprof can call callbacks of other domains while one domain stops it. So a thread counts
 * itself in `using` before it looks at `closed`, and the thread that closes sets `closed` and then
 * waits until nobody uses the recorder. What is left of a closed recorder is never freed.
 *
 * EXTERNAL. Memory outside the heap is sampled here, a word at a time with the recording's rate: each
 * thread counts the words down to its next sampled one. A thread that counted for another recorder, or
 * for none, begins anew, which changes no distribution. A token has the number of its block, and that
 * of the recorder in the bits above, so that what one trace was told of is not freed in the next one.
 *
 * Functions marked noalloc in winnow.ml neither allocate in the OCaml heap nor release its lock. */
#define CAML_NAME_SPACE
#define CAML_INTERNALS /* for Caml_state */
#include "winnow_random.h"

#include <caml/alloc.h>
#include <caml/domain_state.h>
#include <caml/fail.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/signals.h>

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <winnow/writer.h>

enum { CODES_MOST = 1024, PLACES_MOST = 2048, FIRST_SLOTS = 1 << 10 };

/* What a code stands for, innermost first. */
struct code {
  intptr_t code;
  bool is_own; /* of the library: what it allocates is not recorded */
  size_t count;
  wn_place places[];
};

struct codes {
  struct codes *before; /* the smaller table that this one replaced */
  size_t mask, count;
  _Atomic(struct code *) slots[];
};

struct recorder {
  wn_writer *writer;
  pid_t pid;
  double rate;
  long number;           /* of the recorders of the process; EXTERNAL */
  size_t depth;          /* the largest number of codes of a callstack */
  wn_place not_recorded; /* stands for what a callstack has beyond that depth */
  pthread_mutex_t lock;  /* to define a code, or to tell of the heap */
  _Atomic(struct codes *) codes;
  _Atomic(bool) closed;
  _Atomic(int) using; /* threads between use and leave */
};

/* STACKS: the last callstack of a thread. Its codes stand outermost first, and the places that they
 * stand for end at the array's end, so that those of the next callstack's outer codes, which are
 * mostly the same, are where they must be. */
static _Thread_local struct {
  struct recorder *recorder;
  size_t depth;
  value code[CODES_MOST];
  uint16_t begin[CODES_MOST];       /* in `places`, of the places from this code outwards */
  wn_place places[PLACES_MOST + 1]; /* one more for that of callers that are not recorded */
} last;

/* Words, with headers, that the runtime allocated to tell of samples and callbacks allocated: the
 * heap counts them, but does not sample them. */
static _Atomic(uint64_t) unsampled_minor_words, unsampled_major_words, unsampled_promoted_words;

/* The recorder that is told of memory outside the heap; NULL: none. Recorders that were here are never
 * freed. */
static _Atomic(struct recorder *) external;
static _Thread_local struct {
  const struct recorder *of;
  long words; /* to the next sampled one, that included */
} until_sample;

enum { TOKEN_BLOCK_BITS = 44, TOKEN_RECORDERS = 1 << 17 };

/* ---- codes ---- */

static size_t slot_of(const struct codes *codes, intptr_t code) {
  uint64_t mixed = (uint64_t)code * UINT64_C(0x9e3779b97f4a7c15);
  return (size_t)(mixed >> 32) & codes->mask;
}

static struct codes *new_codes(size_t slots, struct codes *before) {
  struct codes *codes = calloc(1, sizeof *codes + slots * sizeof codes->slots[0]);
  if (!codes) return NULL;
  codes->before = before;
  codes->mask = slots - 1;
  return codes;
}

static const struct code *find_code(const struct codes *codes, intptr_t code) {
  for (size_t i = slot_of(codes, code);; i = (i + 1) & codes->mask) {
    const struct code *found = atomic_load_explicit(&codes->slots[i], memory_order_acquire);
    if (!found || found->code == code) return found;
  }
}

static void put_code(struct codes *codes, struct code *code) {
  size_t i = slot_of(codes, code->code);
  while (atomic_load_explicit(&codes->slots[i], memory_order_relaxed)) i = (i + 1) & codes->mask;
  atomic_store_explicit(&codes->slots[i], code, memory_order_release);
  codes->count++;
}

/* A table of twice the size with the same codes. NULL: there is no memory. */
static struct codes *grow_codes(struct recorder *recorder, struct codes *codes) {
  struct codes *grown = new_codes(2 * (codes->mask + 1), codes);
  if (!grown) return NULL;
  for (size_t i = 0; i <= codes->mask; i++)
    if (codes->slots[i]) put_code(grown, codes->slots[i]);
  atomic_store_explicit(&recorder->codes, grown, memory_order_release);
  return grown;
}

/* False: there is no memory. Under the lock. */
static bool add_code(struct recorder *recorder, struct code *code) {
  struct codes *codes = recorder->codes;
  if (find_code(codes, code->code)) {
    free(code); /* another domain was first */
    return true;
  }
  if (2 * codes->count > codes->mask && !(codes = grow_codes(recorder, codes))) return false;
  put_code(codes, code);
  return true;
}

static void free_codes(struct codes *codes) {
  for (size_t i = 0; i <= codes->mask; i++) free(codes->slots[i]);
  for (struct codes *before; codes; codes = before) {
    before = codes->before;
    free(codes);
  }
}

/* ---- values ---- */

/* A recorder is an integer for OCaml: its address, whose lowest bit is free. */
static struct recorder *recorder_of(value number) { return (struct recorder *)(number & ~(value)1); }
static value number_of(struct recorder *recorder) { return (value)recorder | 1; }

static const char *text_or_null(value option) {
  return Is_block(option) ? String_val(Field(option, 0)) : NULL;
}

static void fail(void) { caml_failwith(wn_last_error()); }

/* CLOSE. False: the recorder is closed. True: leave follows. */
static bool use(struct recorder *recorder) {
  atomic_fetch_add(&recorder->using, 1);
  if (!atomic_load(&recorder->closed)) return true;
  atomic_fetch_sub(&recorder->using, 1);
  return false;
}

static void leave(struct recorder *recorder) { atomic_fetch_sub(&recorder->using, 1); }

/* False: it is closed already. */
static bool close_for_others(struct recorder *recorder) {
  if (atomic_exchange(&recorder->closed, true)) return false;
  while (atomic_load(&recorder->using)) sched_yield();
  return true;
}

static struct recorder *new_recorder(void) {
  struct recorder *recorder = calloc(1, sizeof *recorder);
  struct codes *codes = new_codes(FIRST_SLOTS, NULL);
  if (!recorder || !codes) {
    free(recorder);
    free(codes);
    caml_raise_out_of_memory();
  }
  recorder->pid = getpid();
  recorder->codes = codes;
  pthread_mutex_init(&recorder->lock, NULL);
  return recorder;
}

static void free_recorder(struct recorder *recorder) {
  free_codes(recorder->codes);
  pthread_mutex_destroy(&recorder->lock);
  free(recorder);
}

/* ---- the end of the process ---- */

static struct recorder *at_exit; /* the recorder that is told of the exit; NULL: none */

static void end(struct recorder *recorder) {
  wn_writer_close(recorder->writer);
  free_codes(recorder->codes);
}

static void tell_exit(int status, void *unused) {
  (void)unused;
  if (!at_exit || !close_for_others(at_exit)) return;
  wn_writer_exits(at_exit->writer, status);
  end(at_exit);
}

static void watch_exit(struct recorder *recorder) {
  static bool watches;
  if (!watches) on_exit(tell_exit, NULL);
  watches = true;
  at_exit = recorder;
}

/* ---- for winnow.ml ---- */

/* string option, string option, float option, int option -> (recorder * float * int) option: begins
 * a trace. Without a path the environment is asked, and what it says comes before what is given.
 * Returns the rate and the depth that hold; None if no trace is asked for. */
value winnow_open(value path, value context, value rate, value depth) {
  CAMLparam4(path, context, rate, depth);
  CAMLlocal2(opened, result);
  wn_writer_options options = WN_WRITER_DEFAULTS;
  options.heap = options.language = "ocaml";
  options.context = text_or_null(context);
  if (Is_block(rate)) options.sampling.sampling_rate = Double_val(Field(rate, 0));
  if (Is_block(depth)) options.sampling.callstack_size = (size_t)Long_val(Field(depth, 0));
  wn_writer *writer = NULL;
  struct recorder *recorder = new_recorder();
  wn_status status = Is_block(path) ? wn_writer_open(text_or_null(path), &options, &writer)
                                    : wn_writer_open_if_requested(&options, &writer);
  recorder->writer = writer;
  if (!writer) free_recorder(recorder);
  if (status) fail();
  if (!writer) CAMLreturn(Val_none);
  if (!Is_block(path)) unsetenv("WINNOW_TRACE"); /* the programs that this one starts write none over it */
  watch_exit(recorder);
  static _Atomic(long) recorders;
  recorder->number = atomic_fetch_add(&recorders, 1) % TOKEN_RECORDERS;
  recorder->rate = options.sampling.sampling_rate;
  recorder->depth = options.sampling.callstack_size;
  recorder->not_recorded = wn_writer_place(writer, &(wn_place_text){.function = "(callers not recorded)"});
  atomic_store(&external, recorder);
  opened = caml_alloc_tuple(3);
  Store_field(opened, 0, number_of(recorder));
  Store_field(opened, 1, caml_copy_double(options.sampling.sampling_rate));
  Store_field(opened, 2, Val_long(options.sampling.callstack_size));
  result = caml_alloc_small(1, 0);
  Field(result, 0) = opened;
  CAMLreturn(result);
}

static bool define(struct recorder *recorder, value entry, value places, bool is_own) {
  size_t count = Wosize_val(places);
  struct code *code = malloc(sizeof *code + count * sizeof code->places[0]);
  if (!code) return false;
  *code = (struct code){.code = entry, .is_own = is_own, .count = count};
  for (size_t i = 0; i < count; i++) {
    value place = Field(places, i);
    long start = Long_val(Field(place, 3)), end = Long_val(Field(place, 4));
    wn_place_text text = {.function = String_val(Field(place, 0)),
                          .file = String_val(Field(place, 1)),
                          .line = (uint32_t)Long_val(Field(place, 2)),
                          .first_column = start < 0 ? 0 : (uint32_t)start + 1,
                          .last_column = end < 0 ? 0 : (uint32_t)end};
    code->places[i] = wn_writer_place(recorder->writer, &text);
  }
  pthread_mutex_lock(&recorder->lock);
  bool added = add_code(recorder, code);
  pthread_mutex_unlock(&recorder->lock);
  if (!added) free(code);
  return added;
}

/* recorder -> entry -> (function, file, line, start_char, end_char) array -> bool -> bool: what a code
 * stands for, innermost first, and whether it is the library's. False: there is no memory. */
value winnow_define(value number, value entry, value places, value is_own) {
  struct recorder *recorder = recorder_of(number);
  if (!use(recorder)) return Val_false;
  bool added = define(recorder, entry, places, Bool_val(is_own));
  leave(recorder);
  return Val_bool(added);
}

/* How many codes at the outer end a callstack shares with the last one. */
static size_t shared_codes(struct recorder *recorder, const value *callstack, size_t depth) {
  size_t shared = 0;
  if (last.recorder != recorder) last.depth = 0;
  last.recorder = recorder;
  size_t most = depth < last.depth ? depth : last.depth;
  while (shared < most && last.code[shared] == callstack[depth - 1 - shared]) shared++;
  return shared;
}

/* Instead of a number of places. */
enum { TOO_MANY = 0, IS_OWN = LONG_MIN };

/* Makes the last callstack this one: STACKS. Returns the number of its places, which are the last
 * ones in last.places; -1 - i if the callstack's code i is not defined; TOO_MANY; or IS_OWN. */
static long add_to_last(const struct codes *codes, const value *callstack, size_t depth, size_t shared) {
  size_t at = shared, begin = at ? last.begin[at - 1] : PLACES_MOST;
  for (last.depth = at; at < depth; last.depth = ++at) {
    const struct code *code = find_code(codes, callstack[depth - 1 - at]);
    if (!code) return -1 - (long)(depth - 1 - at);
    if (code->is_own) return IS_OWN;
    if (code->count > begin || at == CODES_MOST) return TOO_MANY;
    begin -= code->count;
    memcpy(&last.places[begin], code->places, code->count * sizeof code->places[0]);
    last.code[at] = code->code;
    last.begin[at] = (uint16_t)begin;
  }
  return (long)(PLACES_MOST - begin);
}

/* Sets last.places to the innermost places of a callstack that has too many; their number, -1 - i, or
 * IS_OWN. */
static long set_innermost(const struct codes *codes, const value *callstack, size_t depth) {
  size_t count = 0;
  last.depth = 0;
  for (size_t i = 0; i < depth && count < PLACES_MOST; i++) {
    const struct code *code = find_code(codes, callstack[i]);
    if (!code) return -1 - (long)i;
    if (code->is_own) return IS_OWN;
    for (size_t k = 0; k < code->count && count < PLACES_MOST; k++) last.places[count++] = code->places[k];
  }
  return (long)count;
}

/* Whether callers are missing. The outermost code of a whole callstack is that of the runtime, and
 * stands for no place. */
static bool is_cut(const struct recorder *recorder, const struct codes *codes, const value *callstack,
                   size_t depth) {
  if (recorder->depth == 0 || depth < recorder->depth) return false;
  if (depth > recorder->depth) return true;
  const struct code *outermost = find_code(codes, callstack[depth - 1]);
  return outermost && outermost->count > 0;
}

/* Records a block with the callstack of the innermost places, of which the last one says so if
 * there are more. There is room for one more place. */
static long record_block(struct recorder *recorder, const wn_allocation *allocation, wn_writer_area area,
                         wn_place *places, size_t count, bool is_cut) {
  if (recorder->depth < 2 || !(is_cut || count > recorder->depth))
    return (long)wn_writer_alloc(recorder->writer, allocation, places, count, area);
  size_t kept = count < recorder->depth ? count : recorder->depth - 1;
  wn_place replaced = places[kept];
  places[kept] = recorder->not_recorded;
  long block = (long)wn_writer_alloc(recorder->writer, allocation, places, kept + 1, area);
  places[kept] = replaced; /* STACKS: the next callstack may share it */
  return block;
}

/* Gc.Memprof.allocation */
enum { N_SAMPLES, SIZE, SOURCE, CALLSTACK };

/* How a block is told of: bits of a kind. */
enum {
  KIND_MAJOR = 1, /* born in the major heap */
  KIND_EXTERNAL =
      2,         /* outside the heap: the size is in bytes, and the innermost codes may be the library's */
  KIND_ALONE = 4 /* what is allocated to tell of it is counted here: DIRECT of winnow_sharing.ml */
};

static wn_allocation allocation_of(value info, long kind) {
  wn_allocation allocation = {.n_samples = (size_t)Long_val(Field(info, N_SAMPLES)),
                              .size = (size_t)Long_val(Field(info, SIZE)),
                              .source = (wn_alloc_source)Long_val(Field(info, SOURCE))};
  if (kind & KIND_EXTERNAL) {
    allocation.bytes = allocation.size;
    allocation.size = (allocation.bytes + sizeof(value) - 1) / sizeof(value);
    allocation.source = WN_SOURCE_EXTERNAL;
  }
  bool has_header = allocation.source == WN_SOURCE_NORMAL || allocation.source == WN_SOURCE_MARSHAL;
  allocation.trials = allocation.size + has_header;
  return allocation;
}

/* How many of the innermost codes are the library's; -1 - i if the code i is not defined. */
static long count_own(const struct codes *codes, const value *callstack, size_t depth) {
  for (size_t i = 0; i < depth; i++) {
    const struct code *code = find_code(codes, callstack[i]);
    if (!code || !code->is_own) return code ? (long)i : -1 - (long)i;
  }
  return (long)depth;
}

static long add_block(struct recorder *recorder, value info, long kind) {
  const struct codes *codes = atomic_load_explicit(&recorder->codes, memory_order_acquire);
  size_t whole = Wosize_val(Field(info, CALLSTACK)), own = 0;
  const value *callstack = (const value *)Op_val(Field(info, CALLSTACK));
  if (kind & KIND_EXTERNAL) {
    long count = count_own(codes, callstack, whole);
    if (count < 0) return count;
    own = (size_t)count, callstack += own, whole -= own;
  }
  size_t depth = whole < recorder->depth ? whole : recorder->depth;
  long count = add_to_last(codes, callstack, depth, shared_codes(recorder, callstack, depth));
  wn_place *places = last.places + PLACES_MOST - count;
  if (count == TOO_MANY) count = set_innermost(codes, callstack, depth), places = last.places;
  if (count < 0) return count == IS_OWN ? count : count - (long)own;
  wn_allocation allocation = allocation_of(info, kind);
  wn_writer_area area = kind & KIND_MAJOR ? WN_WRITER_MAJOR : WN_WRITER_MINOR;
  bool cut = is_cut(recorder, codes, callstack, whole);
  return record_block(recorder, &allocation, area, places, (size_t)count, cut);
}

enum { SOME_WORDS = 2 };

static void count_sample(value callstack, size_t more) {
  enum { LARGEST_YOUNG = 256, ALLOCATION = 5 };
  size_t words = Wosize_val(callstack);
  bool is_major = words > LARGEST_YOUNG;
  if (is_major) atomic_fetch_add_explicit(&unsampled_major_words, words + 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&unsampled_minor_words, ALLOCATION + more + (is_major ? 0 : words + 1),
                            memory_order_relaxed);
}

/* recorder -> kind -> allocation -> int: the number of the block, 0 if it is not followed, or -1 - i if
 * the callstack's code i is not defined; of memory outside the heap the token. */
value winnow_alloc(value number, value kind, value info) {
  struct recorder *recorder = recorder_of(number);
  if (!use(recorder)) return Val_long(0);
  long block = add_block(recorder, info, Long_val(kind));
  leave(recorder);
  if (block == IS_OWN) block = 0;
  if (block >= 0 && Long_val(kind) & (KIND_ALONE | KIND_EXTERNAL))
    count_sample(Field(info, CALLSTACK), block && Long_val(kind) & KIND_ALONE ? SOME_WORDS : 0);
  if (block > 0 && Long_val(kind) & KIND_EXTERNAL)
    block = block >> TOKEN_BLOCK_BITS ? 0 : recorder->number << TOKEN_BLOCK_BITS | block;
  return Val_long(block);
}

/* float -> unit: so many words were allocated in the minor heap from the begin of a callback to its
 * end. If they are many, the program allocated them: in a callback of its own, or in another thread,
 * to which the runtime switched meanwhile. */
void winnow_count_words(double words) {
  enum { MOST = 512 };
  if (words <= MOST) atomic_fetch_add_explicit(&unsampled_minor_words, (uint64_t)words, memory_order_relaxed);
}

/* recorder -> block -> whether what is allocated to tell of it is counted here -> unit */
value winnow_promote(value number, value block, value alone) {
  struct recorder *recorder = recorder_of(number);
  if (Bool_val(alone)) winnow_count_words(SOME_WORDS);
  if (!use(recorder)) return Val_unit;
  wn_writer_promote(recorder->writer, (uint64_t)Long_val(block));
  leave(recorder);
  return Val_unit;
}

value winnow_free(value number, value block) {
  struct recorder *recorder = recorder_of(number);
  if (!use(recorder)) return Val_unit;
  wn_writer_free(recorder->writer, (uint64_t)Long_val(block));
  leave(recorder);
  return Val_unit;
}

/* Whether the process is a forked child, whose parent has the trace. */
value winnow_is_child(value number) { return Val_bool(recorder_of(number)->pid != getpid()); }

/* recorder -> minor_words -> promoted_words -> major_words -> (minor_collections, major_collections,
 * heap_words, domains, whether a cycle has ended) -> unit: the state of the heap. */
value winnow_heap(value number, value minor_words, value promoted_words, value major_words, value counts) {
  struct recorder *recorder = recorder_of(number);
  if (recorder->pid != getpid()) return Val_unit; /* another thread of the parent may hold the lock */
  double minor = Double_val(minor_words) - (double)atomic_load(&unsampled_minor_words);
  double promoted = Double_val(promoted_words);
  double direct = Double_val(major_words) - promoted - (double)atomic_load(&unsampled_major_words);
  wn_writer_heap heap = {.minor_words = (uint64_t)fmax(minor, 0),
                         .promoted_words =
                             (uint64_t)fmax(promoted - (double)atomic_load(&unsampled_promoted_words), 0),
                         .direct_words = (uint64_t)fmax(direct, 0),
                         .minor_collections = (uint64_t)Long_val(Field(counts, 0)),
                         .major_cycles = (uint64_t)Long_val(Field(counts, 1)),
                         .heap_words = (uint64_t)Long_val(Field(counts, 2)),
                         .domains = (uint64_t)Long_val(Field(counts, 3))};
  bool ended = Bool_val(Field(counts, 4));
  if (!use(recorder)) return Val_unit;
  pthread_mutex_lock(&recorder->lock);
  wn_writer_collection(recorder->writer, ended ? WN_WRITER_COLLECTED_MAJOR : WN_WRITER_COLLECTED_NOTHING, 0,
                       &heap);
  pthread_mutex_unlock(&recorder->lock);
  leave(recorder);
  return Val_unit;
}

value winnow_close(value number) {
  struct recorder *recorder = recorder_of(number), *told = recorder;
  atomic_compare_exchange_strong(&external, &told, NULL);
  if (at_exit == recorder) at_exit = NULL;
  if (close_for_others(recorder)) end(recorder);
  return Val_unit;
}

value winnow_count_words_boxed(value words) {
  winnow_count_words(Double_val(words));
  return Val_unit;
}

/* raw_backtrace -> unit: the runtime allocated a callstack and Gc.Memprof.allocation. Where they come
 * to lie depends on the size alone, but for callstacks of blocks that C allocated. */
value winnow_count_sample(value callstack) {
  count_sample(callstack, 0);
  return Val_unit;
}

/* int -> unit: so many words of the recording's own were promoted, or will be by the next minor
 * collection. */
value winnow_count_promoted(value words) {
  atomic_fetch_add_explicit(&unsampled_promoted_words, (uint64_t)Long_val(words), memory_order_relaxed);
  return Val_unit;
}

/* unit -> float: the words that this domain allocated since its last minor collection. */
value winnow_young_words(value unit) {
  (void)unit;
  return caml_copy_double((double)(Caml_state->young_end - Caml_state->young_ptr));
}

/* unit -> unit: what waits for a point where OCaml code may run, callbacks of Gc.Memprof among it. */
value winnow_run_pending(value unit) {
  caml_process_pending_actions();
  return unit;
}

/* ---- memory outside the heap: EXTERNAL ---- */

/* How many of the words are sampled. Of a large block only the first samples are drawn: an estimate
 * needs no number of them. */
static long count_samples(const struct recorder *recorder, long words) {
  enum { DRAWN_MOST = 4096 };
  if (until_sample.of != recorder) {
    until_sample.of = recorder;
    until_sample.words = winnow_next_sample(recorder->rate) - words;
  }
  long samples = 0;
  for (; until_sample.words <= 0 && samples < DRAWN_MOST; samples++)
    until_sample.words += winnow_next_sample(recorder->rate);
  if (until_sample.words > 0) return samples;
  samples += (long)(recorder->rate * (double)-until_sample.words);
  until_sample.words = winnow_next_sample(recorder->rate);
  return samples;
}

/* bytes -> int: how many of the words of so many bytes are sampled; 0 if nothing is recorded. */
intnat winnow_external_samples(intnat bytes) {
  const struct recorder *recorder = atomic_load_explicit(&external, memory_order_acquire);
  if (!recorder || bytes < 0) return 0;
  long words = (long)(((uintnat)bytes + sizeof(value) - 1) / sizeof(value));
  if (until_sample.of == recorder && (until_sample.words -= words) > 0) return 0;
  return count_samples(recorder, words);
}

value winnow_external_samples_boxed(value bytes) {
  return Val_long(winnow_external_samples(Long_val(bytes)));
}

/* token -> unit */
value winnow_external_free(value token) {
  struct recorder *recorder = atomic_load_explicit(&external, memory_order_acquire);
  long number = Long_val(token) >> TOKEN_BLOCK_BITS, block = Long_val(token) & ((1L << TOKEN_BLOCK_BITS) - 1);
  if (!recorder || recorder->number != number || !use(recorder)) return Val_unit;
  wn_writer_free(recorder->writer, (uint64_t)block);
  leave(recorder);
  return Val_unit;
}
/* SPDX-License-Identifier: MIT */
