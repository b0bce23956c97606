/* Writes and compresses the parts of a pprof profile. */
#include "export/pprof_file.h"

#include "base/utf8.h"
#include "export/stacks.h"
#include <stdarg.h>
#include <string.h>

enum { WITH_GZIP_HEADER = 15 + 16, TEXT_MOST = 8192 };

static void pprof_file_fail(struct pprof *pprof) {
  if (!pprof->error) pprof->error = stacks_no_memory();
}

/* Compresses what the stream's input has. */
static void compress_input(struct pprof *pprof, int flush) {
  do {
    pprof->stream.next_out = pprof->compressed;
    pprof->stream.avail_out = sizeof pprof->compressed;
    if (deflate(&pprof->stream, flush) == Z_STREAM_ERROR) pprof_file_fail(pprof);
    fwrite(pprof->compressed, 1, sizeof pprof->compressed - pprof->stream.avail_out, pprof->out);
  } while (!pprof->stream.avail_out && !pprof->error);
}

static void pprof_file_append(ProtobufCBuffer *buffer, size_t length, const uint8_t *bytes) {
  struct pprof *pprof = (struct pprof *)buffer; /* whose first member it is */
  if (pprof->error) return;
  pprof->stream.next_in = (unsigned char *)bytes;
  pprof->stream.avail_in = (unsigned)length;
  compress_input(pprof, Z_NO_FLUSH);
}

/* ---- shared ---- */

wn_status pprof_open(struct pprof *pprof, FILE *out) {
  *pprof = (struct pprof){.buffer = {pprof_file_append}, .out = out};
  pprof->texts = strings_create();
  pprof->functions = strings_create();
  pprof->locations = strings_create();
  int opened = deflateInit2(&pprof->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WITH_GZIP_HEADER, 8,
                            Z_DEFAULT_STRATEGY);
  if (pprof->texts && pprof->functions && pprof->locations && opened == Z_OK) return WN_OK;
  pprof_file_fail(pprof);
  return pprof_close(pprof);
}

wn_status pprof_close(struct pprof *pprof) {
  Pprof__Profile part = PPROF__PROFILE__INIT;
  if (!pprof->error) {
    part.n_string_table = pprof->texts->count;
    part.string_table = pprof->texts->text;
    pprof_put(pprof, &part);
    compress_input(pprof, Z_FINISH);
  }
  deflateEnd(&pprof->stream);
  strings_free(pprof->texts);
  strings_free(pprof->functions);
  strings_free(pprof->locations);
  return pprof->error;
}

void pprof_put(struct pprof *pprof, const Pprof__Profile *part) {
  if (!pprof->error) pprof__profile__pack_to_buffer(part, &pprof->buffer);
}

void pprof_put_type(struct pprof *pprof, const char *type, const char *unit) {
  Pprof__ValueType pair = PPROF__VALUE_TYPE__INIT;
  Pprof__Profile part = PPROF__PROFILE__INIT;
  pair.type = pprof_text(pprof, type);
  pair.unit = pprof_text(pprof, unit);
  part.n_sample_type = 1;
  part.sample_type = (Pprof__ValueType *[]){&pair};
  pprof_put(pprof, &part);
}

void pprof_put_mapping(struct pprof *pprof, Pprof__Mapping *mapping) {
  Pprof__Profile part = PPROF__PROFILE__INIT;
  part.n_mapping = 1;
  part.mapping = &mapping;
  pprof_put(pprof, &part);
}

void pprof_put_location(struct pprof *pprof, Pprof__Location *location) {
  Pprof__Profile part = PPROF__PROFILE__INIT;
  part.n_location = 1;
  part.location = &location;
  pprof_put(pprof, &part);
}

void pprof_put_sample(struct pprof *pprof, uint64_t *locations, size_t count, int64_t *values,
                      size_t value_count) {
  Pprof__Sample sample = PPROF__SAMPLE__INIT;
  Pprof__Profile part = PPROF__PROFILE__INIT;
  sample.n_location_id = count;
  sample.location_id = locations;
  sample.n_value = value_count;
  sample.value = values;
  part.n_sample = 1;
  part.sample = (Pprof__Sample *[]){&sample};
  pprof_put(pprof, &part);
}

void pprof_put_comment(struct pprof *pprof, const char *format, ...) {
  char text[TEXT_MOST];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  Pprof__Profile part = PPROF__PROFILE__INIT;
  part.n_comment = 1;
  part.comment = (int64_t[]){pprof_text(pprof, text)};
  pprof_put(pprof, &part);
}

uint64_t pprof_number(struct pprof *pprof, struct strings *set, const char *description, bool *is_new) {
  uint32_t before = set->count, number = strings_intern(set, description);
  if (!number) pprof_file_fail(pprof);
  *is_new = number == before;
  return number;
}

int64_t pprof_text(struct pprof *pprof, const char *text) {
  char plain[TEXT_MOST];
  bool is_new;
  snprintf(plain, sizeof plain, "%s", text ? text : "");
  utf8_make_plain(plain);
  return *plain ? (int64_t)pprof_number(pprof, pprof->texts, plain, &is_new) : 0;
}

uint64_t pprof_function(struct pprof *pprof, const char *name, const char *linkage, const char *file) {
  bool is_new;
  char description[64];
  Pprof__Function function = PPROF__FUNCTION__INIT;
  function.name = pprof_text(pprof, name);
  function.system_name = linkage && *linkage ? pprof_text(pprof, linkage) : function.name;
  function.filename = pprof_text(pprof, file);
  snprintf(description, sizeof description, "%llu %llu %llu", (unsigned long long)function.name,
           (unsigned long long)function.system_name, (unsigned long long)function.filename);
  function.id = pprof_number(pprof, pprof->functions, description, &is_new);
  Pprof__Profile part = PPROF__PROFILE__INIT;
  part.n_function = 1;
  part.function = (Pprof__Function *[]){&function};
  if (is_new) pprof_put(pprof, &part);
  return function.id;
}
/* SPDX-License-Identifier: MIT */
