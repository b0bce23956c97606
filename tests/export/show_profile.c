/* Checks a profile for pprof, and prints it: show_profile FILE. A line for each sample type,
 * mapping and comment, for the default type, and for each sample with its values and its stack,
 * the outermost function first. Exits with 1 after a line that says what is wrong. */
#include "pprof.pb-c.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static Pprof__Profile *profile;

static void require(bool holds, const char *what) {
  if (holds) return;
  printf("wrong: %s\n", what);
  exit(1);
}

static const char *text(int64_t number) {
  require(number >= 0 && (size_t)number < profile->n_string_table, "the number of a text");
  return profile->string_table[number];
}

static const Pprof__Function *function(uint64_t id) {
  const Pprof__Function *found = NULL;
  for (size_t i = 0; i < profile->n_function; i++)
    if (profile->function[i]->id == id)
      require(!found, "two functions with one id"), found = profile->function[i];
  require(id && found, "the id of a function");
  return found;
}

static const Pprof__Mapping *mapping(uint64_t id) {
  for (size_t i = 0; i < profile->n_mapping; i++)
    if (profile->mapping[i]->id == id) return profile->mapping[i];
  require(false, "the id of a mapping");
  return NULL;
}

static const Pprof__Location *location(uint64_t id) {
  const Pprof__Location *found = NULL;
  for (size_t i = 0; i < profile->n_location; i++)
    if (profile->location[i]->id == id)
      require(!found, "two locations with one id"), found = profile->location[i];
  require(id && found, "the id of a location");
  return found;
}

static void show_location(const Pprof__Location *location, const char **follows) {
  if (location->mapping_id) {
    const Pprof__Mapping *of = mapping(location->mapping_id);
    bool language = !of->memory_limit && !location->address;
    require(language || (location->address >= of->memory_start && location->address < of->memory_limit),
            "an address outside of its mapping");
  }
  require(location->n_line > 0, "a location without a function");
  for (size_t i = location->n_line; i-- > 0; *follows = ";")
    printf("%s%s", *follows, text(function(location->line[i]->function_id)->name));
}

static void show_sample(const Pprof__Sample *sample) {
  const char *follows = " ";
  require(sample->n_value == profile->n_sample_type, "the number of values");
  require(sample->n_location_id > 0, "a sample without a location");
  printf("sample");
  for (size_t i = 0; i < sample->n_value; i++) {
    require(sample->value[i] >= 0, "a value below 0");
    printf(" %" PRId64, sample->value[i]);
  }
  for (size_t i = sample->n_location_id; i-- > 0;) show_location(location(sample->location_id[i]), &follows);
  putchar('\n');
}

static void show_mapping(const Pprof__Mapping *of) {
  require(of->id && of->memory_limit >= of->memory_start, "a mapping");
  printf("mapping %s %s%s%s%s%s\n", text(of->filename), text(of->build_id),
         of->has_functions ? " functions" : "", of->has_filenames ? " files" : "",
         of->has_line_numbers ? " lines" : "", of->has_inline_frames ? " inlined" : "");
}

static void show(void) {
  require(profile->n_string_table && !*profile->string_table[0], "the first text is not empty");
  for (size_t i = 0; i < profile->n_sample_type; i++)
    printf("type %s %s\n", text(profile->sample_type[i]->type), text(profile->sample_type[i]->unit));
  printf("default %s\n", text(profile->default_sample_type));
  require(profile->period_type != NULL, "no type of the period");
  printf("period %" PRId64 " %s %s\n", profile->period, text(profile->period_type->type),
         text(profile->period_type->unit));
  printf("time %" PRId64 " %" PRId64 "\n", profile->time_nanos, profile->duration_nanos);
  for (size_t i = 0; i < profile->n_comment; i++) printf("comment %s\n", text(profile->comment[i]));
  for (size_t i = 0; i < profile->n_mapping; i++) show_mapping(profile->mapping[i]);
  for (size_t i = 0; i < profile->n_sample; i++) show_sample(profile->sample[i]);
}

int main(int argc, char **argv) {
  static unsigned char bytes[64 << 20];
  gzFile file = argc == 2 ? gzopen(argv[1], "rb") : NULL;
  require(file != NULL, "the file cannot be opened");
  require(!gzdirect(file), "the file is not compressed");
  int length = gzread(file, bytes, sizeof bytes);
  require(length > 0 && gzclose(file) == Z_OK, "the file is no whole gzip file");
  profile = pprof__profile__unpack(NULL, (size_t)length, bytes);
  require(profile != NULL, "the file is no profile");
  show();
  pprof__profile__free_unpacked(profile, NULL);
  return 0;
}
/* SPDX-License-Identifier: MIT */
