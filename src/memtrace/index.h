/* Where the packets of a Memtrace file lie, by domain, and what the codes of its stacks stand for: the
 * result of a first pass over the file, which reads the headers of all packets, and all of those that
 * hold locations.
 *
 * RESYNC. A packet that ends where no header begins is too long or too short, or the next header is
 * damaged. Reading goes on at the next bytes that are a plausible header: the magic number, a size that
 * is possible, the version and the process of the first packet. What lies between is skipped. It may
 * have belonged to any domain, so a packet tells how many such gaps were before it. */
#pragma once

#include "memtrace/names.h"
#include <winnow/status.h>

/* A packet with events. */
struct memtrace_place {
  uint64_t offset;
  uint64_t begin_us; /* no event of it is earlier */
  uint32_t bytes;    /* less than its header says: it is cut */
  uint32_t next;     /* packet of the same domain; 0: none */
  uint32_t gaps;     /* RESYNC: before it in the file */
};

struct memtrace_domain {
  uint16_t id;
  uint32_t first, last; /* packets with events; 0: none */
  uint64_t first_block; /* of its first packet */
  /* While indexing. */
  struct memtrace_lists *lists;
  uint32_t gaps; /* before the last packet with locations */
};

/* What is missing. */
struct memtrace_loss {
  uint64_t packets; /* that are whole */
  uint64_t packets_damaged, bytes_skipped;
  uint64_t stacks_lost;
  uint64_t
      times_raised;   /* events whose time was before the one of an earlier event: the clock was set back */
  bool out_of_memory; /* the rest was not read */
};

struct memtrace_index {
  int descriptor;
  uint64_t size; /* of the file, when it was opened */
  struct memtrace_info info;
  unsigned char *first_packet;    /* has the texts of `info` */
  struct memtrace_place *packets; /* [0] is not used */
  uint32_t packet_count;
  size_t packet_capacity;
  struct memtrace_domain *domains; /* in the order of their first packets */
  uint32_t domain_count;
  size_t domain_capacity;
  uint32_t *domain_numbers; /* by id: the index in `domains` plus 1 */
  uint32_t gaps;
  struct memtrace_names names;
  struct memtrace_loss loss;
};

/* Sets wn_last_error on failure; then there is nothing to destroy. */
wn_status memtrace_index_create(struct memtrace_index *index, const char *path);
void memtrace_index_destroy(struct memtrace_index *index);

/* Once all packets were read: the file is not needed any more. */
void memtrace_index_end_file(struct memtrace_index *index);
/* SPDX-License-Identifier: MIT */
