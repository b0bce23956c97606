/* Copies ELF files into memory, with their compressed sections expanded behind the end of the
 * old ones.
 *
 * Nothing is believed: a section is expanded piece by piece, up to the size that its header
 * claims, and the sections of a file may claim RATIO_MOST times the file's size in total, since
 * several headers can claim the same bytes. Only files of this machine's class and byte order
 * are expanded. */
#include "symbols/expanded.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD /* the C library's <elf.h> has it since 2.36.9 */
#define ELFCOMPRESS_ZSTD 2
#endif

enum { PIECE = 1 << 16, RATIO_MOST = 256 };

struct copy {
  int fd;
  uint64_t end;  /* of what was written */
  uint64_t left; /* how many bytes more the sections may have */
};

static bool write_at(int fd, const unsigned char *bytes, uint64_t count, uint64_t at) {
  while (count) {
    ssize_t written = pwrite(fd, bytes, count < PIECE ? count : PIECE, (off_t)at);
    if (written <= 0) return false;
    bytes += written, count -= (uint64_t)written, at += (uint64_t)written;
  }
  return true;
}

/* Writes a piece of a section that has `size` bytes. */
static bool expanded_put(struct copy *copy, const unsigned char *piece, size_t count, uint64_t *done,
                         uint64_t size) {
  if (count > size - *done || !write_at(copy->fd, piece, count, copy->end + *done)) return false;
  *done += count;
  return true;
}

static bool expand_zlib(struct copy *copy, const unsigned char *from, size_t count, uint64_t size) {
  unsigned char piece[PIECE];
  z_stream stream = {.next_in = (unsigned char *)from};
  uint64_t done = 0;
  int state = inflateInit(&stream);
  if (state != Z_OK) return false;
  while (state == Z_OK) {
    size_t rest = count - (size_t)(stream.next_in - from);
    stream.avail_in = rest < PIECE ? (unsigned)rest : PIECE;
    stream.next_out = piece;
    stream.avail_out = PIECE;
    state = inflate(&stream, Z_NO_FLUSH);
    if (!expanded_put(copy, piece, PIECE - stream.avail_out, &done, size)) state = Z_DATA_ERROR;
  }
  inflateEnd(&stream);
  return state == Z_STREAM_END && done == size;
}

static bool expand_zstd(struct copy *copy, const unsigned char *from, size_t count, uint64_t size) {
  unsigned char piece[PIECE];
  ZSTD_DStream *stream = ZSTD_createDStream();
  ZSTD_inBuffer in = {from, count, 0};
  uint64_t done = 0;
  bool going = stream != NULL;
  for (size_t state = 1, given = 1; going && state && (in.pos < in.size || given);) {
    ZSTD_outBuffer out = {piece, PIECE, 0};
    state = ZSTD_decompressStream(stream, &out, &in);
    given = out.pos;
    going = !ZSTD_isError(state) && expanded_put(copy, piece, out.pos, &done, size);
  }
  ZSTD_freeDStream(stream);
  return going && done == size;
}

/* Expands a section's bytes at the end of the copy, and changes its header accordingly. */
static bool expanded_expand(struct copy *copy, const Elf_Data *data, Elf64_Shdr *header) {
  Elf64_Chdr claimed;
  if (!data || !data->d_buf || data->d_size < sizeof claimed) return false;
  memcpy(&claimed, data->d_buf, sizeof claimed);
  if (claimed.ch_size > copy->left) return false;
  copy->left -= claimed.ch_size;
  const unsigned char *from = (const unsigned char *)data->d_buf + sizeof claimed;
  size_t count = data->d_size - sizeof claimed;
  bool done = claimed.ch_type == ELFCOMPRESS_ZLIB   ? expand_zlib(copy, from, count, claimed.ch_size)
              : claimed.ch_type == ELFCOMPRESS_ZSTD ? expand_zstd(copy, from, count, claimed.ch_size)
                                                    : false;
  if (!done) return false;
  header->sh_offset = copy->end;
  header->sh_size = claimed.ch_size;
  header->sh_addralign = 1;
  header->sh_flags &= ~(Elf64_Xword)SHF_COMPRESSED;
  copy->end += claimed.ch_size;
  return true;
}

static bool expanded_is_compressed(const Elf64_Shdr *header) {
  return header && header->sh_flags & SHF_COMPRESSED && !(header->sh_flags & SHF_ALLOC);
}

static bool has_compressed(Elf *elf) {
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));)
    if (expanded_is_compressed(elf64_getshdr(section))) return true;
  return false;
}

/* The file as it is, then what its sections become. */
static bool expanded_fill(struct copy *copy, Elf *elf) {
  size_t size;
  const unsigned char *bytes = (const unsigned char *)elf_rawfile(elf, &size);
  const Elf64_Ehdr *file = elf64_getehdr(elf);
  if (!bytes || !file || !write_at(copy->fd, bytes, size, 0)) return false;
  copy->end = size;
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
    const Elf64_Shdr *header = elf64_getshdr(section);
    if (!expanded_is_compressed(header)) continue;
    Elf64_Shdr changed = *header;
    if (!expanded_expand(copy, elf_rawdata(section, NULL), &changed))
      changed.sh_type = SHT_NULL, changed.sh_size = 0;
    if (!write_at(copy->fd, (unsigned char *)&changed, sizeof changed,
                  file->e_shoff + elf_ndxscn(section) * sizeof changed))
      return false;
  }
  return true;
}

static bool is_native(Elf *elf) {
  const char *ident = elf ? elf_getident(elf, NULL) : NULL;
  const Elf64_Ehdr *file = ident && ident[EI_CLASS] == ELFCLASS64 ? elf64_getehdr(elf) : NULL;
  return file && ident[EI_DATA] == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB) &&
         file->e_shentsize == sizeof(Elf64_Shdr);
}

/* ---- shared ---- */

int regular_open(const char *path) {
  struct stat found;
  if (stat(path, &found) || !S_ISREG(found.st_mode)) return -1;
  return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

int expanded(int fd, uint64_t *budget) {
  struct stat found;
  if (fd < 0 || fstat(fd, &found) || (uint64_t)found.st_size > *budget) return fd;
  uint64_t size = (uint64_t)found.st_size, most = *budget - size;
  struct copy copy = {.fd = -1, .left = size < most / RATIO_MOST ? size * RATIO_MOST : most};
  Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
  if (is_native(elf) && has_compressed(elf)) copy.fd = memfd_create("winnow-expanded", MFD_CLOEXEC);
  bool done = copy.fd >= 0 && expanded_fill(&copy, elf);
  elf_end(elf);
  if (copy.fd < 0) return fd;
  *budget -= done ? copy.end : 0;
  close(done ? fd : copy.fd);
  return done ? copy.fd : fd;
}
/* SPDX-License-Identifier: MIT */
