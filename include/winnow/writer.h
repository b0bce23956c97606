/* Traces of a heap that is not Winnow's own. The host, which is another runtime or a binding of
 * one, samples its allocations itself and reports them with these functions. `winnow report` and
 * the other commands read such a trace like any other.
 *
 *   wn_writer_options options = WN_WRITER_DEFAULTS;
 *   wn_writer *writer;
 *   if (wn_writer_open("run.trace", &options, &writer)) return puts(wn_last_error()), 1;
 *   wn_place frames[] = {wn_writer_place(writer, &(wn_place_text){"cons", "list.ml", 12, 3, 20}),
 *                        wn_writer_place(writer, &(wn_place_text){"main", "main.ml", 7, 1, 9})};
 *   wn_allocation allocation = {.n_samples = 1, .size = 2};
 *   uint64_t block = wn_writer_alloc(writer, &allocation, frames, 2, WN_WRITER_MINOR);
 *   wn_writer_free(writer, block);
 *   wn_writer_close(writer);
 *
 * The host samples each allocated word, header included, with probability `sampling_rate`,
 * independently. For each block that has a sampled word it reports birth, promotion, changes of
 * size, and free. It reports an event when it happens, or soon after, on any thread; the trace
 * records the time of the call and the calling thread. Callstacks consist of places in the host's
 * language; no native frames are captured.
 *
 * The functions that report an event take no lock, do not call malloc, keep errno, and may be
 * called in a signal handler. Events that cannot be written are counted in the trace as lost. In a
 * forked child the functions do nothing: the trace is the parent's. */
#ifndef WINNOW_WRITER_H
#define WINNOW_WRITER_H

#include <stdint.h>
#include <winnow/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wn_writer wn_writer;

typedef struct wn_writer_options {
  wn_memprof_options sampling; /* how the host samples */
  const char *heap; /* the kind of heap, such as "ocaml"; "malloc" if the program frees the blocks itself */
  const char *language; /* the name of the language, up to 60 bytes, for reports */
  const char *context;  /* about this run, such as the job that it does, up to 255 bytes; NULL: nothing */
} wn_writer_options;

/* An initialiser. */
#define WN_WRITER_DEFAULTS \
  { {1e-4, 512, 0}, "language", "language", NULL }

/* Begins a trace in a file at `path`, which only its user can read. An existing file is overwritten
 * only if it is a trace of the same user; symbolic links are not followed. `options` are copied.
 * WN_EINVAL: an argument is NULL, the rate is wrong, or the file is no trace, belongs to another
 * user, or is a link. WN_EIO: the file cannot be written. WN_ENOMEM. Any thread. */
WN_API wn_status wn_writer_open(const char *path, const wn_writer_options *options, wn_writer **writer);

/* The same if the environment variable WINNOW_TRACE names a file. Those of WINNOW_RATE,
 * WINNOW_DEPTH and WINNOW_SEED that are set replace members of `options->sampling`; the host must
 * sample by the result. If WINNOW_TRACE is not set, `*writer` is NULL and the result is WN_OK; so it is in
 * set-user-ID programs, which ignore the environment, and under `winnow record`, which asks for a
 * trace of malloc's heap. WN_EINVAL also: a variable is wrong; wn_last_error names it. */
WN_API wn_status wn_writer_open_if_requested(wn_writer_options *options, wn_writer **writer);

/* Records that the program ends by exit(status). Later events are still written. Any thread,
 * once. */
WN_API void wn_writer_exits(wn_writer *writer, int status);

/* Ends the trace and frees the writer. Without a call of wn_writer_exits before it, the trace says
 * that recording was stopped. No thread may use the writer any more. NULL is
 * ignored. */
WN_API void wn_writer_close(wn_writer *writer);

/* ---- callstacks ---- */

/* A place in a program. A NULL text is empty. Lines and columns count from 1; 0 is unknown. */
typedef struct wn_place_text {
  const char *function, *file;
  uint32_t line, first_column, last_column;
} wn_place_text;

/* The number of a place; equal places have one number. Returns 0 if there is no memory, or if there
 * are 2^24 places already. Texts are copied, up to 1000 bytes of each. Any thread; not in a signal
 * handler, since it takes a lock. */
WN_API wn_place wn_writer_place(wn_writer *writer, const wn_place_text *place);

/* ---- events ---- */

/* Where a block was born. */
typedef enum wn_writer_area { WN_WRITER_MINOR, WN_WRITER_MAJOR } wn_writer_area;

/* A sampled block was allocated, by the callstack of these places, innermost first; places that are
 * 0, or no place's, are left out. In `allocation`, `size` is in words; if `bytes` is 0, it is
 * computed from `size`, and if `trials` is 0, it is `size` and one header word; `callstack` is
 * ignored. Needs 8 KiB of stack. Returns the block's number for the functions below, or 0 if the
 * event is lost or the process is a forked child; those functions ignore the number 0. */
WN_API uint64_t wn_writer_alloc(wn_writer *writer, const wn_allocation *allocation, const wn_place *places,
                                size_t count, wn_writer_area area);

/* The block moved from the minor heap to the major heap. */
WN_API void wn_writer_promote(wn_writer *writer, uint64_t block);

/* The block's size changed, in the callstack of these places. `allocation` is as above; `trials`
 * counts all words of the block that could be sampled so far. */
WN_API void wn_writer_resize(wn_writer *writer, uint64_t block, const wn_allocation *allocation,
                             const wn_place *places, size_t count);

/* The block was freed, or found dead. */
WN_API void wn_writer_free(wn_writer *writer, uint64_t block);

/* The state of the heap after a collection. Words include headers; counts are since the program
 * began. */
typedef struct wn_writer_heap {
  uint64_t minor_words, promoted_words;
  uint64_t direct_words; /* of blocks that were born in the major heap */
  uint64_t minor_collections, major_cycles;
  uint64_t heap_words; /* of the major heap */
  uint64_t live_words; /* that the last cycle found; 0: unknown */
  uint64_t domains;
} wn_writer_heap;

typedef enum wn_writer_collected {
  WN_WRITER_COLLECTED_MINOR,
  WN_WRITER_COLLECTED_MAJOR,
  WN_WRITER_COLLECTED_NOTHING
} wn_writer_collected;

/* A minor collection, or a cycle of the major collector, ended after `ns` nanoseconds. If there are
 * many minor collections, only some are written. Must not be called by two threads at once.
 *
 * Reports take what the heap allocated while it was recorded from the first of these calls and the
 * last. So make one with WN_WRITER_COLLECTED_NOTHING when recording begins and one when it ends. */
WN_API void wn_writer_collection(wn_writer *writer, wn_writer_collected collected, uint64_t ns,
                                 const wn_writer_heap *heap);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
