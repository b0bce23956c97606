/* A queue between two domains: queue MESSAGES.
 *
 * The queue is Michael and Scott's, in the heap: it needs no counters against reuse of nodes, since
 * a node that somebody still holds is not reused. The producer stops for a while when it is far
 * ahead. */
#include "tree.h"

#include <sched.h>

enum { QUEUE_HEAD, QUEUE_TAIL };
enum { NODE_MESSAGE, NODE_NEXT };
#define AHEAD_MOST 10000

struct work {
  wn_global *queue;
  long messages;
  _Atomic(long) taken; /* stored by the consumer, read by the producer */
};

static void pause_in(wn_domain *d) {
  wn_poll(d);
  sched_yield();
}

static void enqueue(wn_domain *d, wn_ref queue, wn_ref message) {
  WN_SCOPE(d);
  wn_ref none = wn_root(d, wn_int(0));
  wn_ref node = wn_pair(d, 0, message, none);
  for (bool in = false; !in; wn_poll(d)) {
    WN_SCOPE(d);
    wn_ref tail = wn_get(d, queue, QUEUE_TAIL), next = wn_get(d, tail, NODE_NEXT);
    in = wn_is_int(*next.slot) && wn_cas(d, tail, NODE_NEXT, none, node);
    if (in)
      wn_cas(d, queue, QUEUE_TAIL, tail, node);
    else if (!wn_is_int(*next.slot))
      wn_cas(d, queue, QUEUE_TAIL, tail, next);
  }
}

/* False if the queue is empty. One consumer only. */
static bool dequeue(wn_domain *d, wn_ref queue, wn_ref message) {
  WN_SCOPE(d);
  wn_ref head = wn_get(d, queue, QUEUE_HEAD), tail = wn_get(d, queue, QUEUE_TAIL);
  wn_ref next = wn_get(d, head, NODE_NEXT);
  if (wn_is_int(*next.slot)) return false;
  if (*head.slot == *tail.slot) wn_cas(d, queue, QUEUE_TAIL, tail, next);
  wn_set(d, queue, QUEUE_HEAD, next);
  wn_assign(message, wn_get(d, next, NODE_MESSAGE));
  wn_set_int(d, next, NODE_MESSAGE, 0); /* the node stays as the next head; its message need not */
  return true;
}

static void produce(wn_domain *d, void *argument) {
  WN_SCOPE(d);
  struct work *work = argument;
  wn_ref queue = wn_global_get(d, work->queue);
  for (long i = 1; i <= work->messages; i++) {
    WN_SCOPE(d);
    wn_ref number = wn_root(d, wn_int(i));
    while (i - work->taken > AHEAD_MOST) pause_in(d);
    enqueue(d, queue, wn_pair(d, 0, number, wn_pair(d, 0, number, number)));
  }
}

static intptr_t consume(wn_domain *d, struct work *work) {
  WN_SCOPE(d);
  wn_ref queue = wn_global_get(d, work->queue), message = wn_root(d, wn_int(0));
  intptr_t sum = 0;
  while (work->taken < work->messages) {
    WN_SCOPE(d);
    if (!dequeue(d, queue, message)) {
      pause_in(d);
      continue;
    }
    sum += wn_to_int(wn_field(wn_get(d, message, 1), 1));
    work->taken++;
  }
  return sum;
}

/* No handle of the first node may stay: all that were ever in the queue can be reached from it. */
static wn_global *new_queue(wn_domain *d) {
  WN_SCOPE(d);
  wn_ref none = wn_root(d, wn_int(0));
  wn_ref first = wn_pair(d, 0, none, none);
  return wn_global_new(d, wn_pair(d, 0, first, first));
}

static int run(wn_domain *d, long messages) {
  WN_SCOPE(d);
  struct work work = {.queue = new_queue(d), .messages = messages};
  double begin = program_seconds();
  wn_join *join;
  intptr_t sum;
  program_check(wn_domain_spawn(d, produce, &work, &join));
  sum = consume(d, &work);
  program_check(wn_join_wait(d, join));
  wn_global_free(d, work.queue);
  printf("%ld messages: %ld\n%.0f ns a message\n", messages, (long)sum,
         (program_seconds() - begin) * 1e9 / (double)messages);
  return sum != messages * (messages + 1) / 2;
}

int main(int count, char **words) {
  struct program program = program_begin();
  int wrong = run(program.domain, sequence_argument(count, words, 10000000));
  return program_end(program) + wrong;
}
/* SPDX-License-Identifier: MIT */
