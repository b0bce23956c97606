/* The sections of a container with names and stacks. */
#include "page/container_names.h"

#include "base/error.h"
#include "page/ranks.h"
#include <stdlib.h>

/* ---- numbers ---- */

/* Marks a node and its callers. */
static void use_node(const struct recording *recording, struct numbering *numbering, uint32_t nodes,
                     uint32_t node) {
  while (node && node <= nodes && !numbering->node[node]) {
    numbering->node[node] = 1;
    node = source_stack(recording->samples->source, node).parent;
  }
}

static void use_frames(struct numbering *numbering, struct frames frames) {
  for (size_t i = 0; i < frames.count; i++) {
    const struct frame *frame = &frames.frame[i];
    numbering->string[frame->function] = numbering->string[frame->module] = 1;
    numbering->string[frame->file] = numbering->string[frame->place] = 1;
  }
}

/* The builds of all files, and those of the names that are used. */
static void use_builds(const struct builds *builds, struct numbering *numbering, uint32_t strings) {
  for (size_t i = 0; i < builds->known_count; i++) numbering->string[builds->known[i]] = 1;
  for (uint32_t name = 1; name < strings; name++)
    if (numbering->string[name]) numbering->string[builds_of(builds, name)] = 1;
}

/* Replaces the marks by numbers from 1 on. Returns the last. */
static uint32_t count_marks(uint32_t *marks, uint32_t count) {
  uint32_t last = 0;
  for (uint32_t i = 1; i < count; i++)
    if (marks[i]) marks[i] = ++last;
  return last;
}

bool numbering_create(struct numbering *numbering, const struct recording *recording) {
  const struct samples *samples = recording->samples;
  uint32_t nodes = source_stack_count(samples->source), strings = recording->names.strings->count;
  *numbering = (struct numbering){calloc((size_t)nodes + 1, sizeof *numbering->node),
                                  calloc((size_t)strings + 1, sizeof *numbering->string), 0, 0};
  if (!numbering->node || !numbering->string) return false;
  for (size_t i = 0; i < samples->row_count; i++)
    use_node(recording, numbering, nodes, samples->rows[i].stack);
  for (size_t i = 0; i < samples->mapped.count; i++)
    use_node(recording, numbering, nodes, samples->mapped.rows[i].stack);
  for (uint32_t node = 1; node <= nodes; node++)
    if (numbering->node[node]) use_frames(numbering, names_of(&recording->names, node));
  for (size_t i = 0; i < recording->wrappers.count; i++)
    numbering->string[recording->wrappers.functions[i]] = 1;
  use_builds(&recording->names.builds, numbering, strings);
  numbering->string[0] = 0;
  numbering->nodes = count_marks(numbering->node, nodes + 1);
  numbering->strings = count_marks(numbering->string, strings);
  return true;
}

void numbering_destroy(struct numbering *numbering) {
  free(numbering->node);
  free(numbering->string);
}

/* ---- writing ---- */

/* What finds equal frames and equal lists. A list is a cell: a frame, and the cell of the frames
 * after it; so equal lists are one cell. */
struct gathering {
  const struct numbering *numbering;
  struct ranks frames, cells, lists; /* `lists`: the cells that are whole lists */
};

static uint32_t container_names_add(struct ranks *ranks, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  return ranks_add(ranks, &(struct rank_key){{a, b, c, d}});
}

static uint32_t container_names_add_frame(struct gathering *gathering, const struct frame *frame) {
  const uint32_t *string = gathering->numbering->string;
  return container_names_add(&gathering->frames,
                             (uint64_t)string[frame->function] << 32 | string[frame->module],
                             (uint64_t)string[frame->file] << 32 | frame->line,
                             (uint64_t)frame->first_column << 32 | frame->last_column,
                             (uint64_t)string[frame->place] << 32 | (uint64_t)frame->between << 2 |
                                 (uint64_t)frame->inlined << 1 | frame->wrapper);
}

/* The index of a list; UINT32_MAX without memory. */
static uint32_t add_list(struct gathering *gathering, struct frames frames) {
  uint64_t cell = 0; /* cells count from 1: 0 is the empty list */
  for (size_t i = frames.count; i-- > 0;) {
    uint32_t frame = container_names_add_frame(gathering, &frames.frame[i]);
    uint32_t next =
        frame == UINT32_MAX ? UINT32_MAX : container_names_add(&gathering->cells, frame, cell, 0, 0);
    if (next == UINT32_MAX) return UINT32_MAX;
    cell = (uint64_t)next + 1;
  }
  return container_names_add(&gathering->lists, cell, 0, 0, 0);
}

static struct frame container_names_frame_of(const struct rank_key *key) {
  return (struct frame){.function = (uint32_t)(key->part[0] >> 32),
                        .module = (uint32_t)key->part[0],
                        .file = (uint32_t)(key->part[1] >> 32),
                        .line = (uint32_t)key->part[1],
                        .first_column = (uint32_t)(key->part[2] >> 32),
                        .last_column = (uint32_t)key->part[2],
                        .place = (uint32_t)(key->part[3] >> 32),
                        .between = key->part[3] & 4,
                        .inlined = key->part[3] & 2,
                        .wrapper = key->part[3] & 1};
}

static uint32_t container_names_length_of(const struct gathering *gathering, uint64_t cell) {
  uint32_t length = 0;
  for (; cell; cell = gathering->cells.keys[cell - 1].part[1]) length++;
  return length;
}

/* Makes the arrays of what was gathered. */
static bool lay_out(struct frame_lists *lists, const struct gathering *gathering) {
  size_t frames = gathering->frames.count, count = gathering->lists.count, members = 0;
  lists->frames = malloc((frames + 1) * sizeof *lists->frames);
  lists->lengths = malloc((count + 1) * sizeof *lists->lengths);
  if (!lists->frames || !lists->lengths) return false;
  for (size_t i = 0; i < frames; i++) lists->frames[i] = container_names_frame_of(&gathering->frames.keys[i]);
  for (size_t i = 0; i < count; i++)
    members += lists->lengths[i] = container_names_length_of(gathering, gathering->lists.keys[i].part[0]);
  lists->members = malloc((members + 1) * sizeof *lists->members);
  if (!lists->members) return false;
  lists->frame_count = frames;
  lists->list_count = count;
  for (size_t i = 0; i < count; i++)
    for (uint64_t cell = gathering->lists.keys[i].part[0]; cell;
         cell = gathering->cells.keys[cell - 1].part[1])
      lists->members[lists->member_count++] = (uint32_t)gathering->cells.keys[cell - 1].part[0];
  return true;
}

static bool container_names_gather(struct stored_stacks *stacks, const struct recording *recording,
                                   struct gathering *gathering) {
  const struct numbering *numbering = gathering->numbering;
  uint32_t nodes = source_stack_count(recording->samples->source);
  for (uint32_t node = 1; node <= nodes; node++) {
    if (!numbering->node[node]) continue;
    uint32_t parent = source_stack(recording->samples->source, node).parent;
    uint32_t list = add_list(gathering, names_of(&recording->names, node));
    if (list == UINT32_MAX) return false;
    uint32_t back = parent ? numbering->node[node] - numbering->node[parent] : 0;
    stacks->nodes[stacks->node_count++] = (struct stored_node){back, list};
  }
  return lay_out(&stacks->lists, gathering);
}

static bool copy_wrappers(struct stored_stacks *stacks, const struct recording *recording,
                          const struct numbering *numbering) {
  size_t count = recording->wrappers.count;
  stacks->wrappers = malloc((count + 1) * sizeof *stacks->wrappers);
  if (!stacks->wrappers) return false;
  for (size_t i = 0; i < count; i++)
    stacks->wrappers[i] = numbering->string[recording->wrappers.functions[i]];
  stacks->wrapper_count = count;
  return true;
}

static void code_types_of_rows(struct coding *coding, struct samples *samples, size_t *rows) {
  CODE_NUMBERS(coding, samples->row_types, *rows, COLUMN_PLAIN);
}

static bool copy_builds(struct stored_stacks *stacks, const struct names *names,
                        const struct numbering *numbering) {
  const struct builds *builds = &names->builds;
  stacks->builds = malloc((builds->known_count + 1) * sizeof *stacks->builds);
  stacks->addresses = malloc(((size_t)numbering->strings + 1) * sizeof *stacks->addresses);
  if (!stacks->builds || !stacks->addresses) return false;
  for (size_t i = 0; i < builds->known_count; i++)
    stacks->builds[stacks->build_count++] = numbering->string[builds->known[i]];
  for (uint32_t name = 1; name < names->strings->count; name++)
    if (numbering->string[name] && builds_of(builds, name))
      stacks->addresses[stacks->address_count++] =
          (struct stored_address){numbering->string[name], numbering->string[builds_of(builds, name)]};
  return true;
}

bool stacks_create(struct stored_stacks *stacks, const struct recording *recording,
                   const struct numbering *numbering) {
  struct gathering gathering = {.numbering = numbering};
  const char *hint = recording->names.hint;
  *stacks = (struct stored_stacks){.nodes = malloc(((size_t)numbering->nodes + 1) * sizeof *stacks->nodes),
                                   .hint = hint ? strdup(hint) : NULL};
  bool done =
      stacks->nodes && (!hint || stacks->hint) && container_names_gather(stacks, recording, &gathering) &&
      copy_wrappers(stacks, recording, numbering) && copy_builds(stacks, &recording->names, numbering);
  ranks_destroy(&gathering.frames);
  ranks_destroy(&gathering.cells);
  ranks_destroy(&gathering.lists);
  return done;
}

void write_strings(struct coding *coding, const struct recording *recording,
                   const struct numbering *numbering) {
  const struct strings *strings = recording->names.strings;
  size_t count = numbering->strings;
  code_count(coding, &count, 2);
  for (uint32_t i = 1; i < strings->count; i++)
    if (numbering->string[i]) code_string(coding, &strings->text[i]);
}

void write_types(struct coding *coding, struct samples *samples) {
  struct strings *types = samples->types;
  size_t count = types->count - 1, rows = samples->row_count;
  code_count(coding, &count, 2);
  for (uint32_t i = 1; i < types->count; i++) code_string(coding, &types->text[i]);
  code_types_of_rows(coding, samples, &rows);
}

/* ---- in both directions ---- */

void code_frames(struct coding *coding, struct stored_stacks *stacks) {
  struct frame_lists *lists = &stacks->lists;
  CODE_TABLE(coding, lists->frames, lists->frame_count, 0, DELTA(function), PLAIN(module), DELTA(file),
             PLAIN(line), PLAIN(first_column), PLAIN(last_column), DELTA(place), FLAG(inlined), FLAG(wrapper),
             FLAG(between));
  CODE_NUMBERS(coding, lists->lengths, lists->list_count, COLUMN_PLAIN);
  CODE_NUMBERS(coding, lists->members, lists->member_count, COLUMN_DELTA);
  CODE_NUMBERS(coding, stacks->wrappers, stacks->wrapper_count, COLUMN_PLAIN);
  code_string(coding, &stacks->hint);
}

void code_builds(struct coding *coding, struct stored_stacks *stacks) {
  CODE_NUMBERS(coding, stacks->builds, stacks->build_count, COLUMN_DELTA);
  CODE_TABLE(coding, stacks->addresses, stacks->address_count, 0, DELTA(name), DELTA(build));
}

void code_nodes(struct coding *coding, struct stored_stacks *stacks) {
  CODE_TABLE(coding, stacks->nodes, stacks->node_count, 0, PLAIN(back), PLAIN(list));
}

void stacks_destroy(struct stored_stacks *stacks) {
  free(stacks->lists.frames);
  free(stacks->lists.lengths);
  free(stacks->lists.members);
  free(stacks->builds);
  free(stacks->addresses);
  free(stacks->nodes);
  free(stacks->wrappers);
  free(stacks->hint);
}

/* ---- reading ---- */

void read_strings(struct coding *coding, struct strings **strings) {
  size_t count = 0;
  code_count(coding, &count, 2);
  *strings = strings_create();
  if (!*strings) coding->no_memory = true;
  for (size_t i = 1; i <= count && !coding_failed(coding); i++) {
    char *text = NULL;
    code_string(coding, &text);
    uint32_t number = text && *text ? strings_intern(*strings, text) : UINT32_MAX;
    if (!number) coding->no_memory = true;
    if (number && number != i) coding_fail(coding, "a string is empty, or there twice");
    free(text);
  }
}

void read_types(struct coding *coding, struct samples *samples) {
  size_t rows = 0;
  read_strings(coding, &samples->types);
  code_types_of_rows(coding, samples, &rows);
  if (!coding_failed(coding) && rows != samples->row_count)
    coding_fail(coding, "not each row has the type of its block");
  for (size_t i = 0; i < rows && !coding_failed(coding); i++)
    if (samples->row_types[i] >= samples->types->count)
      coding_fail(coding, "a row has a type that is not there");
}

static bool frames_exist(const struct frame_lists *lists, uint32_t strings) {
  for (size_t i = 0; i < lists->frame_count; i++) {
    const struct frame *frame = &lists->frames[i];
    if (frame->function >= strings || frame->module >= strings || frame->file >= strings ||
        frame->place >= strings)
      return false;
  }
  return true;
}

static bool lists_are_whole(const struct frame_lists *lists) {
  uint64_t members = 0;
  for (size_t i = 0; i < lists->list_count; i++) members += lists->lengths[i];
  for (size_t i = 0; i < lists->member_count; i++)
    if (lists->members[i] >= lists->frame_count) return false;
  return members == lists->member_count;
}

static bool nodes_exist(const struct stored_stacks *stacks) {
  for (size_t i = 0; i < stacks->node_count; i++)
    if (stacks->nodes[i].back > i || stacks->nodes[i].list >= stacks->lists.list_count) return false;
  return stacks->node_count < UINT32_MAX;
}

/* Each name once, so that no build is one of several. */
static bool builds_exist(const struct stored_stacks *stacks, uint32_t strings) {
  for (size_t i = 0; i < stacks->build_count; i++)
    if (!stacks->builds[i] || stacks->builds[i] >= strings) return false;
  for (size_t i = 0; i < stacks->address_count; i++) {
    const struct stored_address *address = &stacks->addresses[i];
    if (address->name <= (i ? address[-1].name : 0) || address->name >= strings || !address->build ||
        address->build >= strings)
      return false;
  }
  return true;
}

static const char *fault_of(const struct stored_stacks *stacks, uint32_t strings) {
  for (size_t i = 0; i < stacks->wrapper_count; i++)
    if (stacks->wrappers[i] >= strings) return "section FRAM: a wrapper has no name";
  return !frames_exist(&stacks->lists, strings) ? "section FRAM: a string does not exist"
         : !lists_are_whole(&stacks->lists)     ? "section FRAM: a list of frames is not whole"
         : !builds_exist(stacks, strings)       ? "section BLDS: a name or a build does not exist"
         : !nodes_exist(stacks)                 ? "section NODE: a caller or a list of frames does not exist"
                                                : NULL;
}

/* The first member of each list. NULL without memory. */
static uint32_t *starts_of(const struct frame_lists *lists) {
  uint32_t *starts = malloc((lists->list_count + 1) * sizeof *starts), at = 0;
  for (size_t i = 0; starts && i < lists->list_count; i++) {
    starts[i] = at;
    at += lists->lengths[i];
  }
  return starts;
}

static bool give_nodes(const struct stored_stacks *stacks, struct names *names,
                       struct container_source *source) {
  const struct frame_lists *lists = &stacks->lists;
  size_t count = stacks->node_count;
  uint32_t *starts = starts_of(lists);
  names->frame = malloc((lists->member_count + 1) * sizeof *names->frame);
  names->first = calloc(count + 1, sizeof *names->first);
  names->count = calloc(count + 1, sizeof *names->count);
  source->parents = calloc(count + 1, sizeof *source->parents);
  bool done = starts && names->frame && names->first && names->count && source->parents;
  for (size_t i = 0; done && i < lists->member_count; i++) names->frame[i] = lists->frames[lists->members[i]];
  for (uint32_t node = 1; done && node <= count; node++) {
    const struct stored_node *stored = &stacks->nodes[node - 1];
    names->first[node] = starts[stored->list];
    names->count[node] = lists->lengths[stored->list];
    source->parents[node] = stored->back ? node - stored->back : 0;
  }
  source->node_count = done ? (uint32_t)count : 0;
  free(starts);
  return done;
}

static bool give_builds(struct stored_stacks *stacks, struct names *names) {
  names->builds.known = stacks->builds;
  names->builds.known_count = names->builds.known_capacity = stacks->build_count;
  stacks->builds = NULL;
  for (size_t i = 0; i < stacks->address_count; i++)
    if (!builds_mark(&names->builds, names->strings, stacks->addresses[i].name, stacks->addresses[i].build))
      return false;
  return true;
}

wn_status stacks_give(struct stored_stacks *stacks, struct recording *recording,
                      struct container_source *source) {
  const char *fault = fault_of(stacks, recording->names.strings->count);
  if (fault) return error_set(WN_EINVAL, "%s", fault);
  if (!give_nodes(stacks, &recording->names, source) || !give_builds(stacks, &recording->names))
    return error_set(WN_ENOMEM, "not enough memory for the stacks");
  recording->names.hint = stacks->hint;
  recording->wrappers = (struct wrappers){.functions = stacks->wrappers, .count = stacks->wrapper_count};
  stacks->hint = NULL;
  stacks->wrappers = NULL;
  return WN_OK;
}
/* SPDX-License-Identifier: MIT */
