/* The sections of a container with the rows. */
#include "page/container_rows.h"

#include "page/ranks.h"
#include <stdlib.h>

/* The columns of ROWS. */
enum { BEGIN, LIFE, BLOCK, KIND, STACK, THREAD, FLAGS, PROMOTED, COLUMNS };

/* The flags of a kind, above which the rate stands: whether its rows begin with a call, and how
 * their growth is given: none; by the size before; or, where that would not give the same number,
 * as the bits of a double. */
enum { KIND_CALL = 1, KIND_SIZE_BEFORE = 2, KIND_GROWTH = 4, KIND_FLAGS_LOG2 = 3 };

static uint64_t usual_words(uint64_t size) { return (size + 15) >> 3; }

static uint64_t container_rows_bits_of(double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static double double_of(uint64_t bits) {
  double number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

/* ---- writing ---- */

static struct rank_key container_rows_kind_of(const struct samples *samples, const struct row *row) {
  double growth = row->first ? growth_at_birth(&samples->grown, row) : 0,
         before = growth * (double)row->size + 0.5;
  uint64_t flags = (uint64_t)row->rate << KIND_FLAGS_LOG2 | (row->call ? KIND_CALL : 0);
  struct rank_key key = {{row->size, row->words, flags, 0}};
  if (growth <= 0) return key;
  uint64_t size = before < 0x1p63 ? (uint64_t)before : 0;
  bool same = container_rows_bits_of(growth_of_sizes(size, row->size)) == container_rows_bits_of(growth);
  key.part[2] |= same ? KIND_SIZE_BEFORE : KIND_GROWTH;
  key.part[3] = same ? size : container_rows_bits_of(growth);
  return key;
}

struct row_ranks {
  struct ranks kinds, stacks, threads;
};

static struct rank_key container_rows_key_of(uint64_t number) { return (struct rank_key){{number}}; }

static bool rank_rows(struct row_ranks *ranks, const struct samples *samples,
                      const struct numbering *numbering) {
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    struct rank_key kind = container_rows_kind_of(samples, row),
                    stack = container_rows_key_of(numbering->node[row->stack]),
                    thread = container_rows_key_of(row->thread);
    if (ranks_add(&ranks->kinds, &kind) == UINT32_MAX || ranks_add(&ranks->stacks, &stack) == UINT32_MAX ||
        ranks_add(&ranks->threads, &thread) == UINT32_MAX)
      return false;
  }
  return ranks_sort(&ranks->kinds) && ranks_sort(&ranks->stacks) && ranks_sort(&ranks->threads);
}

/* One part of all keys, as COLUMN_PLAIN or COLUMN_DELTA. */
static void put_keys(struct coding *coding, const struct ranks *ranks, int part, enum column_how how) {
  uint64_t before = 0;
  for (size_t i = 0; i < ranks->count; i++) {
    uint64_t number = ranks->keys[i].part[part];
    coding_put_number(coding, how == COLUMN_DELTA ? zigzag(number - before) : number);
    before = number;
  }
}

static void put_kinds(struct coding *coding, const struct row_ranks *ranks) {
  const struct ranks *kinds = &ranks->kinds;
  coding_put_number(coding, kinds->count);
  put_keys(coding, kinds, 0, COLUMN_DELTA);
  for (size_t i = 0; i < kinds->count; i++)
    coding_put_number(coding, zigzag(kinds->keys[i].part[1] - usual_words(kinds->keys[i].part[0])));
  put_keys(coding, kinds, 2, COLUMN_PLAIN);
  put_keys(coding, kinds, 3, COLUMN_PLAIN);
  coding_put_number(coding, ranks->stacks.count);
  put_keys(coding, &ranks->stacks, 0, COLUMN_DELTA);
  coding_put_number(coding, ranks->threads.count);
  put_keys(coding, &ranks->threads, 0, COLUMN_PLAIN);
}

/* First and last in the low bits: so most rows have the same flags, and few of them take a byte
 * more. */
static uint64_t flags_of(const struct row *row) {
  return (uint64_t)row->first | (uint64_t)row->last << 1 | (uint64_t)row->area << 2 |
         (uint64_t)row->next_cycle << 4 | (uint64_t)row->source << 6;
}

struct row_writer {
  const struct samples *samples;
  const struct row_ranks *ranks;
  const struct numbering *numbering;
  struct coding columns[COLUMNS];
  uint64_t unit_ns, begin; /* begin: of the row before, in units */
  bool by_thread;          /* block numbers follow each other within a thread; else over all */
  uint64_t *expected;      /* the number of the next block: [0], or by rank of the thread */
};

static unsigned bits_in(uint64_t number) { return number ? 64 - (unsigned)__builtin_clzll(number) : 0; }

/* Whether block numbers are nearer to those of their thread than to those of the row before. */
static bool follow_threads(struct row_writer *writer, const struct samples *samples) {
  uint64_t last = 0, bits_of_all = 0, bits_of_threads = 0, *expected = writer->expected;
  for (size_t i = 0; i < samples->row_count; i++) {
    const struct row *row = &samples->rows[i];
    struct rank_key thread = container_rows_key_of(row->thread);
    uint32_t by = ranks_of(&writer->ranks->threads, &thread);
    bits_of_all += bits_in(zigzag(row->block - last));
    bits_of_threads += bits_in(zigzag(row->block - expected[by]));
    if (row->first) last = expected[by] = row->block + 1;
  }
  memset(expected, 0, writer->ranks->threads.count * sizeof *expected);
  return bits_of_threads < bits_of_all;
}

static void container_rows_put_row(struct row_writer *writer, const struct row *row) {
  const struct samples *samples = writer->samples;
  uint64_t begin = row->begin_ns / writer->unit_ns, born = row->born_ns / writer->unit_ns;
  struct rank_key kind = container_rows_kind_of(samples, row),
                  stack = container_rows_key_of(writer->numbering->node[row->stack]),
                  thread = container_rows_key_of(row->thread);
  uint32_t by = ranks_of(&writer->ranks->threads, &thread);
  uint64_t *expected = &writer->expected[writer->by_thread ? by : 0];
  uint64_t numbers[COLUMNS] = {
      [BEGIN] = begin - writer->begin,
      [LIFE] = row_is_left(row) ? 0 : row->end_ns / writer->unit_ns - begin + 1,
      [BLOCK] = zigzag(row->block - *expected),
      [KIND] = ranks_of(&writer->ranks->kinds, &kind),
      [STACK] = ranks_of(&writer->ranks->stacks, &stack),
      [THREAD] = by,
      [FLAGS] = flags_of(row),
      [PROMOTED] = row->promoted_ns == NEVER ? 0 : row->promoted_ns / writer->unit_ns - born + 1};
  for (int i = 0; i < COLUMNS; i++) coding_put_number(&writer->columns[i], numbers[i]);
  writer->begin = begin;
  if (row->first) *expected = row->block + 1;
}

void write_rows(struct coding *kinds, struct coding *rows, const struct samples *samples,
                const struct numbering *numbering, uint64_t unit_ns) {
  struct row_ranks ranks = {0};
  struct row_writer writer = {
      .samples = samples, .ranks = &ranks, .numbering = numbering, .unit_ns = unit_ns};
  bool ranked = rank_rows(&ranks, samples, numbering) &&
                (writer.expected = calloc(ranks.threads.count + 1, sizeof *writer.expected));
  if (!ranked) kinds->no_memory = rows->no_memory = true;
  if (ranked) put_kinds(kinds, &ranks);
  if (ranked) writer.by_thread = follow_threads(&writer, samples);
  for (size_t i = 0; ranked && i < samples->row_count; i++)
    container_rows_put_row(&writer, &samples->rows[i]);
  coding_put_number(rows, samples->row_count);
  code_bool(rows, &writer.by_thread);
  for (int i = 0; i < COLUMNS; i++) {
    coding_put_number(rows, writer.columns[i].count);
    coding_put(rows, writer.columns[i].out, writer.columns[i].count);
    if (writer.columns[i].no_memory) rows->no_memory = true;
    free(writer.columns[i].out);
  }
  free(writer.expected);
  ranks_destroy(&ranks.kinds);
  ranks_destroy(&ranks.stacks);
  ranks_destroy(&ranks.threads);
}

/* ---- reading ---- */

void read_kinds(struct coding *coding, struct row_tables *tables, uint32_t node_count) {
  *tables = (struct row_tables){0};
  CODE_TABLE(coding, tables->kinds, tables->kind_count, 0, DELTA(size), PLAIN(words), PLAIN(flags),
             PLAIN(growth));
  CODE_NUMBERS(coding, tables->stacks, tables->stack_count, COLUMN_DELTA);
  CODE_NUMBERS(coding, tables->threads, tables->thread_count, COLUMN_PLAIN);
  if (coding_failed(coding)) return;
  for (size_t i = 0; i < tables->kind_count; i++)
    tables->kinds[i].words = usual_words(tables->kinds[i].size) + unzigzag(tables->kinds[i].words);
  for (size_t i = 0; i < tables->stack_count; i++)
    if (tables->stacks[i] > node_count) coding_fail(coding, "a stack does not exist");
}

void row_tables_destroy(struct row_tables *tables) {
  free(tables->kinds);
  free(tables->stacks);
  free(tables->threads);
}

struct row_reader {
  struct coding *coding;
  struct grown_rows *grown;
  const struct row_tables *tables;
  uint16_t rate_count;
  struct byte_source columns[COLUMNS];
  uint64_t unit_ns, most; /* the end of the trace in units: no time is later */
  uint64_t begin;         /* of the row before */
  bool held_only;         /* a row may count no allocation */
  bool by_thread;         /* as those of struct row_writer */
  uint64_t *expected;
};

/* Finds the columns. Each has at least one byte for each row, so the count of rows is believed. */
static void container_rows_find_columns(struct row_reader *reader, size_t count) {
  for (int i = 0; i < COLUMNS && !coding_failed(reader->coding); i++) {
    uint64_t length = 0;
    code_number(reader->coding, &length, SIZE_MAX);
    const unsigned char *bytes =
        coding_failed(reader->coding) ? NULL : get_bytes(&reader->coding->in, length);
    if (!bytes || length < count) {
      coding_fail(reader->coding, "a column is shorter than it says");
      return;
    }
    reader->columns[i] = (struct byte_source){.at = bytes, .end = bytes + length};
  }
}

static void take_kind(struct row_reader *reader, struct row *row, const struct row_kind *kind) {
  row->size = kind->size;
  row->words = kind->words;
  row->call = kind->flags & KIND_CALL;
  row->rate = (uint16_t)(kind->flags >> KIND_FLAGS_LOG2);
  if (kind->flags >> KIND_FLAGS_LOG2 >= reader->rate_count)
    coding_fail(reader->coding, "a rate does not exist");
  double growth = kind->flags & KIND_SIZE_BEFORE ? growth_of_sizes(kind->growth, kind->size)
                  : kind->flags & KIND_GROWTH    ? double_of(kind->growth)
                                                 : 0;
  if (growth == 0) return;
  if (grown_add(reader->grown, row))
    reader->grown->items[row->grown].growth = growth; /* until finish_block */
  else
    reader->coding->no_memory = true;
}

static void take_flags(struct row *row, uint64_t flags) {
  row->first = flags & 1;
  row->last = flags >> 1 & 1;
  row->area = flags >> 2 & 3;
  row->next_cycle = flags >> 4 & 3;
  row->source = (uint8_t)(flags >> 6);
}

/* A time of `more` units after `from`; a fault if it is after the end. */
static uint64_t container_rows_later(struct row_reader *reader, uint64_t from, uint64_t more) {
  if (more <= reader->most - from) return from + more;
  coding_fail(reader->coding, "a time is after the end");
  return from;
}

static void read_row(struct row_reader *reader, struct row *row) {
  const struct row_tables *tables = reader->tables;
  uint64_t numbers[COLUMNS], unit = reader->unit_ns;
  bool bad = false;
  for (int i = 0; i < COLUMNS; i++) {
    numbers[i] = get_varint(&reader->columns[i]);
    bad = bad || reader->columns[i].bad;
  }
  if (bad || numbers[KIND] >= tables->kind_count || numbers[STACK] >= tables->stack_count ||
      numbers[THREAD] >= tables->thread_count || numbers[FLAGS] >> 14) {
    coding_fail(reader->coding, "a row has a kind, stack, thread or flags that do not exist");
    return;
  }
  uint64_t begin = reader->begin = container_rows_later(reader, reader->begin, numbers[BEGIN]);
  uint64_t *expected = &reader->expected[reader->by_thread ? numbers[THREAD] : 0];
  row->block = *expected + unzigzag(numbers[BLOCK]);
  row->begin_ns = row->born_ns = begin * unit;
  row->end_ns = numbers[LIFE] ? container_rows_later(reader, begin, numbers[LIFE] - 1) * unit : STILL_ALIVE;
  take_kind(reader, row, &tables->kinds[numbers[KIND]]);
  take_flags(row, numbers[FLAGS]);
  row->stack = tables->stacks[numbers[STACK]];
  row->thread = tables->threads[numbers[THREAD]];
  if (row->first) *expected = row->block + 1;
  row->promoted_ns = numbers[PROMOTED]; /* until its birth is known: finish_block */
  if (row->first && !row->call && !reader->held_only)
    coding_fail(reader->coding, "a block begins without a call");
}

/* Completes all rows of one block, which are in order. */
static void finish_block(struct row_reader *reader, struct row *rows, size_t count, const double *rates) {
  struct row *last = &rows[count - 1];
  uint64_t born = rows[0].begin_ns, promoted = last->promoted_ns;
  if (!rows[0].first || !last->last) coding_fail(reader->coding, "a row of a block is missing");
  for (size_t i = 1; i < count; i++) {
    rows[i].born_ns = born;
    if (rows[i].first || rows[i - 1].last || rows[i].begin_ns != rows[i - 1].end_ns)
      coding_fail(reader->coding, "the rows of a block do not follow each other");
  }
  last->promoted_ns =
      promoted ? container_rows_later(reader, born / reader->unit_ns, promoted - 1) * reader->unit_ns : NEVER;
  const struct grown *grown = grown_at(reader->grown, rows[0].grown);
  if (!grown_finish_block(reader->grown, rows, count, grown ? grown->growth : 0, rates))
    reader->coding->no_memory = true;
}

/* A row of a block that has several. */
struct part {
  uint64_t block;
  size_t row;
  bool first, last;
};

/* At one time the first row of a block comes first, and its last row last. */
static int container_rows_by_block(const void *a, const void *b) {
  const struct part *left = a, *right = b;
  if (left->block != right->block) return left->block < right->block ? -1 : 1;
  if (left->first != right->first) return left->first ? -1 : 1;
  if (left->last != right->last) return left->last ? 1 : -1;
  return (left->row > right->row) - (left->row < right->row);
}

/* Completes blocks of several rows: copies the rows of each together, and back. */
static void finish_parts(struct row_reader *reader, struct samples *samples, struct part *parts,
                         size_t count) {
  struct row *rows = malloc((count + 1) * sizeof *rows);
  if (!rows) reader->coding->no_memory = true;
  qsort(parts, count, sizeof *parts, container_rows_by_block);
  for (size_t begin = 0, end; begin < count && !coding_failed(reader->coding); begin = end) {
    for (end = begin; end < count && parts[end].block == parts[begin].block; end++)
      rows[end - begin] = samples->rows[parts[end].row];
    finish_block(reader, rows, end - begin, samples->rates);
    for (size_t i = begin; i < end; i++) samples->rows[parts[i].row] = rows[i - begin];
  }
  free(rows);
}

static void finish_rows(struct row_reader *reader, struct samples *samples) {
  size_t count = 0, at = 0;
  for (size_t i = 0; i < samples->row_count; i++) count += !(samples->rows[i].first && samples->rows[i].last);
  struct part *parts = malloc((count + 1) * sizeof *parts);
  if (!parts) reader->coding->no_memory = true;
  for (size_t i = 0; i < samples->row_count && !coding_failed(reader->coding); i++) {
    struct row *row = &samples->rows[i];
    if (row->first && row->last)
      finish_block(reader, row, 1, samples->rates);
    else
      parts[at++] = (struct part){row->block, i, row->first, row->last};
  }
  if (count && !coding_failed(reader->coding)) finish_parts(reader, samples, parts, count);
  free(parts);
}

void read_rows(struct coding *coding, const struct row_tables *tables, struct samples *samples,
               uint64_t unit_ns) {
  struct row_reader reader = {.coding = coding,
                              .grown = &samples->grown,
                              .tables = tables,
                              .rate_count = samples->rate_count,
                              .unit_ns = unit_ns,
                              .held_only = source_limits(samples->source)->totals,
                              .most = samples->end_ns / unit_ns};
  size_t count = 0;
  code_count(coding, &count, COLUMNS);
  code_bool(coding, &reader.by_thread);
  container_rows_find_columns(&reader, count);
  if (coding_failed(coding)) return;
  reader.expected = calloc(tables->thread_count + 1, sizeof *reader.expected);
  samples->rows = calloc(count + 1, sizeof *samples->rows);
  if (!samples->rows || !reader.expected) coding->no_memory = true;
  samples->row_count = samples->rows ? count : 0;
  for (size_t i = 0; i < count && !coding_failed(coding); i++) read_row(&reader, &samples->rows[i]);
  for (int i = 0; i < COLUMNS; i++)
    if (reader.columns[i].at != reader.columns[i].end) coding_fail(coding, "a column is longer than it says");
  free(reader.expected);
  if (!coding_failed(coding)) finish_rows(&reader, samples);
}
/* SPDX-License-Identifier: MIT */
