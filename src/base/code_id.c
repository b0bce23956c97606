/* Hashes pages of the segments that are not writable. */
#include "base/code_id.h"

#include "base/hash.h"

struct making {
  code_id_bytes *bytes;
  void *context;
  uint64_t hash;
};

static uint64_t code_id_word_at(const unsigned char *bytes, size_t left) {
  uint64_t word = 0;
  memcpy(&word, bytes, left < sizeof word ? left : sizeof word);
  return word;
}

static bool code_id_add(struct making *making, const Elf64_Phdr *segment, uint64_t offset, size_t count) {
  const unsigned char *bytes = making->bytes(making->context, segment, offset, count);
  for (size_t i = 0; bytes && i < count; i += sizeof(uint64_t))
    making->hash = hash_combine(making->hash, code_id_word_at(bytes + i, count - i));
  return bytes;
}

/* Adds the page at an offset. The ELF header, at the begin of the file, tells where the sections
 * are, which strip(1) moves. */
static bool code_id_add_page(struct making *making, const Elf64_Phdr *segment, uint64_t offset) {
  uint64_t skipped = !segment->p_offset && !offset ? sizeof(Elf64_Ehdr) : 0;
  uint64_t left = segment->p_filesz - offset, count = left < CODE_ID_PAGE ? left : CODE_ID_PAGE;
  return count <= skipped || code_id_add(making, segment, offset + skipped, (size_t)(count - skipped));
}

static bool add_segment(struct making *making, const Elf64_Phdr *segment) {
  uint64_t pages = (segment->p_filesz + CODE_ID_PAGE - 1) / CODE_ID_PAGE;
  uint64_t taken = pages < CODE_ID_PAGES ? pages : CODE_ID_PAGES;
  for (uint64_t i = 1; i <= taken; i++)
    if (!code_id_add_page(making, segment, (i * pages / taken - 1) * CODE_ID_PAGE)) return false;
  return true;
}

static bool has_text_relocations(struct making *making, const Elf64_Phdr *dynamic) {
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic->p_filesz; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    const unsigned char *bytes = making->bytes(making->context, dynamic, at, sizeof entry);
    if (!bytes) return true;
    memcpy(&entry, bytes, sizeof entry);
    if (entry.d_tag == DT_NULL) return false;
    if (entry.d_tag == DT_TEXTREL || (entry.d_tag == DT_FLAGS && entry.d_un.d_val & DF_TEXTREL)) return true;
  }
  return false;
}

/* ---- shared ---- */

bool code_id_make(const Elf64_Phdr *headers, size_t count, code_id_bytes *bytes, void *context,
                  unsigned char id[CODE_ID_BYTES]) {
  struct making making = {bytes, context, 0};
  bool any = false;
  for (size_t i = 0; i < count; i++) {
    const Elf64_Phdr *header = &headers[i];
    if (header->p_type == PT_DYNAMIC && has_text_relocations(&making, header)) return false;
    if (header->p_type != PT_LOAD) continue;
    making.hash = hash_combine(hash_combine(making.hash, header->p_vaddr), header->p_memsz);
    if (header->p_flags & PF_W || !header->p_filesz) continue;
    if (!add_segment(&making, header)) return false;
    any = true;
  }
  memcpy(id, CODE_ID_MAGIC, sizeof CODE_ID_MAGIC);
  memcpy(id + sizeof CODE_ID_MAGIC, &making.hash, sizeof making.hash);
  return any;
}
/* SPDX-License-Identifier: MIT */
