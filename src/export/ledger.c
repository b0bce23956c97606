/* Fills a ledger from reports, and from other ledgers. */
#include "export/ledger.h"

#include "base/array.h"
#include "base/utf8.h"
#include "export/shown.h"
#include "sources/modules.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MOST = 16 << 20, LOCATION_BYTES = 64, STACK_BYTES = 96, NAME_MOST = 2000, TEXT_MOST = 64 << 10 };

#define NOT_THERE UINT32_MAX

/* ---- texts ---- */

/* A text that is put together; cut where the room ends. */
struct text {
  char *bytes;
  size_t used;
};

static void add_field(struct text *text, const char *field) {
  char *at = text->bytes + text->used;
  size_t room = TEXT_MOST - text->used;
  if (room < 2) return;
  snprintf(at, room < NAME_MOST ? room : NAME_MOST, "%s", field);
  utf8_make_plain(at);
  text->used += strlen(at);
  if (text->used + 1 < TEXT_MOST) text->bytes[text->used++] = '\t';
  text->bytes[text->used] = 0;
}

static void ledger_add_number(struct text *text, uint64_t number) {
  char field[32];
  snprintf(field, sizeof field, "%" PRIu64, number);
  add_field(text, field);
}

static void ledger_add_address(struct text *text, uint64_t address) {
  char field[32];
  snprintf(field, sizeof field, "%" PRIx64, address);
  add_field(text, field);
}

/* ---- numbers ---- */

/* The number of a text in a set. NOT_THERE: it is new, and the ledger is full. */
static uint32_t ledger_number_of(struct ledger *ledger, struct strings *set, const char *text, size_t cost) {
  uint32_t number;
  if (strings_find(set, text, &number)) return number;
  cost += strlen(text);
  if (ledger->bytes + cost > BYTES_MOST || !(number = strings_intern(set, text))) return NOT_THERE;
  ledger->bytes += cost;
  return number;
}

/* The values of the stack that a text describes; of the rest if it is new and there is no room. */
static struct ledger_values *values_of(struct ledger *ledger, const char *text) {
  uint32_t stack = ledger_number_of(ledger, ledger->stacks, text, STACK_BYTES);
  if (stack == NOT_THERE ||
      !array_reserve(&ledger->values, &ledger->value_capacity, (size_t)stack + 1, sizeof *ledger->values))
    return &ledger->values[0];
  while (ledger->value_count <= stack) ledger->values[ledger->value_count++] = (struct ledger_values){{0}};
  return &ledger->values[stack];
}

/* ---- from a report ---- */

struct filling {
  struct ledger *ledger;
  const struct report *report;
  struct source *source;
  struct shown_stacks stacks;
  struct stack_values *values; /* index: node */
  uint32_t *location_of;       /* index: node; that of all its shown frames, plus 1; 0: unknown */
  struct shown_frames *frames; /* of one stack */
  struct size {
    double size;
    uint32_t node;
  } * order;
  struct text text;
};

static uint32_t module_number(struct filling *filling, uint32_t number) {
  const struct trace_module *module = number ? source_module(filling->source, number) : NULL;
  char build_id[2 * TRACE_BUILD_ID_MAX + 1];
  struct text *text = &filling->text;
  bool language = module && trace_is_language(module);
  if (!module) return 0;
  text->used = 0;
  ledger_add_address(text, language ? 0 : module->base);
  ledger_add_address(text, language ? 0 : module->base + module->size);
  add_field(text, module_build_id(module, build_id));
  add_field(text, module->path.bytes);
  uint32_t found = ledger_number_of(filling->ledger, filling->ledger->modules, text->bytes, LOCATION_BYTES);
  return found == NOT_THERE ? 0 : found;
}

static void add_line(struct text *text, const char *function, const char *linkage, const char *file,
                     uint32_t line) {
  add_field(text, function);
  add_field(text, linkage);
  add_field(text, file);
  ledger_add_number(text, line);
}

/* Writes a location: its module, its address, whether its function has no name; and of each
 * function its name, the linker's, its file and line, the innermost first. */
static void location_text(struct filling *filling, const struct shown_frames *shown) {
  const struct names *names = filling->report->names;
  struct frames frames = names_of(names, shown->node);
  uint32_t module = module_number(filling, source_stack(filling->source, shown->node).module);
  struct text *text = &filling->text;
  text->used = 0;
  ledger_add_number(text, module);
  ledger_add_address(text, shown_address(filling->source, shown->node));
  add_field(text, frames.count && builds_of(&names->builds, frames.frame->function) ? "nameless" : "");
  for (size_t i = 0; i < frames.count && i < SHOWN_MOST; i++) {
    const struct frame *frame = &frames.frame[i];
    if (shown->shown >> i & 1)
      add_line(text, strings_text(names->strings, frame->function),
               strings_text(names->strings, frame->linkage), strings_text(names->strings, frame->file),
               frame->line);
  }
}

/* The location of blocks without a callstack. */
static uint32_t no_location(struct filling *filling) {
  struct text *text = &filling->text;
  text->used = 0;
  ledger_add_number(text, 0);
  ledger_add_address(text, 0);
  add_field(text, "");
  add_line(text, "(no callstack)", "", "", 0);
  return ledger_number_of(filling->ledger, filling->ledger->locations, text->bytes, LOCATION_BYTES);
}

/* `whole`: all frames of the node that are ever shown, so that the answer is the same the next
 * time.
 * */
static uint32_t location_number(struct filling *filling, const struct shown_frames *shown, bool whole) {
  uint32_t *known = &filling->location_of[shown->node];
  if (whole && *known) return *known - 1;
  location_text(filling, shown);
  uint32_t number =
      ledger_number_of(filling->ledger, filling->ledger->locations, filling->text.bytes, LOCATION_BYTES);
  if (whole && number != NOT_THERE) *known = number + 1;
  return number;
}

/* The values of the stack that a node owns. */
static struct ledger_values *ledger_stack_of(struct filling *filling, uint32_t node) {
  size_t count = shown_stack(filling->report, &filling->stacks, node, filling->frames, TEXT_MOST / 2),
         used = 0;
  char *text = filling->text.bytes + TEXT_MOST; /* behind the room of location_text */
  for (size_t i = 0; (i < count || !i) && used < TEXT_MOST - 16; i++) {
    uint32_t location = count ? location_number(filling, &filling->frames[i], i > 0) : no_location(filling);
    if (location == NOT_THERE) return &filling->ledger->values[0];
    used += (size_t)snprintf(text + used, 16, "%u ", location);
  }
  return values_of(filling->ledger, text);
}

static int ledger_largest_first(const void *a, const void *b) {
  const struct size *left = a, *right = b;
  return (left->size < right->size) - (left->size > right->size);
}

static void ledger_add_stacks(struct filling *filling, size_t nodes) {
  size_t count = 0;
  for (size_t i = 0; i < nodes; i++) {
    const double *estimate = filling->values[i].estimate;
    double size = estimate[QUANTITY_ALLOCATED_BYTES] + estimate[QUANTITY_HELD_BYTES] +
                  estimate[QUANTITY_ALLOCATED_BLOCKS]; /* some have no bytes */
    if (size > 0) filling->order[count++] = (struct size){size, (uint32_t)i};
  }
  qsort(filling->order, count, sizeof *filling->order, ledger_largest_first);
  for (size_t i = 0; i < count; i++) {
    struct ledger_values *values = ledger_stack_of(filling, filling->order[i].node);
    for (int k = 0; k < QUANTITIES; k++) values->of[k] += filling->values[filling->order[i].node].estimate[k];
  }
}

static void forget_held(struct ledger *ledger) {
  for (size_t i = 0; i < ledger->value_count; i++)
    ledger->values[i].of[QUANTITY_HELD_BLOCKS] = ledger->values[i].of[QUANTITY_HELD_BYTES] = 0;
}

static wn_status ledger_fill(struct filling *filling, size_t nodes, uint64_t since_ns) {
  struct call_paths owners = {
      .grouping = BY_STACK, .own_of = filling->stacks.owner_of, .stack_count = (uint32_t)(nodes - 1)};
  wn_status error = stack_values_since(filling->report, &owners, nodes, since_ns, &filling->values);
  if (error) return error;
  forget_held(filling->ledger);
  module_number(filling, module_of_program(filling->source)); /* the first one is the program's */
  ledger_add_stacks(filling, nodes);
  return WN_OK;
}

/* ---- from another ledger ---- */

/* Sets numbers[i] to the number that the text i of `from` has in `to`. A location begins with the
 * number of its module, which that in `modules` replaces; NULL: the texts are modules. */
static void ledger_translate(struct ledger *ledger, struct strings *to, const struct strings *from,
                             const uint32_t *modules, char *room, uint32_t *numbers) {
  for (uint32_t i = 0; i < from->count; i++) {
    char *rest = from->text[i];
    unsigned long module = modules && i ? strtoul(rest, &rest, 10) : 0;
    if (modules && i) snprintf(room, 2 * (size_t)TEXT_MOST, "%u%s", modules[module], rest);
    numbers[i] = ledger_number_of(ledger, to, modules && i ? room : rest, LOCATION_BYTES);
    if (!modules && numbers[i] == NOT_THERE) numbers[i] = 0;
  }
}

/* The values that those of the stack `i` are added to. */
static struct ledger_values *stack_like(struct ledger *ledger, const struct ledger *other, size_t i,
                                        const uint32_t *locations, char *room) {
  size_t used = 0;
  char *at = other->stacks->text[i], *end;
  *room = 0;
  for (;; at = end) {
    unsigned long location = strtoul(at, &end, 10);
    if (end == at || used >= TEXT_MOST - 16) return values_of(ledger, room);
    if (locations[location] == NOT_THERE) return &ledger->values[0];
    used += (size_t)snprintf(room + used, 16, "%u ", locations[location]);
  }
}

/* ---- shared ---- */

wn_status ledger_create(struct ledger *ledger) {
  *ledger =
      (struct ledger){.modules = strings_create(), .locations = strings_create(), .stacks = strings_create()};
  if (!ledger->modules || !ledger->locations || !ledger->stacks) return stacks_no_memory();
  return (ARRAY_ADD(ledger->values, ledger->value_count, ledger->value_capacity, (struct ledger_values){{0}}))
             ? WN_OK
             : stacks_no_memory();
}

void ledger_destroy(struct ledger *ledger) {
  strings_free(ledger->modules);
  strings_free(ledger->locations);
  strings_free(ledger->stacks);
  free(ledger->values);
  *ledger = (struct ledger){.values = NULL};
}

wn_status ledger_update(struct ledger *ledger, const struct report *report, uint64_t since_ns) {
  struct source *source = report->samples->source;
  size_t nodes = (size_t)source_stack_count(source) + 1;
  struct filling filling = {.ledger = ledger,
                            .report = report,
                            .source = source,
                            .location_of = calloc(nodes, sizeof *filling.location_of),
                            .frames = calloc(nodes, sizeof *filling.frames),
                            .order = calloc(nodes, sizeof *filling.order),
                            .text = {.bytes = malloc(2 * (size_t)TEXT_MOST)}};
  bool room = shown_stacks_create(report, &filling.stacks) && filling.location_of && filling.frames &&
              filling.order && filling.text.bytes;
  wn_status error = room ? ledger_fill(&filling, nodes, since_ns) : stacks_no_memory();
  shown_stacks_destroy(&filling.stacks);
  free(filling.values);
  free(filling.location_of);
  free(filling.frames);
  free(filling.order);
  free(filling.text.bytes);
  return error;
}

wn_status ledger_merge(struct ledger *ledger, const struct ledger *other) {
  uint32_t *modules = calloc(other->modules->count, sizeof *modules),
           *locations = calloc(other->locations->count, sizeof *locations);
  char *room = malloc(2 * (size_t)TEXT_MOST);
  bool done = modules && locations && room;
  if (done) ledger_translate(ledger, ledger->modules, other->modules, NULL, room, modules);
  if (done) ledger_translate(ledger, ledger->locations, other->locations, modules, room, locations);
  for (size_t i = 0; done && i < other->value_count; i++) {
    struct ledger_values *values = stack_like(ledger, other, i, locations, room);
    for (int k = 0; k < QUANTITIES; k++) values->of[k] += other->values[i].of[k];
  }
  free(modules);
  free(locations);
  free(room);
  return done ? WN_OK : stacks_no_memory();
}
/* SPDX-License-Identifier: MIT */
