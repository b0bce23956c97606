/* Marshalling: a value, and all blocks that it leads to, as bytes; and such bytes as a value again.
 *
 *   void *bytes;
 *   size_t size;
 *   if (wn_marshal_write(d, value, 0, &bytes, &size)) return puts(wn_last_error()), 1;
 *   ...
 *   wn_ref copy;
 *   if (wn_marshal_read(d, bytes, size, 0, &copy, NULL)) return puts(wn_last_error()), 1;
 *   free(bytes);
 *
 * Sharing and cycles are kept: the copy has as many blocks as the original. Blocks without words
 * are the exception: a message does not tell apart two of one tag. Neither function recurses, so
 * structures may be as deep as memory allows.
 *
 * The bytes are those of OCaml's module Marshal: OCaml reads what these functions write, and what
 * OCaml 4.08 to 5.3 wrote is read here. Blocks have OCaml's tags; an integer is OCaml's int. A
 * forced lazy (tag 250) is written and read as a block of one field. Not written and not read are
 * closures and the pointers into them (tags 247 and 249) and abstract blocks (251), which C cannot
 * mean, objects (248) of fewer than two words, and custom blocks of kinds that are not registered.
 * Not read are messages that are compressed, as OCaml's compilers write them.
 *
 * A message may come from anywhere: every byte is checked, and reading takes no more memory than
 * some 50 bytes for each byte of the message, beside custom blocks of the program's kinds that have
 * a fixed size. A message tells no types, though. A program that
 * reads messages of others must check the tags and sizes of the blocks that it gets.
 *
 * A profile sees the blocks that are read as blocks of the source WN_SOURCE_MARSHAL.
 *
 * The functions return WN_EINVAL for arguments that are wrong, WN_ESTATE for a thread that does not
 * run in the domain, WN_ENOMEM, and what their comments say. wn_last_error has the details. A
 * function that fails leaves no handle, but may have collected. */
#ifndef WINNOW_MARSHAL_H
#define WINNOW_MARSHAL_H

#include <stdio.h>
#include <winnow/heap.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags. The reading functions look at WN_MARSHAL_OCAML_STRINGS alone. */
enum {
  /* Writes a block each time that the walk meets it, and no references. Not for graphs with cycles:
   * their message has no end, and takes all memory. */
  WN_MARSHAL_NO_SHARING = 1,
  /* WN_EINVAL for what OCaml on a 32-bit host could not read. */
  WN_MARSHAL_COMPAT_32 = 2,
  /* Raw blocks are OCaml's strings: see wn_string_new. Without the flag a raw block of n words is
   * written as a string of 8 * n bytes, and a string is read as a raw block of as many words as it
   * needs, at least one; the bytes after its end are 0. */
  WN_MARSHAL_OCAML_STRINGS = 4,
};

/* ---- writing ----
 *
 * WN_EINVAL: the value leads to a block that cannot be written. No function of this section
 * collects while it walks the graph, so other domains wait for the walk where they need a
 * collection. Other domains must not change the graph meanwhile, unless the program can do with
 * some old and some new fields. */

/* Writes to memory: `*bytes` becomes `*size` bytes from malloc, which the caller frees. Does not
 * collect. */
WN_API wn_status wn_marshal_write(wn_domain *domain, wn_ref value, unsigned flags, void **bytes,
                                  size_t *size);

/* Writes to a file. WN_EIO: the file took less. What the FILE has in its buffer is not written yet:
 * fflush or fclose tells whether it can be. The file is written in a blocking section, so this may
 * collect. */
WN_API wn_status wn_marshal_write_file(wn_domain *domain, wn_ref value, unsigned flags, FILE *file);

/* Gets the message, in one call or several, in a blocking section, which it must not leave by
 * longjmp. A status other than WN_OK ends the writing. */
typedef wn_status wn_marshal_sink(const void *bytes, size_t size, void *context);
/* Writes to a function, and returns what that returned. May collect. */
WN_API wn_status wn_marshal_write_to(wn_domain *domain, wn_ref value, unsigned flags, wn_marshal_sink *sink,
                                     void *context);

/* ---- reading: all of it may collect ----
 *
 * WN_EFORMAT: the bytes are no message that can be read; wn_last_error says which byte is wrong,
 * counted from the begin of the message. If heap memory is exhausted, the hook out_of_memory is
 * called as for any allocation. The blocks of a message of up to WN_MAX_YOUNG_WORDS words are
 * young; those of larger messages are born in the major heap. From the first block to the last
 * there is no safepoint, so other domains wait where they need a collection. If a hook leaves by
 * longjmp, the memory for the bytes that came from a file or a function is lost. */

/* Reads the message at the begin of `size` bytes, which are outside the heap. `*value` becomes a
 * handle; `*used`, if `used` is not NULL, the size of the message. */
WN_API wn_status wn_marshal_read(wn_domain *domain, const void *bytes, size_t size, unsigned flags,
                                 wn_ref *value, size_t *used);

/* Reads a message from a file, in a blocking section, and not a byte more. WN_EIO: the file could
 * not be read, or has ended before the message begins (feof tells). If the message is wrong, the
 * file may stand anywhere in it. */
WN_API wn_status wn_marshal_read_file(wn_domain *domain, FILE *file, unsigned flags, wn_ref *value);

/* Fills `bytes` with up to `size` bytes, in a blocking section, and returns how many; 0 if there
 * are no more. Must not leave by longjmp. */
typedef size_t wn_marshal_source(void *bytes, size_t size, void *context);
/* Reads a message from a function. WN_EIO: the first call returned 0. */
WN_API wn_status wn_marshal_read_from(wn_domain *domain, wn_marshal_source *source, void *context,
                                      unsigned flags, wn_ref *value);

/* So many bytes of a message tell its size. */
#define WN_MARSHAL_HEADER_MOST ((size_t)32)
/* Sets `*total` to the size of the message, header included, that begins with these bytes. Any
 * thread. */
WN_API wn_status wn_marshal_size(const void *bytes, size_t size, size_t *total);

/* ---- strings of OCaml's layout ----
 *
 * A string of n bytes is a raw block of n / 8 + 1 words. The last byte says how many bytes before
 * it in the last word are no part of the string; those are 0. */

/* Makes a string; `text` is outside the heap, and may be NULL if the length is 0. A null handle as
 * with wn_alloc. May collect. */
WN_API wn_ref wn_string_new(wn_domain *domain, const char *text, size_t length);
/* The length of a string; SIZE_MAX if the block is none. wn_bytes has its bytes, and a 0 after
 * them. Any thread of the heap. */
WN_API size_t wn_string_length(wn_ref string);

/* ---- integers of OCaml's types ---- */

/* Custom blocks that are OCaml's int32, int64 and nativeint. */
typedef enum wn_boxed { WN_BOXED_INT32, WN_BOXED_INT64, WN_BOXED_NATIVEINT } wn_boxed;
/* Makes such a block. Of an int32 the lowest 32 bits of `n` count. A null handle as with
 * wn_alloc_custom. May collect. */
WN_API wn_ref wn_boxed_new(wn_domain *domain, wn_boxed type, int64_t n);
/* True if the block is one, whose type and number it sets; either pointer may be NULL. Any thread
 * of the heap. */
WN_API bool wn_boxed_get(wn_ref block, wn_boxed *type, int64_t *n);

/* ---- bigarrays ---- */

/* Kinds of elements, numbered as OCaml numbers them. A complex number is two floating-point
 * numbers. WN_BIGARRAY_OCAML_INT is an integer of 63 bits in a word. OCaml has float16 from 5.2 on. */
typedef enum wn_bigarray_kind {
  WN_BIGARRAY_FLOAT32,
  WN_BIGARRAY_FLOAT64,
  WN_BIGARRAY_INT8,
  WN_BIGARRAY_UINT8,
  WN_BIGARRAY_INT16,
  WN_BIGARRAY_UINT16,
  WN_BIGARRAY_INT32,
  WN_BIGARRAY_INT64,
  WN_BIGARRAY_OCAML_INT,
  WN_BIGARRAY_NATIVEINT,
  WN_BIGARRAY_COMPLEX32,
  WN_BIGARRAY_COMPLEX64,
  WN_BIGARRAY_CHAR,
  WN_BIGARRAY_FLOAT16
} wn_bigarray_kind;
#define WN_BIGARRAY_DIMENSIONS_MOST ((size_t)16)

/* What a bigarray is: a custom block whose elements are outside the heap, one after the other. */
typedef struct wn_bigarray {
  void *data;   /* the elements, which stay where they are as long as the block lives */
  size_t bytes; /* of all elements */
  wn_bigarray_kind kind;
  bool is_fortran; /* the first index changes fastest */
  size_t dimensions;
  size_t lengths[WN_BIGARRAY_DIMENSIONS_MOST]; /* of each dimension */
} wn_bigarray;

/* Makes a bigarray of zeros. A null handle as with wn_alloc_custom, for more dimensions than there
 * may be, and where there is no memory for the elements. May collect. */
WN_API wn_ref wn_bigarray_new(wn_domain *domain, wn_bigarray_kind kind, bool is_fortran, size_t dimensions,
                              const size_t *lengths);
/* Sets `*array` and returns true if the block is a bigarray. Any thread of the heap. */
WN_API bool wn_bigarray_get(wn_ref block, wn_bigarray *array);

/* ---- custom blocks ---- */

typedef struct wn_marshal_writer wn_marshal_writer;
typedef struct wn_marshal_reader wn_marshal_reader;

/* How custom blocks of one kind are marshalled. The functions may call no functions of the heap but
 * those below, must not leave by longjmp, and must not wait for a lock that a thread may hold while
 * it calls a function of the heap. */
typedef struct wn_marshal_ops {
  /* The bytes of every block of this kind (those that wn_alloc_custom got), and on a 32-bit host.
   * If `bytes` is 0, the blocks differ, and a message tells the size of each. */
  size_t bytes, bytes_32;
  /* Writes what stands for a block of so many bytes, a multiple of 8 if `bytes` is 0; the block, and
   * 16 bytes more, are then at most 24 times as many as the message has for it, name and sizes
   * included. Returns false if the block cannot be written. */
  bool (*write)(const void *bytes, size_t size, wn_marshal_writer *to);
  /* Sets the bytes of a new block, which are 0, from what `write` wrote, all of it. If `bytes` is 0,
   * the message tells `size`, which can be any number: check it before writing. The block's
   * `release` will be called later if this returns true, and is not called for the block if it
   * returns false, which makes the message a wrong one. */
  bool (*read)(void *bytes, size_t size, wn_marshal_reader *from);
} wn_marshal_ops;

/* From now on blocks with these `ops` can be marshalled in this heap. Messages name the kind by
 * `ops->name`, of 1 to 63 bytes. Both structs stay in use until the heap is closed. WN_EINVAL: the
 * name is too long, or that of another kind that is registered or OCaml's own. Any thread. */
WN_API wn_status wn_marshal_register(wn_heap *heap, const wn_custom_ops *ops, const wn_marshal_ops *marshal);

/* For `write`: an integer of 1 to 8 bytes, and bytes as they are. Where memory is exhausted they do
 * nothing, and the writing fails in the end. wn_marshal_put_sizes says what sizes a message gives
 * for the block, on a host of 32 bits and of 64, where `bytes` is 0 and they differ; the second one
 * is what `read` will get. */
WN_API void wn_marshal_put(wn_marshal_writer *to, uint64_t n, unsigned width);
WN_API void wn_marshal_put_bytes(wn_marshal_writer *to, const void *bytes, size_t size);
WN_API void wn_marshal_put_sizes(wn_marshal_writer *to, size_t bytes_32, size_t bytes);

/* For `read`: the same back, integers without a sign. At the end of the message they give 0, and
 * the reading fails in the end; so a number that was read is no size to trust before
 * wn_marshal_left, the bytes of the message that are left, was compared with it.
 * wn_marshal_external says how many bytes the block keeps outside the heap. */
WN_API uint64_t wn_marshal_get(wn_marshal_reader *from, unsigned width);
WN_API bool wn_marshal_get_bytes(wn_marshal_reader *from, void *bytes, size_t size);
WN_API size_t wn_marshal_left(const wn_marshal_reader *from);
WN_API void wn_marshal_external(wn_marshal_reader *from, size_t external_bytes);

#ifdef __cplusplus
}
#endif
#endif
/* SPDX-License-Identifier: MIT */
