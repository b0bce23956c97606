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
  *control = (struct control){.busy = false};
  snprintf(control->path, sizeof control->path, "%s%s", trace_path, CONTROL_ENDING);
  snprintf(fresh, sizeof fresh, "%s.%d", control->path, (int)getpid());
  struct control_page *page = create_at(fresh, &content);
  bool named = page && !syscall(SYS_renameat, AT_FDCWD, fresh, AT_FDCWD, control->path);
  if (page && !named) {
    syscall(SYS_unlinkat, AT_FDCWD, fresh, 0);
    munmap(page, CONTROL_BYTES);
  }
  if (named) atomic_store_explicit(&control->page, page, memory_order_release);
  errno = saved;
  return named;
}

bool control_hold(struct control *control) {
  return !atomic_exchange_explicit(&control->busy, true, memory_order_acquire);
}

void control_set_rate(struct control *control, double rate) {
  struct control_page *page = atomic_load_explicit(&control->page, memory_order_acquire);
  if (page) atomic_store_explicit(&page->rate, rate, memory_order_relaxed);
}

void control_let_go(struct control *control) {
  atomic_store_explicit(&control->busy, false, memory_order_release);
}

bool control_claim(struct control *control, struct control_request *request) {
  struct control_page *page = atomic_load_explicit(&control->page, memory_order_acquire);
  if (!page || !control_hold(control)) return false;
  /* Pairs with the command's third step: rate and time are there. */
  uint64_t asked = atomic_load_explicit(&page->asked, memory_order_acquire);
  uint64_t until = atomic_load_explicit(&control->until_ns, memory_order_relaxed);
  *request = (struct control_request){.page = page, .number = asked};
  if (asked != atomic_load_explicit(&control->done, memory_order_relaxed)) {
    const struct control_asked *of = &page->of[asked % 2];
    request->sampling.rate = atomic_load_explicit(&of->rate, memory_order_relaxed);
    request->sampling.budget = atomic_load_explicit(&of->budget, memory_order_relaxed);
    request->until_ns = atomic_load_explicit(&of->until_ns, memory_order_relaxed);
    if (!trace_rate_samples(request->sampling.rate)) request->sampling.rate = 0;
    if (!trace_rate_samples(request->sampling.budget) || !(request->sampling.rate > 0))
      request->sampling.budget = 0;
    return true;
  }
  request->timed = until && os_monotonic_ns() >= until;
  if (!request->timed) control_let_go(control);
  return request->timed;
}

void control_done(struct control *control, const struct control_request *request) {
  struct control_page *page = request->page;
  if (page != atomic_load_explicit(&control->page, memory_order_acquire)) return; /* FORKED */
  atomic_store_explicit(&control->until_ns, request->until_ns, memory_order_relaxed);
  atomic_store_explicit(&control->done, request->number, memory_order_relaxed);
  atomic_store_explicit(&page->rate, request->sampling.rate, memory_order_relaxed);
  atomic_store_explicit(&page->budget, request->sampling.budget, memory_order_relaxed);
  atomic_store_explicit(&page->until_ns, request->until_ns, memory_order_relaxed);
  /* Pairs with the command that waits for its number. */
  atomic_store_explicit(&page->done, request->number, memory_order_release);
  control_let_go(control);
}

void control_remove(struct control *control) {
  if (!atomic_load_explicit(&control->page, memory_order_relaxed)) return;
  syscall(SYS_unlinkat, AT_FDCWD, control->path, 0);
  control_forget(control, false);
}

/* Other threads may be about to look at the page, or to store counts in it. */
void control_forget(struct control *control, bool alone) {
  struct control_page *page = atomic_exchange_explicit(&control->page, NULL, memory_order_acq_rel);
  atomic_store_explicit(&control->until_ns, 0, memory_order_relaxed);
  if (page && alone)
    mmap(page, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
/* SPDX-License-Identifier: MIT */
