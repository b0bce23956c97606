/* Reads a file in pieces, and inflates them. */
#include "sources/profiles/inflated.h"

#include "base/error.h"
#include "base/open_file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { PIECE = 1 << 16, GZIP_WINDOW = 15 + 16 };

enum compression { PLAIN, GZIP, ZSTANDARD };

struct inflated {
  int descriptor;
  enum compression compression;
  z_stream gzip;
  ZSTD_DStream *zstandard;
  uint64_t size, taken, offset; /* taken: bytes of the file; offset: bytes that were given */
  bool at_end;                  /* of the file */
  bool within;                  /* the compressed data goes on */
  const char *fault;
  size_t in_at, in_count, out_at, out_count;
  unsigned char in[PIECE], out[PIECE];
};

static const char cut[] = "its compressed data is cut", bad[] = "its compressed data is damaged",
                  unread[] = "it cannot be read to its end";

/* Reads the next piece of the file, once the last one is used up. */
static void fill_in(struct inflated *file) {
  if (file->in_at < file->in_count || file->at_end || file->fault) return;
  ssize_t count;
  do count = read(file->descriptor, file->in, sizeof file->in);
  while (count < 0 && errno == EINTR);
  if (count < 0) file->fault = unread;
  if (count <= 0) file->at_end = true;
  file->in_at = 0;
  file->in_count = count > 0 ? (size_t)count : 0;
  file->taken += file->in_count;
}

static void copy_plain(struct inflated *file) {
  file->out_count = file->in_count - file->in_at;
  memcpy(file->out, file->in + file->in_at, file->out_count);
  file->in_at = file->in_count;
}

/* Members of a gzip file stand one behind the other. */
static void inflate_gzip(struct inflated *file) {
  file->gzip.next_in = file->in + file->in_at;
  file->gzip.avail_in = (unsigned)(file->in_count - file->in_at);
  file->gzip.next_out = file->out;
  file->gzip.avail_out = PIECE;
  int state = inflate(&file->gzip, Z_NO_FLUSH);
  file->in_at = file->in_count - file->gzip.avail_in;
  file->out_count = PIECE - file->gzip.avail_out;
  file->within = state != Z_STREAM_END;
  if (state == Z_STREAM_END)
    inflateReset(&file->gzip);
  else if (state != Z_OK && state != Z_BUF_ERROR)
    file->fault = bad;
}

static void inflate_zstandard(struct inflated *file) {
  ZSTD_inBuffer in = {file->in, file->in_count, file->in_at};
  ZSTD_outBuffer out = {file->out, PIECE, 0};
  size_t state = ZSTD_decompressStream(file->zstandard, &out, &in);
  file->in_at = in.pos;
  file->out_count = out.pos;
  file->within = state != 0;
  if (ZSTD_isError(state)) file->fault = bad;
}

/* Inflates more, once all that was inflated is given. False: there is no more. */
static bool fill_out(struct inflated *file) {
  while (file->out_at == file->out_count && !file->fault) {
    fill_in(file);
    bool dry = file->in_at == file->in_count;
    if (dry && (file->compression == PLAIN || !file->within)) return false;
    file->out_at = file->out_count = 0;
    if (file->compression == GZIP)
      inflate_gzip(file);
    else if (file->compression == ZSTANDARD)
      inflate_zstandard(file);
    else
      copy_plain(file);
    if (dry && !file->out_count && file->within && !file->fault) file->fault = cut;
  }
  return file->out_at < file->out_count;
}

static wn_status inflated_begin(struct inflated *file, const char *path) {
  struct stat found;
  file->descriptor = open_file(path);
  if (file->descriptor < 0 || fstat(file->descriptor, &found))
    return error_set(WN_EIO, "cannot open %s: %s", path, strerror(errno));
  file->size = (uint64_t)found.st_size;
  fill_in(file);
  static const unsigned char gzip[] = {0x1f, 0x8b}, zstandard[] = {0x28, 0xb5, 0x2f, 0xfd};
  if (file->in_count >= sizeof gzip && !memcmp(file->in, gzip, sizeof gzip)) file->compression = GZIP;
  if (file->in_count >= sizeof zstandard && !memcmp(file->in, zstandard, sizeof zstandard))
    file->compression = ZSTANDARD;
  bool done = file->compression == GZIP        ? inflateInit2(&file->gzip, GZIP_WINDOW) == Z_OK
              : file->compression == ZSTANDARD ? (file->zstandard = ZSTD_createDStream()) != NULL
                                               : true;
  return done ? WN_OK : error_set(WN_ENOMEM, "%s: not enough memory to read it", path);
}

/* ---- shared ---- */

wn_status inflated_open(const char *path, struct inflated **result) {
  struct inflated *file = calloc(1, sizeof *file);
  if (!file) return error_set(WN_ENOMEM, "%s: not enough memory to read it", path);
  wn_status error = inflated_begin(file, path);
  if (error)
    inflated_close(file);
  else
    *result = file;
  return error;
}

void inflated_close(struct inflated *file) {
  if (file->descriptor >= 0) close(file->descriptor);
  if (file->compression == GZIP) inflateEnd(&file->gzip);
  ZSTD_freeDStream(file->zstandard);
  free(file);
}

uint64_t inflated_read(struct inflated *file, void *bytes, uint64_t count) {
  uint64_t done = 0;
  while (done < count && fill_out(file)) {
    size_t here = file->out_count - file->out_at;
    if (here > count - done) here = (size_t)(count - done);
    if (bytes) memcpy((unsigned char *)bytes + done, file->out + file->out_at, here);
    file->out_at += here;
    done += here;
  }
  file->offset += done;
  return done;
}

int inflated_byte(struct inflated *file) {
  if (file->out_at == file->out_count && !fill_out(file)) return -1;
  file->offset++;
  return file->out[file->out_at++];
}

uint64_t inflated_offset(const struct inflated *file) { return file->offset; }

double inflated_position(const struct inflated *file) {
  return file->size ? (double)file->taken / (double)file->size : 1;
}

const char *inflated_fault(const struct inflated *file) { return file->fault; }
/* SPDX-License-Identifier: MIT */
