/* Writes the trace of a made-up server, for tests of the page; always the same.
 *
 *   make_shop TRACE [WORD...]
 *     few, none    40 samples, or none at all, in place of 6,000
 *     collected    it has a collected heap
 *     hostile      functions and a command line that would break out of a page
 *     deep         a recursion of 1,000 levels
 *     partial      records are missing, and the end
 *     unwritten    less is resident than is held
 *     2, 3 ...     the process of that number, beside the one without a number
 *
 * The sampler's part is played here: each block in the list is sampled, and its size says how many it
 * stands for. */
#include "analysis/load/estimate.h"
#include "base/words.h"
#include "support/tree_source.h"
#include "trace/finish.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MOST = 1100, SHOP_MODULES = 16, MEMORIES = 240, COLLECTIONS = 90, PAUSES = 300 };
#define RUN_NS 412e9
#define RATE   1e-4

/* ---- functions ---- */

/* Functions with their modules, the outermost first. */
struct kind {
  const char *stack;
  double part, size, life_s;
  bool stays;
};

#define SERVE  "main@server > Server::run@server > Server::loop@server > "
#define HANDLE SERVE "Http::Connection::handle@server > "
#define BODY   HANDLE "Http::Parser::parse_body@server > json_parse@libjson.so.5 > "
#define STEP   HANDLE "Db::query@server > sqlite3_step@libsqlite3.so.0 > sqlite3VdbeExec@libsqlite3.so.0 > "
#define RENDER HANDLE "Template::render@server > "
#define CACHE  SERVE "Cache::get_or_fill@server > Cache::insert@server > "
#define INDEX  "start_thread@libc.so.6 > Indexer::run@server > "

static const struct kind usual[] = {
    {HANDLE "Http::Parser::parse_headers@server > Buffer::append@server", 18, 400, 0.002, false},
    {BODY "json_object_new@libjson.so.5", 14, 96, 0.08, false},
    {BODY "json_parse@libjson.so.5 > json_array_grow@libjson.so.5", 7, 2100, 0.05, false},
    {STEP "pcache1Alloc@libsqlite3.so.0", 10, 4360, 90, true},
    {HANDLE "Db::query@server > Row::decode@server", 12, 220, 0.4, false},
    {STEP "sqlite3VdbeSorterWrite@libsqlite3.so.0", 6, 65536, 2, false},
    {CACHE "std::_Hashtable<std::string, std::shared_ptr<Session>>::_M_rehash(unsigned long)@server", 5,
     131072, 60, true},
    {CACHE "Session::create@server", 9, 1240, 240, true},
    {RENDER "Template::render@server > Template::render@server > Buffer::append@server", 11, 830, 0.01,
     false},
    {RENDER "regexec@libc.so.6 > re_search_internal@libc.so.6", 3, 3000, 0.0004, false},
    {SERVE "Log::write@server > vasprintf@libc.so.6", 4, 180, 0.00005, false},
    {INDEX "Indexer::merge@server > Segment::load@server", 8, 1048576, 20, false},
    {INDEX "Tokenizer::next@server > icu_normalize@libicu.so.72", 6, 64, 0.001, false},
    {"main@server > Config::load@server > yaml_parse@libyaml.so.0", 0.7, 3200, 400, true},
    {"main@server > tls_init@libssl.so.3 > CRYPTO_zalloc@libcrypto.so.3", 0.5, 900, 400, true},
};

static const struct kind hostile[] = {
    {"main@server > </script><img src=x onerror=alert(1)>@<b>evil</b>.so > \"quoted\" and 'both'@server", 9,
     700, 3, false},
    {"main@server > \xe2\x80\xae"
     "esrever\xe2\x80\xac \xe2\x81\xa6isolated@server > bell\x07 and\nline@server",
     9, 700, 3, true},
    {"main@server > \xf0\x9f\x98\x80\xe5\x87\xbd\xe6\x95\xb0_\xd8\xa7\xd9\x84@server", 5, 300, 0.1, false},
};

static struct kind deep[] = {{NULL, 30, 700, 30, true}, {NULL, 20, 700, 30, false}};

struct frame {
  char text[256];
  uint32_t parent, module, place;
};
static struct frame frames[FRAMES_MOST]; /* 0: none */
static const char *modules[SHOP_MODULES];
static uint32_t frame_count = 1, module_count = 1;

static uint32_t module_of(const char *name) {
  for (uint32_t i = 1; i < module_count; i++)
    if (!strcmp(modules[i], name)) return i;
  modules[module_count] = name;
  return module_count++;
}

/* The frame of a function below another; a function is one place, wherever it is called. */
static uint32_t frame_below(uint32_t parent, const char *text) {
  uint32_t place = frame_count;
  for (uint32_t i = frame_count; i-- > 1;) {
    if (strcmp(frames[i].text, text) != 0) continue;
    if (frames[i].parent == parent) return i;
    place = frames[i].place;
  }
  if (frame_count == FRAMES_MOST) abort();
  struct frame *frame = &frames[frame_count];
  snprintf(frame->text, sizeof frame->text, "%s", text);
  frame->parent = parent, frame->place = place;
  frame->module = place == frame_count ? module_of(strrchr(frame->text, '@') + 1) : frames[place].module;
  return frame_count++;
}

static uint32_t stack_of(const char *stack) {
  uint32_t frame = 0;
  char text[256];
  for (const char *end; stack; stack = end ? end + 3 : NULL) {
    end = strstr(stack, " > ");
    snprintf(text, sizeof text, "%.*s", end ? (int)(end - stack) : (int)strlen(stack), stack);
    frame = frame_below(frame, text);
  }
  return frame;
}

static uint32_t recursion(unsigned levels, const char *end) {
  uint32_t frame = stack_of("main@server");
  for (unsigned i = 0; i < levels; i++) frame = frame_below(frame, "walk@server");
  return frame_below(frame, end);
}

static void node(void *context, uint32_t number, uint32_t *parent, uint32_t *module, uint64_t *offset) {
  (void)context;
  *parent = frames[number].parent, *module = frames[number].module, *offset = frames[number].place;
}

static void module(void *context, uint32_t number, struct trace_module *out) {
  (void)context;
  *out = (struct trace_module){.base = TRACE_LANGUAGE_BASE, .bias = TRACE_LANGUAGE_BASE, .size = 1 << 20};
  out->path = trace_text_of(modules[number]);
}

static bool place(void *context, uint32_t module, uint64_t offset, struct trace_place *out) {
  (void)context;
  const struct frame *frame = &frames[offset];
  const char *file = !strcmp(modules[module], "server")            ? "src/server.cc"
                     : !strcmp(modules[module], "libjson.so.5")    ? "json_object.c"
                     : !strcmp(modules[module], "libsqlite3.so.0") ? "sqlite3.c"
                                                                   : "";
  *out = (struct trace_place){.function = {frame->text, (uint32_t)(strrchr(frame->text, '@') - frame->text)},
                              .file = trace_text_of(file)};
  if (*file) out->line = 20 + frame->place * 137 % 900, out->first_column = 5, out->last_column = 39;
  return true;
}

/* ---- blocks ---- */

enum happening { BIRTH, PROMOTION, DEATH, MEMORY, COLLECTION, PAUSE };
struct event {
  uint64_t time;
  enum happening what;
  uint64_t number; /* of the block, collection ... */
  uint64_t size;
  uint32_t frame, thread;
  bool major;
};

static struct {
  struct trace_writer *writer;
  struct event *events;
  size_t count;
  double held; /* bytes, as the samples estimate them */
  double most;
  bool collected, unwritten;
} shop;

/* Mulberry32, by Tommy Ettinger, in the public domain. */
static double next_unit(void) {
  static uint32_t state = 20260111;
  uint32_t mixed = (state += 0x6d2b79f5);
  mixed = (mixed ^ mixed >> 15) * (1 | mixed);
  mixed = (mixed + (mixed ^ mixed >> 7) * (61 | mixed)) ^ mixed;
  return (mixed ^ mixed >> 14) / 4294967296.0;
}

static void add(struct event event) { shop.events[shop.count++] = event; }

static void add_block(const struct kind *kinds, const uint32_t *stacks, size_t count, double parts,
                      uint64_t number, double progress) {
  double at = next_unit() * parts;
  size_t which = 0;
  while (which + 1 < count && (at -= kinds[which].part) > 0) which++;
  const struct kind *kind = &kinds[which];
  double spread = next_unit();
  spread += next_unit();
  struct event event = {.what = BIRTH, .number = number, .frame = stacks[which]};
  event.size = (uint64_t)fmax(8, round(kind->size * exp(1.2 * (spread - 1))));
  double born = RUN_NS * fmin(0.999, pow(next_unit(), sin(progress * 9) * 0.25 + 0.7));
  double lives = kind->life_s * 1e9 * -log(1 - next_unit() * 0.9999);
  if (kind->stays && next_unit() < 0.3) lives *= 50;
  bool outside = next_unit() < 0.04;
  bool indexer = !strncmp(kind->stack ? kind->stack : "", INDEX, sizeof INDEX - 1);
  event.thread = indexer ? 5 : 1 + (uint32_t)(next_unit() * 4);
  event.major = shop.collected && (outside || event.size > 2048);
  event.time = (uint64_t)born + 1;
  add(event);
  if (shop.collected && !event.major && lives > 0.1e9 && born + 0.1e9 < RUN_NS) {
    event.what = PROMOTION, event.time = (uint64_t)(born + 0.1e9);
    add(event);
  }
  if (born + lives >= RUN_NS) return;
  event.what = DEATH, event.time = (uint64_t)(born + lives) + 1;
  add(event);
}

static int by_time(const void *a, const void *b) {
  const struct event *one = a, *other = b;
  if (one->time != other->time) return one->time < other->time ? -1 : 1;
  return one->number != other->number ? (one->number < other->number ? -1 : 1)
                                      : (int)one->what - (int)other->what;
}

/* ---- what the process and its heap tell ---- */

enum { ARENAS = 15000000, TOLD_FREE = 5000000 };

/* Resident memory goes back slowly. malloc answers, and each 40th time mappings are measured. */
static void write_memory(const struct event *event) {
  struct trace_memory memory = {.time_ns = event->time, .thread = 1};
  shop.most = fmax(shop.most * 0.998, shop.held * (shop.unwritten ? 0.5 : 1.05));
  memory.rss_bytes = (uint64_t)(shop.most + (shop.unwritten ? 1e6 : ARENAS + 9.4e6 + TOLD_FREE));
  memory.private_bytes = memory.rss_bytes > 9400000 ? memory.rss_bytes - 9400000 : memory.rss_bytes / 2;
  memory.complete = 1;
  if (!shop.unwritten && !shop.collected) {
    memory.asked = TRACE_GLIBC;
    memory.in_use_bytes = (uint64_t)(shop.held * 1.02);
    memory.free_bytes = (uint64_t)(shop.most - shop.held * 1.02) + TOLD_FREE - 1000000;
  }
  if (event->number % 40 == 0 && !shop.unwritten)
    for (uint64_t mapping = 1; mapping <= 2; mapping++)
      trace_write_map_touched(shop.writer, &(struct trace_map_touched){.time_ns = event->time,
                                                                       .thread = 1,
                                                                       .mapping = mapping,
                                                                       .bytes = mapping > 1 ? 4096 : ARENAS});
  trace_write_memory(shop.writer, &memory);
}

static void write_mappings(void) {
  static const char *const mappers[] = {
      "main@server > pool_grow@server > arena_new@server > arena_map@server",
      "main@server > ring_open@server"};
  if (shop.unwritten) return;
  for (uint64_t i = 0; i < 2; i++)
    tree_write_map(shop.writer, &(struct trace_map){.time_ns = 1,
                                                    .thread = 1,
                                                    .stack = stack_of(mappers[i]),
                                                    .mapping = i + 1,
                                                    .kind = TRACE_MAP_ANONYMOUS,
                                                    .bytes = i ? 2000000 : 28000000});
}

/* Each ninth collection is the end of a major cycle. */
static void write_collection(const struct event *event) {
  uint64_t n = event->number;
  struct trace_collection now = {.time_ns = event->time, .thread = 1, .ns = 1000000, .domains = 1};
  now.kind = !n ? TRACE_COLLECTION_NONE : n % 9 ? TRACE_COLLECTION_MINOR : TRACE_COLLECTION_MAJOR;
  now.minor_words = n * 158000, now.promoted_words = n * 30000;
  now.minor_collections = n, now.major_cycles = n / 9;
  now.heap_words = 25000000, now.live_words = n < 9 ? 0 : 20000000;
  trace_write_collection(shop.writer, &now);
}

static void write_pause(const struct event *event) {
  static uint64_t counts[TRACE_PAUSES], totals[TRACE_PAUSES];
  struct trace_pause pause = {.time_ns = event->time, .thread = 1};
  pause.kind = event->number % 3 ? TRACE_PAUSE_SLICE : TRACE_PAUSE_MINOR;
  pause.ns = event->number == 120 ? 14000000 : 110000 * (1 + event->number * 7919 % 23);
  pause.count = ++counts[pause.kind];
  pause.total_ns = totals[pause.kind] += pause.ns;
  trace_write_pause(shop.writer, &pause);
}

static void write_event(const struct event *event) {
  double stands_for = (double)event->size / inclusion_probability(RATE, malloc_words(event->size));
  struct trace_sample sample = {.time_ns = event->time,
                                .thread = event->thread,
                                .stack = event->frame,
                                .block = event->number,
                                .size = event->size,
                                .words = malloc_words(event->size),
                                .n_samples = 1,
                                .major = event->major};
  switch (event->what) {
  case BIRTH:
    shop.held += stands_for;
    if (!tree_write_sample(shop.writer, &sample)) exit(1);
    return;
  case DEATH:
    shop.held -= stands_for;
    trace_write_free(
        shop.writer,
        &(struct trace_free){.time_ns = event->time, .thread = event->thread, .block = event->number});
    return;
  case PROMOTION:
    trace_write_promote(
        shop.writer,
        &(struct trace_promote){.time_ns = event->time, .thread = event->thread, .block = event->number});
    return;
  case MEMORY: write_memory(event); return;
  case COLLECTION: write_collection(event); return;
  case PAUSE: write_pause(event);
  }
}

static void add_series(enum happening what, uint64_t count, double first) {
  for (uint64_t i = 0; i < count; i++)
    add((struct event){
        .what = what, .number = i, .time = (uint64_t)(RUN_NS * ((double)i + first) / (double)count) + 2});
}

/* ---- the run ---- */

struct asked {
  uint64_t samples, process;
  bool hostile, deep, partial;
};

static struct asked read_words(char **words) {
  struct asked asked = {.samples = 6000, .process = 0};
  for (; *words; words++) {
    if (!strcmp(*words, "few"))
      asked.samples = 40;
    else if (!strcmp(*words, "none"))
      asked.samples = 0;
    else if (!strcmp(*words, "collected"))
      shop.collected = true;
    else if (!strcmp(*words, "hostile"))
      asked.hostile = true;
    else if (!strcmp(*words, "deep"))
      asked.deep = true;
    else if (!strcmp(*words, "partial"))
      asked.partial = true;
    else if (!strcmp(*words, "unwritten"))
      shop.unwritten = true;
    else
      asked.process = strtoull(*words, NULL, 10);
  }
  return asked;
}

static void add_blocks(const struct asked *asked) {
  struct kind kinds[sizeof usual / sizeof *usual + sizeof hostile / sizeof *hostile];
  uint32_t stacks[sizeof kinds / sizeof *kinds];
  size_t count = 0, most = asked->hostile ? 4 : sizeof usual / sizeof *usual;
  double parts = 0;
  if (asked->deep) {
    stacks[0] = recursion(1000, "tool::std::map<std::string, int>::insert@server");
    stacks[1] = recursion(500, "tool::release@libc.so.6");
    memcpy(kinds, deep, sizeof deep), count = 2;
  }
  for (size_t i = 0; !asked->deep && i < most; i++) kinds[count++] = usual[i];
  for (size_t i = 0; asked->hostile && i < sizeof hostile / sizeof *hostile; i++) kinds[count++] = hostile[i];
  for (size_t i = 0; i < count; i++) {
    parts += kinds[i].part;
    if (kinds[i].stack) stacks[i] = stack_of(kinds[i].stack);
  }
  for (uint64_t i = 0; i < asked->samples; i++)
    add_block(kinds, stacks, count, parts, i + 1, (double)i / (double)asked->samples);
}

static void write_all(const struct asked *asked) {
  static const char *const names[] = {"worker 1", "worker 2", "worker 3", "worker 4", "indexer"};
  for (uint32_t i = 0; i < 5; i++)
    trace_write_thread_name(shop.writer, &(struct trace_thread_name){
                                             .time_ns = 1, .thread = i + 1, .name = trace_text_of(names[i])});
  if (asked->samples) write_mappings();
  if (shop.collected) trace_write_domain(shop.writer, &(struct trace_domain){.what = TRACE_DOMAIN_BEGINS});
  for (size_t i = 0; i < shop.count; i++) write_event(&shop.events[i]);
  if (asked->partial)
    trace_write_loss(shop.writer, &(struct trace_loss){.time_ns = (uint64_t)RUN_NS,
                                                       .thread = 1,
                                                       .reason = TRACE_LOSS_SPACE,
                                                       .count = 218,
                                                       .cause = TRACE_CAUSE_DISK});
  else
    trace_write_end(shop.writer, &(struct trace_end){.time_ns = (uint64_t)RUN_NS, .kind = TRACE_END_EXIT});
}

int main(int argc, char **argv) {
  if (argc < 2) return fprintf(stderr, "usage: make_shop TRACE [WORD...]\n"), 2;
  struct asked asked = read_words(argv + 2);
  static const char command[] = "/usr/local/bin/shopserver\0--port\08080\0--workers\04";
  static const char breaks_out[] = "/opt/</title><script>x\0--name\0\xe2\x80\xaegpj.exe";
  struct tree_source source = {.node = node, .module = module, .place = place};
  struct trace_options options = {.path = argv[1]};
  struct trace_run run = {
      .command = {asked.hostile ? breaks_out : command, asked.hostile ? sizeof breaks_out : sizeof command},
      .host = trace_text_of("build-7"),
      .heap = trace_text_of(shop.collected ? "winnow" : "malloc"),
      .pid = (uint32_t)(4711 + asked.process),
      .rate = RATE,
      .word_bytes = 8,
      .stack_depth = 1024,
      .wall_ns = 1780000000000000000u,
  };
  struct trace_totals totals;
  shop.events = calloc(3 * asked.samples + MEMORIES + COLLECTIONS + PAUSES, sizeof *shop.events);
  if (!shop.events || tree_writer_open(&options, &run, &source, &shop.writer))
    return puts(wn_last_error()), 1;
  add_blocks(&asked);
  if (asked.samples) add_series(MEMORY, MEMORIES, 0);
  if (shop.collected) add_series(COLLECTION, COLLECTIONS, 0.5), add_series(PAUSE, PAUSES, 0.5);
  qsort(shop.events, shop.count, sizeof *shop.events, by_time);
  write_all(&asked);
  trace_writer_close(shop.writer);
  free(shop.events);
  return trace_finish(argv[1], &totals) != WN_OK;
}
/* SPDX-License-Identifier: MIT */
