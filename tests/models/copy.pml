/* The minor collection with several GC workers: src/gc/collect/minor.c.
 *
 * Followed line by line: share, share_all, answer_requests, own, request_share, forwarded, claim,
 * copy, move, make_packet, serve_others, scan_grey, scan_domain, take_packet, follow_leader,
 * is_over, lead, join; of minor_collect and begin, the steps that concern workers. Variables have
 * the names that they have there, except `active`, a keyword of this language, which is
 * `active_workers`.
 *
 * There are two minor heaps. Each domain has one handle, the root of its blocks. The blocks lead to
 * each other, by more than one way and in circles. So workers meet at the same block, request each
 * other's minor heaps, and have blocks to put into packets.
 *
 * Left out: sizes, tags, pools, counts of words; remembered sets, which are more roots; the
 * collection with one worker, which needs no claims; sched_yield; sleeping until the leader asks
 * for help (stop.pml). Which blocks a worker puts into a packet, and whether it serves others
 * between two blocks, is left to chance.
 *
 * Memory order. The steps of this model are in one order. C11 promises less: a thread is certain to
 * see a relaxed store of another thread only after it has synchronised with that thread. So each
 * thread has a set of what it knows: which copies are complete, and which links of lists are set. A
 * store with release, or an exchange, leaves the thread's set at the place. A load with acquire, or
 * an exchange, adds the set that was left there to the set of the loading thread. A thread that
 * reads what is not in its set has found an error, even if the order of steps showed it the right
 * value. Besides, the first load of a header may give an old value, and loads that are hints
 * (`idle`, `packet`) may give any value.
 *
 * A marker, which is a helper thread of the major collector, reads the fields of old blocks
 * meanwhile.
 *
 * Proved, for all orders of steps of WORKERS workers, each of which may come late or not at all:
 * - A block is copied at most once, and each worker that needs its new address gets that of the
 *   copy.
 * - No thread uses a block's address before it knows that the copy is complete, and no thread
 *   takes another value for a header.
 * - When the leader ends the collection, no reachable field leads to a minor heap, no block waits
 *   to be scanned, no worker works, and the leader knows all copies.
 * - The collection ends. (Idle workers wait here until there is a change, so a collection that does
 *   not end is a deadlock.)
 *
 * TWIN_PLAIN_CLAIM (assertion violated): a block of a shared minor heap is claimed by a store, not
 *   by an exchange.
 * TWIN_IMPATIENCE (assertion violated): a worker that requests a minor heap does not wait until it
 *   is shared.
 * TWIN_SELFISH (assertion violated): a worker that shares its minor heap goes on as if it owned it.
 * TWIN_DEAF (invalid end state): a worker that waits for a minor heap does not answer requests.
 * TWIN_SILENT_REST (invalid end state): a worker that has no work left does not share what it owns.
 * TWIN_FORWARD_EARLY (assertion violated): the header is forwarded before the fields are copied.
 * TWIN_RELAXED_FORWARD (assertion violated): the header is forwarded without release.
 * TWIN_RELAXED_FIELD (assertion violated): the field is stored without release.
 * TWIN_NO_WAIT (assertion violated): a worker that finds a block claimed takes the mark for its
 *   address.
 * TWIN_EARLY_LINK (assertion violated): a block is put into a list before its fields are copied:
 *   the link takes a field's place.
 *
 * Sources: src/gc/collect/minor.c, src/gc/collect/minor.h.
 * Search: safety. */
#define WORKERS 2
#define N       5 /* young blocks: values 1 to N; 0 is an integer */
#define F       2 /* fields of each */
#define MARKER  WORKERS

/* Each worker has an address for a copy of each block. */
#define COPY(block, worker) (N * ((worker) + 1) + (block))
#define VALUES              (N * (WORKERS + 1) + 1)
#define IS_YOUNG(value)     ((value) >= 1 && (value) <= N)

/* Headers: YOUNG, CLAIMED, or the new address. */
#define YOUNG   0
#define CLAIMED 255

byte field[VALUES * F]; /* of all blocks, old and young; those of value 0 are the roots */
byte header[N + 1];
byte packet, idle, active_workers;
bool open;
#define PACKETS_CLOSED 255

/* struct minor_heap_work, and each worker's view of it. Blocks 4 and 5 are in the leader's minor
 * heap. */
#define OWNED_BY_NONE 0
#define OWNED_BY_ONE  1
#define SHARED_BY_ALL 2
#define INDEX(block)  ((block) <= 3)
byte ownership[2], share_requests, seen_requests[WORKERS];
bool share_requested[2], roots_taken[2];
bool owns[WORKERS * 2];

/* Sets of known facts, of each thread and left at each place: a bit for each copy that is complete,
 * and for each link. */
#define COMPLETE(copy) (1 << ((copy) - N - 1))
#define LINK(block)    (1 << (N * WORKERS + (block) - 1))
int known[WORKERS + 1], at_header[N + 1], at_packet, at_root[F], at_ownership[2], at_counts;

byte copied[N + 1]; /* how often; only for the assertions */

/* ---- OWNERSHIP ---- */

inline share(index) {
  if
  :: owns[me * 2 + index] ->
     atomic {
#ifndef TWIN_SELFISH
       owns[me * 2 + index] = false;
#endif
       ownership[index] = SHARED_BY_ALL;
       at_ownership[index] = known[me]
     }
  :: else
  fi
}

inline share_all() { share(0); share(1) }

inline answer_requests() {
  if
  :: seen_requests[me] != share_requests ->
     seen_requests[me] = share_requests;
     if
     :: share_requested[0] -> share(0)
     :: else
     fi;
     if
     :: share_requested[1] -> share(1)
     :: else
     fi
  :: else
  fi
}

inline request_share(index) {
  if
  :: atomic { ownership[index] == OWNED_BY_NONE -> ownership[index] = SHARED_BY_ALL }
  :: ownership[index] == SHARED_BY_ALL
  :: ownership[index] == OWNED_BY_ONE ->
     share_requested[index] = true;
     share_requests++;
#ifndef TWIN_IMPATIENCE
     do
     :: ownership[index] == SHARED_BY_ALL -> break
#ifndef TWIN_DEAF
     :: ownership[index] != SHARED_BY_ALL && seen_requests[me] != share_requests -> answer_requests()
#endif
     od
#endif
  fi;
  known[me] = known[me] | at_ownership[index]
}

/* ---- copying ---- */

inline push_grey(block) {
  atomic { field[block * F] = grey; grey = block; known[me] = known[me] | LINK(block) }
}

inline load_header(block) {
  d_step { head = header[block]; known[me] = known[me] | at_header[block] }
}

inline claim(block) {
  if
  :: ownership[INDEX(block)] != SHARED_BY_ALL -> request_share(INDEX(block))
  :: atomic {
       ownership[INDEX(block)] == SHARED_BY_ALL -> known[me] = known[me] | at_ownership[INDEX(block)]
     }
  fi;
#ifdef TWIN_PLAIN_CLAIM
  load_header(block);
  if
  :: head == YOUNG -> header[block] = CLAIMED; won = true
  :: else
  fi
#else
  atomic { /* the exchange; the load before it changes nothing */
    load_header(block);
    if
    :: head == YOUNG -> header[block] = CLAIMED; won = true
    :: else
    fi
  }
#endif
}

/* Leaves the new address in `head`. */
inline copy(block) {
  if
  :: load_header(block)
  :: head = YOUNG /* an old value; only its owner changes the header of an owned block */
  fi;
  if
  :: head == YOUNG && owns[me * 2 + INDEX(block)] ->
     load_header(block);
     won = head == YOUNG
  :: head == YOUNG && !owns[me * 2 + INDEX(block)] -> claim(block)
  :: else
  fi;
  if
  :: won ->
     head = COPY(block, me);
#ifdef TWIN_EARLY_LINK
     push_grey(block);
#endif
#ifdef TWIN_FORWARD_EARLY
     forward(block);
#endif
     d_step { assert(!copied[block]); copied[block]++; field[head * F] = field[block * F] }
     d_step { field[head * F + 1] = field[block * F + 1]; known[me] = known[me] | COMPLETE(head) }
#ifndef TWIN_FORWARD_EARLY
     forward(block);
#endif
#ifndef TWIN_EARLY_LINK
     push_grey(block)
#endif
  :: else ->
#ifndef TWIN_NO_WAIT
     do
     :: head == CLAIMED -> header[block] != CLAIMED; load_header(block)
     :: else -> break
     od
#endif
     assert(head > N && head < VALUES)
  fi
}

inline forward(block) {
#ifdef TWIN_RELAXED_FORWARD
  header[block] = head
#else
  d_step { header[block] = head; at_header[block] = known[me] }
#endif
}

inline move(place) {
  value = field[place];
  if
  :: IS_YOUNG(value) ->
     copy(value);
     d_step {
       assert(head == COPY(value, 0) || head == COPY(value, 1));
       field[place] = head;
#ifndef TWIN_RELAXED_FIELD
       if
       :: place < F -> at_root[place] = known[me]
       :: else
       fi
#endif
     }
  :: else
  fi;
  d_step { value = 0; head = 0; won = false }
}

/* The packet is the list from any place on, but never the whole list. */
inline make_packet() {
  share_all();
  atomic {
    rest = grey;
    do
    :: field[rest * F] -> rest = field[rest * F]
    :: field[rest * F] -> break
    :: !field[rest * F] -> rest = 0; break
    od
  }
  if
  :: atomic {
       rest && packet == 0 -> packet = field[rest * F];
       at_packet = at_packet | known[me];
       known[me] = at_packet
     }
     field[rest * F] = 0
  :: else
  fi;
  rest = 0
}

inline scan_grey() {
  do
  :: grey ->
     if /* serve_others */
     :: answer_requests()
     :: field[grey * F] && packet == 0 -> answer_requests(); make_packet()
     :: true
     fi;
     atomic {
       assert(known[me] & LINK(grey));
       block = header[grey];
       grey = field[grey * F];
       assert(block > N && block < VALUES && (known[me] & COMPLETE(block)))
     }
     move(block * F);
     move(block * F + 1);
     block = 0
  :: else -> break
  od
}

inline scan_domain(index) {
  if
  :: atomic { !roots_taken[index] -> roots_taken[index] = true }
     if
     :: atomic { ownership[index] == OWNED_BY_NONE -> ownership[index] = OWNED_BY_ONE }
        owns[me * 2 + index] = true
     :: else
     fi;
     move(index);
     scan_grey()
  :: else
  fi
}

inline scan_roots() { scan_domain(me); scan_domain(1 - me) }

/* An access to a count that is sequentially consistent: an exchange, or an addition. */
#define COUNT(change)                                       \
  atomic {                                                  \
    change;                                                 \
    at_counts = at_counts | known[me];                      \
    known[me] = at_counts                                   \
  }

inline take_packet() {
  COUNT(idle--);
  if
  :: atomic {
       packet != 0 && packet != PACKETS_CLOSED -> grey = packet;
       packet = 0;
       known[me] = known[me] | at_packet
     }
  :: else -> COUNT(idle++)
  fi
}

inline work_on_packet() {
  take_packet();
  if
  :: grey -> scan_grey(); COUNT(idle++)
  :: else
  fi
}

inline rest_idle() {
#ifndef TWIN_SILENT_REST
  share_all();
#endif
  COUNT(idle++)
}

inline follow_leader() {
  rest_idle();
  do
  :: open ->
     if
     :: packet != 0 && packet != PACKETS_CLOSED -> work_on_packet()
     :: !open /* it waits until there is a change */
     fi
  :: else -> break
  od;
  COUNT(idle--)
}

/* Load by load. */
inline is_over() {
  count = idle;
  if
  :: count == active_workers ->
     if
     :: atomic { packet == 0 -> packet = PACKETS_CLOSED }
        count = idle;
        if
        :: count == active_workers -> over = true
        :: else -> packet = 0
        fi
     :: else
     fi
  :: else
  fi;
  count = 0
}

inline lead() {
  rest_idle();
  do
  :: packet -> work_on_packet()
  :: !packet -> is_over();
     if
     :: over -> break
     :: else
     fi
  od;
  open = false;
  active_workers == 1;
  atomic { known[me] = known[me] | at_counts }
}

#define WORKER_LOCALS byte grey, value, head, block, rest; bool won

proctype leader() {
  WORKER_LOCALS;
  byte count;
  bool over;
  byte me = 0;
  d_step { active_workers++; open = true }
  scan_roots();
  scan_grey();
  lead();
  atomic {
    active_workers--;
    assert((packet == 0 || packet == PACKETS_CLOSED) && !grey);
    for (value : 1 .. N) { assert(copied[value] == 1 && (known[me] & COMPLETE(header[value]))) }
    for (value : 0 .. F - 1) { assert(!IS_YOUNG(field[value])) }
    for (value : 1 .. N) {
      for (block : 0 .. F - 1) { assert(!IS_YOUNG(field[header[value] * F + block])) }
    }
  }
}

proctype joiner(byte me) {
  WORKER_LOCALS;
  if
  :: open -> COUNT(active_workers++);
     if
     :: open ->
        scan_roots();
        scan_grey();
        follow_leader()
     :: else
     fi;
     COUNT(active_workers--)
  :: skip
  fi
}

/* A root that it reads may lead it to a copy. */
proctype marker() {
  byte root, met;
  if
  :: root = 0
  :: root = 1
  fi;
  d_step { met = field[root]; known[MARKER] = known[MARKER] | at_root[root] }
  assert(met <= N || (known[MARKER] & COMPLETE(met)))
}

#define FIELDS(block, first, second) field[(block) * F] = first; field[(block) * F + 1] = second
init {
  atomic {
    FIELDS(0, 4, 1);
    FIELDS(1, 2, 4);
    FIELDS(2, 3, 5);
    FIELDS(3, 1, 0);
    FIELDS(4, 1, 3);
    run leader();
    run joiner(1);
    run marker()
  }
}
/* SPDX-License-Identifier: MIT */
