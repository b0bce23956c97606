/* Whether a program's file can take a preloaded library.
 *
 * The header tells the class, the processor and the loader; the dynamic section tells the libraries
 * of sanitizers; and the hash table of dynamic symbols tells whether the program defines malloc, or
 * the functions of a sanitizer that it is linked with statically. A malloc that calls the next one
 * by dlsym passes blocks on to ours, so such a program counts as good unless its names are those of
 * a known allocator or sanitizer.
 *
 * What cannot be read here is not held against the program. Everything is read in small pieces by
 * bare system calls: this runs in signal handlers, and in children that share their parent's
 * memory.
 */
#include "base/image.h"

#include "base/text.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __x86_64__
enum { NATIVE_MACHINE = EM_X86_64 };
#elif defined __aarch64__
enum { NATIVE_MACHINE = EM_AARCH64 };
#else
enum { NATIVE_MACHINE = EM_NONE };
#endif

enum { SEGMENTS_MOST = 24, CHAIN_MOST = 4096, SCRIPTS_MOST = 4, WINDOW = 512, NAMES_MOST = 64 << 20 };

struct elf {
  int fd;
  unsigned segment_count;
  Elf64_Phdr segments[SEGMENTS_MOST];
  uint64_t header_bytes, sections, section_count; /* of the table of sections */
  /* Offsets in the file; 0: there is none. */
  uint64_t strings, string_bytes, symbols, hash;
};

static long read_at(int fd, void *bytes, size_t count, uint64_t offset) {
  return syscall(SYS_pread64, fd, bytes, count, offset);
}

static bool image_read_all(int fd, void *bytes, size_t count, uint64_t offset) {
  return read_at(fd, bytes, count, offset) == (long)count;
}

/* ---- segments ---- */

static bool read_segments(struct elf *elf, const Elf64_Ehdr *header) {
  elf->segment_count = header->e_phnum < SEGMENTS_MOST ? header->e_phnum : SEGMENTS_MOST;
  elf->sections = header->e_shoff;
  elf->section_count = header->e_shentsize == sizeof(Elf64_Shdr) ? header->e_shnum : 0;
  return header->e_phentsize == sizeof(Elf64_Phdr) &&
         image_read_all(elf->fd, elf->segments, elf->segment_count * sizeof *elf->segments, header->e_phoff);
}

static const Elf64_Phdr *image_find_segment(const struct elf *elf, uint32_t type) {
  for (unsigned i = 0; i < elf->segment_count; i++)
    if (elf->segments[i].p_type == type) return &elf->segments[i];
  return NULL;
}

/* The place in the file of what will stand at an address; 0: nowhere. */
static uint64_t offset_of(const struct elf *elf, uint64_t address) {
  for (unsigned i = 0; i < elf->segment_count; i++) {
    const Elf64_Phdr *segment = &elf->segments[i];
    if (segment->p_type == PT_LOAD && address - segment->p_vaddr < segment->p_filesz)
      return address - segment->p_vaddr + segment->p_offset;
  }
  return 0;
}

static bool is_musl(const struct elf *elf, const Elf64_Phdr *loader) {
  char path[IMAGE_NAME_MOST] = "";
  size_t length = loader->p_filesz < sizeof path ? (size_t)loader->p_filesz : sizeof path - 1;
  return image_read_all(elf->fd, path, length, loader->p_offset) && strstr(path, "/ld-musl-");
}

/* ---- the dynamic section ---- */

static enum image_kind sanitizer_of_library(const struct elf *elf, uint64_t name) {
  static const struct {
    const char *begin;
    enum image_kind kind;
  } known[] = {{"libasan.so", IMAGE_ADDRESS_SANITIZER},        {"libtsan.so", IMAGE_THREAD_SANITIZER},
               {"liblsan.so", IMAGE_LEAK_SANITIZER},           {"libclang_rt.asan", IMAGE_ADDRESS_SANITIZER},
               {"libclang_rt.tsan", IMAGE_THREAD_SANITIZER},   {"libclang_rt.lsan", IMAGE_LEAK_SANITIZER},
               {"libclang_rt.hwasan", IMAGE_ADDRESS_SANITIZER}};
  char text[24] = "";
  if (read_at(elf->fd, text, sizeof text - 1, elf->strings + name) <= 0) return IMAGE_GOOD;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (text_begins(text, known[i].begin)) return known[i].kind;
  return IMAGE_GOOD;
}

/* Calls `visit` for each entry until it returns something. */
typedef enum image_kind visit_entry(struct elf *elf, const Elf64_Dyn *entry);

static enum image_kind each_entry(struct elf *elf, const Elf64_Phdr *dynamic, visit_entry *visit) {
  Elf64_Dyn entries[16];
  for (uint64_t at = 0; at + sizeof *entries <= dynamic->p_filesz; at += sizeof entries) {
    long got = read_at(elf->fd, entries, sizeof entries, dynamic->p_offset + at);
    for (long i = 0; i < got / (long)sizeof *entries; i++) {
      enum image_kind kind = entries[i].d_tag == DT_NULL ? IMAGE_KINDS : visit(elf, &entries[i]);
      if (kind != IMAGE_GOOD) return kind == IMAGE_KINDS ? IMAGE_GOOD : kind;
    }
    if (got < (long)sizeof entries) break;
  }
  return IMAGE_GOOD;
}

static enum image_kind find_table(struct elf *elf, const Elf64_Dyn *entry) {
  switch (entry->d_tag) {
  case DT_STRTAB: elf->strings = offset_of(elf, entry->d_un.d_ptr); break;
  case DT_STRSZ: elf->string_bytes = entry->d_un.d_val; break;
  case DT_SYMTAB: elf->symbols = offset_of(elf, entry->d_un.d_ptr); break;
  case DT_GNU_HASH: elf->hash = offset_of(elf, entry->d_un.d_ptr); break;
  default: break;
  }
  return IMAGE_GOOD;
}

static enum image_kind find_sanitizer(struct elf *elf, const Elf64_Dyn *entry) {
  return entry->d_tag == DT_NEEDED && elf->strings ? sanitizer_of_library(elf, entry->d_un.d_val)
                                                   : IMAGE_GOOD;
}

/* ---- symbols ---- */

static uint32_t image_hash_of(const char *name) {
  uint32_t hash = 5381;
  for (; *name; name++) hash = hash * 33 + (unsigned char)*name;
  return hash;
}

static bool is_definition(const struct elf *elf, uint64_t number, const char *name) {
  Elf64_Sym symbol;
  char text[32];
  size_t bytes = strlen(name) + 1;
  return image_read_all(elf->fd, &symbol, sizeof symbol, elf->symbols + number * sizeof symbol) &&
         symbol.st_shndx != SHN_UNDEF && bytes <= sizeof text &&
         image_read_all(elf->fd, text, bytes, elf->strings + symbol.st_name) && !memcmp(text, name, bytes);
}

/* Looks in the hash table as the dynamic loader does; it holds only what the program defines. */
static bool defines(const struct elf *elf, const char *name) {
  struct {
    uint32_t buckets, first, bloom_words, shift;
  } table;
  uint32_t hash = image_hash_of(name), number, value;
  uint64_t word, at = elf->hash + sizeof table;
  if (!elf->hash || !elf->symbols || !elf->strings ||
      !image_read_all(elf->fd, &table, sizeof table, elf->hash) || !table.buckets || !table.bloom_words ||
      !image_read_all(elf->fd, &word, sizeof word, at + sizeof word * (hash / 64 % table.bloom_words)) ||
      !(word >> hash % 64 & word >> (hash >> (table.shift & 31)) % 64 & 1))
    return false;
  at += sizeof word * table.bloom_words;
  if (!image_read_all(elf->fd, &number, sizeof number, at + sizeof number * (hash % table.buckets)) ||
      number < table.first)
    return false;
  at += sizeof number * (uint64_t)table.buckets;
  for (unsigned i = 0; i < CHAIN_MOST; i++, number++) {
    if (!image_read_all(elf->fd, &value, sizeof value, at + sizeof value * (uint64_t)(number - table.first)))
      return false;
    if ((value | 1) == (hash | 1) && is_definition(elf, number, name)) return true;
    if (value & 1) return false;
  }
  return false;
}

static enum image_kind sanitizer_of_symbols(const struct elf *elf) {
  if (defines(elf, "__asan_init")) return IMAGE_ADDRESS_SANITIZER;
  if (defines(elf, "__msan_init")) return IMAGE_MEMORY_SANITIZER;
  if (defines(elf, "__tsan_init")) return IMAGE_THREAD_SANITIZER;
  if (defines(elf, "__lsan_init")) return IMAGE_LEAK_SANITIZER;
  return IMAGE_GOOD;
}

/* ---- names, wherever they stand ---- */

/* The bytes of `text` with its NUL byte, in a window of the file. */
static bool contains(const char *window, size_t count, const char *text) {
  size_t length = strlen(text) + 1;
  for (size_t i = 0; i + length <= count; i++)
    if (window[i] == *text && !memcmp(window + i, text, length)) return true;
  return false;
}

struct marker {
  const char *name;
  enum image_kind kind;
};

/* The kind of the first marker in a table of names. */
static enum image_kind image_search(int fd, uint64_t offset, uint64_t bytes, const struct marker *markers) {
  enum { OVERLAP = 32 };
  char window[WINDOW];
  for (uint64_t at = 0; at < bytes && at < NAMES_MOST; at += WINDOW - OVERLAP) {
    size_t most = bytes - at < WINDOW ? (size_t)(bytes - at) : WINDOW;
    long got = read_at(fd, window, most, offset + at);
    if (got <= 0) break;
    for (const struct marker *marker = markers; marker->name; marker++)
      if (contains(window, (size_t)got, marker->name)) return marker->kind;
  }
  return IMAGE_GOOD;
}

static enum image_kind search_symbol_table(const struct elf *elf, const struct marker *markers) {
  Elf64_Shdr table, names;
  for (uint64_t i = 0; i < elf->section_count; i++)
    if (image_read_all(elf->fd, &table, sizeof table, elf->sections + i * sizeof table) &&
        table.sh_type == SHT_SYMTAB &&
        image_read_all(elf->fd, &names, sizeof names, elf->sections + table.sh_link * sizeof names))
      return image_search(elf->fd, names.sh_offset, names.sh_size, markers);
  return IMAGE_GOOD;
}

static bool image_imports(const struct elf *elf, const char *name) {
  const struct marker markers[] = {{name, IMAGE_OWN_MALLOC}, {0}};
  return image_search(elf->fd, elf->strings, elf->string_bytes, markers) != IMAGE_GOOD;
}

/* gcc exports nothing of a sanitizer that it links statically but the functions that this replaces,
 * and without a symbol table their names are left, and those of hooks that a program may define. A
 * sanitizer that finds leaks asks whether that is turned off; LeakSanitizer replaces no function of
 * strings. */
static enum image_kind sanitizer_of_hooks(const struct elf *elf) {
  if (!image_imports(elf, "__sanitizer_symbolize_code")) return IMAGE_GOOD;
  if (!image_imports(elf, "__lsan_is_turned_off")) return IMAGE_THREAD_SANITIZER;
  return defines(elf, "strlen") ? IMAGE_ADDRESS_SANITIZER : IMAGE_LEAK_SANITIZER;
}

/* The program defines malloc. */
static enum image_kind examine_malloc(const struct elf *elf) {
  static const struct marker known[] = {{"__asan_init", IMAGE_ADDRESS_SANITIZER},
                                        {"__tsan_init", IMAGE_THREAD_SANITIZER},
                                        {"__lsan_init", IMAGE_LEAK_SANITIZER},
                                        {"__msan_init", IMAGE_MEMORY_SANITIZER},
                                        {"mallctl", IMAGE_OWN_MALLOC},
                                        {"mi_malloc", IMAGE_OWN_MALLOC},
                                        {"tc_malloc", IMAGE_OWN_MALLOC},
                                        {0}};
  enum image_kind kind = search_symbol_table(elf, known);
  if (kind == IMAGE_GOOD) kind = sanitizer_of_hooks(elf);
  return kind == IMAGE_GOOD && !image_imports(elf, "dlsym") ? IMAGE_OWN_MALLOC : kind;
}

static enum image_kind examine_dynamic(struct elf *elf) {
  const Elf64_Phdr *dynamic = image_find_segment(elf, PT_DYNAMIC);
  if (!dynamic) return IMAGE_GOOD;
  each_entry(elf, dynamic, find_table);
  enum image_kind kind = each_entry(elf, dynamic, find_sanitizer);
  if (kind == IMAGE_GOOD) kind = sanitizer_of_symbols(elf);
  return kind == IMAGE_GOOD && defines(elf, "malloc") ? examine_malloc(elf) : kind;
}

/* ---- files ---- */

static bool image_gains_privileges(int fd, const struct stat *status) {
  char capability;
  return (status->st_mode & S_ISUID && status->st_uid != geteuid()) ||
         (status->st_mode & S_ISGID && status->st_gid != getegid()) ||
         (geteuid() && (syscall(SYS_fgetxattr, fd, "security.capability", &capability, 0) > 0));
}

/* Whether the file, which names no loader, is glibc's: it loads the preloaded libraries, too. */
static bool is_loader(struct elf *elf) {
  const Elf64_Phdr *dynamic = image_find_segment(elf, PT_DYNAMIC);
  if (!dynamic) return false;
  each_entry(elf, dynamic, find_table);
  return defines(elf, "_rtld_global");
}

static enum image_kind examine_elf(int fd, const Elf64_Ehdr *header, bool *is_the_loader) {
  struct stat status;
  struct elf elf = {.fd = fd};
  if (header->e_ident[EI_CLASS] != ELFCLASS64) return IMAGE_NARROW;
  if (NATIVE_MACHINE != EM_NONE && header->e_machine != NATIVE_MACHINE) return IMAGE_FOREIGN;
  if (!read_segments(&elf, header)) return IMAGE_STATIC;
  const Elf64_Phdr *loader = image_find_segment(&elf, PT_INTERP);
  if (!loader) {
    *is_the_loader = is_loader(&elf);
    return *is_the_loader ? IMAGE_GOOD : IMAGE_STATIC;
  }
  if (!fstat(fd, &status) && image_gains_privileges(fd, &status)) return IMAGE_PRIVILEGED;
  return is_musl(&elf, loader) ? IMAGE_MUSL : examine_dynamic(&elf);
}

/* The interpreter that a script names in its first line. */
static bool find_interpreter(const char *begin, size_t length, char name[IMAGE_NAME_MOST]) {
  size_t at = 2;
  while (at < length && (begin[at] == ' ' || begin[at] == '\t')) at++;
  size_t end = at;
  while (end < length && begin[end] != ' ' && begin[end] != '\t' && begin[end] != '\n') end++;
  if (end == at || end - at >= IMAGE_NAME_MOST) return false;
  memcpy(name, begin + at, end - at);
  name[end - at] = 0;
  return true;
}

static int image_open_file(int folder, const char *path) {
  char own[40] = "/proc/self/fd/";
  if (*path) return (int)syscall(SYS_openat, folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  /* Again, since the descriptor may allow nothing but execution. */
  char digits[12];
  int count = 0;
  size_t length = strlen(own);
  for (unsigned rest = (unsigned)folder; !count || rest; rest /= 10)
    digits[count++] = (char)('0' + rest % 10);
  while (count) own[length++] = digits[--count];
  own[length] = 0;
  return (int)syscall(SYS_openat, AT_FDCWD, own, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* True: the file is a script, and its interpreter decides, which is to be examined next. */
static bool examine_once(int folder, struct image *image, unsigned depth) {
  union {
    Elf64_Ehdr elf;
    char text[IMAGE_NAME_MOST];
  } begin;
  struct stat status;
  int fd = image_open_file(folder, image->path);
  image->kind = IMAGE_UNREADABLE;
  image->error = errno;
  if (fd < 0) return false;
  image->error = EACCES;
  bool is_file = !fstat(fd, &status) && S_ISREG(status.st_mode);
  long got = is_file ? read_at(fd, &begin, sizeof begin, 0) : -1;
  size_t length = got > 0 ? (size_t)got : 0;
  bool elf = length >= sizeof begin.elf && !memcmp(begin.elf.e_ident, ELFMAG, SELFMAG);
  if (got >= 0) image->kind = elf ? examine_elf(fd, &begin.elf, &image->loader) : IMAGE_UNKNOWN;
  syscall(SYS_close, fd);
  if (got < 0 || elf || depth == SCRIPTS_MOST) return false;
  char *name = image->names[depth % 2];
  bool named = length > 2 && !memcmp(begin.text, "#!", 2);
  if (named ? !find_interpreter(begin.text, length, name) : memchr(begin.text, 0, length) != NULL)
    return false;
  if (!named) strcpy(name, "/bin/sh");
  image->script = image->path;
  image->path = name;
  return true;
}

/* ---- shared ---- */

void image_examine(int folder, const char *path, struct image *image) {
  int saved = errno;
  image->path = path;
  image->script = NULL;
  image->loader = false;
  for (unsigned depth = 0; examine_once(depth ? AT_FDCWD : folder, image, depth); depth++) {}
  errno = saved;
}

const char *image_reason(enum image_kind kind) {
  static const char *const reasons[IMAGE_KINDS] = {
      [IMAGE_GOOD] = "can be recorded",
      [IMAGE_UNREADABLE] = "cannot be read",
      [IMAGE_UNKNOWN] = "has a format that is not known",
      [IMAGE_STATIC] = "is statically linked",
      [IMAGE_PRIVILEGED] = "gains privileges when it starts",
      [IMAGE_NARROW] = "is a 32-bit program",
      [IMAGE_FOREIGN] = "is for another processor",
      [IMAGE_MUSL] = "uses the C library musl",
      [IMAGE_ADDRESS_SANITIZER] = "is built with AddressSanitizer",
      [IMAGE_LEAK_SANITIZER] = "is built with LeakSanitizer",
      [IMAGE_MEMORY_SANITIZER] = "is built with MemorySanitizer",
      [IMAGE_THREAD_SANITIZER] = "is built with ThreadSanitizer",
      [IMAGE_OWN_MALLOC] = "brings its own malloc",
      [IMAGE_OUT_OF_REACH] = "runs as another user or with another root directory",
  };
  return (unsigned)kind < IMAGE_KINDS ? reasons[kind] : "cannot be recorded";
}

bool image_is_harmed(enum image_kind kind) {
  return (kind >= IMAGE_NARROW && kind <= IMAGE_THREAD_SANITIZER) || kind == IMAGE_OUT_OF_REACH;
}
/* SPDX-License-Identifier: MIT */
