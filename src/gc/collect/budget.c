/* The account. A look adds the time since the look before it. If two threads look at once, only one
 * of them adds what passed between the last look and both. */
#include "gc/collect/budget.h"

#include "base/os.h"
#include <stdatomic.h>

enum { SHARE = 7, SHARE_OF = 16, SAVED_MOST_NS = 125000000 };

static struct {
  _Atomic(uint64_t) looked_ns; /* the time of the process at the last look */
  _Atomic(int64_t) saved_ns;   /* below 0: more was taken than earned */
} budget;

/* The time of the process that no look has added yet. */
static uint64_t budget_pass(void) {
  uint64_t now = os_process_cpu_ns(), before = atomic_load(&budget.looked_ns);
  while (now > before)
    if (atomic_compare_exchange_weak(&budget.looked_ns, &before, now)) return now - before;
  return 0;
}

bool budget_look(void) {
  int64_t earned = (int64_t)(budget_pass() / SHARE_OF * SHARE);
  int64_t saved = atomic_fetch_add(&budget.saved_ns, earned) + earned;
  while (saved > SAVED_MOST_NS)
    if (atomic_compare_exchange_weak(&budget.saved_ns, &saved, SAVED_MOST_NS)) return true;
  return saved > 0;
}

void budget_take(uint64_t ns) { atomic_fetch_sub(&budget.saved_ns, (int64_t)ns); }

void budget_begin(void) {
  atomic_store(&budget.looked_ns, 0);
  atomic_store(&budget.saved_ns, 0);
}
/* SPDX-License-Identifier: MIT */
