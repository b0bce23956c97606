/* Writes traces in the Common Trace Format, version 1.8 (https://diamon.org/ctf/v1.8.3/): a file
 * of packets with events, and a text that describes them, the metadata.
 *
 * EVENTS. The metadata in ctf_writer.c is their definition. Numbers are little-endian, and
 * everything is aligned to bytes. Events must come in the order of time, a place before the stacks
 * that name it.
 *
 * MEMORY. Without memory `failed` is set, and the files are of no use. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ctf_writer {
  FILE *out;
  unsigned char *bytes; /* the packet so far */
  size_t count, capacity;
  uint64_t begin_ns, end_ns; /* of the events in the packet */
  uint64_t packets;          /* that are complete */
  bool failed;
};

/* What the metadata says of the run; the texts are UTF-8 without control characters. */
struct ctf_run {
  const char *program, *host, *where, *at; /* `where` and `at`: empty if the user gave none */
  uint64_t pid, wall_ns;
  double rate;
};

/* The start of an allocation, or of a life interval with another size. */
struct ctf_block {
  uint64_t block, size;
  double weight;
  uint8_t area;          /* of enum area */
  bool call;             /* it counts as an allocation */
  const uint32_t *stack; /* of places, innermost first */
  uint32_t depth;
};

struct ctf_place {
  uint32_t place, line;
  const char *function, *file, *module;
  bool inlined;
};

void ctf_writer_begin(struct ctf_writer *writer, FILE *out);

/* Completes the last packet. */
void ctf_writer_end(struct ctf_writer *writer);

void ctf_thread(struct ctf_writer *writer, uint32_t thread, const char *name);
void ctf_place(struct ctf_writer *writer, uint64_t time_ns, uint32_t thread, const struct ctf_place *place);
void ctf_allocate(struct ctf_writer *writer, uint64_t time_ns, uint32_t thread,
                  const struct ctf_block *block);
void ctf_resize(struct ctf_writer *writer, uint64_t time_ns, uint32_t thread, const struct ctf_block *block);
void ctf_promote(struct ctf_writer *writer, uint64_t time_ns, uint32_t thread, uint64_t block);
void ctf_die(struct ctf_writer *writer, uint64_t time_ns, uint32_t thread, uint64_t block);

/* Writes the metadata. */
void ctf_describe(FILE *out, const struct ctf_run *run);
/* SPDX-License-Identifier: MIT */
