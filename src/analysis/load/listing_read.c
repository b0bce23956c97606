/* Reads the listing of a recording: opens the files of its places, takes lines of them until the
 * bounds are reached, then makes excerpts of the selected lines. */
#include "analysis/load/listing.h"

#include "analysis/load/recording.h"
#include "base/text.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  PLACES_MOST = 4000,
  TEXT_MOST = 1 << 19, /* of all lines */
  LINE_MOST = 500,
  FILE_MOST = 4 << 20,
  FOLDERS_MOST = 64,
  READ_MOST = 64 << 20 /* of all files */
};

/* A file of places. `text` NULL: it has no lines. */
struct opened {
  uint32_t file; /* a string */
  enum listed state;
  char *text;
  uint32_t *starts; /* index: line - 1 */
  bool *selected;
  uint32_t lines;
};

struct reading {
  const struct recording *recording;
  const char *const *folders;    /* ended by NULL */
  char *roots[FOLDERS_MOST + 1]; /* their paths without links; NULL: there is no such folder */
  uint32_t *index;               /* by string: the index of its file, plus 1; or 0 */
  struct opened *files;
  size_t file_count, bytes_read, bytes_selected;
  bool exhausted; /* memory */
};

/* ---- places ---- */

/* The places of a recording, for its listing: CHOICE in listing.h. */

struct place {
  uint32_t file, line;
  uint32_t module; /* of the trace: one that has the place */
  double weight;
};

/* How many bytes a row stands for, and for how long. */
struct amounts {
  double allocated, held;
};

static struct amounts amounts_of(const struct samples *samples, const struct row *row) {
  uint64_t end = row->end_ns == STILL_ALIVE ? samples->end_ns : row->end_ns;
  double life = end > row->begin_ns ? (double)(end - row->begin_ns) : 0;
  return (struct amounts){(double)row_allocated(row) / row->probability,
                          (double)row->size / row->probability * life};
}

/* The weight of each node, with that of its callees. NULL: not enough memory. */
static double *weigh_nodes(const struct samples *samples, uint32_t nodes) {
  double *weights = calloc((size_t)nodes + 1, sizeof *weights);
  struct amounts all = {0, 0};
  if (!weights) return NULL;
  for (size_t i = 0; i < samples->row_count; i++) {
    struct amounts amounts = amounts_of(samples, &samples->rows[i]);
    all.allocated += amounts.allocated;
    all.held += amounts.held;
  }
  for (size_t i = 0; i < samples->row_count; i++) {
    struct amounts amounts = amounts_of(samples, &samples->rows[i]);
    if (all.allocated > 0) weights[samples->rows[i].stack] += amounts.allocated / all.allocated;
    if (all.held > 0) weights[samples->rows[i].stack] += amounts.held / all.held;
  }
  for (uint32_t node = nodes; node; node--) /* callers have smaller numbers */
    weights[source_stack(samples->source, node).parent] += weights[node];
  return weights;
}

static size_t listing_places_gather(const struct recording *recording, const double *weights, uint32_t nodes,
                                    struct place *places) {
  size_t count = 0;
  for (uint32_t node = 1; node <= nodes; node++) {
    struct frames frames = names_of(&recording->names, node);
    for (size_t i = 0; i < frames.count && weights[node] > 0; i++)
      if (frames.frame[i].file && frames.frame[i].line && !frames.frame[i].between)
        places[count++] =
            (struct place){frames.frame[i].file, frames.frame[i].line,
                           source_stack(recording->samples->source, node).module, weights[node]};
  }
  return count;
}

static int by_place(const void *left, const void *right) {
  const struct place *a = left, *b = right;
  if (a->file != b->file) return a->file < b->file ? -1 : 1;
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  return (a->module > b->module) - (a->module < b->module);
}

static int by_weight(const void *left, const void *right) {
  const struct place *a = left, *b = right;
  if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
  return by_place(left, right);
}

/* Joins equal places, which stand together. Returns how many are left. */
static size_t listing_places_join(struct place *places, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    struct place *last = kept ? &places[kept - 1] : NULL;
    if (last && last->file == places[i].file && last->line == places[i].line)
      last->weight += places[i].weight;
    else
      places[kept++] = places[i];
  }
  return kept;
}

/* The places, the heaviest first. The caller frees them. NULL: not enough memory. */
static struct place *listing_places(const struct recording *recording, size_t *count) {
  uint32_t nodes = source_stack_count(recording->samples->source);
  size_t frames = 0;
  for (uint32_t node = 1; node <= nodes; node++) frames += names_of(&recording->names, node).count;
  struct place *places = malloc((frames + 1) * sizeof *places);
  double *weights = places ? weigh_nodes(recording->samples, nodes) : NULL;
  if (!weights) return free(places), NULL;
  *count = listing_places_gather(recording, weights, nodes, places);
  free(weights);
  qsort(places, *count, sizeof *places, by_place);
  *count = listing_places_join(places, *count);
  qsort(places, *count, sizeof *places, by_weight);
  return places;
}

/* ---- files ---- */

/* Whether a trace may name this file: FILES. */
static bool may_be_named(const char *path) {
  return *path != '.' && !strstr(path, "/.") && strchr(path_name(path), '.');
}

static int open_at(const char *path) { return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); }

/* Opens the file below a folder: FILES. */
static int open_below(const char *folder, const char *path) {
  char whole[PATH_MAX];
  for (const char *tail = path; tail; tail = strchr(tail, '/')) {
    while (*tail == '/') tail++;
    if ((size_t)snprintf(whole, sizeof whole, "%s/%s", folder, tail) >= sizeof whole) continue;
    int fd = open_at(whole);
    if (fd >= 0) return fd;
  }
  return -1;
}

/* Whether an open file lies below one of the folders, wherever links led. */
static bool lies_below(const struct reading *reading, int fd) {
  char link[32], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  for (int i = 0; i < FOLDERS_MOST; i++) {
    const char *root = reading->roots[i];
    size_t count = root ? strlen(root) : 0;
    if (count == 1) return true; /* the folder of all */
    if (count && !strncmp(path, root, count) && path[count] == '/') return true;
  }
  return false;
}

/* Keeps an open file if it may be read, else closes it: -1, and *outside is set. */
static int keep_below(const struct reading *reading, int fd, bool *outside) {
  if (fd < 0 || lies_below(reading, fd)) return fd;
  *outside = true;
  close(fd);
  return -1;
}

/* Opens the file of a name: FILES. -1: there is none; *outside tells whether one is in no folder. */
static int listing_read_open_file(const struct reading *reading, const char *path, bool *outside) {
  *outside = false;
  int fd = keep_below(reading, open_at(path), outside);
  bool climbs = strstr(path, "..");
  for (const char *const *folder = reading->folders; *folder && fd < 0 && !climbs; folder++)
    fd = keep_below(reading, open_below(*folder, path), outside);
  return fd;
}

/* Reads a file of this size; NULL: it cannot be read, or is no text. */
static char *listing_read_read_text(int fd, size_t size) {
  char *text = malloc(size + 1);
  size_t length = 0;
  ssize_t count = 0;
  while (text && length < size && (count = read(fd, text + length, size - length)) > 0)
    length += (size_t)count;
  if (text && count >= 0 && !memchr(text, 0, length)) return text[length] = 0, text;
  free(text);
  return NULL;
}

/* ---- age ---- */

static uint64_t ns_of(const struct timespec *time) {
  return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

/* Whether a file is newer than the recording, or than the program whose code has the place. Some
 * packagers set times of programs to the first days of 1970, which tells nothing. */
static bool is_newer(const struct recording *recording, const struct trace_module *module,
                     const struct stat *file) {
  enum { FIRST_DAYS = 1000000 };
  const struct source *source = recording->samples->source;
  uint64_t begin = source_run(source)->wall_ns, written = ns_of(&file->st_mtim);
  struct stat program;
  if (begin && written > begin) return true;
  return module && !trace_is_language(module) && module->path.length && !stat(module->path.bytes, &program) &&
         program.st_mtim.tv_sec > FIRST_DAYS && written > ns_of(&program.st_mtim);
}

/* ---- lines ---- */

/* Finds the lines of a text. */
static bool listing_read_split(struct opened *file) {
  uint32_t count = 0;
  for (const char *at = file->text; *at; at = at + strcspn(at, "\n"), at += *at == '\n') count++;
  file->starts = malloc((count + 1) * sizeof *file->starts);
  file->selected = calloc(count + 1, sizeof *file->selected);
  if (!file->starts || !file->selected) return false;
  for (const char *at = file->text; *at; at = at + strcspn(at, "\n"), at += *at == '\n')
    file->starts[file->lines++] = (uint32_t)(at - file->text);
  return true;
}

/* The length of a line as it is listed: without its end, and cut between two characters. */
static size_t listing_read_line_length(const struct opened *file, uint32_t line) {
  const char *text = file->text + file->starts[line - 1];
  size_t length = strcspn(text, "\r\n");
  if (length <= LINE_MOST) return length;
  length = LINE_MOST;
  while (length > LINE_MOST - 4 && (text[length] & 0xc0) == 0x80) length--;
  return length;
}

static const struct trace_module *listing_read_module_of(const struct reading *reading,
                                                         const struct place *place) {
  return place->module ? source_module(reading->recording->samples->source, place->module) : NULL;
}

/* Reads the file of a place. */
static void listing_read_read_file(struct reading *reading, struct opened *file, const struct place *place) {
  const char *path = strings_text(reading->recording->names.strings, place->file);
  const struct trace_module *module = listing_read_module_of(reading, place);
  struct stat status;
  file->state = LISTED_UNFIT;
  if ((!module || trace_is_language(module)) && !may_be_named(path)) return;
  bool outside;
  int fd = listing_read_open_file(reading, path, &outside);
  if (fd < 0) {
    file->state = outside ? LISTED_UNFIT : LISTED_ABSENT;
    return;
  }
  bool fits = !fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size <= FILE_MOST &&
              reading->bytes_read + (size_t)status.st_size <= READ_MOST;
  if (fits) file->text = listing_read_read_text(fd, (size_t)status.st_size);
  close(fd);
  if (!file->text) return;
  reading->bytes_read += (size_t)status.st_size;
  file->state = is_newer(reading->recording, module, &status) ? LISTED_CHANGED : LISTED;
  if (!listing_read_split(file)) reading->exhausted = true;
}

static struct opened *listing_read_file_of(struct reading *reading, const struct place *place) {
  uint32_t *index = &reading->index[place->file];
  if (!*index) {
    *index = (uint32_t)++reading->file_count;
    reading->files[*index - 1].file = place->file;
    listing_read_read_file(reading, &reading->files[*index - 1], place);
  }
  return &reading->files[*index - 1];
}

static void listing_read_take(struct reading *reading, const struct place *place) {
  struct opened *file = listing_read_file_of(reading, place);
  if (!file->text || reading->exhausted) return;
  if (place->line > file->lines) {
    file->state = LISTED_CHANGED;
    return;
  }
  uint32_t first = place->line > LISTING_AROUND ? place->line - LISTING_AROUND : 1,
           last = file->lines - place->line > LISTING_AROUND ? place->line + LISTING_AROUND : file->lines;
  for (uint32_t line = first; line <= last; line++) {
    if (file->selected[line - 1]) continue;
    file->selected[line - 1] = true;
    reading->bytes_selected += listing_read_line_length(file, line) + 1;
  }
}

/* ---- excerpts ---- */

/* The last of the selected lines that follow the first one. */
static uint32_t last_of_run(const struct opened *file, uint32_t first) {
  while (first < file->lines && file->selected[first]) first++;
  return first;
}

static char *listing_read_text_of(const struct opened *file, uint32_t first, uint32_t last) {
  size_t length = 1;
  for (uint32_t line = first; line <= last; line++) length += listing_read_line_length(file, line) + 1;
  char *text = malloc(length), *end = text;
  for (uint32_t line = first; text && line <= last; line++) {
    end = mempcpy(end, file->text + file->starts[line - 1], listing_read_line_length(file, line));
    *end++ = '\n';
  }
  if (text) *end = 0;
  return text;
}

static bool listing_read_append(struct listing *listing, struct excerpt excerpt) {
  struct excerpt *moved =
      realloc(listing->excerpts, (listing->excerpt_count + 1) * sizeof *listing->excerpts);
  if (moved) listing->excerpts = moved;
  if (!moved || !excerpt.text) return free(excerpt.text), false;
  listing->excerpts[listing->excerpt_count++] = excerpt;
  return true;
}

static bool make_excerpts(const struct opened *file, uint32_t index, struct listing *listing) {
  for (uint32_t line = 1, last; line <= file->lines; line = last + 1) {
    last = line;
    if (!file->selected[line - 1]) continue;
    last = last_of_run(file, line);
    if (!listing_read_append(
            listing, (struct excerpt){index, line, last - line + 1, listing_read_text_of(file, line, last)}))
      return false;
  }
  return true;
}

static bool make_listing(const struct reading *reading, struct listing *listing) {
  listing->given = true;
  listing->files = calloc(reading->file_count + 1, sizeof *listing->files);
  bool done = listing->files && !reading->exhausted;
  for (size_t i = 0; done && i < reading->file_count; i++) {
    const struct opened *file = &reading->files[i];
    listing->files[listing->file_count++] = (struct listed_file){file->file, (uint8_t)file->state};
    done = make_excerpts(file, (uint32_t)i, listing);
  }
  return done;
}

/* Finds where the folders are. */
static void find_roots(struct reading *reading) {
  for (int i = 0; i < FOLDERS_MOST && reading->folders[i]; i++)
    reading->roots[i] = realpath(reading->folders[i], NULL);
}

static void listing_read_forget(struct reading *reading) {
  for (int i = 0; i < FOLDERS_MOST; i++) free(reading->roots[i]);
  for (size_t i = 0; i < reading->file_count; i++) {
    free(reading->files[i].text);
    free(reading->files[i].starts);
    free(reading->files[i].selected);
  }
  free(reading->files);
  free(reading->index);
}

/* ---- shared ---- */

bool listing_read(struct recording *recording, const char *const *search) {
  static const char *const here[] = {".", NULL};
  struct reading reading = {.recording = recording, .folders = search && *search ? search : here};
  size_t count = 0;
  struct place *places = listing_places(recording, &count);
  if (count > PLACES_MOST) count = PLACES_MOST;
  reading.index = calloc((size_t)recording->names.strings->count + 1, sizeof *reading.index);
  reading.files = calloc(count + 1, sizeof *reading.files);
  bool done = places && reading.index && reading.files;
  find_roots(&reading);
  for (size_t i = 0; done && i < count && reading.bytes_selected < TEXT_MOST; i++)
    listing_read_take(&reading, &places[i]);
  done = done && make_listing(&reading, &recording->listing);
  free(places);
  listing_read_forget(&reading);
  return done;
}
/* SPDX-License-Identifier: MIT */
