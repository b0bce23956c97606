/* Writes the page: the template, with the report, the engine and the data in the places of its markers. The
 * engine is compiled in as it is, and deflated here: of two versions of what is deflated git keeps both whole. */
#include "page/html.h"

#include "base/check.h"
#include "base/error.h"
#include <errno.h>
#include <string.h>

extern const unsigned char page_template[], page_engine[];
extern const size_t page_template_length, page_engine_length;

struct writing {
  FILE *out;
  const struct html_options *options;
  bool before; /* the blocks are those of the recording before */
  struct html_size size;
};

static void html_put(struct writing *writing, const void *bytes, size_t length) {
  writing->size.bytes += fwrite(bytes, 1, length, writing->out);
}

static void html_put_string(struct writing *writing, const char *string) {
  html_put(writing, string, strlen(string));
}

static wn_status html_failed(const struct writing *writing) {
  return ferror(writing->out) ? error_set(WN_EIO, "%s", strerror(errno)) : WN_OK;
}

/* ---- texts ---- */

static const char *escape_of(char c) {
  switch (c) {
  case '&': return "&amp;";
  case '<': return "&lt;";
  case '>': return "&gt;";
  case '"': return "&quot;";
  default: return NULL;
  }
}

static void put_text_html(struct writing *writing, const char *text) {
  writing->size.bytes += html_put_text(writing->out, text);
}

/* ---- the data ---- */

static void put_base64(struct writing *writing, const unsigned char *bytes, size_t length) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char line[4096];
  size_t used = 0;
  for (size_t at = 0; at < length; at += 3) {
    size_t left = length - at < 3 ? length - at : 3;
    uint32_t group = (uint32_t)bytes[at] << 16;
    if (left > 1) group |= (uint32_t)bytes[at + 1] << 8;
    if (left > 2) group |= bytes[at + 2];
    for (unsigned i = 0; i < 4; i++) line[used++] = i <= left ? digits[group >> (18 - 6 * i) & 63] : '=';
    if (used == sizeof line) {
      html_put(writing, line, used);
      used = 0;
    }
  }
  html_put(writing, line, used);
}

/* A container_sink, for the engine: one block. */
static wn_status html_put_engine(const struct container_block *block, void *context) {
  ASSERT(block->count == 1 && block->deflated);
  put_base64(context, block->stored, block->stored_length);
  return html_failed(context);
}

/* A container_sink. */
static wn_status html_put_block(const struct container_block *block, void *context) {
  struct writing *writing = context;
  const struct html_options *options = writing->options;
  uint64_t before = writing->size.bytes;
  bool rows = !strcmp(block->section, "ROWS");
  char head[256];
  snprintf(
      head, sizeof head,
      "<script type=\"application/octet-stream\" data-section=\"%s\" data-block=\"%u\" data-blocks=\"%u\" "
      "data-raw=\"%zu\" data-codec=\"%s\" data-crc=\"%08x\"%s>",
      block->section, block->index, block->count, block->raw_length, block->deflated ? "deflate-raw" : "raw",
      block->crc, writing->before ? " data-run=\"before\"" : "");
  html_put_string(writing, head);
  put_base64(writing, block->stored, block->stored_length);
  html_put_string(writing, "</script>\n");
  if (rows) writing->size.rows += writing->size.bytes - before;
  if (options->progress)
    options->progress(rows ? (block->index + 1.0) / block->count : 0, options->progress_context);
  return html_failed(writing);
}

static wn_status html_put_data(struct writing *writing, const struct recording *recording,
                               const struct recording *before) {
  const struct html_options *options = writing->options;
  wn_status error = WN_OK;
  for (size_t i = 0; i < options->extra_count && !error; i++) {
    const struct container_section *extra = &options->extras[i];
    error = container_write_section(extra->name, extra->bytes, extra->length, html_put_block, writing);
  }
  writing->before = true;
  if (!error && before) error = container_write(before, &options->container, html_put_block, writing);
  writing->before = false;
  return error ? error : container_write(recording, &options->container, html_put_block, writing);
}

static void put_meta(struct writing *writing, const char *name, const char *content) {
  if (!content) return;
  html_put_string(writing, "<meta name=\"winnow-");
  html_put_string(writing, name);
  html_put_string(writing, "\" content=\"");
  put_text_html(writing, content);
  html_put_string(writing, "\">");
}

static void html_put_head(struct writing *writing, const struct html_head *head) {
  put_meta(writing, "view", head->address);
  put_meta(writing, "file", head->file);
  put_meta(writing, "before", head->before);
}

/* Writes the template up to a marker. Returns what follows the marker. The markers are there, in
 * this order: the tests look. */
static const unsigned char *put_until(struct writing *writing, const unsigned char *from,
                                      const char *marker) {
  const unsigned char *end = page_template + page_template_length;
  const unsigned char *found = memmem(from, (size_t)(end - from), marker, strlen(marker));
  ASSERT(found);
  html_put(writing, from, (size_t)((found ? found : end) - from));
  return found ? found + strlen(marker) : end;
}

static const char engine_place[] = "<!--winnow:engine-->";

/* What a page from a file may not connect to, and a page from a server may. */
static const char no_connection[] = "connect-src 'none'", own_server[] = "connect-src 'self'";

/* ---- shared ---- */

size_t html_put_text(FILE *out, const char *text) {
  size_t bytes = 0;
  while (*text) {
    size_t plain = strcspn(text, "&<>\"");
    bytes += fwrite(text, 1, plain, out);
    text += plain;
    const char *escape = *text ? escape_of(*text++) : "";
    bytes += fwrite(escape, 1, strlen(escape), out);
  }
  return bytes;
}

wn_status html_write(FILE *out, const struct recording *recording, const struct recording *before,
                     const struct html_options *options, struct html_size *size) {
  struct writing writing = {.out = out, .options = options};
  const unsigned char *at = put_until(&writing, page_template, "<!--winnow:head-->");
  html_put_head(&writing, &options->head);
  at = put_until(&writing, at, "<!--winnow:text-->");
  put_text_html(&writing, options->text);
  at = put_until(&writing, at, engine_place);
  wn_status error =
      container_write_section("WASM", page_engine, page_engine_length, html_put_engine, &writing);
  if (error) return error;
  at = put_until(&writing, at, "<!--winnow:data-->");
  error = html_put_data(&writing, recording, before);
  if (error) return error;
  html_put(&writing, at, (size_t)(page_template + page_template_length - at));
  if (fflush(out)) return error_set(WN_EIO, "%s", strerror(errno));
  *size = writing.size;
  return html_failed(&writing);
}

void html_write_served(FILE *out, const struct html_head *head, const char *text) {
  struct writing writing = {.out = out};
  const unsigned char *at = put_until(&writing, page_template, "<!--winnow:head-->");
  html_put_string(&writing, "<meta name=\"winnow-server\">");
  html_put_head(&writing, head);
  at = put_until(&writing, at, no_connection);
  html_put_string(&writing, own_server);
  at = put_until(&writing, at, "<!--winnow:text-->");
  put_text_html(&writing, text);
  at = put_until(&writing, at, engine_place);
  at = put_until(&writing, at, "<!--winnow:data-->");
  html_put(&writing, at, (size_t)(page_template + page_template_length - at));
}

char *html_served_policy(void) {
  static const char before[] = "\"Content-Security-Policy\" content=\"";
  const char *at = memmem(page_template, page_template_length, before, sizeof before - 1);
  at = at ? at + sizeof before - 1 : NULL;
  const char *connect = at ? strstr(at, no_connection) : NULL;
  char *policy = NULL;
  ASSERT(connect);
  if (!connect) return NULL;
  const char *rest = connect + sizeof no_connection - 1;
  if (asprintf(&policy, "%.*s%s%.*s; frame-ancestors 'none'", (int)(connect - at), at, own_server,
               (int)strcspn(rest, "\""), rest) < 0)
    return NULL;
  return policy;
}
/* SPDX-License-Identifier: MIT */
