/* Writes a ledger as a profile: a message, and text as Go's programs serve it with debug=1. */
#include "export/ledger.h"

#include "base/array.h"
#include "base/error.h"
#include "export/pprof_file.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELD_MOST = 64 << 10, LINES_MOST = 64, DEPTH_MOST = 1 << 14, TEXT_BYTES_MOST = 8 << 20 };

static wn_status no_memory(void) { return error_set(WN_ENOMEM, "not enough memory for the profile"); }

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
static const char *take_field(char **at) {
  char *field = *at, *tab = strchr(field, '\t');
  *at = tab ? tab + 1 : field + strlen(field);
  if (tab) *tab = 0;
  return field;
}

static void read_location(const struct ledger *ledger, uint32_t number, struct location *location) {
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
  location->module = (uint32_t)strtoul(take_field(&at), NULL, 10);
  location->address = strtoull(take_field(&at), NULL, 16);
  location->nameless = *take_field(&at);
  while (*at && location->line_count < LINES_MOST) {
    struct location_line *line = &location->lines[location->line_count++];
    line->function = take_field(&at);
    line->linkage = take_field(&at);
    line->file = take_field(&at);
    line->line = (uint32_t)strtoul(take_field(&at), NULL, 10);
  }
}

/* The locations of a stack. */
static size_t read_stack(const struct ledger *ledger, size_t stack, uint32_t *locations) {
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
static void put_mappings(struct writing *writing) {
  const struct ledger *ledger = writing->ledger;
  bool *named = calloc(ledger->modules->count, 1);
  for (uint32_t i = 1; named && i < ledger->locations->count; i++) {
    read_location(ledger, i, &writing->location);
    if (!writing->location.nameless) named[writing->location.module] = true;
  }
  for (uint32_t i = 1; i < ledger->modules->count; i++) {
    char *at = writing->location.room;
    Pprof__Mapping mapping = PPROF__MAPPING__INIT;
    snprintf(at, FIELD_MOST, "%s", strings_text(ledger->modules, i));
    mapping.id = i;
    mapping.memory_start = strtoull(take_field(&at), NULL, 16);
    mapping.memory_limit = strtoull(take_field(&at), NULL, 16);
    mapping.build_id = pprof_text(&writing->pprof, take_field(&at));
    mapping.filename = pprof_text(&writing->pprof, take_field(&at));
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
  read_location(writing->ledger, number, &writing->location);
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
    size_t count = read_stack(writing->ledger, i, writing->locations);
    for (size_t k = 0; k < count; k++) {
      uint64_t *id = &writing->id_of[writing->locations[k]];
      if (!*id) *id = put_location(writing, writing->locations[k]);
      writing->ids[k] = *id;
    }
    pprof_put_sample(&writing->pprof, writing->ids, count, values, QUANTITIES);
  }
}

static void put_head(struct writing *writing, const struct ledger_head *head) {
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

/* ---- text ---- */

/* A location without an address has its number, which no code has. Readers subtract 1 from an
 * address. */
static void print_stack(FILE *out, const struct ledger *ledger, size_t stack,
                        const int64_t values[QUANTITIES], struct location *location, uint32_t *locations) {
  size_t count = read_stack(ledger, stack, locations);
  fprintf(out, "%" PRId64 ": %" PRId64 " [%" PRId64 ": %" PRId64 "] @", values[QUANTITY_HELD_BLOCKS],
          values[QUANTITY_HELD_BYTES], values[QUANTITY_ALLOCATED_BLOCKS], values[QUANTITY_ALLOCATED_BYTES]);
  for (size_t i = 0; i < count; i++) {
    read_location(ledger, locations[i], location);
    fprintf(out, " 0x%" PRIx64, location->address ? location->address + 1 : locations[i] + UINT64_C(1));
  }
  fputc('\n', out);
  for (size_t i = 0; i < count && ftell(out) < TEXT_BYTES_MOST + TEXT_BYTES_MOST / 2; i++) {
    read_location(ledger, locations[i], location);
    for (size_t k = 0; k < location->line_count; k++)
      fprintf(out, "#\t0x%" PRIx64 "\t%s\t%s:%u\n", location->address, location->lines[k].function,
              location->lines[k].file, location->lines[k].line);
  }
  fputc('\n', out);
}

struct held {
  double bytes;
  size_t stack;
};

static int most_held_first(const void *a, const void *b) {
  const struct held *left = a, *right = b;
  if (left->bytes != right->bytes) return left->bytes < right->bytes ? 1 : -1;
  return (left->stack > right->stack) - (left->stack < right->stack);
}

static void print_stacks(FILE *out, const struct ledger *ledger, struct held *order,
                         struct location *location, uint32_t *locations) {
  struct ledger_values rest = ledger->values[0];
  int64_t values[QUANTITIES];
  size_t count = 0;
  for (size_t i = 1; i < ledger->value_count; i++)
    order[count++] = (struct held){ledger->values[i].of[QUANTITY_HELD_BYTES], i};
  qsort(order, count, sizeof *order, most_held_first);
  for (size_t i = 0; i < count; i++) {
    const struct ledger_values *of = &ledger->values[order[i].stack];
    bool fits = ftell(out) < TEXT_BYTES_MOST;
    whole_values(of, values);
    if (fits && any(values)) print_stack(out, ledger, order[i].stack, values, location, locations);
    for (int k = 0; k < QUANTITIES && !fits; k++) rest.of[k] += of->of[k];
  }
  whole_values(&rest, values);
  if (any(values)) print_stack(out, ledger, 0, values, location, locations);
}

/* ---- shared ---- */

wn_status ledger_write(FILE *out, const struct ledger *ledger, const struct ledger_head *head) {
  struct writing writing = {.ledger = ledger,
                            .location = {.room = malloc(FIELD_MOST)},
                            .id_of = calloc(ledger->locations->count, sizeof *writing.id_of),
                            .locations = malloc(DEPTH_MOST * sizeof *writing.locations),
                            .ids = malloc(DEPTH_MOST * sizeof *writing.ids)};
  bool room = writing.location.room && writing.id_of && writing.locations && writing.ids;
  wn_status error = room ? pprof_open(&writing.pprof, out) : no_memory();
  if (!error) {
    put_head(&writing, head);
    put_mappings(&writing);
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
  struct held *order = malloc(ledger->value_count * sizeof *order);
  struct location location = {.room = malloc(FIELD_MOST)};
  uint32_t *locations = malloc(DEPTH_MOST * sizeof *locations);
  bool done = order && location.room && locations;
  struct ledger_values total = {{0}};
  int64_t values[QUANTITIES];
  for (size_t i = 0; i < ledger->value_count; i++)
    for (int k = 0; k < QUANTITIES; k++) total.of[k] += ledger->values[i].of[k];
  whole_values(&total, values);
  fprintf(out, "heap profile: %" PRId64 ": %" PRId64 " [%" PRId64 ": %" PRId64 "] @ heapprofile\n",
          values[QUANTITY_HELD_BLOCKS], values[QUANTITY_HELD_BYTES], values[QUANTITY_ALLOCATED_BLOCKS],
          values[QUANTITY_ALLOCATED_BYTES]);
  if (done) print_stacks(out, ledger, order, &location, locations);
  free(order);
  free(location.room);
  free(locations);
  return done ? WN_OK : no_memory();
}

wn_status ledger_write_symbols(FILE *out, const struct ledger *ledger, const uint64_t *addresses,
                               size_t count) {
  struct location location = {.room = malloc(FIELD_MOST)};
  if (!location.room) return no_memory();
  for (uint32_t i = 1; i < ledger->locations->count; i++) {
    read_location(ledger, i, &location);
    uint64_t address = location.address ? location.address : i;
    size_t place = array_place(addresses, count, address);
    if (location.line_count && place < count && addresses[place] == address)
      fprintf(out, "0x%" PRIx64 " %s\n", address, location.lines[0].function);
  }
  free(location.room);
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
