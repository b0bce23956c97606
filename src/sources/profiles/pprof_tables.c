/* Reads the tables, and makes nodes of locations.
 *
 * A location with lines has a named frame for each. One without lines, or whose lines have no names
 * of functions (which pprof writes for a program that it could read only in part), lies in a mapping
 * with the path of a file or in none, and the symboliser names it. The symboliser counts from where the
 * file's address 0 was loaded (the bias of a module). The mapping tells which part of the file lies
 * where; which address this part has in the file, only the file tells (loaded_bias). Where it
 * cannot be read, the frame is the offset in the file, without a name. */
#include "sources/profiles/pprof_tables.h"

#include "base/array.h"
#include "base/open_file.h"
#include "base/text.h"
#include <ctype.h>
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LIST_MOST = 1 << 26, HEADERS_MOST = 64, LINES_MOST = 4096 };

static const uint64_t wanted_fields = 1u << PPROF_SAMPLE_TYPE | 1u << PPROF_MAPPING | 1u << PPROF_LOCATION |
                                      1u << PPROF_FUNCTION | 1u << PPROF_TEXT | 1u << PPROF_TIME |
                                      1u << PPROF_PERIOD_TYPE | 1u << PPROF_PERIOD | 1u << PPROF_COMMENT;

/* ---- lists ---- */

#define APPEND(tables, list, item)                                                          \
  ((list).count < LIST_MOST && ARRAY_ADD((list).items, (list).count, (list).capacity, item) \
       ? true                                                                               \
       : (tables->no_memory = true, false))

static bool pprof_tables_fail(struct pprof_tables *tables, const char *fault) {
  if (!tables->fault) tables->fault = fault;
  return false;
}

/* ---- reading ---- */

static bool read_type(struct pprof_tables *tables, struct wire wire, struct pprof_type *type) {
  struct wire_field field;
  *type = (struct pprof_type){0};
  while (wire_next(&wire, &field)) {
    if (field.number == 1) type->type = field.value;
    if (field.number == 2) type->unit = field.value;
  }
  return !wire.bad || pprof_tables_fail(tables, "a type is no message");
}

static bool read_mapping(struct pprof_tables *tables, struct wire wire) {
  struct pprof_mapping mapping = {0};
  struct wire_field field;
  uint64_t *const members[] = {
      NULL, &mapping.id, &mapping.begin, &mapping.limit, &mapping.offset, &mapping.file, &mapping.build_id};
  while (wire_next(&wire, &field))
    if (field.number < sizeof members / sizeof *members && !field.is_bytes)
      *members[field.number] = field.value;
  if (wire.bad) return pprof_tables_fail(tables, "a mapping is no message");
  if (!tables->mappings.count) tables->first_mapping = mapping.id;
  return APPEND(tables, tables->mappings, mapping);
}

static bool pprof_tables_read_line(struct pprof_tables *tables, struct wire wire) {
  struct pprof_line line = {0};
  struct wire_field field;
  while (wire_next(&wire, &field)) {
    if (field.number == 1) line.function = field.value;
    if (field.number == 2) line.line = field.value;
  }
  if (wire.bad) return pprof_tables_fail(tables, "a line is no message");
  return APPEND(tables, tables->lines, line);
}

static bool pprof_tables_read_location(struct pprof_tables *tables, struct wire wire) {
  struct pprof_location location = {.first_line = tables->lines.count};
  struct wire_field field;
  while (wire_next(&wire, &field)) {
    if (field.number == 1) location.id = field.value;
    if (field.number == 2) location.mapping = field.value;
    if (field.number == 3) location.address = field.value;
    if (field.number == 4 && field.is_bytes && !pprof_tables_read_line(tables, wire_of(&field))) return false;
  }
  if (wire.bad) return pprof_tables_fail(tables, "a location is no message");
  location.line_count = tables->lines.count - location.first_line;
  if (location.line_count > LINES_MOST) return pprof_tables_fail(tables, "a location has too many lines");
  return APPEND(tables, tables->locations, location);
}

static bool read_function(struct pprof_tables *tables, struct wire wire) {
  struct pprof_function function = {0};
  struct wire_field field;
  uint64_t *const members[] = {NULL, &function.id, &function.name, &function.linkage, &function.file};
  while (wire_next(&wire, &field))
    if (field.number < sizeof members / sizeof *members && !field.is_bytes)
      *members[field.number] = field.value;
  if (wire.bad) return pprof_tables_fail(tables, "a function is no message");
  return APPEND(tables, tables->functions, function);
}

static bool pprof_tables_read_text(struct pprof_tables *tables, const struct wire_field *field) {
  uint32_t number;
  if (!named_text(tables->stacks, (const char *)field->bytes, field->length, &number))
    return tables->no_memory = true, false;
  return APPEND(tables, tables->texts, number);
}

static bool read_comments(struct pprof_tables *tables, const struct wire_field *field) {
  struct wire wire = wire_of(field);
  uint64_t number = field->value;
  if (!field->is_bytes) return APPEND(tables, tables->comments, number);
  while (wire_packed(&wire, &number))
    if (!(APPEND(tables, tables->comments, number))) return false;
  return !wire.bad || pprof_tables_fail(tables, "the comments are no numbers");
}

static bool read_field(struct pprof_tables *tables, const struct wire_field *field) {
  enum pprof_field number = (enum pprof_field)field->number;
  bool is_number = number == PPROF_TIME || number == PPROF_PERIOD;
  if (number == PPROF_COMMENT) return read_comments(tables, field);
  if (field->is_bytes == is_number)
    return pprof_tables_fail(tables, "a field is of another kind than in a profile");
  struct pprof_type type;
  switch (number) {
  case PPROF_SAMPLE_TYPE:
    return read_type(tables, wire_of(field), &type) && APPEND(tables, tables->types, type);
  case PPROF_PERIOD_TYPE: return read_type(tables, wire_of(field), &tables->period_type);
  case PPROF_MAPPING: return read_mapping(tables, wire_of(field));
  case PPROF_LOCATION: return pprof_tables_read_location(tables, wire_of(field));
  case PPROF_FUNCTION: return read_function(tables, wire_of(field));
  case PPROF_TEXT: return pprof_tables_read_text(tables, field);
  case PPROF_TIME: tables->time_ns = field->value; return true;
  case PPROF_PERIOD: tables->period = field->value; return true;
  default: return true;
  }
}

/* ---- by id: the first member of each ---- */

static int by_id(const void *a, const void *b) {
  uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
  return (one > other) - (one < other);
}

static void *pprof_tables_look_up(const void *items, size_t count, size_t size, uint64_t id) {
  return count ? bsearch(&id, items, count, size, by_id) : NULL;
}

#define ORDER(list) \
  if ((list).count) qsort((list).items, (list).count, sizeof *(list).items, by_id)
#define LOOK_UP(list, id) pprof_tables_look_up((list).items, (list).count, sizeof *(list).items, id)

/* ---- nodes ---- */

static bool pprof_tables_step(struct pprof_tables *tables, uint32_t module, uint64_t offset, uint32_t *node) {
  struct trace_node next = {*node, module, offset};
  if (named_node(tables->stacks, &next, node)) return true;
  return tables->no_memory = true, false;
}

/* The number of the text that names a function; 0: none does. */
static uint32_t pprof_tables_function_name(struct pprof_tables *tables,
                                           const struct pprof_function *function) {
  uint32_t name = pprof_text_number(tables, function->name);
  return name ? name : pprof_text_number(tables, function->linkage);
}

static bool step_to_line(struct pprof_tables *tables, const struct pprof_line *line, uint32_t path,
                         uint32_t *node) {
  const struct pprof_function *function = LOOK_UP(tables->functions, line->function);
  uint32_t module, number;
  if (!function) return pprof_tables_fail(tables, "a line is of a function that does not exist");
  struct named_place place = {.function = pprof_tables_function_name(tables, function),
                              .file = pprof_text_number(tables, function->file),
                              .line = line->line < UINT32_MAX ? (uint32_t)line->line : 0};
  if (tables->fault) return false;
  if (!named_module(tables->stacks, path, &module) || !named_place(tables->stacks, &place, &number))
    return tables->no_memory = true, false;
  return pprof_tables_step(tables, module, number, node);
}

static uint8_t pprof_tables_digit(char c) {
  return (uint8_t)(isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10);
}

static void set_build_id(struct trace_module *module, const char *text) {
  while (module->build_id_bytes < TRACE_BUILD_ID_MAX && isxdigit((unsigned char)text[0]) &&
         isxdigit((unsigned char)text[1])) {
    module->build_id[module->build_id_bytes++] =
        (uint8_t)(pprof_tables_digit(text[0]) << 4 | pprof_tables_digit(text[1]));
    text += 2;
  }
}

/* What the loader added to the addresses of a file, by the segment that has the mapping's offset.
 * False: the file cannot be read, or has no such segment. */
static bool loaded_bias(const char *path, const struct pprof_mapping *mapping, uint64_t *bias) {
  Elf64_Ehdr head;
  Elf64_Phdr segments[HEADERS_MOST];
  int descriptor = open_file(path);
  bool found = false;
  if (descriptor < 0) return false;
  if (pread(descriptor, &head, sizeof head, 0) == (ssize_t)sizeof head &&
      !memcmp(head.e_ident, ELFMAG, SELFMAG) && head.e_ident[EI_CLASS] == ELFCLASS64 &&
      head.e_phentsize == sizeof *segments) {
    size_t size = sizeof *segments * (head.e_phnum < HEADERS_MOST ? head.e_phnum : HEADERS_MOST);
    ssize_t count = pread(descriptor, segments, size, (off_t)head.e_phoff);
    for (size_t i = 0; !found && count > 0 && i < (size_t)count / sizeof *segments; i++) {
      const Elf64_Phdr *segment = &segments[i];
      uint64_t begin = segment->p_offset & ~(uint64_t)4095;
      found = segment->p_type == PT_LOAD && mapping->offset >= begin &&
              mapping->offset - begin < segment->p_filesz + (segment->p_offset - begin);
      if (found) *bias = mapping->begin - (mapping->offset + segment->p_vaddr - segment->p_offset);
    }
  }
  close(descriptor);
  return found;
}

/* The module of a mapping's addresses. */
static bool pprof_tables_map(struct pprof_tables *tables, struct pprof_mapping *mapping) {
  struct trace_module module = {.base = mapping->begin, .size = mapping->limit - mapping->begin};
  const char *path = pprof_text_of(tables, mapping->file),
             *build_id = pprof_text_of(tables, mapping->build_id);
  char absolute[PATH_MAX];
  if (tables->fault) return false;
  /* pprof writes the path of a program as it was given: ./prog. The symboliser takes whole paths. */
  if (*path == '.' && realpath(path, absolute)) path = absolute;
  module.path = trace_text_of(path);
  if (!loaded_bias(path, mapping, &module.bias))
    module.base = TRACE_LANGUAGE_BASE, module.bias = mapping->begin - mapping->offset;
  set_build_id(&module, build_id);
  if (named_mapped(tables->stacks, &module, &mapping->module)) return true;
  return tables->no_memory = true, false;
}

/* A trace has return addresses: one byte behind those of a profile. */
static bool step_to_address(struct pprof_tables *tables, const struct pprof_location *location,
                            struct pprof_mapping *mapping, uint32_t *node) {
  if (!mapping) return pprof_tables_step(tables, 0, location->address + 1, node);
  if (!mapping->module && !pprof_tables_map(tables, mapping)) return false;
  const struct trace_module *module = &tables->stacks->modules[mapping->module];
  uint64_t offset = location->address + 1 - module->bias;
  if (!trace_is_language(module)) return pprof_tables_step(tables, mapping->module, offset, node);
  char name[TRACE_TEXT_MOST + 32];
  struct named_place place = {0};
  uint32_t path, number, language;
  const char *file = path_name(module->path.bytes);
  size_t length = stem_length(file);
  snprintf(name, sizeof name, "%.*s+0x%llx", (int)(length < 255 ? length : 255), file,
           (unsigned long long)offset - 1);
  if (!named_text(tables->stacks, name, strlen(name), &place.function) ||
      !named_text(tables->stacks, module->path.bytes, module->path.length, &path) ||
      !named_module(tables->stacks, path, &language) || !named_place(tables->stacks, &place, &number))
    return tables->no_memory = true, false;
  return pprof_tables_step(tables, language, number, node);
}

/* Whether a location is known by its address alone. */
static bool is_nameless(struct pprof_tables *tables, const struct pprof_location *location) {
  for (size_t i = 0; i < location->line_count; i++) {
    const struct pprof_line *line = &tables->lines.items[location->first_line + i];
    const struct pprof_function *function = LOOK_UP(tables->functions, line->function);
    if (!function || pprof_tables_function_name(tables, function)) return false;
  }
  return !location->line_count || location->address;
}

/* ---- shared ---- */

bool pprof_tables_read(struct pprof_tables *tables, struct wire_stream *stream) {
  struct wire_field field;
  while (wire_stream_next(stream, wanted_fields, &field))
    if (!read_field(tables, &field)) return false;
  if (stream->bad || stream->no_memory) return false;
  ORDER(tables->mappings);
  ORDER(tables->locations);
  ORDER(tables->functions);
  return true;
}

void pprof_tables_destroy(struct pprof_tables *tables) {
  free(tables->types.items);
  free(tables->mappings.items);
  free(tables->locations.items);
  free(tables->lines.items);
  free(tables->functions.items);
  free(tables->texts.items);
  free(tables->comments.items);
}

uint32_t pprof_text_number(struct pprof_tables *tables, uint64_t number) {
  if (number < tables->texts.count) return tables->texts.items[number];
  if (number) pprof_tables_fail(tables, "a text has a number that does not exist");
  return 0;
}

const char *pprof_text_of(struct pprof_tables *tables, uint64_t number) {
  return named_text_of(tables->stacks, pprof_text_number(tables, number));
}

bool pprof_step(struct pprof_tables *tables, uint64_t id, uint32_t *node) {
  const struct pprof_location *location = LOOK_UP(tables->locations, id);
  if (!location) return pprof_tables_fail(tables, "a sample has a location that does not exist");
  struct pprof_mapping *mapping = LOOK_UP(tables->mappings, location->mapping);
  if (!mapping && location->mapping)
    return pprof_tables_fail(tables, "a location has a mapping that does not exist");
  if (is_nameless(tables, location)) return step_to_address(tables, location, mapping, node);
  uint32_t path = mapping ? pprof_text_number(tables, mapping->file) : 0;
  for (size_t i = location->line_count; i-- > 0;)
    if (!step_to_line(tables, &tables->lines.items[location->first_line + i], path, node)) return false;
  return true;
}
/* SPDX-License-Identifier: MIT */
