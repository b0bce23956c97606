/* The first pass. */
#include "memtrace/index.h"

#include "base/array.h"
#include "base/error.h"
#include "base/open_file.h"
#include "base/os.h"
#include "base/smaller.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DOMAIN_IDS = 65536, SEARCH_BYTES = 65536, ITEMS_MOST = 1 << 30 };

/* ---- headers ---- */

/* Reads what may be the header of a packet of this trace. */
static bool index_read_header(const struct memtrace_index *index, uint64_t offset,
                              struct memtrace_header *header) {
  unsigned char bytes[MEMTRACE_HEADER_MOST];
  if (offset >= index->size) return false;
  size_t count = os_read_at(index->descriptor, bytes, sizeof bytes, offset);
  return memtrace_header_read(bytes, count, header) && header->version == index->info.version &&
         header->pid == index->info.pid;
}

/* The offset of the first header from `from` on; the end of the file if there is none. */
static uint64_t index_search(const struct memtrace_index *index, uint64_t from,
                             struct memtrace_header *header) {
  static const uint32_t magic = MEMTRACE_MAGIC;
  unsigned char bytes[SEARCH_BYTES];
  while (from < index->size) {
    size_t count = os_read_at(index->descriptor, bytes, sizeof bytes, from);
    const unsigned char *at = bytes, *end = bytes + count;
    while ((at = memmem(at, (size_t)(end - at), &magic, sizeof magic))) {
      uint64_t found = from + (uint64_t)(at - bytes);
      if (index_read_header(index, found, header)) return found;
      at++;
    }
    if (count < sizeof bytes) break;
    from += count - sizeof magic + 1;
  }
  return index->size;
}

static void skip(struct memtrace_index *index, uint64_t bytes) {
  index->loss.bytes_skipped += bytes;
  index->loss.packets_damaged++;
  index->gaps++;
}

/* The bytes of the packet at `offset` that there are: RESYNC. Tells the header that follows it, if one
 * does so directly. */
static uint32_t extent_of(const struct memtrace_index *index, uint64_t offset,
                          const struct memtrace_header *header, struct memtrace_header *next, bool *known) {
  uint64_t end = offset + header->bytes;
  *known = index_read_header(index, end, next);
  if (*known || end == index->size) return header->bytes;
  uint64_t found = index_search(index, offset + header->header_bytes, next);
  *known = found <= end && found < index->size;
  return (uint32_t)smaller(smaller(found, end) - offset, header->bytes);
}

/* ---- domains ---- */

/* The domain with an id, found or added. NULL without memory. */
static struct memtrace_domain *index_domain_of(struct memtrace_index *index, uint16_t id) {
  uint32_t *number = &index->domain_numbers[id];
  if (*number) return &index->domains[*number - 1];
  struct memtrace_domain domain = {.id = id};
  if (!ARRAY_ADD(index->domains, index->domain_count, index->domain_capacity, domain)) return NULL;
  *number = index->domain_count;
  return &index->domains[*number - 1];
}

static bool add_packet(struct memtrace_index *index, struct memtrace_domain *domain,
                       struct memtrace_place place) {
  size_t count = (size_t)index->packet_count + 2; /* packet 0 is none */
  if (count > ITEMS_MOST ||
      !array_reserve(&index->packets, &index->packet_capacity, count, sizeof *index->packets))
    return false;
  uint32_t number = ++index->packet_count;
  index->packets[number] = place;
  if (domain->last) index->packets[domain->last].next = number;
  if (!domain->first) domain->first = number;
  domain->last = number;
  return true;
}

/* ---- locations ---- */

/* Reads all locations of a packet. Where one is damaged, the rest is left out. */
static enum memtrace_reading read_locations(struct memtrace_index *index, struct memtrace_lists *lists,
                                            struct memtrace_bytes *bytes, uint64_t begin_us) {
  const uint32_t expected = (uint32_t)MEMTRACE_ID_LOCATION << MEMTRACE_TIME_BITS |
                            ((uint32_t)begin_us & (((uint32_t)1 << MEMTRACE_TIME_BITS) - 1));
  while (memtrace_left(bytes)) {
    const unsigned char *begin = bytes->at;
    enum memtrace_reading reading = (uint32_t)memtrace_unsigned(bytes, 4) == expected
                                        ? memtrace_location_read(&index->names, lists, bytes)
                                        : MEMTRACE_DAMAGED;
    if (reading == MEMTRACE_READ) continue;
    bytes->at = begin;
    return reading;
  }
  return MEMTRACE_READ;
}

static bool add_locations(struct memtrace_index *index, struct memtrace_domain *domain,
                          const unsigned char *packet, uint32_t there, const struct memtrace_header *header) {
  struct memtrace_bytes bytes = {packet + header->header_bytes, packet + there, false};
  if (!domain->lists) domain->lists = calloc(1, sizeof *domain->lists);
  if (!domain->lists) return false;
  if (domain->gaps != index->gaps) memtrace_lists_lose(domain->lists);
  enum memtrace_reading reading = read_locations(index, domain->lists, &bytes, header->begin_us);
  if (reading == MEMTRACE_NO_MEMORY) return false;
  if (reading == MEMTRACE_DAMAGED || there < header->bytes) {
    skip(index, (uint64_t)(packet + there - bytes.at));
    memtrace_lists_lose(domain->lists);
  } else {
    index->loss.packets++;
  }
  domain->gaps = index->gaps;
  return true;
}

/* A packet without allocations and without a word of the cache may have held locations, if its events
 * cannot be read. */
static bool has_locations(const unsigned char *packet, uint32_t there, const struct memtrace_header *header) {
  struct memtrace_bytes bytes = {packet + header->header_bytes, packet + there, false};
  uint32_t word = (uint32_t)memtrace_unsigned(&bytes, 4);
  if (bytes.bad) return false;
  if (word >> MEMTRACE_TIME_BITS == MEMTRACE_ID_LOCATION) return true;
  return header->verify_slot == MEMTRACE_UNVERIFIED && header->first_block == header->end_block &&
         memtrace_walk(packet, there, header).damaged;
}

/* ---- the pass ---- */

static bool is_info(const unsigned char *packet, uint32_t there, const struct memtrace_header *header) {
  uint32_t word = 1;
  if (there >= header->header_bytes + sizeof word) memcpy(&word, packet + header->header_bytes, sizeof word);
  return word >> MEMTRACE_TIME_BITS == MEMTRACE_ID_INFO && there > header->header_bytes;
}

/* Adds the packet at an offset, of which so many bytes are there. */
static bool add_index(struct memtrace_index *index, uint64_t offset, uint32_t there,
                      const struct memtrace_header *header) {
  unsigned char packet[MEMTRACE_PACKET_MOST];
  bool suspect = header->verify_slot == MEMTRACE_UNVERIFIED && header->first_block == header->end_block;
  size_t wanted = suspect ? there : smaller(there, header->header_bytes + sizeof(uint32_t));
  there = (uint32_t)(os_read_at(index->descriptor, packet, wanted, offset) + there - wanted);
  if (there < header->header_bytes) return true;
  if (!offset && is_info(packet, there, header)) return index->loss.packets++, true;
  struct memtrace_domain *domain = index_domain_of(index, header->domain);
  if (!domain) return false;
  if (suspect && has_locations(packet, there, header))
    return add_locations(index, domain, packet, there, header);
  struct memtrace_place place = {.offset = offset,
                                 .begin_us = smaller(header->begin_us, header->end_us),
                                 .bytes = there,
                                 .gaps = index->gaps};
  if (!domain->first) domain->first_block = header->first_block;
  return add_packet(index, domain, place);
}

static bool add_all(struct memtrace_index *index) {
  struct memtrace_header header, next;
  bool known = index_read_header(index, 0, &header);
  for (uint64_t offset = 0; offset < index->size;) {
    if (!known) {
      uint64_t found = index_search(index, offset + 1, &header);
      skip(index, found - offset);
      offset = found;
      known = offset < index->size;
      continue;
    }
    uint32_t there = extent_of(index, offset, &header, &next, &known);
    if (!add_index(index, offset, there, &header)) return false;
    header = next;
    offset += there;
  }
  return true;
}

/* The first packet's texts and numbers. Tells the version even if it is not known. Its process and its
 * time can be damaged unnoticed, so the second packet must agree with one of the two places that have
 * them. */
static bool index_read_info(struct memtrace_index *index, unsigned *version) {
  struct memtrace_header header, next;
  unsigned char bytes[MEMTRACE_HEADER_MOST];
  index->first_packet = malloc(MEMTRACE_PACKET_MOST);
  if (!index->first_packet) return false;
  size_t there = os_read_at(index->descriptor, index->first_packet, MEMTRACE_PACKET_MOST, 0);
  *version = memtrace_version(index->first_packet, there);
  if (!memtrace_info_read(index->first_packet, there, &index->info) ||
      !memtrace_header_read(index->first_packet, there, &header))
    return false;
  size_t count = os_read_at(index->descriptor, bytes, sizeof bytes, header.bytes);
  bool followed = memtrace_header_read(bytes, count, &next);
  if (!followed || next.pid != index->info.pid) index->info.pid = header.pid;
  if (header.begin_us != header.end_us && followed) index->info.begin_us = next.begin_us;
  return true;
}

static void forget_lists(struct memtrace_index *index) {
  for (uint32_t i = 0; i < index->domain_count; i++) {
    free(index->domains[i].lists);
    index->domains[i].lists = NULL;
  }
}

static wn_status index_fill(struct memtrace_index *index, const char *path) {
  struct stat found;
  if (fstat(index->descriptor, &found)) return error_set(WN_EIO, "cannot read %s: %s", path, strerror(errno));
  index->size = (uint64_t)found.st_size;
  index->domain_numbers = calloc(DOMAIN_IDS, sizeof *index->domain_numbers);
  if (!index->domain_numbers || !memtrace_names_create(&index->names))
    return error_set(WN_ENOMEM, "%s: not enough memory to read it", path);
  unsigned version = 0;
  if (!index_read_info(index, &version))
    return version > MEMTRACE_VERSION
               ? error_set(WN_EFORMAT,
                           "%s is a Memtrace trace of version %u of the format, this winnow reads up to %u; "
                           "update winnow",
                           path, version, MEMTRACE_VERSION)
               : error_set(WN_EFORMAT,
                           "%s is a Memtrace trace, but its first packet, which tells the sampling rate, is "
                           "damaged",
                           path);
  if (!add_all(index)) return error_set(WN_ENOMEM, "%s: not enough memory to read it", path);
  forget_lists(index);
  return WN_OK;
}

/* ---- shared ---- */

wn_status memtrace_index_create(struct memtrace_index *index, const char *path) {
  *index = (struct memtrace_index){.descriptor = open_file(path)};
  if (index->descriptor < 0) return error_set(WN_EIO, "cannot open %s: %s", path, strerror(errno));
  wn_status error = index_fill(index, path);
  if (error) memtrace_index_destroy(index);
  return error;
}

void memtrace_index_end_file(struct memtrace_index *index) {
  if (index->descriptor >= 0) close(index->descriptor);
  index->descriptor = -1;
}

void memtrace_index_destroy(struct memtrace_index *index) {
  forget_lists(index);
  memtrace_names_destroy(&index->names);
  free(index->domain_numbers);
  free(index->domains);
  free(index->packets);
  free(index->first_packet);
  memtrace_index_end_file(index);
}
/* SPDX-License-Identifier: MIT */
