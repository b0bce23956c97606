/* A profile for pprof: what was allocated and held, by the addresses of the code, with functions
 * and lines, in the format that pprof.proto describes.
 *
 * VALUES. The sample types are those of Go's heap profiles, in their order, and two more. The first
 * four are estimates, as those of the report (WHOLE of stacks.h): a reader must not scale them.
 * alloc_samples and inuse_samples say how many sampled blocks these rest on, and are not scaled.
 *
 * STACKS. Unless the user asks for a grouping, a location is a code address, with a line for each
 * function that was inlined there, and pprof groups as it is told to. Otherwise a location is a
 * group of the report. Either way stacks have no frames that the query hides, and end at the
 * function that owns the blocks: wrappers further in are left out. Pprof's own way, drop_frames, is
 * not used, since it would also cut stacks at a wrapper that calls back into other code.
 *
 * ADDRESSES are within the call, one byte before the address to which it returns, as other
 * profilers write them. Code of a language has the address 0, in a mapping without addresses. A
 * mapping whose functions have no names in the trace says so, for readers that look names up by
 * build-id. The trace does not know a file's segments, so one mapping stands for all of them,
 * from the file's offset 0 on. */
#include "export/formats.h"

#include "export/pprof_file.h"
#include "export/shown.h"
#include "sources/modules.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <winnow/version.h>

enum { VALUES = QUANTITIES + 2 };

struct exporting {
  struct pprof *pprof;
  const struct export *export;
  const struct report *report;
  const struct names *names;
  struct source *source;
};

static const char *text_of_pprof(const struct exporting *exporting, uint32_t string) {
  return strings_text(exporting->names->strings, string);
}

/* ---- the head ---- */

static void put_types(struct pprof *pprof) {
  for (int i = 0; i < QUANTITIES; i++) pprof_put_type(pprof, quantity_kinds[i].type, quantity_kinds[i].unit);
  pprof_put_type(pprof, "alloc_samples", "count");
  pprof_put_type(pprof, "inuse_samples", "count");
}

static void pprof_put_run(const struct exporting *exporting) {
  struct pprof *pprof = exporting->pprof;
  const struct trace_run *run = source_run(exporting->source);
  Pprof__ValueType period_type = PPROF__VALUE_TYPE__INIT;
  Pprof__Profile part = PPROF__PROFILE__INIT;
  period_type.type = pprof_text(pprof, "space");
  period_type.unit = pprof_text(pprof, "bytes");
  part.period_type = &period_type;
  part.period = run->rate >= 1 ? 1 : run->rate > 0 ? (int64_t)(run->word_bytes / run->rate + 0.5) : 0;
  part.time_nanos = (int64_t)run->wall_ns;
  part.duration_nanos = (int64_t)exporting->report->samples->end_ns;
  part.default_sample_type = pprof_text(pprof, quantity_kinds[exporting->export->quantity].type);
  pprof_put(pprof, &part);
}

/* ---- comments ---- */

static void put_total(const struct exporting *exporting, const char *type, const struct estimate *total) {
  char text[EXPORT_TOTAL_MOST];
  export_total(exporting->report, total, text);
  pprof_put_comment(exporting->pprof, "%s: %s", type, text);
}

/* From what the profile was written: a trace of Winnow or of another tool. */
static void put_origin(const struct exporting *exporting) {
  const struct trace_text *writer = &source_run(exporting->source)->writer;
  const char *by = writer->length ? " by " : "", *name = writer->length ? writer->bytes : "";
  if (export_is_exact(exporting->report))
    pprof_put_comment(exporting->pprof, "Written by winnow %s from a trace%s%.64s of every block.",
                      wn_version_text(), by, name);
  else
    pprof_put_comment(exporting->pprof, "Written by winnow %s from a sample%s%.64s, at %g a word.",
                      wn_version_text(), by, name, source_run(exporting->source)->rate);
}

/* How the numbers are to be read. */
static void put_comments(const struct exporting *exporting) {
  const struct report *report = exporting->report;
  struct pprof *pprof = exporting->pprof;
  const struct trace_damage *damage = source_damage(exporting->source);
  struct estimate allocated = report_bytes(report, &report->allocated),
                  allocated_blocks = report_blocks(report, &report->allocated),
                  held = report_bytes(report, &report->asked.live),
                  held_blocks = report_blocks(report, &report->asked.live);
  char command[EXPORT_COMMAND_MOST];
  bool exact = export_is_exact(report);
  export_command(report, command);
  pprof_put_comment(pprof, "Program: %s", command);
  put_origin(exporting);
  pprof_put_comment(pprof, "alloc_*: allocated over the run. inuse_*: held at %s (%.3f s after the start).",
                    exporting->export->at, (double)report->asked.time_ns / 1e9);
  pprof_put_comment(pprof,
                    "The values are %s, and not to be scaled. "
                    "alloc_samples and inuse_samples: the %s blocks that they rest on.",
                    exact ? "exact" : "estimates of the true numbers", exact ? "recorded" : "sampled");
  if (exporting->export->where) pprof_put_comment(pprof, "Only blocks where: %s", exporting->export->where);
  put_total(exporting, "alloc_objects", &allocated_blocks);
  put_total(exporting, "alloc_space", &allocated);
  put_total(exporting, "inuse_objects", &held_blocks);
  put_total(exporting, "inuse_space", &held);
  if (trace_is_partial(damage))
    pprof_put_comment(pprof,
                      "Records are missing from the trace: the values are about the recorded part only.");
}

/* ---- mappings ---- */

/* Notes in the mapping of each module what is known about its code. */
static void pprof_describe(const struct exporting *exporting, Pprof__Mapping *mappings) {
  for (uint32_t node = 1; node <= source_stack_count(exporting->source); node++) {
    Pprof__Mapping *mapping = &mappings[source_stack(exporting->source, node).module];
    struct frames frames = names_of(exporting->names, node);
    for (size_t i = 0; i < frames.count; i++) {
      const struct frame *frame = &frames.frame[i];
      mapping->has_functions |= !builds_of(&exporting->names->builds, frame->function);
      mapping->has_filenames |= frame->file != 0;
      mapping->has_line_numbers |= frame->line != 0;
      mapping->has_inline_frames |= frame->inlined;
    }
  }
}

static void put_mapping(const struct exporting *exporting, uint32_t number, Pprof__Mapping *mapping) {
  const struct trace_module *module = source_module(exporting->source, number);
  char build_id[2 * TRACE_BUILD_ID_MAX + 1];
  mapping->id = number;
  if (!trace_is_language(module)) {
    mapping->memory_start = module->base;
    mapping->memory_limit = module->base + module->size;
  }
  mapping->filename = pprof_text(exporting->pprof, module->path.bytes);
  mapping->build_id = pprof_text(exporting->pprof, module_build_id(module, build_id));
  pprof_put_mapping(exporting->pprof, mapping);
}

/* Pprof takes the first mapping for the program. */
static wn_status pprof_put_mappings(const struct exporting *exporting) {
  uint32_t count = source_module_count(exporting->source), program = module_of_program(exporting->source);
  Pprof__Mapping *mappings = malloc(((size_t)count + 1) * sizeof *mappings);
  if (!mappings) return stacks_no_memory();
  for (uint32_t i = 0; i <= count; i++) pprof__mapping__init(&mappings[i]);
  pprof_describe(exporting, mappings);
  if (program) put_mapping(exporting, program, &mappings[program]);
  for (uint32_t i = 1; i <= count; i++)
    if (i != program) put_mapping(exporting, i, &mappings[i]);
  free(mappings);
  return WN_OK;
}

/* ---- samples ---- */

/* Writes a sample; its locations are innermost first. */
static void put_sample(const struct exporting *exporting, uint64_t *locations, size_t count,
                       const struct stack_values *values) {
  int64_t value[VALUES];
  for (int i = 0; i < QUANTITIES; i++) value[i] = (int64_t)values->value[i];
  value[QUANTITIES] = (int64_t)values->samples[MEASURE_ALLOCATED];
  value[QUANTITIES + 1] = (int64_t)values->samples[MEASURE_HELD];
  pprof_put_sample(exporting->pprof, locations, count, value, VALUES);
}

/* The location of a name alone, such as a group or what has no callstack. */
static uint64_t location_of_name(const struct exporting *exporting, const char *name, const char *file,
                                 uint32_t line) {
  char description[64];
  bool is_new;
  Pprof__Line of = PPROF__LINE__INIT;
  of.function_id = pprof_function(exporting->pprof, name, NULL, file);
  of.line = line;
  snprintf(description, sizeof description, "%" PRIu64 " %u", of.function_id, line);
  Pprof__Location location = PPROF__LOCATION__INIT;
  location.id = pprof_number(exporting->pprof, exporting->pprof->locations, description, &is_new);
  location.n_line = 1;
  location.line = (Pprof__Line *[]){&of};
  if (is_new) pprof_put_location(exporting->pprof, &location);
  return location.id;
}

/* ---- by groups ---- */

/* Sets the locations of the frames: by_label[label]. */
static void put_labels(const struct exporting *exporting, const struct export_stacks *stacks,
                       uint64_t *by_label) {
  char name[STACK_LABEL_MOST];
  for (size_t i = 0; i < stacks->frame_count; i++) {
    uint32_t label = stacks->frames[i];
    const struct label *of = &stacks->paths.labels[label];
    export_stacks_label(stacks, label, name);
    by_label[label] = location_of_name(exporting, name, text_of_pprof(exporting, of->file), of->line);
  }
}

static void put_paths(const struct exporting *exporting, struct export_stacks *stacks,
                      const uint64_t *by_label, uint64_t *locations) {
  for (size_t i = 0; i < stacks->paths.node_count; i++) {
    const struct stack_values *values = &stacks->values[stacks->order[i]];
    if (!stack_values_any(values)) continue;
    size_t depth = export_stacks_path(stacks, stacks->order[i]);
    for (size_t k = 0; k < depth; k++) locations[k] = by_label[stacks->paths.nodes[stacks->path[k]].label];
    put_sample(exporting, locations, depth, values);
  }
}

static wn_status put_groups(const struct exporting *exporting) {
  struct export_stacks stacks;
  wn_status error = export_stacks_create(exporting->report, exporting->export->grouping, &stacks);
  if (error) return error;
  uint64_t *by_label = malloc(stacks.paths.label_count * sizeof *by_label),
           *locations = malloc(stacks.paths.node_count * sizeof *locations);
  if (by_label && locations) {
    put_labels(exporting, &stacks, by_label);
    put_paths(exporting, &stacks, by_label, locations);
  } else {
    error = stacks_no_memory();
  }
  free(by_label);
  free(locations);
  export_stacks_destroy(&stacks);
  return error;
}

/* ---- by addresses ---- */

struct addresses {
  struct shown_stacks stacks;
  struct stack_values *values; /* index: node */
  uint64_t *location_of;       /* index: node; the location of all its shown frames; 0: not asked for yet */
  uint64_t *locations;         /* room for those of the deepest stack */
  struct shown_frames *frames; /* likewise */
};

/* The location of the shown frames of a node. */
static uint64_t location_of(const struct exporting *exporting, uint32_t node, uint64_t shown) {
  struct trace_node at = source_stack(exporting->source, node);
  struct frames frames = names_of(exporting->names, node);
  Pprof__Line lines[SHOWN_MOST], *line[SHOWN_MOST];
  Pprof__Location location = PPROF__LOCATION__INIT;
  char description[80];
  bool is_new;
  snprintf(description, sizeof description, "%u:%" PRIx64 ":%" PRIx64, at.module, at.offset, shown);
  location.id = pprof_number(exporting->pprof, exporting->pprof->locations, description, &is_new);
  if (!is_new) return location.id;
  location.line = line;
  for (size_t i = 0; i < frames.count && i < SHOWN_MOST; i++) {
    if (!(shown >> i & 1)) continue;
    const struct frame *frame = &frames.frame[i];
    Pprof__Line *of = line[location.n_line] = &lines[location.n_line];
    pprof__line__init(of);
    of->line = frame->line;
    of->function_id =
        pprof_function(exporting->pprof, text_of_pprof(exporting, frame->function),
                       text_of_pprof(exporting, frame->linkage), text_of_pprof(exporting, frame->file));
    location.n_line++;
  }
  location.mapping_id = at.module;
  location.address = shown_address(exporting->source, node);
  pprof_put_location(exporting->pprof, &location);
  return location.id;
}

/* Writes the stack that a node owns. */
static void pprof_put_stack(const struct exporting *exporting, const struct addresses *addresses,
                            uint32_t node) {
  uint64_t *locations = addresses->locations, *known = addresses->location_of;
  const struct shown_frames *frames = addresses->frames;
  size_t count = shown_stack(exporting->report, &addresses->stacks, node, addresses->frames, SIZE_MAX);
  for (size_t i = 0; i < count; i++) {
    uint32_t at = frames[i].node;
    bool owned = i == 0; /* whose shown frames are not all */
    locations[i] = owned || !known[at] ? location_of(exporting, at, frames[i].shown) : known[at];
    if (!owned) known[at] = locations[i];
  }
  if (!count) locations[count++] = location_of_name(exporting, "(no callstack)", "", 0);
  put_sample(exporting, locations, count, &addresses->values[node]);
}

static wn_status put_addresses(const struct exporting *exporting) {
  size_t nodes = (size_t)source_stack_count(exporting->source) + 1;
  struct addresses addresses = {.location_of = calloc(nodes, sizeof *addresses.location_of),
                                .locations = calloc(nodes, sizeof *addresses.locations),
                                .frames = calloc(nodes, sizeof *addresses.frames)};
  wn_status error = WN_OK;
  if (shown_stacks_create(exporting->report, &addresses.stacks) && addresses.location_of &&
      addresses.locations && addresses.frames) {
    struct call_paths owners = {
        .grouping = BY_STACK, .own_of = addresses.stacks.owner_of, .stack_count = (uint32_t)(nodes - 1)};
    error = stack_values_sum(exporting->report, &owners, nodes, &addresses.values);
    for (uint32_t node = 0; !error && node < nodes; node++)
      if (stack_values_any(&addresses.values[node])) pprof_put_stack(exporting, &addresses, node);
  } else {
    error = stacks_no_memory();
  }
  shown_stacks_destroy(&addresses.stacks);
  free(addresses.location_of);
  free(addresses.locations);
  free(addresses.frames);
  free(addresses.values);
  return error;
}

/* ---- shared ---- */

wn_status export_pprof(FILE *out, const struct export *export) {
  struct pprof pprof;
  struct exporting exporting = {.pprof = &pprof,
                                .export = export,
                                .report = export->report,
                                .names = export->report->names,
                                .source = export->report->samples->source};
  wn_status error = pprof_open(&pprof, out);
  if (error) return error;
  put_types(&pprof);
  pprof_put_run(&exporting);
  put_comments(&exporting);
  error = pprof_put_mappings(&exporting);
  if (!error) error = export->grouped ? put_groups(&exporting) : put_addresses(&exporting);
  wn_status closed = pprof_close(&pprof);
  return error ? error : closed;
}
/* SPDX-License-Identifier: MIT */
