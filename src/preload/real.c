/* Finds the real allocator.
 *
 * The first call of any entry point finds it, since the dynamic loader and other libraries'
 * constructors allocate before our constructor runs. The table `real` begins with functions that
 * call real_resolve and then the real function, so the fast paths need no test.
 *
 * dlsym(RTLD_NEXT) finds glibc's functions, or those of an allocator that the program is linked
 * with. A failing dlsym allocates its error text, so only names that every allocator has are looked
 * up. Some allocators lack reallocarray, valloc, pvalloc, cfree or the C23 frees; our functions of
 * these names call the functions that were looked up.
 *
 * operator new: libstdc++'s operator calls malloc, so a block would be counted twice if our
 * operator called libstdc++'s. Ours calls the real malloc instead, and calls libstdc++'s operator
 * only when malloc fails, to run the new-handler and throw. Where an allocator library has an
 * operator new of its own (tcmalloc, mimalloc, jemalloc), ours calls that operator, since the
 * library's operator delete may need a block of it.
 *
 * REPLACED: malloc may be the program's own, or that of a library preloaded before us, while names
 * that this malloc's library lacks (reallocarray, operator new) are ours. Without us they would be
 * those of the C and C++ libraries, which call the malloc that the program calls. So ours do
 * that too (program_calls), and leave the counting to that malloc.
 */
#include "preload/real.h"

#include "base/words.h"
#include "preload/malloc_host.h"
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SPARE_BYTES ((size_t)100 << 10)

static const char *const new_names[NEW_FORMS] = {
    "_Znwm", "_ZnwmRKSt9nothrow_t", "_ZnwmSt11align_val_t", "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_Znam", "_ZnamRKSt9nothrow_t", "_ZnamSt11align_val_t", "_ZnamSt11align_val_tRKSt9nothrow_t"};
static const char *const delete_names[DELETE_FORMS] = {"_ZdlPv", "_ZdlPvSt11align_val_t", "_ZdaPv",
                                                       "_ZdaPvSt11align_val_t"};

static new_function *library_new[NEW_FORMS]; /* of the C++ library, for exhausted memory; NULL until found */

static bool is_glibc; /* the real allocator is glibc's own */

static void *real_first_malloc(size_t bytes) { return real_resolve(), real.malloc(bytes); }
static void first_free(void *block) { real_resolve(), real.free(block); }
static void *real_first_calloc(size_t count, size_t bytes) {
  return real_resolve(), real.calloc(count, bytes);
}
static void *first_realloc(void *block, size_t bytes) { return real_resolve(), real.realloc(block, bytes); }
static size_t first_usable_size(void *block) { return real_resolve(), real.usable_size(block); }
static void *first_memalign(size_t alignment, size_t bytes) {
  return real_resolve(), real.memalign(alignment, bytes);
}
static void *first_aligned_alloc(size_t alignment, size_t bytes) {
  return real_resolve(), real.aligned_alloc(alignment, bytes);
}
static int first_posix_memalign(void **block, size_t alignment, size_t bytes) {
  return real_resolve(), real.posix_memalign(block, alignment, bytes);
}

/* Looks for the C++ library by name, since RTLD_NEXT does not find a library that dlopen loaded. */
static new_function *find_library_new(enum new_form form) {
  if (library_new[form]) return library_new[form];
  void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (!library) library = dlopen("libc++abi.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return NULL;
  library_new[form] = (new_function *)dlsym(library, new_names[form]);
  return library_new[form];
}

/* Called when memory is exhausted: the language's own function retries, calls the new-handler and
 * throws. */
static void *new_failed(enum new_form form, size_t bytes, size_t second, const void *third) {
  new_function *own = find_library_new(form);
  if (own) return own(bytes, second, third);
  if (form == NEW || form == NEW_ARRAY || form == NEW_ALIGNED || form == NEW_ARRAY_ALIGNED) abort();
  return NULL;
}

#define NEW_BY_MALLOC(name, form)                                     \
  static void *name(size_t bytes, size_t second, const void *third) { \
    void *block = real.malloc(bytes ? bytes : 1);                     \
    return block ? block : new_failed(form, bytes, second, third);    \
  }
#define NEW_BY_ALIGNED(name, form)                                           \
  static void *name(size_t bytes, size_t alignment, const void *third) {     \
    void *block = NULL;                                                      \
    size_t least = alignment < sizeof(void *) ? sizeof(void *) : alignment;  \
    if (real.posix_memalign(&block, least, bytes ? bytes : 1)) block = NULL; \
    return block ? block : new_failed(form, bytes, alignment, third);        \
  }
NEW_BY_MALLOC(new_plain, NEW)
NEW_BY_MALLOC(new_nothrow, NEW_NOTHROW)
NEW_BY_ALIGNED(new_aligned, NEW_ALIGNED)
NEW_BY_ALIGNED(new_aligned_nothrow, NEW_ALIGNED_NOTHROW)
NEW_BY_MALLOC(new_array, NEW_ARRAY)
NEW_BY_MALLOC(new_array_nothrow, NEW_ARRAY_NOTHROW)
NEW_BY_ALIGNED(new_array_aligned, NEW_ARRAY_ALIGNED)
NEW_BY_ALIGNED(new_array_aligned_nothrow, NEW_ARRAY_ALIGNED_NOTHROW)

/* REPLACED. The caller has counted the words; the program's malloc counts them itself, if it calls
 * ours. */
static void *new_replaced(enum new_form form, size_t bytes, size_t second, const void *third) {
  words_left += (int64_t)malloc_words(bytes);
  new_function *own = find_library_new(form);
  if (own) return own(bytes, second, third);
  bool aligned = form & NEW_ALIGNED;
  void *block = NULL;
  if (!aligned)
    block = program_calls.malloc(bytes ? bytes : 1);
  else if (program_calls.posix_memalign(&block, second, bytes ? bytes : 1))
    block = NULL;
  return block ? block : new_failed(form, bytes, second, third);
}
#define NEW_REPLACED(name, form)                                      \
  static void *name(size_t bytes, size_t second, const void *third) { \
    return new_replaced(form, bytes, second, third);                  \
  }
NEW_REPLACED(replaced_plain, NEW)
NEW_REPLACED(replaced_nothrow, NEW_NOTHROW)
NEW_REPLACED(replaced_aligned, NEW_ALIGNED)
NEW_REPLACED(replaced_aligned_nothrow, NEW_ALIGNED_NOTHROW)
NEW_REPLACED(replaced_array, NEW_ARRAY)
NEW_REPLACED(replaced_array_nothrow, NEW_ARRAY_NOTHROW)
NEW_REPLACED(replaced_array_aligned, NEW_ARRAY_ALIGNED)
NEW_REPLACED(replaced_array_aligned_nothrow, NEW_ARRAY_ALIGNED_NOTHROW)

static new_function *const new_of_replaced[NEW_FORMS] = {
    replaced_plain, replaced_nothrow,       replaced_aligned,       replaced_aligned_nothrow,
    replaced_array, replaced_array_nothrow, replaced_array_aligned, replaced_array_aligned_nothrow};

static void delete_replaced(void *block, size_t alignment) {
  (void)alignment;
  program_calls.free(block);
}

static void delete_by_free(void *block, size_t alignment) {
  (void)alignment;
  real.free(block);
}

#define BY_MALLOC                                                                      \
  .new = {new_plain, new_nothrow,       new_aligned,       new_aligned_nothrow,        \
          new_array, new_array_nothrow, new_array_aligned, new_array_aligned_nothrow}, \
  .delete = {delete_by_free, delete_by_free, delete_by_free, delete_by_free}

__attribute__((aligned(64))) struct real real = {
    .free = first_free,
    .malloc = real_first_malloc,
    .calloc = real_first_calloc,
    .realloc = first_realloc,
    .usable_size = first_usable_size,
    .memalign = first_memalign,
    .posix_memalign = first_posix_memalign,
    .aligned_alloc = first_aligned_alloc,
    BY_MALLOC,
};

static void *first_program_realloc(void *block, size_t bytes) {
  return real_resolve(), program_calls.realloc(block, bytes);
}
static void first_program_free(void *block) { real_resolve(), program_calls.free(block); }
static void *first_program_memalign(size_t alignment, size_t bytes) {
  return real_resolve(), program_calls.memalign(alignment, bytes);
}

struct program_calls program_calls = {
    .realloc = first_program_realloc,
    .free = first_program_free,
    .memalign = first_program_memalign,
};

static bool same_library(const void *a, const void *b) {
  Dl_info of_a, of_b;
  return dladdr(a, &of_a) && dladdr(b, &of_b) && of_a.dli_fbase == of_b.dli_fbase;
}

/* Whether an object before us defines `malloc`. An executable that takes malloc's address may have
 * a stub for it, whose symbol is undefined there: where the stub leads is not known, and it
 * counts as ours. */
static bool real_is_replaced(const void *bound) {
  Dl_info info;
  const ElfW(Sym) *symbol = NULL;
  if (!dladdr1(bound, &info, (void **)&symbol, RTLD_DL_SYMENT)) return false;
  return !(symbol && symbol->st_shndx == SHN_UNDEF) && !same_library(bound, &real);
}

#define FIND(where, member, name) all.member = (__typeof__(all.member))dlsym(where, name)

static void resolve_program_calls(void) {
  struct program_calls all = {.replaces_new = false};
  FIND(RTLD_DEFAULT, malloc, "malloc");
  FIND(RTLD_DEFAULT, realloc, "realloc");
  FIND(RTLD_DEFAULT, free, "free");
  FIND(RTLD_DEFAULT, memalign, "memalign");
  FIND(RTLD_DEFAULT, posix_memalign, "posix_memalign");
  program_calls = all;
}

/* REPLACED */
static void use_replaced(struct real *all) {
  program_calls.replaces_new = true;
  for (int form = 0; form < NEW_FORMS; form++) all->new[form] = new_of_replaced[form];
  for (int form = 0; form < DELETE_FORMS; form++) all->delete[form] = delete_replaced;
}

/* Takes the operators of the allocator's own library, if it has them. `all` begins as a copy of
 * `real`. */
static void resolve_operators(struct real *all) {
  void *plain = dlsym(RTLD_NEXT, new_names[NEW]);
  bool own = plain && same_library(plain, (const void *)all->malloc);
  if (!own && real_is_replaced((const void *)program_calls.malloc)) use_replaced(all);
  if (!plain) return;
  for (int form = 0; form < NEW_FORMS; form++) {
    new_function *found = (new_function *)dlsym(RTLD_NEXT, new_names[form]);
    if (found && own)
      all->new[form] = found;
    else
      library_new[form] = found;
  }
  for (int form = 0; own && form < DELETE_FORMS; form++) {
    delete_function *found = (delete_function *)dlsym(RTLD_NEXT, delete_names[form]);
    if (found) all->delete[form] = found;
  }
}

/* ---- shared ---- */

void real_resolve(void) {
  if (real.malloc != real_first_malloc) return;
  struct real all = real;
  FIND(RTLD_NEXT, malloc, "malloc");
  FIND(RTLD_NEXT, free, "free");
  FIND(RTLD_NEXT, calloc, "calloc");
  FIND(RTLD_NEXT, realloc, "realloc");
  FIND(RTLD_NEXT, usable_size, "malloc_usable_size");
  FIND(RTLD_NEXT, memalign, "memalign");
  FIND(RTLD_NEXT, posix_memalign, "posix_memalign");
  FIND(RTLD_NEXT, aligned_alloc, "aligned_alloc");
  /* By the library: tcmalloc and mimalloc have a __libc_malloc as well. */
  is_glibc = same_library((const void *)all.malloc, (const void *)gnu_get_libc_version);
  real = all; /* before the operators: a dlsym that fails allocates, by these functions */
  resolve_program_calls();
  resolve_operators(&all);
  for (int form = 0; form < NEW_FORMS; form++) real.new[form] = all.new[form];
  for (int form = 0; form < DELETE_FORMS; form++) real.delete[form] = all.delete[form];
}

size_t real_usable_for(size_t bytes) {
  static const size_t probed_most = 65536; /* above, what an allocator rounds up is small */
  if (is_glibc) return bytes <= 24 ? 24 : ((bytes + 23) & ~(size_t)15) - 8;
  void *probe = bytes <= probed_most ? real.malloc(bytes) : NULL;
  if (!probe) return bytes;
  size_t usable = real.usable_size(probe);
  real.free(probe);
  return usable;
}

void *real_find(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) dlerror(); /* the program's dlerror must not tell of this */
  return found && same_library(found, (const void *)real.malloc) ? found : NULL;
}

bool real_is_the_c_librarys(void) { return is_glibc; }

bool real_realloc_zero_frees(void) {
  void *block = real.malloc(1);
  void *after = block ? real.realloc(block, 0) : NULL;
  if (after) real.free(after);
  return !after;
}
void real_make_spare(size_t bytes) {
  void **last = NULL, **piece;
  for (size_t made = 0; made <= bytes + SPARE_BYTES && (piece = real.malloc(SPARE_BYTES));
       made += SPARE_BYTES) {
    *piece = last;
    last = piece;
  }
  if (!last) return;
  piece = *last;
  real.realloc(last, 1); /* stays: glibc gives free memory behind the last block back to the system */
  while ((last = piece)) {
    piece = *last;
    real.free(last);
  }
}

/* SPDX-License-Identifier: MIT */
