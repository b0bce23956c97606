/* The control file, as the recorded process creates and reads it. */
#include "trace/control.h"

#include "base/os.h"
#include "trace/event.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

const unsigned char control_magic[8] = {'W', 'N', 'C', 'O', 'N', 'T', 'R', 'L'};

/* The page is written, not only made as long: so it has its space on the disk, and a store to it
 * cannot fail. */
static struct control_page *create_at(const char *path, const struct control_page *first) {
  unsigned char zeros[CONTROL_BYTES] = {0};
  memcpy(zeros, (const void *)first, sizeof *first);
  syscall(SYS_unlinkat, AT_FDCWD, path, 0); /* of a process that had this number before */
  int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path,
                                O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (descriptor < 0) return NULL;
  void *page = MAP_FAILED;
  if (os_write_all(descriptor, zeros, sizeof zeros))
    page = mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  syscall(SYS_close, descriptor);
  if (page == MAP_FAILED) syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  return page == MAP_FAILED ? NULL : page;
}

/* They are stored by one system call: in a program that sleeps nearly all the time, whose caches are cold,
 * each takes some 10 us. */
enum { COUNTS = sizeof(struct control_counts) / sizeof(uint64_t) };

static void copy_directly(uint64_t *to, const uint64_t *from, size_t words) {
  atomic_thread_fence(memory_order_seq_cst);
  for (size_t i = 0; i < words; i++) *(volatile uint64_t *)&to[i] = from[i];
  atomic_thread_fence(memory_order_seq_cst);
}

/* CUT. Copies words from or to the page, at most COUNTS. Each is copied as a whole, and the copies of a
 * thread are in their order. */
static bool copy_words(struct control *control, long call, void *own, void *of_page, size_t words) {
  struct iovec local[COUNTS], remote = {of_page, words * sizeof(uint64_t)};
  for (size_t i = 0; i < words; i++) local[i] = (struct iovec){(uint64_t *)own + i, sizeof(uint64_t)};
  int saved = errno;
  bool direct = atomic_load_explicit(&control->direct, memory_order_relaxed),
       is_load = call == SYS_process_vm_readv;
  long copied = direct ? -1 : syscall(call, getpid(), local, words, &remote, 1UL, 0UL);
  bool whole = copied == (long)remote.iov_len, cut = !direct && !whole && errno == EFAULT;
  errno = saved;
  if (cut) atomic_store_explicit(&control->page, NULL, memory_order_release);
  if (cut || whole) return !cut;
  copy_directly(is_load ? own : of_page, is_load ? of_page : own, words);
  return true;
}

/* Both take a word of the page by its name, and return false if the file was cut. */
#define LOAD(control, word, own)  copy_words(control, SYS_process_vm_readv, own, (void *)(word), 1)
#define STORE(control, word, own) copy_words(control, SYS_process_vm_writev, (void *)(own), (void *)(word), 1)

/* Reads what is asked. False: nothing is. */
static bool control_read_request(struct control *control, struct control_page *page,
                                 struct control_request *request) {
  uint64_t asked, duration;
  /* Pairs with the command's third step: rate and time are there. */
  if (!LOAD(control, &page->asked, &asked)) return false;
  if (asked == atomic_load_explicit(&control->done, memory_order_relaxed)) return false;
  struct control_asked *of = &page->of[asked % 2];
  *request = (struct control_request){.page = page, .number = asked};
  struct control_sampling *sampling = &request->sampling;
  if (!LOAD(control, &of->rate, &sampling->rate) || !LOAD(control, &of->budget, &sampling->budget) ||
      !LOAD(control, &of->duration_ns, &duration))
    return false;
  if (duration) request->until_ns = os_monotonic_ns() + duration;
  if (!trace_rate_samples(sampling->rate)) sampling->rate = 0;
  if (!trace_rate_samples(sampling->budget) || !(sampling->rate > 0)) sampling->budget = 0;
  return true;
}

static void control_remember(struct control *control, const struct control_sampling *sampling) {
  atomic_store_explicit(&control->rate, sampling->rate, memory_order_relaxed);
  atomic_store_explicit(&control->budget, sampling->budget, memory_order_relaxed);
}

static bool is_another(struct control *control, const struct control_sampling *sampling) {
  return sampling->rate != atomic_load_explicit(&control->rate, memory_order_relaxed) ||
         sampling->budget != atomic_load_explicit(&control->budget, memory_order_relaxed);
}

/* ---- shared ---- */

size_t control_name_of(const char *name) {
  size_t length = strlen(name), ending = strlen(CONTROL_ENDING), digits = 0;
  while (digits < length && name[length - digits - 1] >= '0' && name[length - digits - 1] <= '9') digits++;
  if (digits && digits < length && name[length - digits - 1] == '.') length -= digits + 1;
  return length > ending && !strncmp(name + length - ending, CONTROL_ENDING, ending) ? length - ending : 0;
}

bool control_create(struct control *control, const char *trace_path, const struct control_sampling *first,
                    const struct control_sampling *usual) {
  char fresh[CONTROL_PATH_MOST + 12];
  int saved = errno;
  struct control_page content = {.version = CONTROL_VERSION,
                                 .pid = (uint32_t)getpid(),
                                 .began_ns = os_monotonic_ns(),
                                 .began_wall_ns = os_wall_ns(),
                                 .usual = *usual};
  memcpy(content.magic, control_magic, sizeof content.magic);
  atomic_store_explicit(&content.rate, first->rate, memory_order_relaxed);
  atomic_store_explicit(&content.budget, first->budget, memory_order_relaxed);
  *control = (struct control){.direct = control->direct};
  control_remember(control, first);
  snprintf(control->path, sizeof control->path, "%s%s", trace_path, CONTROL_ENDING);
  snprintf(fresh, sizeof fresh, "%s.%d", control->path, (int)getpid());
  struct control_page *page = create_at(fresh, &content);
  bool named = page && !syscall(SYS_renameat, AT_FDCWD, fresh, AT_FDCWD, control->path);
  if (page && !named) {
    syscall(SYS_unlinkat, AT_FDCWD, fresh, 0);
    munmap(page, CONTROL_BYTES);
  }
  if (named)
    atomic_store_explicit(&control->page, page, memory_order_release);
  else
    *control->path = 0;
  errno = saved;
  return named;
}

bool control_hold(struct control *control) {
  return !atomic_exchange_explicit(&control->busy, true, memory_order_acquire);
}

void control_let_go(struct control *control) {
  atomic_store_explicit(&control->busy, false, memory_order_release);
}

bool control_claim(struct control *control, struct control_request *request) {
  struct control_page *page = atomic_load_explicit(&control->page, memory_order_acquire);
  if (!control_hold(control)) return false;
  bool asked = page && control_read_request(control, page, request);
  if (!asked) {
    uint64_t until = atomic_load_explicit(&control->until_ns, memory_order_relaxed);
    *request = (struct control_request){.page = page,
                                        .number = atomic_load_explicit(&control->done, memory_order_relaxed),
                                        .timed = until && os_monotonic_ns() >= until};
    if (!request->timed) return control_let_go(control), false;
  }
  request->changes = is_another(control, &request->sampling);
  return true;
}

void control_done(struct control *control, const struct control_request *request) {
  struct control_page *page = atomic_load_explicit(&control->page, memory_order_acquire);
  if (page && page != request->page) return; /* FORKED */
  atomic_store_explicit(&control->until_ns, request->until_ns, memory_order_relaxed);
  atomic_store_explicit(&control->done, request->number, memory_order_relaxed);
  control_remember(control, &request->sampling);
  if (page && STORE(control, &page->rate, &request->sampling.rate) &&
      STORE(control, &page->budget, &request->sampling.budget) &&
      STORE(control, &page->until_ns, &request->until_ns))
    STORE(control, &page->done, &request->number); /* pairs with the command that waits for its number */
  control_let_go(control);
}

void control_set_rate(struct control *control, double rate) {
  struct control_page *page = atomic_load_explicit(&control->page, memory_order_acquire);
  atomic_store_explicit(&control->rate, rate, memory_order_relaxed);
  if (page) STORE(control, &page->rate, &rate);
}

void control_publish(struct control *control, const struct control_counts *counts) {
  struct control_page *page = atomic_load_explicit(&control->page, memory_order_acquire);
  if (page) copy_words(control, SYS_process_vm_writev, (void *)counts, (void *)&page->counts, COUNTS);
}

void control_remove(struct control *control) {
  if (!*control->path) return;
  syscall(SYS_unlinkat, AT_FDCWD, control->path, 0);
  control_forget(control, false);
}

/* Other threads may be about to look at the page, or to store counts in it. */
void control_forget(struct control *control, bool alone) {
  struct control_page *page = atomic_exchange_explicit(&control->page, NULL, memory_order_acq_rel);
  atomic_store_explicit(&control->until_ns, 0, memory_order_relaxed);
  *control->path = 0;
  if (page && alone)
    mmap(page, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
/* SPDX-License-Identifier: MIT */
