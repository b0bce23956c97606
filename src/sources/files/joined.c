/* Reads the parts one after another, and gives what they tell common numbers and a common clock. */
#include "sources/files/joined.h"

#include "base/error.h"
#include "base/hash.h"
#include "sources/files/joined_stacks.h"
#include "sources/files/open.h"
#include "sources/modules.h"
#include "trace/dropped.h"
#include "trace/stack_table.h"
#include <stdlib.h>
#include <sys/stat.h>

enum { RUN_TEXTS = 8, OWNER_BITS = 32 };

struct part {
  char *path;
  struct source_process process;
  char *texts;   /* of the run */
  double before; /* bytes of the files before this one */
  double bytes;
  struct source *source;      /* open while the part is read, or until the end; or NULL */
  struct trace_damage damage; /* of a part that was read */
  bool has_places;            /* of a language, or names of code in no module */
};

struct joined {
  struct source source;
  struct part *parts; /* in the order of their starts */
  uint32_t count, at; /* at: the part that is read */
  double all_bytes;
  enum source_heap heap;
  struct joined_stacks stacks;
  struct joined_numbers numbers; /* of the part that is read */
  struct trace_run run;
  double rate;
  uint64_t seed;
  struct trace_damage damage;
  bool out_of_memory;
};

static struct joined *joined_of(const struct source *source) { return (struct joined *)(uintptr_t)source; }

/* ---- parts ---- */

static void list_texts(struct trace_run *run, struct trace_text *texts[RUN_TEXTS]) {
  struct trace_text *all[RUN_TEXTS] = {&run->command, &run->host,  &run->heap, &run->version,
                                       &run->context, &run->title, &run->name, &run->writer};
  memcpy(texts, all, sizeof all);
}

/* Copies the run of a part with its texts. False: not enough memory, and the part keeps what it has. */
static bool copy_run(struct part *part, const struct trace_run *run) {
  struct trace_run copy = *run;
  struct trace_text *texts[RUN_TEXTS];
  size_t bytes = 0;
  list_texts(&copy, texts);
  for (int i = 0; i < RUN_TEXTS; i++) bytes += (size_t)texts[i]->length + 1;
  char *room = malloc(bytes), *at = room;
  if (!room) return false;
  for (int i = 0; i < RUN_TEXTS; i++) {
    if (texts[i]->length) memcpy(at, texts[i]->bytes, texts[i]->length);
    at[texts[i]->length] = 0;
    texts[i]->bytes = at;
    at += texts[i]->length + 1;
  }
  free(part->texts);
  part->texts = room;
  part->process.run = copy;
  return true;
}

static wn_status open_part(struct part *part, const struct joined_part *from, enum source_heap *heap) {
  struct source *source;
  struct stat found;
  wn_status error = source_open(from->path, &source);
  if (error) return error;
  *heap = source_heap(source);
  part->path = strdup(from->path);
  part->process.writing = from->writing;
  part->bytes = stat(from->path, &found) ? 1 : (double)found.st_size + 1;
  if (!part->path || !copy_run(part, source_run(source)))
    error = error_set(WN_ENOMEM, "%s: not enough memory to read it", from->name);
  source_close(source);
  return error;
}

static int by_start(const void *a, const void *b) {
  const struct trace_run *one = &((const struct part *)a)->process.run,
                         *other = &((const struct part *)b)->process.run;
  if (one->wall_ns != other->wall_ns) return one->wall_ns < other->wall_ns ? -1 : 1;
  if (one->monotonic_ns != other->monotonic_ns) return one->monotonic_ns < other->monotonic_ns ? -1 : 1;
  return (one->pid > other->pid) - (one->pid < other->pid);
}

/* Orders the parts, and computes what depends on all of them. */
static void complete_parts(struct joined *joined) {
  qsort(joined->parts, joined->count, sizeof *joined->parts, by_start);
  joined->rate = joined->parts->process.run.rate;
  for (uint32_t i = 0; i < joined->count; i++) {
    struct part *part = &joined->parts[i];
    const struct trace_run *run = &part->process.run;
    part->process.begin_ns = part->process.end_ns = run->wall_ns - joined->parts->process.run.wall_ns;
    part->before = joined->all_bytes;
    joined->all_bytes += part->bytes;
    if (run->rate > 0 && (run->rate < joined->rate || !(joined->rate > 0))) joined->rate = run->rate;
    joined->seed = i ? hash_combine(joined->seed, hash_combine(run->seed, run->pid)) : run->seed;
  }
}

/* A file that is gone since it was opened counts as damaged. */
static bool begin_part(struct part *part) {
  if (!part->source && source_open(part->path, &part->source)) part->source = NULL;
  if (!part->source) part->damage = (struct trace_damage){.chunks_damaged = 1};
  return part->source;
}

/* Without memory for the last title the process keeps its first one. */
static void end_part(struct joined *joined, struct part *part) {
  joined_numbers_destroy(&joined->numbers);
  joined->at++;
  if (!part->source) return;
  part->damage = *source_damage(part->source);
  copy_run(part, source_run(part->source));
  release_of_program(part->source, part->process.release);
  if (part->has_places) return;
  source_close(part->source);
  part->source = NULL;
}

static void note_places(struct joined *joined, struct part *part) {
  for (size_t i = joined->stacks.module_count; i && !part->has_places; i--) {
    const struct joined_module *module = &joined->stacks.modules[i - 1];
    part->has_places = trace_is_language(&module->module) && &joined->parts[module->source] == part;
  }
}

/* ---- events ---- */

static bool join_stack(struct joined *joined, const struct part *part, uint32_t *stack) {
  return joined_stack(&joined->stacks, &joined->numbers, part->source, joined->at, stack);
}

static void keep_end(struct part *part, const struct trace_end *end) {
  part->process.ended = true;
  part->process.end = *end;
}

static void joined_keep_exec(struct part *part, const struct trace_exec *exec) {
  free(part->process.became);
  part->process.became = exec->path.length ? strdup(exec->path.bytes) : NULL;
}

/* Gives an event common numbers and the common time. False: it is no event of the joined source, or
 * there is not enough memory. */
static bool join_event(struct joined *joined, struct part *part, struct trace_event *event) {
  uint32_t count = joined->count, at = joined->at;
  bool done = true;
  event->at.time_ns += part->process.begin_ns;
  event->at.thread = event->at.thread * count + at;
  if (event->at.time_ns > part->process.end_ns) part->process.end_ns = event->at.time_ns;
  switch (event->kind) {
  case TRACE_SAMPLE:
    event->sample.block = event->sample.block * count + at;
    done = join_stack(joined, part, &event->sample.stack);
    break;
  case TRACE_RESIZE:
    event->resize.block = event->resize.block * count + at;
    done = join_stack(joined, part, &event->resize.stack);
    break;
  case TRACE_MAP:
    event->map.mapping = event->map.mapping * count + at;
    done = join_stack(joined, part, &event->map.stack);
    break;
  case TRACE_FREE: event->free.block = event->free.block * count + at; return true;
  case TRACE_PROMOTE: event->promote.block = event->promote.block * count + at; return true;
  case TRACE_TYPE:
    event->type.block = event->type.block * count + at;
    event->type.type = event->type.type * count + at;
    return true;
  case TRACE_TYPE_NAME: event->type_name.type = event->type_name.type * count + at; return true;
  case TRACE_MAP_SIZE: event->map_size.mapping = event->map_size.mapping * count + at; return true;
  case TRACE_MAP_TOUCHED: event->map_touched.mapping = event->map_touched.mapping * count + at; return true;
  case TRACE_THREAD_NAME:
  case TRACE_RATE:
  case TRACE_GROUP:
  case TRACE_MEMORY: return true;
  case TRACE_CODE: part->has_places = true; return false;
  case TRACE_END: keep_end(part, &event->end); return false;
  case TRACE_EXEC: joined_keep_exec(part, &event->exec); return false;
  /* Of one process, or of a collected heap; the compiler asks for each new kind whether it is joined. */
  case TRACE_UNMAP:
  case TRACE_LOSS:
  case TRACE_DROPPED:
  case TRACE_REPLACES:
  case TRACE_TITLE:
  case TRACE_UNRECORDED:
  case TRACE_COLLECTION:
  case TRACE_PAUSE:
  case TRACE_DOMAIN: return false;
  }
  if (!done) joined->out_of_memory = true;
  return done;
}

/* ---- the source ---- */

static void close_joined(struct source *source) {
  struct joined *joined = joined_of(source);
  for (uint32_t i = 0; i < joined->count; i++) {
    struct part *part = &joined->parts[i];
    if (part->source) source_close(part->source);
    free(part->path);
    free(part->texts);
    free(part->process.became);
  }
  free(joined->parts);
  joined_numbers_destroy(&joined->numbers);
  joined_stacks_destroy(&joined->stacks);
  free(joined);
}

static bool joined_next(struct source *source, struct trace_event *event) {
  struct joined *joined = joined_of(source);
  while (joined->at < joined->count && !joined->out_of_memory) {
    struct part *part = &joined->parts[joined->at];
    if (begin_part(part) && source_next(part->source, event)) {
      if (join_event(joined, part, event)) return true;
    } else {
      note_places(joined, part);
      end_part(joined, part);
    }
  }
  return false;
}

static const struct trace_run *joined_run(const struct source *source) {
  struct joined *joined = joined_of(source);
  joined->run = joined->parts->process.run;
  joined->run.rate = joined->rate;
  joined->run.seed = joined->seed;
  return &joined->run;
}

static enum source_heap joined_heap(const struct source *source) { return joined_of(source)->heap; }

static void add_dropped(struct trace_damage *sum, const struct trace_damage *damage, uint64_t begin_ns) {
  for (uint32_t i = 0; i < damage->dropped.count; i++)
    trace_times_add(&sum->dropped, begin_ns + damage->dropped.of[i].from_ns,
                    begin_ns + damage->dropped.of[i].until_ns);
  sum->chunks_dropped += damage->chunks_dropped;
  sum->lacks_history |= damage->lacks_history;
}

static void add_damage(struct trace_damage *sum, const struct trace_damage *damage) {
  sum->chunks_read += damage->chunks_read;
  sum->chunks_damaged += damage->chunks_damaged;
  sum->bytes_skipped += damage->bytes_skipped;
  sum->records_unknown += damage->records_unknown;
  sum->records_lost += damage->records_lost;
  sum->stacks_lost += damage->stacks_lost;
  sum->thinned |= damage->thinned;
  sum->times_raised += damage->times_raised;
  if (damage->loss_cause) sum->loss_cause = damage->loss_cause;
  sum->complete = sum->complete && damage->complete;
  sum->out_of_memory = sum->out_of_memory || damage->out_of_memory;
}

static const struct trace_damage *joined_damage_of(const struct source *source) {
  struct joined *joined = joined_of(source);
  joined->damage = (struct trace_damage){.complete = true, .out_of_memory = joined->out_of_memory};
  for (uint32_t i = 0; i < joined->count; i++) {
    const struct part *part = &joined->parts[i];
    const struct trace_damage *damage =
        i == joined->at && part->source ? source_damage(part->source) : &part->damage;
    add_damage(&joined->damage, damage);
    add_dropped(&joined->damage, damage, part->process.begin_ns);
  }
  return &joined->damage;
}

static uint32_t joined_stack_count(const struct source *source) {
  return (uint32_t)joined_of(source)->stacks.node_count;
}
static struct trace_node stack_joined(const struct source *source, uint32_t number) {
  return joined_of(source)->stacks.nodes[number - 1];
}
static uint32_t joined_module_count(const struct source *source) {
  return (uint32_t)joined_of(source)->stacks.module_count;
}
static const struct trace_module *module_joined(const struct source *source, uint32_t number) {
  return &joined_of(source)->stacks.modules[number - 1].module;
}

static bool is_same_text(const struct trace_text *one, const struct trace_text *other) {
  return one->length == other->length && !memcmp(one->bytes, other->bytes, one->length);
}

/* The name of an address in no module, if all processes that name it agree. */
static bool name_address(const struct joined *joined, uint64_t address, struct trace_place *out) {
  struct trace_place found;
  bool named = false;
  for (uint32_t i = 0; i < joined->count; i++) {
    const struct source *part = joined->parts[i].has_places ? joined->parts[i].source : NULL;
    if (!part || !source_place(part, 0, address, &found)) continue;
    if (named && !is_same_text(&found.function, &out->function)) return false;
    *out = found;
    named = true;
  }
  return named;
}

/* An owner (OWNERS of stack_table.h) that is not the first one of its address: its offset has the
 * process, too. */
static bool name_owner(const struct joined *joined, uint64_t offset, struct trace_place *out) {
  uint64_t process = (offset & ~CODE_OWNER_BASE) >> OWNER_BITS;
  const struct source *part = process < joined->count ? joined->parts[process].source : NULL;
  return part && source_place(part, 0, offset - (process << OWNER_BITS), out);
}

static bool joined_place(const struct source *source, uint32_t number, uint64_t offset,
                         struct trace_place *out) {
  if (!number && offset >= CODE_OWNER_BASE) return name_owner(joined_of(source), offset, out);
  if (!number) return name_address(joined_of(source), offset, out);
  const struct joined_module *module = &joined_of(source)->stacks.modules[number - 1];
  const struct part *part = &joined_of(source)->parts[module->source];
  return trace_is_language(&module->module) && part->source &&
         source_place(part->source, module->local, offset, out);
}

/* The source of a process, and the node there as far as it may be code that the process made. NULL:
 * it is not. */
static struct source *joined_localize(struct joined *joined, uint32_t process, struct trace_node *node) {
  struct source *part = joined->parts[process].has_places ? joined->parts[process].source : NULL;
  if (!part || !node->module) return part;
  const struct joined_module *module = &joined->stacks.modules[node->module - 1];
  if (module->source != process || !trace_is_language(&module->module)) return NULL;
  node->module = module->local;
  return part;
}

static bool joined_is_reused(struct source *source, const struct trace_node *node) {
  struct joined *joined = joined_of(source);
  uint32_t from = node->module ? joined->stacks.modules[node->module - 1].source : 0,
           end = node->module ? from + 1 : joined->count;
  for (uint32_t i = from; i < end; i++) {
    struct trace_node local = *node;
    struct source *part = joined_localize(joined, i, &local);
    if (part && part->format->is_reused && part->format->is_reused(part, &local)) return true;
  }
  return false;
}

static bool joined_find_owner(struct source *source, uint32_t process, uint64_t time_ns,
                              struct trace_node *node) {
  struct joined *joined = joined_of(source);
  struct trace_node local = *node;
  struct source *part = joined_localize(joined, process, &local);
  if (!part || !part->format->find_owner) return true;
  uint32_t before = local.module;
  if (!part->format->find_owner(part, 0, time_ns - joined->parts[process].process.begin_ns, &local))
    return false;
  node->offset = local.offset;
  if (!local.module && local.offset >= CODE_OWNER_BASE) node->offset |= (uint64_t)process << OWNER_BITS;
  if (local.module == before) return true;
  node->module =
      local.module ? joined_module(&joined->stacks, source_module(part, local.module), process, local.module)
                   : 0;
  return node->module || !local.module;
}

static uint32_t joined_add_node(struct source *source, struct trace_node node) {
  return joined_node(&joined_of(source)->stacks, &node);
}

static double joined_position(const struct source *source) {
  const struct joined *joined = joined_of(source);
  if (joined->at == joined->count) return 1;
  const struct part *part = &joined->parts[joined->at];
  return (part->before + (part->source ? source_position(part->source) * part->bytes : 0)) /
         joined->all_bytes;
}

static uint32_t joined_process_count(const struct source *source) { return joined_of(source)->count; }
static const struct source_process *joined_process(const struct source *source, uint32_t index) {
  return &joined_of(source)->parts[index].process;
}

static const struct source_format format = {.close = close_joined,
                                            .next = joined_next,
                                            .run = joined_run,
                                            .heap = joined_heap,
                                            .damage = joined_damage_of,
                                            .stack_count = joined_stack_count,
                                            .stack = stack_joined,
                                            .module_count = joined_module_count,
                                            .module = module_joined,
                                            .place = joined_place,
                                            .is_reused = joined_is_reused,
                                            .find_owner = joined_find_owner,
                                            .add_node = joined_add_node,
                                            .position = joined_position,
                                            .process_count = joined_process_count,
                                            .process = joined_process};

/* ---- shared ---- */

wn_status joined_open(const struct joined_part *parts, size_t count, struct source **source) {
  struct joined *joined = calloc(1, sizeof *joined);
  if (joined) joined->parts = calloc(count + 1, sizeof *joined->parts);
  if (!joined || !joined->parts) {
    free(joined);
    return error_set(WN_ENOMEM, "not enough memory to read the traces");
  }
  joined->source.format = &format;
  wn_status error = WN_OK;
  for (size_t i = 0; i < count && !error; i++)
    if (parts[i].selected) error = open_part(&joined->parts[joined->count++], &parts[i], &joined->heap);
  if (error) return close_joined(&joined->source), error;
  complete_parts(joined);
  *source = &joined->source;
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
