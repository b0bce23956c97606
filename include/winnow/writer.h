/* Traces of a heap that is not Winnow's own: another runtime, or a binding of one, samples its
 * allocations itself, and tells them here. `winnow report` and the rest read such a trace like any
 * other.
 *
 *   wn_writer_options options = WN_WRITER_DEFAULTS;
 *   wn_writer *writer;
 *   if (wn_writer_open("run.trace", &options, &writer)) return puts(wn_last_error()), 1;
 *   wn_place frames[] = {wn_writer_place(writer, &(wn_place_text){"cons", "list.ml", 12, 3, 20}),
 *                        wn_writer_place(writer, &(wn_place_text){"main", "main.ml", 7, 1, 9})};
 *   wn_allocation allocation = {.n_samples = 1, .size = 2, .callstack = wn_writer_callstack(writer, frames, 2)};
 *   uint64_t block = wn_writer_alloc(writer, &allocation, WN_WRITER_MINOR);
 *   wn_writer_free(writer, block);
 *   wn_writer_close(writer);
 *
 * The host samples each allocated word, header included, with probability `sampling_rate`,
 * independently, and tells each block that has a sampled word: when it is born, promoted, resized
 * and freed. Events are told at the time they happen, or soon after, by any thread; their time is
 * that of the call, and their thread the one that calls. Callstacks have places of the host's
 * language alone; nothing native is captured.
 *
 * The functions that tell an event take no lock, call no malloc, keep errno, and may be called in a
 * signal handler. What cannot be written is counted in the trace as lost. In a forked child they do
 * nothing: the trace is the parent's. */
#ifndef WINNOW_WRITER_H
#define WINNOW_WRITER_H

#include <stdint.h>
#include <winnow/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wn_writer wn_writer;

typedef struct wn_writer_options {
  wn_memprof_options sampling; /* by which the host samples */
  const char *
      heap; /* what kind of heap it is, such as "ocaml"; "malloc" where the program frees the blocks itself */
  const char *language; /* the name of the language, up to 60 bytes, for reports */
} wn_writer_options;

/* An initialiser. */
#define WN_WRITER_DEFAULTS \
  { {1e-4, 512, 0}, "language", "language" }

/* Begins a trace in a file at `path`, which its user alone may read; one that is a trace of the
 * same user's already is overwritten, and no symbolic link is followed. `options` are copied.
 * WN_EINVAL: a NULL argument, a wrong rate, or a file that is no trace, another user's, or a link.
 * WN_EIO: the file cannot be written. WN_ENOMEM. Any thread. */
WN_API wn_status wn_writer_open(const char *path, const wn_writer_options *options, wn_writer **writer);

/* The same if the environment variable WINNOW_TRACE names a file; else `*writer` is NULL, and all
 * is well. The sampling of `options` is set to what WINNOW_RATE, WINNOW_DEPTH and WINNOW_SEED say,
 * or their defaults, for the host to sample by. Set-user-ID programs do not look there; under
 * `winnow record` the request is for malloc's heap, and `*writer` is NULL. WN_EINVAL also: a
 * variable is wrong, and wn_last_error says which. */
WN_API wn_status wn_writer_open_if_requested(wn_writer_options *options, wn_writer **writer);

/* The program ends by exit(status), which the trace then says. Events after it are still written.
 * Any thread, once. */
WN_API void wn_writer_exits(wn_writer *writer, int status);

/* Ends the trace, and gives everything back; unless the program exits, the trace says that
 * recording was stopped. No other thread may use the writer then, nor a callstack of its. NULL is
 * ignored. */
WN_API void wn_writer_close(wn_writer *writer);

/* ---- callstacks ---- */

/* A place in a program. NULL texts are empty; lines and columns count from 1 on, and are 0 where
 * they are unknown. */
typedef struct wn_place_text {
  const char *function, *file;
  uint32_t line, first_column, last_column;
} wn_place_text;

/* The number of a place, which is the same for equal ones. 0: there is no memory for it, or there
 * are 2^24 already. Texts are copied, up to 1000 bytes of each. Takes a lock: not in a signal
 * handler. Any thread. */
WN_API wn_place wn_writer_place(wn_writer *writer, const wn_place_text *place);

/* The callstack of these places, innermost first; the same pointer for equal ones. A place of 0 is
 * left out. Never NULL: an empty one where there is no memory. Valid until wn_writer_close. Needs
 * 20 KiB of stack. Any thread. */
WN_API const wn_callstack *wn_writer_callstack(wn_writer *writer, const wn_place *places, size_t count);

/* ---- events ---- */

/* Where a block was born. */
typedef enum wn_writer_area { WN_WRITER_MINOR, WN_WRITER_MAJOR } wn_writer_area;

/* A sampled block was allocated. Of `allocation`, `size` is in words; where `bytes` is 0 it stands
 * for that many words, and where `trials` is 0 for `size` and a header. Returns the block's number,
 * for the functions below; 0: it is lost, or of a forked child, and they ignore it. */
WN_API uint64_t wn_writer_alloc(wn_writer *writer, const wn_allocation *allocation, wn_writer_area area);

/* It moved from the minor heap to the major one. */
WN_API void wn_writer_promote(wn_writer *writer, uint64_t block);

/* Its size changed: `allocation` is as above, `trials` all words that could be sampled so far. */
WN_API void wn_writer_resize(wn_writer *writer, uint64_t block, const wn_allocation *allocation);

/* It was freed, or found dead. */
WN_API void wn_writer_free(wn_writer *writer, uint64_t block);

/* How the heap is after a collection. Words with headers; counts since the program began. */
typedef struct wn_writer_heap {
  uint64_t minor_words, promoted_words;
  uint64_t direct_words; /* of blocks that were born in the major heap */
  uint64_t minor_collections, major_cycles;
  uint64_t heap_words; /* of the major heap */
  uint64_t live_words; /* that the last cycle found; 0: unknown */
  uint64_t domains;
} wn_writer_heap;

typedef enum wn_writer_collected { WN_WRITER_COLLECTED_MINOR, WN_WRITER_COLLECTED_MAJOR } wn_writer_collected;

/* A minor collection, or a cycle of the major collector, ended after `ns` nanoseconds. Of many
 * minor ones some are written. Never by two threads at once. */
WN_API void wn_writer_collection(wn_writer *writer, wn_writer_collected collected, uint64_t ns,
                                 const wn_writer_heap *heap);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
