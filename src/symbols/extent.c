/* Finds the function around an address in .eh_frame_hdr, a sorted table of where functions begin and of
 * their entries in .eh_frame. libdw tells only the range of one rule for unwinding, of which a function
 * has several. Only the table's usual form is read, of 4-byte offsets, which every linker writes; nothing
 * that it says is believed before it is compared with the sections. */
#include "symbols/extent.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdint.h>
#include <string.h>

enum { HEADER = 12, ENTRY = 8, RELATIVE_4 = DW_EH_PE_pcrel | DW_EH_PE_sdata4 };

/* A section's bytes, and their address. */
struct section {
  const unsigned char *bytes;
  size_t size;
  GElf_Addr at;
};

/* A file of debugging symbols has the sections without their bytes. */
static bool find_section(Elf *elf, const char *name, struct section *section) {
  size_t names;
  GElf_Shdr header;
  if (elf_getshdrstrndx(elf, &names)) return false;
  for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
    const char *found = gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
    if (!found || strcmp(found, name) || header.sh_type == SHT_NOBITS) continue;
    const Elf_Data *data = elf_rawdata(scn, NULL);
    if (data && data->d_buf) *section = (struct section){data->d_buf, data->d_size, header.sh_addr};
    return data && data->d_buf;
  }
  return false;
}

/* The 4 bytes at an address; 0 outside the section. */
static int32_t extent_number_at(const struct section *section, GElf_Addr address) {
  int32_t number = 0;
  GElf_Addr offset = address - section->at;
  if (section->size >= sizeof number && offset <= section->size - sizeof number)
    memcpy(&number, section->bytes + offset, sizeof number);
  return number;
}

static uint32_t entries_of(const struct section *table) {
  static const unsigned char form[] = {1, RELATIVE_4, DW_EH_PE_udata4, DW_EH_PE_datarel | DW_EH_PE_sdata4};
  if (table->size < HEADER || memcmp(table->bytes, form, sizeof form) != 0) return 0;
  uint32_t claimed = (uint32_t)extent_number_at(table, table->at + HEADER - sizeof claimed);
  return claimed <= (table->size - HEADER) / ENTRY ? claimed : 0;
}

static GElf_Addr entry_at(const struct section *table, uint32_t index) {
  return table->at + HEADER + (GElf_Addr)index * ENTRY;
}

static GElf_Addr extent_begin_of(const struct section *table, uint32_t index) {
  return table->at + (GElf_Addr)(int64_t)extent_number_at(table, entry_at(table, index));
}

/* ---- shared ---- */

bool extent_find(Dwfl_Module *module, Dwarf_Addr address, struct extent *extent) {
  GElf_Addr bias;
  struct section table, frames;
  Elf *elf = dwfl_module_getelf(module, &bias);
  if (!elf || !find_section(elf, ".eh_frame_hdr", &table) || !find_section(elf, ".eh_frame", &frames))
    return false;
  uint32_t low = 0, high = entries_of(&table);
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (extent_begin_of(&table, middle) <= address - bias)
      low = middle + 1;
    else
      high = middle;
  }
  if (!low) return false;
  GElf_Addr begin = extent_begin_of(&table, low - 1),
            entry = table.at + (GElf_Addr)(int64_t)extent_number_at(&table, entry_at(&table, low - 1) + 4),
            field = entry + 8;
  if (field + (GElf_Addr)(int64_t)extent_number_at(&frames, field) != begin)
    return false; /* of another form */
  GElf_Addr end = begin + (uint32_t)extent_number_at(&frames, field + 4);
  if (address - bias >= end) return false;
  *extent = (struct extent){begin + bias, end + bias};
  return true;
}
/* SPDX-License-Identifier: MIT */
