/* Writes a ledger as a profile: a message, and text as Go's programs serve it with debug=1. */
#include "export/ledger.h"

#include "base/array.h"
#include "base/check.h"
#include "base/hash.h"
#include "export/pprof_file.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_MOST = 64 << 10, LINES_MOST = 64, DEPTH_MOST = 1 << 14, TEXT_BYTES_MOST = 8 << 20 };

/* A number is rounded, and what has bytes has a block: readers refuse bytes without one. */
static void whole_values(const struct ledger_values *values, int64_t whole[QUANTITIES]) {
  for (int i = 0; i < QUANTITIES; i++) whole[i] = llround(fmin(values->of[i], 9e18));
  if (whole[QUANTITY_ALLOCATED_BYTES] && !whole[QUANTITY_ALLOCATED_BLOCKS])
    whole[QUANTITY_ALLOCATED_BLOCKS] = 1;
  if (whole[QUANTITY_HELD_BYTES] && !whole[QUANTITY_HELD_BLOCKS]) whole[QUANTITY_HELD_BLOCKS] = 1;
}

static bool any(const int64_t values[QUANTITIES]) {
  for (int i = 0; i < QUANTITIES; i++)
    if (values[i]) return true;
  return false;
}

/* ---- reading texts ---- */

/* A location as location_text in ledger.c writes it. The fields are parts of `room`. */
struct location {
  uint32_t module;
  uint64_t address;
  bool nameless;
  struct location_line {
    const char *function, *linkage, *file;
    uint32_t line;
  } lines[LINES_MOST];
  size_t line_count;
  char *room; /* of FIELD_MOST bytes */
};

/* The next field, which a tab ends. */
static const char *ledger_write_take_field(char **at) {
  char *field = *at, *tab = strchr(field, '\t');
  *at = tab ? tab + 1 : field + strlen(field);
  if (tab) *tab = 0;
  return field;
}

static void ledger_write_read_location(const struct ledger *ledger, uint32_t number,
                                       struct location *location) {
  char *at = location->room;
  location->line_count = 0;
  location->module = 0;
  location->address = 0;
  location->nameless = false;
  if (!number) {
    location->lines[location->line_count++] = (struct location_line){"(rest)", "", "", 0};
    return;
  }
  snprintf(at, FIELD_MOST, "%s", strings_text(ledger->locations, number));
  location->module = (uint32_t)strtoul(ledger_write_take_field(&at), NULL, 10);
  location->address = strtoull(ledger_write_take_field(&at), NULL, 16);
  location->nameless = *ledger_write_take_field(&at);
  while (*at && location->line_count < LINES_MOST) {
    struct location_line *line = &location->lines[location->line_count++];
    line->function = ledger_write_take_field(&at);
    line->linkage = ledger_write_take_field(&at);
    line->file = ledger_write_take_field(&at);
    line->line = (uint32_t)strtoul(ledger_write_take_field(&at), NULL, 10);
  }
}

/* The locations of a stack. */
static size_t ledger_write_read_stack(const struct ledger *ledger, size_t stack, uint32_t *locations) {
  const char *at = strings_text(ledger->stacks, (uint32_t)stack);
  size_t count = 0;
  char *end;
  if (!stack) return locations[0] = 0, 1; /* "(rest)" */
  for (; count < DEPTH_MOST; at = end) {
    unsigned long location = strtoul(at, &end, 10);
    if (end == at) break;
    locations[count++] = (uint32_t)location;
  }
  return count;
}

/* ---- the message ---- */

struct writing {
  const struct ledger *ledger;
  struct pprof pprof;
  struct location location;
  uint64_t *id_of;     /* index: location; 0: not written yet */
  uint32_t *locations; /* of a stack */
  uint64_t *ids;
};

/* Readers look names up of the files that are said to have none. */
static void ledger_write_put_mappings(struct writing *writing) {
  const struct ledger *ledger = writing->ledger;
  bool *named = calloc(ledger->modules->count, 1);
  for (uint32_t i = 1; named && i < ledger->locations->count; i++) {
    ledger_write_read_location(ledger, i, &writing->location);
    if (!writing->location.nameless) named[writing->location.module] = true;
  }
  for (uint32_t i = 1; i < ledger->modules->count; i++) {
    char *at = writing->location.room;
    Pprof__Mapping mapping = PPROF__MAPPING__INIT;
    snprintf(at, FIELD_MOST, "%s", strings_text(ledger->modules, i));
    mapping.id = i;
    mapping.memory_start = strtoull(ledger_write_take_field(&at), NULL, 16);
    mapping.memory_limit = strtoull(ledger_write_take_field(&at), NULL, 16);
    mapping.build_id = pprof_text(&writing->pprof, ledger_write_take_field(&at));
    mapping.filename = pprof_text(&writing->pprof, ledger_write_take_field(&at));
    mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = mapping.has_inline_frames =
        named && named[i];
    pprof_put_mapping(&writing->pprof, &mapping);
  }
  free(named);
}

static uint64_t put_location(struct writing *writing, uint32_t number) {
  Pprof__Line lines[LINES_MOST], *line[LINES_MOST];
  Pprof__Location location = PPROF__LOCATION__INIT;
  const struct location *of = &writing->location;
  ledger_write_read_location(writing->ledger, number, &writing->location);
  location.id = number + 1;
  location.mapping_id = of->module;
  location.address = of->address;
  location.n_line = of->line_count;
  location.line = line;
  for (size_t i = 0; i < of->line_count; i++) {
    line[i] = &lines[i];
    pprof__line__init(line[i]);
    lines[i].line = of->lines[i].line;
    lines[i].function_id =
        pprof_function(&writing->pprof, of->lines[i].function, of->lines[i].linkage, of->lines[i].file);
  }
  pprof_put_location(&writing->pprof, &location);
  return location.id;
}

static void put_stacks(struct writing *writing) {
  for (size_t i = 0; i < writing->ledger->value_count; i++) {
    int64_t values[QUANTITIES];
    whole_values(&writing->ledger->values[i], values);
    if (!any(values)) continue;
    size_t count = ledger_write_read_stack(writing->ledger, i, writing->locations);
    for (size_t k = 0; k < count; k++) {
      uint64_t *id = &writing->id_of[writing->locations[k]];
      if (!*id) *id = put_location(writing, writing->locations[k]);
      writing->ids[k] = *id;
    }
    pprof_put_sample(&writing->pprof, writing->ids, count, values, QUANTITIES);
  }
}

static void ledger_write_put_head(struct writing *writing, const struct ledger_head *head) {
  Pprof__ValueType period_type = PPROF__VALUE_TYPE__INIT;
  Pprof__Profile part = PPROF__PROFILE__INIT;
  for (int i = 0; i < QUANTITIES; i++)
    pprof_put_type(&writing->pprof, quantity_kinds[i].type, quantity_kinds[i].unit);
  period_type.type = pprof_text(&writing->pprof, "space");
  period_type.unit = pprof_text(&writing->pprof, "bytes");
  part.period_type = &period_type;
  part.period = llround(head->period);
  part.time_nanos = (int64_t)head->wall_ns;
  part.duration_nanos = (int64_t)head->duration_ns;
  part.default_sample_type = pprof_text(&writing->pprof, head->shown);
  pprof_put(&writing->pprof, &part);
  if (head->comment) pprof_put_comment(&writing->pprof, "%s", head->comment);
}

/* ---- addresses ---- */

/* A location that has none gets an address where no code lies, from a hash of its text: so it is
 * the same in all ledgers, and readers can compare these. Where several have one hash, the first by
 * its text has that address, and the others those behind it. */
enum { HASH_BITS = TINY ? 4 : 61 };

struct made_address {
  uint64_t address;
  const char *module, *text; /* text: behind the number of the module */
  uint32_t location;
};

static int ledger_write_by_address(const void *a, const void *b) {
  const struct made_address *left = a, *right = b;
  if (left->address != right->address) return left->address < right->address ? -1 : 1;
  int order = strcmp(left->text, right->text);
  return order ? order : strcmp(left->module, right->module);
}

/* Reads the address of a location; 0: it has none, and *made is one that others may have, too. */
static uint64_t ledger_write_read_address(const struct ledger *ledger, uint32_t number,
                                          struct made_address *made) {
  char *rest;
  unsigned long module = strtoul(strings_text(ledger->locations, number), &rest, 10);
  *made = (struct made_address){
      .module = strings_text(ledger->modules, (uint32_t)module), .text = rest, .location = number};
  uint64_t hash =
      hash_combine(hash_bytes(made->module, strlen(made->module)), hash_bytes(rest, strlen(rest)));
  made->address = TRACE_LANGUAGE_BASE + (hash >> (64 - HASH_BITS));
  return strtoull(rest, NULL, 16);
}

/* The address of each location, which the caller frees. NULL without memory. */
static uint64_t *addresses_of(const struct ledger *ledger) {
  uint32_t count = ledger->locations->count;
  uint64_t *addresses = malloc(count * sizeof *addresses);
  struct made_address *made = malloc(count * sizeof *made);
  size_t made_count = 0;
  bool done = addresses && made;
  for (uint32_t i = 0; i < count && done; i++)
    if (!(addresses[i] = ledger_write_read_address(ledger, i, &made[made_count]))) made_count++;
  if (done) qsort(made, made_count, sizeof *made, ledger_write_by_address);
  for (size_t i = 0; i < made_count; i++) {
    if (i && made[i].address <= made[i - 1].address) made[i].address = made[i - 1].address + 1;
    addresses[made[i].location] = made[i].address;
  }
  free(made);
  if (done) return addresses;
  free(addresses);
  return NULL;
}

/* ---- text ---- */

struct printing {
  FILE *out;
  const struct ledger *ledger;
  uint64_t *addresses; /* index: location */
  struct held {
    double bytes;
    size_t stack;
  } * order;
  struct location location;
  uint32_t *locations; /* of a stack */
};

/* Readers subtract 1 from an address of a stack. */
static void ledger_write_print_stack(struct printing *printing, size_t stack,
                                     const int64_t values[QUANTITIES]) {
  FILE *out = printing->out;
  const struct location *location = &printing->location;
  size_t count = ledger_write_read_stack(printing->ledger, stack, printing->locations);
  fprintf(out, "%" PRId64 ": %" PRId64 " [%" PRId64 ": %" PRId64 "] @", values[QUANTITY_HELD_BLOCKS],
          values[QUANTITY_HELD_BYTES], values[QUANTITY_ALLOCATED_BLOCKS], values[QUANTITY_ALLOCATED_BYTES]);
  for (size_t i = 0; i < count; i++)
    fprintf(out, " 0x%" PRIx64, printing->addresses[printing->locations[i]] + 1);
  fputc('\n', out);
  for (size_t i = 0; i < count && ftell(out) < TEXT_BYTES_MOST + TEXT_BYTES_MOST / 2; i++) {
    uint32_t number = printing->locations[i];
    ledger_write_read_location(printing->ledger, number, &printing->location);
    for (size_t k = 0; k < location->line_count; k++)
      fprintf(out, "#\t0x%" PRIx64 "\t%s\t%s:%u\n", printing->addresses[number], location->lines[k].function,
              location->lines[k].file, location->lines[k].line);
  }
  fputc('\n', out);
}

static int most_held_first(const void *a, const void *b) {
  const struct held *left = a, *right = b;
  if (left->bytes != right->bytes) return left->bytes < right->bytes ? 1 : -1;
  return (left->stack > right->stack) - (left->stack < right->stack);
}

static void ledger_write_print_stacks(struct printing *printing) {
  const struct ledger *ledger = printing->ledger;
  struct held *order = printing->order;
  struct ledger_values rest = ledger->values[0];
  int64_t values[QUANTITIES];
  size_t count = 0;
  for (size_t i = 1; i < ledger->value_count; i++)
    order[count++] = (struct held){ledger->values[i].of[QUANTITY_HELD_BYTES], i};
  qsort(order, count, sizeof *order, most_held_first);
  for (size_t i = 0; i < count; i++) {
    const struct ledger_values *of = &ledger->values[order[i].stack];
    bool fits = ftell(printing->out) < TEXT_BYTES_MOST;
    whole_values(of, values);
    if (fits && any(values)) ledger_write_print_stack(printing, order[i].stack, values);
    for (int k = 0; k < QUANTITIES && !fits; k++) rest.of[k] += of->of[k];
  }
  whole_values(&rest, values);
  if (any(values)) ledger_write_print_stack(printing, 0, values);
}

/* ---- shared ---- */

wn_status ledger_write(FILE *out, const struct ledger *ledger, const struct ledger_head *head) {
  struct writing writing = {.ledger = ledger,
                            .location = {.room = malloc(FIELD_MOST)},
                            .id_of = calloc(ledger->locations->count, sizeof *writing.id_of),
                            .locations = malloc(DEPTH_MOST * sizeof *writing.locations),
                            .ids = malloc(DEPTH_MOST * sizeof *writing.ids)};
  bool room = writing.location.room && writing.id_of && writing.locations && writing.ids;
  wn_status error = room ? pprof_open(&writing.pprof, out) : stacks_no_memory();
  if (!error) {
    ledger_write_put_head(&writing, head);
    ledger_write_put_mappings(&writing);
    put_stacks(&writing);
    error = pprof_close(&writing.pprof);
  }
  free(writing.location.room);
  free(writing.id_of);
  free(writing.locations);
  free(writing.ids);
  return error;
}

/* The name "heapprofile" says that the numbers are not to be scaled. */
wn_status ledger_write_text(FILE *out, const struct ledger *ledger) {
  struct printing printing = {.out = out,
                              .ledger = ledger,
                              .addresses = addresses_of(ledger),
                              .order = malloc(ledger->value_count * sizeof *printing.order),
                              .location = {.room = malloc(FIELD_MOST)},
                              .locations = malloc(DEPTH_MOST * sizeof *printing.locations)};
  bool done = printing.addresses && printing.order && printing.location.room && printing.locations;
  struct ledger_values total = {{0}};
  int64_t values[QUANTITIES];
  for (size_t i = 0; i < ledger->value_count; i++)
    for (int k = 0; k < QUANTITIES; k++) total.of[k] += ledger->values[i].of[k];
  whole_values(&total, values);
  fprintf(out, "heap profile: %" PRId64 ": %" PRId64 " [%" PRId64 ": %" PRId64 "] @ heapprofile\n",
          values[QUANTITY_HELD_BLOCKS], values[QUANTITY_HELD_BYTES], values[QUANTITY_ALLOCATED_BLOCKS],
          values[QUANTITY_ALLOCATED_BYTES]);
  if (done) ledger_write_print_stacks(&printing);
  free(printing.addresses);
  free(printing.order);
  free(printing.location.room);
  free(printing.locations);
  return done ? WN_OK : stacks_no_memory();
}

wn_status ledger_write_symbols(FILE *out, const struct ledger *ledger, const uint64_t *addresses,
                               size_t count) {
  struct location location = {.room = malloc(FIELD_MOST)};
  uint64_t *known = addresses_of(ledger);
  bool done = location.room && known;
  for (uint32_t i = 0; i < ledger->locations->count && done; i++) {
    size_t place = array_place(addresses, count, known[i]);
    if (place == count || addresses[place] != known[i]) continue;
    ledger_write_read_location(ledger, i, &location);
    if (location.line_count) fprintf(out, "0x%" PRIx64 " %s\n", known[i], location.lines[0].function);
  }
  free(location.room);
  free(known);
  return done ? WN_OK : stacks_no_memory();
}
/* SPDX-License-Identifier: MIT */
