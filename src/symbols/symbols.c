/* Caches modules and addresses, so that each is looked up once, and names the frames of an address:
 * from DWARF, then from the symbol table, then from the address itself. Without memory a frame is
 * called "?". */
#include "symbols/symbols.h"

#include "base/array.h"
#include "base/code_id.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/text.h"
#include "symbols/extent.h"
#include "symbols/inlines.h"
#include "symbols/linkage.h"
#include "symbols/module_file.h"
#include "symbols/symbol_table.h"
#include "symbols/wanted.h"
#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MOST = 64, SCOPES_MOST = 32, DEPTH_MOST = 4 };

/* What a string that lasts takes besides its bytes, and an answer besides its frames: in malloc, in
 * a growing array, and in the index or the table. */
enum { STRING_BYTES = 48, ANSWER_BYTES = 32 };

/* One address and its frames. */
struct answer {
  struct answer *next;
  uint64_t offset;
  size_t count;
  struct symbol_frame frame[];
};

struct answers {
  struct answer **bucket;
  size_t count, buckets; /* buckets is a power of two */
};

struct known_module {
  struct known_module *next;
  char *path;
  unsigned char build_id[64];
  size_t build_id_bytes;
  bool closed;                  /* symbols_close_files: there is no file, inlines or table */
  bool asked, asked_supplement; /* symbols_fetch asked for its debug file, and that file's supplement */
  struct module_file file;
  struct inlines inlines;
  struct symbol_table table;
  struct answers answers;
  char *hint;
};

/* A string that was allocated here, in contrast to one in a mapped file. */
struct made_string {
  struct made_string *next;
  char text[];
};

struct symbols {
  struct symbols_options options;
  struct module_places places;
  struct known_module *modules;
  struct made_string *strings;
  /* Of `lasting`: the strings of all answers, each once; the index has their numbers plus 1. */
  char **lasting;
  size_t lasting_count, lasting_capacity;
  struct index lasting_by_text;
  size_t answer_bytes;
};

/* ---- strings ---- */

static const char *symbols_keep(struct symbols *symbols, const char *text) {
  size_t bytes = strlen(text) + 1;
  struct made_string *string = malloc(sizeof *string + bytes);
  if (!string) return "?";
  memcpy(string->text, text, bytes);
  string->next = symbols->strings;
  symbols->strings = string;
  return string->text;
}

static const char *demangled(struct symbols *symbols, const char *name) {
  char *text = name_demangle(name);
  if (!text) return name;
  const char *kept = symbols_keep(symbols, text);
  free(text);
  return kept;
}

static void free_strings(struct symbols *symbols) {
  for (struct made_string *string = symbols->strings, *next; string; string = next) {
    next = string->next;
    free(string);
  }
  symbols->strings = NULL;
}

/* The string that lasts until symbols_close. */
static const char *make_last(struct symbols *symbols, const char *text) {
  if (!text) return NULL;
  struct index_walk walk = {.hash = hash_mix(hash_bytes(text, strlen(text)))};
  for (uint32_t found; (found = index_next(&symbols->lasting_by_text, &walk));)
    if (!strcmp(symbols->lasting[found - 1], text)) return symbols->lasting[found - 1];
  char *copy = strdup(text);
  bool room = copy && array_reserve(&symbols->lasting, &symbols->lasting_capacity, symbols->lasting_count + 1,
                                    sizeof *symbols->lasting);
  if (!room || !index_add(&symbols->lasting_by_text, walk.hash, (uint32_t)symbols->lasting_count + 1))
    return free(copy), "?";
  symbols->answer_bytes += strlen(copy) + STRING_BYTES;
  return symbols->lasting[symbols->lasting_count++] = copy;
}

/* ---- names ---- */

static const char *symbols_string_of(Dwarf_Die *entry, unsigned attribute) {
  Dwarf_Attribute found;
  return dwarf_formstring(dwarf_attr_integrate(entry, attribute, &found));
}

/* The value of an attribute; -1 if there is none. */
static int symbols_number_of(Dwarf_Die *entry, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value;
  return dwarf_formudata(dwarf_attr(entry, attribute, &found), &value) == 0 ? (int)value : -1;
}

/* The declaration of the function whose body or copy an entry is. */
static Dwarf_Die declaration_of(Dwarf_Die *entry) {
  static const unsigned references[] = {DW_AT_abstract_origin, DW_AT_specification};
  Dwarf_Die die = *entry, next;
  Dwarf_Attribute found;
  for (size_t i = 0; i < sizeof references / sizeof *references; i++)
    if (dwarf_formref_die(dwarf_attr(&die, references[i], &found), &next)) die = next;
  return die;
}

static const char *linkage_of(Dwarf_Die *entry) {
  const char *linkage = symbols_string_of(entry, DW_AT_linkage_name);
  return linkage ? linkage : symbols_string_of(entry, DW_AT_MIPS_linkage_name);
}

static const char *symbols_function_name(struct symbols *symbols, const struct known_module *known,
                                         const struct unit_place *place, Dwarf_Die *entry, int depth);

/* The name of a namespace, class or function. The class of a lambda has none: `number` tells it
 * from others in the scope around it. */
static const char *scope_name(struct symbols *symbols, const struct known_module *known,
                              const struct unit_place *place, Dwarf_Die *scope, const char *function,
                              unsigned number, int depth) {
  char lambda[32];
  int tag = dwarf_tag(scope);
  const char *name = tag == DW_TAG_subprogram ? symbols_function_name(symbols, known, place, scope, depth)
                                              : symbols_string_of(scope, DW_AT_name);
  if (name) return name;
  if (tag == DW_TAG_namespace) return "(anonymous namespace)";
  if (!function || strcmp(function, "operator()") != 0) return "(anonymous)";
  snprintf(lambda, sizeof lambda, "{lambda#%u}", number);
  return symbols_keep(symbols, lambda);
}

/* The qualified name "Deep<3>::go<int>" of a function for which DWARF has only "go<int>". The
 * name of a function around begins it anew, since that is qualified too. */
static const char *qualified(struct symbols *symbols, const struct known_module *known,
                             const struct unit_place *place, Dwarf_Die *entry, const char *name, int depth) {
  Dwarf_Die scopes[SCOPES_MOST], declaration = declaration_of(entry);
  unsigned number = 0;
  size_t count = inlines_scopes(&known->inlines, place, &declaration, scopes, SCOPES_MOST, &number);
  size_t length = 0;
  char text[1024];
  for (size_t i = 0; i < count && length < sizeof text; i++) {
    const char *function = i + 1 == count ? name : NULL;
    if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram) length = 0;
    length +=
        (size_t)snprintf(text + length, sizeof text - length,
                         "%s::", scope_name(symbols, known, place, &scopes[i], function, number, depth));
  }
  bool spaced = strstr(name, "> >");
  if ((!count && !spaced) || length + strlen(name) >= sizeof text) return name;
  strcpy(text + length, name);
  name_join_brackets(text);
  return symbols_keep(symbols, text);
}

/* NULL: DWARF has no name. `depth`: damaged entries may contain each other. */
static const char *symbols_function_name(struct symbols *symbols, const struct known_module *known,
                                         const struct unit_place *place, Dwarf_Die *entry, int depth) {
  const char *linkage = linkage_of(entry), *name = symbols_string_of(entry, DW_AT_name);
  if (linkage) return demangled(symbols, linkage);
  return name && depth < DEPTH_MOST ? qualified(symbols, known, place, entry, name, depth + 1) : name;
}

/* Of a skeleton without its folder libdw asks the split unit, and opens whatever file it names. */
static bool has_folder(Dwarf_Die *unit) {
  Dwarf_Attribute found;
  return !split_is_skeleton(unit) || dwarf_attr(unit, DW_AT_comp_dir, &found);
}

/* The file in which a function is declared. The entry that says so may be of another unit. */
static const char *home_of(Dwarf_Die *entry) {
  Dwarf_Attribute found;
  Dwarf_Word file;
  Dwarf_Files *files;
  Dwarf_Die unit;
  size_t count;
  if (dwarf_formudata(dwarf_attr_integrate(entry, DW_AT_decl_file, &found), &file) != 0 ||
      !dwarf_cu_die(found.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) || !has_folder(&unit) ||
      dwarf_getsrcfiles(&unit, &files, &count) != 0 || file >= count)
    return NULL;
  const char *path = dwarf_filesrc(files, (size_t)file, NULL, NULL);
  return path ? path_name(path) : NULL;
}

static void name_entry(struct symbols *symbols, const struct known_module *known,
                       const struct unit_place *place, Dwarf_Die *entry, struct symbol_frame *frame) {
  const char *linkage = linkage_of(entry);
  frame->linkage = linkage ? linkage : symbols_string_of(entry, DW_AT_name);
  frame->function = symbols_function_name(symbols, known, place, entry, 0);
  frame->home = home_of(entry);
}

/* Sets the file and line of the frame around an inlined call: those of the call. DWARF 5 counts
 * files from 0, earlier versions from 1. */
static void name_call_site(Dwarf_Die *unit, Dwarf_Die *call, struct symbol_frame *around) {
  Dwarf_Files *files;
  size_t count;
  Dwarf_Half version = 0;
  dwarf_cu_info(unit->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL);
  int file = symbols_number_of(call, DW_AT_call_file), line = symbols_number_of(call, DW_AT_call_line);
  around->line = line > 0 ? line : 0;
  if (file >= (version < 5) && has_folder(unit) && dwarf_getsrcfiles(unit, &files, &count) == 0 &&
      (size_t)file < count)
    around->file = dwarf_filesrc(files, (size_t)file, NULL, NULL);
}

/* Uses libdw: libdwfl finds no line if the compiler wrote no table of ranges. */
static void name_line(struct unit_place *place, struct symbol_frame *frame) {
  Dwarf_Line *line = has_folder(&place->unit) ? dwarf_getsrc_die(&place->unit, place->address) : NULL;
  if (!line) return;
  frame->file = dwarf_linesrc(line, NULL, NULL);
  if (dwarf_lineno(line, &frame->line) != 0) frame->line = 0;
}

/* Whether a function of a header has the attribute artificial, which means that debuggers should
 * show its callers instead. GCC gives it to the body of a lambda, too, which the user wrote. */
static bool is_transparent(Dwarf_Die *entry) {
  Dwarf_Attribute found;
  bool artificial = false;
  const char *name = symbols_string_of(entry, DW_AT_name);
  if (name && !strcmp(name, "operator()")) return false;
  return dwarf_attr_integrate(entry, DW_AT_artificial, &found) && dwarf_formflag(&found, &artificial) == 0 &&
         artificial;
}

/* Whether an address outside of all functions that are known has a line: in assembly, and where
 * the functions of the unit are in a split file that is missing. In other units the last line
 * before such an address is that of another function, often of a cold part that happens to
 * precede it. */
static bool has_line_alone(struct unit_place *place) {
  if (place->bare || split_is_skeleton(&place->unit)) return place->bare;
  return dwarf_srclang(&place->unit) == DW_LANG_Mips_Assembler;
}

/* Frames from DWARF, innermost first, without transparent inlined calls at the innermost end. If
 * DWARF does not have the address, one frame without a function. */
static size_t frames_from_dwarf(struct symbols *symbols, struct known_module *known, Dwarf_Addr address,
                                struct symbol_frame *frames) {
  Dwarf_Die entries[FRAMES_MOST];
  struct unit_place place;
  size_t count = inlines_find(&known->inlines, known->file.module, address, &place, entries, FRAMES_MOST);
  for (size_t i = 0; i < count; i++) { /* entry 0 is the function; frame 0 the innermost call */
    struct symbol_frame *frame = &frames[count - 1 - i];
    name_entry(symbols, known, &place, &entries[i], frame);
    frame->inlined = i > 0;
    if (i > 0) name_call_site(&place.unit, &entries[i], frame + 1);
  }
  if (count || (place.unit.addr && has_line_alone(&place))) name_line(&place, &frames[0]);
  size_t hidden = 0;
  while (count > 1 && is_transparent(&entries[count - 1])) count--, hidden++;
  if (hidden) memmove(frames, frames + hidden, count * sizeof *frames);
  return count ? count : 1;
}

/* Names a frame from the symbol table. A symbol without a size names only the function that
 * contains it, which begins at `begin`; otherwise it would name all the functions without symbols that
 * follow it. */
static void name_from_table(struct symbols *symbols, struct known_module *known, Dwarf_Addr address,
                            Dwarf_Addr begin, struct symbol_frame *frame) {
  const char *name = symbol_table_find(&known->table, known->file.module, address);
  if (!name) name = symbol_table_find_sizeless(&known->table, known->file.module, begin, address);
  if (!name) return;
  frame->linkage = name;
  frame->function = demangled(symbols, name);
}

/* Gives a function without a symbol the name "libfoo+0xaddress". */
static void name_by_address(struct symbols *symbols, const struct known_module *known, uint64_t address,
                            struct symbol_frame *frame) {
  char text[512];
  const char *name = path_name(known->path);
  snprintf(text, sizeof text, "%.*s+0x%llx", (int)stem_length(name), name, (unsigned long long)address);
  frame->function = symbols_keep(symbols, text);
  frame->nameless = true;
}

static size_t find_frames(struct symbols *symbols, struct known_module *known, uint64_t offset,
                          struct symbol_frame *frames) {
  size_t count = 1;
  struct extent extent = {offset, offset};
  memset(frames, 0, FRAMES_MOST * sizeof *frames);
  if (known->file.module) {
    bool has_extent = extent_find(known->file.module, offset - 1, &extent);
    count = frames_from_dwarf(symbols, known, offset - 1, frames);
    struct symbol_frame *outermost = &frames[count - 1];
    if (!outermost->function) name_from_table(symbols, known, offset - 1, extent.begin, outermost);
    if (has_extent) outermost->bytes = (uint32_t)(extent.end - extent.begin);
  }
  for (size_t i = 0; i < count; i++)
    if (!frames[i].function) name_by_address(symbols, known, extent.begin, &frames[i]);
  return count;
}

/* ---- answers ---- */

static bool answers_grow(struct answers *answers) {
  size_t buckets = answers->buckets ? answers->buckets * 4 : 256;
  struct answer **larger = calloc(buckets, sizeof *larger);
  if (!larger) return answers->buckets != 0;
  for (size_t i = 0; i < answers->buckets; i++)
    for (struct answer *answer = answers->bucket[i], *next; answer; answer = next) {
      next = answer->next;
      struct answer **place = &larger[hash_mix(answer->offset) & (buckets - 1)];
      answer->next = *place;
      *place = answer;
    }
  free(answers->bucket);
  answers->bucket = larger;
  answers->buckets = buckets;
  return true;
}

static void symbols_answers_destroy(struct answers *answers) {
  for (size_t i = 0; i < answers->buckets; i++)
    for (struct answer *answer = answers->bucket[i], *next; answer; answer = next) {
      next = answer->next;
      free(answer);
    }
  free(answers->bucket);
}

/* ---- modules ---- */

static const char *const state_hints[] = {
    [SYMBOLS_OK] = "",
    [SYMBOLS_TABLE_ONLY] =
        "has no debugging information: install its -dbgsym package, or set DEBUGINFOD_URLS",
    [SYMBOLS_NONE] = "has no symbols: install its -dbgsym package, or set DEBUGINFOD_URLS",
    [SYMBOLS_MISSING] = "is not on this machine: give the folder that has it, or set DEBUGINFOD_URLS",
    [SYMBOLS_MISMATCH] =
        "is not the version that was recorded: give the folder of the right one, or set DEBUGINFOD_URLS",
};

static bool symbols_is_module(const struct known_module *known, const struct symbol_module *module) {
  return known->build_id_bytes == module->build_id_bytes &&
         memcmp(known->build_id, module->build_id, known->build_id_bytes) == 0 &&
         strcmp(known->path, module->path) == 0;
}

static void symbols_find_file(struct symbols *symbols, struct known_module *known,
                              const struct symbol_module *module) {
  known->inlines = (struct inlines){.splits.search = symbols->options.search};
  known->table = (struct symbol_table){0};
  known->file = module_file_open(module, &symbols->places);
  known->closed = false;
}

static void make_hint(struct known_module *known) {
  const char *hint = state_hints[known->file.state];
  free(known->hint);
  if (!*hint || asprintf(&known->hint, "%s %s", known->path, hint) < 0) known->hint = NULL;
}

/* The state of the file stays known. */
static void close_file(struct known_module *known) {
  if (known->closed) return;
  enum symbols_state state = known->file.state;
  inlines_destroy(&known->inlines);
  symbol_table_destroy(&known->table);
  module_file_close(&known->file);
  known->file = (struct module_file){.state = state};
  known->closed = true;
}

static void module_close(struct known_module *known) {
  symbols_answers_destroy(&known->answers);
  close_file(known);
  free(known->path);
  free(known->hint);
  free(known);
}

static struct known_module *module_open(struct symbols *symbols, const struct symbol_module *module) {
  struct known_module *known = calloc(1, sizeof *known);
  if (!known) return NULL;
  known->path = strdup(module->path);
  if (module->build_id_bytes) memcpy(known->build_id, module->build_id, module->build_id_bytes);
  known->build_id_bytes = module->build_id_bytes;
  symbols_find_file(symbols, known, module);
  if (known->path) return make_hint(known), known;
  module_close(known);
  return NULL;
}

static void make_frames_last(struct symbols *symbols, struct answer *answer) {
  for (size_t i = 0; i < answer->count; i++) {
    struct symbol_frame *frame = &answer->frame[i];
    frame->function = make_last(symbols, frame->function);
    frame->linkage = make_last(symbols, frame->linkage);
    frame->file = make_last(symbols, frame->file);
    frame->home = make_last(symbols, frame->home);
  }
}

static const struct answer *symbols_answer_of(struct symbols *symbols, struct known_module *known,
                                              const struct symbol_module *module, uint64_t offset) {
  struct answers *answers = &known->answers;
  if (answers->count >= answers->buckets && !answers_grow(answers)) return NULL;
  struct answer **place = &answers->bucket[hash_mix(offset) & (answers->buckets - 1)];
  for (struct answer *answer = *place; answer; answer = answer->next)
    if (answer->offset == offset) return answer;
  struct symbol_frame frames[FRAMES_MOST];
  if (known->closed) symbols_find_file(symbols, known, module);
  size_t count = find_frames(symbols, known, offset, frames);
  struct answer *answer = malloc(sizeof *answer + count * sizeof *frames);
  if (!answer) return NULL;
  answer->offset = offset;
  answer->count = count;
  memcpy(answer->frame, frames, count * sizeof *frames);
  if (symbols->options.lasting) make_frames_last(symbols, answer);
  symbols->answer_bytes += sizeof *answer + count * sizeof *frames + ANSWER_BYTES;
  answer->next = *place;
  *place = answer;
  answers->count++;
  return answer;
}

/* The module, opened when it is first asked for. NULL if memory is exhausted, or if its build-id is
 * longer than any valid one. */
static struct known_module *symbols_module_of(struct symbols *symbols, const struct symbol_module *module) {
  struct known_module *known = symbols->modules;
  if (module->build_id_bytes > sizeof known->build_id) return NULL;
  for (; known; known = known->next)
    if (symbols_is_module(known, module)) return known;
  known = module_open(symbols, module);
  if (!known) return NULL;
  known->next = symbols->modules;
  return symbols->modules = known;
}

/* ---- fetching ---- */

static void want_file(struct wanted *wanted, const struct known_module *known, size_t number) {
  if (known->file.state != SYMBOLS_OK && !known->asked && !code_id_is(known->build_id, known->build_id_bytes))
    wanted_add(wanted, path_name(known->path), number, known->build_id, known->build_id_bytes);
}

static void want_supplement(struct wanted *wanted, const struct known_module *known, size_t number) {
  const struct supplement *lacking = &known->file.supplement;
  if (lacking->lacking_bytes && !known->asked_supplement)
    wanted_add(wanted, path_name(known->path), number, lacking->lacking, lacking->lacking_bytes);
}

/* Opens a module anew, for which a file came. Answers of before may lack names. */
static void open_anew(struct symbols *symbols, struct known_module *known,
                      const struct symbol_module *module) {
  symbols_answers_destroy(&known->answers);
  known->answers = (struct answers){.buckets = 0};
  close_file(known);
  symbols_find_file(symbols, known, module);
  make_hint(known);
}

/* The file that was wanted by that id; NULL: none was. */
static const struct fetch_file *wanted_file(const struct wanted *wanted, const unsigned char *id,
                                            size_t bytes) {
  for (size_t i = 0; i < wanted->count; i++)
    if (bytes && wanted->file[i].build_id_bytes == bytes && !memcmp(wanted->file[i].build_id, id, bytes))
      return &wanted->file[i];
  return NULL;
}

/* A file that did not come for another reason than that no server has it is asked for again. */
static bool is_settled(const struct fetch_file *file) {
  return file && (file->path || file->error == ENOENT);
}

/* Several modules may have one supplement. */
static void fetch_wanted(struct symbols *symbols, const struct symbol_module *modules, size_t count,
                         struct wanted *wanted, symbols_progress *progress, void *context) {
  fetch_files(wanted->file, wanted->count, progress, context);
  for (size_t i = 0; i < wanted->count; i++) {
    const struct fetch_file *file = &wanted->file[i];
    if (file->path) debug_files_add(&symbols->places.files, file->build_id, file->build_id_bytes, file->path);
  }
  for (size_t i = 0; i < count && wanted->count; i++) {
    struct known_module *known = symbols_module_of(symbols, &modules[i]);
    if (!known) continue;
    const struct supplement *lacking = &known->file.supplement;
    const struct fetch_file *own = wanted_file(wanted, known->build_id, known->build_id_bytes),
                            *supplement = wanted_file(wanted, lacking->lacking, lacking->lacking_bytes);
    known->asked |= is_settled(own);
    known->asked_supplement |= is_settled(supplement);
    if ((own && own->path) || (supplement && supplement->path)) open_anew(symbols, known, &modules[i]);
  }
}

/* ---- shared ---- */

struct symbols *symbols_open(const struct symbols_options *options) {
  struct symbols *symbols = calloc(1, sizeof *symbols);
  if (!symbols) return NULL;
  elf_version(EV_CURRENT);
  fetch_begin();
  symbols->options = *options;
  symbols->places.search = symbols->places.files.search = options->search;
  symbols->places.debug_path = module_debug_path(options->search);
  if (symbols->places.debug_path) return symbols;
  free(symbols);
  return NULL;
}

void symbols_close(struct symbols *symbols) {
  if (!symbols) return;
  for (struct known_module *known = symbols->modules, *next; known; known = next) {
    next = known->next;
    module_close(known);
  }
  free_strings(symbols);
  for (size_t i = 0; i < symbols->lasting_count; i++) free(symbols->lasting[i]);
  free(symbols->lasting);
  free(symbols->lasting_by_text.slots);
  free(symbols->places.debug_path);
  debug_files_destroy(&symbols->places.files);
  free(symbols);
}

void symbols_close_files(struct symbols *symbols) {
  for (struct known_module *known = symbols->modules; known; known = known->next) close_file(known);
  free_strings(symbols);
}

char *symbols_fetch(struct symbols *symbols, const struct symbol_module *modules, size_t count,
                    symbols_progress *progress, void *context) {
  struct wanted *wanted = fetch_has_servers() ? malloc(sizeof *wanted) : NULL;
  char *said = NULL;
  for (int round = 0; wanted && round < 2 && !said; round++) { /* then supplements of what came */
    wanted->count = 0;
    for (size_t i = 0; i < count; i++) {
      struct known_module *known = symbols_module_of(symbols, &modules[i]);
      if (known && round) want_supplement(wanted, known, i);
      if (known && !round) want_file(wanted, known, i);
    }
    fetch_wanted(symbols, modules, count, wanted, progress, context);
    said = wanted_end(wanted);
  }
  free(wanted);
  return said;
}

bool symbols_search_was_cut(const struct symbols *symbols) { return symbols->places.files.cut; }

size_t symbols_answer_bytes(const struct symbols *symbols) { return symbols->answer_bytes; }

size_t symbols_resolve(struct symbols *symbols, const struct symbol_module *module, uint64_t offset,
                       struct symbol_frame *frames, size_t most) {
  if (!most) return 0;
  struct known_module *known = symbols_module_of(symbols, module);
  const struct answer *answer = known ? symbols_answer_of(symbols, known, module, offset) : NULL;
  if (!answer) {
    frames[0] = (struct symbol_frame){.function = "?"};
    return 1;
  }
  size_t count = answer->count < most ? answer->count : most;
  memcpy(frames, answer->frame, count * sizeof *frames);
  return count;
}

enum symbols_state symbols_state(struct symbols *symbols, const struct symbol_module *module,
                                 const char **hint) {
  struct known_module *known = symbols_module_of(symbols, module);
  if (hint) *hint = known && known->hint ? known->hint : "";
  return known ? known->file.state : SYMBOLS_MISSING;
}
/* SPDX-License-Identifier: MIT */
