/* OCaml's bigarrays: custom blocks whose elements are outside the heap. */
#include "base/error.h"
#include "gc/api/allocate.h"
#include "gc/domains/debug.h"
#include "gc/marshal/format.h"
#include "gc/marshal/kinds.h"
#include "gc/marshal/writer.h"
#include <stdlib.h>

/* Messages tell kind and layout in one number, and lengths of LONG or more in eight bytes after
 * LONG itself. Elements of kinds that depend on the host follow a byte that tells their width. */
enum { FLAG_FORTRAN = 0x100, LONG = 0xFFFF, HOST_32 = 0, HOST_64 = 1 };
enum { HEAD_WORDS = 4, PART = 4096 };

/* The block: as many words as OCaml's has. */
struct array {
  void *data; /* from malloc */
  size_t bytes;
  uint32_t kind, is_fortran;
  size_t dimensions;
  size_t lengths[];
};

static const struct {
  uint8_t width, parts; /* bytes of a number, and numbers of an element */
} kinds[] = {
    [WN_BIGARRAY_FLOAT32] = {4, 1},   [WN_BIGARRAY_FLOAT64] = {8, 1},   [WN_BIGARRAY_INT8] = {1, 1},
    [WN_BIGARRAY_UINT8] = {1, 1},     [WN_BIGARRAY_INT16] = {2, 1},     [WN_BIGARRAY_UINT16] = {2, 1},
    [WN_BIGARRAY_INT32] = {4, 1},     [WN_BIGARRAY_INT64] = {8, 1},     [WN_BIGARRAY_OCAML_INT] = {8, 1},
    [WN_BIGARRAY_NATIVEINT] = {8, 1}, [WN_BIGARRAY_COMPLEX32] = {4, 2}, [WN_BIGARRAY_COMPLEX64] = {8, 2},
    [WN_BIGARRAY_CHAR] = {1, 1},      [WN_BIGARRAY_FLOAT16] = {2, 1},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static size_t block_bytes(size_t dimensions) { return 8 * (HEAD_WORDS + dimensions); }

/* The bytes of all elements; false if they are more than any memory has. */
static bool data_bytes(unsigned kind, size_t dimensions, const size_t *lengths, size_t *bytes) {
  *bytes = (size_t)kinds[kind].width * kinds[kind].parts;
  for (size_t i = 0; i < dimensions; i++)
    if (__builtin_mul_overflow(*bytes, lengths[i], bytes)) return false;
  return *bytes < SIZE_MAX / 2;
}

static bool bigarray_is_of_host(unsigned kind) {
  return kind == WN_BIGARRAY_OCAML_INT || kind == WN_BIGARRAY_NATIVEINT;
}

/* ---- numbers of the format, a part at a time ---- */

static void bigarray_swap(void *part, size_t count, unsigned width) {
  if (width == 2)
    for (size_t i = 0; i < count; i++) ((uint16_t *)part)[i] = __builtin_bswap16(((uint16_t *)part)[i]);
  if (width == 4)
    for (size_t i = 0; i < count; i++) ((uint32_t *)part)[i] = __builtin_bswap32(((uint32_t *)part)[i]);
  if (width == 8)
    for (size_t i = 0; i < count; i++) ((uint64_t *)part)[i] = __builtin_bswap64(((uint64_t *)part)[i]);
}

static void bigarray_put_numbers(wn_marshal_writer *to, const char *data, size_t bytes, unsigned width) {
  uint64_t part[PART / 8];
  for (size_t at = 0; at < bytes; at += PART) {
    size_t now = bytes - at < PART ? bytes - at : PART;
    memcpy(part, data + at, now);
    bigarray_swap(part, now / width, width);
    wn_marshal_put_bytes(to, part, now);
  }
}

static bool fit_32(const struct array *array) {
  const int64_t *numbers = array->data;
  int64_t most = array->kind == WN_BIGARRAY_OCAML_INT ? (1 << 30) - 1 : INT32_MAX;
  for (size_t i = 0; i < array->bytes / 8; i++)
    if (numbers[i] < -most - 1 || numbers[i] > most) return false;
  return true;
}

static bool put_host_numbers(wn_marshal_writer *to, const struct array *array) {
  bool is_short = fit_32(array);
  const int64_t *numbers = array->data;
  wn_marshal_put(to, is_short ? HOST_32 : HOST_64, 1);
  if (!is_short) bigarray_put_numbers(to, array->data, array->bytes, 8);
  for (size_t i = 0; is_short && i < array->bytes / 8; i++) wn_marshal_put(to, (uint64_t)numbers[i], 4);
  return is_short || !(to->flags & WN_MARSHAL_COMPAT_32);
}

/* The array has memory for the numbers. */
static bool get_host_numbers(wn_marshal_reader *from, struct array *array, uint64_t form) {
  int64_t *numbers = array->data;
  for (size_t i = 0; form == HOST_32 && i < array->bytes / 8; i++)
    numbers[i] = (int32_t)wn_marshal_get(from, 4);
  if (form != HOST_64) return form == HOST_32;
  if (!wn_marshal_get_bytes(from, numbers, array->bytes)) return false;
  bigarray_swap(numbers, array->bytes / 8, 8);
  return true;
}

/* ---- arrays ---- */

static bool write_array(const void *bytes, size_t size, wn_marshal_writer *to) {
  const struct array *array = bytes;
  (void)size;
  wn_marshal_put_sizes(to, block_bytes(array->dimensions) / 2, block_bytes(array->dimensions));
  wn_marshal_put(to, array->dimensions, 4);
  wn_marshal_put(to, array->kind | (array->is_fortran ? FLAG_FORTRAN : 0), 4);
  for (size_t i = 0; i < array->dimensions; i++) {
    bool is_long = array->lengths[i] >= LONG;
    wn_marshal_put(to, is_long ? LONG : array->lengths[i], 2);
    if (is_long) wn_marshal_put(to, array->lengths[i], 8);
  }
  if (bigarray_is_of_host(array->kind)) return put_host_numbers(to, array);
  bigarray_put_numbers(to, array->data, array->bytes, kinds[array->kind].width);
  return true;
}

static bool bigarray_read_head(struct array *array, size_t size, wn_marshal_reader *from) {
  size_t dimensions = wn_marshal_get(from, 4), flags = wn_marshal_get(from, 4);
  if (dimensions > WN_BIGARRAY_DIMENSIONS_MOST || size != block_bytes(dimensions)) return false;
  array->dimensions = dimensions;
  array->is_fortran = (flags & FLAG_FORTRAN) != 0;
  array->kind = (uint32_t)flags & ~(uint32_t)FLAG_FORTRAN;
  if (flags > (FLAG_FORTRAN | 0xFF) || array->kind >= KINDS) return false;
  for (size_t i = 0; i < dimensions; i++) {
    array->lengths[i] = wn_marshal_get(from, 2);
    if (array->lengths[i] == LONG) array->lengths[i] = wn_marshal_get(from, 8);
  }
  return data_bytes(array->kind, dimensions, array->lengths, &array->bytes);
}

static bool read_data(struct array *array, wn_marshal_reader *from) {
  unsigned width = kinds[array->kind].width;
  if (bigarray_is_of_host(array->kind)) return get_host_numbers(from, array, wn_marshal_get(from, 1));
  if (!wn_marshal_get_bytes(from, array->data, array->bytes)) return false;
  bigarray_swap(array->data, array->bytes / width, width);
  return true;
}

/* The shortest form of a number of the host is half of what it takes here. */
static bool read_array(void *bytes, size_t size, wn_marshal_reader *from) {
  struct array *array = bytes;
  if (!bigarray_read_head(array, size, from)) return false;
  if (array->bytes / (bigarray_is_of_host(array->kind) ? 2 : 1) > wn_marshal_left(from)) return false;
  array->data = malloc(array->bytes + 1);
  if (!array->data) return false;
  wn_marshal_external(from, array->bytes);
  if (read_data(array, from)) return true;
  free(array->data);
  return false;
}

static void release_array(void *bytes) { free(((struct array *)bytes)->data); }

static const wn_custom_ops array_ops = {.name = "_bigarr02", .release = release_array};
static const wn_marshal_ops array_marshal = {.write = write_array, .read = read_array};

/* ---- shared ---- */

const struct marshal_kind bigarray_kind = {NULL, &array_ops, &array_marshal};

/* ---- public ---- */

static struct array *array_of(wn_ref block) {
  if (wn_is_null(block) || wn_is_int(*block.slot) || wn_tag(*block.slot) != WN_TAG_CUSTOM) return NULL;
  struct custom *custom = (struct custom *)*block.slot;
  return custom->ops == &array_ops ? (struct array *)(custom + 1) : NULL;
}

static wn_ref no_memory_for_elements(void) {
  error_set(WN_ENOMEM, "bigarray: no memory for the elements");
  return (wn_ref){NULL};
}

OWN_FRAME wn_ref wn_bigarray_new(wn_domain *domain, wn_bigarray_kind kind, bool is_fortran, size_t dimensions,
                                 const size_t *lengths) {
  DEBUG_DOMAIN(domain);
  size_t bytes;
  if ((unsigned)kind >= KINDS || dimensions > WN_BIGARRAY_DIMENSIONS_MOST || (dimensions && !lengths))
    return error_set(WN_EINVAL, "bigarray: a wrong kind, or wrong dimensions"), (wn_ref){NULL};
  if (!data_bytes(kind, dimensions, lengths, &bytes)) return no_memory_for_elements();
  wn_ref block = /* which may call hooks, which may leave by longjmp: the elements come later */
      allocate_custom(domain, &array_ops, block_bytes(dimensions), bytes, __builtin_frame_address(0));
  FRAME_ENDS;
  if (wn_is_null(block)) return block;
  void *data = calloc(1, bytes + 1);
  if (!data) {
    domain->context.top = block.slot;
    return no_memory_for_elements();
  }
  struct array *array = array_of(block);
  *array = (struct array){data, bytes, kind, is_fortran, dimensions};
  if (dimensions) memcpy(array->lengths, lengths, dimensions * sizeof *lengths);
  return block;
}

bool wn_bigarray_get(wn_ref block, wn_bigarray *array) {
  const struct array *of = array_of(block);
  if (!of) return false;
  *array = (wn_bigarray){.data = of->data,
                         .bytes = of->bytes,
                         .kind = (wn_bigarray_kind)of->kind,
                         .is_fortran = of->is_fortran,
                         .dimensions = of->dimensions};
  memcpy(array->lengths, of->lengths, of->dimensions * sizeof *of->lengths);
  return true;
}
/* SPDX-License-Identifier: MIT */
