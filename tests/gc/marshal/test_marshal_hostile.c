/* Marshalling: messages that are wrong, by accident or on purpose.
 *
 * Each message is in memory of exactly its size, so that AddressSanitizer sees a byte too many. */
#include "gc/marshal/graph.h"
#include "support/runs.h"

static struct journal of;

static void open_heap(const char *text) {
  wn_heap_options options = without_helpers();
  options.text = text;
  journal_open(&of, &options);
}

/* A kind of blocks that mean nothing. */
static bool write_unit(const void *bytes, size_t size, wn_marshal_writer *to) {
  (void)bytes, (void)size, (void)to;
  return true;
}
static bool read_unit(void *bytes, size_t size, wn_marshal_reader *from) {
  (void)bytes, (void)size, (void)from;
  return true;
}
static const wn_custom_ops unit_ops = {.name = "u"};
static const wn_marshal_ops unit_marshal = {.write = write_unit, .read = read_unit};

/* ---- memory ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

static size_t requested; /* bytes, of all requests so far */

void *__wrap_malloc(size_t size) {
  requested += size;
  return __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size) {
  requested += count * size;
  return __real_calloc(count, size);
}
void *__wrap_realloc(void *block, size_t size) {
  requested += size;
  return __real_realloc(block, size);
}

/* What a read may take for a message of `size` bytes. Of the heap, 24 bytes for each byte: a number
 * of one byte in an array of one field. Of malloc: 8 bytes for a block that has a number; 16 bytes
 * for the rest of a block, which has two bytes at least, and as this stack doubles, four times as
 * much in all its requests; and two bytes for one of a big array. */
enum { HEAP_PER_BYTE = 24, MALLOC_PER_BYTE = 8 + 4 * 16 / 2 + 2, MALLOC_FIRST = 64 * 16 + 256 * 8 };

static wn_status read_in_bounds(struct message message, unsigned flags, size_t first_words) {
  wn_ref value;
  double allocated = wn_gc_allocated_bytes(of.domain);
  size_t before = requested;
  wn_status status = wn_marshal_read(of.domain, message.bytes, message.size, flags, &value, NULL);
  assert_true(requested - before <= MALLOC_PER_BYTE * message.size + MALLOC_FIRST);
  assert_true(wn_gc_allocated_bytes(of.domain) - allocated <=
              HEAP_PER_BYTE * (double)message.size + 8 * (double)first_words);
  if (!status) there_and_back(of.domain, value, flags);
  return status;
}

/* ---- messages by hand ---- */

static void put_32(unsigned char *at, uint64_t n) {
  for (int i = 0; i < 4; i++) at[i] = (unsigned char)(n >> (24 - 8 * i));
}

struct odd {
  const char *data; /* hexadecimal digits and spaces */
  uint32_t objects, words32, words64;
  const char *error; /* a part of it; NULL: the message can be read */
};

static struct message from_digits(const char *digits) {
  size_t count = 0;
  unsigned char *bytes = malloc(strlen(digits) / 2 + 1);
  assert_non_null(bytes);
  for (const char *at = digits; *at;) {
    unsigned byte;
    int used;
    if (sscanf(at, " %2x%n", &byte, &used) != 1) break;
    bytes[count++] = (unsigned char)byte;
    at += used;
  }
  return (struct message){bytes, count};
}

/* In memory of exactly that size. */
static struct message exact(const void *bytes, size_t size) {
  struct message message = {malloc(size + !size), size};
  assert_non_null(message.bytes);
  if (size) memcpy(message.bytes, bytes, size);
  return message;
}

static struct message from_odd(const struct odd *odd) {
  char digits[2000];
  struct message data = from_digits(odd->data);
  snprintf(digits, sizeof digits, "8495a6be %08zx %08x %08x %08x %s", data.size, odd->objects, odd->words32,
           odd->words64, odd->data);
  free(data.bytes);
  struct message loose = from_digits(digits), message = exact(loose.bytes, loose.size);
  free(loose.bytes);
  return message;
}

static void assert_odd(struct message message, const char *error) {
  WN_SCOPE(of.domain);
  wn_status status = read_in_bounds(message, 0, 2);
  if (status != (error ? WN_EFORMAT : WN_OK)) fail_msg("%s", error);
  if (error && !strstr(wn_last_error(), error)) fail_msg("'%s' is not '%s'", wn_last_error(), error);
  free(message.bytes);
}

static void odd_messages_are_refused_or_read(void **state) { /* V8, V9 */
  static const struct odd all[] = {
      {"", 0, 0, 0, "byte 20: the message ends in the middle"},
      {"0401", 0, 0, 0, "byte 21: a reference to a block that was not met"},
      {"0400", 0, 0, 0, "byte 21: a reference to a block that was not met"},
      {"90 0401", 1, 2, 2, NULL},
      {"90 0400", 1, 2, 2, "byte 22: a reference"},
      {"90 0402", 1, 2, 2, "byte 22: a reference"},
      {"90 0401", 0, 2, 2, "byte 22: a reference"},
      {"90 14ffffffffffffffff", 1, 2, 2, "byte 22: a reference"},
      {"b0", 1, 4, 4, "byte 21: the message has fewer bytes left than blocks have fields"},
      {"b0 4040", 1, 4, 4, "fewer bytes left"},
      {"25 6162", 1, 3, 2, "byte 23: the message ends in the middle"},
      {"a0 90 40 40", 1, 5, 5, "byte 22: there are more blocks than the header tells"},
      {"a0 90 40 40", 3, 5, 5, "byte 24: there are fewer blocks than the header tells"},
      {"a0 90 40 40", 0, 5, 5, NULL}, /* as without sharing */
      {"a0 90 40 40", 2, 5, 4, "the blocks are larger than the header tells"},
      {"a0 90 40 40", 2, 6, 6, "the blocks are smaller than the header tells"},
      {"a0 90 40 40", 2, 6, 5, "the blocks are smaller than the header tells"},
      {"a0 90 40 40", 2, 5, 5, NULL},
      {"a0 90 40 40", 5, 5, 5, "byte 0: the header tells more blocks than there are bytes"},
      {"40", 0, 6, 6, "the blocks are smaller than the header tells"},
      {"40 40", 0, 0, 0, "byte 21: the value has ended, and the message has not"},
      {"08000004f8 40", 1, 2, 2, "an object of one word"},
      {"08000008f8 4000", 1, 3, 3, "ends in the middle"},
      {"08000008f8 40000a", 1, 3, 3, NULL},
      {"08000004f7 40", 1, 2, 2, "closure"},
      {"08000000f7", 0, 0, 0, "a block of tag 247 without words"},
      {"08000000f8", 0, 0, 0, "a block of tag 248 without words"},
      {"08000000fd", 0, 0, 0, "a block of tag 253 without words"},
      {"08000000fa", 0, 0, 0, NULL},
      {"08000004f9 40", 1, 2, 2, "closure"},
      {"08000004fb 40", 1, 2, 2, "a block of tag 251 with fields"},
      {"08000004fc 40", 1, 2, 2, "a block of tag 252 with fields"},
      {"08000004fd 40", 1, 2, 2, "a block of tag 253 with fields"},
      {"08000004fe 40", 1, 2, 2, "a block of tag 254 with fields"},
      {"08000004ff 40", 1, 2, 2, "a block of tag 255 with fields"},
      {"08000000ff", 0, 0, 0, "a block of tag 255 without words"},
      {"08000000fb", 0, 0, 0, "a block of tag 251 without words"},
      {"08000000fc", 0, 0, 0, NULL},
      {"80", 0, 0, 0, NULL},
      {"8f", 0, 0, 0, NULL},
      {"f0 80 80 81 82 80 0800000310 80", 1, 8, 8, NULL},
      {"0800000700 40", 1, 2, 2, NULL}, /* the colour of OCaml 5 */
      {"13000000000000040040", 1, 2, 2, NULL},
      {"13fffffffffffffc00", 1, 2, 2, "fewer bytes left"},
      {"10 00000000 00000000000000000000000000000000", 0, 0, 0, "closure"},
      {"11 00000000 40", 0, 0, 0, "closure"},
      {"12 5f6a00 0000000000000001", 1, 3, 3, "before 4.08"},
      {"1a", 0, 0, 0, "byte 21: 0x1a begins no value"},
      {"1f", 0, 0, 0, "begins no value"},
      {"03 4000000000000000", 0, 0, 0, "an integer of more than 63 bits"},
      {"03 bfffffffffffffff", 0, 0, 0, "an integer of more than 63 bits"},
      {"03 c000000000000000", 0, 0, 0, NULL},
      {"03 3fffffffffffff", 0, 0, 0, "ends in the middle"},
      {"03 0000000000000001", 0, 0, 0, NULL}, /* forms that are longer than need be */
      {"02 00000001", 0, 0, 0, NULL},
      {"01 0001", 0, 0, 0, NULL},
      {"90 14 0000000000000001", 1, 2, 2, NULL},
      {"90 06 00000001", 1, 2, 2, NULL},
      {"90 05 0001", 1, 2, 2, NULL},
      {"09 01 61", 1, 2, 2, NULL},
      {"0a 00000001 61", 1, 2, 2, NULL},
      {"15 0000000000000001 61", 1, 2, 2, NULL},
      {"15 ffffffffffffffff 61", 1, 2, 2, "ends in the middle"},
      {"15 7fffffffffffffff 61", 1, 2, 2, "ends in the middle"},
      {"20", 1, 2, 2, NULL},
      {"20", 1, 2, 1, "larger than the header tells"},
      {"20 ", 1, 3, 3, "smaller than the header tells"},
      {"0c 000000000000f03f", 1, 3, 2, NULL},
      {"0b 3ff0000000000000", 1, 3, 2, NULL},
      {"0c 00000000000000", 1, 3, 2, "ends in the middle"},
      {"0e 01 000000000000f03f", 1, 3, 2, NULL},
      {"0d 01 3ff0000000000000", 1, 3, 2, NULL},
      {"07 00000001 000000000000f03f", 1, 3, 2, NULL},
      {"0f 00000001 3ff0000000000000", 1, 3, 2, NULL},
      {"17 0000000000000001 000000000000f03f", 1, 3, 2, NULL},
      {"16 0000000000000001 3ff0000000000000", 1, 3, 2, NULL},
      {"0e 00", 1, 1, 1, "an array of no doubles"},
      {"0e 02 000000000000f03f", 1, 5, 3, "ends in the middle"},
      {"17 2000000000000001 000000000000f03f", 1, 3, 2, "ends in the middle"},
      {"16 ffffffffffffffff", 1, 3, 2, "ends in the middle"},
      {"19 5f6a00 0000000000000001", 1, 4, 3, NULL},
      {"19 5f6a00 00000000000001", 1, 4, 3, "ends in the middle"},
      {"18 5f6a00 00000008 0000000000000008 0000000000000001", 1, 4, 3, NULL},
      {"18 5f6a00 00000008 0000000000000010 0000000000000001", 1, 4, 4, "another size"},
      {"18 5f6a00 00000004 0000000000000008 0000000000000001", 1, 3, 3, "another size"},
      {"18 5f6a00 00000004 00000000000000", 1, 3, 3, "ends in the middle"},
      {"19 5f6e00 01 00000001", 1, 3, 3, NULL},
      {"19 5f6e00 02 0000000000000001", 1, 3, 3, NULL},
      {"19 5f6e00 03 0000000000000001", 1, 3, 3, "a custom block of the kind '_n' is wrong"},
      {"19 5f6900 00000001", 1, 3, 3, NULL},
      {"19 5f6b00 00000001", 1, 3, 3, "the kind '_k', which is not registered"},
      {"19 1b5b6d00 00000001", 1, 3, 3, "whose name is none"},
      {"19 00 00000001", 1, 3, 3, "whose name is none"},
      {"19 5f6a", 1, 3, 3, "whose name does not end"},
      {"19 "
       "61616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616"
       "161"
       "61616161616161616161616161 00",
       1, 3, 3, "whose name does not end"},
      {"18 5f62696761727230 3200 00000014 00000028 00000001 00000003 0002 0000", 1, 2, 2, "larger"},
      {"18 5f62696761727230 3200 00000014 0000000000000028 00000001 00000003 0002 4142", 1, 7, 7, NULL},
      {"18 5f62696761727230 3200 00000014 0000000000000028 00000001 0000000e 0002 4142", 1, 7, 7, "is wrong"},
      {"18 5f62696761727230 3200 00000014 0000000000000028 00000001 00000203 0002 4142", 1, 7, 7, "is wrong"},
      {"18 5f62696761727230 3200 00000014 0000000000000028 00000002 00000003 0002 4142", 1, 7, 7, "is wrong"},
      {"18 5f62696761727230 3200 00000014 0000000000000028 00000001 00000003 0003 4142", 1, 7, 7, "is wrong"},
      {"18 5f62696761727230 3200 00000014 0000000000000028 00000001 00000001 ffff2000000000000001 4142", 1, 7,
       7, "is wrong"},
      {"18 5f62696761727230 3200 00000014 0000000000000028 00000001 00000009 0001 00 00000005", 1, 7, 7,
       NULL},
      {"18 5f62696761727230 3200 00000014 0000000000000028 00000001 00000009 0001 01 00000005", 1, 7, 7,
       "ends in the middle"},
      {"18 5f62696761727230 3200 00000014 0000000000000028 00000001 00000009 0001 02 0000000000000005", 1, 7,
       7, "is wrong"},
      {"19 7500", 1, 2, 2, "does not tell its size"},
      {"18 7500 00000000 0000000000000000", 1, 2, 2, NULL},
      {"18 7500 00000000 0000010000000000", 1, 2, 2, "larger than the header tells"},
      {"18 7500 00000000 ffffffffffffffff", 1, 2, 2, "larger than the header tells"},
  };
  (void)state;
  open_heap("verify");
  assert_int_equal(wn_marshal_register(of.heap, &unit_ops, &unit_marshal), WN_OK);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) assert_odd(from_odd(&all[i]), all[i].error);
  journal_close(&of);
}

static void headers_are_checked(void **state) { /* V9 */
  static const struct {
    const char *digits, *error;
  } all[] = {
      {"", "byte 0: the header ends early"},
      {"8495a6", "byte 0: the header ends early"},
      {"8495a6be 00000001 00000000 00000000 000000", "byte 0: the header ends early"},
      {"8495a6be 00000002 00000000 00000000 00000000 40", "byte 21: the message has 1 bytes more"},
      {"8495a6be 00000001 00000000 00000000 00000000 40", NULL},
      {"8495a6bf 00000000 0000000000000001 0000000000000000 0000000000000000 40", NULL},
      {"8495a6bf ffffffff 0000000000000001 0000000000000000 0000000000000000 40", NULL},
      {"8495a6bf 00000000 0000000000000001 0000000000000000 00000000000000", "the header ends early"},
      {"8495a6bf 00000000 ffffffffffffffff 0000000000000000 0000000000000000 40", "more than any message"},
      {"8495a6bf 00000000 ffffffffffffffdf 0000000000000000 0000000000000000 40", "bytes more"},
      {"8495a6bf 00000000 ffffffffffffffdf 2000000000000000 0000000000000000 40", "bytes more"},
      {"8495a6bf 00000000 0000000000000001 2000000000000000 0000000000000000 40", "more blocks"},
      {"8495a6bf 00000000 0000000000000001 0000000000000000 2000000000000000 40", "smaller than the header"},
      {"8495a6bd 0a 00 00 00 00 00", "byte 0: the message is compressed"},
      {"8495a6bc 00000001 00000000 00000000 00000000 40", "byte 0: the bytes begin no message"},
  };
  (void)state;
  open_heap("verify");
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    struct message loose = from_digits(all[i].digits);
    assert_odd(exact(loose.bytes, loose.size), all[i].error);
    free(loose.bytes);
  }
  journal_close(&of);
}

/* Blocks of two fields, each in the first field of the one before: nothing nests deeper. */
static void nesting_takes_memory_in_proportion(void **state) { /* V9 */
  enum { DEPTH = 100000 };
  (void)state;
  open_heap(NULL);
  struct message message = exact(NULL, 0);
  message.size = 20 + 2 * DEPTH + 1;
  message.bytes = realloc(message.bytes, message.size);
  assert_non_null(message.bytes);
  unsigned char *bytes = message.bytes;
  put_32(bytes, 0x8495A6BE);
  put_32(bytes + 4, message.size - 20);
  put_32(bytes + 8, DEPTH);
  put_32(bytes + 12, 3 * DEPTH);
  put_32(bytes + 16, 3 * DEPTH);
  memset(bytes + 20, 0xA0, DEPTH);
  memset(bytes + 20 + DEPTH, 0x40, DEPTH + 1);
  {
    WN_SCOPE(of.domain);
    assert_int_equal(read_in_bounds(message, 0, 0), WN_OK);
  }
  free(message.bytes);
  journal_close(&of);
}

/* Gives what is left of a header, and then nothing. */
static size_t give_header(void *bytes, size_t size, void *context) {
  struct message *left = context;
  size_t given = size < left->size ? size : left->size;
  memcpy(bytes, left->bytes, given);
  left->bytes = (char *)left->bytes + given;
  left->size -= given;
  return given;
}

static void a_header_that_promises_much_takes_little_memory(void **state) { /* V9 */
  (void)state;
  open_heap(NULL);
  {
    WN_SCOPE(of.domain);
    wn_ref value;
    struct message message = from_digits("8495a6be f0000000 70000000 f0000000 f0000000");
    struct message left = message;
    size_t before = requested;
    assert_int_equal(wn_marshal_read_from(of.domain, give_header, &left, 0, &value), WN_EFORMAT);
    assert_int_equal(left.size, 0);
    assert_true(requested - before <= 1 << 20);
    free(message.bytes);
  }
  journal_close(&of);
}

/* ---- mutations ---- */

enum { SEEDS = 12 };
static struct message seeds[SEEDS];
static unsigned long mutations = 20000;

static void make_seeds(void) {
  for (uint64_t i = 0; i < SEEDS; i++) {
    WN_SCOPE(of.domain);
    uint64_t seed = i;
    wn_ref graph = random_graph(of.domain, &seed, 3 + 40 * (i % 4), i % 3 ? 9 : 300);
    seeds[i] = write_message(of.domain, graph);
  }
}

/* Changes some bytes, mostly those of the data, to codes and lengths that mean something. */
static void change(unsigned char *bytes, size_t size, uint64_t *seed) {
  static const unsigned char codes[] = {0,    1,    2,    3,    4,    5,    6,    7,    8,    9,
                                        10,   11,   12,   13,   14,   15,   0x10, 0x11, 18,   19,
                                        0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x20, 0x40, 0x80, 0xff};
  for (size_t i = 1 + below(seed, 6); i; i--) {
    size_t at = below(seed, 8) && size > 20 ? 20 + below(seed, size - 20) : below(seed, size);
    switch (below(seed, 3)) {
    case 0: bytes[at] = codes[below(seed, sizeof codes)]; break;
    case 1: bytes[at] ^= (unsigned char)(1 << below(seed, 8)); break;
    default: bytes[at] = (unsigned char)draw(seed);
    }
  }
}

/* Puts a part of another message over a part of this one. */
static void splice(unsigned char *bytes, size_t size, uint64_t *seed) {
  const struct message *from = &seeds[below(seed, SEEDS)];
  if (size <= 20 || from->size <= 20) return;
  size_t to_at = 20 + below(seed, size - 20), from_at = 20 + below(seed, from->size - 20);
  size_t most = size - to_at < from->size - from_at ? size - to_at : from->size - from_at;
  memcpy(bytes + to_at, (const unsigned char *)from->bytes + from_at, below(seed, most + 1));
}

/* The header tells the length that there is, so that the data is read, and now and then more words
 * and blocks. */
static void mend_header(unsigned char *bytes, size_t size, uint64_t *seed) {
  if (size < 20 || !below(seed, 10)) return;
  put_32(bytes, 0x8495A6BE);
  put_32(bytes + 4, size - 20);
  if (below(seed, 3)) return;
  if (below(seed, 2)) put_32(bytes + 8, below(seed, size));
  if (below(seed, 2)) put_32(bytes + 16, below(seed, 3 * size));
}

static struct message mutant(uint64_t *seed) {
  const struct message *from = &seeds[below(seed, SEEDS)];
  size_t size = below(seed, 4) ? from->size : below(seed, from->size + 1);
  struct message message = exact(from->bytes, size);
  if (!below(seed, 4)) splice(message.bytes, size, seed);
  if (size) change(message.bytes, size, seed);
  mend_header(message.bytes, size, seed);
  return message;
}

/* True if it could be read. */
static bool read_mutant(struct message message, unsigned flags) {
  WN_SCOPE(of.domain);
  wn_status status = read_in_bounds(message, flags, 256);
  if (!status) return true;
  assert_int_equal(status, WN_EFORMAT);
  assert_non_null(strstr(wn_last_error(), "marshal read: byte "));
  return false;
}

static void mutated_messages_are_refused_or_read(void **state) { /* V9 */
  unsigned long read = 0;
  unsigned long runs = mutations == 20000 ? (unsigned long)runs_of(20000) : mutations;
  (void)state;
  open_heap(NULL);
  assert_int_equal(wn_marshal_register(of.heap, &unit_ops, &unit_marshal), WN_OK);
  make_seeds();
  for (unsigned long run = 0; run < runs; run++) {
    uint64_t seed = run;
    struct message message = mutant(&seed);
    read += read_mutant(message, run % 2 ? WN_MARSHAL_OCAML_STRINGS : 0);
    free(message.bytes);
    if (run % 500 == 0) assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
    if (run % 50 == 0) wn_gc_major_slice(of.domain, 1000);
  }
  assert_true(read > runs / 1000);
  for (size_t i = 0; i < SEEDS; i++) free(seeds[i].bytes);
  journal_close(&of);
}

/* ---- a heap in the middle of its cycle ---- */

/* Reads that fail leave blocks that nothing leads to, some of them filled in part. The collector
 * may walk them: for verification, where a mark stack overflows, or where a remembered set does. */
static void reads_that_fail_leave_a_sound_heap(void **state) { /* V9 */
  (void)state;
  open_heap("mark_stack=1");
  {
    WN_SCOPE(of.domain);
    uint64_t seed = 1;
    wn_ref graph = random_graph(of.domain, &seed, 700, 300);
    struct message message = write_message(of.domain, graph);
    for (size_t step = message.size / 150, size = 20; size < message.size; size += step) {
      WN_SCOPE(of.domain);
      wn_ref value;
      struct message part = exact(message.bytes, size);
      put_32((unsigned char *)part.bytes + 4, size - 20);
      assert_int_equal(wn_marshal_read(of.domain, part.bytes, size, 0, &value, NULL), WN_EFORMAT);
      assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
      wn_gc_major_slice(of.domain, 5000);
      assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
      free(part.bytes);
    }
    assert_same(*graph.slot, *read_message(of.domain, message).slot);
    free(message.bytes);
  }
  journal_close(&of);
}

static void reads_in_the_middle_of_a_cycle_are_kept(void **state) { /* V10 */
  (void)state;
  open_heap(NULL);
  {
    WN_SCOPE(of.domain);
    uint64_t seed = 2;
    wn_ref graph = random_graph(of.domain, &seed, 2000, 20);
    struct message message = write_message(of.domain, graph);
    wn_ref kept = wn_alloc(of.domain, 8, 0);
    for (size_t i = 0; i < 200; i++) {
      WN_SCOPE(of.domain);
      wn_ref copy = read_message(of.domain, message);
      assert_int_equal(wn_gc_verify(of.domain, stderr), WN_OK);
      assert_same(*graph.slot, *copy.slot);
      wn_set(of.domain, kept, i % 8, copy);
      wn_gc_major_slice(of.domain, (long)(1000 + draw(&seed) % 40000));
      if (wn_is_int(wn_field(kept, (i + 5) % 8))) continue;
      assert_same(*graph.slot, wn_field(kept, (i + 5) % 8));
    }
    assert_true(quick_stat(of.domain).major_collections > 3);
    free(message.bytes);
  }
  journal_close(&of);
}

/* ---- no memory ---- */

static bool again;
static bool hook(wn_domain *domain, size_t words, void *context) {
  (void)domain, (void)words, (void)context;
  return again;
}

static void a_read_that_gets_no_memory_fails_or_begins_again(void **state) { /* V11 */
  (void)state;
  for (int old = 0; old < 2; old++)
    for (int request = 1; request < 4; request++) {
      char text[32];
      wn_heap_options options = without_helpers();
      snprintf(text, sizeof text, "fail_at=%d", request);
      options.text = text;
      options.hooks.out_of_memory = hook;
      again = request % 2;
      journal_open(&of, &options);
      {
        WN_SCOPE(of.domain);
        wn_ref value = {NULL};
        struct message message = from_digits(old ? "8495a6be 0000010a 00000001 00000102 00000102 0800040400"
                                                 : "8495a6be 00000002 00000001 00000002 00000002 90 41");
        if (old) {
          message.bytes = realloc(message.bytes, message.size + 261);
          memset((char *)message.bytes + message.size, 0x41, 261);
          message.size += 257 + 4;
          put_32((unsigned char *)message.bytes + 4, message.size - 20);
          put_32((unsigned char *)message.bytes + 12, 262);
          put_32((unsigned char *)message.bytes + 16, 262);
          put_32((unsigned char *)message.bytes + 21, 261 << 10);
        }
        for (int i = 1; i < 4; i++) {
          wn_status status = wn_marshal_read(of.domain, message.bytes, message.size, 0, &value, NULL);
          assert_true(status == WN_OK || (status == WN_ENOMEM && !again));
        }
        free(message.bytes);
      }
      journal_close(&of);
    }
}

/* test_marshal_hostile [MUTATIONS] */
int main(int count, char **arguments) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(odd_messages_are_refused_or_read),
      cmocka_unit_test(headers_are_checked),
      cmocka_unit_test(nesting_takes_memory_in_proportion),
      cmocka_unit_test(a_header_that_promises_much_takes_little_memory),
      cmocka_unit_test(mutated_messages_are_refused_or_read),
      cmocka_unit_test(reads_that_fail_leave_a_sound_heap),
      cmocka_unit_test(reads_in_the_middle_of_a_cycle_are_kept),
      cmocka_unit_test(a_read_that_gets_no_memory_fails_or_begins_again),
  };
  if (count > 1) mutations = strtoul(arguments[1], NULL, 10);
  return RUN_TESTS(tests);
}
/* SPDX-License-Identifier: MIT */
