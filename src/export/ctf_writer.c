/* Writes traces in the Common Trace Format. */
#include "export/ctf_writer.h"

#include "base/array.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <winnow/version.h>

enum { PACKET_BYTES = 1 << 18, PACKET_HEAD = 4 + 4 + 5 * 8 };
#define MAGIC 0xc1fc1fc1u

enum event { EVENT_THREAD, EVENT_PLACE, EVENT_ALLOCATE, EVENT_RESIZE, EVENT_PROMOTE, EVENT_DIE };

/* ---- the description ---- */

/* In the order of enum event. The writer below writes the same members in the same order. */
static const char types[] =
    "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
    "typealias integer { size = 64; align = 8; signed = false; map = clock.wall.value; } := time;\n"
    "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := real;\n\n";

static const char structure[] =
    "stream {\n"
    "  id = 0;\n"
    "  packet.context := struct { time timestamp_begin; time timestamp_end; u64 content_size;"
    " u64 packet_size; u64 packet_seq_num; };\n"
    "  event.header := struct { u8 id; time timestamp; };\n"
    "  event.context := struct { u32 thread; };\n"
    "};\n\n"
    "/* The name of the thread in the context. */\n"
    "event { name = \"thread\"; id = 0; stream_id = 0; fields := struct { string name; }; };\n\n"
    "/* A place in the code, of which stacks have the number. */\n"
    "event { name = \"place\"; id = 1; stream_id = 0; fields := struct {\n"
    "  u32 place; string function; string file; u32 line; string module; u8 inlined;\n"
    "}; };\n\n"
    "/* A sampled block is allocated. It stands for `weight` blocks of its size; call = 0: the block is\n"
    "   older, and does not count as allocated here. The stack is innermost first. */\n"
    "event { name = \"allocate\"; id = 2; stream_id = 0; fields := struct {\n"
    "  u64 block; u64 size; real weight; enum : u8 { malloc = 0, minor = 1, major = 2, outside = 3 } area;"
    " u8 call; u32 depth; u32 stack[depth];\n"
    "}; };\n\n"
    "/* The block gets another size and weight. A larger one counts as allocated anew, by the stack. */\n"
    "event { name = \"resize\"; id = 3; stream_id = 0; fields := struct {\n"
    "  u64 block; u64 size; real weight; enum : u8 { malloc = 0, minor = 1, major = 2, outside = 3 } area;"
    " u8 call; u32 depth; u32 stack[depth];\n"
    "}; };\n\n"
    "/* The collector moves the block to the major heap. */\n"
    "event { name = \"promote\"; id = 4; stream_id = 0; fields := struct { u64 block; }; };\n\n"
    "/* The block is freed, or found dead. */\n"
    "event { name = \"die\"; id = 5; stream_id = 0; fields := struct { u64 block; }; };\n";

static void put_quoted(FILE *out, const char *name, const char *text) {
  fprintf(out, "  %s = \"", name);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') fputc('\\', out);
    fputc(*text, out);
  }
  fputs("\";\n", out);
}

/* ---- packets ---- */

static void ctf_writer_put_bytes(struct ctf_writer *writer, const void *bytes, size_t count) {
  writer->failed =
      writer->failed || !array_reserve(&writer->bytes, &writer->capacity, writer->count + count, 1);
  if (writer->failed) return;
  memcpy(writer->bytes + writer->count, bytes, count);
  writer->count += count;
}

static void ctf_writer_put_number(struct ctf_writer *writer, uint64_t number, int bytes) {
  unsigned char text[8];
  for (int i = 0; i < bytes; i++) text[i] = (unsigned char)(number >> (8 * i));
  ctf_writer_put_bytes(writer, text, (size_t)bytes);
}

static void ctf_writer_put_real(struct ctf_writer *writer, double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  ctf_writer_put_number(writer, bits, 8);
}

static void ctf_writer_put_text(struct ctf_writer *writer, const char *text) {
  ctf_writer_put_bytes(writer, text, strlen(text) + 1);
}

/* Writes the head, whose room stands at the start of the bytes, and empties the packet. */
static void complete_packet(struct ctf_writer *writer) {
  size_t count = writer->count;
  if (writer->failed) return;
  writer->count = 0;
  ctf_writer_put_number(writer, MAGIC, 4);
  ctf_writer_put_number(writer, 0, 4);
  ctf_writer_put_number(writer, writer->begin_ns, 8);
  ctf_writer_put_number(writer, writer->end_ns, 8);
  ctf_writer_put_number(writer, 8 * (uint64_t)count, 8);
  ctf_writer_put_number(writer, 8 * (uint64_t)count, 8);
  ctf_writer_put_number(writer, writer->packets++, 8);
  fwrite(writer->bytes, 1, count, writer->out);
  writer->count = 0;
}

static void begin_event(struct ctf_writer *writer, enum event event, uint64_t time_ns, uint32_t thread) {
  static const unsigned char room[PACKET_HEAD];
  if (writer->count >= PACKET_BYTES) complete_packet(writer);
  if (!writer->count) {
    ctf_writer_put_bytes(writer, room, sizeof room);
    writer->begin_ns = time_ns;
  }
  writer->end_ns = time_ns;
  ctf_writer_put_number(writer, event, 1);
  ctf_writer_put_number(writer, time_ns, 8);
  ctf_writer_put_number(writer, thread, 4);
}

static void ctf_writer_put_block(struct ctf_writer *writer, const struct ctf_block *block) {
  ctf_writer_put_number(writer, block->block, 8);
  ctf_writer_put_number(writer, block->size, 8);
  ctf_writer_put_real(writer, block->weight);
  ctf_writer_put_number(writer, block->area, 1);
  ctf_writer_put_number(writer, block->call, 1);
  ctf_writer_put_number(writer, block->depth, 4);
  for (uint32_t i = 0; i < block->depth; i++) ctf_writer_put_number(writer, block->stack[i], 4);
}

/* ---- shared ---- */

void ctf_writer_begin(struct ctf_writer *writer, FILE *out) { *writer = (struct ctf_writer){.out = out}; }

void ctf_writer_end(struct ctf_writer *writer) {
  if (writer->count) complete_packet(writer);
  free(writer->bytes);
  writer->bytes = NULL;
}

void ctf_thread(struct ctf_writer *writer, uint32_t thread, const char *name) {
  begin_event(writer, EVENT_THREAD, 0, thread);
  ctf_writer_put_text(writer, name);
}

void ctf_place(struct ctf_writer *writer, uint64_t time_ns, uint32_t thread, const struct ctf_place *place) {
  begin_event(writer, EVENT_PLACE, time_ns, thread);
  ctf_writer_put_number(writer, place->place, 4);
  ctf_writer_put_text(writer, place->function);
  ctf_writer_put_text(writer, place->file);
  ctf_writer_put_number(writer, place->line, 4);
  ctf_writer_put_text(writer, place->module);
  ctf_writer_put_number(writer, place->inlined, 1);
}

void ctf_allocate(struct ctf_writer *writer, uint64_t time_ns, uint32_t thread,
                  const struct ctf_block *block) {
  begin_event(writer, EVENT_ALLOCATE, time_ns, thread);
  ctf_writer_put_block(writer, block);
}

void ctf_resize(struct ctf_writer *writer, uint64_t time_ns, uint32_t thread, const struct ctf_block *block) {
  begin_event(writer, EVENT_RESIZE, time_ns, thread);
  ctf_writer_put_block(writer, block);
}

void ctf_promote(struct ctf_writer *writer, uint64_t time_ns, uint32_t thread, uint64_t block) {
  begin_event(writer, EVENT_PROMOTE, time_ns, thread);
  ctf_writer_put_number(writer, block, 8);
}

void ctf_die(struct ctf_writer *writer, uint64_t time_ns, uint32_t thread, uint64_t block) {
  begin_event(writer, EVENT_DIE, time_ns, thread);
  ctf_writer_put_number(writer, block, 8);
}

void ctf_describe(FILE *out, const struct ctf_run *run) {
  char rate[32];
  snprintf(rate, sizeof rate, "%g", run->rate);
  fprintf(out, "/* CTF 1.8 */\n\n%s", types);
  fputs("trace {\n  major = 1;\n  minor = 8;\n  byte_order = le;\n"
        "  packet.header := struct { u32 magic; u32 stream_id; };\n};\n\nenv {\n",
        out);
  put_quoted(out, "tracer_name", "winnow");
  put_quoted(out, "tracer_version", wn_version_text());
  put_quoted(out, "hostname", run->host);
  put_quoted(out, "program", run->program);
  fprintf(out, "  pid = %" PRIu64 ";\n", run->pid);
  put_quoted(out, "samples_per_word", rate);
  put_quoted(out, "where", run->where);
  put_quoted(out, "at", run->at);
  fprintf(out,
          "};\n\n/* Nanoseconds since the start of the run; the offset is the time of day then. */\n"
          "clock { name = wall; freq = 1000000000; offset_s = %" PRIu64 "; offset = %" PRIu64 "; };\n\n",
          run->wall_ns / 1000000000, run->wall_ns % 1000000000);
  fputs(structure, out);
}
/* SPDX-License-Identifier: MIT */
