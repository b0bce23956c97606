/* Merges the packets of all domains. */
#include "memtrace/reader.h"

#include "base/error.h"
#include "base/os.h"
#include <stdlib.h>

enum {
  STACKS_MOST = 512,      /* domains that are decoded at once; of more, the stacks are lost */
  BLOCKS_OF_CHUNK = 10000 /* a domain takes so many numbers at a time, from version 3 on */
};

/* The packets of one domain, read in turn. */
struct line {
  const struct memtrace_domain *domain;
  uint32_t next; /* packet that is not read yet; 0: none */
  bool begun, loaded;
  bool doubtful; /* the last packet was damaged */
  uint32_t gaps;
  unsigned char *packet; /* NULL until the first one is read, and after the last one */
  struct memtrace_stacks *stacks;
  struct memtrace_header header;
  struct memtrace_bytes bytes; /* the events that are still to be read */
  uint64_t next_block, last_us;
};

/* A line, by the time of its next event, or a time that is not later. */
struct entry {
  uint64_t time_us;
  uint32_t line;
};

struct memtrace_reader {
  struct memtrace_index index;
  struct memtrace_loss loss;
  struct line *lines; /* by the domains' numbers */
  uint32_t stacks_count;
  uint64_t bytes_done;
  /* A binary heap, earliest first. */
  struct entry *entries;
  uint32_t entry_count;
  bool delivered; /* the event at hand is of the first entry, which is entered again at the next call */
};

/* ---- the heap ---- */

static bool is_earlier(const struct entry *one, const struct entry *other) {
  return one->time_us != other->time_us ? one->time_us < other->time_us : one->line < other->line;
}

/* Moves the first entry down to its place. */
static void sift(struct memtrace_reader *reader) {
  struct entry *entries = reader->entries, moved = entries[0];
  uint32_t at = 0;
  for (uint32_t child; (child = 2 * at + 1) < reader->entry_count; at = child) {
    if (child + 1 < reader->entry_count && is_earlier(&entries[child + 1], &entries[child])) child++;
    if (!is_earlier(&entries[child], &moved)) break;
    entries[at] = entries[child];
  }
  entries[at] = moved;
}

static int reader_by_time(const void *one, const void *other) {
  return is_earlier(one, other) ? -1 : is_earlier(other, one);
}

/* ---- packets ---- */

/* CLOCK: the time of an event with this first word, since 1970. */
static inline uint64_t reader_time_of(const struct line *line, uint32_t word) {
  const struct memtrace_header *header = &line->header;
  uint64_t time_us = memtrace_time(header->begin_us, word);
  if (time_us > header->end_us) time_us = header->end_us;
  return time_us > line->last_us ? time_us : line->last_us;
}

static uint32_t first_word(const struct line *line) {
  uint32_t word = 0;
  memcpy(&word, line->bytes.at, sizeof word);
  return word;
}

/* Whether no allocation is missing before a packet. */
static bool reader_follows(const struct line *line) {
  uint64_t first = line->header.first_block;
  return !line->begun || first == line->next_block ||
         (line->header.version >= 3 && first % BLOCKS_OF_CHUNK == 0);
}

/* Makes unknown what cannot be trusted of the state by which stacks are coded. */
static void verify(struct memtrace_reader *reader, struct line *line, uint32_t gaps) {
  bool missing = line->doubtful || gaps != line->gaps || !reader_follows(line);
  bool unverified = line->header.verify_slot == MEMTRACE_UNVERIFIED;
  line->gaps = gaps;
  if (!line->stacks) return;
  if (missing) memtrace_stack_lose(line->stacks);
  bool fits = memtrace_cache_fits(line->stacks, &line->header);
  if (!fits || (missing && unverified)) memtrace_cache_lose(line->stacks);
  if (!fits && !missing) reader->loss.packets_damaged++;
}

/* Has what reading packets of a domain needs. False without memory. */
static bool prepare_reader(struct memtrace_reader *reader, struct line *line) {
  if (line->packet) return true;
  line->packet = malloc(MEMTRACE_PACKET_MOST);
  if (!line->packet) return false;
  if (reader->stacks_count == STACKS_MOST) return true;
  line->stacks = memtrace_stacks_create();
  reader->stacks_count += line->stacks != NULL;
  return line->stacks;
}

static void reader_end_line(struct memtrace_reader *reader, struct line *line) {
  reader->stacks_count -= line->stacks != NULL;
  memtrace_stacks_destroy(line->stacks);
  free(line->packet);
  line->stacks = NULL;
  line->packet = NULL;
}

static void reader_count_damage(struct memtrace_loss *loss, size_t there, struct memtrace_extent extent) {
  loss->packets += !extent.damaged;
  loss->packets_damaged += extent.damaged;
  loss->bytes_skipped += there - extent.bytes;
}

/* Reads the next packet of a line. False if it is not there any more. */
static bool read_packet(struct memtrace_reader *reader, struct line *line) {
  const struct memtrace_place *place = &reader->index.packets[line->next];
  size_t there = os_read_at(reader->index.descriptor, line->packet, place->bytes, place->offset);
  line->next = place->next;
  reader->bytes_done += place->bytes;
  if (!memtrace_header_read(line->packet, there, &line->header)) return false;
  struct memtrace_extent extent = memtrace_walk(line->packet, there, &line->header);
  reader_count_damage(&reader->loss, there, extent);
  verify(reader, line, place->gaps);
  line->bytes =
      (struct memtrace_bytes){line->packet + line->header.header_bytes, line->packet + extent.bytes, false};
  line->next_block = line->header.first_block;
  line->doubtful = extent.damaged;
  line->begun = true;
  return true;
}

/* Enters the line whose entry is first again, by the time of its next event. */
static inline void reenter(struct memtrace_reader *reader, struct line *line) {
  struct entry *entry = &reader->entries[0];
  line->loaded = line->bytes.at < line->bytes.end;
  if (line->loaded) {
    entry->time_us = reader_time_of(line, first_word(line));
  } else if (line->next) {
    uint64_t begin_us = reader->index.packets[line->next].begin_us;
    entry->time_us = begin_us > line->last_us ? begin_us : line->last_us;
  } else {
    reader_end_line(reader, line);
    *entry = reader->entries[--reader->entry_count];
  }
  if (reader->entry_count > 1) sift(reader);
}

/* Reads the next packet of the line whose entry is first. False without memory. */
static bool reader_load(struct memtrace_reader *reader, struct line *line) {
  if (!prepare_reader(reader, line)) return false;
  line->last_us = reader->entries[0].time_us;
  if (!read_packet(reader, line)) {
    reader->loss.packets_damaged++;
    line->doubtful = true;
  }
  reenter(reader, line);
  return true;
}

/* ---- events ---- */

static inline void read_allocation(struct memtrace_reader *reader, struct line *line, uint32_t id,
                                   struct memtrace_event *event) {
  struct memtrace_allocation allocation = memtrace_allocation_read(&line->bytes, id);
  event->kind = MEMTRACE_ALLOCATION;
  event->block = line->next_block++;
  event->length = (uint64_t)allocation.length;
  event->samples = (uint64_t)allocation.samples;
  event->source = (enum memtrace_source)allocation.source;
  if (line->stacks) {
    memtrace_stack_decode(line->stacks, &line->bytes, &allocation, &event->stack);
  } else {
    memtrace_pass_codewords(&line->bytes, allocation.codewords);
    event->stack = (struct memtrace_stack){.lost = true};
  }
  reader->loss.stacks_lost += event->stack.lost;
}

static inline void reader_read_event(struct memtrace_reader *reader, struct line *line,
                                     struct memtrace_event *event) {
  uint32_t word = (uint32_t)memtrace_unsigned(&line->bytes, 4), id = word >> MEMTRACE_TIME_BITS;
  uint64_t begin_us = reader->index.info.begin_us, time_us = reader->entries[0].time_us;
  reader->loss.times_raised += time_us != memtrace_time(line->header.begin_us, word);
  line->last_us = time_us;
  event->time_us = time_us > begin_us ? time_us - begin_us : 0;
  event->domain = line->domain->id;
  event->domain_number = (uint32_t)(line - reader->lines);
  if (memtrace_is_allocation(id)) {
    read_allocation(reader, line, id, event);
  } else {
    event->kind = id == MEMTRACE_ID_PROMOTION ? MEMTRACE_PROMOTION : MEMTRACE_COLLECTION;
    event->block = line->next_block - 1 - (uint64_t)memtrace_variable(&line->bytes);
  }
}

/* Enters all domains that have events. */
static bool reader_begin(struct memtrace_reader *reader) {
  const struct memtrace_index *index = &reader->index;
  reader->lines = calloc((size_t)index->domain_count + 1, sizeof *reader->lines);
  reader->entries = calloc((size_t)index->domain_count + 1, sizeof *reader->entries);
  if (!reader->lines || !reader->entries) return false;
  for (uint32_t i = 0; i < index->domain_count; i++) {
    const struct memtrace_domain *domain = &index->domains[i];
    reader->lines[i] = (struct line){.domain = domain, .next = domain->first};
    if (domain->first)
      reader->entries[reader->entry_count++] = (struct entry){index->packets[domain->first].begin_us, i};
  }
  qsort(reader->entries, reader->entry_count, sizeof *reader->entries, reader_by_time);
  reader->loss = index->loss;
  return true;
}

static int reader_by_begin(const void *one, const void *other) {
  const struct memtrace_begin *left = one, *right = other;
  if (left->time_us != right->time_us) return left->time_us < right->time_us ? -1 : 1;
  return left->first_block < right->first_block ? -1 : left->first_block > right->first_block;
}

/* ---- shared ---- */

wn_status memtrace_reader_open(const char *path, struct memtrace_reader **out) {
  struct memtrace_reader *reader = calloc(1, sizeof *reader);
  if (!reader) return error_set(WN_ENOMEM, "%s: not enough memory to read it", path);
  wn_status error = memtrace_index_create(&reader->index, path);
  if (error) return free(reader), error;
  if (!reader_begin(reader)) {
    memtrace_reader_close(reader);
    return error_set(WN_ENOMEM, "%s: not enough memory to read it", path);
  }
  *out = reader;
  return WN_OK;
}

void memtrace_reader_close(struct memtrace_reader *reader) {
  for (uint32_t i = 0; reader->lines && i < reader->index.domain_count; i++)
    reader_end_line(reader, &reader->lines[i]);
  free(reader->lines);
  free(reader->entries);
  memtrace_index_destroy(&reader->index);
  free(reader);
}

bool memtrace_reader_next(struct memtrace_reader *reader, struct memtrace_event *event) {
  if (reader->delivered) reenter(reader, &reader->lines[reader->entries[0].line]);
  reader->delivered = false;
  while (reader->entry_count && !reader->loss.out_of_memory) {
    struct line *line = &reader->lines[reader->entries[0].line];
    if (line->loaded) {
      reader_read_event(reader, line, event);
      return reader->delivered = true;
    }
    reader->loss.out_of_memory = !reader_load(reader, line);
  }
  memtrace_index_end_file(&reader->index);
  return false;
}

const struct memtrace_info *memtrace_reader_info(const struct memtrace_reader *reader) {
  return &reader->index.info;
}

const struct memtrace_names *memtrace_reader_names(const struct memtrace_reader *reader) {
  return &reader->index.names;
}

uint32_t memtrace_reader_domains(const struct memtrace_reader *reader) { return reader->index.domain_count; }

struct memtrace_begin *memtrace_reader_begins(const struct memtrace_reader *reader, uint32_t *count) {
  const struct memtrace_index *index = &reader->index;
  struct memtrace_begin *begins = calloc((size_t)index->domain_count + 1, sizeof *begins);
  *count = 0;
  for (uint32_t i = 0; begins && i < index->domain_count; i++) {
    const struct memtrace_domain *domain = &index->domains[i];
    if (!domain->first) continue;
    begins[(*count)++] = (struct memtrace_begin){.time_us = index->packets[domain->first].begin_us,
                                                 .first_block = domain->first_block,
                                                 .number = i,
                                                 .id = domain->id};
  }
  if (begins) qsort(begins, *count, sizeof *begins, reader_by_begin);
  return begins;
}

const struct memtrace_loss *memtrace_reader_loss(const struct memtrace_reader *reader) {
  return &reader->loss;
}

double memtrace_reader_position(const struct memtrace_reader *reader) {
  return reader->index.size ? (double)reader->bytes_done / (double)reader->index.size : 1;
}
/* SPDX-License-Identifier: MIT */
