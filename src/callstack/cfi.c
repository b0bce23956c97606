/* Finds the row of an address: by the sorted table, the FDE and its CIE, and the programs that FDE
 * and CIE have. */
#include "callstack/cfi.h"

#include "callstack/bytes.h"
#include <limits.h>

enum { REMEMBERED_MOST = 4 };

/* Pointer encodings: the low four bits are the form, the next three what to add. */
enum { FORM_MASK = 0x0f, ADD_MASK = 0x70, ADD_PC = 0x10, ADD_HEADER = 0x30, INDIRECT = 0x80 };
enum { FORM_WORD = 0, FORM_ULEB, FORM_U16, FORM_U32, FORM_U64, FORM_SLEB = 9, FORM_S16, FORM_S32, FORM_S64 };
enum { SORTED_TABLE = ADD_HEADER | FORM_S32, OMITTED = 0xff };

struct cie {
  uint64_t code_align;
  int64_t data_align;
  struct bytes_cursor program;
  uint8_t pointer_encoding;
  bool has_augmentation;
  bool signal;
};

struct fde {
  struct cie cie;
  uintptr_t begin, size;
  struct bytes_cursor program;
};

/* An interpreter of the programs. */
struct machine {
  const struct cfi_section *section;
  const struct cie *cie;
  uintptr_t location;
  struct cfi_row *row;
  const struct cfi_row *initial; /* NULL while the CIE's own program runs */
  struct cfi_row remembered[REMEMBERED_MOST];
  unsigned depth;
};

/* ---- tables ---- */

static bool cursor_at(const struct cfi_section *section, uintptr_t address, struct bytes_cursor *cursor) {
  if (address - section->base >= section->size) return false;
  *cursor = (struct bytes_cursor){.at = (const unsigned char *)address,
                                  .end = (const unsigned char *)(section->base + section->size)};
  return true;
}

static uintptr_t pointer_form(struct bytes_cursor *cursor, unsigned form) {
  switch (form) {
  case FORM_WORD:
  case FORM_U64:
  case FORM_S64: return (uintptr_t)bytes_u64(cursor);
  case FORM_ULEB: return (uintptr_t)bytes_uleb(cursor);
  case FORM_SLEB: return (uintptr_t)bytes_sleb(cursor);
  case FORM_U16: return bytes_u16(cursor);
  case FORM_S16: return (uintptr_t)(intptr_t)(int16_t)bytes_u16(cursor);
  case FORM_U32: return bytes_u32(cursor);
  case FORM_S32: return (uintptr_t)(intptr_t)(int32_t)bytes_u32(cursor);
  default: cursor->bad = true; return 0;
  }
}

static uintptr_t pointer(const struct cfi_section *section, struct bytes_cursor *cursor, uint8_t encoding) {
  uintptr_t here = (uintptr_t)cursor->at;
  uintptr_t value = pointer_form(cursor, encoding & FORM_MASK);
  switch (encoding & ADD_MASK) {
  case 0: break;
  case ADD_PC: value += here; break;
  case ADD_HEADER: value += section->eh_frame_hdr; break;
  default: cursor->bad = true;
  }
  if (encoding & INDIRECT) cursor->bad = true;
  return value;
}

/* The address of the FDE that begins last at or before pc. */
static bool search_table(const struct cfi_section *section, uintptr_t pc, uintptr_t *fde) {
  struct bytes_cursor cursor;
  if (!section->eh_frame_hdr || !cursor_at(section, section->eh_frame_hdr, &cursor)) return false;
  uint8_t version = bytes_u8(&cursor), frame_encoding = bytes_u8(&cursor);
  uint8_t count_encoding = bytes_u8(&cursor), table_encoding = bytes_u8(&cursor);
  if (version != 1 || count_encoding == OMITTED || table_encoding != SORTED_TABLE) return false;
  if (frame_encoding != OMITTED) pointer(section, &cursor, frame_encoding);
  size_t count = pointer(section, &cursor, count_encoding);
  if (cursor.bad || !count || count > (size_t)(cursor.end - cursor.at) / 8) return false;

  const unsigned char *table = cursor.at;
  intptr_t wanted = (intptr_t)(pc - section->eh_frame_hdr);
  size_t low = 0, high = count; /* the answer is in [low, high) if entry low is at or before pc */
  int32_t entry[2];
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    memcpy(entry, table + middle * 8, sizeof entry);
    if (entry[0] <= wanted)
      low = middle;
    else
      high = middle;
  }
  memcpy(entry, table + low * 8, sizeof entry);
  *fde = section->eh_frame_hdr + (uintptr_t)(intptr_t)entry[1];
  return entry[0] <= wanted;
}

/* Opens the record at an address: the cursor then ends where the record does. */
static bool open_record(const struct cfi_section *section, uintptr_t address, struct bytes_cursor *cursor) {
  if (!cursor_at(section, address, cursor)) return false;
  uint64_t length = bytes_u32(cursor);
  if (length == UINT32_MAX) length = bytes_u64(cursor);
  if (cursor->bad || !length || length > (size_t)(cursor->end - cursor->at)) return false;
  cursor->end = cursor->at + length;
  return true;
}

/* Reads the augmentation's data, one item a letter. */
static bool read_augmentation(const char *letters, struct bytes_cursor *cursor, struct cie *cie) {
  cie->has_augmentation = true;
  uint64_t length = bytes_uleb(cursor);
  if (length > (size_t)(cursor->end - cursor->at)) return false;
  const unsigned char *after = cursor->at + length;
  for (; *letters; letters++) {
    switch (*letters) {
    case 'R': cie->pointer_encoding = bytes_u8(cursor); break;
    case 'L': bytes_u8(cursor); break;
    case 'P': pointer_form(cursor, bytes_u8(cursor) & FORM_MASK); break;
    case 'S': cie->signal = true; break;
    case 'B': break;
    default: goto skip_rest; /* unknown letters: their data is skipped by the length */
    }
  }
skip_rest:
  cursor->at = after;
  return !cursor->bad;
}

static bool read_cie(const struct cfi_section *section, uintptr_t address, struct cie *cie) {
  struct bytes_cursor cursor;
  if (!open_record(section, address, &cursor)) return false;
  *cie = (struct cie){0};
  if (bytes_u32(&cursor) != 0) return false;
  uint8_t version = bytes_u8(&cursor);
  if (version != 1 && version != 3) return false;
  const char *letters = (const char *)cursor.at;
  while (bytes_u8(&cursor)) {}
  cie->code_align = bytes_uleb(&cursor);
  cie->data_align = bytes_sleb(&cursor);
  uint64_t return_register = version == 1 ? bytes_u8(&cursor) : bytes_uleb(&cursor);
  if (cursor.bad || return_register != CFI_RETURN) return false;
  if (letters[0] == 'z') {
    if (!read_augmentation(letters + 1, &cursor, cie)) return false;
  } else if (letters[0]) {
    return false;
  }
  cie->program = cursor;
  return !cursor.bad;
}

static bool read_fde(const struct cfi_section *section, uintptr_t address, struct fde *fde) {
  struct bytes_cursor cursor;
  if (!open_record(section, address, &cursor)) return false;
  uintptr_t here = (uintptr_t)cursor.at;
  uint32_t back = bytes_u32(&cursor);
  if (!back || !read_cie(section, here - back, &fde->cie)) return false;
  fde->begin = pointer(section, &cursor, fde->cie.pointer_encoding);
  fde->size = pointer_form(&cursor, fde->cie.pointer_encoding & FORM_MASK);
  if (fde->cie.has_augmentation) bytes_skip(&cursor, bytes_uleb(&cursor));
  fde->program = cursor;
  return !cursor.bad;
}

/* ---- programs ---- */

static bool set_rule(struct machine *machine, uint64_t number, enum cfi_how how, int64_t value) {
  if (value > INT32_MAX || value < INT32_MIN) return false;
  if (number < CFI_REGISTERS)
    machine->row->rule[number] = (struct cfi_rule){.value = (int32_t)value, .how = (uint8_t)how};
  return true; /* vector registers say nothing about the stack */
}

static bool set_factored(struct machine *machine, uint64_t number, enum cfi_how how, int64_t offset) {
  int64_t value;
  return !__builtin_mul_overflow(offset, machine->cie->data_align, &value) &&
         set_rule(machine, number, how, value);
}

/* Skips an expression; the rule keeps where its length stands. */
static int64_t expression_place(struct machine *machine, struct bytes_cursor *program) {
  int64_t place = (int64_t)((uintptr_t)program->at - machine->section->base);
  bytes_skip(program, bytes_uleb(program));
  return place;
}

static bool set_cfa(struct machine *machine, uint64_t number, int64_t offset) {
  if (number >= CFI_REGISTERS || offset > INT32_MAX || offset < INT32_MIN) return false;
  machine->row->cfa_register = (uint8_t)number;
  machine->row->cfa = (struct cfi_rule){.value = (int32_t)offset, .how = CFI_IS_OFFSET};
  return true;
}

static bool restore_rule(struct machine *machine, uint64_t number) {
  if (!machine->initial) return false;
  if (number < CFI_REGISTERS) machine->row->rule[number] = machine->initial->rule[number];
  return true;
}

static void cfi_advance(struct machine *machine, uint64_t delta) {
  machine->location += delta * machine->cie->code_align;
}

static bool cfi_remember(struct machine *machine) {
  if (machine->depth == REMEMBERED_MOST) return false;
  machine->remembered[machine->depth++] = *machine->row;
  return true;
}

static bool recall(struct machine *machine) {
  if (machine->depth == 0) return false;
  *machine->row = machine->remembered[--machine->depth];
  return true;
}

enum {
  OP_ADVANCE = 1, /* the three with an operand in their low six bits */
  OP_OFFSET = 2,
  OP_RESTORE = 3,
  OP_NOP = 0x00,
  OP_SET_LOCATION,
  OP_ADVANCE_1,
  OP_ADVANCE_2,
  OP_ADVANCE_4,
  OP_OFFSET_EXTENDED,
  OP_RESTORE_EXTENDED,
  OP_UNDEFINED,
  OP_SAME_VALUE,
  OP_REGISTER,
  OP_REMEMBER,
  OP_RECALL,
  OP_CFA,
  OP_CFA_REGISTER,
  OP_CFA_OFFSET,
  OP_CFA_EXPRESSION,
  OP_EXPRESSION,
  OP_OFFSET_SIGNED,
  OP_CFA_SIGNED,
  OP_CFA_OFFSET_SIGNED,
  OP_IS_OFFSET,
  OP_IS_OFFSET_SIGNED,
  OP_IS_EXPRESSION,
  OP_ARGUMENTS_SIZE = 0x2e,
  OP_OFFSET_NEGATIVE = 0x2f,
};

static bool set_cfa_expression(struct machine *machine, struct bytes_cursor *program) {
  int64_t place = expression_place(machine, program);
  if (place > INT32_MAX) return false;
  machine->row->cfa = (struct cfi_rule){.value = (int32_t)place, .how = CFI_IS_EXPRESSION};
  return true;
}

/* Runs one instruction whose operands follow it. */
static bool step_extended(struct machine *machine, uint8_t op, struct bytes_cursor *program) {
  struct cfi_row *row = machine->row;
  uint64_t number;
  switch (op) {
  case OP_NOP: return true;
  case OP_SET_LOCATION:
    machine->location = pointer(machine->section, program, machine->cie->pointer_encoding);
    return true;
  case OP_ADVANCE_1: cfi_advance(machine, bytes_u8(program)); return true;
  case OP_ADVANCE_2: cfi_advance(machine, bytes_u16(program)); return true;
  case OP_ADVANCE_4: cfi_advance(machine, bytes_u32(program)); return true;
  case OP_REMEMBER: return cfi_remember(machine);
  case OP_RECALL: return recall(machine);
  case OP_CFA_REGISTER: return set_cfa(machine, bytes_uleb(program), row->cfa.value);
  case OP_CFA_OFFSET: return set_cfa(machine, row->cfa_register, (int64_t)bytes_uleb(program));
  case OP_CFA_OFFSET_SIGNED:
    return set_cfa(machine, row->cfa_register, bytes_sleb(program) * machine->cie->data_align);
  case OP_CFA_EXPRESSION: return set_cfa_expression(machine, program);
  case OP_ARGUMENTS_SIZE: bytes_uleb(program); return true;
  default: break;
  }
  number = bytes_uleb(program);
  switch (op) {
  case OP_OFFSET_EXTENDED: return set_factored(machine, number, CFI_AT_OFFSET, (int64_t)bytes_uleb(program));
  case OP_OFFSET_SIGNED: return set_factored(machine, number, CFI_AT_OFFSET, bytes_sleb(program));
  case OP_OFFSET_NEGATIVE: return set_factored(machine, number, CFI_AT_OFFSET, -(int64_t)bytes_uleb(program));
  case OP_IS_OFFSET: return set_factored(machine, number, CFI_IS_OFFSET, (int64_t)bytes_uleb(program));
  case OP_IS_OFFSET_SIGNED: return set_factored(machine, number, CFI_IS_OFFSET, bytes_sleb(program));
  case OP_RESTORE_EXTENDED: return restore_rule(machine, number);
  case OP_UNDEFINED: return set_rule(machine, number, CFI_UNDEFINED, 0);
  case OP_SAME_VALUE: return set_rule(machine, number, CFI_SAME, 0);
  case OP_REGISTER:
    return set_rule(machine, number, CFI_IN_REGISTER, (int64_t)(bytes_uleb(program) & INT_MAX));
  case OP_CFA: return set_cfa(machine, number, (int64_t)bytes_uleb(program));
  case OP_CFA_SIGNED: return set_cfa(machine, number, bytes_sleb(program) * machine->cie->data_align);
  case OP_EXPRESSION: return set_rule(machine, number, CFI_AT_EXPRESSION, expression_place(machine, program));
  case OP_IS_EXPRESSION:
    return set_rule(machine, number, CFI_IS_EXPRESSION, expression_place(machine, program));
  default: return false;
  }
}

/* Runs a program up to the row that holds at pc. */
static bool cfi_run(struct machine *machine, struct bytes_cursor program, uintptr_t pc) {
  while (program.at < program.end && machine->location <= pc) {
    uint8_t op = bytes_u8(&program);
    uint8_t low = op & 0x3f;
    bool ok = true;
    switch (op >> 6) {
    case OP_ADVANCE: cfi_advance(machine, low); break;
    case OP_OFFSET: ok = set_factored(machine, low, CFI_AT_OFFSET, (int64_t)bytes_uleb(&program)); break;
    case OP_RESTORE: ok = restore_rule(machine, low); break;
    default: ok = step_extended(machine, low, &program);
    }
    if (!ok || program.bad) return false;
  }
  return true;
}

static bool find_fde(const struct cfi_section *section, uintptr_t pc, struct fde *fde) {
  uintptr_t address;
  return search_table(section, pc, &address) && read_fde(section, address, fde) &&
         pc - fde->begin < fde->size;
}

/* ---- shared ---- */

bool cfi_find_function(const struct cfi_section *section, uintptr_t pc, uintptr_t *begin, uintptr_t *end) {
  struct fde fde;
  if (!find_fde(section, pc, &fde)) return false;
  *begin = fde.begin;
  *end = fde.begin + fde.size;
  return true;
}

bool cfi_find_row(const struct cfi_section *section, uintptr_t pc, struct cfi_row *row) {
  struct fde fde;
  if (!find_fde(section, pc, &fde)) return false;
  *row = (struct cfi_row){.signal = fde.cie.signal};
  struct machine machine;
  machine.section = section;
  machine.cie = &fde.cie;
  machine.location = 0;
  machine.row = row;
  machine.initial = NULL;
  machine.depth = 0;
  if (!cfi_run(&machine, fde.cie.program, pc)) return false;
  struct cfi_row initial = *row;
  machine.location = fde.begin;
  machine.initial = &initial;
  return cfi_run(&machine, fde.program, pc);
}
/* SPDX-License-Identifier: MIT */
