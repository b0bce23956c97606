/* Writes and compresses the parts of a pprof profile. */
#include "export/pprof_file.h"

#include "base/error.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

enum { WITH_GZIP_HEADER = 15 + 16, TEXT_MOST = 8192 };

static void fail(struct pprof *pprof) {
  if (!pprof->error) pprof->error = error_set(WN_ENOMEM, "not enough memory for the profile");
}

/* Compresses what the stream's input has. */
static void compress_input(struct pprof *pprof, int flush) {
  do {
    pprof->stream.next_out = pprof->compressed;
    pprof->stream.avail_out = sizeof pprof->compressed;
    if (deflate(&pprof->stream, flush) == Z_STREAM_ERROR) fail(pprof);
    fwrite(pprof->compressed, 1, sizeof pprof->compressed - pprof->stream.avail_out, pprof->out);
  } while (!pprof->stream.avail_out && !pprof->error);
}

static void append(ProtobufCBuffer *buffer, size_t length, const uint8_t *bytes) {
  struct pprof *pprof = (struct pprof *)buffer; /* whose first member it is */
  if (pprof->error) return;
  pprof->stream.next_in = (unsigned char *)bytes;
  pprof->stream.avail_in = (unsigned)length;
  compress_input(pprof, Z_NO_FLUSH);
}

/* ---- shared ---- */

wn_status pprof_open(struct pprof *pprof, FILE *out) {
  *pprof = (struct pprof){.buffer = {append}, .out = out};
  pprof->texts = strings_create();
  pprof->functions = strings_create();
  pprof->locations = strings_create();
  int opened = deflateInit2(&pprof->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WITH_GZIP_HEADER, 8,
                            Z_DEFAULT_STRATEGY);
  if (pprof->texts && pprof->functions && pprof->locations && opened == Z_OK) return WN_OK;
  fail(pprof);
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

uint64_t pprof_number(struct pprof *pprof, struct strings *set, const char *description, bool *is_new) {
  uint32_t before = set->count, number = strings_intern(set, description);
  if (!number) fail(pprof);
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
