/* What memory outside the heap costs.
 *
 *   outside churn born|grown drop|replace LIVE_MIB ROUNDS    peak resident memory, by what is live
 *   outside retain MIB ROUNDS                                the collector's time beside it
 *
 * churn: buffers of 256 KiB, all of them touched, each a mapping of its own, so that what is
 * released leaves the process. `born`: a block is allocated with its buffer. `grown`: its buffer
 * begins with 16 KiB and doubles, and the block is adjusted. `drop`: LIVE_MIB are kept and each new
 * buffer dies at once. `replace`: each takes the place of a random one of those that are kept.
 *
 * retain: a block says that it has so much outside, which nobody has touched, while lists die young
 * and old. The time is the processor's between begins and ends of pauses; there are no helper
 * threads. */
#include "tree.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <winnow/events.h>
#include <winnow/gc.h>

enum { BUFFER = 256 << 10, FIRST = 16 << 10 };

struct buffer {
  char *at;
  size_t bytes;
};

static size_t now, most;

static void *check(void *mapped) {
  if (mapped == MAP_FAILED) perror("mmap"), exit(2);
  return mapped;
}

static void release(void *bytes) {
  struct buffer *buffer = bytes;
  if (buffer->bytes) munmap(buffer->at, buffer->bytes);
  now -= buffer->bytes;
}
static const wn_custom_ops ops = {"buffer", release};

static void count(size_t bytes) {
  now += bytes;
  if (now > most) most = now;
}

static wn_ref make_born(wn_domain *d) {
  wn_ref block = wn_alloc_custom(d, &ops, sizeof(struct buffer), BUFFER);
  struct buffer *buffer = wn_bytes(block);
  buffer->at = check(mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  memset(buffer->at, 1, buffer->bytes = BUFFER);
  count(BUFFER);
  return block;
}

static wn_ref make_grown(wn_domain *d) {
  wn_ref block = wn_alloc_custom(d, &ops, sizeof(struct buffer), 0);
  for (size_t bytes = FIRST; bytes <= BUFFER; bytes *= 2) {
    program_check(wn_custom_adjust(d, block, bytes)); /* first: it may collect */
    struct buffer *buffer = wn_bytes(block);
    char *grown = buffer->bytes
                      ? mremap(buffer->at, buffer->bytes, bytes, MREMAP_MAYMOVE)
                      : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    buffer->at = check(grown);
    memset(buffer->at + buffer->bytes, 1, bytes - buffer->bytes);
    count(bytes - buffer->bytes);
    buffer->bytes = bytes;
  }
  return block;
}

static void churn(wn_domain *d, bool grown, bool replace, size_t live, long rounds) {
  WN_SCOPE(d);
  uint64_t random = 1;
  wn_ref kept = wn_alloc(d, live, 0);
  for (long i = 0; i < (long)live + rounds; i++) {
    WN_SCOPE(d);
    random = random * 6364136223846793005u + 1442695040888963407u;
    wn_ref block = grown ? make_grown(d) : make_born(d);
    if (i < (long)live)
      wn_set(d, kept, (size_t)i, block);
    else if (replace)
      wn_set(d, kept, (random >> 33) % live, block);
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  double bytes = (double)live * BUFFER;
  printf("%.0f MiB live: outside %.3f times at most, resident %.3f times\n", bytes / (1 << 20),
         (double)most / bytes, (double)usage.ru_maxrss * 1024 / bytes);
}

/* ---- retain ---- */

static double collecting, pause_began;

static double processor_seconds(void) {
  struct timespec at;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void hear(const wn_gc_event *event, void *context) {
  (void)context;
  if (event->kind == WN_GC_PAUSE_BEGINS)
    pause_began = processor_seconds();
  else
    collecting += processor_seconds() - pause_began;
}

static void retain(wn_domain *d, size_t bytes, long rounds) {
  WN_SCOPE(d);
  enum { LISTS = 1 << 16 };
  static const wn_custom_ops nothing = {"retained", NULL};
  wn_gc_listener *listener;
  uint64_t random = 1;
  wn_ref lists = wn_alloc(d, LISTS, 0), block = wn_alloc_custom(d, &nothing, 8, 0);
  program_check(wn_custom_adjust(d, block, bytes));
  program_check(wn_gc_full_major(d));
  program_check(wn_gc_listen(d, WN_GC_EVENT(WN_GC_PAUSE_BEGINS) | WN_GC_EVENT(WN_GC_PAUSE_ENDS), hear, NULL,
                             &listener));
  wn_gc_stat before, after;
  program_check(wn_gc_quick_stat(d, &before));
  for (long i = 0; i < rounds; i++) {
    WN_SCOPE(d);
    random = random * 6364136223846793005u + 1442695040888963407u;
    wn_ref list = wn_root(d, wn_int(0));
    for (intptr_t k = 0; k < 20; k++) wn_push_int(d, list, 0, k);
    if (i % 4 == 0) wn_set(d, lists, (random >> 33) % LISTS, list);
    if (i % 64 == 0) wn_custom_adjust(d, wn_alloc_custom(d, &nothing, 8, 0), 4000);
  }
  program_check(wn_gc_quick_stat(d, &after));
  program_check(wn_gc_unlisten(d, listener));
  printf("%.0f MiB retained: %.3f s collecting, %ld minor collections, %ld cycles\n",
         (double)bytes / (1 << 20), collecting, after.minor_collections - before.minor_collections,
         after.major_collections - before.major_collections);
}

int main(int words, char **word) {
  wn_heap_options options = WN_HEAP_DEFAULTS;
  struct program program;
  bool churns = words == 6 && !strcmp(word[1], "churn");
  if (!churns && (words != 4 || strcmp(word[1], "retain"))) {
    fputs("usage: outside churn born|grown drop|replace LIVE_MIB ROUNDS | outside retain MIB ROUNDS\n",
          stderr);
    return 2;
  }
  options.helper_threads = 0;
  program_check(wn_heap_open(&options, &program.heap));
  program_check(wn_domain_attach(program.heap, &program.domain));
  program_profile(program.domain);
  if (churns)
    churn(program.domain, *word[2] == 'g', *word[3] == 'r', (size_t)atol(word[4]) * (1 << 20) / BUFFER,
          atol(word[5]));
  else
    retain(program.domain, (size_t)atol(word[2]) << 20, atol(word[3]));
  return program_end(program);
}
/* SPDX-License-Identifier: MIT */
